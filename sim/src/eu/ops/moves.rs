//! Copies, selections and comparisons.

use super::family::prelude::*;
use super::number::compare;
use crate::assumptions::COMPARE_NAN_TRUE_FOR_TWO;
use crate::eu::general::illegal;
use crate::eu::operands::{
    Finish, finish_copy, finish_floats, finish_ints, floats, ints, patterns,
};
use crate::eu::regions::{A0, REGISTER, wrap};
use crate::eu::uop::{Condition, Op, Shape, Src, Target, Type};

family! {
    /// A copy with conversion.
    Mov {
        whole mov;
        fast MovInt Int(f) f.exact() => int1(|a| a), Vector::Copy;
        fast MovLong Long(f) f.long() => long1(|a| a), Vector::CopyLong;
        fast MovBits Float(f) f.raw() => int1(|a| a), Vector::Copy;
        fast MovFloat Float(f) f.when(!f.plain_copy()) => copy(());
        fast FloatToSigned FloatToInt(f) f.to_ints(true) => to_int(|a| a as i32 as u32), Vector::ToInt;
        fast FloatToUnsigned FloatToInt(f) f.to_ints(false) => to_int(|a| a as u32);
        fast SignedToFloat IntToFloat(f) f.when(f.signed) => to_float(|a| a as i32 as f32), Vector::ToFloat;
        fast UnsignedToFloat IntToFloat(f) f.when(f.unsigned) => to_float(|a| a as f32);
    }
    /// A shuffle of the elements of one register.
    Movi {
        whole movi;
    }
    /// Selects one of two sources by the predicate, or by comparing the two.
    Sel {
        int(i) {
            match i.u.select {
                None => i.choose(),
                Some(condition) => i.two(|a, b| if compare(condition, a, b) { a } else { b }),
            }
        }
        float(f) {
            match f.u.select {
                None => f.choose(),
                Some(Condition::Less | Condition::LessEqual) => {
                    f.selecting().two(|_, a, b| min(a, b))
                }
                Some(Condition::Greater | Condition::GreaterEqual) => {
                    f.selecting().two(|_, a, b| max(a, b))
                }
                Some(condition) => {
                    f.selecting().two(|_, a, b| if compare(condition, a, b) { a } else { b })
                }
            }
        }
        fast SelInt Int(f) f.exact_if(f.selects_by_predicate()) => choice(()), Vector::SelectInt;
        fast MinSigned Int(f) f.exact_if(f.selects_less() && f.signed)
            => int2(|a, b| (a as i32).min(b as i32) as u32), Vector::MinSigned;
        fast MinUnsigned Int(f) f.exact_if(f.selects_less() && f.unsigned) => int2(u32::min), Vector::MinUnsigned;
        fast MaxSigned Int(f) f.exact_if(f.selects_greater() && f.signed)
            => int2(|a, b| (a as i32).max(b as i32) as u32), Vector::MaxSigned;
        fast MaxUnsigned Int(f) f.exact_if(f.selects_greater() && f.unsigned) => int2(u32::max), Vector::MaxUnsigned;
        fast SelFloat Float(f) f.when(f.selects_by_predicate()) => choice_of_floats(()), Vector::SelectFloat;
        fast MinFloat Float(f) f.when(f.selects_less()) => preference(min), Vector::MinFloat;
        fast MaxFloat Float(f) f.when(f.selects_greater()) => preference(max), Vector::MaxFloat;
    }
    /// Selects one of two sources by comparing the third source with zero.
    Csel {
        int(i) {
            match i.u.select {
                None => i.three(|_, b, _| b),
                Some(condition) => i.three(|a, b, c| {
                    if compare(condition, c, T::default()) { a } else { b }
                }),
            }
        }
        float(f) {
            match f.u.select {
                None => f.selecting().three(|_, _, b, _| b),
                Some(condition) => f.selecting().three(|_, a, b, c| {
                    if compare(condition, c, T::ZERO) { a } else { b }
                }),
            }
        }
    }
    /// A comparison.
    Cmp {
        int(i) { i.compare(compare) }
        float(f) { f.compare(compare) }
        fast Equal CompareInts(f) if f.signed || f.unsigned { f.equality() } else { None }
            => compare(|a, b| a == b), Vector::EqualInt;
        fast LessSigned CompareInts(f) if f.signed { f.order() } else { None }
            => compare(|a, b| (a as i32) < b as i32), Vector::LessSigned;
        fast LessUnsigned CompareInts(f) if f.unsigned { f.order() } else { None }
            => compare(|a, b| a < b), Vector::LessUnsigned;
        fast EqualFloat CompareFloats(f) f.equality() => compare_floats(|a, b| a == b), Vector::EqualFloat;
        fast LessFloat CompareFloats(f) f.strict_order() => compare_floats(|a, b| a < b), Vector::LessFloat;
        fast AtMostFloat CompareFloats(f) f.weak_order() => compare_floats(|a, b| a <= b), Vector::AtMostFloat;
    }
    /// A comparison that treats float NaNs differently from `cmp` (`compare_nan`).
    Cmpn {
        int(i) { i.compare(compare) }
        float(f) { f.compare(compare_nan) }
    }
}

/// A copy. Without conversion, modifiers and saturation it keeps all bits.
fn mov(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let (n, src) = (usize::from(u.size), &u.src[0]);
    let raw = src.ty == u.dst.ty && src.plain() && !u.saturate;
    let accumulator = matches!(u.dst.target, Target::Accumulator(_))
        || matches!(src.shape, Shape::Accumulator(_));
    // An accumulator holds more bits of an integer than its type has.
    if raw && (src.ty.is_float() || !accumulator) {
        let values = patterns(thread, src, n);
        finish_copy(thread, u, mask, &values);
        return Ok(());
    }
    // Conversions between float types keep subnormal numbers, and so does a copy without modifiers
    // (004:1329-1333).
    let flush = src.ty == u.dst.ty && !raw;
    let how = Finish { computed: false, flush, ..Finish::COMPUTED };
    match src.ty {
        Type::Df => {
            let lanes = floats::<f64>(thread, src, u.exec, n, flush);
            finish_floats(thread, u, mask, &lanes, how);
        }
        Type::F | Type::Hf => {
            let lanes = floats::<f32>(thread, src, u.exec, n, flush);
            finish_floats(thread, u, mask, &lanes, how);
        }
        Type::Uq | Type::Q => finish_ints(thread, u, mask, &ints::<i128>(thread, src, n, false)),
        _ if matches!(src.shape, Shape::Accumulator(_)) => {
            finish_ints(thread, u, mask, &ints::<i128>(thread, src, n, false));
        }
        _ => finish_ints(thread, u, mask, &ints::<i64>(thread, src, n, false)),
    }
    Ok(())
}

/// A shuffle of the elements of one register. The first address word selects the register. The low
/// bits of word n select the source element of destination element n (003:12242-12320).
fn movi(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let (Shape::Indirect(region), Target::File { offset, .. }) = (&u.src[0].shape, &u.dst.target)
    else {
        return Err(illegal(u, "without an indirect source or without a direct destination"));
    };
    let size = u.src[0].ty.size();
    let address = |word: usize| i32::from(thread.regs.u16(A0 + 2 * (word % 16)));
    let register = (address(usize::from(region.address)) + i32::from(region.immediate))
        & !(REGISTER as i32 - 1);
    // Word n belongs to element n of the destination register, even if the destination begins at a
    // later element.
    let first = usize::from(*offset) % REGISTER / size;
    let table = std::array::from_fn(|c| {
        let word = address(usize::from(region.address) + first + c);
        let element = word & (REGISTER - size) as i32;
        wrap(register + element)
    });
    let source = Src { shape: Shape::Table(Box::new(table)), ..u.src[0].clone() };
    let mut copy = u.clone();
    copy.op = Op::Isa(Opcode::Mov);
    copy.src[0] = source;
    mov(thread, &copy, mask)
}

/// The lesser of two floats. If one is a NaN, returns the other. If both are NaNs, or both are
/// equal, returns the second (004:1520-1537).
#[inline(always)]
fn min<T: Float>(a: T, b: T) -> T {
    if a < b || (b.nan() && !a.nan()) { a } else { b }
}

/// The greater of two floats. If one is a NaN, returns the other. If both are NaNs, returns the
/// second; if both are equal, the first.
#[inline(always)]
fn max<T: Float>(a: T, b: T) -> T {
    if a >= b || (b.nan() && !a.nan()) { a } else { b }
}

/// Comparison of `cmpn`: true if `b` is a NaN, else false if `a` is a NaN. The condition "not
/// equal" has the opposite result if there is a NaN (G45 vol 4 tables 10-9 to 10-14).
#[inline(always)]
fn compare_nan<T: Float>(condition: Condition, a: T, b: T) -> bool {
    match (b.nan(), a.nan()) {
        (true, true) if !COMPARE_NAN_TRUE_FOR_TWO => condition == Condition::NotEqual,
        (true, _) => condition != Condition::NotEqual,
        (_, true) => condition == Condition::NotEqual,
        _ => compare(condition, a, b),
    }
}
