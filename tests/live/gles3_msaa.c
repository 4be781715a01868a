/* OpenGL ES 3: a multisampled picture with a depth test, alpha to coverage and sample coverage,
 * resolved by a blit.
 * Usage: gles3_msaa OUT.raw [SAMPLES]   (256 x 256, RGBA, 8 bits each; default 4 samples) */
#include "gles3_common.h"

static const char *VERTEX =
	"#version 300 es\n"
	"layout(location = 0) in vec3 position;\n"
	"layout(location = 1) in vec4 colour;\n"
	"out vec4 shade; centroid out vec4 inner;\n"
	"void main() { gl_Position = vec4(position, 1.0); shade = inner = colour; }\n";
static const char *FRAGMENT =
	"#version 300 es\n"
	"precision highp float;\n"
	"in vec4 shade; centroid in vec4 inner; out vec4 pixel;\n"
	"void main() { pixel = vec4(inner.rgb, shade.a); }\n";

static void draw(const float (*vertices)[7], int count)
{
	buffer(GL_ARRAY_BUFFER, sizeof *vertices * count, vertices);
	glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof *vertices, NULL);
	glVertexAttribPointer(1, 4, GL_FLOAT, GL_FALSE, sizeof *vertices, (void *)12);
	glEnableVertexAttribArray(0);
	glEnableVertexAttribArray(1);
	glDrawArrays(GL_TRIANGLES, 0, count);
}

/* A square of one colour: one of a row of eight at the bottom of the picture. */
static void square(int place, int row, float alpha)
{
	float x = -1 + 0.25f * place + 0.015625f, y = -1 + 0.25f * row + 0.015625f, s = 0.21875f;
	const float vertices[6][7] = {
		{ x, y, 0, 1, 0.75f, 0.5f, alpha }, { x + s, y, 0, 1, 0.75f, 0.5f, alpha }, { x, y + s, 0, 1, 0.75f, 0.5f, alpha },
		{ x + s, y, 0, 1, 0.75f, 0.5f, alpha }, { x + s, y + s, 0, 1, 0.75f, 0.5f, alpha }, { x, y + s, 0, 1, 0.75f, 0.5f, alpha },
	};
	draw(vertices, 6);
}

int main(int argc, char **argv)
{
	static const float crossing[][7] = {
		/* Two intersecting triangles, and slivers. */
		{ -0.9f, -0.4f, -0.8f, 1, 0, 0, 1 }, { 0.9f, -0.3f, 0.8f, 1, 1, 0, 1 }, { -0.1f, 0.95f, 0, 1, 0, 1, 1 },
		{ -0.8f, 0.8f, 0.7f, 0, 1, 0, 1 }, { 0.1f, -0.45f, -0.3f, 0, 1, 1, 1 }, { 0.95f, 0.85f, -0.6f, 0, 0, 1, 1 },
		{ -0.95f, -0.35f, 0, 1, 1, 1, 1 }, { -0.94f, -0.35f, 0, 1, 1, 1, 1 }, { -0.5f, 0.97f, 0, 0, 0, 0, 1 },
		{ 0.3f, 0.93f, 0, 0, 0, 0, 1 }, { 0.97f, -0.2f, 0, 1, 1, 1, 1 }, { 0.98f, -0.19f, 0, 1, 1, 1, 1 },
	};
	int samples = argc > 2 ? atoi(argv[2]) : 4;
	check(argc >= 2, "reading the arguments");
	open_context();
	GLuint resolved = frame_buffer(0), several = frame_buffer(samples);
	GLint found, offered[8], count;
	glGetIntegerv(GL_SAMPLES, &found);
	glGetInternalformativ(GL_RENDERBUFFER, GL_RGBA8, GL_NUM_SAMPLE_COUNTS, 1, &count);
	glGetInternalformativ(GL_RENDERBUFFER, GL_RGBA8, GL_SAMPLES, 8, offered);
	fprintf(stderr, "%d samples of", found);
	for (int i = 0; i < count && i < 8; i++)
		fprintf(stderr, " %d", offered[i]);
	fprintf(stderr, "\n");
	check(found == samples, "the number of samples");

	glUseProgram(program(VERTEX, FRAGMENT));
	glEnable(GL_DEPTH_TEST);
	draw(crossing, 12);
	glDisable(GL_DEPTH_TEST);
	/* For half of the samples all drivers cover the same number. For other values, llvmpipe rounds up
	 * and iris enables dither. */
	glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
	for (int i = 0; i < 8; i++)
		square(i, 0, i % 3 / 2.0f);
	glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
	glEnable(GL_SAMPLE_COVERAGE);
	for (int i = 0; i < 8; i++) {
		glSampleCoverage(i % 3 / 2.0f, i >= 4);
		square(i, 1, 1);
	}
	glDisable(GL_SAMPLE_COVERAGE);

	glBindFramebuffer(GL_READ_FRAMEBUFFER, several);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, resolved);
	glBlitFramebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, resolved);
	write_pixels(argv[1]);
	return 0;
}
