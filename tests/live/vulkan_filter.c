/* Image processing by compute shaders: a convolution, a gradient, a rotated and scaled picture, a
 * histogram. Uses storage images of four formats, fetched and filtered texels, and copies between
 * buffers and images. Results that follow from the source alone are checked here: integers exactly,
 * floats of 32 bits within 1e-6, halves within their last bit (lavapipe cuts them off) and the
 * rounding of the sums.
 * Usage: vulkan_filter OUT.raw   (the sharpened and the scaled picture, 200 x 150, RGBA, 8 bits
 * each) */
#include <math.h>

#include "vulkan_common.h"

#include "vulkan_filter_convolve_comp.h"
#include "vulkan_filter_edges_comp.h"
#include "vulkan_filter_histogram_comp.h"
#include "vulkan_filter_scale_comp.h"

#define WIDTH 200
#define HEIGHT 150
#define TEXELS (WIDTH * HEIGHT)
#define PITCH 224 /* of the source in its buffer */
#define LEVELS 256

enum { SHARP, BRIGHT, EDGES, SCALED, COUNTS, ORDER, OUTPUTS };

static const struct {
	VkFormat format;
	uint32_t width, height;
} outputs[OUTPUTS] = {
	[SHARP] = { VK_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT }, [BRIGHT] = { VK_FORMAT_R32_SFLOAT, WIDTH, HEIGHT },
	[EDGES] = { VK_FORMAT_R16G16_SFLOAT, WIDTH, HEIGHT }, [SCALED] = { VK_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT },
	[COUNTS] = { VK_FORMAT_R32_UINT, LEVELS, 2 }, [ORDER] = { VK_FORMAT_R32_UINT, WIDTH, HEIGHT },
};
static uint8_t (*source)[4];
static void *results[OUTPUTS];
static VkPipelineLayout layout;

static void run(const uint32_t *code, size_t size, uint32_t width, uint32_t height)
{
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute_pipeline(layout, code, size, NULL));
	vkCmdDispatch(commands, (WIDTH + width - 1) / width, (HEIGHT + height - 1) / height, 1);
	barrier();
}

static uint32_t clamped(int at, int size)
{
	return at < 0 ? 0 : at < size ? at : size - 1;
}

static float from_half(uint16_t half)
{
	int exponent = half >> 10 & 31;
	float fraction = half & 1023;
	float value = exponent ? ldexpf(1024 + fraction, exponent - 25) : ldexpf(fraction, -24);
	return half & 0x8000 ? -value : value;
}

/* Number of values that differ from the host's. */
static unsigned whole_numbers(void)
{
	static uint32_t counts[LEVELS], last[LEVELS];
	const uint32_t *found = results[COUNTS], *order = results[ORDER];
	unsigned wrong = 0;
	for (uint32_t i = 0; i < TEXELS; i++) {
		const uint8_t *texel = source[i / WIDTH * PITCH + i % WIDTH];
		uint32_t level = (77 * texel[0] + 150 * texel[1] + 29 * texel[2]) >> 8, reversed = 0;
		uint32_t key = (uint32_t)texel[0] << 16 | texel[1] << 8 | level;
		for (int bit = 0; bit < 32; bit++)
			reversed |= (key >> bit & 1) << (31 - bit);
		counts[level]++;
		last[level] = i;
		wrong += order[i] != reversed;
	}
	for (int level = 0; level < LEVELS; level++)
		wrong += (found[level] != counts[level]) + (found[LEVELS + level] != last[level]);
	return wrong;
}

static unsigned floats(void)
{
	const float *bright = results[BRIGHT];
	const uint16_t *edges = results[EDGES];
	double furthest = 0, furthest_half = 0;
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++) {
			const uint8_t *texel = source[y * PITCH + x];
			double expected = (texel[0] * 0.25 + texel[1] * 0.625 + texel[2] * 0.125) / 255, sums[2] = { 0 };
			furthest = fmax(furthest, fabs(bright[y * WIDTH + x] - expected));
			for (int i = -1; i <= 1; i++)
				for (int j = -1; j <= 1; j++) {
					double b = bright[clamped(y + i, HEIGHT) * WIDTH + clamped(x + j, WIDTH)];
					sums[0] += b * j * (2 - abs(i));
					sums[1] += b * i * (2 - abs(j));
				}
			for (int i = 0; i < 2; i++) {
				double off = fabs(from_half(edges[2 * (y * WIDTH + x) + i]) - sums[i]);
				/* In units of the last of 11 bits; smaller values count as 1/64. */
				furthest_half = fmax(furthest_half, off * 1024 / fmax(1 / 64., exp2(floor(log2(fabs(sums[i]))))));
			}
		}
	printf("brightness off by at most %.1e, gradient by %.3f of its last bit\n", furthest, furthest_half);
	return (furthest > 1e-6) + (furthest_half > 1.02);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	VkPhysicalDeviceFeatures features = { .shaderStorageImageExtendedFormats = VK_TRUE };
	open_device(&features);
	VkBuffer upload = buffer(4 * PITCH * HEIGHT, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &source);
	for (uint32_t y = 0; y < HEIGHT; y++)
		for (uint32_t x = 0; x < PITCH; x++) {
			uint8_t *texel = source[y * PITCH + x];
			texel[0] = x * y / 120;
			texel[1] = (x - 90) * (x - 90) / 40 + y;
			texel[2] = (x / 20 + y / 15) % 2 ? 200 : 40 + x / 4;
			texel[3] = 255;
		}

	VkImage picture = image(VK_FORMAT_R8G8B8A8_UNORM, WIDTH, HEIGHT, 1,
				VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
				VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT);
	VkImage images[OUTPUTS];
	VkImageView views[OUTPUTS];
	VkBuffer downloads[OUTPUTS];
	for (int i = 0; i < OUTPUTS; i++) {
		images[i] = image(outputs[i].format, outputs[i].width, outputs[i].height, 1,
				  VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
					  VK_IMAGE_USAGE_TRANSFER_DST_BIT, 0);
		views[i] = image_view(images[i], outputs[i].format, VK_IMAGE_ASPECT_COLOR_BIT, 1);
		downloads[i] = buffer(4 * outputs[i].width * outputs[i].height, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &results[i]);
	}
	VkSamplerCreateInfo sampler_info = {
		VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
		.addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
	};
	VkSampler nearest, linear;
	CHECK(vkCreateSampler(device, &sampler_info, NULL, &nearest));
	sampler_info.magFilter = sampler_info.minFilter = VK_FILTER_LINEAR;
	CHECK(vkCreateSampler(device, &sampler_info, NULL, &linear));
	VkImageView as_color = image_view(picture, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_ASPECT_COLOR_BIT, 1);
	VkImageView as_numbers = image_view(picture, VK_FORMAT_R8G8B8A8_UINT, VK_IMAGE_ASPECT_COLOR_BIT, 1);
	struct binding bindings[] = {
		texture(nearest, as_color, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL), storage_image(views[SHARP]),
		storage_image(views[BRIGHT]), storage_image(views[EDGES]), storage_image(views[SCALED]),
		texture(linear, views[SHARP], VK_IMAGE_LAYOUT_GENERAL),
		texture(nearest, as_numbers, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL), storage_image(views[COUNTS]),
		storage_image(views[ORDER]),
	};
	VkDescriptorSetLayout set_kind = set_layout(VK_SHADER_STAGE_COMPUTE_BIT, bindings, COUNT(bindings));
	VkDescriptorSet set = descriptor_set(set_kind, bindings, COUNT(bindings));
	layout = pipeline_layout(set_kind, 0, 0);

	begin();
	transition(picture, 0, 1, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
	/* In two parts: 40 rows, and the rows below them. */
	VkBufferImageCopy pieces[] = { region(0, 0, WIDTH, 40), region(4 * PITCH * 40, 0, WIDTH, HEIGHT - 40) };
	pieces[0].bufferRowLength = pieces[1].bufferRowLength = PITCH;
	pieces[1].imageOffset.y = 40;
	vkCmdCopyBufferToImage(commands, upload, picture, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, COUNT(pieces), pieces);
	transition(picture, 0, 1, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
	for (int i = 0; i < OUTPUTS; i++)
		transition(images[i], 0, 1, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
	VkClearColorValue none = { .uint32 = { 0 } };
	VkImageSubresourceRange whole = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 };
	vkCmdClearColorImage(commands, images[COUNTS], VK_IMAGE_LAYOUT_GENERAL, &none, 1, &whole);
	barrier();
	vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
	run(vulkan_filter_convolve_comp, sizeof vulkan_filter_convolve_comp, 16, 8);
	run(vulkan_filter_edges_comp, sizeof vulkan_filter_edges_comp, 8, 8);
	run(vulkan_filter_scale_comp, sizeof vulkan_filter_scale_comp, 32, 1);
	run(vulkan_filter_histogram_comp, sizeof vulkan_filter_histogram_comp, 8, 16);
	for (int i = 0; i < OUTPUTS; i++) {
		VkBufferImageCopy all = region(0, 0, outputs[i].width, outputs[i].height);
		vkCmdCopyImageToBuffer(commands, images[i], VK_IMAGE_LAYOUT_GENERAL, downloads[i], 1, &all);
	}
	barrier();
	submit();

	unsigned wrong = whole_numbers();
	printf("%u whole numbers, %u wrong\n", TEXELS + 2 * LEVELS, wrong);
	wrong += floats();
	static uint8_t pictures[2][4 * TEXELS];
	memcpy(pictures[0], results[SHARP], sizeof pictures[0]);
	memcpy(pictures[1], results[SCALED], sizeof pictures[1]);
	save(argv[1], pictures, sizeof pictures);
	close_device();
	return wrong != 0;
}
