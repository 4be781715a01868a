/* Sum and maximum of a million numbers in three steps. Each step writes the number of groups of the
 * next one (indirect dispatch). The steps use trees in shared memory, operations and shuffles of
 * subgroups, and atomics in shared memory.
 * Usage: vulkan_reduce   prints each result; fails if one differs from the host's */
#include "vulkan_common.h"

#include "vulkan_reduce_comp.h"

#define COUNT_OF_NUMBERS 1000003u
#define GROUP 128u
#define STEPS 3

static uint32_t blocks(uint32_t numbers)
{
	return (numbers + 4 * GROUP - 1) / (4 * GROUP);
}

int main(void)
{
	static const char *const ways[] = { "tree", "subgroup", "shuffle", "atomic" };
	open_device(NULL);
	/* The numbers, then what each step leaves of them. */
	uint32_t counts[STEPS + 1] = { COUNT_OF_NUMBERS }, places[STEPS + 1] = { 0 };
	for (int step = 0; step < STEPS; step++) {
		counts[step + 1] = blocks(counts[step]);
		places[step + 1] = places[step] + counts[step];
	}
	uint32_t *numbers, (*groups)[4];
	struct binding bindings[] = {
		storage_buffer(buffer(4 * (places[STEPS] + 1), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, &numbers)),
		storage_buffer(buffer(sizeof *groups * (STEPS + 1),
				      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, &groups)),
	};
	uint32_t state = 1, sum = 0, most = 0;
	for (uint32_t i = 0; i < COUNT_OF_NUMBERS; i++) {
		state = state * 1664525 + 1013904223;
		numbers[i] = state ^ state >> 15;
		sum += numbers[i];
		most = numbers[i] > most ? numbers[i] : most;
	}
	VkDescriptorSetLayout set_kind = set_layout(VK_SHADER_STAGE_COMPUTE_BIT, bindings, COUNT(bindings));
	VkDescriptorSet set = descriptor_set(set_kind, bindings, COUNT(bindings));
	VkPipelineLayout layout = pipeline_layout(set_kind, VK_SHADER_STAGE_COMPUTE_BIT, 16);
	unsigned wrong = 0;
	for (uint32_t way = 0; way < COUNT(ways); way++)
		for (uint32_t maximum = 0; maximum < 2; maximum++) {
			uint32_t constants[] = { GROUP, maximum, way };
			VkSpecializationMapEntry entries[] = { { 0, 0, 4 }, { 1, 4, 4 }, { 2, 8, 4 } };
			VkSpecializationInfo special = { COUNT(entries), entries, sizeof constants, constants };
			VkPipeline pipeline =
				compute_pipeline(layout, vulkan_reduce_comp, sizeof vulkan_reduce_comp, &special);
			memset(numbers + places[1], 0xff, 4 * (places[STEPS] + 1 - places[1]));
			memset(groups, 0, sizeof *groups * (STEPS + 1));
			begin();
			vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
			vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
			for (uint32_t step = 0; step < STEPS; step++) {
				uint32_t pushed[] = { places[step], counts[step], places[step + 1], step };
				vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof pushed, pushed);
				if (step == 0)
					vkCmdDispatch(commands, counts[1], 1, 1);
				else
					vkCmdDispatchIndirect(commands, bindings[1].buffer, sizeof *groups * step);
				barrier();
			}
			submit();
			uint32_t expected = maximum ? most : sum, got = numbers[places[STEPS]];
			bool same = got == expected;
			for (int step = 1; step <= STEPS; step++)
				same = same && groups[step][3] == counts[step];
			printf("%s %s %08x%s\n", ways[way], maximum ? "maximum" : "sum", got, same ? "" : " WRONG");
			wrong += !same;
		}
	printf("%u numbers, %u wrong\n", COUNT_OF_NUMBERS, wrong);
	close_device();
	return wrong != 0;
}
