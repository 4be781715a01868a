/* OpenGL ES 3: instances with divisors, primitive restart, a uniform block, transform feedback,
 * queries. Prints the captured values and the counts.
 * Usage: gles3_instanced OUT.raw   (256 x 256, RGBA, 8 bits each) */
#include "gles3_common.h"

/* Petals on a grid: the vertices give the shape, the instance gives the position, and three
 * instances share a tint. */
static const char *PETALS =
	"#version 300 es\n"
	"layout(location = 0) in vec2 position;\n"
	"layout(location = 1) in vec4 tint;\n"
	"layout(location = 2) in ivec2 cell;\n"
	"layout(std140) uniform Scene { mat2 turn; vec2 scale; float bend[3]; ivec4 grid; };\n"
	"out vec4 shade; flat out int odd;\n"
	"void main() {\n"
	"    vec2 p = turn * position * (1.0 + bend[gl_InstanceID % 3]);\n"
	"    vec2 centre = (2.0 * vec2(cell) + 1.0) / vec2(grid.xy) - 1.0;\n"
	"    gl_Position = vec4(p * scale + centre, 0.0, 1.0);\n"
	"    shade = tint * (0.5 + 0.125 * float(gl_VertexID % 5));\n"
	"    odd = gl_InstanceID & 1;\n"
	"}\n";
static const char *SHADED =
	"#version 300 es\n"
	"precision highp float;\n"
	"in vec4 shade; flat in int odd; out vec4 pixel;\n"
	"void main() { pixel = odd == 1 ? shade : shade.brga; }\n";

/* Numbers for capture. All of them are exact. */
static const char *NUMBERS =
	"#version 300 es\n"
	"layout(location = 0) in vec2 position;\n"
	"out vec3 sum; flat out ivec2 ids; flat out uint bits;\n"
	"void main() {\n"
	"    ids = ivec2(gl_VertexID, gl_InstanceID);\n"
	"    sum = vec3(position * 4.0, 1.0) + float(gl_InstanceID);\n"
	"    bits = floatBitsToUint(sum.x) ^ uint(gl_VertexID * 77);\n"
	"    gl_Position = vec4(sum, 1.0);\n"
	"}\n";
static const char *NOTHING = "#version 300 es\nvoid main() { }\n";

#define CELLS 16
#define CAPTURED 6	/* words of a vertex */

static GLuint query(GLuint query)
{
	GLuint value;
	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &value);
	return value;
}

/* Captures three points and their copies (instances), compares them with the expected values, and
 * sums them up. */
static void capture(GLuint written)
{
	static const char *const outputs[] = { "sum", "ids", "bits" };
	enum { VERTICES = 7, INSTANCES = 9, TOTAL = VERTICES * INSTANCES };
	GLuint numbers = capturing(NUMBERS, NOTHING, 3, outputs);
	GLuint sink = buffer(GL_TRANSFORM_FEEDBACK_BUFFER, TOTAL * CAPTURED * 4, NULL);
	glUseProgram(numbers);
	glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, sink);
	glEnable(GL_RASTERIZER_DISCARD);
	glBeginQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, written);
	glBeginTransformFeedback(GL_POINTS);
	/* In two parts, with a pause between them in which nothing is captured. */
	glDrawArraysInstanced(GL_POINTS, 0, VERTICES, 4);
	glPauseTransformFeedback();
	glDrawArraysInstanced(GL_POINTS, 1, 2, 3);
	glResumeTransformFeedback();
	glDrawArraysInstanced(GL_POINTS, 0, VERTICES, INSTANCES - 4);
	glEndTransformFeedback();
	glEndQuery(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN);
	glDisable(GL_RASTERIZER_DISCARD);
	const unsigned *word = glMapBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, 0, TOTAL * CAPTURED * 4, GL_MAP_READ_BIT);
	check(word != NULL, "mapping what was captured");
	for (int i = 0; i < TOTAL; i++) {
		for (int c = 0; c < CAPTURED; c++)
			printf("%08x%c", *word++, c < CAPTURED - 1 ? ' ' : '\n');
	}
	glUnmapBuffer(GL_TRANSFORM_FEEDBACK_BUFFER);
	printf("primitives written: %u\n", query(written));
}

int main(int argc, char **argv)
{
	static const float shape[][2] = {
		{ 0, 0.2f }, { -0.25f, 0.5f }, { 0.25f, 0.5f }, { 0, 0.9f },
		{ 0.2f, 0 }, { 0.5f, 0.25f }, { 0.5f, -0.25f }, { 0.9f, 0 },
		{ -0.2f, -0.1f }, { -0.4f, -0.8f }, { -0.9f, -0.3f },
	};
	static const GLushort strips[] = { 0, 1, 2, 3, 0xffff, 4, 5, 6, 7, 0xffff, 8, 9, 10 };
	static const GLubyte fans[] = { 3, 1, 0, 2, 0xff, 9, 8, 10 };
	static const struct { float turn[2][4], scale[2], pad[2], bend[3][4]; GLint grid[4]; } scene = {
		{ { 0.8f, 0.6f }, { -0.6f, 0.8f } }, { 0.25f, 0.25f }, { 0, 0 }, { { 0 }, { -0.25f }, { 0.125f } }, { 4, 4, 0, 0 },
	};
	unsigned char tints[6][4];
	GLbyte cells[CELLS][2];
	GLuint queries[3];
	check(argc == 2, "reading the arguments");
	for (int i = 0; i < CELLS; i++)
		cells[i][0] = i % 4, cells[i][1] = i / 4;
	for (int i = 0; i < 6 * 4; i++)
		tints[i / 4][i % 4] = 255 - 37 * i % 200;

	open_context();
	frame_buffer(0);
	glGenQueries(3, queries);
	buffer(GL_ARRAY_BUFFER, sizeof shape, shape);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 8, NULL);
	glEnableVertexAttribArray(0);
	capture(queries[0]);
	buffer(GL_ARRAY_BUFFER, sizeof tints, tints);
	glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 4, NULL);
	glVertexAttribDivisor(1, 3);
	glEnableVertexAttribArray(1);
	buffer(GL_ARRAY_BUFFER, sizeof cells, cells);
	glVertexAttribIPointer(2, 2, GL_BYTE, 2, NULL);
	glVertexAttribDivisor(2, 1);
	glEnableVertexAttribArray(2);

	glUseProgram(program(PETALS, SHADED));
	GLint current;
	glGetIntegerv(GL_CURRENT_PROGRAM, &current);
	glUniformBlockBinding(current, glGetUniformBlockIndex(current, "Scene"), 2);
	glBindBufferBase(GL_UNIFORM_BUFFER, 2, buffer(GL_UNIFORM_BUFFER, sizeof scene, &scene));
	glEnable(GL_PRIMITIVE_RESTART_FIXED_INDEX);
	glBeginQuery(GL_ANY_SAMPLES_PASSED, queries[1]);
	buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof strips, strips);
	glDrawElementsInstanced(GL_TRIANGLE_STRIP, 13, GL_UNSIGNED_SHORT, NULL, CELLS);
	glEndQuery(GL_ANY_SAMPLES_PASSED);
	buffer(GL_ELEMENT_ARRAY_BUFFER, sizeof fans, fans);
	glDrawElementsInstanced(GL_LINE_LOOP, 8, GL_UNSIGNED_BYTE, NULL, CELLS);
	glDrawElementsInstanced(GL_TRIANGLE_FAN, 3, GL_UNSIGNED_BYTE, (void *)5, 5);
	/* Nothing passes here. */
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_GREATER);
	glBeginQuery(GL_ANY_SAMPLES_PASSED, queries[2]);
	glDrawElementsInstanced(GL_TRIANGLE_FAN, 4, GL_UNSIGNED_BYTE, NULL, CELLS);
	glEndQuery(GL_ANY_SAMPLES_PASSED);
	printf("samples passed: %u, with a test that fails: %u\n", query(queries[1]), query(queries[2]));
	write_pixels(argv[1]);
	return 0;
}
