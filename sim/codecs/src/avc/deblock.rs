//! Deblocking filter (8.7).

use super::{Macroblock, Parameters, SliceFilter};
use crate::Frame;

/// Filters a decoded picture in place. `macroblocks`: all of the picture, in raster order of the
/// picture (see [`super::macroblock`]). `slices`: by [`Macroblock::slice`]. A macroblock that is not
/// decoded, or has no slice, is not filtered, nor are the edges to it.
pub fn filter(
    parameters: &Parameters,
    macroblocks: &[Macroblock],
    slices: &[SliceFilter],
    frame: &mut Frame,
) {
    let _ = (parameters, macroblocks, slices, frame);
}
