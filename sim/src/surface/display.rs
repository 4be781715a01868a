//! Conversion of texels of any format to pixels of a picture.

use super::format::convert::from_linear;
use super::format::{Class, Codec, Letter, Numeric};

/// Converts the values of a format to pixels.
#[derive(Clone, Copy, Debug)]
pub struct PixelConverter {
    numeric: Numeric,
    srgb: bool,
    /// Index of the channel that is displayed as grey, if the format has only one channel or is
    /// planar.
    grey: Option<usize>,
    /// True if the format has alpha and other channels. Alpha is not displayed, because drivers
    /// leave any value in it.
    opaque: bool,
    /// Greatest integer in red, green and blue of all texels; 1 for float formats.
    most: i64,
    /// True if some integers do not fit a byte.
    scaled: bool,
}

impl PixelConverter {
    /// The converter for a format. The greatest integer in `texels` decides whether integers are
    /// scaled.
    pub fn of(codec: &Codec, texels: &[Option<[u32; 4]>]) -> PixelConverter {
        let format = codec.format();
        let planar = format.class == Class::Planar;
        let numeric = if planar { Numeric::Uint } else { format.numeric };
        let letters =
            format.channels().iter().filter(|channel| channel.letter != Letter::X).count();
        let alpha = format.channels().iter().any(|channel| channel.letter == Letter::A);
        let most = match numeric {
            Numeric::Float => 1,
            // Alpha is left out: it is 1 where the format has none.
            _ => texels
                .iter()
                .flatten()
                .flat_map(|texel| &texel[..3])
                .map(|v| integer(numeric, *v))
                .max()
                .unwrap_or(0),
        };
        let grey = (planar || letters == 1).then_some(if alpha { 3 } else { 0 });
        PixelConverter {
            numeric,
            srgb: format.srgb,
            grey,
            opaque: alpha && letters > 1,
            most,
            scaled: most > 255,
        }
    }

    /// True if the format has alpha and it is not displayed, because drivers leave any value in it.
    pub fn opaque(&self) -> bool {
        self.opaque
    }

    /// True if some integers do not fit a byte. Then all integers are scaled so that the greatest
    /// becomes 255.
    pub fn scaled(&self) -> bool {
        self.scaled
    }

    /// Red, green, blue and alpha of the pixel for a texel. Floats are clamped to 0..=1, negative
    /// integers to 0. A format with only one channel gives grey. Alpha is always 255.
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

/// Red, green and blue of Y, Cb and Cr by BT.601. With the full range, as in JPEG, black is 0 and
/// white is 255; otherwise they are 16 and 235.
pub fn rgb_of_ycbcr([y, cb, cr]: [u8; 3], full_range: bool) -> [u8; 3] {
    let [y, cb, cr] = [y, cb, cr].map(i32::from);
    let (cb, cr) = (cb - 128, cr - 128);
    // Factors in units of 1/256.
    let (y, [red, green_cb, green_cr, blue]) = match full_range {
        true => (256 * y, [359, 88, 183, 454]),
        false => (298 * (y - 16), [409, 100, 208, 516]),
    };
    [y + red * cr, y - green_cb * cb - green_cr * cr, y + blue * cb]
        .map(|value| ((value + 128) >> 8).clamp(0, 255) as u8)
}

fn integer(numeric: Numeric, value: u32) -> i64 {
    match numeric {
        Numeric::Sint => i64::from(value as i32),
        _ => i64::from(value),
    }
}

#[cfg(test)]
mod tests {
    use super::rgb_of_ycbcr;

    /// Oracle: colour bars of 100% in BT.601, and the corners of JFIF.
    #[test]
    fn colours_of_video() {
        for (ycbcr, rgb) in [
            ([16, 128, 128], [0, 0, 0]),
            ([235, 128, 128], [255, 255, 255]),
            ([81, 90, 240], [255, 0, 0]),
            ([145, 54, 34], [0, 255, 0]),
            ([41, 240, 110], [0, 0, 255]),
        ] {
            let found = rgb_of_ycbcr(ycbcr, false);
            let near = |(found, rgb): (&u8, u8)| rgb.abs_diff(*found) <= 2;
            assert!(found.iter().zip(rgb).all(near), "{ycbcr:?}: {found:?}");
        }
        assert_eq!(rgb_of_ycbcr([255, 128, 128], true), [255; 3]);
        assert_eq!(rgb_of_ycbcr([76, 85, 255], true), [254, 0, 0]);
    }
}
