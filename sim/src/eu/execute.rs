//! Everything around an operation: sources are fetched through their regions and modified, the body runs for each
//! channel, results are clamped, converted and written under the mask, flags are updated.
//!
//! This is the general path; [`super::fast`] takes the short cuts.

use super::acc::Element;
use super::convert::{double, from_double, from_integer, from_single, integer, single};
use super::math;
use super::ops::{self, Float, Int, compare, compare_nan};
use super::regions::REGISTER;
use super::thread::{Thread, Trap};
use super::uop::{Condition, Dst, ExecType, MAX_CHANNELS, Math, Op, Shape, Src, Target, Type, Uop};

/// One value per channel.
pub type Lanes<T> = [T; MAX_CHANNELS];

#[inline(always)]
fn map<T: Copy + Default>(n: usize, f: impl Fn(usize) -> T) -> Lanes<T> {
    let mut lanes = [T::default(); MAX_CHANNELS];
    for (channel, lane) in lanes.iter_mut().enumerate().take(n) {
        *lane = f(channel);
    }
    lanes
}

/// Bits of the channels for which `f` holds.
#[inline(always)]
fn bits(n: usize, f: impl Fn(usize) -> bool) -> u32 {
    (0..n).fold(0, |bits, channel| bits | u32::from(f(channel)) << channel)
}

/// Runs an arithmetic or logic instruction for the channels of `mask`.
pub fn alu(thread: &mut Thread, u: &Uop, mask: u32) -> Result<(), Trap> {
    if let Op::Math(function) = u.op {
        return math_instruction(thread, u, mask, function);
    }
    if u.op == Op::Mov {
        return mov(thread, u, mask);
    }
    match u.exec {
        ExecType::Single | ExecType::Half => float::<f32>(thread, u, mask),
        ExecType::Double => float::<f64>(thread, u, mask),
        ExecType::Word | ExecType::Dword if !wide(u) => int::<i64>(thread, u, mask),
        _ => int::<i128>(thread, u, mask),
    }
}

/// True for instructions whose intermediate results may need more than 64 bits.
fn wide(u: &Uop) -> bool {
    matches!(u.op, Op::Mul | Op::Mad | Op::Mac | Op::Mach | Op::Sada2)
        || u.src.iter().any(|src| matches!(src.shape, Shape::Accumulator(_)))
}

// ---- sources ----

/// The bit patterns of a source, and for accumulators the whole elements.
#[inline(always)]
fn patterns(thread: &Thread, src: &Src, n: usize) -> Lanes<u64> {
    let size = src.ty.size();
    let read = |offset: usize| match size {
        1 => u64::from(thread.regs.u8(offset)),
        2 => u64::from(thread.regs.u16(offset)),
        4 => u64::from(thread.regs.u32(offset)),
        _ => thread.regs.u64(offset),
    };
    match &src.shape {
        Shape::Scalar(offset) => [read(usize::from(*offset)); MAX_CHANNELS],
        Shape::Contiguous(offset) => {
            let offset = usize::from(*offset);
            match size {
                1 => map(n, |c| u64::from(thread.regs.u8(offset + c))),
                2 => map(n, |c| u64::from(thread.regs.u16(offset + 2 * c))),
                4 => map(n, |c| u64::from(thread.regs.u32(offset + 4 * c))),
                _ => map(n, |c| thread.regs.u64(offset + 8 * c)),
            }
        }
        Shape::Table(table) => map(n, |c| read(usize::from(table[c]))),
        Shape::Immediate(bits) => [*bits; MAX_CHANNELS],
        Shape::Vector(values) => map(n, |c| values[c % values.len()]),
        Shape::Indirect(region) => {
            let offsets = thread.regs.indirect(region, n);
            // An element may begin in the last bytes of the file: it wraps byte by byte.
            map(n, |c| {
                (0..size).fold(0, |bits, byte| {
                    let at = super::regions::wrap(i32::from(offsets[c]) + byte as i32);
                    bits | u64::from(thread.regs.u8(usize::from(at))) << (8 * byte)
                })
            })
        }
        Shape::Accumulator(table) => map(n, |c| match thread.acc.get(usize::from(table[c]), size) {
            Element::Wide(value) => value as u64,
            Element::Bits(bits) => bits,
        }),
    }
}

/// A source as integers. `logic` operations take the negation for a complement.
#[inline(always)]
fn ints<T: Int>(thread: &Thread, src: &Src, n: usize, logic: bool) -> Lanes<T> {
    let raw = patterns(thread, src, n);
    let ty = src.ty;
    let mut lanes = match ty {
        Type::Ub | Type::Uw | Type::Ud => map(n, |c| T::cut(i128::from(raw[c] as i64))),
        Type::B => map(n, |c| T::cut(i128::from(raw[c] as i8))),
        Type::W => map(n, |c| T::cut(i128::from(raw[c] as i16))),
        Type::D => map(n, |c| T::cut(i128::from(raw[c] as i32))),
        _ => map(n, |c| T::cut(integer(ty, raw[c]))),
    };
    if let Shape::Accumulator(table) = &src.shape {
        lanes = map(n, |c| match thread.acc.get(usize::from(table[c]), ty.size()) {
            Element::Wide(value) if !ty.is_float() => T::cut(value),
            _ => lanes[c],
        });
    }
    if src.abs && !logic {
        lanes = map(n, |c| if lanes[c] < T::default() { T::default().minus(lanes[c]) } else { lanes[c] });
    }
    if src.negate {
        lanes = if logic { map(n, |c| !lanes[c]) } else { map(n, |c| T::default().minus(lanes[c])) };
    }
    lanes
}

/// Conversions that the two float types need beyond [`Float`].
trait Operand: Float {
    fn load(ty: Type, bits: u64) -> Self;
    fn store(self, ty: Type) -> u64;
}
impl Operand for f32 {
    #[inline(always)]
    fn load(ty: Type, bits: u64) -> f32 {
        single(ty, bits)
    }
    #[inline(always)]
    fn store(self, ty: Type) -> u64 {
        from_single(ty, self)
    }
}
impl Operand for f64 {
    #[inline(always)]
    fn load(ty: Type, bits: u64) -> f64 {
        double(ty, bits)
    }
    #[inline(always)]
    fn store(self, ty: Type) -> u64 {
        from_double(ty, self)
    }
}

/// A source as floats; subnormal ones of its own type are flushed unless the mode keeps them or `raw`.
#[inline(always)]
fn floats<T: Operand>(thread: &Thread, src: &Src, n: usize, raw: bool) -> Lanes<T> {
    let bits = patterns(thread, src, n);
    let ty = src.ty;
    let mut lanes: Lanes<T> = match ty {
        Type::F => map(n, |c| T::load(Type::F, bits[c])),
        _ => map(n, |c| T::load(ty, bits[c])),
    };
    if !raw && thread.modes.flushes(ty) {
        lanes = match ty {
            // A half is a normal single: only its own subnormals go.
            Type::Hf => {
                map(n, |c| if bits[c] & 0x7c00 == 0 { T::load(ty, bits[c] & 0x8000) } else { lanes[c] })
            }
            _ => map(n, |c| lanes[c].flush()),
        };
    }
    if src.abs {
        lanes = map(n, |c| lanes[c].magnitude());
    }
    if src.negate {
        lanes = map(n, |c| -lanes[c]);
    }
    lanes
}

// ---- results ----

/// Writes bit patterns of the destination type under the mask.
fn write(thread: &mut Thread, u: &Uop, mask: u32, values: &Lanes<u64>) {
    let size = u.dst.ty.size();
    let regs = &mut thread.regs;
    let mut put = |offset: usize, value: u64| match size {
        1 => regs.set_u8(offset, value as u8),
        2 => regs.set_u16(offset, value as u16),
        4 => regs.set_u32(offset, value as u32),
        _ => regs.set_u64(offset, value),
    };
    let channels = (0..usize::from(u.size)).filter(|c| mask >> c & 1 == 1);
    match &u.dst.target {
        Target::Null => {}
        Target::File { offset, stride } => {
            for c in channels {
                put(usize::from(*offset) + c * usize::from(*stride), values[c]);
            }
        }
        Target::Table(table) => {
            for c in channels {
                put(usize::from(table[c]), values[c]);
            }
        }
        Target::Accumulator(_) => {}
        Target::Indirect { address, immediate, stride } => {
            let base =
                i32::from(regs.u16(super::regions::A0 + 2 * usize::from(*address))) + i32::from(*immediate);
            for c in channels {
                for byte in 0..size {
                    let at = super::regions::wrap(base + c as i32 * i32::from(*stride) + byte as i32);
                    regs.set_u8(usize::from(at), (values[c] >> (8 * byte)) as u8);
                }
            }
        }
        Target::Ip => thread.jump = Some(values[0] as u32),
    }
}

/// The accumulator elements that the channels of an instruction use when it writes the accumulator implicitly
/// (004:2634-2819): channel n its n-th element, from `acc1` on for floats of the upper half.
fn implicit_element(u: &Uop, channel: usize) -> (usize, usize) {
    let size = match u.exec {
        ExecType::Word | ExecType::Half => 2,
        ExecType::Dword | ExecType::Single => 4,
        ExecType::Qword | ExecType::Double => 8,
    };
    let first = if u.first & 8 != 0 && u.size == 8 && u.exec == ExecType::Single { REGISTER } else { 0 };
    ((first + channel * size) % (2 * REGISTER), size)
}

/// Clamps, converts, writes and compares integer results.
fn finish_ints<T: Int>(thread: &mut Thread, u: &Uop, mask: u32, results: &Lanes<T>) -> Result<(), Trap> {
    let (n, ty) = (usize::from(u.size), u.dst.ty);
    if ty.is_float() {
        let values = map(n, |c| {
            let bits = from_integer(ty, results[c].widen());
            if u.saturate { from_double(ty, saturated(double(ty, bits))) } else { bits }
        });
        accumulate(thread, u, mask, |c| i128::from(values[c]));
        write(thread, u, mask, &values);
        return update_flags(thread, u, mask, |condition, c| {
            let value = double(ty, values[c]);
            compare(condition, value, 0.0)
        });
    }
    let range = ty.range();
    let (least, most) = (T::cut(range.0), T::cut(range.1));
    let wraps = matches!(ty, Type::Uq | Type::Q) && size_of::<T>() == 8;
    let clamped = if u.saturate && !wraps { map(n, |c| results[c].max(least).min(most)) } else { *results };
    if let Target::Accumulator(table) = &u.dst.target {
        for c in (0..n).filter(|c| mask >> c & 1 == 1) {
            thread.acc.set(usize::from(table[c]), ty.size(), clamped[c].widen());
        }
    }
    accumulate(thread, u, mask, |c| clamped[c].widen());
    let values = map(n, |c| clamped[c].widen() as u64);
    write(thread, u, mask, &values);
    if u.condition == Condition::None {
        return Ok(());
    }
    let full = matches!(u.dst.target, Target::Accumulator(_) | Target::Null);
    update_flags(thread, u, mask, |condition, c| match condition {
        Condition::O => !wraps && (results[c] < least || results[c] > most),
        _ if full => compare(condition, clamped[c], T::default()),
        _ => compare(condition, integer(ty, values[c]), 0),
    })
}

/// Clamped to [0, 1], NaN to 0.
fn saturated(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// Clamps, converts, writes and compares float results.
fn finish_floats<T: Operand>(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    results: &Lanes<T>,
    raw: bool,
) -> Result<(), Trap> {
    let (n, ty) = (usize::from(u.size), u.dst.ty);
    let mut lanes =
        if raw { *results } else { map(n, |c| if results[c].nan() { T::NAN } else { results[c] }) };
    if u.saturate && ty.is_float() {
        lanes = map(n, |c| {
            let lane = if lanes[c] > T::ZERO { lanes[c] } else { T::ZERO };
            if lane > T::ONE { T::ONE } else { lane }
        });
    }
    let flush = !raw && thread.modes.flushes(ty);
    if flush && ty != Type::Hf {
        lanes = map(n, |c| lanes[c].flush());
    }
    let mut values = map(n, |c| lanes[c].store(ty));
    if flush && ty == Type::Hf {
        values = map(n, |c| if values[c] & 0x7c00 == 0 { values[c] & 0x8000 } else { values[c] });
    }
    if let Target::Accumulator(table) = &u.dst.target {
        for c in (0..n).filter(|c| mask >> c & 1 == 1) {
            thread.acc.set(usize::from(table[c]), ty.size(), i128::from(values[c]));
        }
    }
    accumulate(thread, u, mask, |c| i128::from(values[c]));
    write(thread, u, mask, &values);
    if u.condition == Condition::None {
        return Ok(());
    }
    if u.condition == Condition::O {
        return Err(Trap::Missing {
            what: "overflow condition of a float result".into(),
            page: "G45 vol 4, 11.2.9",
        });
    }
    update_flags(thread, u, mask, |condition, c| match condition {
        Condition::U => lanes[c].nan(),
        _ if ty.is_float() => compare(condition, double(ty, values[c]), 0.0),
        _ => compare(condition, integer(ty, values[c]), 0),
    })
}

/// Writes the accumulator beside the destination.
#[inline(always)]
fn accumulate(thread: &mut Thread, u: &Uop, mask: u32, value: impl Fn(usize) -> i128) {
    if u.acc_write && !thread.modes.accumulator_disabled {
        for c in (0..usize::from(u.size)).filter(|c| mask >> c & 1 == 1) {
            let (offset, size) = implicit_element(u, c);
            thread.acc.set(offset, size, value(c));
        }
    }
}

#[inline(always)]
fn update_flags(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    holds: impl Fn(Condition, usize) -> bool,
) -> Result<(), Trap> {
    if u.condition != Condition::None {
        let found = bits(usize::from(u.size), |c| holds(u.condition, c));
        set_flag(thread, u, mask, found);
    }
    Ok(())
}

/// Puts `found` into the flag for the channels of `mask`; the others keep their bits (004:2877-2880).
#[inline(always)]
pub fn set_flag(thread: &mut Thread, u: &Uop, mask: u32, found: u32) {
    thread.regs.set_flags(u64::from(mask) << u.flag, u64::from(found & mask) << u.flag);
}

/// The result of a comparison: the flag, and all ones or zero in the destination.
fn finish_compare(thread: &mut Thread, u: &Uop, mask: u32, found: u32) {
    set_flag(thread, u, mask, found);
    let values = map(usize::from(u.size), |c| if found >> c & 1 == 1 { u64::MAX } else { 0 });
    write(thread, u, mask, &values);
}

// ---- operations ----

/// A copy; without conversion and modifiers all bits stay as they are.
fn mov(thread: &mut Thread, u: &Uop, mask: u32) -> Result<(), Trap> {
    let (n, src) = (usize::from(u.size), &u.src[0]);
    let raw = src.ty == u.dst.ty && src.plain() && !u.saturate;
    let accumulates = u.acc_write
        || matches!(u.dst.target, Target::Accumulator(_))
        || matches!(src.shape, Shape::Accumulator(_));
    if raw && !accumulates && (u.condition == Condition::None || !src.ty.is_float()) {
        let values = patterns(thread, src, n);
        write(thread, u, mask, &values);
        return update_flags(thread, u, mask, |condition, c| {
            compare(condition, integer(src.ty, values[c]), 0)
        });
    }
    match src.ty {
        Type::F | Type::Hf | Type::Df => {
            // Conversions between float types keep subnormals, and so does a copy without modifiers (004:1329-1333).
            let raw = src.plain() && !u.saturate;
            if src.ty == Type::Df && u.dst.ty != Type::Df && u.dst.ty.is_float() {
                thread.modes.check_rounding("conversion of a double float")?;
            }
            if src.ty == Type::Df {
                let lanes = floats::<f64>(thread, src, n, raw);
                finish_floats(thread, u, mask, &lanes, raw)
            } else {
                if src.ty == Type::F && u.dst.ty == Type::Hf {
                    thread.modes.check_rounding("conversion to half float")?;
                }
                let lanes = floats::<f32>(thread, src, n, raw);
                finish_floats(thread, u, mask, &lanes, raw)
            }
        }
        Type::Uq | Type::Q => {
            let lanes = ints::<i128>(thread, src, n, false);
            finish_ints(thread, u, mask, &lanes)
        }
        _ if matches!(src.shape, Shape::Accumulator(_)) => {
            let lanes = ints::<i128>(thread, src, n, false);
            finish_ints(thread, u, mask, &lanes)
        }
        _ => {
            let lanes = ints::<i64>(thread, src, n, false);
            finish_ints(thread, u, mask, &lanes)
        }
    }
}

fn int<T: Int>(thread: &mut Thread, u: &Uop, mask: u32) -> Result<(), Trap> {
    let n = usize::from(u.size);
    let logic = matches!(u.op, Op::Not | Op::And | Op::Or | Op::Xor);
    let load = |index: usize| ints::<T>(thread, &u.src[index], n, logic);
    let signed = matches!(u.src[0].ty, Type::B | Type::W | Type::D | Type::Q);
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
        Op::Shr => two!(|a: T, b: T| ops::shr(a, b, if width == 64 { 64 } else { u.exec.bits() })),
        Op::Asr => two!(|a: T, b: T| ops::asr(a, b, width)),
        Op::Add => two!(T::plus),
        Op::Mul => {
            // Into the accumulator only the low word of source 1 takes part: the rest comes from mach (eu.md 3.5).
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
        Op::Cmp | Op::Cmpn => {
            let b = load(1);
            if matches!(u.condition, Condition::O | Condition::U) {
                return Err(Trap::Missing {
                    what: "overflow condition of a comparison".into(),
                    page: "2a cmp",
                });
            }
            let found = bits(n, |c| compare(u.condition, a[c], b[c]));
            finish_compare(thread, u, mask, found);
            return Ok(());
        }
        Op::Addc | Op::Subb => return carry::<T>(thread, u, mask, &a),
        Op::Mac | Op::Mach | Op::Sad2 | Op::Sada2 => return accumulating::<T>(thread, u, mask, &a),
        _ => return Err(missing(u, "on integers")),
    };
    finish_ints(thread, u, mask, &results)
}

/// addc and subb: the sum in the destination, the carry in the accumulator.
fn carry<T: Int>(thread: &mut Thread, u: &Uop, mask: u32, a: &Lanes<T>) -> Result<(), Trap> {
    let n = usize::from(u.size);
    let b = ints::<T>(thread, &u.src[1], n, false);
    let (results, carries) = match u.op {
        Op::Addc => (map(n, |c| a[c].plus(b[c])), map(n, |c| ops::carry(a[c], b[c]))),
        _ => (map(n, |c| a[c].minus(b[c])), map(n, |c| ops::borrow(a[c], b[c]))),
    };
    finish_ints(thread, u, mask, &results)?;
    for c in (0..n).filter(|c| mask >> c & 1 == 1) {
        thread.acc.set(4 * c % (2 * REGISTER), 4, carries[c].widen());
    }
    Ok(())
}

/// Operations that read and write the accumulator by themselves.
fn accumulating<T: Int>(thread: &mut Thread, u: &Uop, mask: u32, a: &Lanes<T>) -> Result<(), Trap> {
    let n = usize::from(u.size);
    let b = ints::<T>(thread, &u.src[1], n, false);
    let old: Lanes<T> = map(n, |c| {
        let (offset, size) = implicit_element(u, c);
        match thread.acc.get(offset, size) {
            Element::Wide(value) => T::cut(value),
            Element::Bits(bits) => T::cut(i128::from(bits as i64) << (64 - 8 * size) >> (64 - 8 * size)),
        }
    });
    let pair = |c: usize| ops::distance(a[c & !1], b[c & !1]).plus(ops::distance(a[c | 1], b[c | 1]));
    match u.op {
        Op::Mac => finish_ints(thread, u, mask, &map(n, |c| old[c].plus(a[c].times(b[c])))),
        Op::Sad2 => {
            finish_ints(thread, u, mask, &map(n, |c| if c % 2 == 0 { pair(c) } else { T::default() }))
        }
        Op::Sada2 => {
            finish_ints(thread, u, mask, &map(n, |c| if c % 2 == 0 { old[c].plus(pair(c)) } else { old[c] }))
        }
        _ => {
            // All channels take part in the accumulator, the mask is for the destination (003:12133ff).
            let sums = map(n, |c| ops::mach(old[c], a[c], b[c]));
            for (c, sum) in sums.iter().enumerate().take(n) {
                let (offset, size) = implicit_element(u, c);
                thread.acc.set(offset, size, sum.widen());
            }
            finish_ints(thread, u, mask, &map(n, |c| T::cut(sums[c].widen() >> 32)))
        }
    }
}

fn float<T: Operand>(thread: &mut Thread, u: &Uop, mask: u32) -> Result<(), Trap> {
    let n = usize::from(u.size);
    thread.modes.check_float(u.op)?;
    let load = |index: usize| floats::<T>(thread, &u.src[index], n, false);
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
    // Dot products: for each tuple of four channels one result, for all four.
    macro_rules! dot {
        ($f:expr) => {{
            let b = load(1);
            map(n, |c| $f(&a[c & !3..][..4], &b[c & !3..][..4]))
        }};
    }
    let results: Lanes<T> = match u.op {
        Op::Add => two!(|a: T, b: T| a + b),
        Op::Mul => two!(|a: T, b: T| a * b),
        Op::Mad => three!(|a: T, b: T, c: T| b.fused(c, a)),
        Op::Mac => {
            let old: Lanes<T> = map(n, |c| {
                let (offset, size) = implicit_element(u, c);
                T::load(exec_type(u), acc_bits(thread, offset, size))
            });
            let b = load(1);
            map(n, |c| old[c] + a[c] * b[c])
        }
        Op::Frc => one!(ops::frc),
        Op::Rndd => one!(|a: T| a.down()),
        Op::Rndu => one!(|a: T| a.up()),
        Op::Rnde => one!(|a: T| a.even()),
        Op::Rndz => one!(|a: T| a.truncated()),
        Op::Lrp => three!(ops::lrp),
        Op::Csel => {
            let (b, test) = (load(1), load(2));
            map(n, |c| if compare(u.select, test[c], T::ZERO) { a[c] } else { b[c] })
        }
        Op::Dp4 => dot!(|a: &[T], b: &[T]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]),
        Op::Dph => dot!(|a: &[T], b: &[T]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + b[3]),
        Op::Dp3 => dot!(|a: &[T], b: &[T]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]),
        Op::Dp2 => dot!(|a: &[T], b: &[T]| a[0] * b[0] + a[1] * b[1]),
        Op::Line | Op::Pln => {
            let Shape::Scalar(offset) = u.src[0].shape else {
                return Err(missing(u, "with coefficients that are not a scalar region"));
            };
            let tuple = usize::from(offset) & !15;
            let coefficient = |n: usize| -> T {
                let value = T::load(Type::F, u64::from(thread.regs.u32(tuple + 4 * n)));
                let value = if thread.modes.flushes(Type::F) { value.flush() } else { value };
                let value = if u.src[0].abs { value.magnitude() } else { value };
                if u.src[0].negate { -value } else { value }
            };
            let (p, q, r) = (coefficient(0), coefficient(1), coefficient(3));
            if u.op == Op::Line {
                one_of(n, &load(1), |x| p * x + r)
            } else {
                let (x, y) = plane_operands::<T>(thread, u, n)?;
                map(n, |c| p * x[c] + q * y[c] + r)
            }
        }
        Op::Sel if u.select == Condition::None => {
            let (b, chosen) = (load(1), thread.predicate(u));
            map(n, |c| if chosen >> c & 1 == 1 { a[c] } else { b[c] })
        }
        Op::Sel => match u.select {
            Condition::L | Condition::Le => two!(ops::min),
            Condition::G | Condition::Ge => two!(ops::max),
            condition => two!(|a: T, b: T| if compare(condition, a, b) { a } else { b }),
        },
        Op::Cmp | Op::Cmpn => {
            let b = load(1);
            let found = match (u.op, u.condition) {
                (_, Condition::O) => return Err(missing(u, "with the overflow condition")),
                (_, Condition::U) => bits(n, |c| a[c].nan() || b[c].nan()),
                (Op::Cmp, condition) => bits(n, |c| compare(condition, a[c], b[c])),
                (_, condition) => bits(n, |c| compare_nan(condition, a[c], b[c])),
            };
            finish_compare(thread, u, mask, found);
            return Ok(());
        }
        _ => return Err(missing(u, "on floats")),
    };
    finish_floats(thread, u, mask, &results, false)
}

fn one_of<T: Copy + Default>(n: usize, lanes: &Lanes<T>, f: impl Fn(T) -> T) -> Lanes<T> {
    map(n, |c| f(lanes[c]))
}

fn exec_type(u: &Uop) -> Type {
    if u.exec == ExecType::Double { Type::Df } else { Type::F }
}

fn acc_bits(thread: &Thread, offset: usize, size: usize) -> u64 {
    match thread.acc.get(offset, size) {
        Element::Wide(value) => value as u64,
        Element::Bits(bits) => bits,
    }
}

/// The two operands of `pln`: eight channels of x, then eight of y, for each half (003:12669).
fn plane_operands<T: Operand>(thread: &Thread, u: &Uop, n: usize) -> Result<(Lanes<T>, Lanes<T>), Trap> {
    let Shape::Contiguous(offset) = u.src[1].shape else {
        return Err(missing(u, "with coordinates that are not whole registers"));
    };
    let registers = |first: usize| {
        let mut src = u.src[1].clone();
        let table = std::array::from_fn(|c| {
            let register = c / 8 * 2 + first;
            super::regions::wrap(i32::from(offset) + (register * REGISTER + c % 8 * 4) as i32)
        });
        src.shape = Shape::Table(Box::new(table));
        floats::<T>(thread, &src, n, false)
    };
    Ok((registers(0), registers(1)))
}

fn math_instruction(thread: &mut Thread, u: &Uop, mask: u32, function: Math) -> Result<(), Trap> {
    let n = usize::from(u.size);
    let load = |index: usize| ints::<i64>(thread, &u.src[index], n, false);
    let divide = |a: i64, b: i64| match u.src[0].ty {
        Type::Ud => {
            let (q, r) = math::divide_unsigned(a as u32, b as u32);
            (i64::from(q), i64::from(r))
        }
        _ => {
            let (q, r) = math::divide_signed(a as i32, b as i32);
            (i64::from(q), i64::from(r))
        }
    };
    match function {
        Math::IntDivQuotient => {
            let (a, b) = (load(0), load(1));
            finish_ints(thread, u, mask, &map(n, |c| divide(a[c], b[c]).0))
        }
        Math::IntDivRemainder => {
            let (a, b) = (load(0), load(1));
            finish_ints(thread, u, mask, &map(n, |c| divide(a[c], b[c]).1))
        }
        Math::IntDivBoth => {
            // The quotient as any result, the remainder in the registers that follow it.
            let (a, b) = (load(0), load(1));
            let Target::File { offset, stride } = u.dst.target else {
                return Err(missing(u, "with a destination that is not a general register"));
            };
            finish_ints(thread, u, mask, &map(n, |c| divide(a[c], b[c]).0))?;
            let behind = (n * usize::from(stride)).next_multiple_of(REGISTER);
            let target =
                Target::File { offset: super::regions::wrap((usize::from(offset) + behind) as i32), stride };
            let rest = Uop { dst: Dst { target, ..u.dst.clone() }, ..u.clone() };
            finish_ints(thread, &rest, mask, &map(n, |c| divide(a[c], b[c]).1))
        }
        _ => {
            thread.modes.check_math()?;
            let (a, b) =
                (floats::<f32>(thread, &u.src[0], n, false), floats::<f32>(thread, &u.src[1], n, false));
            finish_floats(thread, u, mask, &map(n, |c| math::float(function, a[c], b[c])), false)
        }
    }
}

#[cold]
fn missing(u: &Uop, how: &str) -> Trap {
    Trap::Missing { what: format!("{:?} {how}", u.op), page: "2a, the instruction's page" }
}
