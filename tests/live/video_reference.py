#!/usr/bin/env python3
"""Writes what a filter of a VA-API driver makes of raw frames, by a formula for that filter.

    video_reference.py FILTER IN OUT     IN has frames of 320x240 in NV12, those of RGB in rgb0

The filters:
 conversion    NV12 to YUYV by i965. The driver samples chroma like a picture of its own, which has
               half the size and the same edges. Luma at x, y has chroma at x / 2 - 1/4 and
               y / 2 - 1/4, so a sample of YUYV, which is at an even x, is a quarter of a sample to
               the left. The driver's filter is a Lanczos function with three lobes, in 1/64.
 bob           Bob deinterlacing by iHD. The driver makes a surface of the lines of the first field
               and samples it at x + 1/64 and y / 2 + 1/64 with a bilinear filter. Both pixels of a
               pair, and both rows, have the same chroma: the driver takes the mean of two rows for
               a row of NV12.
 mean N        Denoising where a driver's thresholds leave out the previous frame. A pixel of luma
               becomes the mean of those pixels of 3 x 3 that differ from it by less than N. Pixels
               at the edges repeat. Chroma does not change.
 rgb_i965      RGB to NV12 by i965: BT.601 for the full range, with coefficients of three digits, in
               floats of 32 bits. Fractions are cut off. Chroma is that of the pixels at even x and
               even y.
 rgb_ihd       RGB to NV12 by iHD: BT.601 for the limited range. The coefficients are integers, in
               1/128. The sampler returns a byte in the upper half of 16 bits, and 16 is 8 times
               0xffff / 128. Chroma at an even x is the mean of two rows.
"""
import math
import struct
import sys

WIDTH, HEIGHT = 320, 240


def clamp(value, most):
    """The nearest number from 0 to `most`."""
    return min(max(value, 0), most)


def rows(data, width):
    """The rows of a plane."""
    return [data[at:at + width] for at in range(0, len(data), width)]


def lanczos(at):
    """A Lanczos function with three lobes."""
    if at == 0:
        return 1.0
    return 3 * math.sin(math.pi * at) * math.sin(math.pi * at / 3) / (math.pi * at) ** 2


def quarter():
    """The taps of eight samples for a position a quarter after the fourth of them. Their sum is
    1."""
    taps = [lanczos(n - 3.25) if abs(n - 3.25) < 3 else 0.0 for n in range(8)]
    taps = [round(64 * tap / sum(taps)) for tap in taps]
    taps[3] += 64 - sum(taps)
    return [tap / 64 for tap in taps]


def filtered(samples, first, taps):
    """The weighted sum of samples; the samples at the edges repeat."""
    most = len(samples) - 1
    return sum(tap * samples[clamp(first + n, most)] for n, tap in enumerate(taps))


def conversion(luma, chroma):
    """NV12 to YUYV by i965."""
    after, before = quarter(), quarter()[::-1]
    planes = []
    for channel in (0, 1):
        plane = [row[channel::2] for row in chroma]
        plane = [[filtered(row, x - 4, before) for x in range(WIDTH // 2)] for row in plane]
        columns = []
        for column in zip(*plane):
            pairs = [((y - 4, before), (y - 3, after)) for y in range(HEIGHT // 2)]
            columns.append([filtered(column, *place) for pair in pairs for place in pair])
        planes.append(list(zip(*columns)))
    out = bytearray()
    for y, line in enumerate(luma):
        packed = bytearray(2 * WIDTH)
        packed[0::2] = line
        for channel in (0, 1):
            packed[1 + 2 * channel::4] = bytes(
                clamp(math.floor(value + 0.5), 255) for value in planes[channel][y])
        out += packed
    return bytes(out)


def between(one, two, share):
    """The line between two lines; `share` is the part of the second one in 1/64."""
    return [((64 - share) * a + share * b) / 64 for a, b in zip(one, two)]


def rounded(line):
    """A line of bytes."""
    return bytes(math.floor(value + 0.5) for value in line)


def bob(luma, chroma):
    """Bob deinterlacing by iHD."""
    field = [between(line, line[1:] + line[-1:], 1) for line in luma[0::2]]
    out = []
    for y in range(HEIGHT):
        after = field[clamp(y // 2 + 1, HEIGHT // 2 - 1)]
        out.append(rounded(between(field[y // 2], after, 33 if y % 2 else 1)))
    # A line of the field at y / 2 has the chroma of y / 4.
    field = chroma[0::2]
    for y in range(HEIGHT // 2):
        near = [field[clamp((y + n) // 2, HEIGHT // 4 - 1)] for n in (0, 1)]
        out.append(rounded(between(*near, (1 + 33) / 2)))
    return b''.join(out)


def mean(luma, chroma, limit):
    """The mean of neighbours that differ by less than a limit. Hardware multiplies by 2048 / n."""
    out = []
    wide = [line[:1] + line + line[-1:] for line in luma]
    for above, line, below in zip(wide[:1] + wide, wide, wide[1:] + wide[-1:]):
        new = bytearray(WIDTH)
        for x in range(WIDTH):
            area = above[x:x + 3] + line[x:x + 3] + below[x:x + 3]
            good = [value for value in area if abs(value - line[x + 1]) < limit]
            new[x] = (sum(good) + len(good) // 2) * (2048 // len(good)) >> 11
        out.append(bytes(new))
    return b''.join([*out, *chroma])


def nv12(lines, luma, chroma):
    """A frame in NV12 of lines of pixels; `chroma` gets the pixels of two rows at an even x."""
    out = [bytes(map(luma, line)) for line in lines]
    for pair in zip(lines[0::2], lines[1::2]):
        pairs = zip(*(line[0::2] for line in pair))
        out.append(bytes(part for two in pairs for part in chroma(*two)))
    return b''.join(out)


def single(value):
    """The nearest float of 32 bits."""
    return struct.unpack('f', struct.pack('f', value))[0]


def rgb_i965(lines):
    """RGB to NV12 by i965."""
    def product(pixel, weights, total):
        for part, weight in zip(pixel, map(single, weights)):
            total = single(total + single(part * weight))
        return math.floor(total)

    def luma(pixel):
        return product(pixel, (0.299, 0.587, 0.114), 0)

    def chroma(pixel, _):
        return (product(pixel, (-0.169, -0.331, 0.499), 128),
                product(pixel, (0.499, -0.418, -0.0813), 128))
    return nv12(lines, luma, chroma)


def rgb_ihd(lines):
    """RGB to NV12 by iHD."""
    def product(pixel, weights, offset):
        total = sum(256 * part * weight for part, weight in zip(pixel, weights))
        return clamp((total + 0xffff * offset) >> 7, 0xffff)

    def byte(value):
        return min(value + 0x80, 0xffff) >> 8

    def luma(pixel):
        return byte(product(pixel, (33, 65, 13), 8))

    def chroma(*pair):
        return [byte(sum(product(pixel, weights, 64) // 2 for pixel in pair))
                for weights in ((-19, -37, 56), (56, -47, -9))]
    return nv12(lines, luma, chroma)


def main():
    filters = {'conversion': (conversion, 4), 'bob': (bob, 4), 'mean': (mean, 5),
               'rgb_i965': (rgb_i965, 4), 'rgb_ihd': (rgb_ihd, 4)}
    name = sys.argv[1] if len(sys.argv) > 1 else ''
    if name not in filters or len(sys.argv) != filters[name][1]:
        print(__doc__, file=sys.stderr)
        return 2
    options = [int(word) for word in sys.argv[2:-2]]
    with open(sys.argv[-2], 'rb') as file:
        data = file.read()
    rgb = name.startswith('rgb')
    size = WIDTH * HEIGHT * 4 if rgb else WIDTH * HEIGHT * 3 // 2
    with open(sys.argv[-1], 'wb') as file:
        for at in range(0, len(data), size):
            frame = data[at:at + size]
            if rgb:
                lines = [[line[x:x + 3] for x in range(0, len(line), 4)]
                         for line in rows(frame, 4 * WIDTH)]
                file.write(filters[name][0](lines))
                continue
            lines = rows(frame, WIDTH)
            file.write(filters[name][0](lines[:HEIGHT], lines[HEIGHT:], *options))
    return 0


if __name__ == '__main__':
    sys.exit(main())
