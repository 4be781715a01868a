//! The steps before and after every operation of the general path. Before: sources are fetched
//! through their regions and modified. After: results are clamped, converted and written under the
//! mask, then flags and accumulators are updated.

use super::convert::{
    double, format, from_double, from_integer, from_single, half_to_single, integer, reformat,
    single,
};
use super::modes::Modes;
use super::ops::number::{Float, Int, compare};
use super::regions::{A0, REGISTER, wrap};
use super::soft::{Exact, Rounding};
use super::thread::Thread;
use super::uop::{Condition, ExecType, MAX_CHANNELS, Shape, Src, Target, Type, Uop};
use crate::assumptions::{
    CONVERSIONS_FOLLOW_ROUNDING_MODE, DOUBLE_TO_SINGLE_FOLLOWS_ROUNDING_MODE,
};

/// One value per channel.
pub type Lanes<T> = [T; MAX_CHANNELS];

// The loops over channels are without iterators, which are slow if they are not optimised.

/// A value for each of the first `n` channels.
#[inline(always)]
pub fn map<T: Copy + Default>(n: usize, f: impl Fn(usize) -> T) -> Lanes<T> {
    let mut lanes = [T::default(); MAX_CHANNELS];
    let n = n.min(MAX_CHANNELS);
    let mut channel = 0;
    while channel < n {
        lanes[channel] = f(channel);
        channel += 1;
    }
    lanes
}

/// The mask of those of the first `n` channels for which `f` is true.
#[inline(always)]
pub fn bits(n: usize, f: impl Fn(usize) -> bool) -> u32 {
    let (mut bits, mut channel) = (0, 0);
    while channel < n {
        bits |= u32::from(f(channel)) << channel;
        channel += 1;
    }
    bits
}

/// The channels of an instruction that are in `mask`.
#[inline(always)]
pub fn channels(u: &Uop, mask: u32) -> impl Iterator<Item = usize> + use<> {
    let all = u32::MAX.unbounded_shr(32 - u32::from(u.size));
    Channels(mask & all)
}

/// The positions of the ones of a mask, lowest first.
pub struct Channels(pub u32);

impl Iterator for Channels {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let channel = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(channel as usize)
    }
}

// ---- sources ----

/// The bit patterns of a source.
///
/// Not inlined, like [`ints`] and [`floats`]: an inlined copy takes 50 KB of machine code, and each
/// operation loads up to three sources.
#[inline(never)]
pub fn patterns(thread: &Thread, src: &Src, n: usize) -> Lanes<u64> {
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
            // An element that begins in the last bytes of the file wraps byte by byte.
            map(n, |c| {
                (0..size).fold(0, |bits, byte| {
                    let at = wrap(i32::from(offsets[c]) + byte as i32);
                    bits | u64::from(thread.regs.u8(usize::from(at))) << (8 * byte)
                })
            })
        }
        Shape::Accumulator(table) => map(n, |c| thread.acc.bits(usize::from(table[c]), size)),
    }
}

/// A source as integers. Accumulators give their whole elements. For `logic` operations, negation
/// is the complement.
#[inline(never)]
pub fn ints<T: Int>(thread: &Thread, src: &Src, n: usize, logic: bool) -> Lanes<T> {
    let ty = src.ty;
    let mut lanes = if let (Shape::Accumulator(table), false) = (&src.shape, ty.is_float()) {
        map(n, |c| T::cut(thread.acc.integer(usize::from(table[c]), ty)))
    } else {
        let raw = patterns(thread, src, n);
        match ty {
            Type::Ub | Type::Uw | Type::Ud => map(n, |c| T::cut(i128::from(raw[c] as i64))),
            Type::B => map(n, |c| T::cut(i128::from(raw[c] as i8))),
            Type::W => map(n, |c| T::cut(i128::from(raw[c] as i16))),
            Type::D => map(n, |c| T::cut(i128::from(raw[c] as i32))),
            _ => map(n, |c| T::cut(integer(ty, raw[c]))),
        }
    };
    if src.abs {
        lanes =
            map(
                n,
                |c| if lanes[c] < T::default() { T::default().minus(lanes[c]) } else { lanes[c] },
            );
    }
    if src.negate {
        lanes =
            if logic { map(n, |c| !lanes[c]) } else { map(n, |c| T::default().minus(lanes[c])) };
    }
    lanes
}

/// Conversions that the two float types need beyond [`Float`].
pub trait Operand: Float {
    /// Converts the pattern `bits` of type `ty` to this float type.
    fn load(ty: Type, bits: u64, rounding: Rounding) -> Self;
    /// Converts the float to a pattern of type `ty`.
    fn store(self, ty: Type, rounding: Rounding) -> u64;
}

impl Operand for f32 {
    #[inline(always)]
    fn load(ty: Type, bits: u64, rounding: Rounding) -> f32 {
        single(ty, bits, rounding)
    }
    #[inline(always)]
    fn store(self, ty: Type, rounding: Rounding) -> u64 {
        from_single(ty, self, rounding)
    }
}

impl Operand for f64 {
    #[inline(always)]
    fn load(ty: Type, bits: u64, rounding: Rounding) -> f64 {
        double(ty, bits, rounding)
    }
    #[inline(always)]
    fn store(self, ty: Type, rounding: Rounding) -> u64 {
        from_double(ty, self, rounding)
    }
}

/// A source as floats. Subnormal numbers are flushed if `flush` is set and the mode of their type
/// asks for it. In half arithmetic, integers become halves.
#[inline(never)]
pub fn floats<T: Operand>(
    thread: &Thread,
    src: &Src,
    exec: ExecType,
    n: usize,
    flush: bool,
) -> Lanes<T> {
    let bits = patterns(thread, src, n);
    let rounding = conversion_rounding(&thread.modes);
    let ty = src.ty;
    let mut lanes: Lanes<T> = match ty {
        Type::F => map(n, |c| T::load(Type::F, bits[c], rounding)),
        Type::Hf | Type::Df => map(n, |c| T::load(ty, bits[c], rounding)),
        _ if exec == ExecType::Half => map(n, |c| {
            T::load(Type::Hf, from_integer(Type::Hf, integer(ty, bits[c]), rounding).bits, rounding)
        }),
        _ => map(n, |c| T::load(ty, bits[c], rounding)),
    };
    // A half that works as a single is converted first, and conversions keep subnormals (004:1333).
    let converted = ty == Type::Hf && exec != ExecType::Half;
    if flush && !converted && thread.modes.flushes(ty) {
        lanes = match ty {
            // A subnormal half is a normal single, so `flush` of singles would keep it.
            Type::Hf => map(n, |c| {
                if bits[c] & 0x7c00 == 0 {
                    T::load(ty, bits[c] & 0x8000, rounding)
                } else {
                    lanes[c]
                }
            }),
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

/// Rounding of integers to floats, and of floats to narrower floats.
fn conversion_rounding(modes: &Modes) -> Rounding {
    if CONVERSIONS_FOLLOW_ROUNDING_MODE { modes.rounding_mode() } else { Rounding::Nearest }
}

/// Rounding of a float result of type `exec` to type `ty`.
fn result_rounding(modes: &Modes, exec: Type, ty: Type) -> Rounding {
    match (exec, ty) {
        (Type::Df, Type::F) if !DOUBLE_TO_SINGLE_FOLLOWS_ROUNDING_MODE => Rounding::Zero,
        _ => conversion_rounding(modes),
    }
}

// ---- results ----

/// Writes bit patterns of the destination type under the mask. Does nothing for accumulators: the
/// callers write them.
pub fn write(thread: &mut Thread, u: &Uop, mask: u32, values: &Lanes<u64>) {
    let size = u.dst.ty.size();
    let regs = &mut thread.regs;
    let mut put = |offset: usize, value: u64| match size {
        1 => regs.set_u8(offset, value as u8),
        2 => regs.set_u16(offset, value as u16),
        4 => regs.set_u32(offset, value as u32),
        _ => regs.set_u64(offset, value),
    };
    match &u.dst.target {
        Target::Null | Target::Accumulator(_) => {}
        Target::File { offset, stride } => {
            for c in channels(u, mask) {
                put(usize::from(*offset) + c * usize::from(*stride), values[c]);
            }
        }
        Target::Table(table) => {
            for c in channels(u, mask) {
                put(usize::from(table[c]), values[c]);
            }
        }
        Target::Indirect { address, immediate, stride } => {
            let base = i32::from(regs.u16(A0 + 2 * usize::from(*address))) + i32::from(*immediate);
            for c in channels(u, mask) {
                for byte in 0..size {
                    let at = wrap(base + c as i32 * i32::from(*stride) + byte as i32);
                    regs.set_u8(usize::from(at), (values[c] >> (8 * byte)) as u8);
                }
            }
        }
        Target::Ip => thread.jump = Some(values[0] as u32),
    }
}

/// The accumulator element of a channel, for instructions that use the accumulator without naming
/// it. Elements have the execution type. The element of channel 0 has the same offset in the
/// accumulator as the destination's first element in its register. The elements begin in `acc1` for
/// 8 singles from channel 8 or 24 on, and for 16 halves from channel 16 on (004:2634-2819). Returns
/// the byte offset and the signed or float type.
pub fn implicit_element(u: &Uop, channel: usize) -> (usize, Type) {
    let (ty, upper) = match u.exec {
        ExecType::Word => (Type::W, false),
        ExecType::Dword => (Type::D, false),
        ExecType::Qword => (Type::Q, false),
        ExecType::Half => (Type::Hf, u.size == 16 && u.first & 16 != 0),
        ExecType::Single => (Type::F, u.size == 8 && u.first & 8 != 0),
        ExecType::Double => (Type::Df, false),
    };
    let first = if upper { REGISTER } else { 0 };
    let element = usize::from(u.accumulator) + channel;
    ((first + element * ty.size()) % (2 * REGISTER), ty)
}

/// Least and greatest value of an integer type, limited to the range of `T`.
fn limits<T: Int>(ty: Type) -> (T, T) {
    let (least, most) = ty.range();
    if size_of::<T>() == 8 {
        (T::cut(least.max(i64::MIN.into())), T::cut(most.min(i64::MAX.into())))
    } else {
        (T::cut(least), T::cut(most))
    }
}

/// Clamps, converts, writes and compares integer results.
pub fn finish_ints<T: Int>(thread: &mut Thread, u: &Uop, mask: u32, results: &Lanes<T>) {
    let (n, ty) = (usize::from(u.size), u.dst.ty);
    if ty.is_float() {
        return finish_ints_as_floats(thread, u, mask, results);
    }
    let (least, most) = limits::<T>(ty);
    let clamped = if u.saturate { map(n, |c| results[c].max(least).min(most)) } else { *results };
    if let Target::Accumulator(table) = &u.dst.target {
        for c in channels(u, mask) {
            thread.acc.set_integer(usize::from(table[c]), ty.size(), clamped[c].widen());
        }
    }
    accumulate_ints(thread, u, mask, &clamped);
    let values = map(n, |c| clamped[c].widen() as u64);
    write(thread, u, mask, &values);
    let whole = matches!(u.dst.target, Target::Accumulator(_));
    update_flags(thread, u, mask, |condition, c| match condition {
        Condition::Overflow => results[c] < least || results[c] > most,
        _ if whole => compare(condition, clamped[c], T::default()),
        _ => compare(condition, integer(ty, values[c]), 0),
    });
}

fn finish_ints_as_floats<T: Int>(thread: &mut Thread, u: &Uop, mask: u32, results: &Lanes<T>) {
    let (n, ty) = (usize::from(u.size), u.dst.ty);
    let rounding = conversion_rounding(&thread.modes);
    let values = map(n, |c| {
        let value = results[c].widen();
        let value = if u.saturate { value.clamp(0, 1) } else { value };
        from_integer(ty, value, rounding).bits
    });
    if let Target::Accumulator(table) = &u.dst.target {
        for c in channels(u, mask) {
            thread.acc.set_bits(usize::from(table[c]), ty.size(), values[c]);
        }
    }
    accumulate_ints(thread, u, mask, results);
    write(thread, u, mask, &values);
    update_flags(thread, u, mask, |condition, c| match condition {
        Condition::Overflow => {
            Exact::integer(results[c].widen()).pack(format(ty), rounding).overflow
        }
        _ => compare(condition, double(ty, values[c], rounding), 0.0),
    });
}

/// Writes the accumulator if the instruction asks for it (AccWrEn), before the results are cut to
/// the type of the destination.
#[inline(always)]
fn accumulate_ints<T: Int>(thread: &mut Thread, u: &Uop, mask: u32, results: &Lanes<T>) {
    if u.acc_write && !thread.modes.accumulator_disabled {
        for c in channels(u, mask) {
            let (offset, ty) = implicit_element(u, c);
            thread.acc.set_integer(offset, ty.size(), results[c].widen());
        }
    }
}

/// What happens to float results besides conversion.
#[derive(Clone, Copy)]
pub struct Finish {
    /// True if results were computed, not copied: then every NaN gets the same pattern, and ALT
    /// mode has no infinities.
    pub computed: bool,
    /// True if subnormal results become zeros when the float mode asks for it.
    pub flush: bool,
    /// Channels whose results were too great for the execution type.
    pub overflows: u32,
    /// True if results are rounded to nearest in every rounding mode (math).
    pub nearest: bool,
}

impl Finish {
    /// How results of arithmetic are finished.
    pub const COMPUTED: Finish =
        Finish { computed: true, flush: true, overflows: 0, nearest: false };
}

/// The float type that an instruction computes in.
pub const fn float_type(exec: ExecType) -> Type {
    match exec {
        ExecType::Half => Type::Hf,
        ExecType::Double => Type::Df,
        _ => Type::F,
    }
}

/// Clamps, converts, writes and compares float results.
pub fn finish_floats<T: Operand>(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    results: &Lanes<T>,
    how: Finish,
) {
    let (n, ty, exec) = (usize::from(u.size), u.dst.ty, float_type(u.exec));
    let rounding =
        if how.nearest { Rounding::Nearest } else { result_rounding(&thread.modes, exec, ty) };
    let mut lanes = *results;
    if how.computed {
        lanes = map(n, |c| if lanes[c].nan() { T::NAN } else { lanes[c] });
        if thread.modes.alternative && exec == Type::F {
            // Infinities become the greatest finite number of the same sign (004:1554-1575).
            lanes = map(n, |c| match lanes[c] {
                lane if !lane.infinite() => lane,
                lane if lane > T::ZERO => T::GREATEST,
                _ => -T::GREATEST,
            });
        }
    }
    if how.flush && thread.modes.flushes(exec) {
        lanes = match exec {
            Type::Hf => {
                let least =
                    T::load(Type::F, u64::from(half_to_single(0x400).to_bits()), Rounding::Nearest);
                map(n, |c| match lanes[c] {
                    lane if lane.nan() || lane.magnitude() >= least => lane,
                    lane if lane.pattern() & T::FORMAT.sign() != 0 => -T::ZERO,
                    _ => T::ZERO,
                })
            }
            _ => map(n, |c| lanes[c].flush()),
        };
    }
    if u.saturate && ty.is_float() {
        lanes = map(n, |c| {
            let lane = if lanes[c] > T::ZERO { lanes[c] } else { T::ZERO };
            if lane > T::ONE { T::ONE } else { lane }
        });
    }
    let values = map(n, |c| lanes[c].store(ty, rounding));
    if let Target::Accumulator(table) = &u.dst.target {
        for c in channels(u, mask) {
            let offset = usize::from(table[c]);
            if ty.is_float() {
                thread.acc.set_bits(offset, ty.size(), values[c]);
            } else {
                thread.acc.set_integer(offset, ty.size(), integer(ty, values[c]));
            }
        }
    }
    if u.acc_write && !thread.modes.accumulator_disabled {
        for c in channels(u, mask) {
            let (offset, ty) = implicit_element(u, c);
            thread.acc.set_bits(offset, ty.size(), lanes[c].store(ty, rounding));
        }
    }
    write(thread, u, mask, &values);
    let modes = thread.modes;
    update_flags(thread, u, mask, |condition, c| match condition {
        Condition::Unordered => lanes[c].nan(),
        Condition::Overflow => how.overflows >> c & 1 == 1 || leaves(ty, lanes[c], rounding),
        _ => compare_with_zero(modes, condition, ty, values[c]),
    });
}

/// True if the result with the pattern `bits` meets `condition` in a comparison with zero.
fn compare_with_zero(modes: Modes, condition: Condition, ty: Type, bits: u64) -> bool {
    match ty {
        _ if !ty.is_float() => compare(condition, integer(ty, bits), 0),
        _ if modes.flushes(ty) && bits & format(ty).infinity() == 0 => compare(condition, 0, 0),
        _ => compare(condition, double(ty, bits, Rounding::Nearest), 0.0),
    }
}

/// Writes patterns unchanged, and updates the accumulator and the flag.
pub fn finish_copy(thread: &mut Thread, u: &Uop, mask: u32, values: &Lanes<u64>) {
    let ty = u.dst.ty;
    if let Target::Accumulator(table) = &u.dst.target {
        for c in channels(u, mask) {
            thread.acc.set_bits(usize::from(table[c]), ty.size(), values[c]);
        }
    }
    write(thread, u, mask, values);
    if u.acc_write && !thread.modes.accumulator_disabled {
        for c in channels(u, mask) {
            let (offset, element) = implicit_element(u, c);
            if ty.is_float() {
                thread.acc.set_bits(offset, element.size(), values[c]);
            } else {
                thread.acc.set_integer(offset, element.size(), integer(ty, values[c]));
            }
        }
    }
    let modes = thread.modes;
    update_flags(thread, u, mask, |condition, c| match condition {
        Condition::Overflow => false,
        Condition::Unordered => {
            ty.is_float() && values[c] & (format(ty).sign() - 1) > format(ty).infinity()
        }
        _ => compare_with_zero(modes, condition, ty, values[c]),
    });
}

/// True if a value, rounded to a float type or truncated to an integer type, is outside the range
/// of the type. False for a NaN.
pub(super) fn leaves<T: Float>(ty: Type, value: T, rounding: Rounding) -> bool {
    if ty.is_float() {
        return reformat(T::FORMAT, format(ty), value.pattern(), rounding).overflow;
    }
    let truncated = Exact::unpack(T::FORMAT, value.truncated().pattern());
    let (least, most) = ty.range();
    match truncated {
        Exact::Nan => false,
        Exact::Infinite { .. } => true,
        Exact::Finite { negative, .. } => {
            // The value is beyond the limit if the value minus the limit has the value's sign.
            let limit = if negative { least } else { most };
            let beyond = truncated.plus(Exact::integer(-limit), Rounding::Nearest);
            matches!(beyond, Exact::Finite { negative: below, significand: 1.., .. } if below == negative)
        }
    }
}

/// Sets flag bits if the instruction has a condition.
#[inline(always)]
pub fn update_flags(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    holds: impl Fn(Condition, usize) -> bool,
) {
    if let Some(condition) = u.condition {
        let found = bits(usize::from(u.size), |c| holds(condition, c));
        set_flag(thread, u, mask, found);
    }
}

/// Puts `found` into the flag for the channels of `mask`; the others keep their bits
/// (004:2877-2880).
#[inline(always)]
pub fn set_flag(thread: &mut Thread, u: &Uop, mask: u32, found: u32) {
    thread.regs.set_flags(u64::from(mask) << u.flag, u64::from(found & mask) << u.flag);
}

/// Writes the result of a comparison: the flag, and all ones or zero to the destination.
pub fn finish_compare(thread: &mut Thread, u: &Uop, mask: u32, found: u32) {
    set_flag(thread, u, mask, found);
    let values = map(usize::from(u.size), |c| if found >> c & 1 == 1 { u64::MAX } else { 0 });
    if let Target::Accumulator(table) = &u.dst.target {
        for c in channels(u, mask) {
            let (offset, size) = (usize::from(table[c]), u.dst.ty.size());
            thread.acc.set_bits(offset, size, values[c]);
        }
    }
    write(thread, u, mask, &values);
}
