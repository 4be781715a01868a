#!/bin/bash
# Prints a table that compares the speed of the model with software renderers on the same machine.
# All of them use the same display.
# Usage: speed.sh [SECONDS]   time of each benchmark of glmark2; default 10
# First build: cargo build --release -p genxml-drm-shim -p genx   (or set GENX to the path of genx)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
genx=${GENX:-$here/../../target/release/genx}
duration=${1:-10}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$work} MESA_SHADER_CACHE_DISABLE=true NEO_CACHE_PERSISTENT=0
[ -x "$genx" ] || { echo "speed.sh: no genx at $genx: build it, or set GENX" >&2; exit 2; }
gcc -O1 -o opencl_vadd "$here/opencl_vadd.c" -lOpenCL || exit 2
mkfifo silent

# Runs a command on a renderer: model1 and model2 (the number is that of threads), llvmpipe,
# softpipe.
as() {
	local column=$1 options=(--mode "$mode")
	shift
	case $column in
	model*) timeout 900 "$genx" shim --threads "${column#model}" "${options[@]}" -- "$@" ;;
	*) MESA_LOADER_DRIVER_OVERRIDE=kms_swrast GALLIUM_DRIVER=$column timeout 900 "$genx" shim "${options[@]}" -- "$@" ;;
	esac <>silent 2>stderr
}
# Frames per second, computed from the frame time that glmark2 prints.
glmark2() {
	as "$1" glmark2-es2-drm --winsys-options drm-device=/dev/dri/card0 -b "$2:duration=$duration" |
		sed -n 's/.*FrameTime: \([0-9.]*\) ms.*/\1/p' | awk '{ printf "%.1f", 1000 / $1 }'
}
# Frames per second; kmscube prints them every two seconds, counted from its start.
kmscube() {
	as "$1" kmscube -c "$2" |
		sed -n 's/^Rendered.*(\([0-9.]*\) fps).*/\1/p' | awk '{ fps = $1 } END { if (fps) printf "%.1f", fps }'
}
# Seconds of the whole process, including the compiler. The column llvmpipe is for pocl.
vadd() {
	local start=$EPOCHREALTIME
	case $1 in
	model*) as "$1" ./opencl_vadd 1000000 ;;
	llvmpipe) ./opencl_vadd 1000000 2>stderr ;;
	*) return ;;
	esac | grep -q " 0 wrong" && awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }'
}
row() {
	local title=$1 column result
	shift
	printf '%-44s' "$title"
	for column in model1 model2 llvmpipe softpipe; do
		result=$("$1" "$column" "${@:2}")
		printf '%12s' "${result:--}"
	done
	echo
}

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) threads"
printf '%-44s%12s%12s%12s%12s\n' "" "1 thread" "2 threads" llvmpipe softpipe
mode=320x240
row "glmark2 build, 320x240, frames per second" glmark2 build
row "glmark2 texture, 320x240, frames per second" glmark2 texture
row "kmscube, 320x240, frames per second" kmscube 300
mode=1024x768
row "kmscube, 1024x768, frames per second" kmscube 60
row "OpenCL, million additions, seconds (pocl)" vadd
