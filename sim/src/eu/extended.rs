//! Instructions of the extended math unit: `math`, and `madm`, the second step of two of its
//! functions.
//!
//! Compilers compute correctly rounded quotients and square roots with macros. `math.invm` or
//! `math.rsqtm` gives an approximation of a reciprocal; for special operands it gives the final
//! value and sets the flag. A sequence of `madm` refines the approximation. Intermediate results
//! need exponents outside the range of their type, and a few more bits. The part that does not fit
//! the register is stored in an accumulator (`mme0` to `mme7`), for each channel.

use super::convert::{format, reformat};
use super::general::{Done, illegal};
use super::math::{self, divide_signed, divide_unsigned};
use super::operands::{
    Finish, Lanes, Operand, channels, finish_floats, finish_ints, float_type, floats, ints, map,
    set_flag, write,
};
use super::regions::{GRF_BYTES, REGISTER, wrap};
use super::soft::{Exact, Extension, Format, Rounding};
use super::thread::Thread;
use super::uop::{Dst, ExecType, MathFunction, Target, Type, Uop};
use crate::assumptions::MATH_KEEPS_SUBNORMALS_BY_MODE;

/// Runs a `math` instruction.
///
/// # Errors
/// [`Refusal::Illegal`](crate::machine::fault::Refusal) for operands and modes that 2a (math)
/// forbids.
pub fn math(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let n = usize::from(u.size);
    let Some(function) = u.function else { return Err(illegal(u, "without a function")) };
    match function {
        MathFunction::IntQuotient
        | MathFunction::IntRemainder
        | MathFunction::IntQuotientRemainder => divide(thread, u, mask, function),
        MathFunction::InverseMacro | MathFunction::InverseSquareRootMacro => match u.exec {
            ExecType::Double => begin_macro::<f64>(thread, u, mask, function),
            ExecType::Single => begin_macro::<f32>(thread, u, mask, function),
            _ => Err(illegal(u, "of types that are neither single nor double")),
        },
        MathFunction::Divide if thread.modes.alternative => Err(illegal(u, "in ALT mode")),
        _ if u.exec == ExecType::Double => Err(illegal(u, "of doubles")),
        _ => {
            let load = |index: usize| {
                let lanes = floats::<f32>(thread, &u.src[index], u.exec, n, true);
                if MATH_KEEPS_SUBNORMALS_BY_MODE {
                    lanes
                } else {
                    lanes.map(super::ops::number::Float::flush)
                }
            };
            let (a, b) = (load(0), load(1));
            let alternative = thread.modes.alternative && u.exec == ExecType::Single;
            let results = map(n, |c| {
                let result = math::float(function, a[c], b[c], alternative);
                if u.exec == ExecType::Half {
                    super::convert::half_to_single(super::convert::single_to_half(result))
                } else {
                    result
                }
            });
            finish_floats(thread, u, mask, &results, Finish { nearest: true, ..Finish::COMPUTED });
            Ok(())
        }
    }
}

/// Integer division: the quotient, the remainder, or both. If both, the remainders are in the
/// registers after the quotients.
fn divide(thread: &mut Thread, u: &Uop, mask: u32, function: MathFunction) -> Done {
    let n = usize::from(u.size);
    let load = |index: usize| ints::<i64>(thread, &u.src[index], n, false);
    let (a, b) = (load(0), load(1));
    let unsigned = u.src[0].ty == Type::Ud;
    let results: Lanes<(i64, i64)> = map(n, |c| {
        if unsigned {
            let (quotient, remainder) = divide_unsigned(a[c] as u32, b[c] as u32);
            (quotient.into(), remainder.into())
        } else {
            divide_signed(a[c] as i32, b[c] as i32)
        }
    });
    let (quotients, remainders) = (results.map(|result| result.0), results.map(|result| result.1));
    match function {
        MathFunction::IntQuotient => finish_ints(thread, u, mask, &quotients),
        MathFunction::IntRemainder => finish_ints(thread, u, mask, &remainders),
        _ => {
            let Target::File { offset, stride } = u.dst.target else {
                return Err(illegal(u, "with a destination that is not a general register"));
            };
            finish_ints(thread, u, mask, &quotients);
            let target = remainder_target(offset, stride, n);
            let rest = Uop { dst: Dst { target, ..u.dst.clone() }, ..u.clone() };
            finish_ints(thread, &rest, mask, &remainders);
        }
    }
    Ok(())
}

/// Where the remainders of `channels` quotients go. The quotients are `stride` bytes apart, from
/// byte `offset` of the file on. The remainders go to the registers after them.
pub fn remainder_target(offset: u16, stride: u8, channels: usize) -> Target {
    let step = usize::from(stride);
    let quotients = (channels * step).next_multiple_of(REGISTER);
    let first = wrap((usize::from(offset) + quotients) as i32);
    if usize::from(first) + channels * step <= GRF_BYTES {
        return Target::File { offset: first, stride };
    }
    Target::Table(Box::new(std::array::from_fn(|c| wrap((usize::from(first) + c * step) as i32))))
}

/// `invm` and `rsqtm`. For special operands: the final value, and the flag set. For others: an
/// approximation, and the flag cleared. The approximation is as good as its type allows. The
/// accuracy of hardware is not published.
fn begin_macro<T: Operand>(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    function: MathFunction,
) -> Done {
    let n = usize::from(u.size);
    let load = |index: usize| {
        floats::<T>(thread, &u.src[index], u.exec, n, true).map(|lane| lane.pattern())
    };
    let a = load(0);
    let b = if function == MathFunction::InverseMacro { load(1) } else { a };
    let mut early = 0;
    let mut values = [0; super::uop::MAX_CHANNELS];
    for c in 0..n {
        let found = match function {
            MathFunction::InverseMacro => begin_quotient(T::FORMAT, a[c], b[c]),
            _ => begin_root(T::FORMAT, a[c]),
        };
        let (bits, extension) = match found {
            Begun::Early(bits) => {
                early |= 1 << c;
                (bits, Extension::default())
            }
            Begun::Approximation(approximation) => pack(approximation, T::FORMAT, u.extended[0]),
        };
        values[c] = bits;
        if mask >> c & 1 == 1 {
            thread.acc.set_extension(u.extended[0], c, extension);
        }
    }
    set_flag(thread, u, mask, early);
    if u.dst.ty != float_type(u.exec) {
        return Err(illegal(u, "with a destination of another type"));
    }
    write(thread, u, mask, &values);
    Ok(())
}

/// The result of the first step of a macro.
enum Begun {
    /// The pattern of the final result.
    Early(u64),
    /// An approximation.
    Approximation(Exact),
}

/// The quotient if one of the operands is special (zero, infinite or NaN), else the reciprocal of
/// the second operand.
fn begin_quotient(format: Format, a: u64, b: u64) -> Begun {
    let early = |exact: Exact| Begun::Early(exact.pack(format, Rounding::Nearest).bits);
    let (a, b) = (Exact::unpack(format, a), Exact::unpack(format, b));
    let zero = |negative| Exact::Finite { negative, exponent: 0, significand: 0 };
    match (a, b) {
        (Exact::Nan, _) | (_, Exact::Nan) | (Exact::Infinite { .. }, Exact::Infinite { .. }) => {
            early(Exact::Nan)
        }
        (Exact::Infinite { negative }, Exact::Finite { negative: second, .. }) => {
            early(Exact::Infinite { negative: negative != second })
        }
        (Exact::Finite { negative, .. }, Exact::Infinite { negative: second }) => {
            early(zero(negative != second))
        }
        (Exact::Finite { significand: 0, .. }, Exact::Finite { significand: 0, .. }) => {
            early(Exact::Nan)
        }
        (
            Exact::Finite { negative, significand: 0, .. },
            Exact::Finite { negative: second, .. },
        ) => early(zero(negative != second)),
        (
            Exact::Finite { negative, .. },
            Exact::Finite { negative: second, significand: 0, .. },
        ) => early(Exact::Infinite { negative: negative != second }),
        (_, Exact::Finite { negative, exponent, significand }) => {
            // The divisor is scaled to [1, 2), so that the reciprocal neither overflows nor becomes
            // subnormal.
            let top = significand.ilog2() as i32;
            let reciprocal =
                1.0 / (significand as f64 / f64::from_bits(((1023 + top) as u64) << 52));
            let sign = if negative { -1.0 } else { 1.0 };
            let bits = (sign * reciprocal).to_bits();
            Begun::Approximation(Exact::unpack(Format::DOUBLE, bits).scaled(-exponent - top))
        }
    }
}

/// The square root if the operand is special (zero, negative, infinite or NaN), else the reciprocal
/// of the root.
fn begin_root(format: Format, a: u64) -> Begun {
    let early = |exact: Exact| Begun::Early(exact.pack(format, Rounding::Nearest).bits);
    match Exact::unpack(format, a) {
        Exact::Nan => early(Exact::Nan),
        Exact::Finite { significand: 0, .. } => Begun::Early(a),
        Exact::Finite { negative: true, .. } | Exact::Infinite { negative: true } => {
            early(Exact::Nan)
        }
        Exact::Infinite { .. } => Begun::Early(a),
        Exact::Finite { exponent, significand, .. } => {
            // The operand is scaled by an even power of two, whose root is a power of two.
            let top = (significand.ilog2() as i32 + exponent).div_euclid(2) * 2;
            let shift = top - exponent;
            let scaled = significand as f64 / f64::from_bits(((1023 + shift) as u64) << 52);
            Begun::Approximation(
                Exact::unpack(Format::DOUBLE, (1.0 / scaled.sqrt()).to_bits()).scaled(-top / 2),
            )
        }
    }
}

/// Packs a value for a register, and its extension for accumulator `extended` if one is named.
fn pack(value: Exact, format: Format, extended: u8) -> (u64, Extension) {
    if usize::from(extended) < 8 {
        value.pack_extended(format, Rounding::Nearest)
    } else {
        (value.pack(format, Rounding::Nearest).bits, Extension::default())
    }
}

/// Runs a `madm`: source 0 plus the product of sources 1 and 2, rounded once. The extensions of
/// operands and result are in accumulators.
///
/// # Errors
/// [`Refusal::Illegal`](crate::machine::fault::Refusal) for types other than single and double.
pub fn madm(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    match u.exec {
        ExecType::Double => fused::<f64>(thread, u, mask),
        ExecType::Single => fused::<f32>(thread, u, mask),
        _ => return Err(illegal(u, "of types that are neither single nor double")),
    }
    Ok(())
}

fn fused<T: Operand>(thread: &mut Thread, u: &Uop, mask: u32) {
    let n = usize::from(u.size);
    let rounding = thread.modes.rounding_mode();
    let load = |index: usize| -> Lanes<Exact> {
        let lanes = floats::<T>(thread, &u.src[index], u.exec, n, true);
        let mut exact = [Exact::Nan; super::uop::MAX_CHANNELS];
        for (c, exact) in exact.iter_mut().enumerate().take(n) {
            let extension = thread.acc.extension(u.extended[1 + index], c);
            *exact = Exact::unpack_extended(T::FORMAT, lanes[c].pattern(), extension);
        }
        exact
    };
    let (a, b, c2) = (load(0), load(1), load(2));
    let sum = |c: usize| b[c].times(c2[c]).plus(a[c], rounding);
    if usize::from(u.extended[0]) >= 8 {
        let results: Lanes<T> = map(n, |c| T::from_pattern(sum(c).pack(T::FORMAT, rounding).bits));
        return finish_floats(thread, u, mask, &results, Finish::COMPUTED);
    }
    let mut values = [0; super::uop::MAX_CHANNELS];
    for c in channels(u, mask) {
        let (bits, extension) = sum(c).pack_extended(T::FORMAT, rounding);
        values[c] = reformat(T::FORMAT, format(u.dst.ty), bits, rounding).bits;
        thread.acc.set_extension(u.extended[0], c, extension);
    }
    write(thread, u, mask, &values);
}
