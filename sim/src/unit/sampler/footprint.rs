//! The texels of one sample of one level, and their weights (003:2845-2875).

use super::address::{Axis, BORDER, Rule, TEXEL};
use super::cube;
use super::point::Point;
use super::state::Wrap;
use super::texels::Texels;
use super::view::{Place, View};
use crate::assumptions::CUBE_CORNERS_HAVE_THREE_TEXELS;
use crate::mem::PageFault;
use crate::surface::Dimension;

/// Maximum number of texels of a sample: two in each of three directions.
pub const MOST: usize = 8;

/// The texels of one sample, as a range of the collected texels, and their weights, which sum up
/// to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Footprint {
    /// Index of the first texel among the collected texels.
    pub first: usize,
    /// Number of texels.
    pub count: usize,
    /// Weights of the texels.
    pub weights: [f64; MOST],
}

/// How a level is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// True for the linear filter: two texels in each direction.
    pub linear: bool,
    /// True if the map is magnified, false if it is minified.
    pub magnified: bool,
    /// Offsets that are added to U, V and R, in texels.
    pub offset: [i32; 3],
}

/// Adds the texels of a sample to `texels`. Four texels of two directions are in the order of rows:
/// (i0, j0), (i1, j0), (i0, j1), (i1, j1).
///
/// # Errors
/// A page fault.
#[inline(always)]
pub fn collect(
    view: &View,
    texels: &mut Texels<'_, '_>,
    place: &Place,
    point: &Point,
    way: Way,
) -> Result<Footprint, PageFault> {
    let first = texels.count();
    let rule = |n: usize| view.rule(place, n, way.magnified, way.linear, way.offset[n]);
    let [u, v, r] = point.uvr;
    // Weights of the two texels of a direction, from the second one's share in 1/256.
    let share = |share: u32| {
        let second = f64::from(share) * (1.0 / TEXEL as f64);
        [1.0 - second, second]
    };
    let per_axis = if way.linear { 2 } else { 1 };
    let mut footprint =
        Footprint { first, count: per_axis, weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] };
    match view.surface.layout.dimension {
        Dimension::Two => {
            let (x, y) = (rule(0).axis(u), rule(1).axis(v));
            let origin = view.origin(place, point.slice, 0);
            if !way.linear {
                texels.push_square(place, origin, &x.texels[..1], &y.texels[..1])?;
                return Ok(footprint);
            }
            texels.push_square(place, origin, &x.texels, &y.texels)?;
            let (x, y) = (share(x.share), share(y.share));
            footprint.count = 4;
            footprint.weights[..4].copy_from_slice(&[
                x[0] * y[0],
                x[1] * y[0],
                x[0] * y[1],
                x[1] * y[1],
            ]);
        }
        Dimension::One => {
            let x = rule(0).axis(u);
            let origin = view.origin(place, point.slice, 0);
            texels.push_square(place, origin, &x.texels[..per_axis], &[0])?;
            if way.linear {
                footprint.weights[..2].copy_from_slice(&share(x.share));
            }
        }
        Dimension::Three => {
            let (x, y, z) = (rule(0).axis(u), rule(1).axis(v), rule(2).axis(r));
            for &slice in &z.texels[..per_axis] {
                if slice == BORDER {
                    (0..per_axis * per_axis).for_each(|_| texels.push_border());
                } else {
                    let origin = view.origin(place, slice as u32, 0);
                    texels.push_square(
                        place,
                        origin,
                        &x.texels[..per_axis],
                        &y.texels[..per_axis],
                    )?;
                }
            }
            footprint.count = per_axis * per_axis * per_axis;
            if way.linear {
                let (x, y, z) = (share(x.share), share(y.share), share(z.share));
                for (n, weight) in footprint.weights.iter_mut().enumerate() {
                    *weight = x[n & 1] * y[n >> 1 & 1] * z[n >> 2];
                }
            }
        }
        Dimension::Cube => return on_cube(view, texels, place, point, way),
    }
    Ok(footprint)
}

/// Adds the texels of a sample on a face of a cube map. Some of these texels may lie on adjacent
/// faces.
fn on_cube(
    view: &View,
    texels: &mut Texels<'_, '_>,
    place: &Place,
    point: &Point,
    way: Way,
) -> Result<Footprint, PageFault> {
    let first = texels.count();
    let seams = view.wrap[0] == Wrap::Cube;
    let axis = |n: usize| {
        // Offsets do not apply to cube maps (003:3983).
        let rule = view.rule(place, n, way.magnified, way.linear, 0);
        if seams && way.linear {
            // Texels beyond an edge belong to another face. They get the numbers -1 and `size`.
            let size = rule.size;
            let axis = Rule { wrap: Wrap::Border, ..rule }.axis(point.uvr[n].clamp(0.0, 1.0));
            let [low, high] = axis.texels;
            return Axis { texels: [low, if high == BORDER { size } else { high }], ..axis };
        }
        Rule { wrap: if seams { Wrap::Clamp } else { rule.wrap }, ..rule }.axis(point.uvr[n])
    };
    let (x, y) = (axis(0), axis(1));
    let across = if way.linear { 2 } else { 1 };
    let second = |share: u32| f64::from(share) * (1.0 / TEXEL as f64);
    let (sx, sy) = (second(x.share), second(y.share));
    let mut footprint = Footprint { first, count: across * across, weights: [0.0; MOST] };
    let mut corner = None;
    let edge = |at: i32| at.clamp(0, place.size[0] - 1);
    for n in 0..footprint.count {
        let (i, j) = (n % across, n / across);
        footprint.weights[n] = if way.linear { [1.0 - sx, sx][i] * [1.0 - sy, sy][j] } else { 1.0 };
        let (column, row) = (x.texels[i], y.texels[j]);
        let texel = match seams && way.linear {
            true => cube::across(point.face, column, row, place.size[0]),
            false => Some((point.face, column, row)),
        };
        let (face, x, y) = texel.unwrap_or_else(|| {
            corner = Some(n);
            (point.face, edge(column), edge(row))
        });
        if view.faces[face as usize] {
            let origin = view.origin(place, point.slice + face, 0);
            texels.push(place, origin, x, y)?;
        } else {
            texels.push_border();
        }
    }
    // There is no texel beyond a corner. Its weight goes to the other three texels in equal parts.
    // A gather, which has no weights, gets the texel at the corner of the face instead.
    if let Some(corner) = corner.filter(|_| CUBE_CORNERS_HAVE_THREE_TEXELS) {
        let third = footprint.weights[corner] / 3.0;
        footprint.weights[..4].iter_mut().for_each(|weight| *weight += third);
        footprint.weights[corner] = 0.0;
    }
    Ok(footprint)
}
