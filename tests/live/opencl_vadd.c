/* OpenCL: adds two vectors of integers. The sums are compared here, exactly.
 * Usage: opencl_vadd [ELEMENTS] */
#include "opencl_common.h"

static const char *SOURCE =
	"kernel void add(global const uint *a, global const uint *b, global uint *sum) {\n"
	"    size_t i = get_global_id(0); sum[i] = a[i] + b[i]; }\n";

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 0) : 4096, wrong = 0;
	cl_uint *a = malloc(4 * count), *b = malloc(4 * count), *sum = malloc(4 * count), state = 1;
	for (size_t i = 0; i < count; i++) {
		a[i] = state = state * 1664525u + 1013904223u;
		b[i] = state = state * 1664525u + 1013904223u;
	}
	open_device();
	cl_mem memory[] = { buffer(4 * count, a), buffer(4 * count, b), buffer(4 * count, NULL) };
	run(program(SOURCE, ""), "add", 1, &count, NULL, 3, memory);
	get(memory[2], 4 * count, sum);
	for (size_t i = 0; i < count; i++)
		wrong += sum[i] != a[i] + b[i];
	printf("%zu elements, %zu wrong\n", count, wrong);
	return wrong != 0;
}
