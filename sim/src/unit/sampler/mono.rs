//! The filter MONO: the fraction of set texels in a box around a point (003:2887-2911).

use super::address::TEXEL;
use super::point::Point;
use super::texels::Texels;
use super::view::{Place, View};
use crate::mem::PageFault;

/// The mean of the texels of a box. The point is the centre of the box, and 3DSTATE_MONOFILTER_SIZE
/// gives its width and height. Texels outside of the map count as 0.
///
/// # Errors
/// A page fault at a texel.
pub fn filter(
    view: &View,
    texels: &mut Texels<'_, '_>,
    place: &Place,
    point: &Point,
) -> Result<f32, PageFault> {
    let mut first = [0; 2];
    let mut share = [0.0; 2];
    for n in 0..2 {
        let size = if view.sampler.normalized { f64::from(place.size[n]) } else { 1.0 };
        let fixed = (point.uvr[n] * size * TEXEL as f64).clamp(-1e9, 1e9).floor() as i64;
        let from = fixed - i64::from(view.mono[n]) * TEXEL / 2;
        first[n] = from >> super::address::FRACTION_BITS;
        share[n] = (from & (TEXEL - 1)) as f64 / TEXEL as f64;
    }
    let [width, height] = view.mono.map(i64::from);
    let origin = view.origin(place, point.slice, 0);
    let mut sum = 0.0;
    for row in 0..=height {
        for column in 0..=width {
            // The box covers the first and the last column and row only in part.
            let part = |at: i64, last: i64, share: f64| match at {
                0 => 1.0 - share,
                _ if at == last => share,
                _ => 1.0,
            };
            let weight = part(column, width, share[0]) * part(row, height, share[1]);
            let (x, y) = (first[0] + column, first[1] + row);
            let inside = (0..i64::from(place.size[0])).contains(&x)
                && (0..i64::from(place.size[1])).contains(&y);
            if weight > 0.0 && inside {
                texels.clear();
                texels.push(place, origin, x as i32, y as i32)?;
                texels.read()?;
                sum += weight * f64::from(f32::from_bits(texels.values[0][0]));
            }
        }
    }
    Ok((sum / (width * height).max(1) as f64) as f32)
}
