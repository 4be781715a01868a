/* Vulkan without a window: a compute shader fills a buffer with a known sequence; a triangle is
 * drawn and copied to memory.
 * Usage: vulkan_triangle OUT.raw   (256 x 256, RGBA, 8 bits each) */
#include "vulkan_common.h"

#include "vulkan_triangle_comp.h"
#include "vulkan_triangle_frag.h"
#include "vulkan_triangle_vert.h"

#define SIZE 256
#define WORDS 4096

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	open_device(NULL);

	/* The buffer that the compute shader fills. */
	uint32_t *words;
	struct binding numbers = storage_buffer(buffer(4 * WORDS, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, &words));
	memset(words, 0xff, 4 * WORDS);
	VkDescriptorSetLayout set_kind = set_layout(VK_SHADER_STAGE_COMPUTE_BIT, &numbers, 1);
	VkDescriptorSet set = descriptor_set(set_kind, &numbers, 1);
	VkPipelineLayout layout = pipeline_layout(set_kind, 0, 0);
	VkPipeline compute = compute_pipeline(layout, vulkan_triangle_comp, sizeof vulkan_triangle_comp, NULL);

	/* The picture. */
	VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
	VkImage target = image(format, SIZE, SIZE, 1, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, 0);
	VkImageView view = image_view(target, format, VK_IMAGE_ASPECT_COLOR_BIT, 1);
	VkRenderPass pass = render_pass(format, VK_FORMAT_UNDEFINED);
	VkFramebuffer frame = framebuffer(pass, &view, 1, SIZE, SIZE);
	struct graphics what = {
		.layout = layout, .pass = pass, .width = SIZE, .height = SIZE,
		.stages = {
			stage(VK_SHADER_STAGE_VERTEX_BIT, vulkan_triangle_vert, sizeof vulkan_triangle_vert),
			stage(VK_SHADER_STAGE_FRAGMENT_BIT, vulkan_triangle_frag, sizeof vulkan_triangle_frag),
		},
	};
	VkPipeline graphics = graphics_pipeline(&what);
	void *pixels;
	VkBuffer picture = buffer(4 * SIZE * SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &pixels);

	begin();
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute);
	vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
	vkCmdDispatch(commands, WORDS / 64, 1, 1);
	begin_pass(pass, frame, SIZE, SIZE, (VkClearColorValue){ { 0.25f, 0.5f, 0.75f, 1 } });
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics);
	vkCmdDraw(commands, 3, 1, 0, 0);
	vkCmdEndRenderPass(commands);
	VkBufferImageCopy all = region(0, 0, SIZE, SIZE);
	vkCmdCopyImageToBuffer(commands, target, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, picture, 1, &all);
	barrier();
	submit();

	unsigned wrong = 0;
	for (uint32_t i = 0; i < WORDS; i++)
		wrong += words[i] != (i * i ^ i >> 3) + 7;
	printf("%u words, %u wrong\n", WORDS, wrong);
	save(argv[1], pixels, 4 * SIZE * SIZE);
	close_device();
	return wrong != 0;
}
