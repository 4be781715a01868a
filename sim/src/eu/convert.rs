//! Conversions between the bit patterns of operands and the numbers that operations compute with.

use super::soft::{Exact, Format, Packed, Rounding};
use super::uop::Type;
pub use crate::surface::format::half::{half_to_single, single_to_half};

/// The format of a float type; `SINGLE` for integer types.
pub const fn format(ty: Type) -> Format {
    match ty {
        Type::Hf => Format::HALF,
        Type::Df => Format::DOUBLE,
        _ => Format::SINGLE,
    }
}

/// Converts the bit pattern of a float to another format. A NaN becomes quiet and keeps its sign
/// and the upper bits of its payload. Subnormal numbers are kept (004:1329).
pub fn reformat(from: Format, to: Format, bits: u64, rounding: Rounding) -> Packed {
    let packed = Exact::unpack(from, bits).pack(to, rounding);
    if bits & !from.sign() <= from.infinity() {
        return packed;
    }
    let sign = if bits & from.sign() == 0 { 0 } else { to.sign() };
    let (wide, narrow) = (from.precision - 1, to.precision - 1);
    let payload = bits & ((1 << wide) - 1);
    let payload =
        if wide > narrow { payload >> (wide - narrow) } else { payload << (narrow - wide) };
    Packed { bits: sign | to.nan() | payload, overflow: false }
}

/// A single float rounded to half precision.
pub fn to_half(value: f32, rounding: Rounding) -> u16 {
    match rounding {
        Rounding::Nearest => single_to_half(value),
        _ => reformat(Format::SINGLE, Format::HALF, value.to_bits().into(), rounding).bits as u16,
    }
}

/// The value of the bit pattern `bits` of type `ty`, as an integer. Floats lose their fraction.
#[inline(always)]
pub fn integer(ty: Type, bits: u64) -> i128 {
    match ty {
        Type::Ub => i128::from(bits as u8),
        Type::B => i128::from(bits as i8),
        Type::Uw => i128::from(bits as u16),
        Type::W => i128::from(bits as i16),
        Type::Ud => i128::from(bits as u32),
        Type::D => i128::from(bits as i32),
        Type::Uq => i128::from(bits),
        Type::Q => i128::from(bits as i64),
        Type::Hf => half_to_single(bits as u16) as i128,
        Type::F => f32::from_bits(bits as u32) as i128,
        Type::Df => f64::from_bits(bits) as i128,
    }
}

/// The value of the bit pattern `bits` of type `ty`, as a single float.
#[inline(always)]
pub fn single(ty: Type, bits: u64, rounding: Rounding) -> f32 {
    match ty {
        Type::F => f32::from_bits(bits as u32),
        Type::Hf => half_to_single(bits as u16),
        // Integers of at most 16 bits are exact: no rounding.
        Type::Ub | Type::B | Type::Uw | Type::W => integer(ty, bits) as i32 as f32,
        Type::Df => {
            f32::from_bits(reformat(Format::DOUBLE, Format::SINGLE, bits, rounding).bits as u32)
        }
        _ => f32::from_bits(from_integer(Type::F, integer(ty, bits), rounding).bits as u32),
    }
}

/// The value of the bit pattern `bits` of type `ty`, as a double float.
#[inline]
pub fn double(ty: Type, bits: u64, rounding: Rounding) -> f64 {
    match ty {
        Type::F => f64::from_bits(from_single(Type::Df, f32::from_bits(bits as u32), rounding)),
        Type::Hf => double(Type::F, u64::from(half_to_single(bits as u16).to_bits()), rounding),
        Type::Df => f64::from_bits(bits),
        Type::Uq | Type::Q => {
            f64::from_bits(from_integer(Type::Df, integer(ty, bits), rounding).bits)
        }
        _ => integer(ty, bits) as i64 as f64,
    }
}

/// Converts a single float to a bit pattern of type `ty`. Conversion to integers rounds toward
/// zero; a NaN becomes 0, and a number out of range becomes the minimum or maximum of the type
/// (004:1640-1681).
#[inline(always)]
pub fn from_single(ty: Type, value: f32, rounding: Rounding) -> u64 {
    match ty {
        Type::Ub => u64::from(value as u8),
        Type::B => value as i8 as u64,
        Type::Uw => u64::from(value as u16),
        Type::W => value as i16 as u64,
        Type::Ud => u64::from(value as u32),
        Type::D => value as i32 as u64,
        Type::Uq => value as u64,
        Type::Q => value as i64 as u64,
        Type::Hf => u64::from(to_half(value, rounding)),
        Type::F => u64::from(value.to_bits()),
        // A conversion by the host processor does not define the pattern of a NaN.
        Type::Df if value.is_nan() => {
            reformat(Format::SINGLE, Format::DOUBLE, value.to_bits().into(), rounding).bits
        }
        Type::Df => f64::from(value).to_bits(),
    }
}

/// Converts a double float to a bit pattern of type `ty`, by the rules of [`from_single`].
#[inline(always)]
pub fn from_double(ty: Type, value: f64, rounding: Rounding) -> u64 {
    match ty {
        Type::Ub => u64::from(value as u8),
        Type::B => value as i8 as u64,
        Type::Uw => u64::from(value as u16),
        Type::W => value as i16 as u64,
        Type::Ud => u64::from(value as u32),
        Type::D => value as i32 as u64,
        Type::Uq => value as u64,
        Type::Q => value as i64 as u64,
        Type::Hf | Type::F => reformat(Format::DOUBLE, format(ty), value.to_bits(), rounding).bits,
        Type::Df => value.to_bits(),
    }
}

/// Converts an integer to a bit pattern of type `ty`. An integer type gets the low bits of the
/// value, a float type the rounded value (004:1683-1723).
#[inline(always)]
pub fn from_integer(ty: Type, value: i128, rounding: Rounding) -> Packed {
    let short = value as i64;
    match (ty, rounding) {
        (Type::F, Rounding::Nearest) if i128::from(short) == value => {
            Packed { bits: u64::from((short as f32).to_bits()), overflow: false }
        }
        (Type::Df, Rounding::Nearest) if i128::from(short) == value => {
            Packed { bits: (short as f64).to_bits(), overflow: false }
        }
        (Type::Hf | Type::F | Type::Df, _) => Exact::integer(value).pack(format(ty), rounding),
        _ => Packed { bits: value as u64, overflow: false },
    }
}

/// The restricted 8-bit float of packed immediates: sign, 3 bits of exponent with bias 3, 4 bits of
/// fraction. All values are normal except the two zeros (004:1123-1222).
pub fn restricted_float(bits: u8) -> f32 {
    let sign = u32::from(bits & 0x80) << 24;
    if bits & 0x7f == 0 {
        return f32::from_bits(sign);
    }
    let exponent = u32::from(bits >> 4 & 7) + 124;
    f32::from_bits(sign | exponent << 23 | u32::from(bits & 15) << 19)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the values of IEEE 754-2008 binary16, by enumeration. Every finite half converts
    /// to single and back unchanged, and every midpoint of two neighbours rounds to the even one.
    #[test]
    fn halves_round_to_nearest_even() {
        for bits in 0..0x7c00u16 {
            let value = half_to_single(bits);
            assert_eq!(single_to_half(value), bits);
            assert_eq!(single_to_half(-value), bits | 0x8000);
            let next = half_to_single(bits + 1);
            if next.is_finite() {
                let middle = (value + next) / 2.0;
                assert_eq!(single_to_half(middle), bits + (bits & 1), "{bits:#x}");
                assert_eq!(single_to_half(f32::from_bits(middle.to_bits() + 1)), bits + 1);
                assert_eq!(single_to_half(f32::from_bits(middle.to_bits() - 1)), bits);
                assert_eq!(to_half(middle, Rounding::Up), bits + 1);
                assert_eq!(to_half(-middle, Rounding::Up), bits | 0x8000);
                assert_eq!(to_half(middle, Rounding::Zero), bits);
            }
        }
        assert_eq!(half_to_single(0x3c00), 1.0);
        assert_eq!(half_to_single(0x0001), 2f32.powi(-24));
        assert_eq!(single_to_half(65519.99), 0x7bff);
        assert_eq!(single_to_half(65520.0), 0x7c00);
        assert_eq!(single_to_half(f32::NEG_INFINITY), 0xfc00);
        assert!(half_to_single(single_to_half(f32::NAN)).is_nan());
    }
}
