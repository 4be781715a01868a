#!/bin/bash
# The live suite: unmodified drivers of Debian 12 on the model. It compares outputs with those of
# software renderers on the same machine, and the result of each test with expected.tsv.
# Usage: run.sh [NAME...]   all tests, or the named ones; exit 1 if a result is worse than expected
# A test that cannot run without a non-free package is skipped.
# SANITIZE=flush,race,bounds,state run.sh   also fails a test that has a finding of a sanitizer which
# is not in expectations/live-findings.txt
# First build: cargo build --release -p genxml-drm-shim -p genx   (or set GENX to the path of genx)
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
genx=${GENX:-$here/../../target/release/genx}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$work} MESA_SHADER_CACHE_DISABLE=true NEO_CACHE_PERSISTENT=0
export LIBGL_ALWAYS_SOFTWARE=${LIBGL_ALWAYS_SOFTWARE:-}
[ -x "$genx" ] || { echo "run.sh: no genx at $genx: build it, or set GENX" >&2; exit 2; }
# Exit code of a test that is skipped.
skip=77
lavapipe=$(ls /usr/share/vulkan/icd.d/lvp_icd.*.json 2>/dev/null | head -1)

# Messages of the device about failed submissions, panics and missing features; also in piglit.py.
refusal='^genx shim: .*\(submission\( [0-9]*\)\?:\|panicked\|not implemented\)'
# The first line of a finding of a sanitizer, up to the name of the rule.
finding='^genx shim: [a-z]+: (error|warning|note): [A-Z]+(-[A-Z0-9]+)+'
# Runs a command on the model. A fault is a failure, whatever the command's exit code is. The last
# line of standard error is the reason of a failure.
model() {
	timeout -k 5 "${limit:-120}" "$genx" shim --errors "$work" ${options:-} ${SANITIZE:+--sanitize "$SANITIZE"} -- "$@" 2>"$work/stderr" <"${input:-/dev/null}"
	local code=$?
	grep -aoE "$finding" "$work/stderr" >>"$work/findings"
	if grep -aq "$refusal" "$work/stderr"; then
		grep -a "^genx shim:" "$work/stderr" | head -3 >&2
		return 99
	fi
	((code == 0)) || echo "exit code $code: $(grep -av "^genx shim:" "$work/stderr" | tail -1 | tr -d '\0')" >&2
	return $code
}
client() { gcc -O1 -Wall -I"$work" -I/usr/include/libdrm -o "$1" "$here/$1.c" "${@:2}"; }
# Compiles the shaders of a client to headers: NAME.vert becomes NAME_vert in NAME_vert.h.
shaders() {
	local file name
	for file in "$here/$1"*.{vert,frag,comp}; do
		[ -e "$file" ] || continue
		name=$(basename "$file")
		glslangValidator -V --target-env vulkan1.1 --vn "${name//./_}" -o "${name//./_}.h" "$file" >/dev/null || return
	done
}

test_eglinfo() { model eglinfo -B >out; grep -q "EGL driver name: iris" out; }
test_vulkaninfo() { model vulkaninfo --summary >out; grep -q "BDW GT2" out; }
test_clinfo() { model clinfo >out; grep -q "HD Graphics 5500 \[0x1616\]" out; }
# A driver of VA-API lists the profiles that it can decode: profiles DRIVER MORE...
profiles() {
	local profile
	model env LIBVA_DRIVER_NAME="$1" vainfo --display drm --device /dev/dri/renderD128 >out || return
	for profile in MPEG2Main H264ConstrainedBaseline H264Main H264High JPEGBaseline VP8Version0_3 "${@:2}"; do
		grep -q "VAProfile$profile *:.*VAEntrypointVLD" out || { echo "no $profile" >&2; return 1; }
	done
	echo "$(grep -c VAEntrypointVLD out) profiles for decoding"
}
test_vainfo() { profiles i965 VC1Simple VC1Main VC1Advanced; }
test_vainfo_ihd() { profiles iHD; }
# Runs a client of OpenGL ES on llvmpipe and on the model. Their texts must be equal. The pictures
# are reference.raw and model.raw.
gles3() {
	client "$1" -lEGL -lGLESv2 && client compare &&
		env -u MESA_LOADER_DRIVER_OVERRIDE LIBGL_ALWAYS_SOFTWARE=1 "./$1" reference.raw >reference.out 2>/dev/null &&
		model "./$1" model.raw >out && grep -q "${gpu:-BDW GT2}" stderr && cmp reference.out out
}
crocus() { CROCUS_GEN8=1 MESA_LOADER_DRIVER_OVERRIDE=crocus "$@"; }
# Pixels must be within 1, except half a percent of them, at edges.
test_gles3_triangle() { gles3 gles3_triangle && ./compare reference.raw model.raw 1 5; }
test_gles3_triangle_crocus() { crocus test_gles3_triangle; }
# llvmpipe computes levels of detail and sRGB with fewer bits.
test_gles3_textured() {
	gles3 gles3_textured && ./compare reference.raw model.raw 16 0 && ./compare reference.raw model.raw 4 2
}
test_gles3_textured_crocus() { crocus test_gles3_textured; }
test_gles3_instanced() { gles3 gles3_instanced && ./compare reference.raw model.raw 1 1; }
test_gles3_instanced_crocus() { crocus test_gles3_instanced; }
# llvmpipe has 4 samples, at the same positions. With other sample counts only edges differ: two
# percent of the pixels, by the share of one sample of the coarser pattern.
test_gles3_msaa() {
	gles3 gles3_msaa && ./compare reference.raw model.raw 1 0 || return
	local samples
	for samples in $(grep -a "samples of" stderr | sed 's/.* of//; s/\<4\>//'); do
		model ./gles3_msaa model.raw "$samples" && ./compare reference.raw model.raw 1 20 &&
			./compare reference.raw model.raw $((256 / (samples < 4 ? samples : 4) + 1)) 0 || return
	done
}
test_gles3_msaa_crocus() { crocus test_gles3_msaa; }
# The program checks the results itself: every pixel of the size is shaded, and none outside.
test_gles31_no_attachments() {
	client gles31_no_attachments -lEGL -lGLESv2 &&
		env -u MESA_LOADER_DRIVER_OVERRIDE LIBGL_ALWAYS_SOFTWARE=1 ./gles31_no_attachments 2>/dev/null &&
		model ./gles31_no_attachments && grep -q "BDW GT2" stderr && model ./gles31_no_attachments 1023 8
}
# Runs a client of Vulkan on lavapipe and on the model. Arguments after its name are for lavapipe.
vulkan() {
	shaders "$1" && client "$1" -lvulkan -lm && client compare &&
		VK_ICD_FILENAMES=$lavapipe "./$1" reference.raw "${@:2}" >reference.out 2>/dev/null && model "./$1" model.raw >out &&
		grep -q "BDW GT" stderr
}
test_vulkan_triangle() { vulkan vulkan_triangle && ./compare reference.raw model.raw 1 5; }
# Filters and blends differ by 1, and in few pixels by 2. On lavapipe the shader computes the level
# of detail, because lavapipe's own level is up to 0.043 off. With it, a fifth of the pixels would
# differ by 2 to 12.
test_vulkan_texture() { vulkan vulkan_texture lod && ./compare reference.raw model.raw 2 1; }
test_vulkan_texture_check() {
	options=--check vulkan vulkan_texture lod && grep -a "checked: 0 errors" stderr
}
test_vulkan_reduce() { vulkan vulkan_reduce && cmp reference.out out && tail -1 out; }
# Weights of filtered texels have 8 bits. So pixels differ by 1, and by 2 between very different
# texels.
test_vulkan_filter() { vulkan vulkan_filter && cat out && ./compare reference.raw model.raw 2 0; }
# Differences of lavapipe: it cuts 8 bits to 5 and 6 instead of rounding (up to 9), and it computes
# the colours of BC1 to BC5 (4) and the curve of sRGB (2) with few bits.
test_vulkan_formats() {
	vulkan vulkan_formats && ./compare reference.raw model.raw 9 0 &&
		./compare reference.raw model.raw 1 30
}
test_opencl_vadd() { client opencl_vadd -lOpenCL && model ./opencl_vadd 1000000; }
test_opencl_histogram() { client opencl_histogram -lOpenCL && model ./opencl_histogram 65536; }
# Integers must be equal. Floats must be within a bound of the product in doubles, and within twice
# the bound of pocl's result.
test_opencl_matmul() {
	client opencl_matmul -lOpenCL -lm && ./opencl_matmul reference.raw >out 2>/dev/null &&
		model ./opencl_matmul model.raw reference.raw
}
# Integers and bits must equal those of pocl. Functions must be within the bounds of OpenCL.
test_opencl_arithmetic() {
	client opencl_arithmetic -lOpenCL -lm && ./opencl_arithmetic reference.raw >out 2>/dev/null &&
		limit=300 model ./opencl_arithmetic model.raw && cmp reference.raw model.raw
}
# pocl filters with more bits than the sampler.
test_opencl_image() {
	client opencl_image -lOpenCL && client compare && ./opencl_image reference.raw 2>/dev/null &&
		model ./opencl_image model.raw && ./compare reference.raw model.raw 1 0
}
# All sizes of the GPU.
test_devices() {
	local id
	for id in GT1 GT2 GT3; do
		options="--device $id" test_opencl_vadd && options="--device $id" test_opencl_matmul &&
			options="--device $id" test_opencl_image || return
	done
}
# Writes the pictures that a command displays to one file: shown FILE SIZE COMMAND...
# If `software` names a software renderer, Mesa renders with it, into dumb buffers.
shown() {
	local settings=() renderer=${gpu:-BDW GT2}
	rm -rf frames
	[ -n "${software:-}" ] && renderer=$software settings=(MESA_LOADER_DRIVER_OVERRIDE=kms_swrast "GALLIUM_DRIVER=$software")
	limit=300 options="--mode $2 --frames frames ${options:-}" model env "${settings[@]}" "${@:3}" >"$1.out" || return
	grep -aq "$renderer" "$1.out" || { echo "not rendered by $renderer" >&2; return 1; }
	ffmpeg -v error -y -i "$(echo frames/*)/frame%05d-crtc31.png" -f rawvideo -pix_fmt rgba "$1"
}
# Compares the pictures of reference.raw and model.raw one by one: each SIZE LIMIT SHARE
each() {
	local width=${1%x*} height=${1#*x} name beyond most=0 count=0
	client compare || return
	rm -f part.*
	for name in reference model; do split -a 5 -d -b $((width * height * 4)) $name.raw part.$name.; done
	for name in part.model.*; do
		./compare "part.reference.${name##*.}" "$name" "$2" "$3" >compared ||
			{ echo "picture ${name##*.}: $(<compared)" >&2; return 1; }
		beyond=$(sed 's/.* equal, \([0-9]*\) beyond.*/\1/' compared)
		((beyond > most)) && most=$beyond
		count=$((count + 1))
	done
	[ $count = "$(find . -name 'part.reference.*' | wc -l)" ] &&
		echo "$count pictures of $1, at most $most pixels beyond $2"
}
# Compares the displayed pictures of a command with llvmpipe's: pictures SIZE LIMIT SHARE COMMAND...
pictures() {
	software=llvmpipe shown reference.raw "$1" "${@:4}" && shown model.raw "$1" "${@:4}" && each "${@:1:3}"
}
# kmscube ends when its standard input ends. This input stays open and silent.
silent() {
	[ -p silent ] || mkfifo silent
	exec {pipe}<>silent
	input=/dev/fd/$pipe
}
# All 61 pictures; the first one is before the first cube. Pixels differ only by rounding, also at
# edges.
test_kmscube() { silent && pictures 320x240 1 0 kmscube -c 60; }
test_kmscube_large() { silent && pictures 1024x768 1 0 kmscube -c 60; }
# Atomic mode setting, with GPU fences before a picture and display fences after it. Mesa's software
# renderers do not support it. It displays nothing before its first cube.
test_kmscube_atomic() {
	silent && software=llvmpipe shown legacy.raw 320x240 kmscube -c 60 && shown model.raw 320x240 kmscube -A -c 60 &&
		tail -c +$((320 * 240 * 4 + 1)) legacy.raw >reference.raw && each 320x240 1 0
}
# The first picture of a scene shows it at time 0. The size is that of the display; with -s, glmark2
# ends.
glmark2() {
	local size=$1 scene benchmarks=()
	for scene in "${@:2}"; do benchmarks+=(-b "$scene:nframes=1"); done
	pictures "$size" 1 5 glmark2-es2-drm --winsys-options drm-device=/dev/dri/card0 "${benchmarks[@]}"
}
test_glmark2_build() { glmark2 320x240 build; }
# Only linear filters: with the nearest texel, every fifth column and row is between two texels, and
# software renderers choose differently.
test_glmark2_texture() { glmark2 320x240 texture:texture-filter=linear texture:texture-filter=mipmap; }
# All other scenes except refract and terrain. Their noise differs between llvmpipe and softpipe as
# much as from the model.
test_glmark2_scenes() {
	glmark2 160x120 buffer bump clear conditionals desktop effect2d function ideas jellyfish loop pulsar shading shadow
}
# Runs a test on a G45, for which Mesa has crocus.
g45() { gpu=G45/G43 options="--device g45" "$@"; }
test_g45_scene() {
	client gl21_scene -lEGL -lGL && client compare &&
		LIBGL_ALWAYS_SOFTWARE=1 ./gl21_scene reference.raw >reference.out 2>/dev/null &&
		g45 model ./gl21_scene model.raw >out && grep -q G45/G43 stderr && cmp reference.out out &&
		./compare reference.raw model.raw 2 1
}
test_g45_mobile() { options="--device gm45" model eglinfo -B >out; grep -q "EGL driver name: crocus" out; }
test_g45_kmscube() { silent && g45 pictures 320x240 1 1 kmscube -c 60; }
test_g45_glmark2() { g45 glmark2 320x240 build texture:texture-filter=linear texture:texture-filter=mipmap shading; }
test_g45_check() {
	client gl21_scene -lEGL -lGL && options="--device g45 --check" model ./gl21_scene model.raw >out &&
		grep -a "checked: 0 errors" stderr
}
test_g45_piglit() { GENX=$genx "$here/piglit.py" --device g45 --glsl 1.20 --count 40 --seed 1 >out && head -1 out; }
test_two_clients() {
	client opencl_vadd -lOpenCL || return
	"$genx" shim -- ./opencl_vadd 20000 >one 2>/dev/null &
	model ./opencl_vadd 20000 >two
	wait $! && cat one two
}
# A client that is killed leaves neither files nor processes.
test_killed() {
	client opencl_vadd -lOpenCL || return
	mkdir -p left
	local code
	TMPDIR=$work/left "$genx" shim -- timeout -s KILL 1 ./opencl_vadd 50000000 >/dev/null 2>&1
	code=$?
	[ $code -ne 0 ] && [ -z "$(ls left)" ] && ! pgrep -f "opencl_vadd 50000000" >/dev/null || return
	TMPDIR=$work/left timeout -s KILL --foreground 1 "$genx" shim -- ./opencl_vadd 50000000 >/dev/null 2>&1
	sleep 0.2
	[ -z "$(ls left)" ] && ! pgrep -f "opencl_vadd 50000000" >/dev/null
}
test_check() { client opencl_vadd -lOpenCL && options=--check model ./opencl_vadd 256 && grep -a "checked: 0 errors" stderr; }
# The capture of a client runs and decodes.
test_capture() {
	client gles3_triangle -lEGL -lGLESv2 && options="--capture $work/captures" model ./gles3_triangle model.raw &&
		"$genx" run captures/gles3_triangle.* >out && "$genx" decode captures/gles3_triangle.* | grep -c 3DPRIMITIVE
}
# Memory and descriptors do not grow, whether clients wait for their work or not.
test_growth() {
	client growth && client opencl_growth -lOpenCL || return
	local async
	for async in 0 1; do
		export GENX_SHIM_ASYNC=$async
		model ./growth 2000 && limit=300 model ./opencl_growth 1500 || return
	done
}
test_hashcat() {
	local mode sums=([0]=md5sum [100]=sha1sum [1400]=sha256sum)
	printf 'wrong\nhashcat\nother\n' >words
	for mode in 0 100 1400; do
		echo -n hashcat | ${sums[mode]} | cut -d' ' -f1 >hash
		# The sizes are given, because hashcat's search for good ones takes minutes.
		limit=300 HOME=$work model hashcat -m $mode -d 1 -n 1 -u 1 -T 8 --session genx$$ --force --potfile-disable --quiet hash words >out &&
			grep -a hashcat out || return
	done
}
# The reference is the same filter on pocl, which is the first device without the model.
test_ffmpeg_opencl() {
	local filter=(-filter_hw_device cl -f lavfi -i testsrc=size=128x96:rate=1:duration=1
		-vf format=gray,hwupload,avgblur_opencl=2,hwdownload,format=gray -f rawvideo)
	client compare && ffmpeg -v error -y -init_hw_device opencl=cl:0.0 "${filter[@]}" reference.raw </dev/null &&
		limit=300 model ffmpeg -v error -y -init_hw_device opencl=cl:0.0 "${filter[@]}" model.raw &&
		./compare reference.raw model.raw 1 0
}
# The reference is the same filter on lavapipe.
test_ffmpeg_vulkan() {
	local filter=(-filter_hw_device vk -f lavfi -i testsrc=size=128x96:rate=1:duration=1
		-vf format=rgba,hwupload,hflip_vulkan,hwdownload,format=rgba -f rawvideo)
	client compare &&
		VK_ICD_FILENAMES=$lavapipe ffmpeg -v error -y -init_hw_device vulkan=vk:0 "${filter[@]}" reference.raw </dev/null &&
		limit=300 model ffmpeg -v error -y -init_hw_device vulkan=vk:0 "${filter[@]}" model.raw &&
		./compare reference.raw model.raw 1 0
}
# Encodes 12 frames in software, to the file video.mkv or FILE: [file=FILE] encode OPTION...
encode() {
	ffmpeg -v error -y -f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 12 -pix_fmt yuv420p "$@" "${file:-video.mkv}" </dev/null
}
# Decodes a file in software, to reference.raw. JPEG has other ranges of values; they stay.
decode_in_software() {
	ffmpeg -v error -y -i "$1" -vf scale=in_range=full:out_range=full,format=nv12 -f rawvideo reference.raw </dev/null
}
# The last run with --stats has decoded at least 12 slices on the model, so not in software.
decoded_on_model() {
	local slices
	slices=$(sed -n 's/^genx shim: .*: [0-9]* pictures, \([0-9]*\) slices of .*/\1/p' stderr)
	((${slices:-0} >= 12)) || { echo "the model has decoded ${slices:-0} slices for 12 frames" >&2; return 1; }
}
# Decodes what `encode` encodes, with a driver of VA-API: video DRIVER LIMIT OPTION...
# FFmpeg cannot fall back to software here, because hwdownload accepts only frames of VA-API.
video() {
	client compare && encode "${@:3}" && decode_in_software video.mkv &&
		options=--stats model env LIBVA_DRIVER_NAME="$1" ffmpeg -v error -y -hwaccel vaapi \
			-hwaccel_device /dev/dri/renderD128 -hwaccel_output_format vaapi -i video.mkv \
			-vf hwdownload,format=nv12 -f rawvideo model.raw &&
		decoded_on_model && ./compare reference.raw model.raw "$2" 0
}
# The first stream has CABAC, references in two directions, 8x8 transforms and 3 slices in a
# picture; the second one has CAVLC; the third one has frame and field macroblocks (MBAFF).
# Decoders of AVC and VP8 must be exact.
video_avc() {
	video "$1" 0 -c:v libx264 -profile:v high -bf 2 -g 6 -slices 3 &&
		video "$1" 0 -c:v libx264 -profile:v baseline &&
		video "$1" 0 -c:v libx264 -bf 2 -flags +ildct+ilme
}
video_vp8() { video "$1" 0 -c:v libvpx -b:v 500k; }
# MPEG-2 and JPEG leave the rounding of the transform open. In MPEG-2, differences add up until the
# next picture without references.
video_mpeg2() { video "$1" 3 -c:v mpeg2video -bf 2 -q:v 4 -flags +ildct+ilme && video "$1" 3 -c:v mpeg2video -bf 2 -q:v 4; }
video_jpeg() { video "$1" 1 -c:v mjpeg -pix_fmt yuvj420p -q:v 4; }
test_video_avc() { video_avc iHD; }
test_video_mpeg2() { video_mpeg2 iHD; }
test_video_vp8() { video_vp8 iHD; }
test_video_jpeg() { video_jpeg iHD; }
# In the free package, i965 lacks the kernels that copy a decoded picture to memory.
test_video_i965() {
	if ! video_vp8 i965 >out 2>reason; then
		grep -aq "Failed to read image.*not implemented" stderr && {
			echo "i965-va-driver-shaders (non-free) is not installed"
			return $skip
		}
		cat out
		cat reason >&2
		return 1
	fi
	video_avc i965 && video_mpeg2 i965 && video_jpeg i965
}
# A command failed: returns $skip and prints why if the driver has no kernels for video processing.
# Otherwise fails with the reason of the command.
without_kernels() {
	grep -aqE "requested VAProfile is not supported|No usable encoding (profile|entrypoint)" stderr && {
		echo "the driver's non-free kernels are not installed"
		return $skip
	}
	cat reason >&2
	return 1
}
# Writes raw frames of 320x240 in NV12, or in $from: frames FILE COUNT SOURCE FILTERS
frames() {
	ffmpeg -v error -y -f lavfi -i "$3" -vf "${4:+$4,}format=${from:-nv12}" -frames:v "$2" -f rawvideo "$1" </dev/null
}
# Runs a filter of VA-API on in.raw, which is in NV12 or $from, to model.raw:
# filter DRIVER FILTER [FORMAT]
filter() {
	LIBVA_DRIVER_NAME=$1 options=--stats model ffmpeg -v error -y -vaapi_device /dev/dri/renderD128 \
		-f rawvideo -pix_fmt "${from:-nv12}" -s 320x240 -i in.raw -vf "format=${from:-nv12},setfield=tff,hwupload,$2,hwdownload,format=${3:-nv12}" \
		-fps_mode passthrough -f rawvideo model.raw >out 2>reason || {
		without_kernels
		return
	}
	[ -s model.raw ] || { echo "$2 of $1 has no frames" >&2; return 1; }
}
# The last run with --stats has executed a packet: executed PACKET
executed() { grep -aq "^genx shim: .*: $1: " stderr || { echo "$1 has not run" >&2; return 1; }; }
# A driver refuses a filter with a message: refused DRIVER FILTER FORMAT MESSAGE
refused() {
	filter "$1" "$2" "$3" 2>/dev/null
	local code=$?
	((code != skip)) || return $skip
	((code != 0)) && grep -aqF "$4" stderr || { echo "$1 does not refuse $2: $4" >&2; return 1; }
	echo "$1 refuses $2: $4"
}
# Compares model.raw with what a formula makes of in.raw: formula LIMIT FILTER...
formula() { "$here/video_reference.py" "${@:2}" in.raw formula.raw && ./compare formula.raw model.raw "$1" 0; }
# Raises the brightness of raw frames with video enhancement, and compares with the formula.
test_video_enhance() {
	client compare && frames in.raw 4 testsrc2=size=320x240:rate=25 &&
		ffmpeg -v error -y -f rawvideo -pix_fmt nv12 -s 320x240 -i in.raw -vf 'lutyuv=y=clip(val+10\,0\,255)' \
			-pix_fmt nv12 -f rawvideo reference.raw </dev/null || return 1
	filter iHD procamp_vaapi=b=10 || return
	./compare reference.raw model.raw 0 0
}
# Each filter that the drivers offer runs without a fault. Without a reference in software: the
# hardware has its own filters.
test_video_filters() {
	local driver filter count=0
	frames in.raw 4 testsrc2=size=320x240:rate=25
	for driver in i965 iHD; do
		local -a filters=(denoise_vaapi=denoise=10 denoise_vaapi=denoise=64 sharpness_vaapi=sharpness=20
			deinterlace_vaapi=mode=bob deinterlace_vaapi=mode=motion_adaptive deinterlace_vaapi=mode=motion_compensated
			deinterlace_vaapi=mode=motion_adaptive:rate=field procamp_vaapi=b=5:c=1.2:h=20:s=2
			procamp_vaapi=s=0,denoise_vaapi=denoise=20 scale_vaapi=w=160:h=120 scale_vaapi=w=640:h=480)
		[ $driver = i965 ] || filters+=(transpose_vaapi={clock,cclock,reversal,hflip,vflip,clock_flip})
		for filter in "${filters[@]}"; do
			filter $driver "$filter" || return
			((++count))
		done
	done
	echo "$count filters"
}
# iHD converts NV12 to YUYV with video enhancement, which repeats rows of chroma as swscale's filter
# "neighbor" does. i965 does it with the scaler of the sampler, twice, and rounds twice. Planar
# chroma has the same samples as that of NV12. iHD copies planar pictures with a kernel that gives no
# sampler (see SAMPLERS_PAST_DYNAMIC_STATE_ARE_ZERO). Both convert RGB with coefficients that are
# not exact; the colours of the pixels are random here, so all pixels and coefficients count.
test_video_conversion() {
	local driver from
	client compare && frames in.raw 4 testsrc2=size=320x240:rate=25 &&
		ffmpeg -v error -y -f rawvideo -pix_fmt nv12 -s 320x240 -i in.raw -vf scale=flags=neighbor,format=yuyv422 \
			-f rawvideo reference.raw </dev/null || return 1
	filter iHD scale_vaapi=format=yuyv422 yuyv422 || return
	executed VEB_DI_IECP && ./compare reference.raw model.raw 0 0 || return 1
	filter i965 scale_vaapi=format=yuyv422 yuyv422 || return
	executed MEDIA_OBJECT && formula 1 conversion || return 1
	ffmpeg -v error -y -f rawvideo -pix_fmt nv12 -s 320x240 -i in.raw -pix_fmt yuv420p -f rawvideo planar.raw </dev/null || return 1
	for driver in i965 iHD; do
		filter $driver scale_vaapi=format=yuv420p yuv420p || return
		./compare planar.raw model.raw 0 0 || return 1
	done
	refused iHD scale_vaapi=format=bgr0 bgr0 "Hardware does not support output format bgr0." || return
	from=rgb0
	frames in.raw 2 testsrc2=size=320x240:rate=25 format=rgb0,noise=alls=100:allf=t || return 1
	filter i965 scale_vaapi=format=nv12 && formula 0 rgb_i965 || return
	filter iHD scale_vaapi=format=nv12 && formula 0 rgb_ihd
}
# Writes even rows of luma of the frames in FILE: even_rows FILE TO
even_rows() {
	ffmpeg -v error -y -f rawvideo -pix_fmt nv12 -s 320x240 -i "$1" -vf extractplanes=y,field=top -f rawvideo "$2" </dev/null
}
# A picture keeps the rows of the first field; those of the second field are interpolated. For a
# clip that stands still, both fields are combined: from the third frame on, the output equals the
# input.
test_video_deinterlace() {
	local bytes=$((320 * 240 * 3 / 2)) mode
	client compare && frames in.raw 6 testsrc2=size=320x240:rate=50 tinterlace=interleave_top && even_rows in.raw reference.raw || return 1
	filter i965 deinterlace_vaapi=mode=bob || return
	even_rows model.raw rows.raw && ./compare reference.raw rows.raw 0 0 || return 1
	# iHD samples the lines of a field with a kernel.
	filter iHD deinterlace_vaapi=mode=bob || return
	executed MEDIA_OBJECT_WALKER && formula 1 bob || return 1
	# The driver gives no previous frame here, so this mode interpolates, too.
	filter iHD deinterlace_vaapi=mode=motion_adaptive || return
	even_rows model.raw rows.raw && ./compare reference.raw rows.raw 0 0 || return 1
	frames in.raw 8 testsrc2=size=320x240:rate=25 trim=end_frame=1,loop=7:1
	for mode in motion_adaptive motion_compensated; do
		filter i965 deinterlace_vaapi=mode=$mode || return
		tail -c +$((2 * bytes + 1)) model.raw >rest.raw
		head -c "$(stat -c %s rest.raw)" in.raw >reference.raw
		./compare reference.raw rest.raw 0 0 || return 1
	done
}
# The PSNR of luma against reference.raw, in hundredths: psnr FILE
psnr() {
	ffmpeg -v info -f rawvideo -pix_fmt nv12 -s 320x240 -i reference.raw -f rawvideo -pix_fmt nv12 -s 320x240 -i "$1" \
		-lavfi psnr -f null - </dev/null 2>&1 | sed -n 's/.*PSNR y:\([0-9]*\)\.\([0-9][0-9]\).*/\1\2/p'
}
# The thresholds of i965, and those of iHD for this strength, leave out the previous frame: luma is a
# mean of pixels whose difference is below 12 or 8. Then noise of three strengths: the denoised clip
# is nearer to the clean one than the noisy clip.
test_video_denoise() {
	local driver noise before after
	client compare && frames in.raw 4 smptebars=size=320x240:rate=25 noise=alls=24:allf=t || return 1
	local -A limit_of=([i965]=12 [iHD]=8)
	for driver in i965 iHD; do
		filter $driver denoise_vaapi=denoise=32 || return
		executed VEB_DI_IECP && formula 0 mean "${limit_of[$driver]}" || return 1
	done
	frames reference.raw 6 smptebars=size=320x240:rate=25
	for noise in 6 14 30; do
		frames in.raw 6 smptebars=size=320x240:rate=25 noise=alls=$noise:allf=t
		before=$(psnr in.raw)
		for driver in i965 iHD; do
			filter $driver denoise_vaapi=denoise=64 || return
			after=$(psnr model.raw)
			echo "$driver, noise $noise: $before to $after"
			((after > before + 30)) || { echo "$driver, noise $noise: $before to $after" >&2; return 1; }
		done
	done
}
# Encodes with a driver: streams, reconstructed pictures, quality and motion vectors are checked.
video_encode() {
	GENX=$genx "$here/video_encode.py" "$1" >out
	local code=$?
	grep ^wrong out >&2
	tail -1 out
	return $code
}
test_video_encode() { video_encode iHD; }
test_video_encode_i965() { video_encode i965; }
# GStreamer finds devices through libudev. Its registry of plugins stays in the work directory.
test_gstreamer() {
	client compare && file=video.264 encode -c:v libx264 -bf 2 -g 6 && decode_in_software video.264 &&
		limit=300 options=--stats model env LIBVA_DRIVER_NAME=iHD GST_REGISTRY="$work/registry" GST_REGISTRY_FORK=no \
			gst-launch-1.0 -q filesrc location=video.264 ! h264parse ! vah264dec ! video/x-raw,format=NV12 ! \
			filesink location=model.raw >out &&
		decoded_on_model && ./compare reference.raw model.raw 0 0
}
# A Wayland client and its compositor, both on the model.
on_weston() {
	cat >both.sh <<'S'
weston --backend=headless-backend.so --use-gl --socket=genx-test --idle-time=0 >weston.log 2>&1 &
weston=$!
for _ in $(seq 100); do [ -S "$XDG_RUNTIME_DIR/genx-test" ] && break; sleep 0.1; done
WAYLAND_DISPLAY=genx-test "$@"
code=$?
kill $weston
wait $weston
exit $code
S
	model bash both.sh "$@" >out
}
# The client prints its rate five seconds after it has started, which takes long on a busy machine.
test_weston() {
	on_weston timeout -s INT 12 weston-simple-egl -s
	grep -a "frames in" out || { tail -3 weston.log >&2; false; }
}
# vkcube ends itself after its frames.
test_vkcube() {
	on_weston timeout 60 vkcube-wayland --c 30 --width 200 --height 200 && grep -a "BDW GT2" stderr
}
test_blit_benchmark() {
	local program=/usr/libexec/igt-gpu-tools/benchmarks/gem_blt
	[ -x $program ] || return
	model $program -s 65536 -r 1 -b 1 >out && tail -1 out
}
test_piglit() { GENX=$genx "$here/piglit.py" --count 60 --seed 1 >out && head -1 out; }

tests=("$@")
((${#tests[@]})) || mapfile -t tests < <(cut -f1 "$here/expected.tsv" | grep -v '^#')
for name in "${tests[@]}"; do
	declare -F "test_$name" >/dev/null || { echo "run.sh: no test $name" >&2; exit 2; }
done
worse=0
for name in "${tests[@]}"; do
	start=$SECONDS
	: >"$work/findings"
	detail=$("test_$name" 2>"$work/why")
	case $? in
	0) result=pass ;;
	"$skip") result=skip ;;
	*)
		result=fail
		# Without a message, what the test printed last is the reason: the differences of pictures.
		[ -s "$work/why" ] && detail=$(tail -1 "$work/why")
		;;
	esac
	for rule in $(sed 's/.* //' "$work/findings" | sort -u); do
		grep -q "^$name	$rule\$" "$here/expectations/live-findings.txt" && continue
		result=fail detail="new finding $rule"
	done
	expected=$(awk -F'\t' -v name="$name" '$1 == name { print $2 }' "$here/expected.tsv")
	mark=
	[ "$result" = fail ] && [ "$expected" = pass ] && { mark=" WORSE"; worse=1; }
	[ "$result" = pass ] && [ "$expected" = fail ] && mark=" better than expected.tsv"
	printf '%s\t%s\t%ds\t%s%s\n' "$result" "$name" $((SECONDS - start)) "$(tail -1 <<<"$detail")" "$mark"
done
exit $worse
