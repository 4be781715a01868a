#!/usr/bin/env python3
"""Makes the captures of this folder again:

    make.py GENX FOLDER [--streams DIR] [--i965 DIR] [NAME...]

Each recipe below is a stream: the arguments with which FFmpeg encodes it, or a file of DIR that a
generator of sim/codecs/tests wrote (the recipe says which). FFmpeg plays it with a VA-API driver on
the model (`GENX shim --capture`). The submissions of the video engine and the memory that the
driver wrote go to FOLDER/NAME.txt; capture.rs describes the format. The expected frames are those
of FFmpeg's software decoder. --i965 names the folder of that driver if it is not installed.
"""
import argparse, base64, glob, hashlib, json, os, shutil, subprocess, tempfile

MANDELBROT = '-f lavfi -i mandelbrot=s={size}:r=25:start_scale=1:end_scale=0.05:end_pts=6'
NOISE = '-f lavfi -i testsrc2=s={size}:r=25 -vf noise=alls=20:allf=t'
FADE = '-f lavfi -i mandelbrot=s={size}:r=25:start_scale=1:end_scale=0.5:end_pts=6 -vf fade=in:0:5'
X264 = '-pix_fmt yuv420p -c:v libx264 -threads 1 -bsf:v filter_units=remove_types=6 -x264-params '
MPEG2 = '-pix_fmt yuv420p -c:v mpeg2video -threads 1 -bitexact '
VP8 = '-pix_fmt yuv420p -c:v libvpx -threads 1 -auto-alt-ref 0 '
JPEG = '-c:v mjpeg -frames:v 1 -threads 1 -bitexact '
INTERLACED = ',tinterlace=interleave_top'


def x264(source, size, frames, options):
    return f'{source.format(size=size)} -frames:v {frames} {X264}{options}:keyint=99:scenecut=0'


# Name: driver, kind, end of the stream's name, text, arguments, and how many frames are wanted if
# not all. `exact`: the frames are equal; `luma`: only their luma is; `near`: the inverse transforms
# may round in other ways.
RECIPES = {
    'avc_cavlc': (
        'i965', 'exact', '264', 'Baseline: I and P, slices, constrained intra, filter offsets.',
        x264(MANDELBROT, '48x32', 3, 'cabac=0:bframes=0:ref=2:8x8dct=0:weightp=0:slices=2:qp=30'
             ':deblock=1,-1:constrained-intra=1:chroma-qp-offset=3')),
    'avc_spatial': (
        'i965', 'exact', '264', 'Main: CABAC, B pictures with spatial direct prediction.',
        x264(MANDELBROT, '48x32', 4, 'bframes=2:b-adapt=0:ref=2:8x8dct=0:weightp=0:qp=30'
             ':direct=spatial:weightb=0')),
    'avc_temporal': (
        'iHD', 'exact', '264', 'High: 8x8 transforms, matrices, B pictures with temporal direct '
        'prediction and implicit weights.',
        x264(MANDELBROT, '48x32', 4, 'bframes=2:b-adapt=0:ref=2:8x8dct=1:weightp=0:qp=28:cqm=jvt'
             ':direct=temporal:weightb=1')),
    'avc_weights': (
        'i965', 'exact', '264', 'Explicit weights of P pictures.',
        x264(FADE, '48x32', 4, 'bframes=0:ref=2:weightp=2:qp=28')),
    'avc_mbaff': (
        'i965', 'exact', '264', 'Frames of field and frame macroblocks, CABAC, cropped.',
        x264(NOISE + INTERLACED, '40x48', 4, 'tff=1:bframes=1:b-adapt=0:ref=2:weightp=0:qp=36'
             ':direct=temporal:weightb=1')),
    'avc_mbaff_cavlc': (
        'iHD', 'exact', '264', 'Frames of field and frame macroblocks, CAVLC, spatial direct '
        'prediction.',
        x264(NOISE + INTERLACED, '32x64', 4, 'cabac=0:bff=1:bframes=1:b-adapt=0:ref=2:weightp=0'
             ':qp=38:direct=spatial')),
    'avc_mono': (
        'i965', 'luma', '264', 'Luma only.',
        NOISE.format(size='32x32') + ' -frames:v 2 ' + X264.replace('yuv420p', 'gray')
        + 'bframes=0:qp=34:keyint=99'),
    'mpeg2_frames': (
        'i965', 'near', 'm2v', 'Progressive I, P and B pictures.',
        MANDELBROT.format(size='32x32') + ' -frames:v 3 ' + MPEG2 + '-bf 1 -g 9 -q:v 6'),
    'mpeg2_interlaced': (
        'iHD', 'near', 'm2v', 'Interlaced frames: field prediction, alternate scan, table B.15, '
        'nonlinear quantisers, finer DC.',
        NOISE.format(size='32x32') + INTERLACED + ' -frames:v 3 ' + MPEG2
        + '-flags +ilme+ildct -alternate_scan 1 -intra_vlc 1 -non_linear_quant 1 -qmax 28 -dc 10 '
        '-bf 1 -g 9 -q:v 12'),
    'vp8_inter': (
        'i965', 'exact', 'ivf', 'A key frame and inter frames, partitions.',
        MANDELBROT.format(size='48x32') + ' -frames:v 3 ' + VP8
        + '-b:v 60k -slices 2 -sharpness 2'),
    'vp8_partitions': (
        'i965', 'exact', 'ivf', 'Eight partitions.',
        MANDELBROT.format(size='16x128') + ' -frames:v 2 ' + VP8 + '-b:v 60k -slices 8'),
    'jpeg_420': (
        'i965', 'near', 'jpg', '4:2:0.',
        NOISE.format(size='40x32') + ' -pix_fmt yuvj420p ' + JPEG + '-q:v 8'),
    'jpeg_random_5': (
        'i965', 'near', 'jpg', '4:4:0, restarts.',
        'generated: cargo test -p genxml-codecs jpeg::random::random_files, seed 5'),
    'jpeg_random_6': (
        'i965', 'near', 'jpg', '4:2:2, restarts.',
        'generated: cargo test -p genxml-codecs jpeg::random::random_files, seed 6'),
    'jpeg_random_8': (
        'i965', 'near', 'jpg', 'Luma only.',
        'generated: cargo test -p genxml-codecs jpeg::random::random_files, seed 8'),
    'jpeg_random_9': (
        'i965', 'near', 'jpg', '4:2:2, restarts.',
        'generated: cargo test -p genxml-codecs jpeg::random::random_files, seed 9'),
    'avc_random_1': (
        'i965', 'exact', '264', 'Fields and frames of field macroblocks, all weights.',
        'generated: AVC_SEED=1 cargo test -p genxml-codecs avc::random'),
    'avc_random_8': (
        'i965', 'luma', '264', 'Luma only, B pictures, implicit weights.',
        'generated: AVC_SEED=8 cargo test -p genxml-codecs avc::random'),
    'avc_random_29': (
        'i965', 'exact', '264', 'Fields, temporal direct prediction.',
        'generated: AVC_SEED=29 cargo test -p genxml-codecs avc::random'),
    'avc_random_31': (
        'i965', 'exact', '264', 'Fields, implicit weights.',
        'generated: AVC_SEED=31 cargo test -p genxml-codecs avc::random'),
    'avc_random_39': (
        'i965', 'exact', '264', 'Fields, explicit weights.',
        'generated: AVC_SEED=39 cargo test -p genxml-codecs avc::random'),
    'avc_random_48': (
        'i965', 'exact', '264', 'Fields and frames of field macroblocks, weights of B slices.',
        'generated: AVC_SEED=48 cargo test -p genxml-codecs avc::random'),
    'avc_random_56': (
        'i965', 'exact', '264', 'Fields, CAVLC, implicit weights.',
        'generated: AVC_SEED=56 cargo test -p genxml-codecs avc::random'),
    'avc_random_58': (
        'i965', 'exact', '264', 'Frames, CAVLC, explicit weights of B slices.',
        'generated: AVC_SEED=58 cargo test -p genxml-codecs avc::random'),
    'mpeg2_random_0': (
        'i965', 'near', 'm2v', 'Fields and frames, all predictions.',
        'generated: cargo test -p genxml-codecs mpeg2::generated, seed 0', 2),
    'mpeg2_random_5': (
        'i965', 'near', 'm2v', 'Fields and frames, all predictions.',
        'generated: cargo test -p genxml-codecs mpeg2::generated, seed 5', 2),
    'mpeg2_random_20': (
        'i965', 'near', 'm2v', 'Fields and frames, all predictions.',
        'generated: cargo test -p genxml-codecs mpeg2::generated, seed 20', 3),
    'vp8_random_0': (
        'i965', 'exact', 'ivf', 'Segments, which later frames keep; both filters.',
        'generated: cargo test -p genxml-codecs vp8::generator, seed 0', 5),
    'vp8_random_2': (
        'iHD', 'exact', 'ivf', 'Segments, filters.',
        'generated: cargo test -p genxml-codecs vp8::generator, seed 2', 6),
    'vp8_random_5': (
        'i965', 'exact', 'ivf', 'Key frames with segments.',
        'generated: cargo test -p genxml-codecs vp8::generator, seed 5', 4),
    'vp8_random_4': (
        'i965', 'exact', 'ivf', 'Version 3: bilinear filters, whole samples of chroma.',
        'generated: cargo test -p genxml-codecs vp8::generator, seed 4', 2),
    'vc1_frames': (
        'i965', 'exact', 'vc1', 'Interlaced frames, a B picture.',
        'generated: cargo test -p genxml-codecs vc1::compare::interlaced, B, seed 8', 3),
    'vc1_fields': (
        'i965', 'exact', 'vc1', 'Fields, B fields.',
        'generated: cargo test -p genxml-codecs vc1::compare::fields, B, seed 18', 3),
    'vc1_simple': (
        'i965', 'exact', 'rcv', 'Simple profile.',
        'generated: cargo test -p genxml-codecs vc1::simple, seed 8', 3),
    'vc1_main': (
        'i965', 'exact', 'rcv', 'Main profile with B pictures.',
        'generated: cargo test -p genxml-codecs vc1::main, B, seed 8', 4),
    'vc1_main_b': (
        'i965', 'exact', 'rcv', 'Main profile with B pictures.',
        'generated: cargo test -p genxml-codecs vc1::main, B, seed 0', 3),
    'vc1_advanced': (
        'i965', 'exact', 'vc1', 'Advanced profile.',
        'generated: cargo test -p genxml-codecs vc1::advanced, seed 8', 3),
    'vc1_advanced_b': (
        'i965', 'exact', 'vc1', 'Advanced profile with B pictures.',
        'generated: cargo test -p genxml-codecs vc1::advanced, B, seed 0', 3),
}


def run(words, **options):
    return subprocess.run(words, check=True, capture_output=True, **options).stdout


def encode(name, arguments, end, streams, work):
    """The file of a stream."""
    if arguments.startswith('generated:'):
        return os.path.join(streams, f'{name}.{end}')
    path = os.path.join(work, f'{name}.{end}')
    run(['ffmpeg', '-v', 'error', '-nostdin', '-y', *arguments.split(), path])
    return path


def software(path, end, limit):
    """Size and planes of FFmpeg's frames, in the order of decoding: rows, width, bytes."""
    probe = json.loads(run(['ffprobe', '-v', 'error', '-show_frames', '-of', 'json', path]))
    frames = probe['frames'][:int(limit[-1]) if limit else None]
    form = frames[0]['pix_fmt']
    # Vector code of FFmpeg keeps less bits of intermediate values than H.264 and VC-1 allow. Its
    # inverse transform "faani" is the nearest to the exact one.
    transform = ['-flags', 'bitexact', '-idct', 'faani'] if end == 'm2v' else []
    data = run(['ffmpeg', '-v', 'error', '-nostdin', '-cpuflags', '0', *transform, '-threads', '1',
                '-i', path, '-map', '0:v:0', '-fps_mode', 'passthrough', *limit, '-f', 'rawvideo',
                '-pix_fmt', form, '-'])
    width, height = frames[0]['width'], frames[0]['height']
    half = [(w + 1) // 2 for w in (width, height)]
    chroma = {'420': [(half[0], half[1])] * 2, '422': [(half[0], height)] * 2,
              '444': [(width, height)] * 2, '440': [(width, half[1])] * 2, 'gray': []}
    planes = [(width, height)] + chroma[form.replace('yuv', '').strip('jp')]
    size = sum(w * h for w, h in planes)
    assert len(data) == size * len(frames), (len(data), size, len(frames))
    if end != 'jpg' and len(planes) == 3:
        # The chroma samples alternate.
        planes[1:] = [(2 * half[0], half[1])]
        luma, both = width * height, bytearray(data)
        for start in range(0, len(data), size):
            part = (size - luma) // 2
            for plane in range(2):
                from_ = start + luma + plane * part
                both[start + luma + plane:start + size:2] = data[from_:from_ + part]
        data = bytes(both)
    order = sorted(range(len(frames)), key=lambda at: int(frames[at]['coded_picture_number']))
    return planes, [data[at * size:(at + 1) * size] for at in order]


def packets(read, address):
    """The packets of a batch as dwords."""
    back = []
    for _ in range(10000):
        header = read(address, 1)[0]
        kind, operation = header >> 29, header >> 23 & 0x3f
        if kind == 0:
            mask = 0x3f if operation == 0x26 else 0xff  # MI_FLUSH_DW
            length = 1 if operation < 0x10 else (header & mask) + 2
        else:
            length = (header & 0xfff) + 2
        dwords = read(address, length)
        yield dwords
        address += 4 * length
        if kind == 0 and operation == 0xa:  # MI_BATCH_BUFFER_END
            if not back:
                return
            address = back.pop()
        if kind == 0 and operation == 0x31:  # MI_BATCH_BUFFER_START
            if header >> 22 & 1:
                back.append(address)
            address = dwords[1] & ~3 | dwords[2] << 32
    raise ValueError('no end of the batch')


def target(read, address):
    """Address, pitch and rows of chroma of the picture that a batch writes, and its parity."""
    mode = surface = buffers = None
    parity = 'frame'
    for dwords in packets(read, address):
        name = dwords[0] >> 16
        if name == 0x7000:
            mode = dwords
        elif name == 0x7001 and dwords[1] & 15 == 0:
            surface = dwords
        elif name == 0x7002:
            buffers = dwords
        elif name == 0x7100:  # MFX_AVC_IMG_STATE
            parity = {0: 'frame', 1: 'top', 3: 'bottom'}[dwords[3] >> 8 & 3]
        elif name == 0x7300:  # MFX_MPEG2_PIC_STATE
            parity = {1: 'top', 2: 'bottom', 3: 'frame'}[dwords[1] >> 12 & 3]
        elif name == 0x7221:  # MFD_VC1_LONG_PIC_STATE
            order = {2: ['top', 'bottom'], 3: ['bottom', 'top']}.get(dwords[3] >> 24 & 3)
            parity = order[dwords[2] >> 3 & 1] if order else 'frame'
    at = 4 if mode[1] >> 9 & 1 else 1
    place = buffers[at] | buffers[at + 1] << 32
    pitch = (surface[3] >> 3 & 0x1ffff) + 1
    assert surface[3] & 3 == 3, 'not Tile-Y'
    return place, pitch, [surface[4] & 0x7fff, surface[5] & 0xffff], parity


class Memory:
    """What the program wrote, by page."""

    def __init__(self):
        self.pages = {}

    def read(self, address, count):
        data = bytearray()
        while len(data) < 4 * count:
            at = address + len(data)
            page = self.pages.get(at >> 12, bytes(4096))
            data += page[at & 4095:(at & 4095) + 4 * count - len(data)]
        return [int.from_bytes(data[at:at + 4], 'little') for at in range(0, 4 * count, 4)]


def text(data):
    return base64.b64encode(data).decode()


def differences(old, new):
    """Ranges in which two pages differ; gaps of a few bytes belong to a range."""
    ranges = []
    for at in range(len(new)):
        if old[at] != new[at]:
            if ranges and at - ranges[-1][1] < 6:
                ranges[-1][1] = at + 1
            else:
                ranges.append([at, at + 1])
    return ranges


def convert(folder):
    """The lines of a capture, and for each submission its target."""
    events = json.load(open(os.path.join(folder, 'manifest.json')))
    data = run(['zstd', '-dc', os.path.join(folder, events['data'])])
    number = lambda value: int(value, 0) if isinstance(value, str) else value
    objects, memory, mapped, runs = {}, Memory(), {}, []
    execs = [e for e in events['events'] if e['type'] in ('exec', 'free')]
    batches = set()
    for event in execs:
        if event['type'] == 'free':
            objects.pop(event['object'], None)
            continue
        lines = []
        for each in event['objects']:
            start, size = number(each['address']), number(each['size'])
            content = objects.setdefault(each['object'], bytearray(size))
            for offset, length, at in each['writes']:
                content[offset:offset + length] = data[at:at + length]
            if event['engine'] != 'video':
                continue
            if start <= number(event['batch_address']) < start + size:
                batches.add(each['object'])
            used = len(content.rstrip(b'\0')) if each['object'] in batches else size
            for at in range(0, max(used, 1), 4096):
                page = start + at >> 12
                mapped[page] = True
                old, new = memory.pages.get(page, bytes(4096)), bytes(content[at:at + 4096])
                new = new.ljust(4096, b'\0')
                if old != new:
                    for low, high in differences(old, new):
                        lines.append(f'put {(page << 12) + low:#x} {text(new[low:high])}')
                    memory.pages[page] = new
        if event['engine'] == 'video':
            address = number(event['batch_address'])
            lines.append(f'run {address:#x}')
            runs.append((lines, target(memory.read, address)))
    maps, last = [], None
    for page in sorted(mapped):
        if last is not None and page == last[1]:
            last[1] += 1
        else:
            last = [page, page + 1]
            maps.append(last)
    return [f'map {a << 12:#x} {b - a << 12:#x}' for a, b in maps], runs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('genx')
    parser.add_argument('folder')
    parser.add_argument('names', nargs='*')
    parser.add_argument('--streams', default='.')
    parser.add_argument('--i965')
    options = parser.parse_intermixed_args()
    for name in options.names or RECIPES:
        recipe = RECIPES[name]
        work = tempfile.mkdtemp()
        try:
            make(options, work, name, *recipe)
        finally:
            shutil.rmtree(work)


def make(options, work, name, driver, kind, end, text, arguments, most=None):
    """Writes a capture with the first `most` frames."""
    path = encode(name, arguments, end, options.streams, work)
    environment = dict(os.environ, LIBVA_DRIVER_NAME=driver)
    if driver == 'i965' and options.i965:
        environment['LIBVA_DRIVERS_PATH'] = options.i965
    # Frames of VP8 come out in the order of decoding. Later ones may have another size.
    limit = ['-frames:v', str(most)] if most and end == 'ivf' else []
    run([options.genx, 'shim', '--capture', work, '--', 'ffmpeg', '-nostdin', '-v', 'error',
         '-threads', '1', '-hwaccel', 'vaapi', '-hwaccel_device', '/dev/dri/renderD128',
         '-hwaccel_output_format', 'vaapi', '-i', path, '-map', '0:v:0',
         '-fps_mode', 'passthrough', *limit, '-f', 'null', '-'], env=environment)
    [folder] = glob.glob(os.path.join(work, 'ffmpeg.*'))
    maps, runs = convert(folder)
    planes, frames = software(path, end, limit)
    lines = [f'# {text}', f'# {driver}: {arguments}', *maps]
    frames, first = iter(frames[:most]), None
    for number, (changes, (address, pitch, rows, parity)) in enumerate(runs):
        lines += changes
        if parity != 'frame' and (first is None or first == (address, parity)):
            first = (address, parity)
            continue
        first = None
        want = next(frames, None)
        if want is None:
            assert most, 'submissions left'
            del lines[len(lines) - len(changes):]
            break
        places = [f'{row}x{width}x{height}' for row, (width, height) in zip([0] + rows, planes)]
        if kind == 'luma':
            places, want = places[:1], want[:planes[0][0] * planes[0][1]]
        if kind != 'near':
            shown = f'md5 {hashlib.md5(want).hexdigest()}'
        else:
            shown = f'near {4 if end == "jpg" else 2} {text(want)}'
        lines.append(f'frame {address:#x} {pitch} {",".join(places)} {shown}')
    assert next(frames, None) is None or most, 'frames left'
    path = os.path.join(options.folder, f'{name}.txt')
    with open(path, 'w') as file:
        file.write('\n'.join(lines) + '\n')
    mapped = sum(int(line.split()[2], 0) for line in maps)
    print(f'{name}: {os.path.getsize(path)} bytes, {len(runs)} submissions, {mapped} bytes mapped')


main()
