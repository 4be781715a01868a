//! Short cuts for the instructions that make up most of all kernels: 32-bit operands without conversion, saturation
//! or accumulators. Which one an instruction can take is decided once, when it is decoded.

use super::execute::set_flag;
use super::ops::fused_single;
use super::regions::Registers;
use super::thread::Thread;
use super::uop::{Condition, ExecType, Op, Predicate, Shape, Src, Target, Type, Uop};
use crate::assumptions::ARITHMETIC_NAN;

/// The short cut that an instruction takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Fast {
    /// None: the general path.
    None,
    Mov,
    Not,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Asr,
    AddInt,
    MulInt,
    CmpSigned,
    CmpUnsigned,
    AddFloat,
    MulFloat,
    MadFloat,
    CmpFloat,
    Sel,
}

/// Picks the short cut of an instruction.
pub fn classify(u: &Uop) -> Fast {
    let dword = |ty: Type| ty.size() == 4;
    let sources = match u.op {
        Op::Mov | Op::Not => 1,
        Op::Mad => 3,
        _ => 2,
    };
    let sources = &u.src[..sources];
    let simple = |src: &Src| {
        dword(src.ty)
            && !src.abs
            && matches!(
                src.shape,
                Shape::Scalar(_) | Shape::Contiguous(_) | Shape::Table(_) | Shape::Immediate(_)
            )
    };
    let target = match u.dst.target {
        Target::Null => true,
        Target::File { stride, .. } => stride == 4 || u.size == 1,
        _ => false,
    };
    let compares = matches!(u.op, Op::Cmp);
    if !target
        || !dword(u.dst.ty)
        || u.dst.control
        || u.volatile
        || u.saturate
        || u.acc_write
        || u.select != Condition::None
        || (u.condition != Condition::None) != compares
        || matches!(u.condition, Condition::O | Condition::U)
        || !sources.iter().all(simple)
    {
        return Fast::None;
    }
    let floats =
        u.exec == ExecType::Single && u.dst.ty == Type::F && sources.iter().all(|src| src.ty == Type::F);
    let ints = u.exec == ExecType::Dword && !u.dst.ty.is_float();
    let plain = sources.iter().all(|src| !src.negate);
    let same = sources.iter().all(|src| src.ty == u.dst.ty);
    match u.op {
        Op::Mov if plain && (same || ints) => Fast::Mov,
        Op::Not if ints && plain => Fast::Not,
        Op::And if ints && plain => Fast::And,
        Op::Or if ints && plain => Fast::Or,
        Op::Xor if ints && plain => Fast::Xor,
        Op::Shl if ints && plain => Fast::Shl,
        Op::Shr if ints && plain => Fast::Shr,
        Op::Asr if ints && plain && sources[0].ty == Type::D => Fast::Asr,
        Op::Add if ints => Fast::AddInt,
        Op::Mul if ints && plain => Fast::MulInt,
        Op::Add if floats => Fast::AddFloat,
        Op::Mul if floats => Fast::MulFloat,
        Op::Mad if floats => Fast::MadFloat,
        Op::Cmp if u.exec == ExecType::Single && sources.iter().all(|src| src.ty == Type::F) => {
            Fast::CmpFloat
        }
        Op::Cmp if ints && plain && sources.iter().all(|src| src.ty == Type::D) => Fast::CmpSigned,
        Op::Cmp if ints && plain && sources.iter().all(|src| src.ty == Type::Ud) => Fast::CmpUnsigned,
        Op::Sel if plain && same && ints && u.predicate != Predicate::None => Fast::Sel,
        _ => Fast::None,
    }
}

/// Executes an instruction that [`classify`] gave a short cut, for the channels of `mask`. Returns false if the modes
/// of the thread need the general path.
#[inline(always)]
pub fn run(thread: &mut Thread, u: &Uop, mask: u32) -> bool {
    match u.size {
        1 => lanes::<1>(thread, u, mask),
        2 => lanes::<2>(thread, u, mask),
        4 => lanes::<4>(thread, u, mask),
        8 => lanes::<8>(thread, u, mask),
        16 => lanes::<16>(thread, u, mask),
        _ => lanes::<32>(thread, u, mask),
    }
}

#[inline(always)]
fn load<const N: usize>(regs: &Registers, src: &Src) -> [u32; N] {
    match &src.shape {
        Shape::Scalar(offset) => [regs.u32(usize::from(*offset)); N],
        Shape::Contiguous(offset) => regs.dwords(usize::from(*offset)),
        Shape::Immediate(bits) => [*bits as u32; N],
        Shape::Table(table) => std::array::from_fn(|c| regs.u32(usize::from(table[c]))),
        _ => [0; N],
    }
}

/// A single float source; subnormals are flushed if `flush`.
#[inline(always)]
fn floats<const N: usize>(regs: &Registers, src: &Src, flush: bool) -> [f32; N] {
    let sign = u32::from(src.negate) << 31;
    load::<N>(regs, src).map(|bits| {
        let bits = if flush && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits };
        f32::from_bits(bits ^ sign)
    })
}

/// The pattern of a float result: one NaN for all, subnormals flushed if `flush`.
#[inline(always)]
fn result(value: f32, flush: bool) -> u32 {
    let bits = if value.is_nan() { ARITHMETIC_NAN } else { value.to_bits() };
    if flush && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

#[inline(always)]
fn zip<const N: usize, A: Copy, B: Copy, R>(a: [A; N], b: [B; N], f: impl Fn(A, B) -> R) -> [R; N] {
    std::array::from_fn(|c| f(a[c], b[c]))
}

#[inline(always)]
fn lanes<const N: usize>(thread: &mut Thread, u: &Uop, mask: u32) -> bool {
    let regs = &thread.regs;
    let int = |index: usize| load::<N>(regs, &u.src[index]);
    let flush = !thread.modes.keep_single;
    let float = |index: usize| floats::<N>(regs, &u.src[index], flush);
    let signed = |index: usize| {
        let sign = u32::from(u.src[index].negate).wrapping_neg();
        int(index).map(|bits| (bits ^ sign).wrapping_sub(sign))
    };
    if matches!(u.fast, Fast::AddFloat | Fast::MulFloat | Fast::MadFloat | Fast::CmpFloat)
        && (thread.modes.alternative || thread.modes.rounding != 0)
    {
        return false;
    }
    let values = match u.fast {
        Fast::Mov => int(0),
        Fast::Not => int(0).map(|a| !a),
        Fast::And => zip(int(0), int(1), |a, b| a & b),
        Fast::Or => zip(int(0), int(1), |a, b| a | b),
        Fast::Xor => zip(int(0), int(1), |a, b| a ^ b),
        Fast::Shl => zip(int(0), int(1), |a, b| a << (b & 31)),
        Fast::Shr => zip(int(0), int(1), |a, b| a >> (b & 31)),
        Fast::Asr => zip(int(0), int(1), |a, b| ((a as i32) >> (b & 31)) as u32),
        Fast::AddInt => zip(signed(0), signed(1), u32::wrapping_add),
        Fast::MulInt => zip(int(0), int(1), u32::wrapping_mul),
        Fast::AddFloat => zip(float(0), float(1), |a, b| result(a + b, flush)),
        Fast::MulFloat => zip(float(0), float(1), |a, b| result(a * b, flush)),
        Fast::MadFloat => {
            let (a, b, c) = (float(0), float(1), float(2));
            std::array::from_fn(|n| result(fused_single(b[n], c[n], a[n]), flush))
        }
        Fast::CmpSigned => {
            compare::<N, _>(thread, u, mask, int(0).map(|a| a as i32), int(1).map(|b| b as i32));
            return true;
        }
        Fast::CmpUnsigned => {
            compare::<N, _>(thread, u, mask, int(0), int(1));
            return true;
        }
        Fast::CmpFloat => {
            compare::<N, _>(thread, u, mask, float(0), float(1));
            return true;
        }
        Fast::Sel => {
            let chosen = thread.predicate(u);
            let (a, b) = (int(0), int(1));
            std::array::from_fn(|c| if chosen >> c & 1 == 1 { a[c] } else { b[c] })
        }
        Fast::None => return false,
    };
    store(thread, u, mask, values);
    true
}

#[inline(always)]
fn compare<const N: usize, T: Copy + PartialOrd>(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    a: [T; N],
    b: [T; N],
) {
    macro_rules! by {
        ($($condition:ident $op:tt;)*) => {
            match u.condition {
                $(Condition::$condition => zip(a, b, |a, b| u32::from(a $op b)),)*
                _ => [0; N],
            }
        };
    }
    let found: [u32; N] = by! { Z ==; Nz !=; G >; Ge >=; L <; Le <=; };
    let bits = found.iter().enumerate().fold(0, |bits, (c, found)| bits | found << c);
    set_flag(thread, u, mask, bits);
    if u.dst.target != Target::Null {
        store(thread, u, mask, found.map(u32::wrapping_neg));
    }
}

#[inline(always)]
fn store<const N: usize>(thread: &mut Thread, u: &Uop, mask: u32, values: [u32; N]) {
    let Target::File { offset, .. } = u.dst.target else { return };
    let offset = usize::from(offset);
    let full = u32::MAX >> (32 - N);
    if mask & full == full {
        thread.regs.set_dwords(offset, values);
    } else {
        let old = thread.regs.dwords::<N>(offset);
        thread.regs.set_dwords::<N>(
            offset,
            std::array::from_fn(|c| if mask >> c & 1 == 1 { values[c] } else { old[c] }),
        );
    }
}
