//! Reconstruction of a macroblock: prediction (8.3, 8.4.2) and residual (8.5).

use super::interpolate;
use super::intra::{
    ABOVE, ABOVE_RIGHT, CORNER, Edge4, Edge8, Edge16, EdgeChroma, LEFT_LOWER, LEFT_UPPER,
    available_to_block, predict_4x4, predict_8x8, predict_16x16, predict_chroma,
};
use super::parameters::count_of;
use super::residual::raster;
use super::state::Decoder;
use super::transform::{add_4x4, add_4x4_dc, add_8x8, add_8x8_dc};
use super::weight;
use super::{Prediction, SliceKind};
use crate::Structure;

/// Samples of an inter prediction: Y, then Cb, then Cr, each with the stride of its plane.
pub(super) type Samples = [u8; 384];
/// First sample of each plane in [`Samples`].
pub(super) const PLANE_START: [usize; 3] = [0, 256, 320];
/// Samples of a row of each plane.
pub(super) const PLANE_WIDTH: [usize; 3] = [16, 8, 8];

/// A block of luma samples in the macroblock.
#[derive(Clone, Copy, Debug)]
struct Area {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

/// An area of a macroblock that is predicted.
#[derive(Clone, Copy, Debug)]
pub(super) enum Predicted {
    /// All of luma.
    Luma,
    /// A 4x4 luma block in the order of decoding, or the 8x8 block that starts with it.
    Block(usize),
    /// Cb and Cr.
    Chroma,
}

/// Weighting of the predictions of a block (8.4.2.3).
#[derive(Clone, Copy, Debug)]
struct Weighting {
    denominator: u8,
    weights: [i16; 2],
    offsets: [i16; 2],
}

impl Decoder<'_, '_> {
    /// Number of planes.
    pub fn planes(&self) -> usize {
        if self.parameters.monochrome { 1 } else { 3 }
    }

    /// Offset in a plane of the macroblock's first sample, and the distance of its rows.
    pub fn origin(&self, plane: usize) -> (usize, usize) {
        let size = PLANE_WIDTH[plane];
        let width = self.frame.planes[plane].width;
        let (row, step) = match (self.current.field, self.parameters.structure) {
            (true, _) => (self.y / 2 * 2 * size + self.y % 2, 2),
            (false, Structure::Frame) => (self.y * size, 1),
            (false, Structure::Top) => (2 * self.y * size, 2),
            (false, Structure::Bottom) => (2 * self.y * size + 1, 2),
        };
        (row * width + self.x * size, step * width)
    }

    /// Predicts the macroblock and adds its residual.
    pub fn reconstruct(&mut self) {
        self.reconstruct_with(&mut |_, _| {});
    }

    /// As [`Decoder::reconstruct`]. Calls `predicted` for each area whose prediction is in the
    /// frame and whose residual is to be added: the encoder finds the residual then.
    pub fn reconstruct_with(&mut self, predicted: &mut impl FnMut(&mut Self, Predicted)) {
        if self.current.is_intra() {
            self.reconstruct_intra(predicted);
        } else {
            self.predict_inter();
            predicted(self, Predicted::Luma);
            if self.with_any != 0 {
                self.add_luma();
            }
        }
        if self.planes() > 1 {
            predicted(self, Predicted::Chroma);
        }
        if self.with_any != 0 {
            self.add_chroma();
        }
        self.with_any = 0;
        self.with_ac = 0;
    }

    /// Writes the samples of `I_PCM`, or an inter prediction.
    pub fn put_samples(&mut self, samples: &Samples) {
        for plane in 0..self.planes() {
            let (start, stride) = self.origin(plane);
            let width = PLANE_WIDTH[plane];
            let to = self.frame.planes[plane].data.get_mut(start..).unwrap_or_default();
            let from = samples[PLANE_START[plane]..].chunks_exact(width);
            for (to, from) in to.chunks_mut(stride).zip(from).take(width) {
                to[..width].copy_from_slice(from);
            }
        }
    }

    /// Adds the residual of a 4x4 block, and clears its coefficients.
    fn add_block(&mut self, block: usize, plane: usize, at: usize, stride: usize) {
        if self.with_any >> block & 1 == 0 {
            return;
        }
        let to = self.frame.planes[plane].data.get_mut(at..).unwrap_or_default();
        let coefficients = &mut self.coefficients[16 * block..16 * block + 16];
        if let Some(coefficients) = coefficients.first_chunk_mut::<16>() {
            if self.with_ac >> block & 1 == 1 {
                add_4x4(coefficients, to, stride);
            } else if coefficients[0] != 0 {
                add_4x4_dc(coefficients[0], to, stride);
            }
            *coefficients = [0; 16];
        }
    }

    /// As `add_block` for an 8x8 block, whose first 4x4 block is `block`.
    fn add_block_8x8(&mut self, block: usize, at: usize, stride: usize) {
        if self.with_any >> block & 1 == 0 {
            return;
        }
        let to = self.frame.planes[0].data.get_mut(at..).unwrap_or_default();
        let coefficients = &mut self.coefficients[16 * block..16 * block + 64];
        if let Some(coefficients) = coefficients.first_chunk_mut::<64>() {
            if self.with_ac >> block & 1 == 1 {
                add_8x8(coefficients, to, stride);
            } else if coefficients[0] != 0 {
                add_8x8_dc(coefficients[0], to, stride);
            }
            *coefficients = [0; 64];
        }
    }

    fn add_luma(&mut self) {
        let (start, stride) = self.origin(0);
        let at = |block: usize| {
            let block = raster(block);
            start + block / 4 * 4 * stride + block % 4 * 4
        };
        if self.current.transform_8x8 {
            for block in [0, 4, 8, 12] {
                self.add_block_8x8(block, at(block), stride);
            }
        } else {
            for block in 0..16 {
                self.add_block(block, 0, at(block), stride);
            }
        }
    }

    fn add_chroma(&mut self) {
        for block in 16..24 {
            let plane = block / 4 - 3;
            let (start, stride) = self.origin(plane);
            let at = start + block / 2 % 2 * 4 * stride + block % 2 * 4;
            self.add_block(block, plane, at, stride);
        }
    }

    /// Neighbours of the macroblock that intra prediction may use.
    pub fn available(&self) -> u8 {
        let usable =
            |near: usize| self.macroblocks[near].is_intra() || !self.parameters.constrained_intra;
        let mut available = 0;
        let neighbours = &self.neighbours;
        if neighbours.left.is_some() {
            for (half, flag) in neighbours.left_samples.iter().zip([LEFT_UPPER, LEFT_LOWER]) {
                if half.iter().all(|&near| usable(near)) {
                    available |= flag;
                }
            }
        }
        for (near, flag) in [
            (neighbours.above, ABOVE),
            (neighbours.above_right, ABOVE_RIGHT),
            (neighbours.corner[0].map(|(near, _)| near), CORNER),
        ] {
            if near.is_some_and(usable) {
                available |= flag;
            }
        }
        available
    }

    fn reconstruct_intra(&mut self, predicted: &mut impl FnMut(&mut Self, Predicted)) {
        let available = self.available();
        self.current.available = available;
        match self.current.prediction {
            Prediction::Intra16x16 => {
                let (start, stride) = self.origin(0);
                let data = &mut self.frame.planes[0].data;
                let edge = Edge16::read(data, start, stride, available & !ABOVE_RIGHT);
                let to = data.get_mut(start..).unwrap_or_default();
                predict_16x16(self.intra_16x16_mode, &edge, to, stride);
                predicted(self, Predicted::Luma);
                self.add_luma();
            }
            Prediction::Intra8x8 => self.reconstruct_8x8(available, predicted),
            _ => self.reconstruct_4x4(available, predicted),
        }
        for plane in 1..self.planes() {
            let (start, stride) = self.origin(plane);
            let data = &mut self.frame.planes[plane].data;
            let edge = EdgeChroma::read(data, start, stride, available & !ABOVE_RIGHT);
            let to = data.get_mut(start..).unwrap_or_default();
            predict_chroma(self.current.chroma_mode, &edge, to, stride);
        }
    }

    fn reconstruct_4x4(&mut self, available: u8, predicted: &mut impl FnMut(&mut Self, Predicted)) {
        let (start, stride) = self.origin(0);
        for block in 0..16 {
            let position = raster(block);
            let (x, y) = (position % 4, position / 4);
            let at = start + 4 * y * stride + 4 * x;
            let flags = available_to_block(available, (x, y), 1);
            let data = &mut self.frame.planes[0].data;
            let edge = Edge4::read(data, at, stride, flags);
            let to = data.get_mut(at..).unwrap_or_default();
            predict_4x4(self.current.modes[position], &edge, to, stride);
            predicted(self, Predicted::Block(block));
            self.add_block(block, 0, at, stride);
        }
    }

    fn reconstruct_8x8(&mut self, available: u8, predicted: &mut impl FnMut(&mut Self, Predicted)) {
        let (start, stride) = self.origin(0);
        for block in [0, 4, 8, 12] {
            let position = raster(block);
            let (x, y) = (position % 4, position / 4);
            let at = start + 4 * y * stride + 4 * x;
            let flags = available_to_block(available, (x, y), 2);
            let data = &mut self.frame.planes[0].data;
            let edge = Edge8::read(data, at, stride, flags);
            let to = data.get_mut(at..).unwrap_or_default();
            predict_8x8(self.current.modes[position], &edge, to, stride);
            predicted(self, Predicted::Block(block));
            self.add_block_8x8(block, at, stride);
        }
    }

    /// Inter prediction: the largest areas of equal motion of 16x16, 8x8 and 4x4.
    fn predict_inter(&mut self) {
        let mut samples = [0; 384];
        let whole = [0, 1].into_iter().all(|list| {
            let (references, vectors) =
                (&self.current.references[list], &self.current.vectors[list]);
            *references == [references[0]; 4] && *vectors == [vectors[0]; 16]
        });
        if whole {
            self.predict_area(Area { x: 0, y: 0, width: 16, height: 16 }, &mut samples);
            self.put_samples(&samples);
            return;
        }
        for quarter in 0..4 {
            let (x, y) = (quarter % 2 * 8, quarter / 2 * 8);
            let first = y + x / 4;
            let equal = self.current.vectors.iter().all(|vectors| {
                [first + 1, first + 4, first + 5].iter().all(|&at| vectors[at] == vectors[first])
            });
            if equal {
                self.predict_area(Area { x, y, width: 8, height: 8 }, &mut samples);
            } else {
                for part in 0..4 {
                    let (x, y) = (x + part % 2 * 4, y + part / 2 * 4);
                    self.predict_area(Area { x, y, width: 4, height: 4 }, &mut samples);
                }
            }
        }
        self.put_samples(&samples);
    }

    /// Predicts an area of equal motion.
    fn predict_area(&mut self, area: Area, samples: &mut Samples) {
        let quarter = area.y / 8 * 2 + area.x / 8;
        let references = [0, 1].map(|list| self.current.references[list][quarter]);
        match references.map(|reference| reference >= 0) {
            [true, true] => {
                let mut second = [0; 384];
                self.interpolate(0, area, samples);
                self.interpolate(1, area, &mut second);
                for plane in 0..self.planes() {
                    let (at, size, stride) = area_of(area, plane);
                    let (first, second) = (&mut samples[at..], &second[at..]);
                    match self.weighting(plane, references) {
                        None => weight::average(first, second, stride, size),
                        Some(Weighting { denominator, weights, offsets }) => weight::double(
                            first,
                            second,
                            stride,
                            size,
                            denominator,
                            weights,
                            offsets,
                        ),
                    }
                }
            }
            [false, false] => {}
            [first, _] => {
                let list = usize::from(!first);
                self.interpolate(list, area, samples);
                for plane in 0..self.planes() {
                    if let Some(weighting) = self.weighting(plane, references) {
                        let (at, size, stride) = area_of(area, plane);
                        weight::single(
                            &mut samples[at..],
                            stride,
                            size,
                            weighting.denominator,
                            weighting.weights[list],
                            weighting.offsets[list],
                        );
                    }
                }
            }
        }
    }

    /// The weighting of a plane, `None` for the default (8.4.2.3).
    fn weighting(&self, plane: usize, references: [i8; 2]) -> Option<Weighting> {
        let parameters = self.parameters;
        let explicit = match self.slice.kind {
            SliceKind::B => parameters.weighted_biprediction == 1,
            _ => parameters.weighted_prediction,
        };
        if explicit {
            let shift = usize::from(self.current.field);
            let weights = [0, 1].map(|list| {
                let index = references[list].max(0) as usize >> shift & 31;
                self.slice.weights[list][index][plane]
            });
            return Some(Weighting {
                denominator: self.slice.weight_denominators[usize::from(plane > 0)],
                weights: weights.map(|weight| weight.weight),
                offsets: weights.map(|weight| weight.offset),
            });
        }
        let both = references[0] >= 0 && references[1] >= 0;
        let implicit = self.slice.kind == SliceKind::B && parameters.weighted_biprediction == 2;
        if !implicit || !both {
            return None;
        }
        let mut long_term = false;
        let counts = [0, 1].map(|list| {
            let index = references[list];
            let entry = index as usize >> usize::from(self.current.field) & 31;
            long_term |= self.slice.lists[list][entry].long_term;
            self.reference_of(list, index)
                .map_or(0, |(store, structure)| count_of(parameters.counts[store], structure))
        });
        let current = count_of(parameters.count, self.structure());
        let weights = weight::implicit_weights(current, counts[0], counts[1], long_term);
        (weights != [32; 2]).then_some(Weighting { denominator: 5, weights, offsets: [0; 2] })
    }

    /// Interpolates an area from its reference in a list.
    fn interpolate(&mut self, list: usize, area: Area, samples: &mut Samples) {
        let quarter = area.y / 8 * 2 + area.x / 8;
        let vector = self.current.vectors[list][area.y + area.x / 4].map(i32::from);
        let index = self.current.references[list][quarter];
        let Some((store, structure)) = self.reference_of(list, index) else { return };
        let frames = &self.references.frames;
        if frames[store].is_none() {
            self.errors = self.errors.saturating_add(1);
        }
        // A missing frame is replaced by any other reference.
        let Some(frame) = frames[store].or_else(|| frames.iter().find_map(|frame| *frame)) else {
            samples.fill(128);
            return;
        };
        let own = self.structure();
        let row = if self.current.field { self.y / 2 } else { self.y };
        let (x, y) = ((16 * self.x + area.x) as i32, (16 * row + area.y) as i32);
        interpolate::luma(
            frame.planes[0].view(structure),
            (4 * x + vector[0], 4 * y + vector[1]),
            (area.width, area.height),
            &mut samples[16 * area.y + area.x..],
            16,
        );
        let offset = if own.is_field() {
            let bottom = |structure| structure == Structure::Bottom;
            interpolate::chroma_offset(bottom(own), bottom(structure))
        } else {
            0
        };
        for plane in 1..self.planes() {
            let (at, size, stride) = area_of(area, plane);
            interpolate::chroma(
                frame.planes[plane].view(structure),
                (4 * x + vector[0], 4 * y + vector[1] + offset),
                size,
                &mut samples[at..],
                stride,
            );
        }
    }
}

/// Position in [`Samples`], size and stride of an area in a plane.
fn area_of(area: Area, plane: usize) -> (usize, (usize, usize), usize) {
    let (width, shift) = (PLANE_WIDTH[plane], usize::from(plane > 0));
    let at = PLANE_START[plane] + (area.y >> shift) * width + (area.x >> shift);
    (at, (area.width >> shift, area.height >> shift), width)
}
