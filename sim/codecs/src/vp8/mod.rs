//! The decoder of VP8 (RFC 6386), from the first macroblock of a frame on. The frame header is
//! parsed by the application; what it states comes as [`Parameters`] and [`Start`].
//!
//! [`decode`] makes the frame as it is displayed and referred to. [`reconstruct`] makes it without
//! the loop filter, for callers that want both forms; [`Reconstruction::filter`] then filters it.
//!
//! In reading order:
//! * `bool_decoder`: the entropy decoder.
//! * `modes`, `vectors`: the header of a macroblock.
//! * `tokens`, `transform`: the residual.
//! * `intra`, `inter`: the prediction.
//! * `loop_filter`: the filter over the edges of blocks.
//! * `tables`: the constants of all of them.

mod bool_decoder;
mod inter;
mod intra;
mod loop_filter;
mod modes;
mod tables;
mod tokens;
mod transform;
mod vectors;

use crate::{Frame, Plane, Report};
use bool_decoder::BoolDecoder;
use inter::Interpolation;
use loop_filter::Strength;
use modes::{Macroblock, Mode};
use std::fmt;
use tokens::{ByPosition, Coefficients, Context};
use vectors::Neighbours;

/// Probabilities of coefficients by kind of block (luma without DC, second-order luma, chroma, luma
/// with DC), band, context and node of the tree of tokens (RFC 6386 13.3).
pub type CoefficientProbabilities = [[[[u8; 11]; 3]; 8]; 4];

/// What a picture's packets state. "Macroblock" is 16 x 16 samples of luma.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Macroblocks in a row, 1..=256.
    pub width: usize,
    /// Rows of macroblocks, 1..=256.
    pub height: usize,
    /// The frame refers to no other (RFC 6386 9.1).
    pub key_frame: bool,
    /// Interpolation takes two samples instead of six (versions 1 to 3; RFC 6386 5).
    pub bilinear: bool,
    /// Chroma vectors are rounded down to whole samples (version 3; RFC 6386 5).
    pub full_pixel_chroma: bool,
    /// The kind of the loop filter (filter_type; RFC 6386 9.6).
    pub filter_type: FilterType,
    /// Levels of the loop filter of the segments, 0..=63. Only the first counts without
    /// segmentation.
    pub filter_levels: [u8; 4],
    /// Sharpness of the loop filter, 0..=7 (sharpness_level).
    pub sharpness: u8,
    /// Reference and mode change the level (loop_filter_adj_enable).
    pub filter_deltas: bool,
    /// Changes of the level for intra, last, golden and alternate reference, -63..=63.
    pub reference_deltas: [i8; 4],
    /// Changes of the level for modes, -63..=63: B_PRED, zero vector, other vector, split.
    pub mode_deltas: [i8; 4],
    /// Macroblocks belong to segments (segmentation_enabled; RFC 6386 9.3).
    pub segmentation: bool,
    /// Each macroblock states its segment (update_mb_segmentation_map).
    pub update_segments: bool,
    /// If macroblocks do not state their segment, it comes from the segment map. Without this bit
    /// it is 0.
    pub segments_in: bool,
    /// Segments of this picture are stored in the segment map.
    pub segments_out: bool,
    /// The quantisers of the segments. Only the first counts without segmentation.
    pub quantisers: [Quantiser; 4],
    /// Macroblocks state whether they lack coefficients (mb_no_coeff_skip; RFC 6386 9.11).
    pub skipping: bool,
    /// Vectors to the golden frame have the opposite sign (sign_bias_golden; RFC 6386 9.7).
    pub golden_sign_bias: bool,
    /// Vectors to the alternate frame have the opposite sign (sign_bias_alternate).
    pub alternate_sign_bias: bool,
    /// Probabilities of all syntax elements.
    pub probabilities: Probabilities,
}

/// The kind of the loop filter (RFC 6386 9.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FilterType {
    /// Changes up to three samples on each side, in all planes (RFC 6386 15.3).
    #[default]
    Normal,
    /// Changes one sample on each side, in the luma plane (RFC 6386 15.2).
    Simple,
}

/// The factors of coefficients, not indices of them (RFC 6386 9.6, 14.1). The first of each pair is
/// that of the DC coefficient, the second that of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quantiser {
    /// Luma, 4..=284.
    pub y1: [u16; 2],
    /// Second-order luma, 8..=440.
    pub y2: [u16; 2],
    /// Chroma, 4..=284.
    pub uv: [u16; 2],
}

/// Probabilities that a bit is zero, in units of 1/256.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probabilities {
    /// Tree of segments (mb_segment_tree_probs; RFC 6386 9.3).
    pub segments: [u8; 3],
    /// A macroblock has coefficients (prob_skip_false).
    pub skip: u8,
    /// A macroblock is intra (prob_intra).
    pub intra: u8,
    /// An inter macroblock refers to the last frame (prob_last).
    pub last: u8,
    /// It refers to the golden frame if not to the last one (prob_gf).
    pub golden: u8,
    /// Tree of luma modes in inter frames (intra_16x16_prob). Key frames have constant ones.
    pub luma_modes: [u8; 4],
    /// Tree of chroma modes in inter frames (intra_chroma_prob).
    pub chroma_modes: [u8; 3],
    /// Components of motion vectors: rows, then columns (RFC 6386 17.2).
    pub vectors: [[u8; 19]; 2],
    /// Tokens of coefficients.
    pub coefficients: CoefficientProbabilities,
}

/// State of the entropy decoder after the frame header (RFC 6386 7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Start {
    /// The range, 128..=255. Smaller values are taken as 128.
    pub range: u8,
    /// The eight bits that are compared with the split of the range.
    pub value: u8,
    /// Number of bits of the first byte of [`Data::modes`], from the most significant one on, that
    /// are in `value` already; 0..=7.
    pub count: u8,
}

/// The bytes of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    /// State of the decoder of `modes`.
    pub start: Start,
    /// The first partition from the byte on that `start` refers to.
    pub modes: &'a [u8],
    /// The partitions of coefficients: 1, 2, 4 or 8. Row y of macroblocks is in partition y modulo
    /// their number.
    pub coefficients: &'a [&'a [u8]],
}

/// Parameters or buffers that do not describe a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// The picture has no macroblocks, or too many.
    Size {
        /// Macroblocks in a row.
        width: usize,
        /// Rows of macroblocks.
        height: usize,
    },
    /// The number of partitions of coefficients is not 1, 2, 4 or 8.
    Partitions(usize),
    /// The segment map has fewer entries than the picture has macroblocks.
    Segments {
        /// Entries of the map.
        entries: usize,
        /// Macroblocks of the picture.
        macroblocks: usize,
    },
    /// A plane has fewer samples than its size states.
    Samples {
        /// Samples of the plane.
        samples: usize,
        /// Width times height.
        size: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Size { width, height } => {
                write!(f, "VP8 picture of {width} x {height} macroblocks: use 1 to 256 each")
            }
            Error::Partitions(count) => {
                write!(f, "{count} VP8 partitions of coefficients: use 1, 2, 4 or 8")
            }
            Error::Segments { entries, macroblocks } => write!(
                f,
                "VP8 segment map of {entries} entries: use one for each of the {macroblocks} \
                 macroblocks"
            ),
            Error::Samples { samples, size } => {
                write!(f, "plane of {samples} samples: use width times height, {size}")
            }
        }
    }
}

impl std::error::Error for Error {}

/// A frame that was decoded without the loop filter, and what the filter needs.
#[derive(Clone, Debug)]
pub struct Reconstruction {
    /// What was decoded.
    pub report: Report,
    parameters: Parameters,
    strengths: Vec<Strength>,
}

impl Reconstruction {
    /// True if the loop filter would leave the frame as it is because all levels are 0.
    pub fn is_final(&self) -> bool {
        self.strengths.iter().all(|strength| strength.level == 0)
    }

    /// Filters the frame that [`reconstruct`] made (RFC 6386 15). Samples outside the picture stay
    /// as they are.
    ///
    /// # Errors
    /// If a plane has fewer samples than its size states.
    pub fn filter(&self, frame: &mut Frame) -> Result<(), Error> {
        check_planes(frame)?;
        let parameters = &self.parameters;
        on_whole_macroblocks(frame, (parameters.width, parameters.height), |planes| {
            loop_filter::filter(parameters, &self.strengths, planes);
        });
        Ok(())
    }
}

/// Decodes a picture with the loop filter. The arguments are those of [`reconstruct`].
///
/// A level of 0 in the frame header disables the filter even if segments or changes of levels
/// result in others (RFC 6386 9.6). The level of the header is not among the parameters: for such a
/// picture, call [`reconstruct`] alone.
///
/// # Errors
/// Those of [`reconstruct`].
pub fn decode(
    parameters: &Parameters,
    data: &Data,
    references: [Option<&Frame>; 3],
    target: &mut Frame,
    segments: &mut [u8],
) -> Result<Report, Error> {
    let reconstruction = reconstruct(parameters, data, references, target, segments)?;
    reconstruction.filter(target)?;
    Ok(reconstruction.report)
}

/// Decodes a picture without the loop filter.
///
/// `references` are the last, the golden and the alternate frame. Outside the picture, of whole
/// macroblocks, their edges are repeated. A missing reference reads as 0.
///
/// Samples of `target` outside the picture stay as they are, as do macroblocks that are missing in
/// the data. If `target` is smaller than the picture, it receives what fits.
///
/// `segments` is the segment map: an entry of 0..=3 for each macroblock, row by row. The caller
/// keeps it from picture to picture. It may be empty if [`Parameters::segmentation`] is false.
///
/// # Errors
/// If the size of the picture, the number of partitions, the segment map or a plane is not as
/// described.
pub fn reconstruct(
    parameters: &Parameters,
    data: &Data,
    references: [Option<&Frame>; 3],
    target: &mut Frame,
    segments: &mut [u8],
) -> Result<Reconstruction, Error> {
    let (width, height) = (parameters.width, parameters.height);
    if !(1..=256).contains(&width) || !(1..=256).contains(&height) {
        return Err(Error::Size { width, height });
    }
    if !matches!(data.coefficients.len(), 1 | 2 | 4 | 8) {
        return Err(Error::Partitions(data.coefficients.len()));
    }
    let macroblocks = width * height;
    if parameters.segmentation && segments.len() < macroblocks {
        return Err(Error::Segments { entries: segments.len(), macroblocks });
    }
    for frame in references.iter().flatten() {
        check_planes(frame)?;
    }
    check_planes(target)?;
    let decoder = Decoder {
        parameters,
        probabilities: tokens::by_position(&parameters.probabilities.coefficients),
        references: references.map(|frame| frame.map(|frame| &frame.planes)),
        missing: Frame::default().planes,
        interpolation: Interpolation {
            bilinear: parameters.bilinear,
            full_pixel_chroma: parameters.full_pixel_chroma,
        },
    };
    let mut strengths = vec![Strength::default(); macroblocks];
    let report = on_whole_macroblocks(target, (width, height), |planes| {
        decoder.picture(data, planes, segments, &mut strengths)
    });
    Ok(Reconstruction { report, parameters: parameters.clone(), strengths })
}

fn check_planes(frame: &Frame) -> Result<(), Error> {
    for plane in &frame.planes {
        let (samples, size) = (plane.data.len(), plane.width.saturating_mul(plane.height));
        if samples < size {
            return Err(Error::Samples { samples, size });
        }
    }
    Ok(())
}

/// Calls `work` with planes that hold at least `width` x `height` macroblocks: those of the frame,
/// or larger copies of them.
fn on_whole_macroblocks<T>(
    frame: &mut Frame,
    (width, height): (usize, usize),
    work: impl FnOnce(&mut [Plane; 3]) -> T,
) -> T {
    let fits =
        |plane: &Plane, size: usize| plane.width >= size * width && plane.height >= size * height;
    let [y, cb, cr] = &frame.planes;
    if fits(y, 16) && fits(cb, 8) && fits(cr, 8) {
        return work(&mut frame.planes);
    }
    let mut whole = Frame::new(16 * width, 16 * height, (2, 2), 0);
    for (from, to) in frame.planes.iter().zip(&mut whole.planes) {
        copy_common(from, to);
    }
    let result = work(&mut whole.planes);
    for (from, to) in whole.planes.iter().zip(&mut frame.planes) {
        copy_common(from, to);
    }
    result
}

/// Copies the samples that both planes have.
fn copy_common(from: &Plane, to: &mut Plane) {
    let width = from.width.min(to.width);
    for row in 0..from.height.min(to.height) {
        to.data[row * to.width..][..width].copy_from_slice(&from.data[row * from.width..][..width]);
    }
}

/// What all macroblocks of a picture have in common.
struct Decoder<'a> {
    parameters: &'a Parameters,
    probabilities: Box<ByPosition>,
    references: [Option<&'a [Plane; 3]>; 3],
    /// Planes without samples.
    missing: [Plane; 3],
    interpolation: Interpolation,
}

impl Decoder<'_> {
    /// Decodes all macroblocks. Stores the strength of the loop filter for each.
    fn picture(
        &self,
        data: &Data,
        planes: &mut [Plane; 3],
        segments: &mut [u8],
        strengths: &mut [Strength],
    ) -> Report {
        let (width, height) = (self.parameters.width, self.parameters.height);
        let mut report = Report::default();
        let mut modes = BoolDecoder::resume(data.start, data.modes);
        let count = data.coefficients.len();
        let mut partitions: Vec<_> =
            data.coefficients.iter().map(|data| BoolDecoder::new(data)).collect();
        // The row above and the row that is decoded, each after an entry for what is to the left of
        // the picture.
        let mut above = vec![Macroblock::default(); width + 1];
        let mut row = above.clone();
        let mut contexts = vec![Context::default(); width];
        let mut coefficients = Coefficients::default();
        for y in 0..height {
            let partition = &mut partitions[y % count];
            let mut left_context = Context::default();
            for x in 0..width {
                if modes.is_past_end() {
                    report.errors += 1;
                    report.concealed += (width * height) as u32 - report.macroblocks;
                    return report;
                }
                let neighbours =
                    Neighbours { above: &above[x + 1], left: &row[x], above_left: &above[x] };
                let index = y * width + x;
                let mut none = 0;
                let segment = segments.get_mut(index).unwrap_or(&mut none);
                let macroblock =
                    modes::read(&mut modes, self.parameters, &neighbours, (x, y), segment);
                let second_order = macroblock.has_second_order();
                let mut any = false;
                if macroblock.skip {
                    tokens::clear_context(&mut contexts[x], second_order);
                    tokens::clear_context(&mut left_context, second_order);
                } else {
                    any = coefficients.read(
                        partition,
                        &self.probabilities,
                        &self.parameters.quantisers[usize::from(macroblock.segment & 3)],
                        second_order,
                        (&mut contexts[x], &mut left_context),
                    );
                    report.errors += u32::from(partition.is_past_end());
                }
                let residual = any.then_some(&mut coefficients);
                let found = self.macroblock(&macroblock, residual, planes, (x, y));
                report.errors += u32::from(!found);
                report.macroblocks += 1;
                strengths[index] = Strength::of(self.parameters, &macroblock, any);
                row[x + 1] = macroblock;
            }
            std::mem::swap(&mut above, &mut row);
        }
        report.errors += u32::from(modes.is_past_end());
        report
    }

    /// Predicts a macroblock and adds the residual. Returns false if its reference is missing.
    fn macroblock(
        &self,
        macroblock: &Macroblock,
        residual: Option<&mut Coefficients>,
        planes: &mut [Plane; 3],
        (x, y): (usize, usize),
    ) -> bool {
        let mut found = true;
        match macroblock.mode {
            Mode::Whole(mode) => {
                let [luma, ..] = planes;
                intra::predict::<16>(&mut luma.data, luma.width, (16 * x, 16 * y), mode);
                self.predict_chroma(macroblock, planes, (x, y));
            }
            Mode::Subblocks => {
                let residual = residual.as_deref();
                self.subblocks(macroblock, residual, &mut planes[0], (x, y));
                self.predict_chroma(macroblock, planes, (x, y));
            }
            _ => {
                let reference = usize::from(macroblock.reference).saturating_sub(1) % 3;
                let reference = self.references[reference];
                found = reference.is_some();
                let size = (self.parameters.width, self.parameters.height);
                let reference = reference.unwrap_or(&self.missing);
                let at = ((x, y), size);
                inter::predict(macroblock, reference, planes, at, self.interpolation);
            }
        }
        if let Some(residual) = residual {
            add_residual(macroblock, residual, planes, (x, y));
        }
        found
    }

    /// Predicts the chroma samples of an intra macroblock.
    fn predict_chroma(
        &self,
        macroblock: &Macroblock,
        planes: &mut [Plane; 3],
        (x, y): (usize, usize),
    ) {
        for plane in &mut planes[1..] {
            let stride = plane.width;
            intra::predict::<8>(&mut plane.data, stride, (8 * x, 8 * y), macroblock.chroma);
        }
    }

    /// Predicts and reconstructs the luma samples, one subblock after the other (RFC 6386 12.3).
    fn subblocks(
        &self,
        macroblock: &Macroblock,
        residual: Option<&Coefficients>,
        luma: &mut Plane,
        (x, y): (usize, usize),
    ) {
        let (stride, at) = (luma.width, (16 * x, 16 * y));
        let mut window = intra::window(&luma.data, stride, at, 16 * self.parameters.width);
        for (index, &mode) in macroblock.subblocks.iter().enumerate() {
            let start = intra::WINDOW_START + index / 4 * 4 * intra::WINDOW_STRIDE + index % 4 * 4;
            intra::predict_subblock(&mut window, start, mode);
            if let Some(residual) = residual
                && residual.ends[index] > 0
            {
                let block = &residual.blocks[index];
                let dc_only = residual.ends[index] == 1;
                transform::add(&mut window[start..], intra::WINDOW_STRIDE, block, dc_only);
            }
        }
        for row in 0..16 {
            let from = &window[intra::WINDOW_START + row * intra::WINDOW_STRIDE..][..16];
            luma.data[(at.1 + row) * stride + at.0..][..16].copy_from_slice(from);
        }
    }
}

/// Adds the residual to a predicted macroblock, except to the luma samples of [`Mode::Subblocks`].
fn add_residual(
    macroblock: &Macroblock,
    residual: &mut Coefficients,
    planes: &mut [Plane; 3],
    (x, y): (usize, usize),
) {
    let [luma, chroma @ ..] = planes;
    if macroblock.has_second_order() && residual.ends[24] > 0 {
        for (index, dc) in transform::inverse_walsh(&residual.blocks[24]).into_iter().enumerate() {
            residual.blocks[index][0] = dc;
            residual.ends[index] = residual.ends[index].max(u8::from(dc != 0));
        }
    }
    let add = |plane: &mut Plane, index: usize, (x, y): (usize, usize)| {
        let end = residual.ends[index];
        if end > 0 {
            let stride = plane.width;
            let samples = &mut plane.data[y * stride + x..];
            transform::add(samples, stride, &residual.blocks[index], end == 1);
        }
    };
    if macroblock.mode != Mode::Subblocks {
        for index in 0..16 {
            add(luma, index, (16 * x + 4 * (index % 4), 16 * y + 4 * (index / 4)));
        }
    }
    for (plane, chroma) in chroma.iter_mut().enumerate() {
        for index in 0..4 {
            let at = (8 * x + 4 * (index % 2), 8 * y + 4 * (index / 2));
            add(chroma, 16 + 4 * plane + index, at);
        }
    }
}
