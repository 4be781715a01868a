/* Shared by the Vulkan clients: one device with a queue and a command buffer, memory, images,
 * descriptors, pipelines, and writing a file. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define CHECK(call) check(call, #call)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandBuffer commands;
static VkDescriptorPool sets;

static inline void check(VkResult result, const char *what)
{
	if (result != VK_SUCCESS) {
		fprintf(stderr, "vulkan: %.60s: %d\n", what, result);
		exit(2);
	}
}

/* Opens the first device with these features; prints its name to standard error. */
static inline void open_device(const VkPhysicalDeviceFeatures *features)
{
	VkApplicationInfo application = { VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1 };
	VkInstanceCreateInfo instance_info = { VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application };
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
		.pEnabledFeatures = features,
	};
	CHECK(vkCreateDevice(physical, &device_info, NULL, &device));
	vkGetDeviceQueue(device, 0, 0, &queue);
	VkCommandPoolCreateInfo pool_info = {
		VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
	};
	VkCommandPool pool;
	CHECK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
	VkCommandBufferAllocateInfo commands_info = {
		VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1,
	};
	CHECK(vkAllocateCommandBuffers(device, &commands_info, &commands));
	VkDescriptorPoolSize sizes[] = {
		{ VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 64 }, { VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 64 },
		{ VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 64 },
	};
	VkDescriptorPoolCreateInfo sets_info = {
		VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 64, .poolSizeCount = COUNT(sizes), .pPoolSizes = sizes,
	};
	CHECK(vkCreateDescriptorPool(device, &sets_info, NULL, &sets));
}

/* Destroys the device. The clients leave its objects to the driver. */
static inline void close_device(void)
{
	vkDestroyDevice(device, NULL);
	vkDestroyInstance(instance, NULL);
}

static inline void begin(void)
{
	VkCommandBufferBeginInfo info = {
		VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO, .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
	};
	CHECK(vkBeginCommandBuffer(commands, &info));
}

static inline void submit(void)
{
	CHECK(vkEndCommandBuffer(commands));
	VkSubmitInfo info = { VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands };
	CHECK(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
	CHECK(vkQueueWaitIdle(queue));
}

/* All writes before this are visible to all reads after it. */
static inline void barrier(void)
{
	VkMemoryBarrier all = {
		VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
	};
	vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0, NULL, 0, NULL);
}

static inline void transition(VkImage image, uint32_t first, uint32_t levels, VkImageLayout from, VkImageLayout to)
{
	VkImageMemoryBarrier info = {
		VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT, .oldLayout = from, .newLayout = to,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED, .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = image, .subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, first, levels, 0, 1 },
	};
	vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL,
			     0, NULL, 1, &info);
}

static inline VkDeviceMemory memory(VkMemoryRequirements needs, VkMemoryPropertyFlags wanted)
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

static inline VkBuffer buffer(VkDeviceSize size, VkBufferUsageFlags usage, void *mapped)
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

static inline VkImageView image_view(VkImage image, VkFormat format, VkImageAspectFlags aspect, uint32_t levels)
{
	VkImageViewCreateInfo info = {
		VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .image = image, .viewType = VK_IMAGE_VIEW_TYPE_2D, .format = format,
		.subresourceRange = { aspect, 0, levels, 0, 1 },
	};
	VkImageView view;
	CHECK(vkCreateImageView(device, &info, NULL, &view));
	return view;
}

/* A 2D image with optimal tiling, in its own memory. */
static inline VkImage image(VkFormat format, uint32_t width, uint32_t height, uint32_t levels, VkImageUsageFlags usage,
			    VkImageCreateFlags flags)
{
	VkImageCreateInfo info = {
		VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .flags = flags, .imageType = VK_IMAGE_TYPE_2D, .format = format,
		.extent = { width, height, 1 }, .mipLevels = levels, .arrayLayers = 1, .samples = 1, .usage = usage,
	};
	VkImage image;
	VkMemoryRequirements needs;
	CHECK(vkCreateImage(device, &info, NULL, &image));
	vkGetImageMemoryRequirements(device, image, &needs);
	CHECK(vkBindImageMemory(device, image, memory(needs, 0), 0));
	return image;
}

/* One level of a colour image, whose texels are packed in the buffer from `offset` on. */
static inline VkBufferImageCopy region(VkDeviceSize offset, uint32_t level, uint32_t width, uint32_t height)
{
	return (VkBufferImageCopy){
		.bufferOffset = offset, .imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1 },
		.imageExtent = { width, height, 1 },
	};
}

/* The object of a binding; its index is the number of the binding. */
struct binding {
	VkDescriptorType type;
	VkBuffer buffer;
	VkDescriptorImageInfo image;
};

static inline struct binding storage_buffer(VkBuffer buffer)
{
	return (struct binding){ VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .buffer = buffer };
}

static inline struct binding storage_image(VkImageView view)
{
	return (struct binding){ VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, .image = { VK_NULL_HANDLE, view, VK_IMAGE_LAYOUT_GENERAL } };
}

static inline struct binding texture(VkSampler sampler, VkImageView view, VkImageLayout layout)
{
	return (struct binding){ VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .image = { sampler, view, layout } };
}

static inline VkDescriptorSetLayout set_layout(VkShaderStageFlags stages, const struct binding *bindings, uint32_t count)
{
	VkDescriptorSetLayoutBinding places[16];
	for (uint32_t i = 0; i < count; i++)
		places[i] = (VkDescriptorSetLayoutBinding){ i, bindings[i].type, 1, stages, NULL };
	VkDescriptorSetLayoutCreateInfo info = {
		VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = count, .pBindings = places,
	};
	VkDescriptorSetLayout layout;
	CHECK(vkCreateDescriptorSetLayout(device, &info, NULL, &layout));
	return layout;
}

static inline VkDescriptorSet descriptor_set(VkDescriptorSetLayout layout, const struct binding *bindings, uint32_t count)
{
	VkDescriptorSetAllocateInfo info = {
		VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorPool = sets, .descriptorSetCount = 1,
		.pSetLayouts = &layout,
	};
	VkDescriptorSet set;
	CHECK(vkAllocateDescriptorSets(device, &info, &set));
	for (uint32_t i = 0; i < count; i++) {
		VkDescriptorBufferInfo range = { bindings[i].buffer, 0, VK_WHOLE_SIZE };
		VkWriteDescriptorSet write = {
			VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .dstBinding = i, .descriptorCount = 1,
			.descriptorType = bindings[i].type, .pBufferInfo = &range, .pImageInfo = &bindings[i].image,
		};
		vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
	}
	return set;
}

static inline VkPipelineLayout pipeline_layout(VkDescriptorSetLayout set, VkShaderStageFlags stages, uint32_t pushed)
{
	VkPushConstantRange range = { stages, 0, pushed };
	VkPipelineLayoutCreateInfo info = {
		VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = set != VK_NULL_HANDLE, .pSetLayouts = &set,
		.pushConstantRangeCount = pushed != 0, .pPushConstantRanges = &range,
	};
	VkPipelineLayout layout;
	CHECK(vkCreatePipelineLayout(device, &info, NULL, &layout));
	return layout;
}

static inline VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits which, const uint32_t *code, size_t size)
{
	VkShaderModuleCreateInfo info = { VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code };
	VkShaderModule module;
	CHECK(vkCreateShaderModule(device, &info, NULL, &module));
	return (VkPipelineShaderStageCreateInfo){
		VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = which, .module = module, .pName = "main",
	};
}

static inline VkPipeline compute_pipeline(VkPipelineLayout layout, const uint32_t *code, size_t size,
					  const VkSpecializationInfo *constants)
{
	VkComputePipelineCreateInfo info = {
		VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .stage = stage(VK_SHADER_STAGE_COMPUTE_BIT, code, size),
		.layout = layout,
	};
	info.stage.pSpecializationInfo = constants;
	VkPipeline pipeline;
	CHECK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
	return pipeline;
}

/* A pass that clears, draws, and makes the colours ready for a copy. It has no depth if the depth
 * format is VK_FORMAT_UNDEFINED. */
static inline VkRenderPass render_pass(VkFormat color, VkFormat depth)
{
	VkAttachmentDescription attachments[] = {
		{ .format = color, .samples = 1, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		  .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL },
		{ .format = depth, .samples = 1, .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		  .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE, .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
		  .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
		  .finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL },
	};
	VkAttachmentReference color_place = { 0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL };
	VkAttachmentReference depth_place = { 1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL };
	VkSubpassDescription subpass = {
		.colorAttachmentCount = 1, .pColorAttachments = &color_place,
		.pDepthStencilAttachment = depth ? &depth_place : NULL,
	};
	VkSubpassDependency dependency = {
		0, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
		VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT, 0,
	};
	VkRenderPassCreateInfo info = {
		VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO, .attachmentCount = depth ? 2 : 1, .pAttachments = attachments,
		.subpassCount = 1, .pSubpasses = &subpass, .dependencyCount = 1, .pDependencies = &dependency,
	};
	VkRenderPass pass;
	CHECK(vkCreateRenderPass(device, &info, NULL, &pass));
	return pass;
}

static inline VkFramebuffer framebuffer(VkRenderPass pass, const VkImageView *views, uint32_t count, uint32_t width,
					uint32_t height)
{
	VkFramebufferCreateInfo info = {
		VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO, .renderPass = pass, .attachmentCount = count,
		.pAttachments = views, .width = width, .height = height, .layers = 1,
	};
	VkFramebuffer frame;
	CHECK(vkCreateFramebuffer(device, &info, NULL, &frame));
	return frame;
}

/* The variable parts of pipelines; all draw triangle lists without culling. */
struct graphics {
	VkPipelineLayout layout;
	VkRenderPass pass;
	VkPipelineShaderStageCreateInfo stages[2];
	VkPipelineVertexInputStateCreateInfo vertices;
	VkPipelineDepthStencilStateCreateInfo depth;
	VkPipelineColorBlendAttachmentState blend;
	uint32_t width, height;
};

static inline VkPipeline graphics_pipeline(struct graphics *what)
{
	VkPipelineInputAssemblyStateCreateInfo assembly = {
		VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO, .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
	};
	VkViewport viewport = { 0, 0, what->width, what->height, 0, 1 };
	VkRect2D scissor = { { 0, 0 }, { what->width, what->height } };
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
	VkPipelineColorBlendStateCreateInfo blending = {
		VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, .attachmentCount = 1, .pAttachments = &what->blend,
	};
	what->vertices.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
	what->depth.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
	what->blend.colorWriteMask = 15;
	VkGraphicsPipelineCreateInfo info = {
		VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, .stageCount = 2, .pStages = what->stages,
		.pVertexInputState = &what->vertices, .pInputAssemblyState = &assembly, .pViewportState = &viewports,
		.pRasterizationState = &raster, .pMultisampleState = &samples, .pDepthStencilState = &what->depth,
		.pColorBlendState = &blending, .layout = what->layout, .renderPass = what->pass,
	};
	VkPipeline pipeline;
	CHECK(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
	return pipeline;
}

/* Begins a pass over the whole frame: clears the colours, depth to 1, stencil to 0. */
static inline void begin_pass(VkRenderPass pass, VkFramebuffer frame, uint32_t width, uint32_t height, VkClearColorValue color)
{
	VkClearValue clears[] = { { .color = color }, { .depthStencil = { 1, 0 } } };
	VkRenderPassBeginInfo info = {
		VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO, .renderPass = pass, .framebuffer = frame,
		.renderArea = { { 0, 0 }, { width, height } }, .clearValueCount = COUNT(clears), .pClearValues = clears,
	};
	vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
}

static inline void save(const char *path, const void *data, size_t size)
{
	FILE *out = fopen(path, "wb");
	if (!out || fwrite(data, size, 1, out) != 1 || fclose(out) != 0) {
		fprintf(stderr, "vulkan: cannot write %s\n", path);
		exit(2);
	}
}
