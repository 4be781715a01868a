//! Bit planes (8.7).

use super::headers::Plane;
use super::write;
use crate::bits::BitWriter;
use genxml_codecs::bits::BitReader;
use genxml_codecs::vc1::Code;

/// Coding modes of a plane, in the order of [`MODE_CODES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Raw,
    Norm2,
    Diff2,
    Norm6,
    Diff6,
    RowSkip,
    ColumnSkip,
}

pub const MODES: [Mode; 7] = [
    Mode::Raw,
    Mode::Norm2,
    Mode::Diff2,
    Mode::Norm6,
    Mode::Diff6,
    Mode::RowSkip,
    Mode::ColumnSkip,
];

/// IMODE.
pub const MODE_CODES: [Code; 7] = [(0, 4), (2, 2), (1, 3), (3, 2), (1, 4), (2, 3), (3, 3)];

/// Pairs of Norm-2. Symbol: first flag in bit 0.
pub const PAIR_CODES: [Code; 4] = [(0, 1), (4, 3), (5, 3), (3, 2)];

/// Groups of six of Norm-6. Symbol: a flag per bit, bit 0 the first one.
#[rustfmt::skip]
pub const SIX_CODES: [Code; 64] = [
    (1, 1), (2, 4), (3, 4), (0, 8), (4, 4), (1, 8), (2, 8), (71, 10), (5, 4), (3, 8), (4, 8),
    (75, 10), (5, 8), (77, 10), (78, 10), (782, 13), (6, 4), (6, 8), (7, 8), (83, 10), (8, 8),
    (85, 10), (86, 10), (781, 13), (9, 8), (89, 10), (90, 10), (780, 13), (92, 10), (779, 13),
    (778, 13), (55, 9), (7, 4), (10, 8), (11, 8), (67, 10), (12, 8), (69, 10), (70, 10),
    (777, 13), (13, 8), (73, 10), (74, 10), (776, 13), (76, 10), (775, 13), (774, 13), (54, 9),
    (14, 8), (81, 10), (82, 10), (773, 13), (84, 10), (772, 13), (771, 13), (53, 9), (88, 10),
    (770, 13), (769, 13), (52, 9), (768, 13), (51, 9), (50, 9), (7, 6),
];

/// Reads a symbol bit by bit. The tables are small.
fn symbol(bits: &mut BitReader<'_>, codes: &[Code]) -> usize {
    let found = |&(code, length): &Code| bits.peek(length.into()) == code;
    let symbol = codes.iter().position(found).unwrap_or(0);
    bits.skip(codes[symbol].1.into());
    symbol
}

/// Reads the plane of `width` x `height` macroblocks.
pub fn read(bits: &mut BitReader<'_>, (width, height): (usize, usize)) -> Plane {
    let invert = bits.flag();
    let mode = MODES[symbol(bits, &MODE_CODES)];
    let mut plane = vec![false; width * height];
    for group in groups(mode, width, height) {
        match group {
            Group::Flags(at) => at.into_iter().for_each(|at| plane[at] = bits.flag()),
            Group::Optional(at) => {
                if bits.flag() {
                    at.into_iter().for_each(|at| plane[at] = bits.flag());
                }
            }
            Group::Coded(at) => {
                let codes: &[Code] = if at.len() == 2 { &PAIR_CODES } else { &SIX_CODES };
                let flags = symbol(bits, codes);
                at.iter().enumerate().for_each(|(n, &at)| plane[at] = flags >> n & 1 != 0);
            }
        }
    }
    match mode {
        Mode::Raw => return Plane { raw: true, bits: Vec::new() },
        Mode::Diff2 | Mode::Diff6 => {
            for at in 0..plane.len() {
                let predicted = predicted(&plane, at, width, invert);
                plane[at] ^= predicted;
            }
        }
        _ => plane.iter_mut().for_each(|flag| *flag ^= invert),
    }
    Plane { raw: false, bits: plane }
}

/// The prediction of a flag in the differential modes (8.7.3.8).
pub fn predicted(plane: &[bool], at: usize, width: usize, invert: bool) -> bool {
    let left = (!at.is_multiple_of(width)).then(|| plane[at - 1]);
    let above = at.checked_sub(width).map(|at| plane[at]);
    match (left, above) {
        (None, None) => invert,
        (Some(left), Some(above)) if left != above => invert,
        (Some(left), _) => left,
        (None, Some(above)) => above,
    }
}

/// Flags that are coded together, by their index in the plane.
pub enum Group {
    /// A bit each.
    Flags(Vec<usize>),
    /// A bit that says whether any is set; then, if so, a bit each.
    Optional(Vec<usize>),
    /// A code for all.
    Coded(Vec<usize>),
}

/// The groups of a plane in the order of the stream (8.7.3).
pub fn groups(mode: Mode, width: usize, height: usize) -> Vec<Group> {
    let row = |y: usize, from: usize| (from..width).map(|x| y * width + x).collect();
    let column = |x: usize| (0..height).map(|y| y * width + x).collect();
    match mode {
        Mode::Raw => Vec::new(),
        Mode::RowSkip => (0..height).map(|y| Group::Optional(row(y, 0))).collect(),
        Mode::ColumnSkip => (0..width).map(|x| Group::Optional(column(x))).collect(),
        Mode::Norm2 | Mode::Diff2 => {
            let odd = width * height % 2;
            let mut groups = Vec::new();
            if odd == 1 {
                groups.push(Group::Flags(vec![0]));
            }
            groups
                .extend((odd..width * height).step_by(2).map(|at| Group::Coded(vec![at, at + 1])));
            groups
        }
        Mode::Norm6 | Mode::Diff6 => {
            let tall = height.is_multiple_of(3) && !width.is_multiple_of(3);
            let (across, down) = if tall { (2, 3) } else { (3, 2) };
            let (left, top) = (width % across, height % down);
            let mut groups = Vec::new();
            for y in (top..height).step_by(down) {
                for x in (left..width).step_by(across) {
                    let at = (0..6).map(|n| (y + n / across) * width + x + n % across);
                    groups.push(Group::Coded(at.collect()));
                }
            }
            groups.extend((0..left).map(|x| Group::Optional(column(x))));
            groups.extend((0..top).map(|y| Group::Optional(row(y, left))));
            groups
        }
    }
}

/// What is written in any mode reads as the same plane, and ends at the same bit.
#[test]
fn planes_read_as_they_were_written() {
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..500 {
        let (width, height) = (random.usize(1..12), random.usize(1..12));
        let density = random.u8(0..=8);
        let bits = (0..width * height).map(|_| random.u8(0..8) < density).collect();
        let plane = Plane { raw: false, bits };
        for &mode in &MODES[1..] {
            let mut out = BitWriter::default();
            write::plane_in_mode(&plane, (width, height), mode, random.bool(), &mut out);
            out.put(0x2a, 6);
            let mut bits = BitReader::new(&out.bytes, 0);
            assert_eq!(read(&mut bits, (width, height)), plane, "{mode:?} {width} x {height}");
            assert_eq!(bits.read(6), 0x2a, "{mode:?} {width} x {height}");
        }
    }
}
