//! Selects the views that use the fast path of the sampler ([`super::fast_sample`]):
//! two-dimensional textures with four unsigned normalized bytes in each texel, without sRGB and
//! without border colour, and with the filters nearest or linear.

use super::state::{MapFilter, Wrap};
use crate::surface::format::{Class, Encoding, Letter};
use crate::surface::{Codec, Dimension, Surface};
use genxml::gen8::state::ShaderChannelSelect;

/// The source of each channel of the response: a byte of a texel, or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FastPath([Channel; 4]);

/// Source of a channel of the response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Channel {
    /// The byte of a texel from this bit on.
    Byte(u8),
    /// The constant 0.
    Zero,
    /// The constant 1.
    One,
}

impl FastPath {
    /// The fast path for a surface; `None` if its samples need the general path.
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
                Some(channel) => Channel::Byte(channel.low as u8),
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

    /// The four channels of the response. `filtered` gives the filtered bytes from a bit on.
    #[inline(always)]
    pub fn respond<const LANES: usize>(
        &self,
        filtered: impl Fn(u32) -> [u32; LANES],
    ) -> [[u32; LANES]; 4] {
        let mut channels = [[0; LANES]; 4];
        for (to, channel) in channels.iter_mut().zip(self.0) {
            match channel {
                Channel::Byte(low) => *to = filtered(low.into()),
                Channel::Zero => {}
                Channel::One => *to = [1.0f32.to_bits(); LANES],
            }
        }
        channels
    }

    /// Number of bytes that a sample of one lane counts as read.
    #[inline(always)]
    pub fn bytes(&self, filters: [MapFilter; 2]) -> u64 {
        if filters == [MapFilter::Nearest; 2] { 4 } else { 16 }
    }

    /// The four channels of the response, from the filtered bytes of each lane.
    #[inline(always)]
    pub fn answer<const LANES: usize>(&self, lanes: &[[f32; 4]; LANES]) -> [[u32; LANES]; 4] {
        self.0.map(|channel| match channel {
            Channel::Byte(byte) => {
                std::array::from_fn(|lane| lanes[lane][usize::from(byte / 8) % 4].to_bits())
            }
            Channel::Zero => [0; LANES],
            Channel::One => [1.0f32.to_bits(); LANES],
        })
    }
}
