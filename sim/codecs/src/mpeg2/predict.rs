//! Motion compensation (7.6): from vectors and reference fields to the prediction of a macroblock.

use super::motion::{Motion, Prediction, Vector};
use super::parameters::{Parameters, References};
use crate::frame::{Frame, Plane, PlaneRef, Structure};

/// The samples of a macroblock: Y, Cb, Cr, with rows of 16, 8 and 8.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    pub(super) luma: [u8; 256],
    pub(super) chroma: [[u8; 64]; 2],
}

impl Samples {
    /// All samples are `value`.
    pub(super) const fn new(value: u8) -> Self {
        Samples { luma: [value; 256], chroma: [[value; 64]; 2] }
    }
}

/// A prediction from one frame or field for some rows of a macroblock.
struct Part {
    /// Where the rows come from.
    source: Structure,
    direction: usize,
    vector: Vector,
    /// The first row of the macroblock that is predicted, and the distance of rows.
    row: usize,
    step: usize,
    /// Number of luma rows.
    rows: usize,
    /// The line of `source` that has the first row if the vector is zero.
    line: i32,
    /// Take the mean with what is there.
    average: bool,
}

/// Predicts the macroblock at column `x` and row `y` of the picture, in macroblocks.
pub(super) fn predict(
    parameters: &Parameters,
    references: &References,
    target: &Frame,
    (x, y): (usize, usize),
    motion: &Motion,
    out: &mut Samples,
) {
    let top = 16 * y as i32;
    let mut fetch = |part: Part| {
        let frame = references.source(part.source, part.direction).frame(target);
        fetch_part(parameters, frame, x, &part, out);
    };
    if motion.prediction == Prediction::DualPrime {
        dual_prime(parameters.structure, top, motion, &mut fetch);
        return;
    }
    for direction in (0..2).filter(|&direction| motion.directions[direction]) {
        let average = direction == 1 && motion.directions[0];
        let part = |number: usize, row, step, rows, line| {
            let vector = motion.vectors[number][direction];
            let source = parity(motion.bottom[number][direction]);
            Part { source, direction, vector, row, step, rows, line, average }
        };
        match (motion.prediction, parameters.structure.is_field()) {
            (Prediction::Field, false) => {
                fetch(part(0, 0, 2, 8, top / 2));
                fetch(part(1, 1, 2, 8, top / 2));
            }
            (Prediction::SixteenByEight, true) => {
                fetch(part(0, 0, 1, 8, top));
                fetch(part(1, 8, 1, 8, top + 8));
            }
            (_, true) => fetch(part(0, 0, 1, 16, top)),
            (_, false) => fetch(Part { source: Structure::Frame, ..part(0, 0, 1, 16, top) }),
        }
    }
}

/// The field of a motion_vertical_field_select.
fn parity(bottom: bool) -> Structure {
    if bottom { Structure::Bottom } else { Structure::Top }
}

/// Dual prime: the mean of a prediction from the same parity and one from the other (7.6.7.4).
fn dual_prime(structure: Structure, top: i32, motion: &Motion, fetch: &mut impl FnMut(Part)) {
    let vector = motion.vectors[0][0];
    let mut both = |own: Structure, opposite, part: Part| {
        fetch(Part { source: own, average: false, vector, ..part });
        fetch(Part { source: own.opposite(), average: true, vector: opposite, ..part });
    };
    let part = |row, step, rows, line| Part {
        source: structure,
        direction: 0,
        vector,
        row,
        step,
        rows,
        line,
        average: false,
    };
    if structure.is_field() {
        both(structure, motion.opposite[0], part(0, 1, 16, top));
    } else {
        both(Structure::Top, motion.opposite[0], part(0, 2, 8, top / 2));
        both(Structure::Bottom, motion.opposite[1], part(1, 2, 8, top / 2));
    }
}

/// Predicts the rows of a part. Without a frame they are grey.
fn fetch_part(
    parameters: &Parameters,
    frame: Option<&Frame>,
    x: usize,
    part: &Part,
    out: &mut Samples,
) {
    let [across, down] = part.vector;
    let x = x as i32;
    let (width, height) = (16 * parameters.width, 16 * parameters.height);
    let plane = |index: usize| &frame.unwrap_or(&EMPTY).planes[index];
    let view = view(plane(0), part.source, width, height);
    let rows = Rows { first: part.row, step: part.step, count: part.rows, average: part.average };
    fetch_block::<16>(view, 32 * x + across, 2 * part.line + down, &rows, &mut out.luma);
    // Chroma vectors are half of the luma ones, truncated (7.6.3.7).
    let (x, y) = (16 * x + across / 2, part.line + down / 2);
    // The first row is 0, 1 or, for 16x8, half of the rows.
    let first = if part.step == 2 { part.row } else { part.row / 2 };
    let rows = Rows { first, count: part.rows / 2, ..rows };
    for (index, out) in out.chroma.iter_mut().enumerate() {
        let view = self::view(plane(index + 1), part.source, width / 2, height / 2);
        fetch_block::<8>(view, x, y, &rows, out);
    }
}

/// Stands for a missing frame.
static EMPTY: Frame =
    Frame { planes: [const { Plane { width: 0, height: 0, data: Vec::new() } }; 3] };

/// The rows of `structure` within the macroblocks of the picture: surfaces may be larger.
fn view(plane: &Plane, structure: Structure, width: usize, height: usize) -> PlaneRef<'_> {
    let view = plane.view(structure);
    let height = height.div_ceil(structure.step());
    // A plane that lacks samples counts as missing.
    let whole = plane.data.len() >= plane.width.saturating_mul(plane.height);
    let height = if whole { view.height.min(height) } else { 0 };
    PlaneRef { width: view.width.min(width), height, ..view }
}

/// The rows of a macroblock's plane that a prediction fills.
struct Rows {
    first: usize,
    step: usize,
    count: usize,
    average: bool,
}

/// Value of predictions from a missing reference.
const GREY: u8 = 128;

/// Predicts rows of `WIDTH` samples from half sample position (`x`, `y`) on (7.6.4).
fn fetch_block<const WIDTH: usize>(view: PlaneRef, x: i32, y: i32, rows: &Rows, out: &mut [u8]) {
    let (half_x, half_y) = (x & 1 != 0, y & 1 != 0);
    // A block with a column and a row more than needed, so that all four cases can use it.
    let mut source = [GREY; 17 * 17];
    let wide = WIDTH + usize::from(half_x);
    if view.width > 0 && view.height > 0 {
        let size = wide * (rows.count + usize::from(half_y));
        view.block(x >> 1, y >> 1, wide, &mut source[..size]);
    }
    let out = out.chunks_exact_mut(WIDTH).skip(rows.first).step_by(rows.step).take(rows.count);
    for (row, out) in out.enumerate() {
        let upper = &source[row * wide..];
        let lower = &source[(row + usize::from(half_y)) * wide..];
        let mut samples = [0; WIDTH];
        match (half_x, half_y) {
            (false, false) => samples.copy_from_slice(&upper[..WIDTH]),
            (false, true) => {
                for ((out, &a), &b) in samples.iter_mut().zip(upper).zip(lower) {
                    *out = mean(a, b);
                }
            }
            (true, false) => {
                for ((out, &a), &b) in samples.iter_mut().zip(upper).zip(&upper[1..]) {
                    *out = mean(a, b);
                }
            }
            (true, true) => {
                let pairs = upper.iter().zip(&upper[1..]).zip(lower.iter().zip(&lower[1..]));
                for (out, ((&a, &b), (&c, &d))) in samples.iter_mut().zip(pairs) {
                    let sum = u16::from(a) + u16::from(b) + u16::from(c) + u16::from(d);
                    *out = ((sum + 2) >> 2) as u8;
                }
            }
        }
        if rows.average {
            for (out, sample) in out.iter_mut().zip(samples) {
                *out = mean(*out, sample);
            }
        } else {
            out.copy_from_slice(&samples);
        }
    }
}

/// The mean, halves rounded up.
fn mean(a: u8, b: u8) -> u8 {
    ((u16::from(a) + u16::from(b) + 1) >> 1) as u8
}
