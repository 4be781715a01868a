/* OpenCL: the product of two matrices by tiles in local memory, of integers and of floats.
 * Integers are exact. A float differs from the product in doubles by at most SIZE roundings of the
 * sum of the magnitudes. This bound holds for any order of the sum, with fused products or without.
 * Usage: opencl_matmul OUT.raw [OTHER.raw]   writes both products; compares them with those of
 * another device, with twice the bound */
#include "opencl_common.h"
#include "opencl_matrix.h"
#include <float.h>
#include <math.h>

#define SIZE 96

static void multiply(const char *options, void *a, void *b, void *product)
{
	static const size_t global[] = { SIZE, SIZE }, local[] = { 16, 16 };
	const size_t bytes = 4 * SIZE * SIZE;
	cl_mem memory[] = { buffer(bytes, a), buffer(bytes, b), buffer(bytes, NULL) };
	run(program(MATRIX_SOURCE, options), "multiply", 2, global, local, 3, memory);
	get(memory[2], bytes, product);
}

int main(int argc, char **argv)
{
	static cl_int a[SIZE * SIZE], b[SIZE * SIZE];
	static float fa[SIZE * SIZE], fb[SIZE * SIZE];
	static struct { cl_int whole[SIZE * SIZE]; float real[SIZE * SIZE]; } found, other;
	cl_uint state = 1;
	size_t wrong = 0, differ = 0;
	double worst = 0;
	if (argc < 2)
		errx(2, "no file to write");
	for (int i = 0; i < SIZE * SIZE; i++) {
		a[i] = state = state * 1664525u + 1013904223u;
		b[i] = state = state * 1664525u + 1013904223u;
		fa[i] = a[i] / 65536.0f;
		fb[i] = b[i] / 16777216.0f;
	}
	open_device();
	multiply("-DTYPE=uint", a, b, found.whole);
	multiply("-DTYPE=float", fa, fb, found.real);
	write_file(argv[1], &found, sizeof found);
	FILE *in = argc > 2 ? fopen(argv[2], "rb") : NULL;
	if (argc > 2 && (!in || fread(&other, sizeof other, 1, in) != 1))
		err(2, "%s", argv[2]);
	for (int i = 0; i < SIZE * SIZE; i++) {
		cl_uint whole = 0;
		double real = 0, magnitude = 0;
		for (int k = 0; k < SIZE; k++) {
			int left = i / SIZE * SIZE + k, right = k * SIZE + i % SIZE;
			whole += (cl_uint)a[left] * (cl_uint)b[right];
			real += (double)fa[left] * fb[right];
			magnitude += fabs((double)fa[left] * fb[right]);
		}
		double bound = SIZE * (FLT_EPSILON / 2) * magnitude, error = fabs(found.real[i] - real);
		wrong += (cl_uint)found.whole[i] != whole || !(error <= bound);
		worst = fmax(worst, error / bound);
		differ += in && (found.whole[i] != other.whole[i] || !(fabs((double)found.real[i] - other.real[i]) <= 2 * bound));
	}
	printf("%d elements, %zu wrong, largest error %.4f of the bound", 2 * SIZE * SIZE, wrong, worst);
	printf(in ? ", %zu differ from the other device's\n" : "\n", differ);
	return wrong || differ;
}
