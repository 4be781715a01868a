#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    words[i] = (i * i ^ i >> 3) + 7;
}
