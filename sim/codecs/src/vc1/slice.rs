//! The macroblocks of a slice.

use super::block::Escape;
use super::compensation::Reference;
use super::parameters::{Alternative, Coding, Parameters, PictureType};
use super::vlc::{CODES, Codes};
use super::{Input, MOTION_BYTES, Macroblock, Mv, Picture, Slice};
use crate::bits::BitReader;
use crate::{Frame, Plane, PlaneMut, Report, Structure, emulation};

/// The end of a slice: no code matches, or the data ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damaged;

/// Result of a syntax element.
pub(super) type Decoded<T> = Result<T, Damaged>;

/// The quantiser of a macroblock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantizer {
    /// 1 to 31.
    pub(super) value: u8,
    /// Twice the value, plus 1 for a half step.
    pub(super) step: u8,
}

/// Predicted samples of a macroblock.
pub(super) struct Samples {
    pub(super) planes: [[u8; 256]; 3],
}

/// The state while a slice is decoded.
pub(super) struct Decoder<'a> {
    pub(super) p: &'a Parameters,
    pub(super) codes: &'static Codes,
    pub(super) macroblocks: &'a mut [Macroblock],
    pub(super) intra: &'a mut [Vec<i16>; 3],
    pub(super) bits: BitReader<'a>,
    bitplanes: &'a [u8],
    /// Forward and backward reference, of top and bottom field.
    pub(super) references: [[Reference<'a>; 2]; 2],
    motion: &'a [u8],
    pub(super) target: &'a mut Frame,
    structure: Structure,
    /// The slice's first row.
    pub(super) first_row: usize,
    /// Position of the current macroblock.
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) escape: Option<Escape>,
    /// Range of vectors in x and y: they are at least its negative and below it.
    pub(super) range: (i32, i32),
    /// Index of the tables of transforms: PQUANT up to 4, up to 12, above.
    pub(super) transform_codes: usize,
    pub(super) samples: Samples,
}

/// Decodes a slice. See [`Picture::slice`].
pub(super) fn decode(
    picture: &mut Picture,
    slice: &Slice,
    input: &Input<'_>,
    target: &mut Frame,
    motion_out: &mut [u8],
) -> Report {
    let p = &picture.parameters;
    let end_row = slice.end_row.min(p.height_in_mbs);
    let first_row = slice.first_row;
    if first_row >= end_row {
        return Report { errors: 1, ..Report::default() };
    }
    let unescaped;
    let data = if p.advanced {
        unescaped = emulation::remove(input.data);
        &unescaped
    } else {
        input.data
    };
    let reference = |index: usize| {
        let luts = &picture.luts[index % 2];
        Reference::new(input.references[index], p, p.interlaced[index], luts)
    };
    let width = p.width_in_mbs;
    picture.macroblocks[first_row * width..end_row * width].fill(Macroblock::default());
    let structure = match (p.coding.is_field(), p.field()) {
        (false, _) => Structure::Frame,
        (true, 0) => Structure::Top,
        (true, _) => Structure::Bottom,
    };
    let mut decoder = Decoder {
        p,
        codes: &CODES,
        macroblocks: &mut picture.macroblocks,
        intra: &mut picture.intra,
        bits: BitReader::new(data, slice.bit_offset),
        bitplanes: input.bitplanes,
        references: [[reference(0), reference(2)], [reference(1), reference(3)]],
        motion: input.motion,
        target,
        structure,
        first_row,
        x: 0,
        y: first_row,
        escape: None,
        range: vector_range(p),
        transform_codes: usize::from(p.quantizer > 4) + usize::from(p.quantizer > 12),
        samples: Samples { planes: [[0; 256]; 3] },
    };
    let report = decoder.run(end_row);
    decoder.write_motion(motion_out, report.macroblocks as usize);
    report
}

/// The range of vectors in quarter samples (8.3.5.2).
fn vector_range(p: &Parameters) -> (i32, i32) {
    let (bits_x, bits_y) = vector_bits(p);
    let half = u32::from(p.half_vectors() && p.coding != Coding::Progressive);
    (1 << (bits_x - 1 + half), 1 << (bits_y - 1 + half))
}

/// Bits of escaped vectors in quarter samples (8.3.5.2).
pub(super) fn vector_bits(p: &Parameters) -> (u32, u32) {
    let range = u32::from(p.mv_range);
    (range + 9 + (range >> 1), range + 8)
}

impl Decoder<'_> {
    /// Decodes the macroblocks up to row `end_row`, then filters what was decoded.
    fn run(&mut self, end_row: usize) -> Report {
        let width = self.p.width_in_mbs;
        let mut report = Report::default();
        'rows: for y in self.first_row..end_row {
            for x in 0..width {
                (self.x, self.y) = (x, y);
                if self.macroblock().is_err() {
                    report.errors += 1;
                    break 'rows;
                }
                report.macroblocks += 1;
                if self.bits.overrun() > 0 {
                    report.errors += 1;
                    break 'rows;
                }
            }
        }
        let count = report.macroblocks as usize;
        let decoded = self.first_row * width + count;
        // The macroblock that failed may have left flags behind.
        if let Some(failed) = self.macroblocks.get_mut(decoded..end_row * width) {
            failed.fill(Macroblock::default());
        }
        report.concealed = ((end_row - self.first_row) * width - count) as u32;
        let end_row = decoded.div_ceil(width);
        if self.p.overlap && self.p.picture != PictureType::B {
            self.smooth(end_row);
        }
        self.store_intra(end_row);
        if self.p.loop_filter {
            self.deblock(end_row);
        }
        report
    }

    /// Decodes a macroblock.
    fn macroblock(&mut self) -> Decoded<()> {
        use Coding::{BottomFieldFirst, InterlacedFrame, Progressive, TopFieldFirst};
        match (self.p.picture, self.p.coding) {
            (PictureType::I | PictureType::Bi, _) => self.intra_picture_macroblock(),
            (PictureType::P, Progressive) => self.predicted_macroblock(),
            (PictureType::B, Progressive) => self.bidirectional_macroblock(),
            (PictureType::P, InterlacedFrame) => self.frame_p_macroblock(),
            (PictureType::B, InterlacedFrame) => self.frame_b_macroblock(),
            (PictureType::P, TopFieldFirst | BottomFieldFirst) => self.field_p_macroblock(),
            (PictureType::B, TopFieldFirst | BottomFieldFirst) => self.field_b_macroblock(),
        }
    }

    /// The current macroblock.
    #[inline]
    pub(super) fn current(&mut self) -> &mut Macroblock {
        &mut self.macroblocks[self.y * self.p.width_in_mbs + self.x]
    }

    /// The macroblock at an offset from the current one, which must be in the slice.
    #[inline]
    pub(super) fn neighbour(&self, dx: isize, dy: isize) -> &Macroblock {
        let x = self.x.wrapping_add_signed(dx);
        let y = self.y.wrapping_add_signed(dy);
        &self.macroblocks[y * self.p.width_in_mbs + x]
    }

    /// The current macroblock is in the first row of its slice.
    #[inline]
    pub(super) fn at_top(&self) -> bool {
        self.y == self.first_row
    }

    /// A flag that is in the slice if `raw`, else in bit `bit` of the bit planes.
    pub(super) fn flag(&mut self, raw: bool, bit: u32) -> bool {
        if raw {
            return self.bits.flag();
        }
        if !self.p.bitplanes {
            return false;
        }
        let at = self.y.saturating_mul(self.p.bitplane_pitch).saturating_add(self.x / 2);
        let byte = self.bitplanes.get(at).copied().unwrap_or(0);
        byte >> (self.x % 2 * 4) & 1 << bit != 0
    }

    /// 0 for `0`, 1 for `10`, 2 for `11`.
    pub(super) fn ternary(&mut self) -> u32 {
        if self.bits.flag() { 1 + self.bits.read(1) } else { 0 }
    }

    /// The quantiser of a macroblock with coefficients (7.1.3).
    pub(super) fn quantizer(&mut self) -> Quantizer {
        let p = self.p;
        let other = |value: u8| Quantizer { value, step: value * 2 };
        match p.alternative {
            Alternative::None => {}
            Alternative::Edges(mask) => {
                let edges = [
                    self.x == 0,
                    self.y == 0,
                    self.x == p.width_in_mbs - 1,
                    self.y == p.height_in_mbs - 1,
                ];
                if (0..4).any(|edge| mask & (1 << edge) != 0 && edges[edge]) {
                    return other(p.alternative_quantizer);
                }
            }
            Alternative::Each => {
                let difference = self.bits.read(3) as u8;
                let value = match difference {
                    7 => self.bits.read(5) as u8,
                    _ => p.quantizer + difference,
                };
                return other(value.clamp(1, 31));
            }
            Alternative::Choice => {
                if self.bits.flag() {
                    return other(p.alternative_quantizer);
                }
            }
        }
        self.picture_quantizer()
    }

    /// PQUANT.
    pub(super) fn picture_quantizer(&self) -> Quantizer {
        let value = self.p.quantizer;
        Quantizer { value, step: value * 2 + u8::from(self.p.half_step) }
    }

    /// Stores a row of samples in the target; those outside are dropped.
    #[inline]
    pub(super) fn store_row(&mut self, plane: usize, column: usize, row: usize, samples: &[u8]) {
        let mut view = view(&mut self.target.planes[plane], self.structure);
        let count = samples.len().min(view.width.saturating_sub(column));
        let out = view.row(column, row, count);
        out.iter_mut().zip(samples).for_each(|(out, sample)| *out = *sample);
    }

    /// The rows of a plane of the target.
    pub(super) fn target_view(&mut self, plane: usize) -> PlaneMut<'_> {
        view(&mut self.target.planes[plane], self.structure)
    }

    /// Stores the predicted samples of the current macroblock in the target.
    pub(super) fn store_samples(&mut self) {
        for plane in 0..3 {
            let size = if plane == 0 { 16 } else { 8 };
            let samples = self.samples.planes[plane];
            for (row, samples) in samples.chunks_exact(size).take(size).enumerate() {
                self.store_row(plane, self.x * size, self.y * size + row, samples);
            }
        }
    }

    /// The motion of the macroblock of the backward reference at the same position: vectors of its
    /// blocks 0 and 2, and whether they refer to the field of opposite parity.
    pub(super) fn colocated(&self) -> ([Mv; 2], bool) {
        let at = (self.y * self.p.width_in_mbs + self.x) * MOTION_BYTES;
        let Some(bytes) = self.motion.get(at..at + MOTION_BYTES) else {
            return Default::default();
        };
        if !self.p.motion_present {
            return Default::default();
        }
        let value = |n: usize| i16::from_le_bytes([bytes[n], bytes[n + 1]]);
        let mv = |n: usize| Mv { x: value(n), y: value(n + 2) };
        ([mv(0), mv(4)], bytes[8] & 1 != 0)
    }

    /// Writes the motion of the slice's first `count` macroblocks for later B pictures.
    fn write_motion(&self, out: &mut [u8], count: usize) {
        let first = self.first_row * self.p.width_in_mbs;
        let macroblocks = &self.macroblocks[first..];
        let Some(out) = out.get_mut(first * MOTION_BYTES..) else {
            return;
        };
        for (out, macroblock) in out.chunks_exact_mut(MOTION_BYTES).zip(macroblocks).take(count) {
            let (vectors, opposite) = self.motion_of(macroblock);
            out.fill(0);
            for (out, mv) in out.chunks_exact_mut(4).zip(vectors) {
                out[..2].copy_from_slice(&mv.x.to_le_bytes());
                out[2..].copy_from_slice(&mv.y.to_le_bytes());
            }
            out[8] = u8::from(opposite);
        }
    }
}

/// The rows of a plane that a picture consists of.
fn view(plane: &mut Plane, structure: Structure) -> PlaneMut<'_> {
    plane.view_mut(structure)
}
