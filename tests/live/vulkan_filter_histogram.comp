#version 450
// Counts how often each brightness occurs.
layout(local_size_x = 8, local_size_y = 16) in;
layout(binding = 6) uniform usampler2D source;
layout(binding = 7, r32ui) uniform uimage2D counts;
layout(binding = 8, r32ui) uniform writeonly uimage2D order;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID), size = textureSize(source, 0);
    if (any(greaterThanEqual(at, size))) return;
    uvec4 texel = texelFetch(source, at, 0);
    uint level = (77 * texel.r + 150 * texel.g + 29 * texel.b) >> 8;
    imageAtomicAdd(counts, ivec2(level, 0), 1);
    imageAtomicMax(counts, ivec2(level, 1), uint(at.y * size.x + at.x));
    imageStore(order, at, uvec4(bitfieldReverse(texel.r << 16 | texel.g << 8 | level)));
}
