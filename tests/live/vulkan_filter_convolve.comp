#version 450
// Sharpens with 3 x 3 texels, and computes the brightness.
layout(local_size_x = 16, local_size_y = 8) in;
layout(binding = 0) uniform sampler2D source;
layout(binding = 1, rgba8) uniform writeonly image2D sharp;
layout(binding = 2, r32f) uniform writeonly image2D bright;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID), size = textureSize(source, 0);
    if (any(greaterThanEqual(at, size))) return;
    const float weights[9] = float[](0, -0.5, 0, -0.5, 3, -0.5, 0, -0.5, 0);
    vec4 sum = vec4(0);
    for (int i = 0; i < 9; i++)
        sum += weights[i] * texelFetch(source, clamp(at + ivec2(i % 3, i / 3) - 1, ivec2(0), size - 1), 0);
    imageStore(sharp, at, sum);
    imageStore(bright, at, vec4(dot(texelFetch(source, at, 0).rgb, vec3(0.25, 0.625, 0.125))));
}
