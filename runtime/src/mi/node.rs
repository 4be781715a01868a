//! Expressions as trees with shared parts, simplified while they are built.
//!
//! Each node records which of its bits may be set. So halves that are always zero cost nothing,
//! comparisons with constants out of range are removed, and a division of a 32-bit value needs only
//! 32 bits.

use super::MiError;
use super::gpr::Gpr;
use super::location::{Location, Offset};
use std::rc::Rc;

/// Largest nesting depth of an expression. Walking a deeper one could overflow the stack of a
/// thread.
const MAX_DEPTH: u32 = 1000;

/// A part of an expression.
pub(super) type Link = Rc<Node>;

#[derive(Debug)]
pub(super) struct Node {
    pub kind: Kind,
    /// Mask of the bits that may be set. As a number, it is also an upper bound of the value.
    pub bits: u64,
    /// Approximate number of general registers for the evaluation: the operand that needs more goes
    /// first.
    pub need: u8,
    depth: u32,
}

#[derive(Debug)]
pub(super) enum Kind {
    Const(u64),
    Memory {
        location: Location,
        wide: bool,
    },
    Register {
        offset: Offset,
        wide: bool,
    },
    Gpr(Gpr),
    /// Bits 31:0 of an expression.
    Low(Link),
    /// Bits 63:32 of an expression, moved to bits 31:0.
    High(Link),
    /// Bits 31:0 of an expression, moved to bits 63:32.
    Raise(Link),
    /// Bits 31:0 of the first, below bits 31:0 of the second.
    Join(Link, Link),
    Not(Link),
    Binary(Binary, Link, Link),
    /// A shift to the left by 1 to 31 bits.
    Shift(Link, u32),
    /// All ones if the flag is set, else zero.
    Flag(Flag, Link, Link),
    /// An error that occurred when the expression was built.
    Failed(MiError),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binary {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flag {
    Equal,
    /// The first operand is less, unsigned.
    Less,
    /// The sum of the operands has a carry.
    Carry,
}

impl Kind {
    fn links(&self) -> [Option<&Link>; 2] {
        match self {
            Kind::Const(_)
            | Kind::Memory { .. }
            | Kind::Register { .. }
            | Kind::Gpr(_)
            | Kind::Failed(_) => [None, None],
            Kind::Low(x) | Kind::High(x) | Kind::Raise(x) | Kind::Not(x) | Kind::Shift(x, _) => {
                [Some(x), None]
            }
            Kind::Join(x, y) | Kind::Binary(_, x, y) | Kind::Flag(_, x, y) => [Some(x), Some(y)],
        }
    }
}

impl Node {
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.kind.links().into_iter().flatten()
    }

    pub fn constant(&self) -> Option<u64> {
        match self.kind {
            Kind::Const(value) => Some(value),
            _ => None,
        }
    }

    /// True if MI_MATH computes the node, false if packets only move its dwords.
    pub fn calculated(&self) -> bool {
        matches!(self.kind, Kind::Not(_) | Kind::Binary(..) | Kind::Shift(..) | Kind::Flag(..))
    }
}

fn make(kind: Kind, bits: u64) -> Link {
    let [one, two] = kind.links();
    let links = || [one, two].into_iter().flatten();
    if let Some(failed) = links().find(|link| matches!(link.kind, Kind::Failed(_))) {
        return failed.clone();
    }
    let depth = 1 + links().map(|link| link.depth).max().unwrap_or(0);
    if depth > MAX_DEPTH {
        return failed(MiError::TooDeep { limit: MAX_DEPTH });
    }
    let need = match (one, two) {
        (Some(one), Some(two)) if one.need == two.need && !Rc::ptr_eq(one, two) => {
            one.need.saturating_add(1)
        }
        (Some(one), Some(two)) => one.need.max(two.need),
        (Some(one), None) => one.need.max(1),
        _ => !matches!(kind, Kind::Const(0 | u64::MAX) | Kind::Gpr(_)) as u8,
    };
    Rc::new(Node { kind, bits, need, depth })
}

/// All ones up to the highest bit of `value`.
fn ones(value: u64) -> u64 {
    u64::MAX.checked_shr(value.leading_zeros()).unwrap_or(0)
}

const LOW: u64 = u32::MAX as u64;

pub(super) fn failed(error: MiError) -> Link {
    make(Kind::Failed(error), 0)
}

pub(super) fn constant(value: u64) -> Link {
    make(Kind::Const(value), value)
}

pub(super) fn memory(location: Location, wide: bool) -> Link {
    make(Kind::Memory { location, wide }, if wide { u64::MAX } else { LOW })
}

pub(super) fn register(offset: Offset, wide: bool) -> Link {
    make(Kind::Register { offset, wide }, if wide { u64::MAX } else { LOW })
}

pub(super) fn gpr(gpr: Gpr, bits: u64) -> Link {
    make(Kind::Gpr(gpr), bits)
}

/// Bits 31:0 of `x`.
pub(super) fn low(x: &Link) -> Link {
    match &x.kind {
        Kind::Const(value) => constant(value & LOW),
        _ if x.bits <= LOW => x.clone(),
        Kind::Join(low, _) => self::low(low),
        Kind::Raise(_) => constant(0),
        _ => make(Kind::Low(x.clone()), x.bits & LOW),
    }
}

/// Bits 63:32 of `x`, moved to bits 31:0.
pub(super) fn high(x: &Link) -> Link {
    match &x.kind {
        Kind::Const(value) => constant(value >> 32),
        _ if x.bits <= LOW => constant(0),
        Kind::Join(_, high) => low(high),
        Kind::Raise(x) => low(x),
        _ => make(Kind::High(x.clone()), x.bits >> 32),
    }
}

fn raise(x: &Link) -> Link {
    match x.kind {
        Kind::Const(value) => constant(value << 32),
        _ if x.bits & LOW == 0 => constant(0),
        _ => make(Kind::Raise(x.clone()), x.bits << 32),
    }
}

fn join(low: &Link, high: &Link) -> Link {
    let bits = low.bits & LOW | high.bits << 32;
    match (low.constant(), high.constant()) {
        (Some(low), Some(high)) => constant(low & LOW | high << 32),
        _ if high.bits & LOW == 0 => self::low(low),
        _ if low.bits & LOW == 0 => raise(high),
        _ => make(Kind::Join(low.clone(), high.clone()), bits),
    }
}

pub(super) fn not(x: &Link) -> Link {
    match &x.kind {
        Kind::Const(value) => constant(!value),
        Kind::Not(x) => x.clone(),
        _ => make(Kind::Not(x.clone()), u64::MAX),
    }
}

/// Splits `x` into `y + c` with a constant `c`, which may be 0.
fn addend(x: &Link) -> (&Link, u64) {
    if let Kind::Binary(op, y, z) = &x.kind
        && let Some(value) = z.constant()
    {
        match op {
            Binary::Add => return (y, value),
            Binary::Sub => return (y, value.wrapping_neg()),
            _ => {}
        }
    }
    (x, 0)
}

/// `x + value`. For 1 and -1 it uses the ALU's constant all ones: `x + 1` is `x` minus all ones.
fn add_constant(x: &Link, value: u64) -> Link {
    let (x, before) = addend(x);
    let value = value.wrapping_add(before);
    let bits = x.bits.checked_add(value).map_or(u64::MAX, ones);
    match value {
        0 => x.clone(),
        1 => make(Kind::Binary(Binary::Sub, x.clone(), constant(u64::MAX)), bits),
        _ => make(Kind::Binary(Binary::Add, x.clone(), constant(value)), bits),
    }
}

pub(super) fn binary(op: Binary, a: &Link, b: &Link) -> Link {
    let same = Rc::ptr_eq(a, b);
    match (op, a.constant(), b.constant()) {
        (Binary::Add, Some(a), Some(b)) => constant(a.wrapping_add(b)),
        (Binary::Sub, Some(a), Some(b)) => constant(a.wrapping_sub(b)),
        (Binary::And, Some(a), Some(b)) => constant(a & b),
        (Binary::Or, Some(a), Some(b)) => constant(a | b),
        (Binary::Xor, Some(a), Some(b)) => constant(a ^ b),
        (Binary::Add | Binary::And | Binary::Or | Binary::Xor, Some(_), None) => binary(op, b, a),
        (Binary::Add, _, Some(value)) => add_constant(a, value),
        (Binary::Sub, _, Some(value)) => add_constant(a, value.wrapping_neg()),
        // -1 - x is the inverse of all bits of x.
        (Binary::Sub, Some(u64::MAX), _) => not(b),
        (Binary::Sub | Binary::Xor, ..) if same => constant(0),
        (Binary::And | Binary::Or, ..) if same => a.clone(),
        (Binary::And, ..) if a.bits & b.bits == 0 => constant(0),
        (Binary::And, _, Some(mask)) if a.bits & !mask == 0 => a.clone(),
        (Binary::And, _, Some(LOW)) => low(a),
        (Binary::Or | Binary::Xor, _, Some(0)) => a.clone(),
        (Binary::Or, _, Some(u64::MAX)) => b.clone(),
        (Binary::Xor, _, Some(u64::MAX)) => not(a),
        _ => {
            let bits = match op {
                Binary::Add => a.bits.checked_add(b.bits).map_or(u64::MAX, ones),
                Binary::Sub => u64::MAX,
                Binary::And => a.bits & b.bits,
                Binary::Or | Binary::Xor => a.bits | b.bits,
            };
            make(Kind::Binary(op, a.clone(), b.clone()), bits)
        }
    }
}

/// Records that at most `bits` are set in `x`, if this does not follow from its operation.
fn known(x: Link, bits: u64) -> Link {
    match &x.kind {
        Kind::Binary(op, a, b) if x.bits & !bits != 0 => {
            make(Kind::Binary(*op, a.clone(), b.clone()), x.bits & bits)
        }
        Kind::High(y) if x.bits & !bits != 0 => make(Kind::High(y.clone()), x.bits & bits),
        _ => x,
    }
}

pub(super) fn add(a: &Link, b: &Link) -> Link {
    binary(Binary::Add, a, b)
}

pub(super) fn sub(a: &Link, b: &Link) -> Link {
    binary(Binary::Sub, a, b)
}

pub(super) fn and(a: &Link, b: &Link) -> Link {
    binary(Binary::And, a, b)
}

pub(super) fn xor(a: &Link, b: &Link) -> Link {
    binary(Binary::Xor, a, b)
}

/// All ones if a flag is set, else zero.
pub(super) fn flag(flag: Flag, a: &Link, b: &Link) -> Link {
    let same = Rc::ptr_eq(a, b);
    let truth = |truth: bool| constant(if truth { u64::MAX } else { 0 });
    match (flag, a.constant(), b.constant()) {
        (Flag::Equal, Some(a), Some(b)) => truth(a == b),
        (Flag::Less, Some(a), Some(b)) => truth(a < b),
        (Flag::Carry, Some(a), Some(b)) => truth(a.checked_add(b).is_none()),
        (Flag::Equal, Some(_), None) => self::flag(flag, b, a),
        (Flag::Equal, ..) if same => truth(true),
        (Flag::Less, ..) if same => truth(false),
        (Flag::Equal, _, Some(value)) if value & !a.bits != 0 => truth(false),
        (Flag::Equal, _, Some(0)) if matches!(a.kind, Kind::Flag(..)) => not(a),
        (Flag::Less, _, Some(value)) if a.bits < value => truth(true),
        (Flag::Less, _, Some(0)) | (Flag::Less, Some(u64::MAX), _) => truth(false),
        (Flag::Less, Some(value), _) if b.bits <= value => truth(false),
        (Flag::Less, Some(0), _) => not(&self::flag(Flag::Equal, b, a)),
        (Flag::Carry, ..) if a.bits.checked_add(b.bits).is_some() => truth(false),
        _ => make(Kind::Flag(flag, a.clone(), b.clone()), u64::MAX),
    }
}

/// 1 for a mask of all ones, 0 for zero.
pub(super) fn bit(mask: &Link) -> Link {
    known(sub(&constant(0), mask), 1)
}

/// `a` where `mask` is all ones, `b` where it is zero.
pub(super) fn select(mask: &Link, a: &Link, b: &Link) -> Link {
    match (mask.constant(), a.constant(), b.constant()) {
        (Some(0), ..) => b.clone(),
        (Some(_), ..) => a.clone(),
        _ if Rc::ptr_eq(a, b) => a.clone(),
        (_, _, Some(0)) => and(mask, a),
        (_, Some(0), _) => and(&not(mask), b),
        (_, Some(u64::MAX), _) => binary(Binary::Or, mask, b),
        (_, _, Some(u64::MAX)) => binary(Binary::Or, &not(mask), a),
        _ => known(xor(b, &and(&xor(a, b), mask)), a.bits | b.bits),
    }
}

/// `x << by`; zero if `by` is 64 or more.
pub(super) fn shift_left(x: &Link, by: u64) -> Link {
    match (by, x.constant()) {
        (0, _) => x.clone(),
        (64.., _) => constant(0),
        (_, Some(value)) => constant(value << by),
        _ if x.bits << by == 0 => constant(0),
        (32.., _) => shift_left(&raise(x), by - 32),
        _ => make(Kind::Shift(x.clone(), by as u32), x.bits << by),
    }
}

/// `x >> by` with zeros from above; zero if `by` is 64 or more. The ALU shifts only to the left:
/// the result is shifted into an upper half and taken from there.
pub(super) fn shift_right(x: &Link, by: u64) -> Link {
    match (by, x.constant()) {
        (0, _) => x.clone(),
        (64.., _) => constant(0),
        (_, Some(value)) => constant(value >> by),
        (32.., _) => shift_right_low(&high(x), by - 32),
        _ if x.bits <= LOW => shift_right_low(x, by),
        _ => join(&high(&shift_left(x, 32 - by)), &shift_right_low(&high(x), by)),
    }
}

/// `x >> by` where `x` has 32 bits.
fn shift_right_low(x: &Link, by: u64) -> Link {
    if by == 0 { x.clone() } else { high(&shift_left(x, 32 - by)) }
}

/// `x >> by` with copies of bit 63 from above. If `by` is 64 or more, all bits are copies of it.
pub(super) fn shift_right_signed(x: &Link, by: &Link) -> Link {
    let sign = flag(Flag::Carry, x, x);
    xor(&shift(x, by, shift_right, &sign), &sign)
}

/// `x` shifted by `by`. For a `by` that is not a constant, it shifts by one binary digit of `by`
/// after the other. `invert` is a mask: `x` is combined with it by exclusive-or before the shift.
fn shift(x: &Link, by: &Link, way: fn(&Link, u64) -> Link, invert: &Link) -> Link {
    let mut x = xor(x, invert);
    if let Some(by) = by.constant() {
        return way(&x, by);
    }
    for digit in 0..6 {
        let set = not(&flag(Flag::Equal, &and(by, &constant(1 << digit)), &constant(0)));
        x = select(&set, &way(&x, 1 << digit), &x);
    }
    and(&x, &flag(Flag::Less, by, &constant(64)))
}

pub(super) fn shift_left_by(x: &Link, by: &Link) -> Link {
    shift(x, by, shift_left, &constant(0))
}

pub(super) fn shift_right_by(x: &Link, by: &Link) -> Link {
    shift(x, by, shift_right, &constant(0))
}

pub(super) fn multiply(a: &Link, b: &Link) -> Link {
    let bits = a.bits.checked_mul(b.bits).map_or(u64::MAX, ones);
    match (a.constant(), b.constant()) {
        (Some(a), Some(b)) => constant(a.wrapping_mul(b)),
        (None, Some(factor)) => known(multiply_constant(a, factor), bits),
        (Some(factor), None) => known(multiply_constant(b, factor), bits),
        // The operand with fewer bits comes first: each of its bits takes a step.
        (None, None) if a.bits.leading_zeros() >= b.bits.leading_zeros() => {
            known(long_multiply(a, b), bits)
        }
        (None, None) => known(long_multiply(b, a), bits),
    }
}

/// Multiplies by doubling, adding and subtracting: one digit of the factor at a time, the highest
/// first.
fn multiply_constant(x: &Link, factor: u64) -> Link {
    // The digits are 0 and 1, or -1, 0 and 1 without adjacent nonzero digits; the form that needs
    // fewer steps is used.
    let (mut digits, mut signed) = (Vec::new(), Vec::new());
    let (mut rest, mut signed_rest) = (factor, u128::from(factor));
    while rest != 0 {
        digits.push((rest % 2) as i8);
        rest /= 2;
    }
    while signed_rest != 0 {
        match signed_rest % 4 {
            3 => (signed.push(-1), signed_rest += 1).0,
            digit => signed.push((digit % 2) as i8),
        }
        signed_rest /= 2;
    }
    let steps = |digits: &[i8]| digits.len() + digits.iter().filter(|digit| **digit != 0).count();
    if steps(&signed) < steps(&digits) {
        digits = signed;
    }
    // The topmost digit is 1. A digit for 2^64 is shifted out.
    if digits.pop().is_none() {
        return constant(0);
    }
    let mut product = x.clone();
    let mut places = 0;
    for digit in digits.into_iter().rev() {
        places += 1;
        if digit != 0 {
            product = shift_left(&product, places);
            product = if digit > 0 { add(&product, x) } else { sub(&product, x) };
            places = 0;
        }
    }
    shift_left(&product, places)
}

/// Number of steps of a long multiplication or division: the number of binary digits that `x` may
/// have.
fn steps(x: &Link) -> u64 {
    (64 - x.bits.leading_zeros()).into()
}

/// Multiplies by one digit of `a` at a time, the highest first.
fn long_multiply(a: &Link, b: &Link) -> Link {
    let steps = steps(a);
    let mut digits = shift_left(a, 64 - steps);
    let mut product = constant(0);
    for _ in 0..steps {
        let digit = flag(Flag::Carry, &digits, &digits);
        digits = add(&digits, &digits);
        product = add(&add(&product, &product), &and(&digit, b));
    }
    product
}

/// Quotient and remainder; undefined if the divisor is 0 at run time.
pub(super) fn divide(a: &Link, b: &Link) -> (Link, Link) {
    match (a.constant(), b.constant()) {
        (_, Some(0)) => (failed(MiError::DivisionByZero), failed(MiError::DivisionByZero)),
        (Some(a), Some(b)) => (constant(a / b), constant(a % b)),
        (_, Some(divisor)) if divisor.is_power_of_two() => {
            (shift_right(a, divisor.trailing_zeros().into()), and(a, &constant(divisor - 1)))
        }
        (_, Some(divisor)) if a.bits < divisor => (constant(0), a.clone()),
        (_, Some(divisor)) if a.bits <= LOW => {
            let quotient = divide_low(a, divisor);
            let remainder = sub(a, &multiply(&quotient, b));
            (quotient, known(remainder, ones(divisor - 1)))
        }
        _ => long_divide(a, b),
    }
}

/// Divides a 32-bit number by a constant: multiplies it by the fraction 2^(32+s) / divisor, where
/// 2^s is the largest power of two below the divisor. The factor is one of the two integers next to
/// the fraction. The upper one gives the right quotient if its error is at most 2^s. Otherwise the
/// lower one does, for the number plus 1. The smaller error is at most half the divisor, so at most
/// 2^s.
fn divide_low(x: &Link, divisor: u64) -> Link {
    let s = u64::from(divisor.ilog2());
    let (factor, rest) = ((1u64 << (32 + s)) / divisor, (1u64 << (32 + s)) % divisor);
    let product = if divisor - rest <= 1 << s {
        multiply(x, &constant(factor + 1))
    } else {
        add(&multiply(x, &constant(factor)), &constant(factor))
    };
    known(shift_right(&high(&product), s), ones(x.bits / divisor))
}

/// Divides one digit of the dividend at a time, the highest first. In `digits`, the quotient's
/// digits enter at the bottom while the dividend's leave at the top.
fn long_divide(a: &Link, b: &Link) -> (Link, Link) {
    let steps = steps(a);
    let mut digits = shift_left(a, 64 - steps);
    let mut rest = constant(0);
    // The largest possible `rest`, if the divisor is not 0.
    let mut greatest = 0u64;
    for _ in 0..steps {
        let digit = flag(Flag::Carry, &digits, &digits);
        // The bit that leaves `rest` at the top. If it is set, the rest is larger than any divisor.
        let over = if greatest >> 63 == 0 { constant(0) } else { flag(Flag::Carry, &rest, &rest) };
        greatest = greatest.checked_mul(2).map_or(u64::MAX, |twice| twice + 1);
        rest = known(sub(&add(&rest, &rest), &digit), ones(greatest));
        let fits = binary(Binary::Or, &over, &not(&flag(Flag::Less, &rest, b)));
        greatest = greatest.min(b.bits.saturating_sub(1));
        rest = known(sub(&rest, &and(&fits, b)), ones(greatest));
        digits = sub(&add(&digits, &digits), &fits);
    }
    let quotient = b.constant().map_or(a.bits, |divisor| a.bits / divisor.max(1));
    (known(digits, ones(quotient)), rest)
}
