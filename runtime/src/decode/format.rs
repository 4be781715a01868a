//! Surface formats of vertex elements: the components with their bits and kinds, from the format's
//! name.
//!
//! The manual's names are sufficient: channels with their bits, lowest first, then the kind of
//! number (2b p.36-42).

use super::record::Value;
use genxml_core::bits;

/// One component of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Component {
    /// The channel; empty for bits that are skipped.
    pub name: &'static str,
    pub bits: u32,
    pub number: Number,
}

/// The kind of number in the bits of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Unorm,
    Snorm,
    Uint,
    Sint,
    Uscaled,
    Sscaled,
    Float,
    /// Signed fixed point with 16 fraction bits.
    Sfixed,
    /// Bits without conversion.
    Bits,
}

/// The components of a format, lowest bits first; `None` if the format does not consist of plain
/// components.
pub(super) fn components(format: &str) -> Option<Vec<Component>> {
    let mut found = Vec::new();
    let mut typed = 0;
    for word in format.split('_') {
        let number = match word {
            "UNORM" => Number::Unorm,
            "SNORM" => Number::Snorm,
            "UINT" => Number::Uint,
            "SINT" => Number::Sint,
            "USCALED" => Number::Uscaled,
            "SSCALED" => Number::Sscaled,
            "FLOAT" => Number::Float,
            "SFIXED" => Number::Sfixed,
            "PASSTHRU" | "TYPELESS" => Number::Bits,
            // Vertex fetch does not convert from sRGB.
            "SRGB" => continue,
            channels => {
                channel_bits(channels, &mut found)?;
                continue;
            }
        };
        for component in &mut found[typed..] {
            component.number = number;
        }
        typed = found.len();
    }
    (typed == found.len() && !found.is_empty()).then_some(found)
}

/// Adds the channels of a word such as `R11G11B10` to `found`; `None` if the word has another form.
fn channel_bits(word: &str, found: &mut Vec<Component>) -> Option<()> {
    let mut rest = word;
    while let Some(letter) = rest.bytes().next() {
        let name = match letter {
            b'R' => "R",
            b'G' => "G",
            b'B' => "B",
            b'A' => "A",
            b'L' => "L",
            b'I' => "I",
            b'X' => "",
            _ => return None,
        };
        let digits =
            rest[1..].find(|digit: char| !digit.is_ascii_digit()).map_or(rest.len(), |at| at + 1);
        let bits = rest.get(1..digits)?.parse().ok().filter(|bits| (1..=64).contains(bits))?;
        found.push(Component { name, bits, number: Number::Bits });
        rest = &rest[digits..];
    }
    Some(())
}

impl Component {
    /// The value of the bits.
    pub fn value(&self, stored: u64) -> Value {
        let signed = bits::sign_extend(stored, self.bits);
        // Vertex fetch converts to single floats, which are also shorter to print.
        let single = |value: f64| Value::Float(f64::from(value as f32));
        match self.number {
            Number::Unorm => single(stored as f64 / bits::ones(self.bits) as f64),
            Number::Snorm if self.bits > 1 => {
                single((signed as f64 / bits::ones(self.bits - 1) as f64).max(-1.0))
            }
            Number::Uint => Value::Uint(stored),
            Number::Sint => Value::Int(signed),
            Number::Uscaled => single(stored as f64),
            Number::Snorm | Number::Sscaled => single(signed as f64),
            Number::Sfixed => Value::Float(signed as f64 / 65536.0),
            Number::Float => match self.bits {
                64 => Value::Float(f64::from_bits(stored)),
                32 => Value::Float(f32::from_bits(stored as u32).into()),
                16 => Value::Float(small_float(stored, 10, true)),
                11 => Value::Float(small_float(stored, 6, false)),
                10 => Value::Float(small_float(stored, 5, false)),
                _ => Value::Raw,
            },
            Number::Bits => Value::Raw,
        }
    }
}

/// A float with five bits of exponent, biased by 15.
fn small_float(stored: u64, mantissa_bits: u32, signed: bool) -> f64 {
    let (first, last) = (mantissa_bits, mantissa_bits + 4);
    let dwords = [stored as u32];
    let mantissa = bits::get(&dwords, 0, mantissa_bits - 1) as f64;
    let exponent = bits::get(&dwords, first, last) as i32;
    let negative = signed && bits::get(&dwords, last + 1, last + 1) == 1;
    let one = f64::from(1u32 << mantissa_bits);
    let magnitude = match exponent {
        0 => mantissa / one * 2f64.powi(-14),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1.0 + mantissa / one) * 2f64.powi(exponent - 15),
    };
    if negative { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(format: &str) -> Option<Vec<(&'static str, u32, Number)>> {
        let found = components(format)?;
        Some(
            found
                .iter()
                .map(|component| (component.name, component.bits, component.number))
                .collect(),
        )
    }

    /// Oracle: the sizes of the formats, which the specification takes from the manual's table (2b
    /// p.36-42).
    #[test]
    fn components_are_as_wide_as_the_format() {
        let list = crate::decode::Tables::gen8().container("VERTEX_ELEMENT_STATE").unwrap();
        let format =
            list.fields.iter().find(|field| field.name == "Source Element Format").unwrap();
        let genxml_core::reflect::Type::Enum(list) = format.ty else {
            panic!("not an enumeration")
        };
        let mut known = 0;
        for &(value, name) in list.values {
            if let (Some(components), Some(bits)) = (components(name), list.bits_of(value)) {
                let sum: u32 = components.iter().map(|component| component.bits).sum();
                assert_eq!(sum, u32::from(bits), "{name}");
                known += 1;
            }
        }
        assert!(known > 150, "{known}");
    }

    #[test]
    fn names_say_what_is_in_a_format() {
        assert_eq!(
            names("R32G32_FLOAT"),
            Some(vec![("R", 32, Number::Float), ("G", 32, Number::Float)])
        );
        let mixed =
            [("R", 10), ("G", 10), ("B", 10)].map(|(name, bits)| (name, bits, Number::Snorm));
        let mixed = [&mixed[..], &[("A", 2, Number::Unorm)]].concat();
        assert_eq!(names("R10G10B10_SNORM_A2_UNORM"), Some(mixed));
        for odd in
            ["BC1_UNORM", "R9G9B9E5_SHAREDEXP", "YCRCB_NORMAL", "RAW", "", "A8P8_UNORM_PALETTE0"]
        {
            assert_eq!(names(odd), None, "{odd}");
        }
    }

    /// Oracle: IEEE 754 and the definitions of normalised numbers, by hand.
    #[test]
    fn numbers() {
        let of = |bits, number, stored| Component { name: "R", bits, number }.value(stored);
        assert_eq!(of(8, Number::Unorm, 255), Value::Float(1.0));
        assert_eq!(of(8, Number::Snorm, 0x80), Value::Float(-1.0));
        assert_eq!(of(8, Number::Snorm, 0x81), Value::Float(-1.0));
        assert_eq!(of(16, Number::Sint, 0xffff), Value::Int(-1));
        assert_eq!(of(16, Number::Float, 0x3c00), Value::Float(1.0));
        assert_eq!(of(16, Number::Float, 0xc500), Value::Float(-5.0));
        assert_eq!(of(16, Number::Float, 0x0001), Value::Float(2f64.powi(-24)));
        assert_eq!(of(16, Number::Float, 0xfc00), Value::Float(f64::NEG_INFINITY));
        assert_eq!(of(11, Number::Float, 15 << 6 | 32), Value::Float(1.5));
        assert_eq!(of(10, Number::Float, 16 << 5), Value::Float(2.0));
        assert_eq!(of(32, Number::Sfixed, 0xffff_8000), Value::Float(-0.5));
        assert_eq!(of(8, Number::Sscaled, 0xfe), Value::Float(-2.0));
    }
}
