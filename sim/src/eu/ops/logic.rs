//! Logic, shifts and bit fields.

use super::family::prelude::*;
use crate::assumptions::ACCUMULATOR_WORD_BITS;
use crate::eu::uop::{ExecType, Shape, Type};

family! {
    /// Complement.
    Not {
        int(i) { i.one(|a| !a) }
        fast Not Int(f) f.low_bits(f.signed) => int1(|a| !a), Vector::Not;
    }
    /// Conjunction.
    And {
        int(i) { i.two(|a, b| a & b) }
        fast And Int(f) f.exact() => int2(|a, b| a & b), Vector::And;
        fast AndLong Long(f) f.long() => long2(|a, b| a & b), Vector::AndLong;
    }
    /// Disjunction.
    Or {
        int(i) { i.two(|a, b| a | b) }
        fast Or Int(f) f.exact() => int2(|a, b| a | b), Vector::Or;
        fast OrLong Long(f) f.long() => long2(|a, b| a | b), Vector::OrLong;
    }
    /// Exclusive disjunction.
    Xor {
        int(i) { i.two(|a, b| a ^ b) }
        fast Xor Int(f) f.exact() => int2(|a, b| a ^ b), Vector::Xor;
    }
    /// Left shift.
    Shl {
        int(i) {
            let width = shift_width(i.u);
            i.two(|a, b| shl(a, b, width))
        }
        fast Shl Int(f) f.low_bits(false) => int2(|a, b| a << (b & 31)), Vector::Shl;
        fast ShlLong Long(f) f.long_shift() => long2(|a, b| a << (b & 63)), Vector::ShlLong;
    }
    /// Logical right shift.
    Shr {
        int(i) {
            let (width, bits) = (shift_width(i.u), shifted_bits(i.u));
            i.two(|a, b| shr(a, b, bits, width))
        }
        // The result has at most 16 bits, so a signed lane holds it too.
        fast ShrWord Int(f) if f.word { f.exact_as(true, f.unsigned) } else { None }
            => int2(|a, b| (a & 0xffff) >> (b & 31));
        fast Shr Int(f) f.low_bits(f.unsigned) => int2(|a, b| a >> (b & 31)), Vector::Shr;
    }
    /// Arithmetic right shift.
    Asr {
        int(i) {
            let width = shift_width(i.u);
            i.two(|a, b| asr(a, b, width))
        }
        // Source 1 is a shift count, so only source 0 must be exact.
        fast AsrSigned Int(f) if f.first.signed { f.exact_as(true, f.unsigned) } else { None }
            => int2(|a, b| ((a as i32) >> (b & 31)) as u32), Vector::Asr;
        fast AsrUnsigned Int(f) if f.first.unsigned { f.exact_as(false, f.unsigned) } else { None }
            => int2(|a, b| a >> (b & 31)), Vector::Shr;
    }
    /// Order of bits reversed.
    Bfrev {
        int(i) { i.one(bfrev) }
    }
    /// Extraction of a bit field.
    Bfe {
        int(i) {
            let signed = i.u.src[2].ty == Type::D;
            i.three(|a, b, c| bfe(a, b, c, signed))
        }
    }
    /// Mask for the insertion of a bit field.
    Bfi1 {
        int(i) { i.two(bfi1) }
    }
    /// Insertion of a bit field.
    Bfi2 {
        int(i) { i.three(bfi2) }
    }
    /// Number of leading zeros.
    Lzd {
        int(i) { i.one(lzd) }
    }
    /// Position of the first significant bit, counted from the highest bit.
    Fbh {
        int(i) {
            let signed = matches!(i.u.src[0].ty, Type::B | Type::W | Type::D | Type::Q);
            i.one(|a| fbh(a, signed))
        }
    }
    /// Position of the lowest one bit.
    Fbl {
        int(i) { i.one(fbl) }
    }
    /// Number of one bits.
    Cbit {
        int(i) {
            let bits = 8 * i.u.src[0].ty.size() as u32;
            i.one(|a| cbit(a, bits))
        }
    }
}

/// 64 if shift counts have 6 bits, else 32.
fn shift_width(u: &Uop) -> u32 {
    if u.dst.ty.size() == 8 || u.src[0].ty.size() == 8 { 64 } else { 32 }
}

/// Width in bits of the number that a logical right shift shifts.
fn shifted_bits(u: &Uop) -> u32 {
    match (&u.src[0].shape, u.exec) {
        _ if shift_width(u) == 64 => 64,
        (Shape::Accumulator(_), ExecType::Word) => ACCUMULATOR_WORD_BITS,
        (Shape::Accumulator(_), _) => 64,
        _ => u.exec.bits(),
    }
}

/// The shift count: the low 5 bits of `value`, or the low 6 if `bits` is 64. `bits` is 64 if source
/// 0 or the destination is a qword (2a, asr).
#[inline(always)]
fn count<T: Int>(value: T, bits: u32) -> u32 {
    (value.widen() & if bits == 64 { 63 } else { 31 }) as u32
}

/// Left shift.
#[inline(always)]
fn shl<T: Int>(a: T, b: T, bits: u32) -> T {
    a.left(count(b, bits))
}

/// Logical right shift of a number of `bits` bits. `mode` is 64 if the count has 6 bits, 32 if it
/// has 5.
#[inline(always)]
fn shr<T: Int>(a: T, b: T, bits: u32, mode: u32) -> T {
    T::cut((a.widen() & ((1i128 << bits) - 1)) >> count(b, mode))
}

/// Arithmetic right shift; a source that is unsigned arrives as a positive number.
#[inline(always)]
fn asr<T: Int>(a: T, b: T, bits: u32) -> T {
    a.right(count(b, bits))
}

/// Order of bits reversed.
#[inline(always)]
fn bfrev<T: Int>(a: T) -> T {
    T::cut(i128::from((a.widen() as u32).reverse_bits()))
}

/// `width` (a) bits of c from bit `offset` (b) on; signed sources extend the sign (2a, bfe).
#[inline(always)]
fn bfe<T: Int>(a: T, b: T, c: T, signed: bool) -> T {
    let (width, offset) = ((a.widen() & 31) as u32, (b.widen() & 31) as u32);
    let value = c.widen() as u32;
    let field = match (width, offset + width) {
        (0, _) => 0,
        (_, 32..) if signed => i128::from(value as i32 >> offset),
        (_, 32..) => i128::from(value >> offset),
        (_, end) if signed => i128::from((value << (32 - end)) as i32 >> (32 - width)),
        (_, end) => i128::from(value << (32 - end) >> (32 - width)),
    };
    T::cut(field)
}

/// A mask of `width` (a) ones from bit `offset` (b) on (2a, bfi1).
#[inline(always)]
fn bfi1<T: Int>(a: T, b: T) -> T {
    let mask = (1u32 << (a.widen() & 31)) - 1;
    T::cut(i128::from(mask << (b.widen() & 31)))
}

/// Inserts a bit field: b, shifted left to the lowest one of the mask a, where the mask has ones;
/// elsewhere c (2a, bfi2; the manual's text is off by one).
#[inline(always)]
fn bfi2<T: Int>(a: T, b: T, c: T) -> T {
    let (mask, field, rest) = (a.widen() as u32, b.widen() as u32, c.widen() as u32);
    let moved = field.checked_shl(mask.trailing_zeros()).unwrap_or(0);
    T::cut(i128::from(moved & mask | rest & !mask))
}

/// Leading zeros of 32 bits.
#[inline(always)]
fn lzd<T: Int>(a: T) -> T {
    T::cut(i128::from((a.widen() as u32).leading_zeros()))
}

/// Distance from bit 31 of the first bit that differs from the sign, or of the first one bit if
/// unsigned; all ones when there is none.
#[inline(always)]
fn fbh<T: Int>(a: T, signed: bool) -> T {
    let value = a.widen() as u32;
    let differs = if signed { value ^ (value as i32 >> 31) as u32 } else { value };
    T::cut(i128::from(if differs == 0 { u32::MAX } else { differs.leading_zeros() }))
}

/// Trailing zeros of 32 bits; all ones if no bit is set.
#[inline(always)]
fn fbl<T: Int>(a: T) -> T {
    let value = a.widen() as u32;
    T::cut(i128::from(if value == 0 { u32::MAX } else { value.trailing_zeros() }))
}

/// Number of ones in a source of `bits` bits.
#[inline(always)]
fn cbit<T: Int>(a: T, bits: u32) -> T {
    T::cut(i128::from((a.widen() as u64 & (u64::MAX >> (64 - bits))).count_ones()))
}
