//! The intra check (SIC): the best intra modes of a macroblock. Neighbours outside of the
//! macroblock come from the message, those inside from the source (digests/video.md 10.7).

use super::costs::{Costs, mode};
use super::decide::MOST;
use super::distortion::{Distortions, Transform, distortions};
use super::geometry::{Luma, origin};
use genxml_codecs::avc::intra::{
    ABOVE, Edge, EdgeChroma, LEFT, NEEDED_16X16, NEEDED_BLOCK, NEEDED_CHROMA, available_to_block,
    predict_4x4, predict_8x8, predict_16x16, predict_chroma,
};

/// Number of the mode DC of luma.
const DC: u8 = 2;
/// Pixels of a row of a canvas: the corner at 15, then the row above.
const STRIDE: usize = 48;
/// First pixel of the macroblock in a canvas.
const FIRST: usize = STRIDE + 16;

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intra {
    /// Neighbours that are available, as for [`Edge::available`].
    pub available: u8,
    /// Luma to the left.
    pub left: [u8; 16],
    /// Luma above and above to the right.
    pub above: [u8; 24],
    /// Luma above to the left.
    pub corner: u8,
    /// Shapes that are not used: bit 0 16x16, 1 8x8, 2 4x4.
    pub disabled: u8,
    /// Modes that are not used, for 16x16, 8x8 and 4x4.
    pub disabled_modes: [u16; 3],
    /// Added to modes other than DC, for 16x16, 8x8 and 4x4.
    pub penalties: [u32; 3],
    /// Modes of the blocks to the left, by rows.
    pub left_modes: [u8; 4],
    /// Modes of the blocks above, by columns.
    pub above_modes: [u8; 4],
    /// How distortions are computed.
    pub transform: Transform,
}

/// The best luma prediction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Its shape: 0 16x16, 1 8x8, 2 4x4.
    pub shape: u8,
    /// Modes of the 4x4 blocks.
    pub modes: [u8; 16],
    /// Distortion with all costs.
    pub distortion: u32,
}

/// Whether the mode of a 4x4 or 8x8 block has the neighbours that it needs.
const fn possible(mode: u8, available: u8) -> bool {
    let needs = NEEDED_BLOCK[mode as usize];
    available & needs == needs
}

/// Finds the best shape and modes of luma. `None` if all shapes are disabled.
pub fn luma(source: &Luma, intra: &Intra, costs: &Costs) -> Option<Found> {
    let mut canvas = [0; STRIDE * 17];
    canvas[15] = intra.corner;
    canvas[16..40].copy_from_slice(&intra.above);
    for row in 0..16 {
        let at = FIRST + STRIDE * row;
        canvas[at - 1] = intra.left[row];
        canvas[at..at + 16].copy_from_slice(&source[16 * row..][..16]);
    }
    let enabled = |shape: u8| intra.disabled >> shape & 1 == 0;
    let mut best: Option<Found> = None;
    for shape in (0..3).filter(|&shape| enabled(shape)) {
        let found = match shape {
            0 => whole(source, intra, &canvas, costs),
            _ => blocks(source, intra, &canvas, costs, shape),
        };
        if best.is_none_or(|best| found.distortion < best.distortion) {
            best = Some(found);
        }
    }
    best
}

fn penalty(intra: &Intra, shape: u8, mode: u8) -> u32 {
    if mode == DC { 0 } else { intra.penalties[usize::from(shape)] }
}

fn allowed(intra: &Intra, shape: u8, mode: u8) -> bool {
    intra.disabled_modes[usize::from(shape)] >> mode & 1 == 0
}

fn whole(source: &Luma, intra: &Intra, canvas: &[u8], costs: &Costs) -> Found {
    let edge: Edge<16, 16> = Edge::read(canvas, FIRST, STRIDE, intra.available);
    let mut best = Found { shape: 0, modes: [0; 16], distortion: MOST };
    for mode in 0..4u8 {
        let needs = NEEDED_16X16[usize::from(mode)];
        if intra.available & needs != needs || !allowed(intra, 0, mode) {
            continue;
        }
        let mut predicted = [0; 256];
        predict_16x16(mode, &edge, &mut predicted, 16);
        let sums = distortions(intra.transform, source, &predicted, 16);
        let sum: u32 = sums.iter().map(|&sum| u32::from(sum)).sum();
        let cost = sum + penalty(intra, 0, mode) + costs.mode[mode::INTRA_16X16];
        if cost < best.distortion {
            best = Found { shape: 0, modes: [mode; 16], distortion: cost };
        }
    }
    best
}

/// Finds the modes of the 8x8 (shape 1) or 4x4 (shape 2) blocks.
fn blocks(source: &Luma, intra: &Intra, canvas: &[u8], costs: &Costs, shape: u8) -> Found {
    let count = if shape == 1 { 2 } else { 4 };
    let size = 16 / count;
    // In 4x4 blocks.
    let cells = size / 4;
    let mut sums: [Option<Distortions>; 9] = [None; 9];
    for mode in (0..9u8).filter(|&mode| allowed(intra, shape, mode)) {
        let mut predicted = [0; 256];
        for (y, x) in (0..count).flat_map(|y| (0..count).map(move |x| (y, x))) {
            let available = available_to_block(intra.available, (cells * x, cells * y), cells);
            if possible(mode, available) {
                let at = FIRST + size * (STRIDE * y + x);
                let out = &mut predicted[size * (16 * y + x)..];
                match shape {
                    1 => predict_8x8(mode, &Edge::read(canvas, at, STRIDE, available), out, 16),
                    _ => predict_4x4(mode, &Edge::read(canvas, at, STRIDE, available), out, 16),
                }
            }
        }
        sums[usize::from(mode)] = Some(distortions(intra.transform, source, &predicted, 16));
    }
    let mut found = Found { shape, modes: [DC; 16], distortion: 0 };
    let number = if shape == 1 { mode::INTRA_8X8 } else { mode::INTRA_4X4 };
    let mut total = costs.mode[number];
    // Modes by row and column of 4x4 blocks.
    let mut grid = [[DC; 4]; 4];
    let step = if shape == 1 { 4 } else { 1 };
    for block in (0..16).step_by(step) {
        let (x, y) = origin(block);
        let (column, row) = (x / 4, y / 4);
        let available = available_to_block(intra.available, (column, row), cells);
        let left = if column > 0 { grid[row][column - 1] } else { intra.left_modes[row] };
        let above = if row > 0 { grid[row - 1][column] } else { intra.above_modes[column] };
        let both = available & (LEFT | ABOVE) == LEFT | ABOVE;
        let expected = if both { left.min(above) } else { DC };
        let mut best = (u32::MAX, DC);
        for mode in (0..9u8).filter(|&mode| possible(mode, available)) {
            let Some(sums) = &sums[usize::from(mode)] else { continue };
            let sum: u32 = sums[block..block + step].iter().map(|&sum| u32::from(sum)).sum();
            let other = if mode == expected { 0 } else { costs.mode[mode::INTRA_NOT_PREDICTED] };
            let cost = sum + other + penalty(intra, shape, mode);
            if cost < best.0 {
                best = (cost, mode);
            }
        }
        total = total.saturating_add(best.0);
        found.modes[block..block + step].fill(best.1);
        for line in &mut grid[row..row + cells] {
            line[column..column + cells].fill(best.1);
        }
    }
    found.distortion = total.min(MOST);
    found
}

/// Neighbours of chroma: available ones, Cb and Cr to the left and above, and their corner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chroma {
    /// Neighbours that are available.
    pub available: u8,
    /// Samples to the left, above, and above to the left, for Cb and Cr.
    pub neighbours: [([u8; 8], [u8; 8], u8); 2],
    /// Modes that are not used.
    pub disabled: u8,
}

/// Finds the best chroma mode for blocks of 8x8 Cb and Cr: the mode and its distortion.
pub fn chroma(source: &[[u8; 64]; 2], chroma: &Chroma, costs: &Costs) -> (u8, u32) {
    let mut best = (0, u32::MAX);
    for mode in 0..4u8 {
        let needs = NEEDED_CHROMA[usize::from(mode)];
        if chroma.available & needs != needs || chroma.disabled >> mode & 1 == 1 {
            continue;
        }
        let mut cost = if mode == 0 { 0 } else { costs.mode[mode::INTRA_CHROMA] };
        for (source, &(left, above, corner)) in source.iter().zip(&chroma.neighbours) {
            let edge = EdgeChroma { left, above, corner, available: chroma.available };
            let mut predicted = [0; 64];
            predict_chroma(mode, &edge, &mut predicted, 8);
            let pairs = source.iter().zip(&predicted);
            cost += pairs.map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>();
        }
        if cost < best.1 {
            best = (mode, cost);
        }
    }
    (best.0, best.1.min(MOST))
}
