#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
// Reduces 4 * gl_WorkGroupSize.x numbers to one, and writes the number of groups of the next step.
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const bool MAXIMUM = false;
layout(constant_id = 2) const uint WAY = 0;
const uint TREE = 0, SUBGROUP = 1, SHUFFLE = 2, ATOMIC = 3;
layout(binding = 0) buffer Numbers { uint numbers[]; };
layout(binding = 1) buffer Groups { uvec4 groups[]; };
layout(push_constant) uniform Pushed { uint from, count, to, step; };
shared uint partial[gl_WorkGroupSize.x];

uint join(uint a, uint b) { return MAXIMUM ? max(a, b) : a + b; }

uint load(uint i) { return i < count ? numbers[from + i] : 0; }

uint over_subgroup(uint v) {
    if (WAY == SUBGROUP) return MAXIMUM ? subgroupMax(v) : subgroupAdd(v);
    // A driver may run fewer invocations than gl_SubgroupSize. A shuffle from others is undefined.
    uint lanes = subgroupMax(gl_SubgroupInvocationID) + 1;
    for (uint far = lanes / 2; far > 0; far /= 2) v = join(v, subgroupShuffleXor(v, far));
    return v;
}

void main() {
    uint self = gl_LocalInvocationIndex, first = gl_WorkGroupID.x * 4 * gl_WorkGroupSize.x + self;
    uint v = 0;
    for (uint i = 0; i < 4; i++) v = join(v, load(first + i * gl_WorkGroupSize.x));
    partial[self] = 0;
    barrier();
    uint live = gl_WorkGroupSize.x;
    if (WAY == ATOMIC) {
        if (MAXIMUM) atomicMax(partial[0], v);
        else atomicAdd(partial[0], v);
        live = 1;
    } else if (WAY == TREE) {
        partial[self] = v;
    } else {
        v = over_subgroup(v);
        if (subgroupElect()) partial[gl_SubgroupID] = v;
        live = gl_NumSubgroups;
    }
    barrier();
    while (live > 1) {
        uint half_of = (live + 1) / 2;
        if (self + half_of < live) partial[self] = join(partial[self], partial[self + half_of]);
        barrier();
        live = half_of;
    }
    if (self == 0) {
        numbers[to + gl_WorkGroupID.x] = partial[0];
        if (gl_WorkGroupID.x == 0) {
            uint per_group = 4 * gl_WorkGroupSize.x;
            groups[step + 1] = uvec4((gl_NumWorkGroups.x + per_group - 1) / per_group, 1, 1, gl_NumWorkGroups.x);
        }
    }
}
