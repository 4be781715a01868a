/* OpenCL: smooths a picture with a separable Gauss filter (nearest texels, clamped edges), then
 * rotates and enlarges it with the sampler's linear filter, as bytes and as floats. Also moves and
 * mirrors its integers.
 * Usage: opencl_image OUT.raw   writes three pictures of 64 x 64: RGBA8 smoothed, RGBA8 of the
 * rotated floats, RGBA8 of integers */
#include "opencl_common.h"

#define SIZE 64

static const char *SOURCE =
	"constant sampler_t near = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
	"constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;\n"
	"constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
	"constant float WEIGHTS[5] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };\n"
	"float4 line(read_only image2d_t from, int2 step) {\n"
	"    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	"    float4 sum = 0;\n"
	"    for (int i = -2; i <= 2; i++) sum += WEIGHTS[i + 2] * read_imagef(from, near, at + i * step);\n"
	"    return sum; }\n"
	"kernel void across(read_only image2d_t from, write_only image2d_t to) {\n"
	"    write_imagef(to, (int2)(get_global_id(0), get_global_id(1)), line(from, (int2)(1, 0))); }\n"
	"kernel void down(read_only image2d_t from, write_only image2d_t to) {\n"
	"    write_imagef(to, (int2)(get_global_id(0), get_global_id(1)), line(from, (int2)(0, 1))); }\n"
	"kernel void turn(read_only image2d_t from, write_only image2d_t to) {\n"
	"    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	"    float2 p = (convert_float2(at) + 0.5f) / (float2)(get_global_size(0), get_global_size(1)) - 0.25f;\n"
	"    write_imagef(to, at, read_imagef(from, linear, (float2)(0.8f * p.x - 0.6f * p.y, 0.6f * p.x + 0.8f * p.y))); }\n"
	"kernel void move(read_only image2d_t from, write_only image2d_t to) {\n"
	"    int2 at = (int2)(get_global_id(0), get_global_id(1)), size = get_image_dim(from);\n"
	"    uint4 texel = read_imageui(from, border, (int2)(size.x + 4, 3) - at.xy * (int2)(1, -1));\n"
	"    write_imageui(to, at, texel.wzyx ^ (uint4)(at.x, at.y, 7, 0)); }\n";

static const cl_image_format BYTES = { CL_RGBA, CL_UNORM_INT8 }, FLOATS = { CL_R, CL_FLOAT }, INTEGERS = { CL_RGBA, CL_UNSIGNED_INT8 };
static const size_t SIZES[3] = { SIZE, SIZE, 1 }, ORIGIN[3];

static cl_mem image(const cl_image_format *format, void *data)
{
	const cl_image_desc shape = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIZE, .image_height = SIZE };
	cl_int error;
	cl_mem image = clCreateImage(context, data ? CL_MEM_COPY_HOST_PTR : 0, format, &shape, data, &error);
	check(error, "clCreateImage");
	return image;
}

static void get_image(cl_mem image, void *data)
{
	check(clEnqueueReadImage(queue, image, CL_TRUE, ORIGIN, SIZES, 0, 0, data, 0, NULL, NULL), "reading an image");
}

int main(int argc, char **argv)
{
	static unsigned char texels[SIZE * SIZE][4], out[3][SIZE * SIZE][4];
	static float floats[SIZE * SIZE];
	cl_uint state = 1;
	if (argc != 2)
		errx(2, "no file to write");
	for (int i = 0; i < SIZE * SIZE; i++) {
		for (int c = 0; c < 4; c++)
			texels[i][c] = (state = state * 1664525u + 1013904223u) >> 24;
		floats[i] = texels[i][0];
	}
	open_device();
	cl_program filter = program(SOURCE, "");
	cl_mem bytes = image(&BYTES, texels), middle = image(&BYTES, NULL), smooth = image(&BYTES, NULL);
	run(filter, "across", 2, SIZES, NULL, 2, (cl_mem[]){ bytes, middle });
	run(filter, "down", 2, SIZES, NULL, 2, (cl_mem[]){ middle, smooth });
	get_image(smooth, out[0]);

	cl_mem real = image(&FLOATS, floats), turned = image(&FLOATS, NULL);
	run(filter, "turn", 2, SIZES, NULL, 2, (cl_mem[]){ real, turned });
	get_image(turned, floats);
	for (int i = 0; i < 4 * SIZE * SIZE; i++)
		out[1][i / 4][i % 4] = floats[i / 4] + 0.5f;

	cl_mem whole = image(&INTEGERS, texels), moved = image(&INTEGERS, NULL);
	run(filter, "move", 2, SIZES, NULL, 2, (cl_mem[]){ whole, moved });
	get_image(moved, out[2]);
	write_file(argv[1], out, sizeof out);
	return 0;
}
