//! The residual of a macroblock: source minus prediction, transformed and quantised.

use super::macroblock::Coded;
use super::plan::Residual;
use super::quantise::{Quantiser, Step, chroma_dc, luma_dc, transform_4x4, transform_8x8};
use crate::Frame;
use crate::avc::reconstruct::{PLANE_WIDTH, Predicted};
use crate::avc::residual::raster;
use crate::avc::state::Decoder;
use crate::avc::{Prediction, transform};
use crate::zigzag::{ZIGZAG_4X4, ZIGZAG_8X8};

/// Scan of the DC coefficients of chroma.
const CHROMA_DC: [u8; 4] = [0, 1, 2, 3];

/// Finds the residual of a macroblock.
pub(super) struct Finder<'a> {
    pub source: &'a Frame,
    pub quantiser: &'a Quantiser,
    /// Rounding in units of 1/65536.
    pub rounding: u32,
    pub limit: u32,
    pub coded: Coded,
    /// Where the coefficients go.
    pub residual: &'a mut Residual,
}

impl Finder<'_> {
    /// Finds the residual of an area whose prediction is in the frame, and hands the coefficients
    /// to the decoder, which adds them to the prediction.
    pub fn find(&mut self, decoder: &mut Decoder<'_, '_>, area: Predicted) {
        match area {
            Predicted::Chroma => (1..3).for_each(|plane| self.chroma(decoder, plane)),
            Predicted::Block(block) if decoder.current.transform_8x8 => {
                self.luma_8x8(decoder, block);
            }
            Predicted::Block(block) => self.luma_4x4(decoder, block),
            Predicted::Luma if decoder.current.prediction == Prediction::Intra16x16 => {
                self.luma_16x16(decoder);
            }
            Predicted::Luma if decoder.current.transform_8x8 => {
                [0, 4, 8, 12].into_iter().for_each(|block| self.luma_8x8(decoder, block));
            }
            Predicted::Luma => (0..16).for_each(|block| self.luma_4x4(decoder, block)),
        }
    }

    fn step(&self, decoder: &Decoder<'_, '_>, plane: usize, extra: u32) -> Step {
        Step::new(decoder.current.qp[plane], extra, self.rounding, self.limit)
    }

    /// Source minus prediction of the block of `N` samples in `width` columns at (`x`, `y`) of the
    /// macroblock.
    fn difference<const N: usize>(
        &self,
        decoder: &Decoder<'_, '_>,
        plane: usize,
        (x, y): (usize, usize),
        width: usize,
    ) -> [i32; N] {
        let (start, stride) = decoder.origin(plane);
        let at = start + y * stride + x;
        let mut out = [0; N];
        let rows = |frame: &Frame| at.min(frame.planes[plane].data.len());
        let source = self.source.planes[plane].data[rows(self.source)..].chunks(stride);
        let predicted = decoder.frame.planes[plane].data[rows(decoder.frame)..].chunks(stride);
        for ((out, source), predicted) in out.chunks_exact_mut(width).zip(source).zip(predicted) {
            for ((out, &source), &predicted) in out.iter_mut().zip(source).zip(predicted) {
                *out = i32::from(source) - i32::from(predicted);
            }
        }
        out
    }

    /// Position in the macroblock of a 4x4 luma block in the order of decoding.
    fn position(block: usize) -> (usize, usize) {
        let at = raster(block);
        (at % 4 * 4, at / 4 * 4)
    }

    fn luma_4x4(&mut self, decoder: &mut Decoder<'_, '_>, block: usize) {
        if self.coded.luma >> block & 1 == 0 {
            return;
        }
        let difference = self.difference(decoder, 0, Self::position(block), 4);
        let inter = !decoder.current.is_intra();
        let factors = self.quantiser.four(inter, 0, decoder.current.qp[0]);
        let levels = &mut self.residual.luma[block];
        let step = Step::new(decoder.current.qp[0], 0, self.rounding, self.limit);
        step.levels(&transform_4x4(&difference), factors, scan_4x4(decoder), levels);
        if levels.count > 0 {
            decoder.put_4x4(levels, 0, block);
        }
    }

    /// An 8x8 luma block, whose first 4x4 block is `first`.
    fn luma_8x8(&mut self, decoder: &mut Decoder<'_, '_>, first: usize) {
        if self.coded.luma >> first & 1 == 0 {
            return;
        }
        let difference = self.difference(decoder, 0, Self::position(first), 8);
        let inter = !decoder.current.is_intra();
        let factors = self.quantiser.eight(inter, decoder.current.qp[0]);
        let scan = if decoder.field_coded { &transform::FIELD_8X8 } else { &ZIGZAG_8X8 };
        let step = self.step(decoder, 0, 1);
        let levels = &mut self.residual.luma[first];
        step.levels(&transform_8x8(&difference), factors, scan, levels);
        if levels.count > 0 {
            decoder.put_8x8(levels, first / 4, |position| position);
        }
    }

    fn luma_16x16(&mut self, decoder: &mut Decoder<'_, '_>) {
        let qp = decoder.current.qp[0];
        let factors = self.quantiser.four(false, 0, qp);
        let (step, scan) = (self.step(decoder, 0, 0), scan_4x4(decoder));
        let mut dc = [0; 16];
        let blocks: [[i32; 16]; 16] = std::array::from_fn(|block| {
            transform_4x4(&self.difference(decoder, 0, Self::position(block), 4))
        });
        for (block, coefficients) in blocks.iter().enumerate() {
            dc[raster(block)] = coefficients[0];
            if self.coded.luma >> block & 1 == 1 {
                step.levels(coefficients, factors, &scan[1..], &mut self.residual.luma[block]);
            }
        }
        if self.coded.dc & 1 == 1 {
            let step = self.step(decoder, 0, 1);
            let levels = &mut self.residual.luma_dc;
            step.dc_levels(&luma_dc(&dc), scan, factors[0], levels);
            if levels.count > 0 {
                decoder.put_luma_dc(levels);
            }
        }
        for (block, levels) in self.residual.luma.iter().enumerate() {
            if levels.count > 0 {
                decoder.put_4x4(levels, 1, block);
            }
        }
    }

    fn chroma(&mut self, decoder: &mut Decoder<'_, '_>, plane: usize) {
        let inter = !decoder.current.is_intra();
        let factors = self.quantiser.four(inter, plane, decoder.current.qp[plane]);
        let (step, scan) = (self.step(decoder, plane, 0), scan_4x4(decoder));
        let mut dc = [0; 4];
        for (block, dc) in dc.iter_mut().enumerate() {
            let at = (block % 2 * 4, block / 2 * 4);
            let coefficients = transform_4x4(&self.difference(decoder, plane, at, 4));
            *dc = coefficients[0];
            if self.coded.chroma[plane - 1] >> block & 1 == 1 {
                let levels = &mut self.residual.chroma[4 * (plane - 1) + block];
                step.levels(&coefficients, factors, &scan[1..], levels);
            }
        }
        if self.coded.dc >> plane & 1 == 1 {
            let step = self.step(decoder, plane, 1);
            let levels = &mut self.residual.chroma_dc[plane - 1];
            step.dc_levels(&chroma_dc(dc), &CHROMA_DC, factors[0], levels);
            if levels.count > 0 {
                decoder.put_chroma_dc(levels, plane);
            }
        }
        for block in 0..4 {
            let levels = &self.residual.chroma[4 * (plane - 1) + block];
            if levels.count > 0 {
                decoder.put_4x4(levels, 1, 12 + 4 * plane + block);
            }
        }
    }
}

/// Raster positions of the coefficients of a 4x4 block in coding order.
fn scan_4x4(decoder: &Decoder<'_, '_>) -> &'static [u8; 16] {
    if decoder.field_coded { &transform::FIELD_4X4 } else { &ZIGZAG_4X4 }
}

/// Copies the samples of the macroblock from the source.
pub(super) fn samples(decoder: &Decoder<'_, '_>, source: &Frame, out: &mut [u8; 384]) {
    let mut out = &mut out[..];
    for (plane, width) in PLANE_WIDTH.into_iter().enumerate().take(decoder.planes()) {
        let (start, stride) = decoder.origin(plane);
        let (now, rest) = out.split_at_mut(width * width);
        let source = source.planes[plane].data.get(start..).unwrap_or_default();
        for (to, from) in now.chunks_exact_mut(width).zip(source.chunks(stride)) {
            to.copy_from_slice(&from[..width]);
        }
        out = rest;
    }
}
