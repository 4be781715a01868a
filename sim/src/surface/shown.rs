//! Texels of any format as pixels of a picture.

use super::format::convert::from_linear;
use super::format::{Class, Codec, Letter, Numeric};

/// How the values of a format become pixels.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    numeric: Numeric,
    srgb: bool,
    /// The channel that there is alone is shown as grey.
    grey: Option<usize>,
    /// Alpha was there and is not shown: drivers leave anything in it.
    opaque: bool,
    /// Greatest value of integers.
    most: i64,
    /// Integers go beyond a byte.
    scaled: bool,
}

impl Shown {
    /// The way for a format, by the texels that are there.
    pub fn of(codec: &Codec, texels: &[Option<[u32; 4]>]) -> Shown {
        let format = codec.format();
        let planar = format.class == Class::Planar;
        let numeric = if planar { Numeric::Uint } else { format.numeric };
        let letters =
            format.channels().iter().filter(|channel| channel.letter != Letter::X).count();
        let alpha = format.channels().iter().any(|channel| channel.letter == Letter::A);
        let most = match numeric {
            Numeric::Float => 1,
            // Alpha is 1 where the format has none.
            _ => texels
                .iter()
                .flatten()
                .flat_map(|texel| &texel[..3])
                .map(|v| integer(numeric, *v))
                .max()
                .unwrap_or(0),
        };
        let grey = (planar || letters == 1).then_some(if alpha { 3 } else { 0 });
        Shown {
            numeric,
            srgb: format.srgb,
            grey,
            opaque: alpha && letters > 1,
            most,
            scaled: most > 255,
        }
    }

    /// Alpha is there and is not shown: drivers leave anything in it.
    pub fn opaque(&self) -> bool {
        self.opaque
    }

    /// Integers go beyond a byte, and are scaled to their greatest.
    pub fn scaled(&self) -> bool {
        self.scaled
    }

    /// Red, green, blue and alpha of a texel. Floats are clamped to 0..=1; a channel that is alone
    /// is shown as grey; alpha is 255.
    pub fn pixel(&self, texel: [u32; 4]) -> [u8; 4] {
        let channel = |value: u32| match self.numeric {
            Numeric::Float => {
                let value = f32::from_bits(value).clamp(0.0, 1.0);
                match self.srgb {
                    true => from_linear(value, 8) as u8,
                    false => (value * 255.0 + 0.5) as u8,
                }
            }
            numeric => {
                let value = integer(numeric, value).max(0);
                if self.scaled { (value * 255 / self.most) as u8 } else { value as u8 }
            }
        };
        let [red, green, blue, _] = texel.map(channel);
        match self.grey {
            Some(only) => {
                let grey = channel(texel[only]);
                [grey, grey, grey, 255]
            }
            None => [red, green, blue, 255],
        }
    }
}

fn integer(numeric: Numeric, value: u32) -> i64 {
    match numeric {
        Numeric::Sint => i64::from(value as i32),
        _ => i64::from(value),
    }
}
