/* Shared by the clients of OpenGL ES 3: a context without a window, programs, frame buffers, and
 * writing the pixels to a file. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE 256

static inline void check(int good, const char *what)
{
	if (!good)
		errx(2, "%s failed (EGL %#x, GL %#x)", what, eglGetError(), glGetError());
}

static inline void open_context(void)
{
	static const EGLint attributes[] = { EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE };
	PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
		(PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
	EGLDisplay display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	check(eglInitialize(display, NULL, NULL), "eglInitialize");
	check(eglBindAPI(EGL_OPENGL_ES_API), "eglBindAPI");
	EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
	check(context != EGL_NO_CONTEXT, "eglCreateContext");
	check(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context), "eglMakeCurrent");
	fprintf(stderr, "%s, %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));
}

static inline GLuint shader(GLenum kind, const char *source)
{
	static char log[4096];
	GLuint shader = glCreateShader(kind);
	GLint good;
	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
	glGetShaderInfoLog(shader, sizeof log, NULL, log);
	if (!good)
		errx(2, "compiling a shader failed: %s", log);
	return shader;
}

/* A program that captures COUNT outputs of its vertex shader, one after the other. */
static inline GLuint capturing(const char *vertex, const char *fragment, int count, const char *const *outputs)
{
	GLuint program = glCreateProgram();
	GLint good;
	glAttachShader(program, shader(GL_VERTEX_SHADER, vertex));
	glAttachShader(program, shader(GL_FRAGMENT_SHADER, fragment));
	if (count)
		glTransformFeedbackVaryings(program, count, outputs, GL_INTERLEAVED_ATTRIBS);
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &good);
	check(good, "linking");
	return program;
}

static inline GLuint program(const char *vertex, const char *fragment)
{
	return capturing(vertex, fragment, 0, NULL);
}

static inline GLint uniform(const char *name)
{
	GLint program;
	glGetIntegerv(GL_CURRENT_PROGRAM, &program);
	return glGetUniformLocation(program, name);
}

static inline GLuint attach(GLenum point, GLenum format, int samples)
{
	GLuint target;
	glGenRenderbuffers(1, &target);
	glBindRenderbuffer(GL_RENDERBUFFER, target);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, SIZE, SIZE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, point, GL_RENDERBUFFER, target);
	return target;
}

/* SIZE x SIZE pixels of RGBA8 and depth, cleared. With 0 samples the picture is not multisampled.
 * */
static inline GLuint frame_buffer(int samples)
{
	GLuint frame;
	glGenFramebuffers(1, &frame);
	glBindFramebuffer(GL_FRAMEBUFFER, frame);
	attach(GL_COLOR_ATTACHMENT0, GL_RGBA8, samples);
	attach(GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT24, samples);
	check(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the frame buffer");
	glViewport(0, 0, SIZE, SIZE);
	glClearColor(0.25f, 0.5f, 0.75f, 1.0f);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	return frame;
}

static inline GLuint buffer(GLenum kind, size_t size, const void *data)
{
	GLuint buffer;
	glGenBuffers(1, &buffer);
	glBindBuffer(kind, buffer);
	glBufferData(kind, size, data, GL_STATIC_DRAW);
	return buffer;
}

/* The pixels of the read frame buffer: RGBA, 8 bits each. */
static inline void write_pixels(const char *path)
{
	static unsigned char pixels[SIZE * SIZE * 4];
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	check(glGetError() == GL_NO_ERROR, "drawing");
	FILE *out = fopen(path, "wb");
	check(out && fwrite(pixels, sizeof pixels, 1, out) == 1 && fclose(out) == 0, "writing the pixels");
}
