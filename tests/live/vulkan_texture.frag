#version 450
layout(constant_id = 0) const bool LOD_BY_SHADER = false;
layout(binding = 0) uniform sampler2D picture;
layout(push_constant) uniform Pushed { vec4 tint; };
layout(location = 0) in vec2 at;
layout(location = 0) out vec4 pixel;
void main() {
    vec2 size = vec2(textureSize(picture, 0));
    vec2 x = dFdxCoarse(at) * size, y = dFdyCoarse(at) * size;
    float lod = 0.5 * log2(max(dot(x, x), dot(y, y)));
    pixel = tint * (LOD_BY_SHADER ? textureLod(picture, at, lod) : texture(picture, at));
}
