//! The state while a slice is decoded, and the steps that all kinds of macroblocks use.

use super::compensation::Reference;
use super::input::MOTION_BYTES;
use super::macroblock::{Macroblock, Mv, Quantizer};
use super::parameters::{Alternative, Parameters};
use super::vlc::Codes;
use crate::bits::BitReader;
use crate::{Frame, PlaneMut, Structure};

/// The end of a slice: no code matches, or the data ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damaged;

/// Result of a syntax element.
pub(super) type Decoded<T> = Result<T, Damaged>;

/// Lengths of escaped coefficients of mode 3, which hold for the rest of the slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Escape {
    pub(super) level_bits: u32,
    pub(super) run_bits: u32,
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
    pub(super) bitplanes: &'a [u8],
    /// Forward and backward reference, of top and bottom field.
    pub(super) references: [[Reference<'a>; 2]; 2],
    pub(super) motion: &'a [u8],
    pub(super) target: &'a mut Frame,
    pub(super) structure: Structure,
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

impl Decoder<'_> {
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
        let other = |value: u8| Quantizer { step: value * 2 };
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
        Quantizer { step: self.p.quantizer * 2 + u8::from(self.p.half_step) }
    }

    /// Stores a row of samples in the target; those outside are dropped.
    #[inline]
    pub(super) fn store_row(&mut self, plane: usize, column: usize, row: usize, samples: &[u8]) {
        let mut view = self.target_view(plane);
        let count = samples.len().min(view.width.saturating_sub(column));
        let out = view.row(column, row, count);
        out.iter_mut().zip(samples).for_each(|(out, sample)| *out = *sample);
    }

    /// The rows of a plane of the target.
    pub(super) fn target_view(&mut self, plane: usize) -> PlaneMut<'_> {
        self.target.planes[plane].view_mut(self.structure)
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
}
