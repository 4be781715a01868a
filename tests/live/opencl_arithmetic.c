/* OpenCL: compiled arithmetic: division, 64 bits, bytes, conversions, doubles, loops, arrays in
 * registers, and functions. Integers and bits are the same on any device. Functions are compared
 * here with doubles, within the bounds of OpenCL.
 * Usage: opencl_arithmetic OUT.raw   writes the exact results, to compare with another device */
#include "opencl_common.h"
#include <float.h>
#include <math.h>

#define COUNT 1024

/* Each row is a body with words a and b, or floats x and y. */
static const char *const EXACT[] = {
	"b ? a / b ^ a % b : 0",
	"mul_hi((int)a, (int)b) ^ mul_hi(a, b) ^ mad_sat((int)a, 3, (int)b)",
	"(uint)(w / (b | 1) ^ w % (b >> 9 | 1) ^ w * w >> 31)",
	"(uint)((long)w >> (a & 63)) ^ (uint)max((long)w, (long)b) ^ popcount(a) ^ clz(b) << 8 ^ rotate(a, b)",
	"as_uint(add_sat(as_char4(a), as_char4(b))) ^ as_uint(abs_diff(as_uchar4(a), as_uchar4(b))) ^ as_uint(rhadd(as_uchar4(a), as_uchar4(b)))",
	"as_uint(convert_uchar4_sat(convert_short4(as_char4(a)) * (short4)3)) ^ as_uint(shuffle(as_uchar4(a), as_uchar4(b)))",
	"convert_int_sat_rte(as_float(a)) ^ convert_uint_sat_rtp((float)(int)b * 1.37f) ^ convert_uchar_sat(as_float(b))",
	"bits(as_uint(fma(as_float(a), as_float(b), 1.5f))) ^ bits(as_uint(rint(as_float(a)) + trunc(as_float(b)) + fmin(as_float(a), as_float(b))))",
	"(uint)(as_ulong(fma(d, d, -3.25) + sqrt(d)) >> 20) ^ (uint)as_ulong(d / 3.0)",
	"isless(as_float(a), as_float(b)) | isunordered(as_float(a), as_float(b)) << 1 | bits(as_uint(ldexp(as_float(b), (int)(a & 31) - 16))) << 2",
	"loop(a, b)", "array(a, b)", "scan(a, b)",
};
static const char *EXACT_SOURCE =
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"uint bits(uint f) { return (f & 0x7fffffff) > 0x7f800000 ? 1 : f; }\n"
	"uint loop(uint a, uint b) {\n"
	"    uint s = 0;\n"
	"    for (uint k = 0; k < (a & 63); k++) {\n"
	"        if (b >> (k & 31) & 1) s += k * a; else if (k > 40) break; else continue;\n"
	"        s ^= s << 3;\n"
	"    }\n"
	"    return s; }\n"
	"uint array(uint a, uint b) {\n"
	"    uint m[16], s = 0;\n"
	"    for (int k = 0; k < 16; k++) m[k] = 0;\n"
	"    for (int k = 0; k < 16; k++) m[(k * 5 ^ a) & 15] += b * k + 1;\n"
	"    for (int k = 0; k < 16; k++) s = s * 31 + m[(s ^ k) & 15];\n"
	"    return s; }\n"
	"#define scan(a, b) (t[l] ^ t[(l * 7 + b) & 63])\n"
	"#define KERNEL(N, BODY) kernel void run##N(global const uint *from, global const uint *with, global uint *to) { \\\n"
	"    size_t i = get_global_id(0), l = get_local_id(0); local uint t[64]; \\\n"
	"    uint a = from[i], b = with[i]; ulong w = (ulong)a << 32 | b; double d = (a + 0.5) / (b + 0.25); \\\n"
	"    t[l] = a; \\\n"
	"    for (size_t s = 1; s < 64; s *= 2) { \\\n"
	"        barrier(CLK_LOCAL_MEM_FENCE); uint v = l >= s ? t[l - s] : 0; \\\n"
	"        barrier(CLK_LOCAL_MEM_FENCE); t[l] += v; } \\\n"
	"    barrier(CLK_LOCAL_MEM_FENCE); \\\n"
	"    to[i] = BODY; }\n";

/* Bounds in units of the last place are those of OpenCL 1.2, section 7.4. */
#define ONE(f) static double exact_##f(double x, double y) { return f(x); }
#define TWO(f) static double exact_##f(double x, double y) { return f(x, y); }
ONE(sin) ONE(cos) ONE(tan) ONE(exp) ONE(log) ONE(sqrt) ONE(sinh) ONE(tanh) ONE(erf) ONE(tgamma) ONE(cbrt) ONE(log1p) ONE(expm1) ONE(exp2) ONE(atan)
TWO(pow) TWO(atan2) TWO(hypot) TWO(fmod) TWO(remainder)
static double exact_ratio(double x, double y) { return x / y; }
static const struct { const char *body; double (*exact)(double, double); double bound; } FUNCTIONS[] = {
	{ "sin(x)", exact_sin, 4 }, { "cos(x)", exact_cos, 4 }, { "tan(x)", exact_tan, 5 }, { "exp(x)", exact_exp, 3 },
	{ "log(x)", exact_log, 3 }, { "sqrt(x)", exact_sqrt, 3 }, { "sinh(x)", exact_sinh, 4 }, { "tanh(x)", exact_tanh, 5 },
	{ "erf(x)", exact_erf, 16 }, { "tgamma(x)", exact_tgamma, 16 }, { "cbrt(x)", exact_cbrt, 2 }, { "log1p(x)", exact_log1p, 2 },
	{ "expm1(x)", exact_expm1, 3 }, { "exp2(x)", exact_exp2, 3 }, { "atan(x)", exact_atan, 5 }, { "pow(x, y)", exact_pow, 16 },
	{ "atan2(x, y)", exact_atan2, 6 }, { "hypot(x, y)", exact_hypot, 4 }, { "fmod(x, y)", exact_fmod, 0 },
	{ "remainder(x, y)", exact_remainder, 0 }, { "x / y", exact_ratio, 2.5 },
};
static const char *FUNCTION_SOURCE =
	"#define KERNEL(N, BODY) kernel void run##N(global const float *from, global const float *with, global float *to) { \\\n"
	"    size_t i = get_global_id(0); float x = from[i], y = with[i]; to[i] = BODY; }\n";

/* A kernel for each body: the first members of COUNT rows of SIZE bytes. */
static cl_program compile(const char *head, const void *rows, size_t size, int count)
{
	char *text;
	size_t length;
	FILE *source = open_memstream(&text, &length);
	fputs(head, source);
	for (int k = 0; k < count; k++)
		fprintf(source, "KERNEL(%d, %s)\n", k, *(const char *const *)((const char *)rows + k * size));
	fclose(source);
	cl_program compiled = program(text, "");
	free(text);
	return compiled;
}

static void compute(cl_program program, int k, const cl_mem *memory, void *out)
{
	static const size_t count = COUNT, group = 64;
	char name[16];
	snprintf(name, sizeof name, "run%d", k);
	run(program, name, 1, &count, &group, 3, memory);
	get(memory[2], 4 * COUNT, out);
}

/* Distance of a float from a double, in units of its last place. Subnormal results may be zeros. */
static double distance(float found, double exact)
{
	if (isnan(found) || isnan(exact) || fabs(exact) > FLT_MAX)
		return isnan(found) != isnan(exact) && !(fabs(exact) > FLT_MAX) ? INFINITY : 0;
	return fabs(exact) < FLT_MIN ? fabs(found) > FLT_MIN : fabs(found - exact) / ldexp(1, ilogb(exact) - 23);
}

int main(int argc, char **argv)
{
	enum { EXACTS = sizeof EXACT / sizeof *EXACT, FUNCTIONS_COUNT = sizeof FUNCTIONS / sizeof *FUNCTIONS };
	static cl_uint a[COUNT], b[COUNT], found[EXACTS][COUNT];
	static float x[COUNT], y[COUNT], floats[COUNT];
	static const cl_uint special[] = { 0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0x00000001, 0x7f7fffff, 0x00800000, 0x3f000000 };
	cl_uint state = 1;
	size_t wrong = 0;
	if (argc != 2)
		errx(2, "no file to write");
	for (int i = 0; i < COUNT; i++) {
		state = state * 1664525u + 1013904223u;
		a[i] = i < 100 ? special[i / 10] : state ^ state >> 15;
		state = state * 1664525u + 1013904223u;
		b[i] = i < 100 ? special[i % 10] : state >> i % 24;
		x[i] = (cl_int)(state * 2654435761u) / (i % 2 ? 67108864.0f : 4294967296.0f);
		y[i] = (cl_int)(state * 40503u) / 268435456.0f;
	}
	open_device();
	cl_mem out = buffer(4 * COUNT, NULL), words[] = { buffer(4 * COUNT, a), buffer(4 * COUNT, b), out };
	cl_mem numbers[] = { buffer(4 * COUNT, x), buffer(4 * COUNT, y), out };
	cl_program exact = compile(EXACT_SOURCE, EXACT, sizeof *EXACT, EXACTS);
	cl_program functions = compile(FUNCTION_SOURCE, FUNCTIONS, sizeof *FUNCTIONS, FUNCTIONS_COUNT);
	for (int k = 0; k < EXACTS; k++)
		compute(exact, k, words, found[k]);
	write_file(argv[1], found, sizeof found);
	for (int k = 0; k < FUNCTIONS_COUNT; k++) {
		double worst = 0;
		compute(functions, k, numbers, floats);
		for (int i = 0; i < COUNT; i++)
			worst = fmax(worst, distance(floats[i], FUNCTIONS[k].exact(x[i], y[i])) - 0.5);
		if (worst > FUNCTIONS[k].bound)
			printf("%s is wrong by %g units of the last place\n", FUNCTIONS[k].body, worst);
		wrong += worst > FUNCTIONS[k].bound;
	}
	printf("%d bodies of %d results, %zu functions beyond their bounds\n", EXACTS + FUNCTIONS_COUNT, COUNT, wrong);
	return wrong != 0;
}
