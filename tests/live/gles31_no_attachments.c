/* OpenGL ES 3.1: frame buffers without attachments. The shader discards all pixels inside the given
 * size, or all but the last one; occlusion queries tell whether a sample was left.
 * Usage: gles31_no_attachments [SIZE [SAMPLES]]   (default: 2048 x 2048 pixels, no multisampling) */
#include <GLES3/gl31.h>
#include "gles3_common.h"

static const char *VERTEX =
	"#version 310 es\n"
	"void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }\n";
static const char *FRAGMENT =
	"#version 310 es\n"
	"precision highp float;\n"
	"uniform ivec2 limit;\n"
	"void main() { if (all(lessThan(ivec2(gl_FragCoord.xy), limit))) discard; }\n";

/* Whether a sample passes that is not discarded. */
static int passes(int x, int y)
{
	GLuint query, result;
	glGenQueries(1, &query);
	glUniform2i(uniform("limit"), x, y);
	glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glEndQuery(GL_ANY_SAMPLES_PASSED);
	glGetQueryObjectuiv(query, GL_QUERY_RESULT, &result);
	glDeleteQueries(1, &query);
	return result != 0;
}

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : 2048, samples = argc > 2 ? atoi(argv[2]) : 0;
	GLuint frame;
	open_context();
	glGenFramebuffers(1, &frame);
	glBindFramebuffer(GL_FRAMEBUFFER, frame);
	glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_WIDTH, size);
	glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_HEIGHT, size);
	glFramebufferParameteri(GL_FRAMEBUFFER, GL_FRAMEBUFFER_DEFAULT_SAMPLES, samples);
	check(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the frame buffer");
	glViewport(0, 0, size, size);
	glUseProgram(program(VERTEX, FRAGMENT));
	int all = passes(size, size), column = passes(size - 1, size), row = passes(size, size - 1);
	check(glGetError() == GL_NO_ERROR, "drawing");
	if (all || !column || !row)
		errx(1, "wrong size: passed %d inside, %d in the last column, %d in the last row", all, column, row);
	return 0;
}
