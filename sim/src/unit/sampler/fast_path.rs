//! Fast path for the most frequent samples: two-dimensional textures with four normalized bytes in
//! each texel, and the filters nearest and linear.
//!
//! Sums of bytes with 16 bits of weight are exact in single-precision floats. So only the final
//! quotient is rounded.

use super::levels::Detail;
use super::payload::GROUP;
use super::point::{Coordinates, Point};
use super::state::{MapFilter, Wrap};
use super::texels::Pages;
use super::view::{View, column, row};
use crate::mem::PageFault;
use crate::surface::format::{Class, Encoding, Letter};
use crate::surface::{Codec, Dimension, Surface};
use genxml::gen8::state::ShaderChannelSelect;

/// The source of each channel of the response: a byte of a texel, or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FastPath([Channel; 4]);

/// Source of a channel of the response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Channel {
    /// Byte of a texel.
    Byte(u8),
    /// 0.
    Zero,
    /// 1.
    One,
}

impl FastPath {
    /// The fast path for a surface; none if its samples need the general path.
    pub fn of(surface: &Surface, wrap: [Wrap; 3], filters: [MapFilter; 2]) -> Option<FastPath> {
        let format = surface.codec.map(Codec::format)?;
        let borders =
            wrap.iter().take(2).any(|wrap| matches!(wrap, Wrap::Border | Wrap::HalfBorder));
        let simple = |filter| matches!(filter, MapFilter::Nearest | MapFilter::Linear);
        let plain = format.class == Class::Channels
            && format.bits == 32
            && !format.srgb
            && format.channels().iter().all(|channel| {
                let color = matches!(
                    channel.letter,
                    Letter::R | Letter::G | Letter::B | Letter::A | Letter::X
                );
                let unorm = channel.encoding == Encoding::Unorm || channel.letter == Letter::X;
                channel.bits == 8 && color && unorm
            });
        if !plain
            || borders
            || surface.layout.dimension != Dimension::Two
            || !filters.into_iter().all(simple)
        {
            return None;
        }
        let byte = |letter| {
            let channel = format.channels().iter().find(|channel| channel.letter == letter);
            match channel {
                Some(channel) => Channel::Byte((channel.low / 8) as u8),
                None if letter == Letter::A => Channel::One,
                None => Channel::Zero,
            }
        };
        Some(FastPath(surface.select.map(|select| match select {
            ShaderChannelSelect::RED => byte(Letter::R),
            ShaderChannelSelect::GREEN => byte(Letter::G),
            ShaderChannelSelect::BLUE => byte(Letter::B),
            ShaderChannelSelect::ALPHA => byte(Letter::A),
            ShaderChannelSelect::ONE => Channel::One,
            _ => Channel::Zero,
        })))
    }

    /// The four channels of the response, from the filtered bytes of each lane.
    #[inline(always)]
    pub fn answer(&self, lanes: &[[f32; 4]; GROUP]) -> [[u32; GROUP]; 4] {
        self.0.map(|channel| match channel {
            Channel::Byte(byte) => {
                std::array::from_fn(|lane| lanes[lane][usize::from(byte) % 4].to_bits())
            }
            Channel::Zero => [0; GROUP],
            Channel::One => [1.0f32.to_bits(); GROUP],
        })
    }
}

/// Samples a group of lanes: the four filtered bytes of each lane, scaled to 0 to 1.
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

/// Samples one mip level: weighted sums of bytes. The weights add up to 65536.
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

/// Weights of two texels, in 1/256.
#[inline(always)]
fn weights(share: u32) -> [f32; 2] {
    let second = share as i32 as f32;
    [256.0 - second, second]
}
