/* Two textured quads in perspective that intersect, with depth and trilinear filtering through all
 * levels. The levels of the floor are uploaded, each in its own colours. The levels of the wall are
 * made by blits. The scene is drawn with a depth buffer, then with a depth and stencil buffer.
 * There a third quad covers the pixels that were drawn twice.
 * With `lod` the shader computes the level of detail. lavapipe's own level uses a logarithm that is
 * linear between powers of two. It is up to 0.043 off, which changes channels here by up to 11.
 * Usage: vulkan_texture OUT.raw [lod]   (RGBA, 8 bits each: both pictures of 256 x 256, then the
 * levels of the wall) */
#include "vulkan_common.h"

#include "vulkan_texture_frag.h"
#include "vulkan_texture_vert.h"

#define SIZE 256
#define TEXTURE 128
#define LEVELS 8
#define CHAIN (4 * ((4 * TEXTURE * TEXTURE - 1) / 3))

#define FORMAT VK_FORMAT_R8G8B8A8_UNORM
#define PICTURE (4 * SIZE * SIZE)

static struct vertex {
	float place[4], texel[2];
} vertices[] = {
	/* The floor: near and far edge at distances 0.5 (cut off by the near plane at 1) and 12. */
	{ { -1.2f, 1, -6 / 11.f, 0.5f }, { -1, 0 } }, { { 1.2f, 1, -6 / 11.f, 0.5f }, { 1, 0 } },
	{ { -1.2f, 1, 12, 12 }, { -1, 11 } }, { { 1.2f, 1, 12, 12 }, { 1, 11 } },
	/* The wall: its left edge at 2, its right one at 6; it goes through the floor. */
	{ { -1.7f, -1.5f, 12 / 11.f, 2 }, { 0, 0 } }, { { 4, -3, 60 / 11.f, 6 }, { 5.3f, -0.3f } },
	{ { -1.7f, 1.8f, 12 / 11.f, 2 }, { 0, 2.1f } }, { { 4, 2.5f, 60 / 11.f, 6 }, { 5.3f, 2.7f } },
	/* The whole screen. */
	{ { -1, -1, 0, 1 }, { 0, 0 } }, { { 1, -1, 0, 1 }, { 0.5f, 0 } },
	{ { -1, 1, 0, 1 }, { 0, 0.5f } }, { { 1, 1, 0, 1 }, { 0.5f, 0.5f } },
};
static uint16_t indices[] = { 0, 1, 2, 2, 1, 3 };
static VkBuffer vertex_buffer, index_buffer;
static VkDescriptorSet floor_set, wall_set;
static VkPipelineLayout layout;
static struct graphics what;

/* Texels of one level: squares whose colours identify the level. */
static void paint(uint8_t *texels, uint32_t level)
{
	uint32_t size = TEXTURE >> level, square = size > 8 ? size / 8 : 1;
	for (uint32_t y = 0; y < size; y++)
		for (uint32_t x = 0; x < size; x++, texels += 4) {
			uint8_t bright = (x / square + y / square) % 2 ? 255 : 96;
			texels[0] = level & 1 ? bright : 32;
			texels[1] = level & 2 ? bright : 255 * x / size;
			texels[2] = level & 4 ? bright : 255 * y / size;
			texels[3] = 255;
		}
}

/* The blits from each level to the next. The whole chain can then be copied. */
static void make_levels(VkImage chain)
{
	for (uint32_t level = 1; level < LEVELS; level++) {
		int32_t from = TEXTURE >> (level - 1), to = TEXTURE >> level;
		transition(chain, level, 1, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
		VkImageBlit half = {
			{ VK_IMAGE_ASPECT_COLOR_BIT, level - 1, 0, 1 }, { { 0, 0, 0 }, { from, from, 1 } },
			{ VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1 }, { { 0, 0, 0 }, { to, to, 1 } },
		};
		vkCmdBlitImage(commands, chain, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, chain,
			       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &half, VK_FILTER_LINEAR);
		transition(chain, level, 1, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
	}
}

static void quad(VkDescriptorSet set, uint32_t which, float shade, float alpha)
{
	float tint[] = { shade, shade, shade, alpha };
	vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof tint, tint);
	vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, NULL);
	vkCmdDrawIndexed(commands, COUNT(indices), 1, 0, 4 * which, 0);
}

/* Draws with a depth buffer of a format and copies the picture to the buffer. */
static void draw(VkFormat depth, bool stencil, VkBuffer to, VkDeviceSize offset)
{
	VkImageAspectFlags aspects = VK_IMAGE_ASPECT_DEPTH_BIT | (stencil ? VK_IMAGE_ASPECT_STENCIL_BIT : 0);
	VkImage target = image(FORMAT, SIZE, SIZE, 1, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, 0);
	VkImage distances = image(depth, SIZE, SIZE, 1, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, 0);
	VkImageView views[] = {
		image_view(target, FORMAT, VK_IMAGE_ASPECT_COLOR_BIT, 1), image_view(distances, depth, aspects, 1),
	};
	VkStencilOpState counting = {
		.compareOp = VK_COMPARE_OP_ALWAYS, .passOp = VK_STENCIL_OP_INCREMENT_AND_CLAMP, .compareMask = 255,
		.writeMask = 255,
	};
	VkStencilOpState twice = { .compareOp = VK_COMPARE_OP_EQUAL, .reference = 2, .compareMask = 255 };
	what.pass = render_pass(FORMAT, depth);
	what.depth = (VkPipelineDepthStencilStateCreateInfo){
		.depthTestEnable = VK_TRUE, .depthWriteEnable = VK_TRUE, .depthCompareOp = VK_COMPARE_OP_LESS,
		.stencilTestEnable = stencil, .front = counting, .back = counting,
	};
	VkPipeline near = graphics_pipeline(&what);
	what.depth = (VkPipelineDepthStencilStateCreateInfo){ .stencilTestEnable = stencil, .front = twice, .back = twice };
	VkPipeline over = graphics_pipeline(&what);

	VkFramebuffer frame = framebuffer(what.pass, views, COUNT(views), SIZE, SIZE);
	begin_pass(what.pass, frame, SIZE, SIZE, (VkClearColorValue){ { 0.1f, 0.2f, 0.3f, 1 } });
	VkDeviceSize start = 0;
	vkCmdBindVertexBuffers(commands, 0, 1, &vertex_buffer, &start);
	vkCmdBindIndexBuffer(commands, index_buffer, 0, VK_INDEX_TYPE_UINT16);
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, near);
	quad(floor_set, 0, 1, 1);
	quad(wall_set, 1, 0.75f, 1);
	if (stencil) {
		vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, over);
		quad(wall_set, 2, 1, 0.5f);
	}
	vkCmdEndRenderPass(commands);
	VkBufferImageCopy all = region(offset, 0, SIZE, SIZE);
	vkCmdCopyImageToBuffer(commands, target, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, to, 1, &all);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	open_device(NULL);
	void *mapped;
	vertex_buffer = buffer(sizeof vertices, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, &mapped);
	memcpy(mapped, vertices, sizeof vertices);
	index_buffer = buffer(sizeof indices, VK_BUFFER_USAGE_INDEX_BUFFER_BIT, &mapped);
	memcpy(mapped, indices, sizeof indices);

	/* The textures, and their texels in one buffer: all levels of the floor. The wall uses the first
	 * one. */
	uint8_t *texels, *pixels;
	VkBuffer upload = buffer(CHAIN, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &texels);
	VkBuffer out = buffer(2 * PICTURE + CHAIN, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &pixels);
	VkBufferImageCopy uploads[LEVELS], levels[LEVELS];
	uint32_t offset = 0;
	for (uint32_t level = 0, size = TEXTURE; level < LEVELS; level++, size /= 2) {
		paint(texels + offset, level);
		uploads[level] = region(offset, level, size, size);
		levels[level] = region(2 * PICTURE + offset, level, size, size);
		offset += 4 * size * size;
	}
	VkImageUsageFlags usage =
		VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
	VkImage ground = image(FORMAT, TEXTURE, TEXTURE, LEVELS, usage, 0);
	VkImage wall = image(FORMAT, TEXTURE, TEXTURE, LEVELS, usage, 0);
	VkSamplerCreateInfo repeating = {
		VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, .magFilter = VK_FILTER_LINEAR, .minFilter = VK_FILTER_LINEAR,
		.mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR, .maxLod = VK_LOD_CLAMP_NONE,
	}, mirrored = repeating;
	mirrored.addressModeU = mirrored.addressModeV = VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
	VkSampler samplers[2];
	CHECK(vkCreateSampler(device, &repeating, NULL, &samplers[0]));
	CHECK(vkCreateSampler(device, &mirrored, NULL, &samplers[1]));
	struct binding ground_texture = texture(samplers[0], image_view(ground, FORMAT, VK_IMAGE_ASPECT_COLOR_BIT, LEVELS),
						VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
	struct binding wall_texture = texture(samplers[1], image_view(wall, FORMAT, VK_IMAGE_ASPECT_COLOR_BIT, LEVELS),
					      VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
	VkDescriptorSetLayout set_kind = set_layout(VK_SHADER_STAGE_FRAGMENT_BIT, &ground_texture, 1);
	floor_set = descriptor_set(set_kind, &ground_texture, 1);
	wall_set = descriptor_set(set_kind, &wall_texture, 1);

	layout = pipeline_layout(set_kind, VK_SHADER_STAGE_FRAGMENT_BIT, 16);
	VkVertexInputBindingDescription binding = { 0, sizeof *vertices, VK_VERTEX_INPUT_RATE_VERTEX };
	VkVertexInputAttributeDescription attributes[] = {
		{ 0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct vertex, place) },
		{ 1, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(struct vertex, texel) },
	};
	what = (struct graphics){
		.layout = layout, .width = SIZE, .height = SIZE,
		.stages = {
			stage(VK_SHADER_STAGE_VERTEX_BIT, vulkan_texture_vert, sizeof vulkan_texture_vert),
			stage(VK_SHADER_STAGE_FRAGMENT_BIT, vulkan_texture_frag, sizeof vulkan_texture_frag),
		},
		.vertices = {
			.vertexBindingDescriptionCount = 1, .pVertexBindingDescriptions = &binding,
			.vertexAttributeDescriptionCount = COUNT(attributes), .pVertexAttributeDescriptions = attributes,
		},
		.blend = {
			VK_TRUE, VK_BLEND_FACTOR_SRC_ALPHA, VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA, VK_BLEND_OP_ADD,
			VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ZERO, VK_BLEND_OP_ADD,
		},
	};

	VkBool32 by_shader = argc > 2 && !strcmp(argv[2], "lod");
	VkSpecializationMapEntry place = { 0, 0, sizeof by_shader };
	VkSpecializationInfo constants = { 1, &place, sizeof by_shader, &by_shader };
	what.stages[1].pSpecializationInfo = &constants;

	begin();
	transition(ground, 0, LEVELS, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
	vkCmdCopyBufferToImage(commands, upload, ground, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, LEVELS, uploads);
	transition(ground, 0, LEVELS, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
	transition(wall, 0, 1, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
	vkCmdCopyBufferToImage(commands, upload, wall, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, uploads);
	transition(wall, 0, 1, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
	make_levels(wall);
	vkCmdCopyImageToBuffer(commands, wall, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, out, LEVELS, levels);
	transition(wall, 0, LEVELS, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
	draw(VK_FORMAT_D32_SFLOAT, false, out, 0);
	draw(VK_FORMAT_D24_UNORM_S8_UINT, true, out, PICTURE);
	barrier();
	submit();
	save(argv[1], pixels, 2 * PICTURE + CHAIN);
	close_device();
	return 0;
}
