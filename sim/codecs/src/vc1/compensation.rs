//! Samples of references: edges, intensity compensation (8.3.8) and range reduction (8.3.4).

use super::parameters::{Coding, Compensation, Intensity, Parameters, RangeReduction};
use crate::{Frame, Plane};

/// Changes of the samples of a field of a reference.
#[derive(Clone, Debug)]
pub(super) struct Lut {
    /// The samples change at all.
    active: bool,
    luma: [u8; 256],
    chroma: [u8; 256],
}

impl Lut {
    /// The changes of the top and the bottom field of a reference.
    pub(super) fn of_reference(parameters: &Parameters, change: &Compensation) -> [Self; 2] {
        let field = |index: usize| {
            let index = if parameters.coding == Coding::Progressive { 0 } else { index };
            Lut::new(parameters.range_reduction, [change.single[index], change.double[index]])
        };
        [field(0), field(1)]
    }

    /// Range reduction, then the compensations one after the other.
    fn new(range: RangeReduction, compensations: [Option<Intensity>; 2]) -> Self {
        let mut lut = Lut {
            active: range != RangeReduction::None || compensations.iter().any(Option::is_some),
            luma: [0; 256],
            chroma: [0; 256],
        };
        for (index, (luma, chroma)) in lut.luma.iter_mut().zip(&mut lut.chroma).enumerate() {
            let sample = index as i32 - 128;
            let sample = match range {
                RangeReduction::None => sample,
                RangeReduction::Down => sample >> 1,
                RangeReduction::Up => sample * 2,
            };
            *luma = clip(sample + 128);
            *chroma = *luma;
            for change in compensations.into_iter().flatten() {
                let (scale, shift) = scale_and_shift(change);
                *luma = clip((scale * i32::from(*luma) + shift + 32) >> 6);
                *chroma = clip((scale * (i32::from(*chroma) - 128) + 128 * 64 + 32) >> 6);
            }
        }
        lut
    }
}

/// The factor and the offset of intensity compensation in 1/64 (8.3.8).
fn scale_and_shift(change: Intensity) -> (i32, i32) {
    let (scale, shift) = (i32::from(change.scale & 63), i32::from(change.shift & 63));
    let signed = if shift > 31 { shift - 64 } else { shift };
    if scale == 0 { (-64, 255 * 64 - signed * 2 * 64) } else { (scale + 32, signed * 64) }
}

/// A sample of 8 bits.
#[inline]
pub(super) fn clip(value: i32) -> u8 {
    value.clamp(0, 255) as u8
}

/// The rows of a reference that a prediction reads.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rows {
    /// All rows of the frame, from a row on.
    Frame,
    /// Every second row of the frame.
    EverySecond,
    /// The rows of a field: 0 top, 1 bottom.
    Field(usize),
}

/// A reference frame as a prediction reads it.
#[derive(Clone, Copy)]
pub(super) struct Reference<'a> {
    planes: [&'a Plane; 3],
    /// Luma samples of a row and luma rows of the frame that exist.
    size: (usize, usize),
    /// Fields continue beyond the edges with their own rows.
    interlaced: bool,
    luts: &'a [Lut; 2],
}

/// A plane without samples.
static EMPTY: Plane = Plane { width: 0, height: 0, data: Vec::new() };

impl<'a> Reference<'a> {
    pub(super) fn new(
        frame: Option<&'a Frame>,
        parameters: &Parameters,
        interlaced: bool,
        luts: &'a [Lut; 2],
    ) -> Self {
        let planes = frame.map_or([&EMPTY; 3], |frame| frame.planes.each_ref());
        let rows = parameters.height_in_mbs * if parameters.coding.is_field() { 32 } else { 16 };
        let full = (parameters.width_in_mbs * 16, rows);
        let mut size = full;
        if parameters.advanced {
            let limit = |value: usize, full: usize| if value == 0 { full } else { value.min(full) };
            size = (limit(parameters.width, full.0), limit(parameters.height, full.1));
        }
        Reference { planes, size, interlaced, luts }
    }

    /// Copies `width` columns and `out.len() / width` rows of a plane at (`x`, `y`). For a field,
    /// `y` counts its rows; otherwise it counts rows of the frame.
    pub(super) fn read(
        &self,
        plane: usize,
        (x, y): (i32, i32),
        rows: Rows,
        width: usize,
        out: &mut [u8],
    ) {
        let source = self.planes[plane];
        let shift = u32::from(plane > 0);
        let columns = (self.size.0.div_ceil(1 << shift)).min(source.width);
        let height = ((self.size.1.div_ceil(1 << shift)).min(source.height)) as i32;
        if columns == 0 || height == 0 {
            out.fill(0);
            return;
        }
        for (index, out) in out.chunks_exact_mut(width).enumerate() {
            let index = index as i32;
            let row = match rows {
                Rows::Frame => y.saturating_add(index),
                Rows::EverySecond => y.saturating_add(2 * index),
                Rows::Field(field) => y.saturating_add(index).saturating_mul(2) | field as i32,
            };
            let parity = row & 1;
            let inside = if self.interlaced {
                let last = (height + 1 - parity) / 2 - 1;
                (row >> 1).clamp(0, last.max(0)) * 2 + parity
            } else {
                row
            };
            let inside = inside.clamp(0, height - 1) as usize;
            let line = &source.data[inside * source.width..][..columns];
            copy_row(line, x, out);
            let lut = &self.luts[parity as usize];
            if lut.active {
                let table = if plane == 0 { &lut.luma } else { &lut.chroma };
                out.iter_mut().for_each(|sample| *sample = table[usize::from(*sample)]);
            }
        }
    }
}

/// Copies samples of a row from column `x` on; columns outside are those of the edges.
#[inline]
fn copy_row(line: &[u8], x: i32, out: &mut [u8]) {
    if x >= 0 && x as usize + out.len() <= line.len() {
        out.copy_from_slice(&line[x as usize..][..out.len()]);
        return;
    }
    let last = line.len() as i32 - 1;
    for (column, out) in out.iter_mut().enumerate() {
        *out = line[x.saturating_add(column as i32).clamp(0, last) as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::{Intensity, Lut, RangeReduction, scale_and_shift};

    /// Oracle: the cases of 8.3.8. A scale of 32 and a shift of 0 change nothing; scale 0 inverts.
    #[test]
    fn intensity_changes_as_defined() {
        let change =
            |scale, shift| Lut::new(RangeReduction::None, [Some(Intensity { scale, shift }), None]);
        let same = change(32, 0);
        assert!((0..256).all(|n| same.luma[n] as usize == n && same.chroma[n] as usize == n));
        let inverse = change(0, 0);
        assert!((0..256).all(|n| inverse.luma[n] as usize == 255 - n));
        assert_eq!(change(32, 63).luma[100], 99);
        assert_eq!(change(0, 63).luma[0], 255);
        assert_eq!(scale_and_shift(Intensity { scale: 0, shift: 63 }), (-64, 257 * 64));
    }

    #[test]
    fn ranges_are_halved_and_doubled_around_128() {
        let down = Lut::new(RangeReduction::Down, [None; 2]);
        let up = Lut::new(RangeReduction::Up, [None; 2]);
        assert_eq!([down.luma[0], down.luma[255], down.chroma[129]], [64, 191, 128]);
        assert_eq!([up.luma[64], up.luma[191], up.luma[0]], [0, 254, 0]);
    }
}
