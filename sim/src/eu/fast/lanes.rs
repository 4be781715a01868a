//! Operands of the fast path: from the register file to an array of 32-bit lanes and back.
//!
//! Nearly all functions of this module are inlined into code that [`Level::vectorize`] compiles.
//! The code for less frequent forms is not inlined: it is compiled once for each number of lanes.

use super::level::Level;
use super::plan::{Clamp, DIRECT, Form, Operand, Place};
use crate::assumptions::ARITHMETIC_NAN;
use crate::eu::operands::set_flag;
use crate::eu::regions::{A0, GRF_BYTES, REGISTER, Registers, wrap};
use crate::eu::thread::Thread;
use crate::eu::uop::{Condition, Shape, Target, Type, Uop};

/// Applies `f` to each lane.
#[inline(always)]
pub fn map<A: Copy, R: Copy + Default, const N: usize>(a: [A; N], f: impl Fn(A) -> R) -> [R; N] {
    let mut lanes = [R::default(); N];
    for (lane, &a) in lanes.iter_mut().zip(&a) {
        *lane = f(a);
    }
    lanes
}

/// Applies `f` to lane n of `a` and lane n of `b`, for every n.
#[inline(always)]
pub fn zip<A: Copy, B: Copy, R: Copy + Default, const N: usize>(
    a: [A; N],
    b: [B; N],
    f: impl Fn(A, B) -> R,
) -> [R; N] {
    let mut lanes = [R::default(); N];
    for (lane, (&a, &b)) in lanes.iter_mut().zip(a.iter().zip(&b)) {
        *lane = f(a, b);
    }
    lanes
}

/// The lanes of `a` where `mask` is set, else those of `b`.
#[inline(always)]
pub fn blend<T: Copy + Default, const N: usize>(mask: u32, a: [T; N], b: [T; N]) -> [T; N] {
    let mut lanes = [T::default(); N];
    for (n, (lane, (&a, &b))) in lanes.iter_mut().zip(a.iter().zip(&b)).enumerate() {
        *lane = if mask & 1 << n != 0 { a } else { b };
    }
    lanes
}

/// The rows as columns: element n of row m becomes element m of row n.
#[inline(always)]
pub fn turned<T: Copy + Default, const C: usize, const R: usize>(
    rows: &[[T; C]; R],
) -> [[T; R]; C] {
    let mut columns = [[T::default(); R]; C];
    for (n, row) in rows.iter().enumerate() {
        for (column, value) in columns.iter_mut().zip(row) {
            column[n] = *value;
        }
    }
    columns
}

/// A mask: bit n is set if lane n is true.
#[inline(always)]
fn bits<const N: usize>(found: [bool; N]) -> u32 {
    found.iter().enumerate().fold(0, |bits, (n, &found)| bits | u32::from(found) << n)
}

/// True if all lanes are enabled.
#[inline(always)]
fn full<const N: usize>(mask: u32) -> bool {
    let all = u32::MAX >> (32 - N);
    mask & all == all
}

/// Offset of an operand's first byte in the register file. `None` if the operand is addressed
/// through `a0` and is not completely in the general registers: operands that wrap take the general
/// path.
#[inline(always)]
pub fn base(regs: &Registers, place: &Place) -> Option<usize> {
    if place.address == DIRECT {
        Some(usize::from(place.offset as u16))
    } else {
        indirect(regs, place)
    }
}

#[inline(never)]
fn indirect(regs: &Registers, place: &Place) -> Option<usize> {
    let address = i32::from(regs.u16(A0 + 2 * usize::from(place.address & 15)));
    let base = usize::from(wrap(address + i32::from(place.offset)));
    (base + usize::from(place.extent) <= GRF_BYTES).then_some(base)
}

// ---- from registers ----

/// Source `n`, extended to 32 bits.
#[inline(always)]
pub fn load<const N: usize>(level: Level, t: &Thread, u: &Uop, n: usize, base: usize) -> [u32; N] {
    match u.plan.src[n].place.form {
        Form::Dwords => t.regs.row(base),
        Form::Dword => [t.regs.u32(base); N],
        form => level.vectorize(
            #[inline(always)]
            move || narrow(&t.regs, form, base, u, n),
        ),
    }
}

/// A source of bytes or words, or of dwords that are not adjacent.
#[inline(always)]
fn narrow<const N: usize>(
    regs: &Registers,
    form: Form,
    base: usize,
    u: &Uop,
    n: usize,
) -> [u32; N] {
    // Elements with gaps are the low parts of wider adjacent elements.
    macro_rules! row {
        ($wide:ty as $ty:ty) => {
            map(regs.row::<$wide, N>(base), |wide| wide as $ty as u32)
        };
    }
    macro_rules! at {
        ($raw:ident as $ty:ty) => {
            gather(
                regs,
                u,
                n,
                size_of::<$ty>(),
                |at| regs.$raw(at) as $ty as u32,
                |bits| bits as $ty as u32,
            )
        };
    }
    match form {
        Form::Dword => [regs.u32(base); N],
        Form::Word => [u32::from(regs.u16(base)); N],
        Form::SignedWord => [regs.u16(base) as i16 as u32; N],
        Form::Byte => [u32::from(regs.u8(base)); N],
        Form::SignedByte => [regs.u8(base) as i8 as u32; N],
        Form::Dwords => regs.row(base),
        Form::Words => row!(u16 as u16),
        Form::SignedWords => row!(u16 as i16),
        Form::Bytes => row!(u8 as u8),
        Form::SignedBytes => row!(u8 as i8),
        Form::DwordsBy2 => row!(u64 as u32),
        Form::WordsBy2 => row!(u32 as u16),
        Form::SignedWordsBy2 => row!(u32 as i16),
        Form::BytesBy2 => row!(u16 as u8),
        Form::SignedBytesBy2 => row!(u16 as i8),
        Form::DwordsBy4 => row!(u128 as u32),
        Form::WordsBy4 => row!(u64 as u16),
        Form::SignedWordsBy4 => row!(u64 as i16),
        Form::BytesBy4 => row!(u32 as u8),
        Form::SignedBytesBy4 => row!(u32 as i8),
        Form::DwordsAt => at!(u32 as u32),
        Form::WordsAt => at!(u16 as u16),
        Form::SignedWordsAt => at!(u16 as i16),
        Form::BytesAt => at!(u8 as u8),
        Form::SignedBytesAt => at!(u8 as i8),
        Form::Qword | Form::Qwords | Form::Nothing | Form::Other => [0; N],
    }
}

/// Reads elements at any offsets, or the elements of a packed vector.
#[inline(always)]
fn gather<const N: usize>(
    regs: &Registers,
    u: &Uop,
    n: usize,
    size: usize,
    read: impl Fn(usize) -> u32,
    extend: impl Fn(u64) -> u32,
) -> [u32; N] {
    let mut lanes = [0; N];
    let source = u.src.get(usize::from(u.plan.src[n].source));
    match source.map(|source| &source.shape) {
        Some(Shape::Table(table)) => {
            for (lane, &at) in lanes.iter_mut().zip(table.iter()) {
                *lane = read(usize::from(at));
            }
        }
        Some(Shape::Vector(values)) => {
            for (lane, &bits) in lanes.iter_mut().zip(values.iter().cycle()) {
                *lane = extend(bits);
            }
        }
        Some(Shape::Indirect(region)) => {
            let share = region.share.trailing_zeros();
            for (n, (lane, &offset)) in lanes.iter_mut().zip(&region.lanes).enumerate() {
                let address = A0 + 2 * ((usize::from(region.address) + (n >> share)) & 15);
                let base = i32::from(regs.u16(address)) + i32::from(region.immediate);
                let at = usize::from(wrap(base + i32::from(offset)));
                *lane = if at + size <= GRF_BYTES { read(at) } else { extend(across(regs, at)) };
            }
        }
        _ => {}
    }
    lanes
}

/// Reads an element that wraps from the end of the general registers to their first byte.
#[cold]
fn across(regs: &Registers, at: usize) -> u64 {
    let bytes = std::array::from_fn(|n| regs.u8(usize::from(wrap((at + n) as i32))));
    u64::from_le_bytes(bytes)
}

/// Source `n` as integers, with its modifiers applied.
#[inline(always)]
pub fn ints<const N: usize>(level: Level, t: &Thread, u: &Uop, n: usize, base: usize) -> [u32; N] {
    let (flip, carry) = (u.plan.src[n].flip, u.plan.src[n].second);
    map(load(level, t, u, n, base), |bits| (bits ^ flip).wrapping_add(carry))
}

/// Source `n` as integers of 64 bits, with its modifiers applied.
#[inline(always)]
pub fn longs<const N: usize>(level: Level, t: &Thread, u: &Uop, n: usize, base: usize) -> [u64; N] {
    let Operand { place, source, flip, second } = u.plan.src[n];
    let flip = flip as i32 as u64;
    let bits = match place.form {
        Form::Qwords => t.regs.row(base),
        Form::Qword => [t.regs.u64(base); N],
        _ => {
            let narrow = load(level, t, u, n, base);
            match u.src.get(usize::from(source)).map(|source| source.ty) {
                Some(Type::D | Type::W | Type::B) => map(narrow, |bits| bits as i32 as u64),
                _ => map(narrow, u64::from),
            }
        }
    };
    map(bits, |bits| (bits ^ flip).wrapping_add(second.into()))
}

/// Stores the lanes of `mask`, or their low bits if the destination has less than 64 bits.
#[inline(always)]
pub fn store_longs<const N: usize>(
    level: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    base: usize,
    values: [u64; N],
) {
    match u.plan.dst.form {
        Form::Qwords if full::<N>(mask) => t.regs.set_row(base, values),
        Form::Qwords => {
            let old = t.regs.row(base);
            t.regs.set_row(base, blend(mask, values, old));
        }
        _ => store(level, t, u, mask, base, map(values, |value| value as u32)),
    }
}

/// Bits of the exponent of a single float.
const EXPONENT: u32 = 0x7f80_0000;

/// Mask of the bits that a subnormal number keeps: all bits, or the sign if it is flushed.
#[inline(always)]
pub fn subnormal(t: &Thread) -> u32 {
    if t.modes.keep_single { u32::MAX } else { 1 << 31 }
}

/// Flushes a float: a subnormal number keeps only the bits in `subnormal`.
#[inline(always)]
pub fn flushed(bits: u32, subnormal: u32) -> u32 {
    bits & if bits & EXPONENT == 0 { subnormal } else { u32::MAX }
}

/// Source `n` as single floats, flushed, then with its modifiers applied.
#[inline(always)]
pub fn floats<const N: usize>(
    level: Level,
    t: &Thread,
    u: &Uop,
    n: usize,
    base: usize,
) -> [f32; N] {
    let (flip, keep) = (u.plan.src[n].flip, u.plan.src[n].second);
    let subnormal = subnormal(t);
    map(load(level, t, u, n, base), |bits| f32::from_bits(flushed(bits, subnormal) & keep ^ flip))
}

/// The four coefficients of a line or plane.
#[inline(always)]
pub fn tuple(t: &Thread, u: &Uop, base: usize) -> [f32; 4] {
    let (flip, keep) = (u.plan.src[0].flip, u.plan.src[0].second);
    let subnormal = subnormal(t);
    map(t.regs.row(base & !15), |bits| f32::from_bits(flushed(bits, subnormal) & keep ^ flip))
}

/// The coordinates of a plane: eight channels of x, then eight of y, for each eight channels
/// (003:12669).
#[inline(always)]
pub fn coordinates<const N: usize>(t: &Thread, u: &Uop, base: usize) -> [[f32; N]; 2] {
    let (flip, keep) = (u.plan.src[1].flip, u.plan.src[1].second);
    let subnormal = subnormal(t);
    [0, REGISTER].map(|first| {
        let mut lanes = [0; N];
        for (half, lanes) in lanes.chunks_mut(8).enumerate() {
            let row: [u32; 8] = t.regs.row(base + first + half * 2 * REGISTER);
            lanes.copy_from_slice(&row[..lanes.len()]);
        }
        map(lanes, |bits| f32::from_bits(flushed(bits, subnormal) & keep ^ flip))
    })
}

// ---- to registers ----

/// Stores the low bits of the lanes of `mask`.
#[inline(always)]
pub fn store<const N: usize>(
    level: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    base: usize,
    values: [u32; N],
) {
    match u.plan.dst.form {
        Form::Dwords if full::<N>(mask) => t.regs.set_row(base, values),
        Form::Nothing => {}
        form => level.vectorize(
            #[inline(always)]
            move || scatter(&mut t.regs, form, &u.dst.target, u.dst.ty.size(), mask, base, values),
        ),
    }
}

#[inline(always)]
fn scatter<const N: usize>(
    regs: &mut Registers,
    form: Form,
    target: &Target,
    size: usize,
    mask: u32,
    base: usize,
    values: [u32; N],
) {
    // Bytes between elements are written back unchanged.
    macro_rules! row {
        ($wide:ty, $kept:expr) => {{
            let old = regs.row::<$wide, N>(base);
            let new = zip(old, values, |old, value| old & $kept | value as $wide & !$kept);
            regs.set_row(base, blend(mask, new, old));
        }};
    }
    match form {
        Form::Dwords if full::<N>(mask) => regs.set_row(base, values),
        Form::Words | Form::SignedWords if full::<N>(mask) => {
            regs.set_row(base, map(values, |value| value as u16));
        }
        Form::Bytes | Form::SignedBytes if full::<N>(mask) => {
            regs.set_row(base, map(values, |value| value as u8));
        }
        Form::Dwords => row!(u32, 0),
        Form::Words | Form::SignedWords => row!(u16, 0),
        Form::Bytes | Form::SignedBytes => row!(u8, 0),
        Form::DwordsBy2 => row!(u64, 0xffff_ffff_0000_0000),
        Form::WordsBy2 | Form::SignedWordsBy2 => row!(u32, 0xffff_0000),
        Form::BytesBy2 | Form::SignedBytesBy2 => row!(u16, 0xff00),
        Form::WordsBy4 | Form::SignedWordsBy4 => row!(u64, 0xffff_ffff_ffff_0000),
        Form::BytesBy4 | Form::SignedBytesBy4 => row!(u32, 0xffff_ff00),
        _ => {
            let (Target::File { stride, .. } | Target::Indirect { stride, .. }) = target else {
                return;
            };
            for (n, &value) in values.iter().enumerate().filter(|(n, _)| mask >> n & 1 == 1) {
                let at = base + n * usize::from(*stride);
                match size {
                    1 => regs.set_u8(at, value as u8),
                    2 => regs.set_u16(at, value as u16),
                    _ => regs.set_u32(at, value),
                }
            }
        }
    }
}

/// Stores integer results. If the instruction asks for it, clamps them before, and sets the flag
/// after.
#[inline(always)]
pub fn finish<const N: usize>(
    level: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    base: usize,
    values: [u32; N],
) {
    if !u.plan.more {
        store(level, t, u, mask, base, values);
        return;
    }
    level.vectorize(
        #[inline(always)]
        move || {
            let (least, most) = u.dst.ty.range();
            let values = match u.plan.clamp {
                Clamp::None => values,
                Clamp::Signed => {
                    let (least, most) = (least as i32, most.min(i32::MAX.into()) as i32);
                    map(values, |value| (value as i32).clamp(least, most) as u32)
                }
                Clamp::Unsigned => {
                    let most = most as u32;
                    map(values, |value| value.min(most))
                }
            };
            store(level, t, u, mask, base, values);
            if let Some(condition) = u.condition {
                set_flag(t, u, mask, compared(u, condition, values));
            }
        },
    );
}

/// The channels whose result, as the destination holds it, meets `condition` in a comparison with
/// zero.
#[inline(always)]
fn compared<const N: usize>(u: &Uop, condition: Condition, values: [u32; N]) -> u32 {
    let shift = 32 - 8 * u.plan.seen.size() as u32;
    let signed = matches!(u.plan.seen, Type::D | Type::W | Type::B);
    let values = map(values, |value| value << shift);
    let zero = bits(map(values, |value| value == 0));
    let negative = if signed { bits(map(values, |value| (value as i32) < 0)) } else { 0 };
    by_sign(condition, zero, negative, 0)
}

/// The channels whose result meets `condition`. `zero`, `negative` and `nan` are masks of the
/// channels whose result is zero, negative or a NaN.
#[inline(always)]
fn by_sign(condition: Condition, zero: u32, negative: u32, nan: u32) -> u32 {
    match condition {
        Condition::Equal => zero,
        Condition::NotEqual => !zero,
        Condition::Greater => !(zero | negative | nan),
        Condition::GreaterEqual => !(negative | nan) | zero,
        Condition::Less => negative & !(zero | nan),
        Condition::LessEqual => negative & !nan | zero,
        Condition::Overflow | Condition::Unordered | Condition::Round => 0,
    }
}

/// Stores float results. If the instruction asks for it, saturates them before, and sets the flag
/// after. Subnormal results are flushed unless the mode keeps them. If the results are `computed`,
/// every NaN gets the same pattern.
#[inline(always)]
pub fn finish_floats<const N: usize>(
    level: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    base: usize,
    values: [f32; N],
    computed: bool,
) {
    let subnormal = subnormal(t);
    if !u.plan.more {
        store(level, t, u, mask, base, map(values, |value| pattern(value, subnormal, computed)));
        return;
    }
    level.vectorize(
        #[inline(always)]
        move || {
            let values = if u.saturate {
                map(values, |value| {
                    let value = if value > 0.0 { value } else { 0.0 };
                    if value > 1.0 { 1.0 } else { value }
                })
            } else {
                values
            };
            let values = map(values, |value| pattern(value, subnormal, computed));
            store(level, t, u, mask, base, values);
            if let Some(condition) = u.condition {
                let zero = bits(map(values, |value| value << 1 == 0));
                let negative = bits(map(values, |value| (value as i32) < 0));
                let nan = bits(map(values, |value| value << 1 > EXPONENT << 1));
                set_flag(t, u, mask, by_sign(condition, zero, negative, nan));
            }
        },
    );
}

/// The bits that are stored for a float result.
#[inline(always)]
fn pattern(value: f32, subnormal: u32, computed: bool) -> u32 {
    let bits = if computed && value.is_nan() { ARITHMETIC_NAN } else { value.to_bits() };
    flushed(bits, subnormal)
}

/// Writes the results of a comparison to the flag and to the destination.
#[inline(always)]
pub fn finish_compare<const N: usize>(
    level: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    base: usize,
    found: [bool; N],
) {
    let found = map(found, |found| found != u.plan.opposite);
    set_flag(t, u, mask, bits(found));
    if u.plan.dst.form != Form::Nothing {
        store(level, t, u, mask, base, map(found, |found| if found { u32::MAX } else { 0 }));
    }
}
