//! Numbers as written in the source, and their conversion to immediates of every type.

use crate::instruction::{DataType, Immediate};

/// A parsed number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// Decimal integer.
    Decimal(u64),
    /// Hexadecimal or binary integer.
    Bits(u64),
    /// With a decimal point or an exponent.
    Real(f64),
    /// `inf`.
    Infinite,
    /// `qnan(0x0)` or `snan(0x1)`: whether it is quiet, and the payload.
    Nan(bool, u64),
}

/// The reason why a number cannot be an immediate of a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImmediateError {
    /// The type has no immediates.
    Type,
    /// The value is outside the range of the type.
    Range,
    /// The type needs another kind of number.
    Kind,
}

/// Parses `0x1F`, `0b101`, `12`, `1.5`, `1e-3`.
pub fn number(text: &str) -> Option<Number> {
    let radix = |prefixes: [&str; 2], radix| {
        let digits = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?;
        let digits = digits.bytes().all(|b| b.is_ascii_alphanumeric()).then_some(digits)?;
        u64::from_str_radix(digits, radix).ok()
    };
    if text.starts_with("0x") || text.starts_with("0X") {
        return radix(["0x", "0X"], 16).map(Number::Bits);
    }
    if text.starts_with("0b") || text.starts_with("0B") {
        return radix(["0b", "0B"], 2).map(Number::Bits);
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok().map(Number::Decimal);
    }
    let real =
        text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !real {
        return None;
    }
    text.parse().ok().map(Number::Real)
}

/// Converts a number to an immediate of type `ty`. `text` is the number as written; floats are
/// converted from it, so they are rounded only once.
pub fn immediate(
    negative: bool,
    number: Number,
    text: &str,
    ty: DataType,
) -> Result<Immediate, ImmediateError> {
    let bits = match ty {
        DataType::Ub | DataType::B => return Err(ImmediateError::Type),
        DataType::F | DataType::Df | DataType::Hf => float(negative, number, text, ty)?,
        DataType::V | DataType::Uv | DataType::Vf => match number {
            Number::Decimal(bits) | Number::Bits(bits) if !negative => {
                u32::try_from(bits).map_err(|_| ImmediateError::Range)?.into()
            }
            _ => return Err(ImmediateError::Kind),
        },
        _ => integer(negative, number, ty)?,
    };
    Ok(Immediate { ty, bits })
}

/// Least and greatest value of an integer type.
pub fn range(ty: DataType) -> (i128, i128) {
    let bits = u32::from(ty.size()) * 8;
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn integer(negative: bool, number: Number, ty: DataType) -> Result<u64, ImmediateError> {
    let (magnitude, plain) = match number {
        Number::Decimal(value) => (value, false),
        Number::Bits(value) => (value, true),
        _ => return Err(ImmediateError::Kind),
    };
    let value = if negative { -i128::from(magnitude) } else { i128::from(magnitude) };
    let (least, greatest) = range(ty);
    // Hexadecimal digits may be the bits of a negative number.
    let all_bits = (1i128 << (u32::from(ty.size()) * 8)) - 1;
    if value < least || value > if plain { all_bits } else { greatest } {
        return Err(ImmediateError::Range);
    }
    Ok((value & all_bits) as u64)
}

/// Number of bits of the exponent and of the fraction.
fn layout(ty: DataType) -> (u32, u32) {
    match ty {
        DataType::Hf => (5, 10),
        DataType::F => (8, 23),
        _ => (11, 52),
    }
}

fn float(negative: bool, number: Number, text: &str, ty: DataType) -> Result<u64, ImmediateError> {
    let (exponent, fraction) = layout(ty);
    let sign = if negative { 1 << (exponent + fraction) } else { 0 };
    let infinite = ((1 << exponent) - 1) << fraction;
    let magnitude = match number {
        Number::Bits(_) if negative => return Err(ImmediateError::Kind),
        Number::Bits(bits) => {
            let fits = ty == DataType::Df || bits >> (1 + exponent + fraction) == 0;
            return if fits { Ok(bits) } else { Err(ImmediateError::Range) };
        }
        Number::Infinite => infinite,
        Number::Nan(quiet, payload) => {
            let top = fraction - 1;
            let empty = !quiet && payload == 0;
            if payload >> top != 0 || empty {
                return Err(ImmediateError::Range);
            }
            infinite | u64::from(quiet) << top | payload
        }
        Number::Decimal(_) | Number::Real(_) => {
            let bits = match ty {
                DataType::Hf => text.parse().map(|value: f64| half(value).into()),
                DataType::F => text.parse().map(|value: f32| u64::from(value.to_bits())),
                _ => text.parse().map(|value: f64| value.to_bits()),
            };
            // A value that rounds to infinity is too large for the type.
            let bits = bits.map_err(|_| ImmediateError::Kind)?;
            if bits == infinite {
                return Err(ImmediateError::Range);
            }
            bits
        }
    };
    Ok(sign | magnitude)
}

/// The half float nearest to a number that is not negative, ties to even.
fn half(value: f64) -> u16 {
    // In units of the least subnormal, 2^-24.
    let scaled = value * 16_777_216.0;
    if scaled >= 65520.0 * 16_777_216.0 {
        return 0x7c00;
    }
    let mut unit = 1.0;
    let mut exponent = 0u16;
    while scaled >= 2048.0 * unit {
        unit *= 2.0;
        exponent += 1;
    }
    let steps = scaled / unit;
    let below = steps as u16;
    let rest = steps - f64::from(below);
    let up = rest > 0.5 || (rest == 0.5 && below % 2 == 1);
    // A carry out of the fraction increments the exponent, which is correct.
    exponent * 1024 + below + u16::from(up)
}

/// The restricted 8-bit float with this value, if there is one. It has a sign, three bits of
/// exponent and four of fraction. The hidden bit is set even at the least exponent, except for the
/// two zeros (4 pt 3 p.38).
pub fn restricted(negative: bool, magnitude: f64) -> Option<u8> {
    let sign = if negative { 0x80 } else { 0 };
    let codes = 1..128u8;
    let value = |code: u8| {
        let fraction = 1.0 + f64::from(code % 16) / 16.0;
        fraction * f64::from(1u32 << (code / 16)) / 8.0
    };
    if magnitude == 0.0 {
        return Some(sign);
    }
    codes.into_iter().find(|code| value(*code) == magnitude).map(|code| sign | code)
}
