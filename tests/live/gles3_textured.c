/* OpenGL ES 3: textures in perspective with levels, wrap modes, sRGB, ETC2, arrays, cubes and
 * volumes; the depth test.
 * Usage: gles3_textured OUT.raw   (256 x 256, RGBA, 8 bits each) */
#include "gles3_common.h"

/* A parallelogram before the eye; near is 0.5, far is 30. */
static const char *VERTEX =
	"#version 300 es\n"
	"uniform vec3 corner, right, up;\n"
	"out vec2 place;\n"
	"void main() {\n"
	"    place = vec2(gl_VertexID & 1, gl_VertexID >> 1);\n"
	"    vec3 p = corner + place.x * right + place.y * up;\n"
	"    gl_Position = vec4(1.5 * p.xy, (-30.5 * p.z - 30.0) / 29.5, -p.z);\n"
	"}\n";
#define FRAGMENT(SAMPLER, PLACE) \
	"#version 300 es\n" \
	"precision highp float; precision highp sampler2DArray; precision highp sampler3D;\n" \
	"in vec2 place; uniform " SAMPLER " image; uniform float first, scale; out vec4 pixel;\n" \
	"void main() { vec2 at = first + scale * place; pixel = texture(image, " PLACE "); }\n"

static unsigned char noise(void)
{
	static unsigned state = 1;
	return (state = state * 1664525 + 1013904223) >> 24;
}

/* An image of squares, each with soft shades of one colour. */
static const void *squares(int size, int length)
{
	static unsigned char texels[64 * 64 * 4];
	unsigned char colour[64][4];
	for (int i = 0; i < 64; i++)
		for (int c = 0; c < 4; c++)
			colour[i][c] = noise();
	for (int i = 0; i < size * size; i++)
		for (int c = 0; c < 4; c++)
			texels[4 * i + c] = colour[i / size / length % 8 * 8 + i % size / length % 8][c] ^ (i + c) % 16;
	return texels;
}

static void texture(GLenum kind, GLint wrap_s, GLint wrap_t, GLint small, GLint large)
{
	GLuint texture;
	glGenTextures(1, &texture);
	glBindTexture(kind, texture);
	glTexParameteri(kind, GL_TEXTURE_WRAP_S, wrap_s);
	glTexParameteri(kind, GL_TEXTURE_WRAP_T, wrap_t);
	glTexParameteri(kind, GL_TEXTURE_MIN_FILTER, small);
	glTexParameteri(kind, GL_TEXTURE_MAG_FILTER, large);
}

static void flat_texture(GLenum format, GLint wrap_s, GLint wrap_t, GLint small, GLint large)
{
	texture(GL_TEXTURE_2D, wrap_s, wrap_t, small, large);
	glTexImage2D(GL_TEXTURE_2D, 0, format, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, squares(64, 8));
	glGenerateMipmap(GL_TEXTURE_2D);
}

/* Any bits are valid blocks. ETC2 blocks whose colours overflow use its other modes. */
static void compressed_texture(GLenum format, int block)
{
	unsigned char blocks[256 * 16];
	for (int i = 0; i < 256 * block; i++)
		blocks[i] = noise();
	texture(GL_TEXTURE_2D, GL_REPEAT, GL_REPEAT, GL_NEAREST, GL_NEAREST);
	glCompressedTexImage2D(GL_TEXTURE_2D, 0, format, 64, 64, 0, 256 * block, blocks);
}

static void draw(const float *corner, const float *right, const float *up, float first, float scale)
{
	glUniform3fv(uniform("corner"), 1, corner);
	glUniform3fv(uniform("right"), 1, right);
	glUniform3fv(uniform("up"), 1, up);
	glUniform1f(uniform("first"), first);
	glUniform1f(uniform("scale"), scale);
	glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

/* One of the small pictures below, 64 x 64 pixels. */
static void panel(int n, float first, float scale)
{
	static const float corner[] = { -1, -1, -1.5f }, right[] = { 2, 0, 0 }, up[] = { 0, 2, 0 };
	glViewport(n % 4 * 64, n / 4 * 64, 64, 64);
	draw(corner, right, up, first, scale);
}

int main(int argc, char **argv)
{
	check(argc == 2, "reading the arguments");
	open_context();
	frame_buffer(0);
	GLuint plain = program(VERTEX, FRAGMENT("sampler2D", "at"));
	GLuint array = program(VERTEX, FRAGMENT("sampler2DArray", "vec3(at, 3.0 * place.y)"));
	GLuint cube = program(VERTEX, FRAGMENT("samplerCube", "vec3(at, 1.0 - 2.0 * place.x * place.y)"));
	GLuint volume = program(VERTEX, FRAGMENT("sampler3D", "vec3(at, place.x + place.y)"));

	/* A floor, a wall that intersects it, and a wall behind both that is drawn last. */
	glUseProgram(plain);
	glEnable(GL_DEPTH_TEST);
	glViewport(0, 128, 256, 128);
	flat_texture(GL_RGBA8, GL_REPEAT, GL_REPEAT, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR);
	draw((float[]){ -9, -1, -1 }, (float[]){ 18, 0, 0 }, (float[]){ 0, 0, -24 }, 0, 6);
	flat_texture(GL_RGBA8, GL_MIRRORED_REPEAT, GL_REPEAT, GL_LINEAR_MIPMAP_NEAREST, GL_LINEAR);
	draw((float[]){ -3, -3, -2 }, (float[]){ 4, 0, -6 }, (float[]){ 0, 4, 0 }, -1, 3);
	flat_texture(GL_RGBA8, GL_REPEAT, GL_REPEAT, GL_NEAREST_MIPMAP_LINEAR, GL_NEAREST);
	draw((float[]){ -16, -9, -20 }, (float[]){ 32, 0, 0 }, (float[]){ 0, 18, 0 }, 0.001f, 4);

	flat_texture(GL_RGBA8, GL_CLAMP_TO_EDGE, GL_MIRRORED_REPEAT, GL_LINEAR, GL_LINEAR);
	panel(0, -1, 3);
	flat_texture(GL_SRGB8_ALPHA8, GL_REPEAT, GL_CLAMP_TO_EDGE, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR);
	panel(1, -0.3f, 1.7f);
	compressed_texture(GL_COMPRESSED_SRGB8_ETC2, 8);
	panel(2, 0, 1);
	compressed_texture(GL_COMPRESSED_RGBA8_ETC2_EAC, 16);
	panel(3, 0, 1);
	compressed_texture(GL_COMPRESSED_RGB8_PUNCHTHROUGH_ALPHA1_ETC2, 8);
	panel(4, 0, 1);

	glUseProgram(array);
	texture(GL_TEXTURE_2D_ARRAY, GL_REPEAT, GL_REPEAT, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR);
	glTexStorage3D(GL_TEXTURE_2D_ARRAY, 7, GL_RGBA8, 64, 64, 4);
	for (int layer = 0; layer < 4; layer++)
		glTexSubImage3D(GL_TEXTURE_2D_ARRAY, 0, 0, 0, layer, 64, 64, 1, GL_RGBA, GL_UNSIGNED_BYTE, squares(64, 8));
	glGenerateMipmap(GL_TEXTURE_2D_ARRAY);
	panel(5, 0, 1.4f);

	glUseProgram(cube);
	texture(GL_TEXTURE_CUBE_MAP, GL_CLAMP_TO_EDGE, GL_CLAMP_TO_EDGE, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR);
	for (int face = 0; face < 6; face++)
		glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA8, 32, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, squares(32, 4));
	glGenerateMipmap(GL_TEXTURE_CUBE_MAP);
	panel(6, -1.3f, 2.6f);

	glUseProgram(volume);
	texture(GL_TEXTURE_3D, GL_MIRRORED_REPEAT, GL_REPEAT, GL_LINEAR, GL_LINEAR);
	glTexStorage3D(GL_TEXTURE_3D, 1, GL_RGBA8, 16, 16, 8);
	for (int layer = 0; layer < 8; layer++)
		glTexSubImage3D(GL_TEXTURE_3D, 0, 0, 0, layer, 16, 16, 1, GL_RGBA, GL_UNSIGNED_BYTE, squares(16, 4));
	panel(7, -0.7f, 2.1f);

	write_pixels(argv[1]);
	return 0;
}
