/* OpenCL: counts a histogram with atomics in global memory, and again by groups in local memory.
 * Both results are compared here, exactly.
 * Usage: opencl_histogram [ELEMENTS]   (a multiple of 64) */
#include "opencl_common.h"

#define BINS 64

static const char *SOURCE =
	"kernel void everywhere(global const uint *a, global uint *bins) { atomic_inc(&bins[a[get_global_id(0)] >> 26]); }\n"
	"kernel void by_group(global const uint *a, global uint *bins, global uint *extremes) {\n"
	"    local uint own[64];\n"
	"    uint value = a[get_global_id(0)], i = get_local_id(0);\n"
	"    own[i] = 0;\n"
	"    barrier(CLK_LOCAL_MEM_FENCE);\n"
	"    atomic_inc(&own[value >> 26]);\n"
	"    barrier(CLK_LOCAL_MEM_FENCE);\n"
	"    atomic_add(&bins[i], own[i]);\n"
	"    atomic_min(&extremes[0], value);\n"
	"    atomic_max(&extremes[1], value); }\n";

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 0) : 4096, group = BINS, wrong = 0;
	cl_uint *a = malloc(4 * count), state = 1;
	cl_uint expected[BINS] = { 0 }, found[2][BINS] = { 0 }, extremes[2] = { ~0u, 0 }, least = ~0u, most = 0;
	for (size_t i = 0; i < count; i++) {
		a[i] = state = state * 1664525u + 1013904223u;
		expected[a[i] >> 26]++;
		least = a[i] < least ? a[i] : least;
		most = a[i] > most ? a[i] : most;
	}
	open_device();
	cl_program histogram = program(SOURCE, "");
	cl_mem memory[] = { buffer(4 * count, a), buffer(sizeof *found, found[0]), buffer(sizeof extremes, extremes) };
	run(histogram, "everywhere", 1, &count, NULL, 2, memory);
	get(memory[1], sizeof *found, found[0]);
	memory[1] = buffer(sizeof *found, found[1]);
	run(histogram, "by_group", 1, &count, &group, 3, memory);
	get(memory[1], sizeof *found, found[1]);
	get(memory[2], sizeof extremes, extremes);
	for (int i = 0; i < BINS; i++)
		wrong += (found[0][i] != expected[i]) + (found[1][i] != expected[i]);
	wrong += (extremes[0] != least) + (extremes[1] != most);
	printf("%zu elements, %zu wrong\n", count, wrong);
	return wrong != 0;
}
