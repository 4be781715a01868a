//! Blocks of compressed texels.
//!
//! Decoding has two steps. First, the bits of a block become a palette or endpoints, and indices.
//! Then each texel is a table lookup or an interpolation. [`decode_texel`] returns one texel of a
//! block. [`decode_block`] returns all of them, for callers that cache decoded blocks.
//!
//! * `bc1`: BC1, BC2 and BC3; `bc4`: BC4 and BC5; `bc6h`: BC6H; `bc7`: BC7; `bptc`: code that BC6H
//!   and BC7 share;
//! * `etc`: ETC1 and the colours of ETC2; `eac`: single channels, and the alpha of ETC2;
//! * `fxt1`: FXT1.
//!
//! The manual refers to a chapter for the algorithms, which is not available (003:2977). The code
//! follows Direct3D (BC1 to BC7), OpenGL ES 3 (ETC2 and EAC) and GL_3DFX_texture_compression_FXT1.
//! Questions that these specifications leave open are in [`crate::assumptions`].

mod bc1;
mod bc4;
mod bc6h;
mod bc7;
mod bptc;
mod eac;
mod etc;
mod fxt1;
#[cfg(test)]
mod tests;
mod texels;

use super::value::Value;
use super::{Encoding, Format};
use genxml::gen8::state::SurfaceFormat;
use texels::{Block, Channel, ONE};

/// Number of texels of the largest block: 8 x 4 of FXT1. All other blocks have 4 x 4 texels.
pub const MOST_TEXELS: usize = 32;

/// Reads the block in `bytes` and evaluates the last expression with it. `None` if there are too
/// few bytes or the format has no blocks.
macro_rules! with_block {
    ($format:expr, $bytes:expr, |$block:ident| $do:expr) => {{
        use SurfaceFormat as F;
        let (format, bytes): (&Format, &[u8]) = ($format, $bytes);
        macro_rules! with {
            ($read:expr) => {{
                let $block = $read;
                Some($do)
            }};
        }
        match format.code {
            F::BC1_UNORM | F::BC1_UNORM_SRGB => {
                with!(bc1::Bc1::alone(half(bytes)?, 0, format.srgb))
            }
            F::DXT1_RGB | F::DXT1_RGB_SRGB => {
                with!(bc1::Bc1::alone(half(bytes)?, 0xff, format.srgb))
            }
            F::BC2_UNORM | F::BC2_UNORM_SRGB => with!(bc1::Bc2::read(whole(bytes)?, format.srgb)),
            F::BC3_UNORM | F::BC3_UNORM_SRGB => with!(bc1::Bc3::read(whole(bytes)?, format.srgb)),
            F::BC4_UNORM => with!(One(bc4::Ramp::unorm(half(bytes)?))),
            F::BC4_SNORM => with!(One(bc4::Ramp::snorm(half(bytes)?))),
            F::BC5_UNORM => with!(Two(halves(bytes)?.map(bc4::Ramp::unorm))),
            F::BC5_SNORM => with!(Two(halves(bytes)?.map(bc4::Ramp::snorm))),
            F::BC6H_UF16 => with!(bc6h::Bc6h::read(whole(bytes)?, false)),
            F::BC6H_SF16 => with!(bc6h::Bc6h::read(whole(bytes)?, true)),
            F::BC7_UNORM | F::BC7_UNORM_SRGB => with!(bc7::Bc7::read(whole(bytes)?, format.srgb)),
            F::FXT1 => with!(fxt1::Fxt1::read(whole(bytes)?)),
            F::ETC1_RGB8 => with!(etc::Etc2::etc1(half(bytes)?)),
            F::ETC2_RGB8 | F::ETC2_SRGB8 => with!(etc::Etc2::rgb(half(bytes)?, format.srgb)),
            F::ETC2_RGB8_PTA | F::ETC2_SRGB8_PTA => {
                with!(etc::Etc2::punch_through(half(bytes)?, format.srgb))
            }
            F::ETC2_EAC_RGBA8 | F::ETC2_EAC_SRGB8_A8 => {
                with!(etc::Rgba::read(whole(bytes)?, format.srgb))
            }
            F::EAC_R11 => with!(One(eac::Eac::unsigned(half(bytes)?))),
            F::EAC_SIGNED_R11 => with!(One(eac::Eac::signed(half(bytes)?))),
            F::EAC_RG11 => with!(Two(halves(bytes)?.map(eac::Eac::unsigned))),
            F::EAC_SIGNED_RG11 => with!(Two(halves(bytes)?.map(eac::Eac::signed))),
            _ => None,
        }
    }};
}

/// The texel at column `x` and row `y` of a block. `None` if the format has no blocks, if the texel
/// lies outside of the block, or if there are fewer bytes than a block has.
pub fn decode_texel(format: &Format, bytes: &[u8], x: u32, y: u32) -> Option<Value> {
    let [width, height] = format.block.map(u32::from);
    if x >= width || y >= height {
        return None;
    }
    with_block!(format, bytes, |block| block.texel(x as usize, y as usize))
}

/// Decodes all texels of a block to `out`, row by row, and returns their number. `None` if the
/// format has no blocks, if there are fewer bytes than a block has, or if `out` is too short.
pub fn decode_block(format: &Format, bytes: &[u8], out: &mut [Value]) -> Option<usize> {
    with_block!(format, bytes, |block| fill(&block, out)?)
}

/// Number of channels of a format with blocks, in the order red, green, blue and alpha, and their
/// encoding. A missing colour is 0, a missing alpha is 1.
pub fn channels(format: &Format) -> (usize, Encoding) {
    use SurfaceFormat as F;
    match format.code {
        F::BC4_UNORM | F::EAC_R11 => (1, Encoding::Unorm),
        F::BC4_SNORM | F::EAC_SIGNED_R11 => (1, Encoding::Snorm),
        F::BC5_UNORM | F::EAC_RG11 => (2, Encoding::Unorm),
        F::BC5_SNORM | F::EAC_SIGNED_RG11 => (2, Encoding::Snorm),
        F::BC6H_UF16 | F::BC6H_SF16 => (3, Encoding::Float),
        F::DXT1_RGB | F::DXT1_RGB_SRGB | F::ETC1_RGB8 | F::ETC2_RGB8 | F::ETC2_SRGB8 => {
            (3, Encoding::Unorm)
        }
        _ => (4, Encoding::Unorm),
    }
}

#[inline(always)]
fn fill<B: Block>(block: &B, out: &mut [Value]) -> Option<usize> {
    let count = 4 * B::WIDTH;
    let out = out.get_mut(..count)?;
    for (n, out) in out.iter_mut().enumerate() {
        *out = block.texel(n % B::WIDTH, n / B::WIDTH);
    }
    Some(count)
}

fn half(bytes: &[u8]) -> Option<&[u8; 8]> {
    bytes.first_chunk()
}

fn whole(bytes: &[u8]) -> Option<&[u8; 16]> {
    bytes.first_chunk()
}

fn halves(bytes: &[u8]) -> Option<[&[u8; 8]; 2]> {
    bytes.as_chunks().0.first_chunk::<2>().map(|halves| halves.each_ref())
}

/// One channel as red (003:3640).
struct One<C>(C);

impl<C: Channel> Block for One<C> {
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        [self.0.value(x, y).to_bits(), 0, 0, ONE]
    }
}

/// Two channels as red and green (003:3641).
struct Two<C>([C; 2]);

impl<C: Channel> Block for Two<C> {
    #[inline(always)]
    fn texel(&self, x: usize, y: usize) -> Value {
        [self.0[0].value(x, y).to_bits(), self.0[1].value(x, y).to_bits(), 0, ONE]
    }
}
