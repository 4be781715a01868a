//! BC6H: red, green and blue as half precision floats, with one or two pairs of endpoints. There
//! are fourteen modes, which differ in the bits of the endpoints.

use super::super::convert;
use super::super::value::Value;
use super::bptc::{Indices, Partition, interpolate};
use super::texels::{Block, ONE};

/// A mode: the number of bits of the endpoints, and their positions. The endpoints are called w, x,
/// y and z. The first subset has w and x, the second has y and z.
struct Mode {
    /// The lowest two or five bits of the block.
    code: u32,
    /// Number of subsets. Each has a pair of endpoints.
    subsets: u32,
    /// True if the other endpoints are signed differences to endpoint w.
    deltas: bool,
    /// Bits of each channel of endpoint w.
    base: u32,
    /// Bits of red, green and blue of the other endpoints.
    others: [u32; 3],
    /// Positions of the bits of the endpoints, which follow the bits of the mode.
    runs: [Run; MOST_RUNS],
}

/// Contiguous bits of a channel of an endpoint, in one half of the block.
#[derive(Clone, Copy)]
struct Run {
    /// Channel of an endpoint: 3 * endpoint + channel, with endpoint w = 0, x = 1, y = 2, z = 3.
    end: u8,
    /// Lowest bit of the run in the channel.
    low: u8,
    /// Lowest bit of the run in the block.
    at: u8,
    /// Mask with a set bit for each bit of the run.
    mask: u16,
}

const MOST_RUNS: usize = 25;

/// Makes a row of the table. `row` has the code, the number of subsets, the bits of endpoint w, and
/// the bits of red, green and blue of the other endpoints. `layout` has the runs in the order of
/// the block: channel, endpoint, and the lowest and the highest bit, or a single bit.
const fn mode(row: [u32; 6], layout: &str) -> Mode {
    let [code, subsets, base, red, green, blue] = row;
    // The two modes whose endpoints all have the same number of bits have no differences.
    let deltas = base != red;
    Mode {
        code,
        subsets,
        deltas,
        base,
        others: [red, green, blue],
        runs: runs(layout.as_bytes(), if code < 2 { 2 } else { 5 }),
    }
}

const fn runs(layout: &[u8], mut place: u8) -> [Run; MOST_RUNS] {
    let mut runs = [Run { end: 0, low: 0, at: 0, mask: 0 }; MOST_RUNS];
    let (mut at, mut count) = (0, 0);
    while at < layout.len() {
        let channel = match layout[at] {
            b'r' => 0,
            b'g' => 1,
            b'b' => 2,
            _ => panic!("no channel"),
        };
        let end = layout[at + 1] - b'w';
        assert!(end < 4, "no end");
        let (mut low, next) = number(layout, at + 2);
        let (high, next) = if next < layout.len() && layout[next] == b'-' {
            number(layout, next + 1)
        } else {
            (low, next)
        };
        while low <= high {
            let mut length = high - low + 1;
            if place < 64 && place + length > 64 {
                length = 64 - place;
            }
            runs[count] = Run { end: 3 * end + channel, low, at: place, mask: (1 << length) - 1 };
            count += 1;
            low += length;
            place += length;
        }
        at = next + 1;
    }
    runs
}

/// Parses a number at position `at`. Returns the number and the position after it.
const fn number(text: &[u8], mut at: usize) -> (u8, usize) {
    let mut number = 0;
    while at < text.len() && text[at].is_ascii_digit() {
        number = 10 * number + text[at] - b'0';
        at += 1;
    }
    (number, at)
}

/// All modes that are not reserved (Direct3D 11, BC6H format, table of modes).
static MODES: [Mode; 14] = [
    mode(
        [0x00, 2, 10, 5, 5, 5],
        "gy4 by4 bz4 rw0-9 gw0-9 bw0-9 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 rz0-4 \
         bz3",
    ),
    mode(
        [0x01, 2, 7, 6, 6, 6],
        "gy5 gz4 gz5 rw0-6 bz0 bz1 by4 gw0-6 by5 bz2 gy4 bw0-6 bz3 bz5 bz4 rx0-5 gy0-3 gx0-5 gz0-3 bx0-5 \
         by0-3 ry0-5 rz0-5",
    ),
    mode(
        [0x02, 2, 11, 5, 4, 4],
        "rw0-9 gw0-9 bw0-9 rx0-4 rw10 gy0-3 gx0-3 gw10 bz0 gz0-3 bx0-3 bw10 bz1 by0-3 ry0-4 bz2 rz0-4 \
         bz3",
    ),
    mode(
        [0x06, 2, 11, 4, 5, 4],
        "rw0-9 gw0-9 bw0-9 rx0-3 rw10 gz4 gy0-3 gx0-4 gw10 gz0-3 bx0-3 bw10 bz1 by0-3 ry0-3 bz0 bz2 \
         rz0-3 gy4 bz3",
    ),
    mode(
        [0x0a, 2, 11, 4, 4, 5],
        "rw0-9 gw0-9 bw0-9 rx0-3 rw10 by4 gy0-3 gx0-3 gw10 bz0 gz0-3 bx0-4 bw10 by0-3 ry0-3 bz1 bz2 \
         rz0-3 bz4 bz3",
    ),
    mode(
        [0x0e, 2, 9, 5, 5, 5],
        "rw0-8 by4 gw0-8 gy4 bw0-8 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 rz0-4 \
         bz3",
    ),
    mode(
        [0x12, 2, 8, 6, 5, 5],
        "rw0-7 gz4 by4 gw0-7 bz2 gy4 bw0-7 bz3 bz4 rx0-5 gy0-3 gx0-4 bz0 gz0-3 bx0-4 bz1 by0-3 ry0-5 \
         rz0-5",
    ),
    mode(
        [0x16, 2, 8, 5, 6, 5],
        "rw0-7 bz0 by4 gw0-7 gy5 gy4 bw0-7 gz5 bz4 rx0-4 gz4 gy0-3 gx0-5 gz0-3 bx0-4 bz1 by0-3 ry0-4 bz2 \
         rz0-4 bz3",
    ),
    mode(
        [0x1a, 2, 8, 5, 5, 6],
        "rw0-7 bz1 by4 gw0-7 by5 gy4 bw0-7 bz5 bz4 rx0-4 gz4 gy0-3 gx0-4 bz0 gz0-3 bx0-5 by0-3 ry0-4 bz2 \
         rz0-4 bz3",
    ),
    mode(
        [0x1e, 2, 6, 6, 6, 6],
        "rw0-5 gz4 bz0 bz1 by4 gw0-5 gy5 by5 bz2 gy4 bw0-5 gz5 bz3 bz5 bz4 rx0-5 gy0-3 gx0-5 gz0-3 bx0-5 \
         by0-3 ry0-5 rz0-5",
    ),
    mode([0x03, 1, 10, 10, 10, 10], "rw0-9 gw0-9 bw0-9 rx0-9 gx0-9 bx0-9"),
    mode([0x07, 1, 11, 9, 9, 9], "rw0-9 gw0-9 bw0-9 rx0-8 rw10 gx0-8 gw10 bx0-8 bw10"),
    mode(
        [0x0b, 1, 12, 8, 8, 8],
        "rw0-9 gw0-9 bw0-9 rx0-7 rw11 rw10 gx0-7 gw11 gw10 bx0-7 bw11 bw10",
    ),
    mode(
        [0x0f, 1, 16, 4, 4, 4],
        "rw0-9 gw0-9 bw0-9 rx0-3 rw15 rw14 rw13 rw12 rw11 rw10 gx0-3 gw15 gw14 gw13 gw12 gw11 gw10 bx0-3 \
         bw15 bw14 bw13 bw12 bw11 bw10",
    ),
];

/// A decoded block: the endpoints of each subset, and the indices.
pub struct Bc6h {
    ends: [[[i32; 3]; 2]; 2],
    partition: Partition,
    indices: Indices,
    signed: bool,
}

impl Bc6h {
    /// Reads a block of BC6H. A block whose mode is reserved is black.
    #[inline]
    pub fn read(bytes: &[u8; 16], signed: bool) -> Bc6h {
        let block = u128::from_le_bytes(*bytes);
        let code_bits = if bytes[0] & 2 == 0 { 2 } else { 5 };
        let code = u32::from(bytes[0]) & ((1 << code_bits) - 1);
        let Some(mode) = MODES.iter().find(|mode| mode.code == code) else {
            let indices = Indices::new(0, 0, 4, &Partition::WHOLE);
            return Bc6h { ends: [[[0; 3]; 2]; 2], partition: Partition::WHOLE, indices, signed };
        };
        let halves = [block as u64, (block >> 64) as u64];
        let mut raw = [0; 12];
        for run in mode.runs.iter().take_while(|run| run.mask != 0) {
            let bits =
                (halves[usize::from(run.at / 64)] >> (run.at % 64)) as i32 & i32::from(run.mask);
            raw[usize::from(run.end)] |= bits << run.low;
        }
        // The indices fill the rest of the block. With two subsets, 5 bits of the partition number
        // precede them.
        let (partition, at, index_bits) = match mode.subsets {
            1 => (Partition::WHOLE, 65, 4),
            _ => (Partition::new(2, (block >> 77) as u32 & 31), 82, 3),
        };
        let mut ends = [[[0; 3]; 2]; 2];
        for n in 0..6 * mode.subsets as usize {
            let (end, channel) = (n / 3, n % 3);
            ends[end / 2][end % 2][channel] =
                widen(mode.end(raw[n], raw[channel], end, channel, signed), mode.base, signed);
        }
        Bc6h { ends, partition, indices: Indices::new(block, at, index_bits, &partition), signed }
    }
}

impl Mode {
    /// The value of a channel of an endpoint, from its bits and from the bits `base` of the same
    /// channel of endpoint w.
    #[inline(always)]
    fn end(&self, raw: i32, base: i32, end: usize, channel: usize, signed: bool) -> i32 {
        let value = match (end, self.deltas) {
            (0, _) | (_, false) => raw,
            _ => base + sign(raw, self.others[channel]),
        };
        if signed { sign(value, self.base) } else { value & ((1 << self.base) - 1) }
    }
}

/// The low `bits` bits as a signed number.
#[inline(always)]
const fn sign(value: i32, bits: u32) -> i32 {
    value << (32 - bits) >> (32 - bits)
}

/// Widens an endpoint of `bits` bits to 16 bits. The greatest value becomes the greatest 16-bit
/// value.
#[inline(always)]
fn widen(value: i32, bits: u32, signed: bool) -> i32 {
    if !signed {
        return match value {
            0 => 0,
            _ if bits >= 15 => value,
            _ if value == (1 << bits) - 1 => 0xffff,
            _ => ((value << 16) + 0x8000) >> bits,
        };
    }
    let magnitude = value.abs();
    let wide = match magnitude {
        _ if bits >= 16 => return value,
        0 => 0,
        _ if magnitude >= (1 << (bits - 1)) - 1 => 0x7fff,
        _ => ((magnitude << 15) + 0x4000) >> (bits - 1),
    };
    if value < 0 { -wide } else { wide }
}

/// Converts an interpolated value to the bits of a half: 31/64 of it, or 31/32 of its magnitude if
/// it is signed. So the greatest half is finite. There is no negative zero.
#[inline(always)]
fn half(value: i32, signed: bool) -> u16 {
    if !signed {
        return ((value * 31) >> 6) as u16;
    }
    let magnitude = ((value.abs() * 31) >> 5) as u16;
    if value < 0 && magnitude != 0 { 0x8000 | magnitude } else { magnitude }
}

impl Block for Bc6h {
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        let n = 4 * y + x;
        let [first, second] = &self.ends[self.partition.subset(n) & 1];
        let weight = self.indices.weight(n);
        let channel = |n: usize| {
            convert::float(half(interpolate(first[n], second[n], weight), self.signed).into(), 16)
        };
        [channel(0), channel(1), channel(2), ONE]
    }
}
