/* OpenCL: the time of a kernel, without the time of its compiler. The results of the first run are
 * checked; the times are those of later runs.
 * Usage: opencl_speed saxpy|matrix|filter [RUNS]   prints the fastest of RUNS (default 3) runs */
#include "opencl_common.h"
#include "opencl_matrix.h"
#include <math.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

/* Runs a kernel once for its result and then RUNS times. Prints the fastest. */
static void measure(const char *title, int runs, cl_program program, const char *name, cl_uint dimensions, const size_t *global,
		    const size_t *local, cl_uint count, const cl_mem *arguments, size_t (*wrong)(const cl_mem *))
{
	double fastest = INFINITY;
	run(program, name, dimensions, global, local, count, arguments);
	check(clFinish(queue), "clFinish");
	size_t errors = wrong(arguments);
	if (errors)
		errx(1, "%s: %zu results are wrong", title, errors);
	for (int i = 0; i < runs; i++) {
		double start = now();
		run(program, name, dimensions, global, local, count, arguments);
		check(clFinish(queue), "clFinish");
		fastest = fmin(fastest, now() - start);
	}
	printf("%s: %.3f ms\n", title, fastest);
}

/* y = 2 x + y for 2^24 floats. The inputs are small integers, so results are exact. x is 0 to 1023,
 * y 0 to 15 at first, and the result goes to a third buffer. */
#define SAXPY (1 << 24)

static const char *SAXPY_SOURCE =
	"kernel void saxpy(global const float *x, global const float *y, global float *out) {\n"
	"    size_t i = get_global_id(0);\n"
	"    out[i] = 2.0f * x[i] + y[i];\n"
	"}\n";

static float x[SAXPY], y[SAXPY], out[SAXPY];

static size_t saxpy_wrong(const cl_mem *memory)
{
	size_t wrong = 0;
	get(memory[2], sizeof out, out);
	for (int i = 0; i < SAXPY; i++)
		wrong += out[i] != 2 * x[i] + y[i];
	return wrong;
}

static void saxpy(int runs)
{
	static const size_t global[] = { SAXPY };
	for (int i = 0; i < SAXPY; i++) {
		x[i] = i % 1024;
		y[i] = i / 1024 % 16;
	}
	cl_mem memory[] = { buffer(sizeof x, x), buffer(sizeof y, y), buffer(sizeof out, NULL) };
	measure("saxpy", runs, program(SAXPY_SOURCE, ""), "saxpy", 1, global, NULL, 3, memory, saxpy_wrong);
}

/* A matrix product of floats by tiles in local memory. The elements are 0 to 15, so sums are exact. */
#define SIZE 512

static float a[SIZE][SIZE], b[SIZE][SIZE], product[SIZE][SIZE];

static size_t matrix_wrong(const cl_mem *memory)
{
	size_t wrong = 0;
	get(memory[2], sizeof product, product);
	for (int row = 0; row < SIZE; row++)
		for (int column = 0; column < SIZE; column++) {
			int sum = 0;
			for (int k = 0; k < SIZE; k++)
				sum += (int)a[row][k] * (int)b[k][column];
			wrong += product[row][column] != sum;
		}
	return wrong;
}

static void matrix(int runs)
{
	static const size_t global[] = { SIZE, SIZE }, local[] = { 16, 16 };
	for (int i = 0; i < SIZE * SIZE; i++) {
		(&a[0][0])[i] = (i * 7 + i / SIZE) % 16;
		(&b[0][0])[i] = (i * 3 + i / SIZE * 5) % 16;
	}
	cl_mem memory[] = { buffer(sizeof a, a), buffer(sizeof b, b), buffer(sizeof product, NULL) };
	measure("matrix", runs, program(MATRIX_SOURCE, "-DTYPE=float"), "multiply", 2, global, local, 3, memory, matrix_wrong);
}

/* A filter of 3x3 texels with the weights 1 2 1, 2 4 2, 1 2 1 over an RGBA image of 8 bits a
 * channel. Coordinates are clamped at the edges. The result may be off by one. */
#define SIDE 1024

static const char *FILTER_SOURCE =
	"constant sampler_t clamped = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
	"kernel void filter(read_only image2d_t in, write_only image2d_t out) {\n"
	"    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	"    float4 sum = 0;\n"
	"    for (int dy = -1; dy <= 1; dy++)\n"
	"        for (int dx = -1; dx <= 1; dx++)\n"
	"            sum += (2 - abs(dx)) * (2 - abs(dy)) / 16.0f * read_imagef(in, clamped, at + (int2)(dx, dy));\n"
	"    write_imagef(out, at, sum);\n"
	"}\n";

static unsigned char texels[SIDE][SIDE][4], filtered[SIDE][SIDE][4];

static int clamped(int at)
{
	return at < 0 ? 0 : at < SIDE ? at : SIDE - 1;
}

static size_t filter_wrong(const cl_mem *memory)
{
	static const size_t origin[3], region[] = { SIDE, SIDE, 1 };
	size_t wrong = 0;
	check(clEnqueueReadImage(queue, memory[1], CL_TRUE, origin, region, 0, 0, filtered, 0, NULL, NULL), "clEnqueueReadImage");
	for (int row = 0; row < SIDE; row++)
		for (int column = 0; column < SIDE; column++)
			for (int channel = 0; channel < 4; channel++) {
				double sum = 0;
				for (int dy = -1; dy <= 1; dy++)
					for (int dx = -1; dx <= 1; dx++)
						sum += (2 - abs(dx)) * (2 - abs(dy)) / 16.0 *
						       texels[clamped(row + dy)][clamped(column + dx)][channel];
				wrong += !(fabs(filtered[row][column][channel] - sum) <= 1);
			}
	return wrong;
}

static cl_mem image(void *data)
{
	static const cl_image_format format = { CL_RGBA, CL_UNORM_INT8 };
	static const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE };
	cl_int error;
	cl_mem image = clCreateImage(context, data ? CL_MEM_COPY_HOST_PTR : 0, &format, &desc, data, &error);
	check(error, "clCreateImage");
	return image;
}

static void filter(int runs)
{
	static const size_t global[] = { SIDE, SIDE };
	unsigned state = 1;
	for (size_t i = 0; i < sizeof texels; i++) {
		state = state * 1664525u + 1013904223u;
		(&texels[0][0][0])[i] = state >> 24;
	}
	cl_mem memory[] = { image(texels), image(NULL) };
	measure("filter", runs, program(FILTER_SOURCE, ""), "filter", 2, global, NULL, 2, memory, filter_wrong);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int);
	} all[] = { { "saxpy", saxpy }, { "matrix", matrix }, { "filter", filter } };
	int runs = argc > 2 ? atoi(argv[2]) : 3;
	for (int i = 0; argc > 1 && i < 3; i++)
		if (!strcmp(argv[1], all[i].name)) {
			open_device();
			all[i].run(runs);
			return 0;
		}
	errx(2, "usage: opencl_speed saxpy|matrix|filter [RUNS]");
}
