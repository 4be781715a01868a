#!/usr/bin/env python3
"""Encodes small clips with a VA-API driver on the model, and judges the streams.

    video_encode.py DRIVER [CASE...]      DRIVER is i965 or iHD; without CASE, all cases run

Each clip is encoded under `genx shim --capture`. Then:
 decode    FFmpeg's software decoder decodes the stream without a message, and finds all frames.
 surfaces  `genx run --observe frame` plays the capture: each picture that the encoder reconstructs
           has the samples of FFmpeg's frame. AVC must be exact. MPEG-2 may differ as much as two
           transforms that obey IEEE 1180, from picture to picture until the next I picture.
 quality   The PSNR is at most 2 dB below that of a software encoder with the same quantiser: x264
           ultrafast, or FFmpeg's MPEG-2 encoder.
 shift     The second frame is the decoded first frame, shifted by whole pixels. Its decode is the
           first frame's decode, shifted by as many: the vectors are exact, nothing else is coded.
 rate      With a constant bit rate, the driver selects a quantiser for each macroblock. FFmpeg
           reads them from the stream. The PSNR of each frame is at most 2 dB below that of x264
           ultrafast in the same frame with the frame's mean quantiser. So where the PSNR falls
           from frame to frame, the quantisers of the driver are the reason.

Exit code: 0 all is well, 1 a check fails, 2 wrong usage, 77 the driver cannot encode (its kernels
are not free).
Set GENX to the path of genx. FFmpeg 5 and Python 3 are needed.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GENX = os.environ.get('GENX', os.path.join(HERE, '../../target/release/genx'))
DEVICE = '/dev/dri/renderD128'
SKIP = 77
WIDTH, HEIGHT = 176, 144
# Equal quantisers for all types of pictures.
EQUAL = ['-i_qfactor', '1', '-i_qoffset', '0', '-b_qfactor', '1', '-b_qoffset', '0']
X264 = ['libx264', '-preset', 'ultrafast', '-x264-params', 'ipratio=1:pbratio=1', '-f', 'h264']

# name: codec, source, frames, quantiser, options of the VA-API encoder, options of the software one
CASES = {
    'avc-i': ('h264', 'testsrc2', 3, 26, '-g 1', '-g 1'),
    'avc-cavlc': ('h264', 'testsrc2', 6, 26, '-g 6 -bf 0 -coder cavlc', '-g 6'),
    'avc-cabac': ('h264', 'testsrc2', 6, 22, '-g 6 -bf 0 -coder cabac', '-g 6'),
    'avc-coarse': ('h264', 'mandelbrot', 6, 36, '-g 6 -bf 0', '-g 6'),
    'avc-b': ('h264', 'mandelbrot', 9, 26, '-g 9 -bf 2', '-g 9 -bf 2'),
    'avc-main': ('h264', 'testsrc2', 7, 26, '-profile:v main -g 7 -bf 2', '-g 7 -bf 2'),
    'avc-slices': ('h264', 'testsrc2', 4, 26, '-g 4 -bf 0 -slices 3', '-g 4'),
    'mpeg2-i': ('mpeg2', 'testsrc2', 3, 4, '-g 1 -bf 0', '-g 1'),
    'mpeg2-p': ('mpeg2', 'testsrc2', 6, 6, '-g 6 -bf 0', '-g 6'),
    'mpeg2-b': ('mpeg2', 'mandelbrot', 7, 6, '-g 7 -bf 2', '-g 7 -bf 2'),
}
# name: source, frames, options of the VA-API encoder, options of the software one
RATES = {'avc-cbr': ('testsrc2', 12, '-rc_mode CBR -b:v 300k -maxrate 300k -g 12 -bf 0', '-g 12')}
SHIFTS = {'avc-shift': ('h264', 20), 'mpeg2-shift': ('mpeg2', 4)}
OFFSETS = [(5, -3), (-8, 0), (1, 7), (-12, -9)]
FRAME = WIDTH * HEIGHT * 3 // 2
RAW_OUTPUT = ['-pix_fmt', 'yuv420p', '-f', 'rawvideo', '-']
# Luma samples at the edges that are not compared after a shift.
MARGIN = 32


# What FFmpeg or the driver prints if the driver has no kernels for encoding: iHD; i965.
NO_KERNELS = ['No usable encoding profile', 'No usable encoding entrypoint',
              'VAProfile is not supported', "Assertion `encoder_context->mfc_context' failed"]


class Failure(Exception):
    """A check failed."""


class Unsupported(Exception):
    """The driver cannot encode."""


def ffmpeg(*arguments, data=None):
    """Runs FFmpeg. Returns its output and its messages."""
    command = ['ffmpeg', '-hide_banner', '-v', 'error', *arguments]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    return done.stdout, done.stderr.decode(errors='replace').strip()


def raw(file='-'):
    """The options of raw frames as input."""
    return [*'-f rawvideo -pix_fmt yuv420p -r 25 -s'.split(), f'{WIDTH}x{HEIGHT}', '-i', file]


def clip(source, frames):
    """Frames of a source of FFmpeg, as bytes of planar 4:2:0."""
    source = f'{source}=size={WIDTH}x{HEIGHT}:rate=25'
    return ffmpeg('-nostdin', '-f', 'lavfi', '-i', source, '-frames:v', str(frames), *RAW_OUTPUT)[0]


def texture():
    """A frame without flat or repeated parts, so that only one vector fits."""
    noise = 'noise=all_seed=7:alls=100,gblur=sigma=4,eq=contrast=4'
    source = f'color=gray:size={WIDTH}x{HEIGHT},{noise}'
    return ffmpeg('-nostdin', '-f', 'lavfi', '-i', source, '-frames:v', '1', *RAW_OUTPUT)[0]


def quantiser(codec, value):
    """The options of a VA-API encoder for a constant quantiser."""
    value = ['-qp', str(value), *EQUAL] if codec == 'h264' else ['-global_quality', str(value)]
    return ['-rc_mode', 'CQP', *value]


def encode(driver, codec, source, options, work):
    """Encodes frames on the model. Returns the stream; the capture is in the folder `captures`."""
    stream = os.path.join(work, 'coded.' + codec)
    form = 'h264' if codec == 'h264' else 'mpeg2video'
    with open(os.path.join(work, 'source.yuv'), 'wb') as file:
        file.write(source)
    command = [
        GENX, 'shim', '--errors', work, '--capture', os.path.join(work, 'captures'), '--',
        'ffmpeg', '-hide_banner', '-nostdin', '-v', 'error', '-vaapi_device', DEVICE,
        *raw(file.name),
        '-vf', 'format=nv12,hwupload', '-c:v', codec + '_vaapi', *options, '-f', form, '-y', stream,
    ]
    environment = dict(os.environ, LIBVA_DRIVER_NAME=driver)
    done = subprocess.run(command, capture_output=True, env=environment, timeout=600, check=False)
    log = done.stderr.decode(errors='replace')
    if any(words in log for words in NO_KERNELS):
        raise Unsupported("the driver's non-free kernels are not installed")
    for line in log.splitlines():
        if re.match(r'genx shim: .*(submission( \d+)?:|panicked|not implemented)', line):
            raise Failure(line)
    if done.returncode:
        raise Failure(f'exit code {done.returncode}: {(log.splitlines() or [""])[-1]}')
    with open(stream, 'rb') as file:
        return file.read()


def decode(codec, stream, frames, quiet=True):
    """The frames of a stream in output order, and their numbers in coding order."""
    form = 'h264' if codec == 'h264' else 'mpegvideo'
    options = [] if codec == 'h264' else ['-flags', 'bitexact', '-idct', 'faani']
    # With --cpuflags 0 the decoder has no shortcuts that depend on the machine.
    strict = ['-cpuflags', '0', '-err_detect', 'explode', *options]
    output = ['-fps_mode', 'passthrough', *RAW_OUTPUT]
    data, messages = ffmpeg(*strict, '-f', form, '-i', '-', *output, data=stream)
    if quiet and messages:
        raise Failure('decoder: ' + messages.splitlines()[0])
    if len(data) != frames * FRAME:
        raise Failure(f'{len(data) / FRAME:.1f} frames for {frames}')
    return [data[at:at + FRAME] for at in range(0, len(data), FRAME)]


def coding_order(codec, stream):
    """For each frame in output order, its position in coding order."""
    form = 'h264' if codec == 'h264' else 'mpegvideo'
    show = '-show_entries frame=coded_picture_number -of csv=p=0'
    command = ['ffprobe', '-v', 'error', '-f', form, *show.split(), '-']
    done = subprocess.run(command, input=stream, capture_output=True, check=True)
    numbers = [int(line.strip(',')) for line in done.stdout.decode().split()]
    ranks = sorted(numbers)
    return [ranks.index(number) for number in numbers]


def difference(a, b):
    """The largest difference, and the mean of the squares."""
    if a == b:
        return 0, 0.0
    pairs = [abs(x - y) for x, y in zip(a, b)]
    return max(pairs), sum(pair * pair for pair in pairs) / len(pairs)


def psnr(frames, source):
    """PSNR of all frames together, in dB."""
    originals = [source[at:at + FRAME] for at in range(0, len(source), FRAME)]
    total = sum(difference(*pair)[1] for pair in zip(frames, originals))
    return 99.0 if total == 0 else 10 * math.log10(255 * 255 * len(frames) / total)


def reconstructed(work):
    """The pictures that the encoder reconstructs, in coding order: type and samples."""
    captures = os.path.join(work, 'captures')
    [capture] = os.listdir(captures)
    out = os.path.join(work, 'pictures')
    options = ['--observe', 'frame', '--dump', out, '--json']
    command = [GENX, 'run', os.path.join(captures, capture), *options]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        raise Failure('genx run: ' + done.stderr.decode(errors='replace').strip())
    pictures = []
    for frame in json.loads(done.stdout)['frames']:
        with open(os.path.join(out, frame['samples']), 'rb') as file:
            samples = file.read()
        pictures.append((frame['type'], crop(samples, 16 * frame['width'], 16 * frame['height'])))
    return pictures


def crop(samples, width, height):
    """Leaves out what whole macroblocks have beyond the picture."""
    rows, at = [], 0
    for unit in (1, 2, 2):
        pitch = width // unit
        rows += [samples[at + y * pitch:][:WIDTH // unit] for y in range(HEIGHT // unit)]
        at += pitch * (height // unit)
    return b''.join(rows)


def check_surfaces(codec, stream, frames, work):
    """Compares the reconstructed pictures with the decoded frames. Returns a text."""
    pictures = reconstructed(work)
    if len(pictures) != len(frames):
        raise Failure(f'{len(pictures)} pictures are reconstructed for {len(frames)} frames')
    worst, drift = 0, 0
    by_coding = sorted(zip(coding_order(codec, stream), range(len(frames))))
    for (kind, samples), (_, shown) in zip(pictures, by_coding):
        most, square = difference(samples, frames[shown])
        # Each transform adds at most 1, and a mean square of 0.06 (IEEE 1180) in the worst block.
        drift = 1 if kind == 'I' else drift + 1
        limit = 0 if codec == 'h264' else drift
        if most > limit or square > 0.06 * limit:
            raise Failure(f'frame {shown} ({kind}) differs by {most}, mean square {square:.3f}')
        worst = max(worst, most)
    kinds = ''.join(kind for kind, _ in pictures)
    return f'{kinds}: ' + ('equal' if worst == 0 else f'within {worst}')


def software(codec, source, value, options):
    """Encodes frames in software with the same quantiser."""
    if codec == 'h264':
        coder = ['-c:v', *X264, '-qp', str(value)]
    else:
        coder = ['-c:v', 'mpeg2video', '-f', 'mpeg2video', '-qscale:v', str(value), *EQUAL]
    return ffmpeg(*raw(), *coder, *options.split(), '-', data=source)[0]


def check_case(driver, name, work):
    """Runs a case. Returns a text."""
    codec, source, count, value, options, software_options = CASES[name]
    frames = clip(source, count)
    stream = encode(driver, codec, frames, [*quantiser(codec, value), *options.split()], work)
    decoded = decode(codec, stream, count)
    surfaces = check_surfaces(codec, stream, decoded, work)
    other = software(codec, frames, value, software_options)
    ours, theirs = psnr(decoded, frames), psnr(decode(codec, other, count, quiet=False), frames)
    text = f'surfaces {surfaces}; {ours:.1f} dB in {len(stream)} bytes, ' \
           f'software {theirs:.1f} dB in {len(other)} bytes'
    if ours < theirs - 2:
        raise Failure('PSNR: ' + text)
    return text


def quantisers(stream, frames):
    """The quantisers of the macroblocks of each frame, as FFmpeg's decoder lists them."""
    command = ['ffmpeg', '-v', 'debug', '-threads', '1', '-debug', 'qp', '-f', 'h264', '-i', '-',
               '-f', 'null', '-']
    done = subprocess.run(command, input=stream, capture_output=True, check=True)
    columns, lists = WIDTH // 16, []
    for line in done.stderr.decode(errors='replace').splitlines():
        text = re.sub(r'^\[h264 @ \w+\] ', '', line)
        if text.startswith('New frame'):
            lists.append([])
        elif lists and re.fullmatch(f'([ 0-9][0-9]){{{columns}}}', text):
            lists[-1] += [int(text[at:at + 2]) for at in range(0, len(text), 2)]
    # FFmpeg decodes the first frames also to find the size.
    lists = lists[-frames:]
    if [len(values) for values in lists] != [columns * (HEIGHT // 16)] * frames:
        raise Failure('FFmpeg does not list the quantisers')
    return lists


def check_rate(driver, name, work):
    """Runs a case with a bit rate. Returns a text."""
    source, count, options, software_options = RATES[name]
    frames = clip(source, count)
    stream = encode(driver, 'h264', frames, options.split(), work)
    decoded = decode('h264', stream, count)
    surfaces = check_surfaces('h264', stream, decoded, work)
    values = [round(sum(values) / len(values)) for values in quantisers(stream, count)]
    others = {}
    for value in set(values):
        other = software('h264', frames, value, software_options)
        others[value] = decode('h264', other, count, quiet=False)
    texts = []
    for number, value in enumerate(values):
        original = frames[number * FRAME:][:FRAME]
        ours, theirs = (psnr([pictures[number]], original) for pictures in (decoded, others[value]))
        texts.append(f'{value}: {ours:.1f} ({theirs:.1f})')
        if ours < theirs - 2:
            raise Failure(f'PSNR of frame {number} by quantiser (software): {texts[-1]}')
    return f'surfaces {surfaces}; dB by quantiser (software) {", ".join(texts)}'


def shifted(frame, x, y):
    """A frame shifted by whole pixels of luma. Rows and columns at the edges repeat."""
    rows, at = [], 0
    for unit in (1, 2, 2):
        width, height, dx, dy = (number // unit for number in (WIDTH, HEIGHT, x, y))
        lines = [frame[at + row * width:][:width] for row in range(height)]
        for row in range(height):
            line = lines[min(max(row - dy, 0), height - 1)]
            rows.append(bytes(line[min(max(column - dx, 0), width - 1)] for column in range(width)))
        at += width * height
    return b''.join(rows)


def check_shift(driver, name, work):
    """Runs a case of a shifted frame for each offset. Returns a text."""
    codec, value = SHIFTS[name]
    options = [*quantiser(codec, value), '-g', '2', '-bf', '0']
    texts = []
    for number, (x, y) in enumerate(OFFSETS):
        folder = os.path.join(work, str(number))
        os.makedirs(folder)
        first = texture()
        [alone] = decode(codec, encode(driver, codec, first, options, folder), 1)
        source = first + shifted(alone, x, y)
        one, two = decode(codec, encode(driver, codec, source, options, folder), 2)
        if one != alone:
            raise Failure('the first frame depends on the second one')
        wrong, start = 0, 0
        for unit in (1, 2, 2):
            width, height, dx, dy, edge = (n // unit for n in (WIDTH, HEIGHT, x, y, MARGIN))
            # By an odd number, chroma would be between two samples.
            rows = range(edge, height - edge) if x % unit == y % unit == 0 else []
            for row in rows:
                want = one[start + (row - dy) * width + edge - dx:][:width - 2 * edge]
                got = two[start + row * width + edge:][:width - 2 * edge]
                wrong += sum(a != b for a, b in zip(got, want))
            start += width * height
        texts.append(f'{x},{y}')
        if wrong:
            raise Failure(f'shift by {x}, {y}: {wrong} samples inside differ')
    return 'exact for ' + ' '.join(texts)


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ('i965', 'iHD'):
        print(__doc__, file=sys.stderr)
        return 2
    driver, names = sys.argv[1], sys.argv[2:] or [*CASES, *RATES, *SHIFTS]
    checks = {name: check
              for check, part in ((check_case, CASES), (check_rate, RATES), (check_shift, SHIFTS))
              for name in part}
    unknown = [name for name in names if name not in checks]
    if unknown or not os.access(GENX, os.X_OK):
        what = f'case {unknown[0]}' if unknown else f'genx at {GENX}'
        print(f'video_encode.py: there is no {what}', file=sys.stderr)
        return 2
    failed = 0
    for name in names:
        with tempfile.TemporaryDirectory(prefix='video_encode_') as work:
            try:
                text = checks[name](driver, name, work)
                print(f'ok    {driver} {name}: {text}', flush=True)
            except Unsupported as error:
                print(error)
                return SKIP
            except Failure as error:
                failed += 1
                print(f'wrong {driver} {name}: {error}', flush=True)
    print(f'{len(names) - failed} of {len(names)} cases with {driver}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
