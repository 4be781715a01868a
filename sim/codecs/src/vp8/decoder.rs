//! The decoder of a picture, which calls the stages for each macroblock.

use super::bool_decoder::BoolDecoder;
use super::inter::{self, Interpolation};
use super::intra;
use super::loop_filter::{self, Strength};
use super::macroblock::{Macroblock, Mode, Neighbours};
use super::modes;
use super::parameters::{Data, Error, Parameters};
use super::tokens::{self, ByPosition, Coefficients, Context};
use super::transform;
use crate::{Frame, Plane, Report};

/// A frame that was decoded without the loop filter, and what the filter needs.
#[derive(Clone, Debug)]
pub struct Reconstruction<'a> {
    /// What was decoded.
    pub report: Report,
    parameters: &'a Parameters,
    strengths: Vec<Strength>,
}

impl Reconstruction<'_> {
    /// Filters the frame that [`reconstruct`] made (RFC 6386 15). Samples outside the picture stay
    /// as they are.
    ///
    /// # Errors
    /// If a plane has fewer samples than its size states.
    pub fn filter(&self, frame: &mut Frame) -> Result<(), Error> {
        check_planes(frame)?;
        let parameters = self.parameters;
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
pub fn reconstruct<'a>(
    parameters: &'a Parameters,
    data: &Data,
    references: [Option<&Frame>; 3],
    target: &mut Frame,
    segments: &mut [u8],
) -> Result<Reconstruction<'a>, Error> {
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
    Ok(Reconstruction { report, parameters, strengths })
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
