/* Packs the packets of `cargo bench -p genxml --bench pack` with Mesa's pack functions, from structs with random values.
 * ./run builds it. */
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define __gen_address_type uint64_t
#define __gen_user_data void

static inline uint64_t __gen_combine_address(void *data, void *location, uint64_t address, uint32_t delta)
{
    return address + delta;
}

#include "gen8_pack.h"

/* xorshift64 */
static uint64_t state = 88172645463325252ull;

static uint64_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

#include "fill.h"

#define KINDS 64
#define ROUNDS 200
#define TURNS 5000

#define STRUCTS(name) static struct GFX8_##name of_##name[KINDS];
STRUCTS(3DSTATE_VS)
STRUCTS(3DSTATE_PS)
STRUCTS(3DSTATE_SBE)
STRUCTS(RENDER_SURFACE_STATE)
STRUCTS(SAMPLER_STATE)
STRUCTS(BLEND_STATE)
STRUCTS(3DPRIMITIVE)
STRUCTS(PIPE_CONTROL)
static struct GFX8_BLEND_STATE_ENTRY targets[KINDS][8];
static struct GFX8_VERTEX_ELEMENT_STATE elements[KINDS][4];

static uint32_t out[128];

#define PACK(name, at) GFX8_##name##_pack(NULL, out + (at), &of_##name[i])

static inline void blend(int i, int at)
{
    PACK(BLEND_STATE, at);
    for (int target = 0; target < 8; target++)
        GFX8_BLEND_STATE_ENTRY_pack(NULL, out + at + 1 + 2 * target, &targets[i][target]);
}

static inline void vertex_elements(int i, int at)
{
    out[at] = 0x78090007;
    for (int element = 0; element < 4; element++)
        GFX8_VERTEX_ELEMENT_STATE_pack(NULL, out + at + 1 + 2 * element, &elements[i][element]);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* The fastest of many rounds, as in the Rust benchmark. */
#define MEASURE(name, dwords, body)                                    \
    {                                                                  \
        double best = 1e18;                                            \
        for (int round = 0; round < ROUNDS; round++) {                 \
            double start = now();                                      \
            for (int turn = 0; turn < TURNS; turn++) {                 \
                int i = turn % KINDS;                                  \
                body;                                                  \
                __asm__ volatile("" ::"r"(out) : "memory");            \
            }                                                          \
            double taken = (now() - start) / TURNS;                    \
            if (taken < best)                                          \
                best = taken;                                          \
        }                                                              \
        printf("%-24s %6d %7.2f ns\n", name, dwords, best);            \
    }

int main(void)
{
    for (int i = 0; i < KINDS; i++) {
        fill_3DSTATE_VS(&of_3DSTATE_VS[i]);
        fill_3DSTATE_PS(&of_3DSTATE_PS[i]);
        fill_3DSTATE_SBE(&of_3DSTATE_SBE[i]);
        fill_RENDER_SURFACE_STATE(&of_RENDER_SURFACE_STATE[i]);
        fill_SAMPLER_STATE(&of_SAMPLER_STATE[i]);
        fill_BLEND_STATE(&of_BLEND_STATE[i]);
        fill_3DPRIMITIVE(&of_3DPRIMITIVE[i]);
        fill_PIPE_CONTROL(&of_PIPE_CONTROL[i]);
        for (int target = 0; target < 8; target++)
            fill_BLEND_STATE_ENTRY(&targets[i][target]);
        for (int element = 0; element < 4; element++)
            fill_VERTEX_ELEMENT_STATE(&elements[i][element]);
    }
    printf("%-24s %6s %10s\n", "", "dwords", "Mesa's C");
    MEASURE("3DSTATE_VS", 9, PACK(3DSTATE_VS, 0))
    MEASURE("3DSTATE_PS", 12, PACK(3DSTATE_PS, 0))
    MEASURE("3DSTATE_SBE", 4, PACK(3DSTATE_SBE, 0))
    MEASURE("RENDER_SURFACE_STATE", 16, PACK(RENDER_SURFACE_STATE, 0))
    MEASURE("SAMPLER_STATE", 4, PACK(SAMPLER_STATE, 0))
    MEASURE("BLEND_STATE", 17, blend(i, 0))
    MEASURE("3DPRIMITIVE", 7, PACK(3DPRIMITIVE, 0))
    MEASURE("PIPE_CONTROL", 6, PACK(PIPE_CONTROL, 0))
    MEASURE("3DSTATE_VERTEX_ELEMENTS", 9, vertex_elements(i, 0))
    MEASURE("the mix", 84, {
        PACK(3DSTATE_VS, 0);
        PACK(3DSTATE_PS, 9);
        PACK(3DSTATE_SBE, 21);
        PACK(RENDER_SURFACE_STATE, 25);
        PACK(SAMPLER_STATE, 41);
        blend(i, 45);
        PACK(3DPRIMITIVE, 62);
        PACK(PIPE_CONTROL, 69);
        vertex_elements(i, 75);
    })
    return 0;
}
