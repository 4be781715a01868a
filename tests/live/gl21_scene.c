/* OpenGL 2.1: quads with lights, textures with levels, a shader with loops, clip planes, stencil,
 * blending, polygon offset, stipples, points, lines, copies and blits, occlusion queries. Prints
 * the numbers of visible pixels.
 * Usage: gl21_scene OUT.raw   (256 x 256, RGBA, 8 bits each) */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE 256
#define PANEL 64

static void check(int good, const char *what)
{
	if (!good)
		errx(2, "%s failed (EGL %#x, GL %#x)", what, eglGetError(), glGetError());
}

static void open_context(void)
{
	PFNEGLGETPLATFORMDISPLAYEXTPROC get_display =
		(PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
	EGLDisplay display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
	check(eglInitialize(display, NULL, NULL), "eglInitialize");
	check(eglBindAPI(EGL_OPENGL_API), "eglBindAPI");
	EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL);
	check(context != EGL_NO_CONTEXT, "eglCreateContext");
	check(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context), "eglMakeCurrent");
	fprintf(stderr, "%s, %s\n", glGetString(GL_RENDERER), glGetString(GL_VERSION));
}

static GLuint shader(GLuint program, GLenum kind, const char *source)
{
	GLuint shader = glCreateShader(kind);
	GLint good;
	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
	check(good, "compiling a shader");
	glAttachShader(program, shader);
	return shader;
}

static GLuint program(const char *vertex, const char *fragment)
{
	GLuint program = glCreateProgram();
	GLint good;
	shader(program, GL_VERTEX_SHADER, vertex);
	shader(program, GL_FRAGMENT_SHADER, fragment);
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &good);
	check(good, "linking");
	return program;
}

static GLuint frame_buffer(void)
{
	GLuint frame, colour, depth;
	glGenFramebuffers(1, &frame);
	glBindFramebuffer(GL_FRAMEBUFFER, frame);
	glGenRenderbuffers(1, &colour);
	glBindRenderbuffer(GL_RENDERBUFFER, colour);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, SIZE, SIZE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
	glGenRenderbuffers(1, &depth);
	glBindRenderbuffer(GL_RENDERBUFFER, depth);
	glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH24_STENCIL8, SIZE, SIZE);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, depth);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_STENCIL_ATTACHMENT, GL_RENDERBUFFER, depth);
	check(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "the frame buffer");
	return frame;
}

/* Starts one of 16 small pictures, with coordinates from -1 to 1. */
static void panel(int n)
{
	glViewport(n % 4 * PANEL, n / 4 * PANEL, PANEL, PANEL);
	glMatrixMode(GL_PROJECTION);
	glLoadIdentity();
	glMatrixMode(GL_MODELVIEW);
	glLoadIdentity();
}

static void rectangle(float x, float y, float right, float top, float z)
{
	glBegin(GL_QUADS);
	glTexCoord2f(0, 0), glVertex3f(x, y, z);
	glTexCoord2f(1, 0), glVertex3f(right, y, z);
	glTexCoord2f(1, 1), glVertex3f(right, top, z);
	glTexCoord2f(0, 1), glVertex3f(x, top, z);
	glEnd();
}

static void texture(int size, GLint small)
{
	static unsigned char texels[64 * 64 * 4];
	GLuint texture;
	for (int i = 0; i < size * size; i++) {
		int x = i % size, y = i / size, light = (x / 8 + y / 8) % 2;
		texels[4 * i] = light ? 255 - 2 * x : 3 * x;
		texels[4 * i + 1] = light ? 40 + 3 * y : 200 - 2 * y;
		texels[4 * i + 2] = light ? 120 : 60 + x + y;
		texels[4 * i + 3] = 255 - x;
	}
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_GENERATE_MIPMAP, GL_TRUE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, small);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
}

static void lights(void)
{
	static const float place[] = { 1, 2, 3, 0 }, colour[] = { 0.9f, 0.8f, 0.7f, 1 };
	panel(0);
	glFrustum(-1, 1, -1, 1, 1.5, 20);
	glTranslatef(0, 0, -4);
	glRotatef(35, 1, 0.5f, 0.2f);
	glEnable(GL_LIGHTING), glEnable(GL_LIGHT0), glEnable(GL_DEPTH_TEST), glEnable(GL_COLOR_MATERIAL);
	glLightfv(GL_LIGHT0, GL_POSITION, place);
	glLightfv(GL_LIGHT0, GL_DIFFUSE, colour);
	for (int face = 0; face < 6; face++) {
		glPushMatrix();
		glRotatef(90 * (face % 4), 0, 1, 0);
		glRotatef(face < 4 ? 0 : face == 4 ? 90 : -90, 1, 0, 0);
		glColor3f(0.3f + 0.1f * face, 0.9f - 0.1f * face, face % 2);
		glNormal3f(0, 0, 1);
		rectangle(-1, -1, 1, 1, 1);
		glPopMatrix();
	}
	glDisable(GL_LIGHTING), glDisable(GL_DEPTH_TEST), glDisable(GL_COLOR_MATERIAL);
}

static void textures(void)
{
	glEnable(GL_TEXTURE_2D);
	glColor3f(1, 1, 1);
	panel(1);
	texture(64, GL_LINEAR_MIPMAP_LINEAR);
	rectangle(-0.8f, -0.8f, 0.8f, 0.8f, 0);
	panel(2);
	glFrustum(-1, 1, -1, 1, 1, 30);
	glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_MODULATE);
	glBegin(GL_QUADS);
	/* Values that depend linearly on the position, because renderers divide quads differently. */
	glColor3f(1, 0.5f, 0.5f), glTexCoord2f(0, 0), glVertex3f(-2, -1, -1.2f);
	glTexCoord2f(3, 0), glVertex3f(2, -1, -1.2f);
	glColor3f(0.5f, 1, 1), glTexCoord2f(3, 6), glVertex3f(2, 1, -12);
	glTexCoord2f(0, 6), glVertex3f(-2, 1, -12);
	glEnd();
	glDisable(GL_TEXTURE_2D);
}

static void loops(void)
{
	static const char *vertex =
		"varying vec2 at; void main() { gl_Position = gl_Vertex; at = gl_Vertex.xy;\n"
		"for (int i = 0; i < 3; i++) if (at.x > -2.0) at.y *= 1.0 + 0.125 * float(i); }";
	static const char *fragment =
		"varying vec2 at; uniform float most; void main() { vec2 z = vec2(0.0); float n = 0.0;\n"
		"while (n < most) { z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + at;\n"
		"    if (dot(z, z) > 64.0) break; n += 1.0; }\n"
		"if (at.x > 0.9) discard;\n"
		"gl_FragColor = vec4(0.5 + 0.5 * clamp(z, -1.0, 1.0), n / most, 1.0); }";
	GLuint both = program(vertex, fragment);
	panel(3);
	glUseProgram(both);
	glUniform1f(glGetUniformLocation(both, "most"), 6);
	rectangle(-1, -1, 1, 1, 0);
	glUseProgram(0);
}

static void clipping(void)
{
	static const double plane[] = { 1, 1, 0, 0.5 };
	panel(4);
	glFrustum(-1, 1, -1, 1, 1, 8);
	glClipPlane(GL_CLIP_PLANE0, plane);
	glEnable(GL_CLIP_PLANE0);
	glShadeModel(GL_FLAT);
	glBegin(GL_TRIANGLE_STRIP);
	for (int i = 0; i < 8; i++) {
		glColor3f(i % 3 / 2.0f, i % 2, 1 - i / 8.0f);
		glVertex3f(i - 3.5f, i % 2 ? 2 : -2, 1 - i);
	}
	glEnd();
	glShadeModel(GL_SMOOTH);
	glDisable(GL_CLIP_PLANE0);
}

static void stencil_and_blend(void)
{
	panel(5);
	glEnable(GL_STENCIL_TEST);
	glStencilFunc(GL_ALWAYS, 1, 255);
	glStencilOp(GL_KEEP, GL_KEEP, GL_INCR);
	glColor3f(0.5f, 0.1f, 0.1f);
	rectangle(-0.75f, -0.75f, 0.25f, 0.25f, 0);
	rectangle(-0.25f, -0.25f, 0.75f, 0.75f, 0);
	glStencilFunc(GL_EQUAL, 2, 255);
	glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
	glColor3f(1, 1, 0);
	rectangle(-1, -1, 1, 1, 0);
	glDisable(GL_STENCIL_TEST);
	panel(6);
	glEnable(GL_BLEND);
	for (int i = 0; i < 4; i++) {
		static const GLenum factors[][2] = { { GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA }, { GL_ONE, GL_ONE },
			{ GL_DST_COLOR, GL_ZERO }, { GL_CONSTANT_COLOR, GL_ONE_MINUS_SRC_COLOR } };
		glBlendFunc(factors[i][0], factors[i][1]);
		glBlendColor(0.75f, 0.25f, 0.5f, 1);
		glBlendEquation(i == 1 ? GL_FUNC_REVERSE_SUBTRACT : GL_FUNC_ADD);
		glColor4f(0.9f - 0.2f * i, 0.2f * i, 0.6f, 0.5f);
		rectangle(-1 + 0.25f * i, -1 + 0.25f * i, 0.25f * i, 0.25f * i, 0);
	}
	glBlendEquation(GL_FUNC_ADD);
	glDisable(GL_BLEND);
	panel(7);
	glEnable(GL_COLOR_LOGIC_OP);
	glLogicOp(GL_XOR);
	glColor3f(0.4f, 0.8f, 0.2f);
	rectangle(-0.8f, -0.8f, 0.4f, 0.4f, 0);
	rectangle(-0.4f, -0.4f, 0.8f, 0.8f, 0);
	glDisable(GL_COLOR_LOGIC_OP);
}

static void shapes(void)
{
	GLubyte pattern[128];
	panel(8);
	for (int i = 0; i < 128; i++)
		pattern[i] = i / 4 % 4 < 2 ? 0xcc : 0x33;
	glPolygonStipple(pattern);
	glEnable(GL_POLYGON_STIPPLE);
	glColor3f(1, 0.5f, 0);
	glBegin(GL_POLYGON);
	glVertex2f(-0.9f, -0.5f), glVertex2f(0.1f, -0.9f), glVertex2f(0.9f, -0.2f), glVertex2f(0.5f, 0.8f), glVertex2f(-0.6f, 0.7f);
	glEnd();
	glDisable(GL_POLYGON_STIPPLE);
	panel(9);
	for (int i = 0; i < 6; i++) {
		glPointSize(1 + 2 * i);
		glBegin(GL_POINTS);
		glColor3f(i / 5.0f, 1, 1 - i / 5.0f);
		glVertex2f((6.5f + 9 * i) / 32 - 1, 16.5f / 32 - 1);
		glEnd();
	}
	/* Only lines along an axis: other lines may cover other pixels. */
	glBegin(GL_LINES);
	for (int i = 0; i < 4; i++) {
		float at = (8 * i + 0.5f) / 32 - 0.5f;
		glColor3f(1, i / 3.0f, 0);
		glVertex2f(-0.75f, at), glVertex2f(0.75f, at);
	}
	glEnd();
	panel(10);
	glEnable(GL_DEPTH_TEST);
	glEnable(GL_POLYGON_OFFSET_FILL);
	for (int i = 0; i < 3; i++) {
		glPolygonOffset(0, -1 + i);
		glDepthFunc(i == 2 ? GL_LESS : GL_LEQUAL);
		glColor3f(i == 0, i == 1, i == 2);
		rectangle(-0.9f + 0.4f * i, -0.9f + 0.4f * i, 0.1f + 0.4f * i, 0.1f + 0.4f * i, 0.25f);
	}
	glDepthFunc(GL_LESS);
	glDisable(GL_POLYGON_OFFSET_FILL);
	glDisable(GL_DEPTH_TEST);
}

/* Copies of the picture so far: pixel by pixel, and stretched by a factor of two. */
static void copies(GLuint frame)
{
	GLuint texture, other;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glCopyTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 0, 0, 2 * PANEL, PANEL, 0);
	glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, PANEL, PANEL, PANEL, PANEL / 2);
	glEnable(GL_TEXTURE_2D);
	glTexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_REPLACE);
	panel(12);
	glViewport(0, 3 * PANEL, 2 * PANEL, PANEL);
	rectangle(-1, -1, 1, 1, 0);
	glDisable(GL_TEXTURE_2D);
	other = frame_buffer();
	glClearColor(0.5f, 0, 0.5f, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, frame);
	glBlitFramebuffer(PANEL, PANEL, 2 * PANEL, 2 * PANEL, 3, 5, 3 + PANEL, 5 + PANEL, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_READ_FRAMEBUFFER, other);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, frame);
	glBlitFramebuffer(0, 0, PANEL, PANEL, 2 * PANEL, 3 * PANEL, 3 * PANEL, 4 * PANEL, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBlitFramebuffer(0, 0, PANEL / 2, PANEL / 2, 3 * PANEL, 3 * PANEL, 4 * PANEL, 4 * PANEL, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glBindFramebuffer(GL_FRAMEBUFFER, frame);
}

static void queries(void)
{
	GLuint query, visible;
	glGenQueries(1, &query);
	glEnable(GL_DEPTH_TEST);
	panel(11);
	glColor3f(0, 0.5f, 0);
	rectangle(-0.5f, -0.5f, 0.5f, 0.5f, 0);
	for (int i = 0; i < 3; i++) {
		glBeginQuery(GL_SAMPLES_PASSED, query);
		glColor3f(0.5f, 0, 0.5f);
		rectangle(-1, -1, i * 0.5f, i * 0.5f, 0.5f);
		glEndQuery(GL_SAMPLES_PASSED);
		glGetQueryObjectuiv(query, GL_QUERY_RESULT, &visible);
		printf("visible: %u\n", visible);
	}
	glDisable(GL_DEPTH_TEST);
}

int main(int argc, char **argv)
{
	static unsigned char pixels[SIZE * SIZE * 4];
	check(argc == 2, "reading the arguments");
	open_context();
	GLuint frame = frame_buffer();
	glViewport(0, 0, SIZE, SIZE);
	glClearColor(0.125f, 0.25f, 0.375f, 1);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
	lights();
	textures();
	loops();
	clipping();
	stencil_and_blend();
	shapes();
	queries();
	copies(frame);
	glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	check(glGetError() == GL_NO_ERROR, "drawing");
	FILE *out = fopen(argv[1], "wb");
	check(out && fwrite(pixels, sizeof pixels, 1, out) == 1 && fclose(out) == 0, "writing the pixels");
	return 0;
}
