//! The intra check.
//!
//! Macroblocks are made of predictions of `genxml_codecs`, which its tests compare with FFmpeg.
//! Neighbours that are available inside of a macroblock come from the tables of H.264 6.4.11.

use super::{FREE, Random};
use crate::unit::vme::costs::Costs;
use crate::unit::vme::distortion::Transform;
use crate::unit::vme::geometry::Luma;
use crate::unit::vme::intra::{Chroma, Intra, chroma, luma};
use genxml_codecs::avc::intra::{
    ABOVE, ABOVE_RIGHT, CORNER, Edge, LEFT, predict_4x4, predict_8x8, predict_16x16, predict_chroma,
};

const ALL: u8 = ABOVE | ABOVE_RIGHT | CORNER | LEFT;
/// Columns and rows of 4x4 blocks in coding order.
const ORDER: [[usize; 2]; 16] = [
    [0, 0],
    [1, 0],
    [0, 1],
    [1, 1],
    [2, 0],
    [3, 0],
    [2, 1],
    [3, 1],
    [0, 2],
    [1, 2],
    [0, 3],
    [1, 3],
    [2, 2],
    [3, 2],
    [2, 3],
    [3, 3],
];

fn intra(random: &mut Random, available: u8, shape: u8) -> Intra {
    Intra {
        available,
        left: std::array::from_fn(|_| random.next() as u8),
        above: std::array::from_fn(|_| random.next() as u8),
        corner: random.next() as u8,
        disabled: 7 & !(1 << shape),
        disabled_modes: [0; 3],
        penalties: [0; 3],
        left_modes: [2; 4],
        above_modes: [2; 4],
        transform: Transform::Plain,
    }
}

/// A pixel of the macroblock or around it.
fn pixel(source: &Luma, intra: &Intra, x: i32, y: i32) -> u8 {
    match (x, y) {
        (-1, -1) => intra.corner,
        (-1, y) => intra.left[y as usize],
        (x, -1) => intra.above[x as usize],
        _ => source[(16 * y + x) as usize],
    }
}

/// The neighbours of a block, pixel by pixel. `right` says whether those above to the right are
/// available.
fn edge<const N: usize, const A: usize>(
    source: &Luma,
    intra: &Intra,
    [x, y]: [i32; 2],
    right: bool,
) -> Edge<N, A> {
    let has = |flag: u8| intra.available & flag != 0;
    let (left, above) = (x > 0 || has(LEFT), y > 0 || has(ABOVE));
    let corner = match (x > 0, y > 0) {
        (false, false) => has(CORNER),
        (true, false) => has(ABOVE),
        (false, true) => has(LEFT),
        (true, true) => true,
    };
    let mut edge = Edge { left: [128; N], above: [128; A], corner: 128, available: 0 };
    if left {
        edge.available |= LEFT;
        edge.left = std::array::from_fn(|n| pixel(source, intra, x - 1, y + n as i32));
    }
    if above {
        edge.available |= ABOVE;
        edge.above = std::array::from_fn(|n| {
            let n = if right { n } else { n.min(N - 1) };
            pixel(source, intra, x + n as i32, y - 1)
        });
        if right {
            edge.available |= ABOVE_RIGHT;
        }
    }
    if corner {
        edge.available |= CORNER;
        edge.corner = pixel(source, intra, x - 1, y - 1);
    }
    edge
}

/// Modes that the neighbours allow, by the rules of H.264 8.3.1.2.
fn usable(available: u8) -> Vec<u8> {
    let has = |flag: u8| available & flag != 0;
    let (above, left) = (has(ABOVE), has(LEFT));
    let all = above && left && has(CORNER);
    let allowed = [above, left, true, above, all, all, all, above, left];
    (0..9).filter(|&mode| allowed[usize::from(mode)]).collect()
}

/// Makes a macroblock of predictions with random modes. Returns it with the modes.
fn blocks(random: &mut Random, intra: &Intra, shape: u8) -> (Luma, [u8; 16]) {
    let has = |flag: u8| intra.available & flag != 0;
    let (mut source, mut modes) = ([0; 256], [0; 16]);
    for (n, [column, row]) in ORDER.into_iter().enumerate() {
        let at = [4 * column as i32, 4 * row as i32];
        let start = 64 * row + 4 * column;
        if shape == 2 {
            let right = match n {
                3 | 7 | 11 | 13 | 15 => false,
                5 => has(ABOVE_RIGHT),
                0 | 1 | 4 => has(ABOVE),
                _ => true,
            };
            let edge: Edge<4, 8> = edge(&source, intra, at, right);
            let usable = usable(edge.available);
            modes[n] = usable[random.below(usable.len() as u64) as usize];
            predict_4x4(modes[n], &edge, &mut source[start..], 16);
        } else if n % 4 == 0 {
            let right = [has(ABOVE), has(ABOVE_RIGHT), true, false][n / 4];
            let edge: Edge<8, 16> = edge(&source, intra, at, right);
            let usable = usable(edge.available);
            modes[n..n + 4].fill(usable[random.below(usable.len() as u64) as usize]);
            predict_8x8(modes[n], &edge, &mut source[start..], 16);
        }
    }
    (source, modes)
}

/// A source that equals its prediction has no distortion, for all combinations of neighbours. If
/// several modes predict the same pixels, the first one is found.
#[test]
fn sources_that_are_predictions() {
    let mut random = Random(11);
    let (mut same, mut all) = (0, 0);
    for round in 0..600 {
        let flags = [LEFT, ABOVE, ABOVE_RIGHT, CORNER];
        let available = match round % 2 {
            0 => ALL,
            _ => flags.into_iter().filter(|_| random.below(2) == 0).sum(),
        };
        for shape in [1, 2] {
            let intra = intra(&mut random, available, shape);
            let (source, modes) = blocks(&mut random, &intra, shape);
            let found = luma(&source, &intra, &FREE).unwrap();
            assert_eq!((found.distortion, found.shape), (0, shape), "{modes:?} {available:05b}");
            assert!((0..16).all(|n| found.modes[n] <= modes[n]), "{modes:?} {:?}", found.modes);
            same += (0..16).filter(|&n| found.modes[n] == modes[n]).count();
            all += 16;
        }
        let intra = intra(&mut random, available, 0);
        for mode in 0..4u8 {
            let needs = [ABOVE, LEFT, 0, ABOVE | LEFT | CORNER][usize::from(mode)];
            if available & needs != needs {
                continue;
            }
            let edge: Edge<16, 16> = edge(&[0; 256], &intra, [0, 0], false);
            let mut source = [0; 256];
            predict_16x16(mode, &edge, &mut source, 16);
            let found = luma(&source, &intra, &FREE).unwrap();
            assert_eq!((found.distortion, found.shape, found.modes), (0, 0, [mode; 16]));
        }
    }
    assert!(2 * same > all, "{same} of {all} modes are the same");
}

/// Costs: of the shape, of modes that are not predicted, of modes other than DC. The cheapest shape
/// wins; the first one if they are equal.
#[test]
fn costs_of_modes() {
    let mut random = Random(12);
    let mut costs = Costs { ..FREE };
    costs.mode = [5, 100, 200, 300, 0, 0, 0, 0, 0, 0, 0, 0];
    // A flat picture: all modes predict it.
    let flat = Intra {
        left: [77; 16],
        above: [77; 24],
        corner: 77,
        penalties: [7, 20, 30],
        ..intra(&mut random, ALL, 0)
    };
    let source = [77; 256];
    for (left, above, expected) in [
        // Every block expects mode 0.
        ([0; 4], [0; 4], [100 + 7, 200 + 4 * 20, 300 + 16 * 30]),
        // Blocks of the left column expect min(3, 3) or min(3, 0).
        ([3; 4], [3; 4], [100 + 7, 200 + 4 * 20 + 5, 300 + 16 * 30 + 5]),
        // The smaller one of the modes to the left and above is expected.
        ([0, 3, 3, 3], [3; 4], [100 + 7, 200 + 4 * 20, 300 + 16 * 30]),
    ] {
        for shape in 0..3u8 {
            let intra = Intra {
                disabled: 7 & !(1 << shape),
                left_modes: left,
                above_modes: above,
                // Only mode 0, so that costs cannot be avoided.
                disabled_modes: [0xfffe; 3],
                ..flat.clone()
            };
            let found = luma(&source, &intra, &costs).unwrap();
            assert_eq!(found.distortion, expected[usize::from(shape)], "{shape} {left:?}");
            assert_eq!(found.modes, [0; 16]);
        }
    }
    let all = Intra { disabled: 0, ..flat.clone() };
    assert_eq!(luma(&source, &all, &costs).unwrap().shape, 0);
    costs.mode[1] = 900;
    assert_eq!(luma(&source, &all, &costs).unwrap().shape, 1);
    costs.mode[2] = 900;
    assert_eq!(luma(&source, &all, &costs).unwrap().shape, 2);
    assert_eq!(luma(&source, &Intra { disabled: 7, ..all }, &costs), None);
}

/// Without neighbours on one side, DC is the predicted mode of a block.
#[test]
fn predicted_modes_at_edges() {
    let mut random = Random(13);
    let mut costs = FREE;
    costs.mode[0] = 5;
    let edge = Intra {
        left_modes: [0; 4],
        above_modes: [0; 4],
        disabled_modes: [0xfffb; 3],
        ..intra(&mut random, LEFT, 2)
    };
    // All blocks of the first row expect DC: 2. The others too, because DC is left and above, but
    // for the first column, where the left modes are 0.
    let found = luma(&[128; 256], &Intra { left: [128; 16], ..edge.clone() }, &costs).unwrap();
    assert_eq!(found.distortion, 3 * 5);
    let found = luma(&[128; 256], &Intra { available: 0, ..edge }, &costs).unwrap();
    assert_eq!(found.distortion, 0);
}

/// Chroma that equals its prediction has no distortion; modes other than DC have a cost.
#[test]
fn chroma_modes() {
    let mut random = Random(14);
    let mut costs = FREE;
    costs.mode[11] = 9;
    for round in 0..200u8 {
        let available = if round % 2 == 0 { ALL } else { [0, LEFT, ABOVE][usize::from(round) % 3] };
        let neighbours = [0, 1].map(|_| {
            let mut bytes = || std::array::from_fn(|_| random.next() as u8);
            (bytes(), bytes(), random.next() as u8)
        });
        let mut around = Chroma { available, neighbours, disabled: 0 };
        for mode in 0..4u8 {
            let needs = [0, LEFT, ABOVE, ABOVE | LEFT | CORNER][usize::from(mode)];
            if available & needs != needs {
                continue;
            }
            let source = neighbours.map(|(left, above, corner)| {
                let mut source = [0; 64];
                predict_chroma(mode, &Edge { left, above, corner, available }, &mut source, 8);
                source
            });
            around.disabled = 0;
            let cost = if mode == 0 { 0 } else { 9 };
            assert_eq!(chroma(&source, &around, &costs), (mode, cost));
            around.disabled = 1 << mode;
            if available != 0 {
                assert_ne!(chroma(&source, &around, &costs).0, mode);
            }
        }
    }
}
