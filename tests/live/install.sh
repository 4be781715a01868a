#!/bin/bash
# Installs the Debian 12 packages that the live suite needs: drivers, clients, and headers for our
# own clients. Needs root.
# Usage: install.sh [--non-free]   --non-free installs i965 with the kernels that read decoded
# pictures back; Debian's component non-free must be in the sources of apt
set -euo pipefail
i965=i965-va-driver
case "${1:-}" in
"") ;;
--non-free) i965=i965-va-driver-shaders ;;
*) echo "usage: install.sh [--non-free]" >&2; exit 2 ;;
esac
apt-get update
apt-get install -y --no-install-recommends \
	libgl1-mesa-dri libegl1 libgles2 libgbm1 mesa-vulkan-drivers intel-opencl-icd "$i965" intel-media-va-driver pocl-opencl-icd \
	mesa-utils mesa-utils-extra vulkan-tools clinfo vainfo kmscube glmark2-es2-drm piglit ffmpeg hashcat weston intel-gpu-tools \
	gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad \
	gcc libc6-dev libegl-dev libgles-dev libvulkan-dev libdrm-dev opencl-c-headers ocl-icd-opencl-dev glslang-tools python3
