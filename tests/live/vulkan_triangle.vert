#version 450
layout(location = 0) out vec3 shade;
void main() {
    const vec2 places[3] = vec2[](vec2(-0.9, 0.9), vec2(0.9, 0.8), vec2(0.1, -0.9));
    const vec3 shades[3] = vec3[](vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1));
    gl_Position = vec4(places[gl_VertexIndex], 0.5, 1.0);
    shade = shades[gl_VertexIndex];
}
