/* Raw ioctls: creates and destroys contexts, buffers, submissions, fences and descriptors. Memory
 * and the number of descriptors must not grow.
 * Usage: growth [ROUNDS] */
#define _GNU_SOURCE
#include <dirent.h>
#include <i915_drm.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MI_BATCH_BUFFER_END 0x05000000
#define SIZE (1 << 18)

static int device;

static void call(unsigned long request, void *argument, const char *what)
{
	if (ioctl(device, request, argument)) {
		perror(what);
		exit(2);
	}
}

static long resident(void)
{
	char line[256];
	long kilobytes = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof line, status))
		if (sscanf(line, "VmRSS: %ld", &kilobytes) == 1)
			break;
	fclose(status);
	return kilobytes;
}

static int descriptors(void)
{
	int count = 0;
	DIR *directory = opendir("/proc/self/fd");
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static uint32_t buffer(uint32_t first)
{
	struct drm_i915_gem_create create = { .size = SIZE };
	call(DRM_IOCTL_I915_GEM_CREATE, &create, "create");
	struct drm_i915_gem_mmap_offset offset = { .handle = create.handle, .flags = I915_MMAP_OFFSET_WB };
	call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset, "mmap_offset");
	uint32_t *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, device, offset.offset);
	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	memset(memory, 0, SIZE);
	memory[0] = first;
	munmap(memory, SIZE);
	return create.handle;
}

static void close_buffer(uint32_t handle)
{
	struct drm_gem_close close = { .handle = handle };
	call(DRM_IOCTL_GEM_CLOSE, &close, "close");
}

static void round_trip(int round)
{
	struct drm_i915_gem_context_create context = { 0 };
	call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &context, "context");
	struct drm_syncobj_create sync = { 0 };
	call(DRM_IOCTL_SYNCOBJ_CREATE, &sync, "syncobj");
	uint32_t data = buffer(round), batch = buffer(MI_BATCH_BUFFER_END);
	struct drm_i915_gem_exec_object2 objects[] = {
		{ .handle = data, .flags = EXEC_OBJECT_WRITE }, { .handle = batch },
	};
	struct drm_i915_gem_exec_fence fence = { .handle = sync.handle, .flags = I915_EXEC_FENCE_SIGNAL };
	struct drm_i915_gem_execbuffer2 exec = {
		.buffers_ptr = (uintptr_t)objects, .buffer_count = 2, .cliprects_ptr = (uintptr_t)&fence, .num_cliprects = 1,
		.flags = I915_EXEC_FENCE_ARRAY | I915_EXEC_FENCE_OUT, .rsvd1 = context.ctx_id,
	};
	call(DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &exec, "execbuffer2");
	struct pollfd out = { .fd = exec.rsvd2 >> 32, .events = POLLIN };
	/* Half of them are closed while their work runs. */
	if (round % 2) {
		struct drm_syncobj_wait wait = { .handles = (uintptr_t)&sync.handle, .timeout_nsec = INT64_MAX, .count_handles = 1 };
		call(DRM_IOCTL_SYNCOBJ_WAIT, &wait, "syncobj_wait");
		if (poll(&out, 1, 0) != 1) {
			fprintf(stderr, "growth: the syncobj has signaled, but its sync file has not\n");
			exit(1);
		}
	}
	close(out.fd);
	close_buffer(data);
	close_buffer(batch);
	struct drm_syncobj_destroy gone = { .handle = sync.handle };
	call(DRM_IOCTL_SYNCOBJ_DESTROY, &gone, "syncobj_destroy");
	struct drm_i915_gem_context_destroy destroy = { .ctx_id = context.ctx_id };
	call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy, "context_destroy");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2000, files = 0;
	long before = 0;
	device = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (device < 0) {
		perror("renderD128");
		return 2;
	}
	for (int round = 0; round < rounds; round++) {
		if (round == 200) {
			usleep(100000);
			before = resident();
			files = descriptors();
		}
		round_trip(round);
	}
	usleep(100000);
	long after = resident();
	printf("%d rounds: %ld KiB, then %ld; %d descriptors, then %d\n", rounds, before, after, files, descriptors());
	return after - before > 2048 || descriptors() > files;
}
