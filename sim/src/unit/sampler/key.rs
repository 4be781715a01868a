//! Chroma key: texels within a range of colours are killed or become black (003:2979-3002, 2a
//! p.34-35).

use super::state::KeyMode;
use crate::surface::format::value::Value;
use crate::surface::format::{Class, Encoding, Format, Letter};
use genxml::gen8::render3d_binding::PaletteEntry;

/// How a channel of a texel is converted to 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expand {
    /// From an unsigned normalized value of this number of bits.
    Unorm(u32),
    /// To a sign bit and a magnitude of 7 bits.
    SignMagnitude,
}

/// A range of colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// Effect of a match.
    pub mode: KeyMode,
    /// Bounds of red, green, blue and alpha as in the packet. Both bounds are included.
    low: [u8; 4],
    high: [u8; 4],
    expand: [Expand; 4],
    /// The value that replaces a matching texel.
    black: Value,
}

/// Red, green, blue and alpha of a bound: a colour with blue in the lowest byte (2a p.35).
fn channels(bound: u32) -> [u8; 4] {
    let color = PaletteEntry::unpack_lossy(&[bound]);
    [color.red, color.green, color.blue, color.alpha].map(|byte| byte.get() as u8)
}

impl Key {
    /// The range from `low` to `high`, as 3DSTATE_CHROMA_KEY has them, for texels of `format`.
    pub fn new([low, high]: [u32; 2], mode: KeyMode, format: &Format) -> Key {
        let mut expand = [Expand::Unorm(8); 4];
        let list = format.channels();
        // If one channel is SNORM, the bounds of all channels are in sign-and-magnitude form.
        if list.iter().any(|channel| channel.encoding == Encoding::Snorm) {
            expand = [Expand::SignMagnitude; 4];
        } else {
            for channel in list {
                let kind = Expand::Unorm(u32::from(channel.bits).clamp(1, 8));
                match channel.letter {
                    Letter::R => expand[0] = kind,
                    Letter::G | Letter::Y => expand[1] = kind,
                    Letter::B => expand[2] = kind,
                    Letter::A => expand[3] = kind,
                    Letter::L => [expand[0], expand[1], expand[2]] = [kind; 3],
                    Letter::I => expand = [kind; 4],
                    Letter::P | Letter::E | Letter::X => {}
                }
            }
        }
        let yuv = matches!(format.class, Class::PackedYuv { .. } | Class::Planar);
        // 2d p.401: "A=0, R(Cr)=0x80, G(Y)=0x10, B(Cb)=0x80".
        let black = if yuv {
            [0x80, 0x10, 0x80, 0].map(|byte: u8| (f32::from(byte) / 255.0).to_bits())
        } else {
            [0; 4]
        };
        Key { mode, low: channels(low), high: channels(high), expand, black }
    }

    /// True if all channels of a texel lie in the range.
    pub fn matches(&self, texel: &Value) -> bool {
        (0..4).all(|channel| {
            let (low, high) = (self.low[channel], self.high[channel]);
            let value = f32::from_bits(texel[channel]);
            match self.expand[channel] {
                Expand::Unorm(bits) => (low..=high).contains(&expanded(value, bits)),
                Expand::SignMagnitude => {
                    let value = (value.clamp(-1.0, 1.0) * 127.0).round_ties_even() as i32;
                    (signed(low)..=signed(high)).contains(&value)
                }
            }
        })
    }

    /// The value that replaces a matching texel in the mode [`KeyMode::Black`].
    pub fn black(&self) -> Value {
        self.black
    }
}

/// The value of a byte in sign-and-magnitude form.
fn signed(byte: u8) -> i32 {
    let magnitude = i32::from(byte & 0x7f);
    if byte > 0x7f { -magnitude } else { magnitude }
}

/// A normalized value of `bits` bits, expanded to 8: the high bits are repeated in the low bits.
fn expanded(value: f32, bits: u32) -> u8 {
    let most = ((1u32 << bits) - 1) as f32;
    let raw = (value.clamp(0.0, 1.0) * most).round_ties_even() as u32;
    let mut wide = raw << (8 - bits);
    let mut filled = bits;
    while filled < 8 {
        wide |= wide >> filled;
        filled *= 2;
    }
    wide as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml::gen8::state::SurfaceFormat;

    #[test]
    fn bits_are_repeated() {
        // Five bits, then the highest three of them again (2a p.35).
        for raw in 0..32u32 {
            assert_eq!(u32::from(expanded(raw as f32 / 31.0, 5)), raw << 3 | raw >> 2);
        }
        assert_eq!([0.0, 1.0].map(|value| expanded(value, 1)), [0, 255]);
        assert_eq!(expanded(9.0 / 15.0, 4), 0x99);
        assert_eq!(expanded(200.0 / 255.0, 8), 200);
    }

    #[test]
    fn ranges() {
        let bounds = [0x0010_20ff, 0xff1f_20ff];
        let key =
            Key::new(bounds, KeyMode::Kill, Format::of(SurfaceFormat::B8G8R8A8_UNORM).unwrap());
        let texel = |bytes: [u8; 4]| bytes.map(|byte| (f32::from(byte) / 255.0).to_bits());
        assert!(key.matches(&texel([0x10, 0x20, 0xff, 0])));
        assert!(key.matches(&texel([0x1f, 0x20, 0xff, 200])));
        assert!(!key.matches(&texel([0x0f, 0x20, 0xff, 0])));
        assert!(!key.matches(&texel([0x1f, 0x21, 0xff, 0])));
        assert!(!key.matches(&texel([0x1f, 0x20, 0xfe, 0])));
        // In sign-and-magnitude form, the range of red is -1 to 2.
        let bounds = [0xff81_ffff, 0x7f02_7f7f];
        let key =
            Key::new(bounds, KeyMode::Kill, Format::of(SurfaceFormat::R8G8B8A8_SNORM).unwrap());
        let texel = |red: f32| [(red / 127.0).to_bits(), 0, 0, 0];
        assert_eq!(
            [-2.0, -1.0, 0.0, 2.0, 3.0].map(|red| key.matches(&texel(red))),
            [false, true, true, true, false]
        );
    }
}
