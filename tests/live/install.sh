#!/bin/bash
# Installs the Debian 12 packages that the live suite needs: drivers, clients, and headers for our
# own clients. Needs root.
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends \
	libgl1-mesa-dri libegl1 libgles2 libgbm1 mesa-vulkan-drivers intel-opencl-icd i965-va-driver pocl-opencl-icd \
	mesa-utils mesa-utils-extra vulkan-tools clinfo vainfo kmscube glmark2-es2-drm piglit ffmpeg hashcat weston intel-gpu-tools \
	gcc libc6-dev libegl-dev libgles-dev libvulkan-dev libdrm-dev opencl-c-headers ocl-icd-opencl-dev glslang-tools python3
