/* OpenCL: runs kernels, creates and releases buffers. Memory must not grow.
 * Usage: opencl_growth [ROUNDS] */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 1024

static void check(int good, const char *what, int error)
{
	if (!good) {
		fprintf(stderr, "opencl_growth: %s failed (%d)\n", what, error);
		exit(2);
	}
}

static long resident(void)
{
	char line[256];
	long kilobytes = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof line, status))
		if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1)
			break;
	fclose(status);
	return kilobytes;
}

static const char *SOURCE =
	"kernel void scale(global uint *numbers, uint factor) { numbers[get_global_id(0)] *= factor; }\n";

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1500;
	size_t count = COUNT, wrong = 0;
	long before = 0;
	cl_platform_id platform;
	cl_device_id device;
	cl_int error;
	check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "clGetPlatformIDs", 0);
	error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
	check(error == CL_SUCCESS, "clGetDeviceIDs", error);
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error == CL_SUCCESS, "clCreateContext", error);
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
	check(error == CL_SUCCESS, "clCreateCommandQueue", error);
	cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, NULL, &error);
	error = clBuildProgram(program, 1, &device, "", NULL, NULL);
	check(error == CL_SUCCESS, "clBuildProgram", error);
	cl_kernel scale = clCreateKernel(program, "scale", &error);
	for (int round = 0; round < rounds; round++) {
		cl_uint numbers[COUNT], factor = round;
		for (cl_uint i = 0; i < COUNT; i++)
			numbers[i] = i;
		if (round == rounds / 3)
			before = resident();
		cl_mem memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &error);
		check(error == CL_SUCCESS, "clCreateBuffer", error);
		clSetKernelArg(scale, 0, sizeof(cl_mem), &memory);
		clSetKernelArg(scale, 1, sizeof factor, &factor);
		error = clEnqueueNDRangeKernel(queue, scale, 1, NULL, &count, NULL, 0, NULL, NULL);
		check(error == CL_SUCCESS, "scale", error);
		error = clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL);
		check(error == CL_SUCCESS, "reading", error);
		clReleaseMemObject(memory);
		for (cl_uint i = 0; i < COUNT; i++)
			wrong += numbers[i] != i * factor;
	}
	long after = resident();
	printf("%d kernels, %zu wrong: %ld KiB, then %ld\n", rounds, wrong, before, after);
	return wrong || after - before > 4096;
}
