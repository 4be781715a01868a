/* Shared by the clients of OpenCL: a device (a GPU if there is one, else pocl), programs, buffers,
 * runs. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static inline void check(cl_int error, const char *what)
{
	if (error != CL_SUCCESS)
		errx(2, "%s failed (%d)", what, error);
}

static inline void open_device(void)
{
	cl_platform_id platforms[8];
	cl_uint count = 0;
	cl_int error;
	char name[256];
	check(clGetPlatformIDs(8, platforms, &count), "clGetPlatformIDs");
	for (cl_uint i = 0; i < count && !device; i++)
		clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, NULL);
	if (!device)
		check(clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
	fprintf(stderr, "%s\n", name);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	check(error, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &error);
	check(error, "clCreateCommandQueue");
}

static inline cl_program program(const char *source, const char *options)
{
	static char log[16384];
	cl_int error;
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
	error = clBuildProgram(program, 1, &device, options, NULL, NULL);
	clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
	if (error != CL_SUCCESS)
		errx(2, "clBuildProgram failed (%d): %s", error, log);
	return program;
}

/* DATA may be NULL. */
static inline cl_mem buffer(size_t bytes, void *data)
{
	cl_int error;
	cl_mem buffer = clCreateBuffer(context, data ? CL_MEM_COPY_HOST_PTR : 0, bytes, data, &error);
	check(error, "clCreateBuffer");
	return buffer;
}

/* Runs a kernel whose arguments are COUNT objects; LOCAL may be NULL. */
static inline void run(cl_program program, const char *name, cl_uint dimensions, const size_t *global, const size_t *local,
		       cl_uint count, const cl_mem *arguments)
{
	cl_int error;
	cl_kernel kernel = clCreateKernel(program, name, &error);
	check(error, name);
	for (cl_uint i = 0; i < count; i++)
		check(clSetKernelArg(kernel, i, sizeof *arguments, &arguments[i]), name);
	check(clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL), name);
	clReleaseKernel(kernel);
}

static inline void get(cl_mem buffer, size_t bytes, void *data)
{
	check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL), "reading");
}

static inline void write_file(const char *path, const void *data, size_t bytes)
{
	FILE *out = fopen(path, "wb");
	if (!out || fwrite(data, bytes, 1, out) != 1 || fclose(out))
		err(2, "%s", path);
}
