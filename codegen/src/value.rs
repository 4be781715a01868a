//! Parses values of attributes: types, defaults, ranges, stored forms.

use crate::model::{Enum, Stored, Type};
use genxml_syntax::number::number;

/// Limit for positions and sizes in bits. 2^24 bits are 2 MiB.
pub(crate) const BITS_LIMIT: u64 = 1 << 24;

/// Names of the address spaces, the same as in `genxml_core::address::SpaceKind`.
pub(crate) const SPACES: &[&str] = &[
    "graphics",
    "general-state",
    "surface-state",
    "dynamic-state",
    "indirect-object",
    "instruction",
    "mfx-bitstream",
    "mfx-mv",
    "mfd-it-coeff",
    "mfd-it-dblk",
    "mfc-pak-bse",
    "mmio",
];

/// Names of the types that need no declaration.
pub(crate) const BUILT_IN: &[&str] =
    &["uint", "int", "bool", "float", "address", "offset", "mbo", "mbz", "reserved"];

/// Parses a fixed-point type: `u4.8`, `s1.6`.
pub(crate) fn fixed(text: &str) -> Option<Type> {
    let digits = |text: &str| match !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        true => text.parse::<u32>().ok().filter(|bits| *bits <= 64),
        false => None,
    };
    let (int, frac) = text.get(1..)?.split_once('.')?;
    let (int, frac) = (digits(int)?, digits(frac)?);
    match text.as_bytes()[0] {
        b'u' => Some(Type::UFixed { int, frac }),
        b's' => Some(Type::SFixed { int, frac }),
        _ => None,
    }
}

/// Parses a number with an optional `-`.
pub(crate) fn signed(text: &str) -> Option<i128> {
    let text = text.trim();
    match text.strip_prefix('-') {
        Some(rest) => number(rest).map(|value| -i128::from(value)),
        None => number(text).map(i128::from),
    }
}

/// All ones in the low `width` bits.
pub(crate) fn ones(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// The bits of a number in two's complement; `None` if it does not fit.
fn twos_complement(value: i128, width: u32) -> Option<u64> {
    let half = 1i128 << (width.clamp(1, 64) - 1);
    (-half..half).contains(&value).then_some(value as u64 & ones(width))
}

/// Parses a number and multiplies it by 2^`frac`; `None` if the result is not an integer.
fn scaled(text: &str, frac: u32) -> Option<i128> {
    if let Some(value) = signed(text) {
        return value.checked_mul(1i128.checked_shl(frac)?);
    }
    let value: f64 = text.trim().parse().ok()?;
    let scaled = value * (frac as f64).exp2();
    (scaled.fract() == 0.0 && scaled.abs() < 1e18).then_some(scaled as i128)
}

/// Parses a stored value; `None` if it does not fit the field.
pub(crate) fn fits(text: &str, width: u32) -> Option<u64> {
    number(text).filter(|value| *value <= ones(width))
}

/// Converts a `default` to stored bits. Unsigned integers are stored values. Signed integers
/// (`-1`), fixed point (`1.5`) and floats (`1.0`) are meant values unless written `0x...` or
/// `0b...`. Enumerations may use names, booleans `true` and `false`.
pub(crate) fn default(text: &str, ty: &Type, width: u32, enums: &[Enum]) -> Result<u64, String> {
    let text = text.trim();
    let hex = text.starts_with("0x") || text.starts_with("0b");
    let fits = |value: u64| match value <= ones(width) {
        true => Ok(value),
        false => {
            Err(format!("{text} needs {} bits, the field has {width}", 64 - value.leading_zeros()))
        }
    };
    match ty {
        Type::Bool if text == "true" => return Ok(1),
        Type::Bool if text == "false" => return Ok(0),
        Type::Enum(id) => {
            if let Some(list) = enums.get(id.0)
                && let Some(value) = list.values.iter().find(|value| value.name == text)
            {
                return fits(value.value);
            }
        }
        Type::Int if !hex => {
            let value = signed(text).ok_or_else(|| format!("`{text}` is not a number"))?;
            return twos_complement(value, width)
                .ok_or_else(|| format!("{text} does not fit {width} bits of two's complement"));
        }
        Type::Float if !hex => {
            let value: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
            if width != 64 && value.is_finite() && !(value as f32).is_finite() {
                return Err(format!("{text} is too large for 32 bits"));
            }
            return Ok(if width == 64 {
                value.to_bits()
            } else {
                u64::from((value as f32).to_bits())
            });
        }
        Type::UFixed { frac, .. } if !hex => {
            let value = scaled(text, *frac)
                .ok_or_else(|| format!("`{text}` is not a multiple of 2^-{frac}"))?;
            return u64::try_from(value)
                .ok()
                .filter(|value| *value <= ones(width))
                .ok_or_else(|| format!("{text} does not fit the format"));
        }
        Type::SFixed { frac, .. } if !hex => {
            let value = scaled(text, *frac)
                .ok_or_else(|| format!("`{text}` is not a multiple of 2^-{frac}"))?;
            return twos_complement(value, width)
                .ok_or_else(|| format!("{text} does not fit the format"));
        }
        _ => {}
    }
    match number(text) {
        Some(value) => fits(value),
        None if matches!(ty, Type::Enum(_)) => {
            Err(format!("`{text}` is neither a number nor one of the values"))
        }
        None => Err(format!("`{text}` is not a number")),
    }
}

/// Converts a bound of a `range` from the meant to the stored value, sign-extended to 64 bits for
/// signed types.
pub(crate) fn bound(text: &str, ty: &Type, stored: Stored, width: u32) -> Result<u64, String> {
    let text = text.trim();
    let frac = match ty {
        Type::UFixed { frac, .. } | Type::SFixed { frac, .. } => *frac,
        _ => 0,
    };
    let meant = scaled(text, frac).ok_or_else(|| match frac {
        0 => format!("`{text}` is not a number"),
        _ => format!("`{text}` is not a multiple of 2^-{frac}"),
    })?;
    let value = match stored {
        Stored::Plain => meant,
        Stored::MinusOne => meant - 1,
        Stored::Shifted(by) if by < 64 && meant % (1 << by) == 0 => meant >> by,
        Stored::Shifted(by) => return Err(format!("{text} is not a multiple of 2^{by}")),
        Stored::Log2 => match u64::try_from(meant) {
            Ok(value) if value.is_power_of_two() => i128::from(value.trailing_zeros()),
            _ => return Err(format!("{text} is not a power of two")),
        },
    };
    if matches!(ty, Type::Int | Type::SFixed { .. }) {
        return match twos_complement(value, width) {
            Some(_) => Ok(value as i64 as u64),
            None => Err(format!("{text} does not fit {width} bits of two's complement")),
        };
    }
    match u64::try_from(value) {
        Ok(value) if value <= ones(width) => Ok(value),
        Ok(value) if stored == Stored::Plain && frac == 0 => {
            Err(format!("{text} needs {} bits, the field has {width}", 64 - value.leading_zeros()))
        }
        Ok(value) => Err(format!("{text} is stored as {value}, which does not fit {width} bits")),
        Err(_) => Err(format!("{text} is stored as {value}, which is negative")),
    }
}

/// Parses `minus-one`, `shifted:N` or `log2`.
pub(crate) fn stored(text: &str) -> Option<Stored> {
    match text.trim() {
        "minus-one" => Some(Stored::MinusOne),
        "log2" => Some(Stored::Log2),
        other => {
            let by = other.strip_prefix("shifted:")?.parse::<u32>().ok()?;
            (1..64).contains(&by).then_some(Stored::Shifted(by))
        }
    }
}
