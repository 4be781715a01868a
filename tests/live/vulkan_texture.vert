#version 450
layout(location = 0) in vec4 place;
layout(location = 1) in vec2 texel;
layout(location = 0) out vec2 at;
void main() {
    gl_Position = place;
    at = texel;
}
