/* OpenGL ES 3 without a window: clears, draws a triangle of three colours and one with a texture, writes the pixels.
 * Usage: gles3_triangle OUT.raw   (256 x 256, RGBA, 8 bits each) */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE 256

static void check(int good, const char *what)
{
	if (!good) {
		fprintf(stderr, "gles3_triangle: %s failed (EGL %#x, GL %#x)\n", what, eglGetError(), glGetError());
		exit(2);
	}
}

static GLuint shader(GLenum kind, const char *source)
{
	GLuint shader = glCreateShader(kind);
	GLint good;
	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
	check(good, "compiling a shader");
	return shader;
}

static GLuint program(const char *vertex, const char *fragment)
{
	GLuint program = glCreateProgram();
	GLint good;
	glAttachShader(program, shader(GL_VERTEX_SHADER, vertex));
	glAttachShader(program, shader(GL_FRAGMENT_SHADER, fragment));
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &good);
	check(good, "linking");
	return program;
}

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
	static unsigned char pixels[SIZE * SIZE * 4], image[8 * 8 * 4];
	check(argc == 2, "reading the arguments");

	PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
		(PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
	EGLDisplay display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	check(eglInitialize(display, NULL, NULL), "eglInitialize");
	check(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
	EGLint attributes[] = { EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE };
	EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
	check(context != EGL_NO_CONTEXT, "eglCreateContext");
	check(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context), "eglMakeCurrent");
	fprintf(stderr, "%s, %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));

	GLuint target, frame, buffer, texture;
	glGenRenderbuffers(1, &target);
	glBindRenderbuffer(GL_RENDERBUFFER, target);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIZE, SIZE);
	glGenFramebuffers(1, &frame);
	glBindFramebuffer(GL_FRAMEBUFFER, frame);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, target);
	check(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the frame buffer");

	glViewport(0, 0, SIZE, SIZE);
	glClearColor(0.25f, 0.5f, 0.75f, 1.0f);
	glClear(GL_COLOR_BUFFER_BIT);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof vertices, vertices, GL_STATIC_DRAW);
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
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 8, 8, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glUseProgram(program(VERTEX, TEXTURED));
	glDrawArrays(GL_TRIANGLES, 3, 3);

	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	check(glGetError() == GL_NO_ERROR, "drawing");
	FILE *out = fopen(argv[1], "wb");
	check(out && fwrite(pixels, sizeof pixels, 1, out) == 1 && fclose(out) == 0, "writing the pixels");
	return 0;
}
