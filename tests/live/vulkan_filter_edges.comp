#version 450
// Sobel's gradient of the brightness.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 2, r32f) uniform readonly image2D bright;
layout(binding = 3, rg16f) uniform writeonly image2D edges;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID), size = imageSize(bright);
    if (any(greaterThanEqual(at, size))) return;
    vec2 sum = vec2(0);
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
            float b = imageLoad(bright, clamp(at + ivec2(x, y), ivec2(0), size - 1)).r;
            sum += b * vec2(x * (2 - abs(y)), y * (2 - abs(x)));
        }
    imageStore(edges, at, vec4(sum, 0, 0));
}
