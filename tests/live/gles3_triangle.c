/* OpenGL ES 3 without a window: clears, draws a triangle of three colours and a textured triangle,
 * writes the pixels.
 * Usage: gles3_triangle OUT.raw   (256 x 256, RGBA, 8 bits each) */
#include "gles3_common.h"

static const char *VERTEX =
	"#version 300 es\n"
	"layout(location = 0) in vec2 position;\n"
	"layout(location = 1) in vec3 colour;\n"
	"out vec3 shade; out vec2 place;\n"
	"void main() { gl_Position = vec4(position, 0.0, 1.0); shade = colour; place = position; }\n";
static const char *SMOOTH =
	"#version 300 es\n"
	"precision highp float;\n"
	"in vec3 shade; out vec4 pixel;\n"
	"void main() { pixel = vec4(shade, 1.0); }\n";
static const char *TEXTURED =
	"#version 300 es\n"
	"precision highp float;\n"
	"in vec2 place; uniform sampler2D image; out vec4 pixel;\n"
	"void main() { pixel = texture(image, place * 2.0); }\n";

int main(int argc, char **argv)
{
	static const float vertices[] = {
		-0.9f, -0.9f, 1, 0, 0,  0.9f, -0.9f, 0, 1, 0,  0.0f, 0.2f, 0, 0, 1,
		-0.5f, 0.3f, 1, 1, 1,   0.5f, 0.3f, 1, 1, 1,   0.0f, 0.95f, 1, 1, 1,
	};
	static unsigned char image[8 * 8 * 4];
	check(argc == 2, "reading the arguments");

	open_context();
	frame_buffer(0);
	buffer(GL_ARRAY_BUFFER, sizeof vertices, vertices);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 20, (void *)0);
	glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 20, (void *)8);
	glEnableVertexAttribArray(0);
	glEnableVertexAttribArray(1);
	glUseProgram(program(VERTEX, SMOOTH));
	glDrawArrays(GL_TRIANGLES, 0, 3);

	for (int y = 0; y < 8; y++)
		for (int x = 0; x < 8; x++) {
			unsigned char *texel = image + 4 * (8 * y + x);
			texel[0] = 32 * x, texel[1] = 32 * y, texel[2] = (x ^ y) & 1 ? 255 : 0, texel[3] = 255;
		}
	GLuint texture;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glUseProgram(program(VERTEX, TEXTURED));
	glDrawArrays(GL_TRIANGLES, 3, 3);

	write_pixels(argv[1]);
	return 0;
}
