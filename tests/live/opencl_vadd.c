/* OpenCL: adds two vectors of integers and counts a histogram with atomics; the numbers are compared here, exactly.
 * Usage: opencl_vadd [ELEMENTS] */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int good, const char *what, int error)
{
	if (!good) {
		fprintf(stderr, "opencl_vadd: %s failed (%d)\n", what, error);
		exit(2);
	}
}

static const char *SOURCE =
	"kernel void add(global const uint *a, global const uint *b, global uint *sum) {\n"
	"    size_t i = get_global_id(0); sum[i] = a[i] + b[i]; }\n"
	"kernel void histogram(global const uint *a, global uint *bins) {\n"
	"    atomic_inc(&bins[a[get_global_id(0)] >> 28]); }\n";

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 0) : 4096, wrong = 0;
	cl_platform_id platform;
	cl_device_id device;
	cl_int error;
	char name[256];
	check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "clGetPlatformIDs", 0);
	error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	check(error == CL_SUCCESS, "clGetDeviceIDs", error);
	clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
	fprintf(stderr, "%s\n", name);
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error == CL_SUCCESS, "clCreateContext", error);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
	check(error == CL_SUCCESS, "clCreateCommandQueue", error);

	cl_uint *a = malloc(4 * count), *b = malloc(4 * count), *sum = malloc(4 * count);
	cl_uint bins[16] = { 0 }, expected[16] = { 0 }, state = 1;
	for (size_t i = 0; i < count; i++) {
		a[i] = state = state * 1664525u + 1013904223u;
		b[i] = state = state * 1664525u + 1013904223u;
		expected[a[i] >> 28]++;
	}
	cl_mem memory_a = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 4 * count, a, &error);
	cl_mem memory_b = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 4 * count, b, &error);
	cl_mem memory_sum = clCreateBuffer(context, CL_MEM_WRITE_ONLY, 4 * count, NULL, &error);
	cl_mem memory_bins = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof bins, bins, &error);
	check(error == CL_SUCCESS, "clCreateBuffer", error);

	cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, &error);
	error = clBuildProgram(program, 1, &device, "", NULL, NULL);
	check(error == CL_SUCCESS, "clBuildProgram", error);
	cl_kernel add = clCreateKernel(program, "add", &error), histogram = clCreateKernel(program, "histogram", &error);
	clSetKernelArg(add, 0, sizeof(cl_mem), &memory_a);
	clSetKernelArg(add, 1, sizeof(cl_mem), &memory_b);
	clSetKernelArg(add, 2, sizeof(cl_mem), &memory_sum);
	clSetKernelArg(histogram, 0, sizeof(cl_mem), &memory_a);
	clSetKernelArg(histogram, 1, sizeof(cl_mem), &memory_bins);
	error = clEnqueueNDRangeKernel(queue, add, 1, NULL, &count, NULL, 0, NULL, NULL);
	check(error == CL_SUCCESS, "add", error);
	error = clEnqueueNDRangeKernel(queue, histogram, 1, NULL, &count, NULL, 0, NULL, NULL);
	check(error == CL_SUCCESS, "histogram", error);
	error = clEnqueueReadBuffer(queue, memory_sum, CL_TRUE, 0, 4 * count, sum, 0, NULL, NULL);
	check(error == CL_SUCCESS, "reading", error);
	error = clEnqueueReadBuffer(queue, memory_bins, CL_TRUE, 0, sizeof bins, bins, 0, NULL, NULL);
	check(error == CL_SUCCESS, "reading", error);
	for (size_t i = 0; i < count; i++)
		wrong += sum[i] != a[i] + b[i];
	for (size_t i = 0; i < 16; i++)
		wrong += bins[i] != expected[i];
	printf("%zu elements, %zu wrong\n", count, wrong);
	return wrong != 0;
}
