//! Between bit patterns of operands and the arithmetic that they take part in.

use super::uop::Type;

/// The bits of a half precision float as a double, exactly.
pub fn half_to_f64(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f64::from(bits & 0x3ff);
    match exponent {
        0 => sign * fraction * (-24f64).exp2(),
        31 if bits & 0x3ff == 0 => sign * f64::INFINITY,
        31 => f64::from_bits(u64::from(bits >> 15) << 63 | 0x7ff8 << 48 | u64::from(bits & 0x3ff) << 42),
        _ => sign * (1.0 + fraction / 1024.0) * f64::from(exponent - 15).exp2(),
    }
}

/// The nearest half precision float, ties to even; subnormal halves are kept.
pub fn f64_to_half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48 & 0x8000) as u16;
    let magnitude = f64::from_bits(bits & !(1 << 63));
    if magnitude.is_nan() {
        return sign | 0x7e00 | (bits >> 42 & 0x1ff) as u16;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The step between halves of this size is a power of two, so that division by it is exact.
    let exponent = if magnitude < (-14f64).exp2() { -14 } else { ((bits >> 52 & 0x7ff) as i32) - 1023 };
    let steps = (magnitude / f64::from(exponent - 10).exp2()).round_ties_even() as u16;
    // Normal numbers count 1024..=2047 steps; 2048 carries into the exponent by itself.
    sign | (((exponent + 14) as u16) << 10).wrapping_add(steps)
}

/// The integer that `bits` are in integer type `ty`.
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
        Type::Hf => f64_to_integer(half_to_f64(bits as u16)),
        Type::F => f64_to_integer(f64::from(f32::from_bits(bits as u32))),
        Type::Df => f64_to_integer(f64::from_bits(bits)),
    }
}

fn f64_to_integer(value: f64) -> i128 {
    value as i128
}

/// The single float that `bits` are in type `ty`: integers to nearest even, doubles to nearest even.
#[inline(always)]
pub fn single(ty: Type, bits: u64) -> f32 {
    match ty {
        Type::F => f32::from_bits(bits as u32),
        Type::Hf => half_to_f64(bits as u16) as f32,
        Type::Df => f64::from_bits(bits) as f32,
        Type::Uq => bits as f32,
        Type::Q => bits as i64 as f32,
        _ => integer(ty, bits) as i64 as f32,
    }
}

/// The double that `bits` are in type `ty`.
#[inline(always)]
pub fn double(ty: Type, bits: u64) -> f64 {
    match ty {
        Type::F => f64::from(f32::from_bits(bits as u32)),
        Type::Hf => half_to_f64(bits as u16),
        Type::Df => f64::from_bits(bits),
        Type::Uq => bits as f64,
        Type::Q => bits as i64 as f64,
        _ => integer(ty, bits) as i64 as f64,
    }
}

/// The pattern of a float result in type `ty`. To integers: toward zero, NaN to 0, what is out of range to the
/// nearest end of the range (004:1640-1681). To floats: nearest, ties to even. `value` holds an F, HF or DF exactly.
#[inline(always)]
pub fn from_double(ty: Type, value: f64) -> u64 {
    match ty {
        Type::Ub => u64::from(value as u8),
        Type::B => value as i8 as u64,
        Type::Uw => u64::from(value as u16),
        Type::W => value as i16 as u64,
        Type::Ud => u64::from(value as u32),
        Type::D => value as i32 as u64,
        Type::Uq => value as u64,
        Type::Q => value as i64 as u64,
        Type::Hf => u64::from(f64_to_half(value)),
        Type::F => u64::from((value as f32).to_bits()),
        Type::Df => value.to_bits(),
    }
}

/// The pattern of a single float result in type `ty`, by the same rules.
#[inline(always)]
pub fn from_single(ty: Type, value: f32) -> u64 {
    match ty {
        Type::F => u64::from(value.to_bits()),
        _ => from_double(ty, f64::from(value)),
    }
}

/// The pattern of an integer result in type `ty`: low bits for integers, nearest even for floats (004:1683-1723).
#[inline(always)]
pub fn from_integer(ty: Type, value: i128) -> u64 {
    match ty {
        Type::Hf => u64::from(f64_to_half(value as f64)),
        Type::F => u64::from((value as f32).to_bits()),
        Type::Df => (value as f64).to_bits(),
        _ => value as u64,
    }
}

/// The restricted 8-bit float of packed immediates: sign, 3 bits of exponent with bias 3, 4 bits of fraction; always
/// normal but for the two zeros (004:1123-1222).
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

    /// Oracle: the values of IEEE 754-2008 binary16, by enumeration: every half survives the way to double and back,
    /// and every midpoint of two neighbours goes to the even one.
    #[test]
    fn halves_round_to_nearest_even() {
        for bits in 0..0x7c00u16 {
            let value = half_to_f64(bits);
            assert_eq!(f64_to_half(value), bits);
            assert_eq!(f64_to_half(-value), bits | 0x8000);
            let next = half_to_f64(bits + 1);
            if next.is_finite() {
                let middle = (value + next) / 2.0;
                assert_eq!(f64_to_half(middle), bits + (bits & 1), "{bits:#x}");
                assert_eq!(f64_to_half(f64::from_bits(middle.to_bits() + 1)), bits + 1);
                assert_eq!(f64_to_half(f64::from_bits(middle.to_bits() - 1)), bits);
            }
        }
        assert_eq!(half_to_f64(0x3c00), 1.0);
        assert_eq!(half_to_f64(0x0001), (-24f64).exp2());
        assert_eq!(f64_to_half(65519.99), 0x7bff);
        assert_eq!(f64_to_half(65520.0), 0x7c00);
        assert_eq!(f64_to_half(f64::NEG_INFINITY), 0xfc00);
        assert!(half_to_f64(f64_to_half(f64::NAN)).is_nan());
    }

    /// Oracle: 004:1640-1681, table of float to integer conversions.
    #[test]
    fn floats_to_integers() {
        assert_eq!(from_double(Type::D, 1e10) as u32, 0x7fff_ffff);
        assert_eq!(from_double(Type::D, f64::NEG_INFINITY) as u32, 0x8000_0000);
        assert_eq!(from_double(Type::Ud, -1.5), 0);
        assert_eq!(from_double(Type::Ud, f64::INFINITY) as u32, u32::MAX);
        assert_eq!(from_double(Type::D, f64::NAN), 0);
        assert_eq!(from_double(Type::D, -1.9) as i32, -1);
        assert_eq!(from_double(Type::Ub, 300.0), 255);
    }

    /// Oracle: 004:1171-1213, rows of the table of restricted floats.
    #[test]
    fn restricted_floats() {
        for (bits, value) in
            [(0x30, 1.0), (0x00, 0.0), (0x40, 2.0), (0x7f, 31.0), (0x01, 0.1328125), (0xb0, -1.0)]
        {
            assert_eq!(restricted_float(bits), value, "{bits:#x}");
        }
        assert!(restricted_float(0x80).is_sign_negative());
    }
}
