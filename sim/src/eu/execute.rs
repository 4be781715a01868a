//! The general path of arithmetic and logic: picks the arithmetic that an instruction is done in,
//! and the body of its operation for each channel. What stands around is in [`super::operands`],
//! bodies in [`super::ops`].
//!
//! [`super::fast`] takes the short cuts.

pub use super::operands::set_flag;

use super::convert::format;
use super::extended;
use super::operands::{
    Finish, Lanes, Operand, bits, channels, finish_compare, finish_copy, finish_floats,
    finish_ints, floats, implicit_element, ints, map, patterns,
};
use super::ops::{self, Arithmetic, Int, Nearest, NearestHalf, Rounded, compare, compare_nan};
use super::regions::{A0, REGISTER, wrap};
use super::soft::{Format, Rounding};
use super::thread::{Thread, Trap};
use super::uop::{Condition, ExecType, Op, Shape, Src, Target, Type, Uop};
use crate::assumptions::{
    ACCUMULATOR_WORD_BITS, MACH_UPDATES_ALL_CHANNELS, SELECTION_FLUSHES_SUBNORMALS,
};

/// Runs an arithmetic or logic instruction for the channels of `mask`.
///
/// # Errors
/// [`Trap::Illegal`] for operands that the operation cannot have.
pub fn alu(thread: &mut Thread, u: &Uop, mask: u32) -> Result<(), Trap> {
    match u.op {
        Op::Math(function) => return extended::math(thread, u, mask, function),
        Op::Madm => return extended::madm(thread, u, mask),
        Op::Mov => {
            mov(thread, u, mask);
            return Ok(());
        }
        Op::Movi => return movi(thread, u, mask),
        _ => {}
    }
    let rounding = thread.modes.rounding_mode();
    let exact = rounding != Rounding::Nearest || u.condition == Condition::O;
    match u.exec {
        ExecType::Single if !exact => float::<f32, _>(thread, u, mask, &Nearest),
        ExecType::Half if !exact => float::<f32, _>(thread, u, mask, &NearestHalf),
        ExecType::Double if !exact => float::<f64, _>(thread, u, mask, &Nearest),
        ExecType::Single => {
            float::<f32, _>(thread, u, mask, &Rounded::new(Format::SINGLE, rounding))
        }
        ExecType::Half => float::<f32, _>(thread, u, mask, &Rounded::new(Format::HALF, rounding)),
        ExecType::Double => {
            float::<f64, _>(thread, u, mask, &Rounded::new(Format::DOUBLE, rounding))
        }
        ExecType::Word | ExecType::Dword if !wide(u) => int::<i64>(thread, u, mask),
        _ => int::<i128>(thread, u, mask),
    }
}

/// True for instructions whose intermediate results may need more than 64 bits.
fn wide(u: &Uop) -> bool {
    matches!(u.op, Op::Mul | Op::Mad | Op::Mac | Op::Mach | Op::Sada2)
        || u.dst.ty.size() == 8
        || u.src.iter().any(|src| matches!(src.shape, Shape::Accumulator(_)))
}

/// A copy; without conversion and modifiers all bits stay as they are.
fn mov(thread: &mut Thread, u: &Uop, mask: u32) {
    let (n, src) = (usize::from(u.size), &u.src[0]);
    let raw = src.ty == u.dst.ty && src.plain() && !u.saturate;
    let accumulator = matches!(u.dst.target, Target::Accumulator(_))
        || matches!(src.shape, Shape::Accumulator(_));
    // Accumulators hold more of an integer than its pattern.
    if raw && (src.ty.is_float() || !accumulator) {
        let values = patterns(thread, src, n);
        return finish_copy(thread, u, mask, &values);
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
}

/// A shuffle of the elements of one register: `a0.0` says which, the low bits of each word of `a0`
/// which element the destination's element of the same number takes (003:12242-12320).
fn movi(thread: &mut Thread, u: &Uop, mask: u32) -> Result<(), Trap> {
    let (Shape::Indirect(region), Target::File { offset, .. }) = (&u.src[0].shape, &u.dst.target)
    else {
        return Err(illegal(u, "from a register that a0 does not name, or to none"));
    };
    let size = u.src[0].ty.size();
    let address = |word: usize| i32::from(thread.regs.u16(A0 + 2 * (word % 16)));
    let register = (address(usize::from(region.address)) + i32::from(region.immediate))
        & !(REGISTER as i32 - 1);
    // Words of a0 belong to places in the destination register, wherever the destination begins.
    let first = usize::from(*offset) % REGISTER / size;
    let table = std::array::from_fn(|c| {
        let word = address(usize::from(region.address) + first + c);
        let element = word & (REGISTER - size) as i32;
        wrap(register + element)
    });
    let source = Src { shape: Shape::Table(Box::new(table)), ..u.src[0].clone() };
    let mut copy = u.clone();
    copy.op = Op::Mov;
    copy.src[0] = source;
    mov(thread, &copy, mask);
    Ok(())
}

fn int<T: Int>(thread: &mut Thread, u: &Uop, mask: u32) -> Result<(), Trap> {
    let n = usize::from(u.size);
    let logic = matches!(u.op, Op::Not | Op::And | Op::Or | Op::Xor);
    let load = |index: usize| ints::<T>(thread, &u.src[index], n, logic);
    let signed = matches!(u.src[0].ty, Type::B | Type::W | Type::D | Type::Q);
    // Qword mode, in which shift counts have 6 bits.
    let width = if u.dst.ty.size() == 8 || u.src[0].ty.size() == 8 { 64 } else { 32 };
    let a = load(0);
    macro_rules! one {
        ($f:expr) => {{ map(n, |c| $f(a[c])) }};
    }
    macro_rules! two {
        ($f:expr) => {{
            let b = load(1);
            map(n, |c| $f(a[c], b[c]))
        }};
    }
    macro_rules! three {
        ($f:expr) => {{
            let (b, c2) = (load(1), load(2));
            map(n, |c| $f(a[c], b[c], c2[c]))
        }};
    }
    let results = match u.op {
        Op::Not => one!(|a: T| !a),
        Op::And => two!(|a: T, b: T| a & b),
        Op::Or => two!(|a: T, b: T| a | b),
        Op::Xor => two!(|a: T, b: T| a ^ b),
        Op::Shl => two!(|a: T, b: T| ops::shl(a, b, width)),
        Op::Shr => {
            let bits = match (&u.src[0].shape, u.exec) {
                _ if width == 64 => 64,
                (Shape::Accumulator(_), ExecType::Word) => ACCUMULATOR_WORD_BITS,
                (Shape::Accumulator(_), _) => 64,
                _ => u.exec.bits(),
            };
            two!(|a: T, b: T| ops::shr(a, b, bits, width))
        }
        Op::Asr => two!(|a: T, b: T| ops::asr(a, b, width)),
        Op::Add => two!(T::plus),
        Op::Mul => {
            // Into the accumulator only the low word of source 1 takes part: the rest comes from
            // mach (eu.md 3.5).
            let partial = matches!(u.dst.target, Target::Accumulator(_))
                && u.src[1].ty.size() == 4
                && u.src[0].ty.size() == 4;
            if partial {
                two!(|a: T, b: T| a.times(T::cut(b.widen() & 0xffff)))
            } else {
                two!(|a: T, b: T| a.times(b))
            }
        }
        Op::Avg => two!(ops::avg),
        Op::Bfrev => one!(ops::bfrev),
        Op::Bfi1 => two!(ops::bfi1),
        Op::Bfi2 => three!(ops::bfi2),
        Op::Bfe => {
            let signed = u.src[2].ty == Type::D;
            three!(|a: T, b: T, c: T| ops::bfe(a, b, c, signed))
        }
        Op::Lzd => one!(ops::lzd),
        Op::Fbh => one!(|a: T| ops::fbh(a, signed)),
        Op::Fbl => one!(ops::fbl),
        Op::Cbit => one!(|a: T| ops::cbit(a, 8 * u.src[0].ty.size() as u32)),
        Op::Mad => three!(|a: T, b: T, c: T| a.plus(b.times(c))),
        Op::Sel if u.select == Condition::None => {
            let (b, chosen) = (load(1), thread.predicate(u));
            map(n, |c| if chosen >> c & 1 == 1 { a[c] } else { b[c] })
        }
        Op::Sel => two!(|a: T, b: T| if compare(u.select, a, b) { a } else { b }),
        Op::Csel => {
            three!(|a: T, b: T, c: T| if compare(u.select, c, T::default()) { a } else { b })
        }
        Op::Cmp | Op::Cmpn => {
            let b = load(1);
            let found = bits(n, |c| compare(u.condition, a[c], b[c]));
            finish_compare(thread, u, mask, found);
            return Ok(());
        }
        Op::Addc | Op::Subb => {
            carry::<T>(thread, u, mask, &a);
            return Ok(());
        }
        Op::Mac | Op::Mach | Op::Sad2 | Op::Sada2 => {
            accumulating::<T>(thread, u, mask, &a);
            return Ok(());
        }
        _ => return Err(illegal(u, "of integers")),
    };
    finish_ints(thread, u, mask, &results);
    Ok(())
}

/// addc and subb: the sum in the destination, the carry in the accumulator.
fn carry<T: Int>(thread: &mut Thread, u: &Uop, mask: u32, a: &Lanes<T>) {
    let n = usize::from(u.size);
    let b = ints::<T>(thread, &u.src[1], n, false);
    let (results, carries) = match u.op {
        Op::Addc => (map(n, |c| a[c].plus(b[c])), map(n, |c| ops::carry(a[c], b[c]))),
        _ => (map(n, |c| a[c].minus(b[c])), map(n, |c| ops::borrow(a[c], b[c]))),
    };
    finish_ints(thread, u, mask, &results);
    if !thread.modes.accumulator_disabled {
        for c in channels(u, mask) {
            let (offset, ty) = implicit_element(u, c);
            thread.acc.set_integer(offset, ty.size(), carries[c].widen());
        }
    }
}

/// Operations that read and write the accumulator by themselves.
fn accumulating<T: Int>(thread: &mut Thread, u: &Uop, mask: u32, a: &Lanes<T>) {
    let n = usize::from(u.size);
    let b = ints::<T>(thread, &u.src[1], n, false);
    let old: Lanes<T> = map(n, |c| {
        let (offset, ty) = implicit_element(u, c);
        T::cut(thread.acc.integer(offset, ty))
    });
    let pair =
        |c: usize| ops::distance(a[c & !1], b[c & !1]).plus(ops::distance(a[c | 1], b[c | 1]));
    let results = match u.op {
        Op::Mac => map(n, |c| old[c].plus(a[c].times(b[c]))),
        Op::Sad2 => map(n, |c| if c % 2 == 0 { pair(c) } else { T::default() }),
        Op::Sada2 => map(n, |c| if c % 2 == 0 { old[c].plus(pair(c)) } else { old[c] }),
        _ => {
            // Its elements have 64 bits.
            let sums = map(n, |c| T::cut(i128::from(ops::mach(old[c], a[c], b[c]).widen() as i64)));
            if !thread.modes.accumulator_disabled {
                let written = if MACH_UPDATES_ALL_CHANNELS { u32::MAX } else { mask };
                for c in channels(u, written) {
                    let (offset, ty) = implicit_element(u, c);
                    thread.acc.set_integer(offset, ty.size(), sums[c].widen());
                }
            }
            map(n, |c| T::cut(sums[c].widen() >> 32))
        }
    };
    finish_ints(thread, u, mask, &results);
}

fn float<T: Operand, A: Arithmetic<T>>(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    m: &A,
) -> Result<(), Trap> {
    let n = usize::from(u.size);
    let selects = matches!(u.op, Op::Sel | Op::Csel);
    let flush = !selects || SELECTION_FLUSHES_SUBNORMALS;
    let load = |index: usize| floats::<T>(thread, &u.src[index], u.exec, n, flush);
    let a = load(0);
    macro_rules! one {
        ($f:expr) => {{
            map(n, |c| {
                m.channel(c);
                $f(a[c])
            })
        }};
    }
    macro_rules! two {
        ($f:expr) => {{
            let b = load(1);
            map(n, |c| {
                m.channel(c);
                $f(a[c], b[c])
            })
        }};
    }
    macro_rules! three {
        ($f:expr) => {{
            let (b, c2) = (load(1), load(2));
            map(n, |c| {
                m.channel(c);
                $f(a[c], b[c], c2[c])
            })
        }};
    }
    // Dot products: for each tuple of four channels one result, for all four.
    macro_rules! dot {
        ($terms:expr, $last:expr) => {{
            let b = load(1);
            map(n, |c| {
                m.channel(c);
                let (a, b): (&[T], &[T]) = (&a[c & !3..][..4], &b[c & !3..][..4]);
                ops::dot(m, a, b, $terms, if $last { Some(b[3]) } else { None })
            })
        }};
    }
    let results: Lanes<T> = match u.op {
        Op::Add => two!(|a, b| m.add(a, b)),
        Op::Mul => two!(|a, b| m.mul(a, b)),
        Op::Mad => three!(|a, b, c| m.fused(b, c, a)),
        Op::Mac => {
            let old: Lanes<T> = map(n, |c| {
                let (offset, ty) = implicit_element(u, c);
                let bits = thread.acc.bits(offset, ty.size());
                let subnormal = bits & format(ty).infinity() == 0;
                let flushed = if subnormal && thread.modes.flushes(ty) {
                    bits & format(ty).sign()
                } else {
                    bits
                };
                T::load(ty, flushed, Rounding::Nearest)
            });
            let b = load(1);
            map(n, |c| {
                m.channel(c);
                m.add(old[c], m.mul(a[c], b[c]))
            })
        }
        Op::Frc => one!(ops::frc),
        Op::Rndd => one!(T::down),
        Op::Rndu => one!(T::up),
        Op::Rnde => one!(T::even),
        Op::Rndz => one!(T::truncated),
        Op::Lrp => three!(|a, b, c| ops::lrp(m, a, b, c)),
        Op::Dp4 => dot!(4, false),
        Op::Dph => dot!(3, true),
        Op::Dp3 => dot!(3, false),
        Op::Dp2 => dot!(2, false),
        Op::Line | Op::Pln => {
            let (p, q, r) = coefficients::<T>(thread, u)?;
            if u.op == Op::Line {
                let x = load(1);
                map(n, |c| {
                    m.channel(c);
                    m.add(m.mul(p, x[c]), r)
                })
            } else {
                let (x, y) = plane_operands::<T>(thread, u, n)?;
                map(n, |c| {
                    m.channel(c);
                    m.add(m.add(m.mul(p, x[c]), m.mul(q, y[c])), r)
                })
            }
        }
        Op::Csel => three!(|a, b, c| if compare(u.select, c, T::ZERO) { a } else { b }),
        Op::Sel if u.select == Condition::None => {
            let (b, chosen) = (load(1), thread.predicate(u));
            map(n, |c| if chosen >> c & 1 == 1 { a[c] } else { b[c] })
        }
        Op::Sel => match u.select {
            Condition::L | Condition::Le => two!(ops::min),
            Condition::G | Condition::Ge => two!(ops::max),
            condition => two!(|a, b| if compare(condition, a, b) { a } else { b }),
        },
        Op::Cmp | Op::Cmpn => {
            let b = load(1);
            let found = match u.op {
                Op::Cmp => bits(n, |c| compare(u.condition, a[c], b[c])),
                _ => bits(n, |c| compare_nan(u.condition, a[c], b[c])),
            };
            finish_compare(thread, u, mask, found);
            return Ok(());
        }
        _ => return Err(illegal(u, "of floats")),
    };
    let how = Finish { computed: !selects, flush, overflows: m.overflows(), nearest: false };
    finish_floats(thread, u, mask, &results, how);
    Ok(())
}

/// The first, second and fourth element of the tuple that source 0 of `line` and `pln` names.
fn coefficients<T: Operand>(thread: &Thread, u: &Uop) -> Result<(T, T, T), Trap> {
    let src = &u.src[0];
    let Shape::Scalar(offset) = src.shape else {
        return Err(illegal(u, "with coefficients that are no replicated scalar in a register"));
    };
    let tuple = offset & !15;
    let table = std::array::from_fn(|n| tuple + 4 * (n as u16 % 4));
    let src = Src { shape: Shape::Table(Box::new(table)), ..src.clone() };
    let values = floats::<T>(thread, &src, u.exec, 4, true);
    Ok((values[0], values[1], values[3]))
}

/// The two operands of `pln`: eight channels of x, then eight of y, for each half (003:12669).
fn plane_operands<T: Operand>(
    thread: &Thread,
    u: &Uop,
    n: usize,
) -> Result<(Lanes<T>, Lanes<T>), Trap> {
    let Shape::Contiguous(offset) = u.src[1].shape else {
        return Err(illegal(u, "with coordinates that are not whole registers"));
    };
    let registers = |first: usize| {
        let table = std::array::from_fn(|c| {
            let register = c / 8 * 2 + first;
            wrap(i32::from(offset) + (register * REGISTER + c % 8 * 4) as i32)
        });
        let src = Src { shape: Shape::Table(Box::new(table)), ..u.src[1].clone() };
        floats::<T>(thread, &src, u.exec, n, true)
    };
    Ok((registers(0), registers(1)))
}

/// What the manual does not allow.
#[cold]
pub(super) fn illegal(u: &Uop, how: &str) -> Trap {
    Trap::Illegal(format!("{:?} {how}", u.op))
}
