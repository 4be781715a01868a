//! Functions of the extended math unit, one value at a time.
//!
//! Hardware approximates within stated errors. The model computes a double with an error of less
//! than one unit in its last place and rounds it to single. The result is the nearest single,
//! except where the exact result is closer to the middle between two singles than 2^-29 of their
//! distance. The doubles come from `libm`, which computes the same on every platform.

use super::uop::MathFunction;
use crate::assumptions::POWER_OF_MINUS_INFINITY_IS_NAN;

/// Computes a function of single floats; only Divide and Power use `b`. `alternative` is the ALT
/// mode: log, sqrt and rsq take the magnitude (004:1575); the caller replaces infinities. Special
/// values: G45 vol 4 section 6.3 (003:6017-6183).
#[inline(always)]
pub fn float(function: MathFunction, a: f32, b: f32, alternative: bool) -> f32 {
    let root = if alternative { a.abs() } else { a };
    match function {
        // Division and square root of IEEE 754 are correctly rounded.
        MathFunction::Inverse => 1.0 / a,
        MathFunction::Divide => a / b,
        MathFunction::SquareRoot => root.sqrt(),
        MathFunction::InverseSquareRoot => (1.0 / f64::from(root).sqrt()) as f32,
        MathFunction::Log => libm::log2(root.into()) as f32,
        MathFunction::Exp => libm::exp2(a.into()) as f32,
        MathFunction::Sin => libm::sin(a.into()) as f32,
        MathFunction::Cos => libm::cos(a.into()) as f32,
        MathFunction::Power => power(a, b, alternative),
        MathFunction::IntQuotientRemainder
        | MathFunction::IntQuotient
        | MathFunction::IntRemainder
        | MathFunction::InverseMacro
        | MathFunction::InverseSquareRootMacro => f32::NAN,
    }
}

/// `2^(y * log2 |x|)`. Special values follow from the formula (003:6160-6183).
fn power(x: f32, y: f32, alternative: bool) -> f32 {
    let base = x.abs();
    if base.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    if POWER_OF_MINUS_INFINITY_IS_NAN && x == f32::NEG_INFINITY && y > 0.0 && y.is_finite() {
        return f32::NAN;
    }
    let undefined = if y == 0.0 {
        // 0 * infinity; in ALT mode the logarithm of zero is finite.
        base.is_infinite() || base == 0.0 && !alternative
    } else {
        base == 1.0 && y.is_infinite()
    };
    if undefined { f32::NAN } else { libm::pow(base.into(), y.into()) as f32 }
}

/// Quotient and remainder of signed dwords. The remainder has the numerator's sign. Division by
/// zero gives for both the greatest number, or the least number if the numerator is negative
/// (003:6295-6316).
pub fn divide_signed(a: i32, b: i32) -> (i64, i64) {
    let (a, b) = (i64::from(a), i64::from(b));
    match b {
        0 if a >= 0 => (i32::MAX.into(), i32::MAX.into()),
        0 => (i32::MIN.into(), i32::MIN.into()),
        _ => (a / b, a % b),
    }
}

/// Quotient and remainder of unsigned dwords; all ones for both when dividing by zero.
pub fn divide_unsigned(a: u32, b: u32) -> (u32, u32) {
    match b {
        0 => (u32::MAX, u32::MAX),
        _ => (a / b, a % b),
    }
}
