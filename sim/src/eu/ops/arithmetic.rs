//! Sums, products and differences.

use super::family::prelude::*;
use crate::assumptions::MACH_UPDATES_ALL_CHANNELS;
use crate::eu::operands::{Lanes, channels, finish_ints, implicit_element, map};
use crate::eu::uop::Target;

family! {
    /// Sum.
    Add {
        int(i) { i.two(T::plus) }
        float(f) { f.two(|m, a, b| m.add(a, b)) }
        fast Add Int(f) f.low_bits(f.word) => int2(u32::wrapping_add), Vector::IntAdd;
        fast AddLong Long(f) f.long() => long2(u64::wrapping_add), Vector::LongAdd;
        fast AddFloat Float(f) f.always() => sum(()), Vector::FloatAdd;
    }
    /// Product.
    Mul {
        const WIDE: bool = true;
        int(i) {
            if is_partial_product(i.u) {
                i.two(|a, b| a.times(T::cut(b.widen() & 0xffff)))
            } else {
                i.two(T::times)
            }
        }
        float(f) { f.two(|m, a, b| m.mul(a, b)) }
        fast Mul Int(f) f.low_bits(f.word && !f.unsigned_words()) => int2(u32::wrapping_mul), Vector::IntMul;
        fast MulFloat Float(f) f.always() => product(()), Vector::FloatMul;
    }
    /// Mean of integers, rounded up.
    Avg {
        int(i) { i.two(avg) }
        fast AvgSigned Int(f) f.exact_if(f.signed)
            => int2(|a, b| (a | b).wrapping_sub(((a ^ b) as i32 >> 1) as u32));
        fast AvgUnsigned Int(f) f.exact_if(f.unsigned)
            => int2(|a, b| (a | b).wrapping_sub((a ^ b) >> 1));
    }
    /// Source 0 plus the product of sources 1 and 2.
    Mad {
        const WIDE: bool = true;
        int(i) { i.three(|a, b, c| a.plus(b.times(c))) }
        float(f) { f.three(|m, a, b, c| m.fused(b, c, a)) }
        fast MadFloat Float(f) f.always() => multiply_add(()), Vector::FloatMulAdd;
    }
    /// The accumulator plus a product.
    Mac {
        const WIDE: bool = true;
        int(i) {
            let old = i.accumulator();
            let (a, b) = (i.load(0), i.load(1));
            let results = map(i.size(), |c| old[c].plus(a[c].times(b[c])));
            i.finish(&results)
        }
        float(f) {
            let old = f.accumulator();
            let (a, b) = (f.load(0), f.load(1));
            f.each(|m, c| m.add(old[c], m.mul(a[c], b[c])))
        }
    }
    /// High half of a product, computed with the accumulator.
    Mach {
        const WIDE: bool = true;
        int(i) { high_product(i) }
    }
    /// Sum with its carry in the accumulator.
    Addc {
        int(i) { with_carry(i, T::plus, carry) }
    }
    /// Difference with its borrow in the accumulator.
    Subb {
        int(i) { with_carry(i, T::minus, borrow) }
    }
    /// For each pair of channels, the sum of their absolute differences, in the even channel; 0 in
    /// the odd channel.
    Sad2 {
        const LEAST_CHANNELS: u8 = 2;
        int(i) {
            let pairs = distances(&i);
            let results = map(i.size(), |c| if c % 2 == 0 { pairs[c] } else { T::default() });
            i.finish(&results)
        }
    }
    /// For each pair of channels, the accumulator of the even channel plus the sum of the absolute
    /// differences, in the even channel; the accumulator of the odd channel in the odd channel.
    Sada2 {
        const WIDE: bool = true;
        const LEAST_CHANNELS: u8 = 2;
        int(i) {
            let (old, pairs) = (i.accumulator(), distances(&i));
            let results =
                map(i.size(), |c| if c % 2 == 0 { old[c].plus(pairs[c]) } else { old[c] });
            i.finish(&results)
        }
    }
}

/// True for a product of dwords into the accumulator. Only the low word of source 1 is used:
/// `mach` adds the rest (eu.md 3.5).
fn is_partial_product(u: &Uop) -> bool {
    matches!(u.dst.target, Target::Accumulator(_))
        && u.src[1].ty.size() == 4
        && u.src[0].ty.size() == 4
}

/// Mean, rounded up.
#[inline(always)]
fn avg<T: Int>(a: T, b: T) -> T {
    a.plus(b).plus(T::ONE).right(1)
}

/// The low `bits` bits, as an unsigned number.
#[inline(always)]
fn low<T: Int>(value: T, bits: u32) -> T {
    value & T::cut((1i128 << bits) - 1)
}

/// Carry of a 32-bit sum.
#[inline(always)]
fn carry<T: Int>(a: T, b: T) -> T {
    low(low(a, 32).plus(low(b, 32)).right(32), 1)
}

/// Borrow of a 32-bit difference.
#[inline(always)]
fn borrow<T: Int>(a: T, b: T) -> T {
    if low(a, 32) < low(b, 32) { T::ONE } else { T::default() }
}

/// Absolute difference.
#[inline(always)]
fn distance<T: Int>(a: T, b: T) -> T {
    if a < b { b.minus(a) } else { a.minus(b) }
}

/// Second step of a 64-bit product: the accumulator holds a times the low word of b (eu.md 3.5).
#[inline(always)]
fn mach<T: Int>(acc: T, a: T, b: T) -> T {
    acc.plus(a.times(b.right(16)).left(16))
}

/// `addc` and `subb`: the result goes to the destination, the carry or borrow to the accumulator.
fn with_carry<T: Int>(
    i: Ints<'_, T>,
    result: impl Fn(T, T) -> T,
    carried: impl Fn(T, T) -> T,
) -> Done {
    let (a, b) = (i.load(0), i.load(1));
    let results = map(i.size(), |c| result(a[c], b[c]));
    finish_ints(i.thread, i.u, i.mask, &results);
    if !i.thread.modes.accumulator_disabled {
        for c in channels(i.u, i.mask) {
            let (offset, ty) = implicit_element(i.u, c);
            i.thread.acc.set_integer(offset, ty.size(), carried(a[c], b[c]).widen());
        }
    }
    Ok(())
}

/// `mach`: the accumulator gets the product, the destination its high half.
fn high_product<T: Int>(i: Ints<'_, T>) -> Done {
    let old = i.accumulator();
    let (a, b) = (i.load(0), i.load(1));
    // The elements of the accumulator have 64 bits.
    let sums = map(i.size(), |c| T::cut(i128::from(mach(old[c], a[c], b[c]).widen() as i64)));
    if !i.thread.modes.accumulator_disabled {
        let written = if MACH_UPDATES_ALL_CHANNELS { u32::MAX } else { i.mask };
        for c in channels(i.u, written) {
            let (offset, ty) = implicit_element(i.u, c);
            i.thread.acc.set_integer(offset, ty.size(), sums[c].widen());
        }
    }
    let results = map(i.size(), |c| T::cut(sums[c].widen() >> 32));
    i.finish(&results)
}

/// For each pair of channels, the sum of their absolute differences; both channels get it.
fn distances<T: Int>(i: &Ints<'_, T>) -> Lanes<T> {
    let (a, b) = (i.load(0), i.load(1));
    map(i.size(), |c| distance(a[c & !1], b[c & !1]).plus(distance(a[c | 1], b[c | 1])))
}
