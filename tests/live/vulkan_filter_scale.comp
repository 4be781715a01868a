#version 450
// Rotates and scales the sharpened picture with a linear filter. Alpha is the strength of edges.
layout(local_size_x = 32) in;
layout(binding = 3, rg16f) uniform readonly image2D edges;
layout(binding = 4, rgba8) uniform writeonly image2D scaled;
layout(binding = 5) uniform sampler2D sharp;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID), size = imageSize(scaled);
    if (any(greaterThanEqual(at, size))) return;
    vec2 place = (vec2(at) + 0.5) / vec2(size) - 0.5;
    vec3 color = textureLod(sharp, mat2(0.8, 0.6, -0.6, 0.8) * place + 0.5, 0.0).rgb;
    imageStore(scaled, at, vec4(color, length(imageLoad(edges, at).rg) * 0.25));
}
