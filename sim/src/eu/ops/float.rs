//! Operations on floats only: rounding to integers, interpolation, and the extended math unit.

use super::family::prelude::*;
use crate::eu::extended;
use crate::eu::math;
use crate::eu::uop::MathFunction;

family! {
    /// Fraction.
    Frc {
        float(f) { f.one(frc) }
        fast Frc Float(f) f.always() => float1(frc), Vector::Fraction;
    }
    /// Rounding to an integer, toward minus infinity.
    Rndd {
        float(f) { f.one(T::down) }
        fast Rndd Float(f) f.always() => float1(f32::floor), Vector::RoundDown;
    }
    /// Rounding to an integer, toward plus infinity.
    Rndu {
        float(f) { f.one(T::up) }
        fast Rndu Float(f) f.always() => float1(f32::ceil), Vector::RoundUp;
    }
    /// Rounding to the nearest integer, ties to even.
    Rnde {
        float(f) { f.one(T::even) }
        fast Rnde Float(f) f.always() => float1(f32::round_ties_even), Vector::RoundEven;
    }
    /// Rounding to an integer, toward zero.
    Rndz {
        float(f) { f.one(T::truncated) }
        fast Rndz Float(f) f.always() => float1(f32::trunc), Vector::RoundZero;
    }
    /// Linear interpolation.
    Lrp {
        float(f) { f.three(|m, a, b, c| lrp(m, a, b, c)) }
    }
    /// A function of the extended math unit.
    Math {
        whole extended::math;
        fast Inv Float(f) f.math(MathFunction::Inverse)
            => float1(|a| math::float(MathFunction::Inverse, a, 0.0, false)), Vector::Inverse;
        fast Fdiv Float(f) f.math(MathFunction::Divide)
            => float2(|a, b| math::float(MathFunction::Divide, a, b, false)), Vector::Divide;
        fast Sqrt Float(f) f.math(MathFunction::SquareRoot)
            => float1(|a| math::float(MathFunction::SquareRoot, a, 0.0, false)), Vector::Root;
        fast Rsq Float(f) f.math(MathFunction::InverseSquareRoot)
            => float1(|a| math::float(MathFunction::InverseSquareRoot, a, 0.0, false)),
                Vector::InverseRoot;
        fast Log Float(f) f.math(MathFunction::Log)
            => float1(|a| math::float(MathFunction::Log, a, 0.0, false));
        fast Exp Float(f) f.math(MathFunction::Exp)
            => float1(|a| math::float(MathFunction::Exp, a, 0.0, false));
        fast Sin Float(f) f.math(MathFunction::Sin)
            => float1(|a| math::float(MathFunction::Sin, a, 0.0, false));
        fast Cos Float(f) f.math(MathFunction::Cos)
            => float1(|a| math::float(MathFunction::Cos, a, 0.0, false));
        fast Pow Float(f) f.math(MathFunction::Power)
            => float2(|a, b| math::float(MathFunction::Power, a, b, false));
    }
    /// A step of a division or square root macro.
    Madm {
        whole extended::madm;
    }
}

/// Fraction, in [0, 1) in every rounding mode (2a, frc).
#[inline(always)]
fn frc<T: Float>(a: T) -> T {
    let fraction = a.less(a.down());
    if fraction >= T::ONE { T::BELOW_ONE } else { fraction }
}

/// Linear interpolation: b where a is one, c where it is zero (2a, lrp).
#[inline(always)]
fn lrp<T: Float, A: Arithmetic<T>>(m: &A, a: T, b: T, c: T) -> T {
    m.add(m.mul(a, b), m.mul(m.add(T::ONE, -a), c))
}
