/* Texels of the formats that hasvk and lavapipe can blit: arbitrary bits read as colours, and
 * colours written and read back.
 * Usage: vulkan_formats OUT.raw   (64 x 64, RGBA, 8 bits each: for each of `written` in both ways,
 * then for each of `read`) */
#include "vulkan_common.h"

#define SIZE 64
#define PICTURE (4 * SIZE * SIZE)
#define MOST (16 * SIZE * SIZE) /* bytes, of the largest texels */
#define USAGE (VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)

static const VkFormat written[] = {
	VK_FORMAT_R5G6B5_UNORM_PACK16, VK_FORMAT_A1R5G5B5_UNORM_PACK16, VK_FORMAT_R8_UNORM, VK_FORMAT_R8_SNORM,
	VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8_SNORM, VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SNORM,
	VK_FORMAT_R8G8B8A8_SRGB, VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, VK_FORMAT_A8B8G8R8_UNORM_PACK32,
	VK_FORMAT_A8B8G8R8_SNORM_PACK32, VK_FORMAT_A8B8G8R8_SRGB_PACK32, VK_FORMAT_A2B10G10R10_UNORM_PACK32,
	VK_FORMAT_R16_UNORM, VK_FORMAT_R16_SNORM, VK_FORMAT_R16_SFLOAT, VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16_SNORM,
	VK_FORMAT_R16G16_SFLOAT, VK_FORMAT_R16G16B16A16_UNORM, VK_FORMAT_R16G16B16A16_SNORM,
	VK_FORMAT_R16G16B16A16_SFLOAT, VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32A32_SFLOAT,
}, read[] = {
	VK_FORMAT_B4G4R4A4_UNORM_PACK16, VK_FORMAT_B10G11R11_UFLOAT_PACK32, VK_FORMAT_E5B9G9R9_UFLOAT_PACK32,
	VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_FORMAT_BC1_RGB_SRGB_BLOCK, VK_FORMAT_BC1_RGBA_UNORM_BLOCK,
	VK_FORMAT_BC1_RGBA_SRGB_BLOCK, VK_FORMAT_BC2_UNORM_BLOCK, VK_FORMAT_BC2_SRGB_BLOCK, VK_FORMAT_BC3_UNORM_BLOCK,
	VK_FORMAT_BC3_SRGB_BLOCK, VK_FORMAT_BC4_UNORM_BLOCK, VK_FORMAT_BC4_SNORM_BLOCK, VK_FORMAT_BC5_UNORM_BLOCK,
	VK_FORMAT_BC5_SNORM_BLOCK, VK_FORMAT_BC6H_UFLOAT_BLOCK, VK_FORMAT_BC6H_SFLOAT_BLOCK, VK_FORMAT_BC7_UNORM_BLOCK,
	VK_FORMAT_BC7_SRGB_BLOCK,
};

static void blit(VkImage from, VkImage to)
{
	VkImageSubresourceLayers layers = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 };
	VkImageBlit all = {
		layers, { { 0, 0, 0 }, { SIZE, SIZE, 1 } }, layers, { { 0, 0, 0 }, { SIZE, SIZE, 1 } },
	};
	vkCmdBlitImage(commands, from, VK_IMAGE_LAYOUT_GENERAL, to, VK_IMAGE_LAYOUT_GENERAL, 1, &all, VK_FILTER_NEAREST);
	barrier();
}

static VkImage plain;
static VkBuffer source, ramp, target;
static VkDeviceSize place;
static const VkBufferImageCopy all = { .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 }, .imageExtent = { SIZE, SIZE, 1 } };

static void keep(VkImage texels)
{
	blit(texels, plain);
	VkBufferImageCopy back = region(place, 0, SIZE, SIZE);
	vkCmdCopyImageToBuffer(commands, plain, VK_IMAGE_LAYOUT_GENERAL, target, 1, &back);
	barrier();
	place += PICTURE;
}

static void format(VkFormat format, VkFormatFeatureFlags needs)
{
	VkFormatProperties has;
	vkGetPhysicalDeviceFormatProperties(physical, format, &has);
	if ((has.optimalTilingFeatures & needs) != needs) {
		fprintf(stderr, "vulkan_formats: no blits of format %d\n", format);
		exit(1);
	}
	VkImage texels = image(format, SIZE, SIZE, 1, USAGE, 0);
	begin();
	transition(texels, 0, 1, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
	transition(plain, 0, 1, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
	vkCmdCopyBufferToImage(commands, source, texels, VK_IMAGE_LAYOUT_GENERAL, 1, &all);
	barrier();
	keep(texels);
	if (needs & VK_FORMAT_FEATURE_BLIT_DST_BIT) {
		vkCmdCopyBufferToImage(commands, ramp, plain, VK_IMAGE_LAYOUT_GENERAL, 1, &all);
		barrier();
		blit(plain, texels);
		keep(texels);
	}
	submit();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	open_device(NULL);
	uint8_t *bits, *colors, *out;
	source = buffer(MOST, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &bits);
	ramp = buffer(PICTURE, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &colors);
	target = buffer(PICTURE * (2 * COUNT(written) + COUNT(read)), VK_BUFFER_USAGE_TRANSFER_DST_BIT, &out);
	uint32_t state = 1;
	for (uint32_t i = 0; i < MOST; i++) {
		state = state * 1664525 + 1013904223;
		bits[i] = state >> 24;
	}
	for (uint32_t i = 0; i < SIZE * SIZE; i++) {
		colors[4 * i] = i % SIZE * 4;
		colors[4 * i + 1] = i / SIZE * 4;
		colors[4 * i + 2] = bits[4 * i + 2];
		colors[4 * i + 3] = 255 - i % SIZE;
	}
	plain = image(VK_FORMAT_R8G8B8A8_UNORM, SIZE, SIZE, 1, USAGE, 0);
	for (uint32_t i = 0; i < COUNT(written); i++)
		format(written[i], VK_FORMAT_FEATURE_BLIT_SRC_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT);
	for (uint32_t i = 0; i < COUNT(read); i++)
		format(read[i], VK_FORMAT_FEATURE_BLIT_SRC_BIT);
	save(argv[1], out, place);
	close_device();
	return 0;
}
