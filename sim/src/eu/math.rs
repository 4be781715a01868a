//! Functions of the extended math unit. Hardware approximates within stated errors; the model gives the nearest
//! single float of the exact value, as far as the platform independent `libm`-style formulas below allow.

use super::uop::Math;

/// A function of single floats, computed in doubles. Special values: G45 vol 4 section 9 (003:6017-6183).
pub fn float(function: Math, a: f32, b: f32) -> f32 {
    let (x, y) = (f64::from(a), f64::from(b));
    let result = match function {
        Math::Inv => 1.0 / x,
        Math::Log => x.log2(),
        Math::Exp => x.exp2(),
        Math::Sqrt => x.sqrt(),
        Math::Rsq => 1.0 / x.sqrt(),
        Math::Sin => x.sin(),
        Math::Cos => x.cos(),
        Math::Fdiv => x / y,
        Math::Pow => power(x.abs(), y),
        Math::IntDivBoth | Math::IntDivQuotient | Math::IntDivRemainder => f64::NAN,
    };
    if result.is_nan() { f32::NAN } else { result as f32 }
}

/// `2^(y * log2 x)` for x not negative, with the special values of 003:6160-6183.
fn power(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let exponent = y * x.log2();
    if exponent.is_nan() { f64::NAN } else { exponent.exp2() }
}

/// Quotient and remainder of signed dwords. The remainder has the numerator's sign; division by zero gives the
/// greatest or least number for both (003:6295-6316).
pub fn divide_signed(a: i32, b: i32) -> (i32, i32) {
    match b {
        0 if a >= 0 => (i32::MAX, i32::MAX),
        0 => (i32::MIN, i32::MIN),
        _ => (a.wrapping_div(b), a.wrapping_rem(b)),
    }
}

/// Quotient and remainder of unsigned dwords; all ones for both when dividing by zero.
pub fn divide_unsigned(a: u32, b: u32) -> (u32, u32) {
    match b {
        0 => (u32::MAX, u32::MAX),
        _ => (a / b, a % b),
    }
}
