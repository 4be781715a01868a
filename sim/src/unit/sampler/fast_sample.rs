//! The fast path of the sampler, for views that have a [`FastPath`](super::fast_path::FastPath).
//!
//! Sums of bytes with 16 bits of weight are exact in single-precision floats. So only the final
//! quotient is rounded.

use super::levels::Detail;
use super::payload::GROUP;
use super::point::{Coordinates, Point};
use super::state::MapFilter;
use super::texels::Pages;
use super::view::{View, column, row};
use crate::mem::PageFault;

/// Samples a group of lanes. Returns the four filtered bytes of each lane, scaled to 0 to 1.
///
/// # Errors
/// A page fault at a texel.
#[inline(always)]
pub fn group(
    view: &View,
    pages: &mut Pages<'_, '_>,
    coordinates: &Coordinates,
    details: &[Detail; GROUP],
    offset: [i32; 3],
    mask: u32,
) -> Result<[[f32; 4]; GROUP], PageFault> {
    let mut out = [[0.0; 4]; GROUP];
    for lane in 0..GROUP {
        if mask >> lane & 1 == 0 {
            continue;
        }
        let point = coordinates.point(view, lane, false);
        let choice = details[lane].choice;
        let own = level(view, pages, &point, choice.level, choice.magnified, offset)?;
        if choice.share == 0 {
            out[lane] = own.map(|sum| sum / (255.0 * 65536.0));
            continue;
        }
        let next = level(view, pages, &point, choice.next, choice.magnified, offset)?;
        let share = f64::from(choice.share);
        for n in 0..4 {
            let both = f64::from(own[n]) * (256.0 - share) + f64::from(next[n]) * share;
            out[lane][n] = (both / (255.0 * 65536.0 * 256.0)) as f32;
        }
    }
    Ok(out)
}

/// Samples one mip level. Returns weighted sums of bytes. The weights add up to 65536.
#[inline(always)]
fn level(
    view: &View,
    pages: &mut Pages<'_, '_>,
    point: &Point,
    level: u8,
    magnified: bool,
    offset: [i32; 3],
) -> Result<[f32; 4], PageFault> {
    let surface = &view.surface;
    let place = view.place(level);
    let linear = view.filters[usize::from(magnified)] == MapFilter::Linear;
    let x = view.rule(place, 0, magnified, linear, offset[0]).axis(point.uvr[0]);
    let y = view.rule(place, 1, magnified, linear, offset[1]).axis(point.uvr[1]);
    let origin = view.origin(place, point.slice, 0);
    let byte = |x: i32| {
        let byte = origin.left + i64::from(surface.left) + 4 * i64::from(x);
        column(surface.tile_mode, byte, surface.pitch) as u64
    };
    let line = |y: i32| {
        let y =
            ((origin.top + i64::from(y)) << surface.line_stride) + i64::from(surface.line_offset);
        surface
            .base
            .wrapping_add(row(surface.tile_mode, y + i64::from(surface.top), surface.pitch) as u64)
    };
    let mut texel = |address: u64| -> Result<[f32; 4], PageFault> {
        Ok(pages.bytes::<4>(address)?.map(|byte| i32::from(byte) as f32))
    };
    let (left, top) = (byte(x.texels[0]), line(y.texels[0]));
    let first = texel(top.wrapping_add(left))?;
    if !linear {
        return Ok(first.map(|channel| channel * 65536.0));
    }
    let (right, bottom) = (byte(x.texels[1]), line(y.texels[1]));
    let second = texel(top.wrapping_add(right))?;
    let third = texel(bottom.wrapping_add(left))?;
    let fourth = texel(bottom.wrapping_add(right))?;
    let ([wl, wr], [wt, wb]) = (weights(x.share), weights(y.share));
    Ok(std::array::from_fn(|n| {
        let upper = first[n] * wl + second[n] * wr;
        let lower = third[n] * wl + fourth[n] * wr;
        upper * wt + lower * wb
    }))
}

/// Weights of two texels in 1/256, from the weight `share` of the second one.
#[inline(always)]
fn weights(share: u32) -> [f32; 2] {
    let second = share as i32 as f32;
    [256.0 - second, second]
}
