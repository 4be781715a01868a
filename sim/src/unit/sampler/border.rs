//! The border colour: the colour of texels outside of the map (003:3817-3835, 2d p.366-372).

use crate::assumptions::{BORDER_COLORS_CLAMP_TO_THE_FORMAT, LOADS_OUTSIDE_HAVE_ALPHA_ONE};
use crate::surface::format::value::Value;
use crate::surface::format::{Class, Encoding, Format, Letter, Numeric, block};

/// A border colour as memory contains it: red, green, blue and alpha.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stored {
    /// The mode DX9: unsigned normalized bytes.
    Bytes([u8; 4]),
    /// Bits of floats, or integers for formats of integers.
    Channels([u32; 4]),
}

/// The value of alpha if a format has none: 1, as a float or as an integer.
pub const fn one(numeric: Numeric) -> u32 {
    match numeric {
        Numeric::Float => 1.0f32.to_bits(),
        Numeric::Uint | Numeric::Sint => 1,
    }
}

/// The border colour for a format. Channels that the format lacks are 0, or 1 for alpha. The other
/// channels are clamped to the range of the format. DX9 and YUV colours are used unchanged.
pub fn color(format: &Format, stored: Stored) -> Value {
    let given = match stored {
        // All four bytes are used, even if the format lacks a channel.
        Stored::Bytes(bytes) => return bytes.map(|byte| (f32::from(byte) / 255.0).to_bits()),
        Stored::Channels(channels) => channels,
    };
    let mut color = [0, 0, 0, one(format.numeric)];
    match format.class {
        Class::Channels => {}
        Class::Compressed => {
            let (count, encoding) = block::channels(format);
            for (to, value) in color.iter_mut().zip(given).take(count) {
                *to = clamp(encoding, 32, value);
            }
            return color;
        }
        // YUV formats use the colour unchanged. Formats of one bit ignore it.
        _ => return given,
    }
    for channel in format.channels() {
        let value = |from: usize| clamp(channel.encoding, u32::from(channel.bits), given[from]);
        match channel.letter {
            Letter::R => color[0] = value(0),
            Letter::G | Letter::Y => color[1] = value(1),
            Letter::B => color[2] = value(2),
            Letter::A => color[3] = value(3),
            Letter::L => [color[0], color[1], color[2]] = [value(0); 3],
            Letter::I => color = [value(0); 4],
            // The colour replaces the entry of the palette.
            Letter::P => [color[0], color[1], color[2]] = [given[0], given[1], given[2]],
            Letter::E | Letter::X => {}
        }
    }
    color
}

/// The value that loads return outside of a surface: 0, but 1 in alpha if the format has no alpha
/// (003:4064).
pub fn outside(format: Option<&Format>, numeric: Numeric) -> Value {
    let one_in_alpha = !format.is_some_and(has_alpha) && LOADS_OUTSIDE_HAVE_ALPHA_ONE;
    [0, 0, 0, if one_in_alpha { one(numeric) } else { 0 }]
}

/// True if texels of a format have an alpha of their own.
pub fn has_alpha(format: &Format) -> bool {
    match format.class {
        Class::Channels => format
            .channels()
            .iter()
            .any(|channel| matches!(channel.letter, Letter::A | Letter::I | Letter::P)),
        Class::Compressed => block::channels(format).0 == 4,
        Class::PackedYuv { .. } | Class::Planar | Class::Raw => false,
    }
}

/// Clamps a value to the range that a channel can store (gen8_facts 11).
fn clamp(encoding: Encoding, bits: u32, value: u32) -> u32 {
    if !BORDER_COLORS_CLAMP_TO_THE_FORMAT {
        return value;
    }
    let float = f32::from_bits(value);
    match encoding {
        // A NaN becomes 0.
        Encoding::Unorm => if float > 0.0 { float.min(1.0) } else { 0.0 }.to_bits(),
        Encoding::Snorm => if float.is_nan() { 0.0 } else { float.clamp(-1.0, 1.0) }.to_bits(),
        Encoding::Uint if bits < 32 => value.min((1 << bits) - 1),
        Encoding::Sint if bits < 32 => {
            let most = (1i32 << (bits - 1)) - 1;
            (value as i32).clamp(-most - 1, most) as u32
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::gen8::state::SurfaceFormat;

    /// Oracle: the text of 003:3817-3835.
    #[test]
    fn channels() {
        let floats = [2.0f32, -0.5, 0.25, 0.75].map(f32::to_bits);
        let found = |format| {
            color(Format::of(format).unwrap(), Stored::Channels(floats)).map(f32::from_bits)
        };
        assert_eq!(found(SurfaceFormat::R8G8B8A8_UNORM), [1.0, 0.0, 0.25, 0.75]);
        assert_eq!(found(SurfaceFormat::R16G16_SNORM), [1.0, -0.5, 0.0, 1.0]);
        assert_eq!(found(SurfaceFormat::R32G32B32_FLOAT), [2.0, -0.5, 0.25, 1.0]);
        // Luminance and intensity come from red.
        assert_eq!(found(SurfaceFormat::L16A16_FLOAT), [2.0, 2.0, 2.0, 0.75]);
        assert_eq!(found(SurfaceFormat::I32_FLOAT), [2.0; 4]);
        assert_eq!(found(SurfaceFormat::A8_UNORM), [0.0, 0.0, 0.0, 0.75]);
        // Compressed formats have the channels of the base format. The other channels are 0, and
        // alpha is 1 (OpenGL 4.6, table 8.14 and 8.14.2).
        assert_eq!(found(SurfaceFormat::EAC_SIGNED_RG11), [1.0, -0.5, 0.0, 1.0]);
        assert_eq!(found(SurfaceFormat::EAC_RG11), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(found(SurfaceFormat::BC7_UNORM_SRGB), [1.0, 0.0, 0.25, 0.75]);
        assert_eq!(found(SurfaceFormat::DXT1_RGB), [1.0, 0.0, 0.25, 1.0]);
        assert_eq!(found(SurfaceFormat::ETC2_RGB8), [1.0, 0.0, 0.25, 1.0]);
        assert_eq!(found(SurfaceFormat::BC5_SNORM), [1.0, -0.5, 0.0, 1.0]);
        assert_eq!(found(SurfaceFormat::EAC_R11), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(found(SurfaceFormat::BC6H_SF16), [2.0, -0.5, 0.25, 1.0]);
        let found =
            |format, channels| color(Format::of(format).unwrap(), Stored::Channels(channels));
        assert_eq!(found(SurfaceFormat::R8G8_UINT, [300, 7, 9, 9]), [255, 7, 0, 1]);
        assert_eq!(
            found(SurfaceFormat::R16_SINT, [-70000i32 as u32, 1, 1, 1]),
            [-32768i32 as u32, 0, 0, 1]
        );
    }

    #[test]
    fn bytes() {
        let stored = Stored::Bytes([255, 0, 51, 0]);
        // The bytes are used even for channels that the format lacks.
        let found = color(Format::of(SurfaceFormat::R32_FLOAT).unwrap(), stored);
        assert_eq!(found.map(f32::from_bits), [1.0, 0.0, 0.2, 0.0]);
    }
}
