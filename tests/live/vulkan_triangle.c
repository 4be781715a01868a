/* Vulkan without a window: a compute shader fills a buffer with a known sequence, a triangle is drawn and copied out.
 * Usage: vulkan_triangle OUT.raw   (256 x 256, RGBA, 8 bits each) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#include "vulkan_compute.h"
#include "vulkan_fragment.h"
#include "vulkan_vertex.h"

#define SIZE 256
#define WORDS 4096

#define CHECK(call) check(call, #call)

static void check(VkResult result, const char *what)
{
	if (result != VK_SUCCESS) {
		fprintf(stderr, "vulkan_triangle: %.60s: %d\n", what, result);
		exit(2);
	}
}

static VkDevice device;
static VkPhysicalDevice physical;

static VkDeviceMemory memory(VkMemoryRequirements needs, VkMemoryPropertyFlags wanted)
{
	VkPhysicalDeviceMemoryProperties types;
	VkDeviceMemory memory;
	vkGetPhysicalDeviceMemoryProperties(physical, &types);
	for (uint32_t i = 0; i < types.memoryTypeCount; i++)
		if (needs.memoryTypeBits >> i & 1 && (types.memoryTypes[i].propertyFlags & wanted) == wanted) {
			VkMemoryAllocateInfo info = { VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, NULL, needs.size, i };
			CHECK(vkAllocateMemory(device, &info, NULL, &memory));
			return memory;
		}
	check(VK_ERROR_OUT_OF_DEVICE_MEMORY, "finding memory");
	return VK_NULL_HANDLE;
}

static VkBuffer buffer(VkDeviceSize size, VkBufferUsageFlags usage, void **mapped)
{
	VkBufferCreateInfo info = { VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size, .usage = usage };
	VkBuffer buffer;
	VkMemoryRequirements needs;
	CHECK(vkCreateBuffer(device, &info, NULL, &buffer));
	vkGetBufferMemoryRequirements(device, buffer, &needs);
	VkDeviceMemory behind =
		memory(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
	CHECK(vkBindBufferMemory(device, buffer, behind, 0));
	CHECK(vkMapMemory(device, behind, 0, VK_WHOLE_SIZE, 0, mapped));
	return buffer;
}

static VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits which, const uint32_t *code, size_t size)
{
	VkShaderModuleCreateInfo info = { VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code };
	VkShaderModule module;
	CHECK(vkCreateShaderModule(device, &info, NULL, &module));
	return (VkPipelineShaderStageCreateInfo){
		VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = which, .module = module, .pName = "main",
	};
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	VkApplicationInfo application = { VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_0 };
	VkInstanceCreateInfo instance_info = { VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application };
	VkInstance instance;
	CHECK(vkCreateInstance(&instance_info, NULL, &instance));
	uint32_t count = 1;
	VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
	check(count == 1 && found >= 0 ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED, "finding a device");
	VkPhysicalDeviceProperties properties;
	vkGetPhysicalDeviceProperties(physical, &properties);
	fprintf(stderr, "%s\n", properties.deviceName);
	float priority = 1;
	VkDeviceQueueCreateInfo queue_info = {
		VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority,
	};
	VkDeviceCreateInfo device_info = {
		VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue_info,
	};
	CHECK(vkCreateDevice(physical, &device_info, NULL, &device));
	VkQueue queue;
	vkGetDeviceQueue(device, 0, 0, &queue);
	VkCommandPoolCreateInfo pool_info = { VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO };
	VkCommandPool pool;
	CHECK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
	VkCommandBufferAllocateInfo commands_info = {
		VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1,
	};
	VkCommandBuffer commands;
	CHECK(vkAllocateCommandBuffers(device, &commands_info, &commands));

	/* The buffer that the compute shader fills. */
	uint32_t *words;
	VkBuffer numbers = buffer(4 * WORDS, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, (void **)&words);
	memset(words, 0xff, 4 * WORDS);
	VkDescriptorSetLayoutBinding binding = {
		0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL,
	};
	VkDescriptorSetLayoutCreateInfo set_info = {
		VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &binding,
	};
	VkDescriptorSetLayout set_layout;
	CHECK(vkCreateDescriptorSetLayout(device, &set_info, NULL, &set_layout));
	VkDescriptorPoolSize pool_size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1 };
	VkDescriptorPoolCreateInfo sets_info = {
		VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &pool_size,
	};
	VkDescriptorPool sets;
	CHECK(vkCreateDescriptorPool(device, &sets_info, NULL, &sets));
	VkDescriptorSetAllocateInfo set_allocate = {
		VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorPool = sets, .descriptorSetCount = 1,
		.pSetLayouts = &set_layout,
	};
	VkDescriptorSet set;
	CHECK(vkAllocateDescriptorSets(device, &set_allocate, &set));
	VkDescriptorBufferInfo range = { numbers, 0, VK_WHOLE_SIZE };
	VkWriteDescriptorSet write = {
		VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .descriptorCount = 1,
		.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &range,
	};
	vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
	VkPipelineLayoutCreateInfo layout_info = {
		VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &set_layout,
	};
	VkPipelineLayout layout;
	CHECK(vkCreatePipelineLayout(device, &layout_info, NULL, &layout));
	VkComputePipelineCreateInfo compute_info = {
		VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = stage(VK_SHADER_STAGE_COMPUTE_BIT, vulkan_compute, sizeof vulkan_compute), .layout = layout,
	};
	VkPipeline compute;
	CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &compute_info, NULL, &compute));

	/* The picture. */
	VkImageCreateInfo image_info = {
		VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .imageType = VK_IMAGE_TYPE_2D, .format = VK_FORMAT_R8G8B8A8_UNORM,
		.extent = { SIZE, SIZE, 1 }, .mipLevels = 1, .arrayLayers = 1, .samples = 1,
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
	};
	VkImage image;
	VkMemoryRequirements needs;
	CHECK(vkCreateImage(device, &image_info, NULL, &image));
	vkGetImageMemoryRequirements(device, image, &needs);
	CHECK(vkBindImageMemory(device, image, memory(needs, 0), 0));
	VkImageViewCreateInfo view_info = {
		VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .image = image, .viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = VK_FORMAT_R8G8B8A8_UNORM, .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};
	VkImageView view;
	CHECK(vkCreateImageView(device, &view_info, NULL, &view));
	VkAttachmentDescription attachment = {
		.format = VK_FORMAT_R8G8B8A8_UNORM, .samples = 1, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE, .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
	};
	VkAttachmentReference reference = { 0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL };
	VkSubpassDescription subpass = { .colorAttachmentCount = 1, .pColorAttachments = &reference };
	VkSubpassDependency dependency = {
		0, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
		VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT, 0,
	};
	VkRenderPassCreateInfo pass_info = {
		VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, .attachmentCount = 1, .pAttachments = &attachment,
		.subpassCount = 1, .pSubpasses = &subpass, .dependencyCount = 1, .pDependencies = &dependency,
	};
	VkRenderPass pass;
	CHECK(vkCreateRenderPass(device, &pass_info, NULL, &pass));
	VkFramebufferCreateInfo frame_info = {
		VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO, .renderPass = pass, .attachmentCount = 1, .pAttachments = &view,
		.width = SIZE, .height = SIZE, .layers = 1,
	};
	VkFramebuffer frame;
	CHECK(vkCreateFramebuffer(device, &frame_info, NULL, &frame));
	VkPipelineShaderStageCreateInfo stages[] = {
		stage(VK_SHADER_STAGE_VERTEX_BIT, vulkan_vertex, sizeof vulkan_vertex),
		stage(VK_SHADER_STAGE_FRAGMENT_BIT, vulkan_fragment, sizeof vulkan_fragment),
	};
	VkPipelineVertexInputStateCreateInfo vertices = { VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO };
	VkPipelineInputAssemblyStateCreateInfo assembly = {
		VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO, .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
	};
	VkViewport viewport = { 0, 0, SIZE, SIZE, 0, 1 };
	VkRect2D scissor = { { 0, 0 }, { SIZE, SIZE } };
	VkPipelineViewportStateCreateInfo viewports = {
		VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1, .pViewports = &viewport,
		.scissorCount = 1, .pScissors = &scissor,
	};
	VkPipelineRasterizationStateCreateInfo raster = {
		VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1,
	};
	VkPipelineMultisampleStateCreateInfo samples = {
		VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO, .rasterizationSamples = 1,
	};
	VkPipelineColorBlendAttachmentState blend = { .colorWriteMask = 15 };
	VkPipelineColorBlendStateCreateInfo blending = {
		VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, .attachmentCount = 1, .pAttachments = &blend,
	};
	VkGraphicsPipelineCreateInfo graphics_info = {
		VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, .stageCount = 2, .pStages = stages,
		.pVertexInputState = &vertices, .pInputAssemblyState = &assembly, .pViewportState = &viewports,
		.pRasterizationState = &raster, .pMultisampleState = &samples, .pColorBlendState = &blending,
		.layout = layout, .renderPass = pass,
	};
	VkPipeline graphics;
	CHECK(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &graphics_info, NULL, &graphics));
	void *pixels;
	VkBuffer picture = buffer(4 * SIZE * SIZE, VK_BUFFER_USAGE_TRANSFER_DST_BIT, &pixels);

	VkCommandBufferBeginInfo begin = { VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO };
	CHECK(vkBeginCommandBuffer(commands, &begin));
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, compute);
	vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
	vkCmdDispatch(commands, WORDS / 64, 1, 1);
	VkClearValue clear = { .color = { .float32 = { 0.25f, 0.5f, 0.75f, 1 } } };
	VkRenderPassBeginInfo pass_begin = {
		VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, .renderPass = pass, .framebuffer = frame, .renderArea = scissor,
		.clearValueCount = 1, .pClearValues = &clear,
	};
	vkCmdBeginRenderPass(commands, &pass_begin, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics);
	vkCmdDraw(commands, 3, 1, 0, 0);
	vkCmdEndRenderPass(commands);
	VkBufferImageCopy copy = {
		.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 }, .imageExtent = { SIZE, SIZE, 1 },
	};
	vkCmdCopyImageToBuffer(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, picture, 1, &copy);
	CHECK(vkEndCommandBuffer(commands));
	VkSubmitInfo submit = { VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands };
	CHECK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
	CHECK(vkQueueWaitIdle(queue));

	unsigned wrong = 0;
	for (uint32_t i = 0; i < WORDS; i++)
		wrong += words[i] != (i * i ^ i >> 3) + 7;
	printf("%u words, %u wrong\n", WORDS, wrong);
	FILE *out = fopen(argv[1], "wb");
	if (!out || fwrite(pixels, 4 * SIZE * SIZE, 1, out) != 1 || fclose(out) != 0)
		return 2;
	vkDestroyDevice(device, NULL);
	vkDestroyInstance(instance, NULL);
	return wrong != 0;
}
