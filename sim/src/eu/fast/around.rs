//! The steps around the bodies of the fast path: convert operands to lanes, call the body, write
//! the results.
//!
//! The lines of the tables in [`super::super::ops`] call these functions, each with the body of the
//! line. A function returns false if the instruction has to take the general path; then nothing has
//! changed.

use super::lanes::{
    base, blend, coordinates, finish, finish_compare, finish_floats, floats, ints, longs, map,
    store_longs, tuple, zip,
};
use super::level::Level;
use crate::eu::ops::rounding::Arithmetic;
#[cfg(not(feature = "gen45"))]
use crate::eu::ops::rounding::Nearest;
#[cfg(feature = "gen45")]
use crate::eu::ops::rounding::TowardZero;
use crate::eu::thread::Thread;
use crate::eu::uop::Uop;

/// The code of an operation of the fast path for one number of channels.
pub type Handler = fn(Level, &mut Thread, &Uop, u32) -> bool;

/// Number of different numbers of channels: 1, 2, 4, 8, 16 and 32.
pub const SIZES: usize = 6;

/// The handler for operation numbers that are not used: the instruction takes the general path.
pub fn aside(_: Level, _: &mut Thread, _: &Uop, _: u32) -> bool {
    false
}

/// The value of an `Option`. If it is `None`, returns false: the instruction takes the general
/// path.
macro_rules! or_aside {
    ($value:expr) => {
        match $value {
            Some(value) => value,
            None => return false,
        }
    };
}

/// Executes a function of one integer.
#[inline(always)]
pub fn int1<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u32) -> u32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    finish::<N>(s, t, u, mask, to, map(ints(s, t, u, 0, a), f));
    true
}

/// Executes a function of two integers.
#[inline(always)]
pub fn int2<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u32, u32) -> u32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    finish::<N>(s, t, u, mask, to, zip(ints(s, t, u, 0, a), ints(s, t, u, 1, b), f));
    true
}

/// Executes a function of one integer of 64 bits.
#[inline(always)]
pub fn long1<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u64) -> u64,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    store_longs::<N>(s, t, u, mask, to, map(longs(s, t, u, 0, a), f));
    true
}

/// Executes a function of two integers of 64 bits.
#[inline(always)]
pub fn long2<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u64, u64) -> u64,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    store_longs::<N>(s, t, u, mask, to, zip(longs(s, t, u, 0, a), longs(s, t, u, 1, b), f));
    true
}

/// Selects one of two integers by the predicate.
#[inline(always)]
pub fn choice<const N: usize>(s: Level, t: &mut Thread, u: &Uop, mask: u32, _: ()) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    let chosen = t.predicate(u);
    finish::<N>(s, t, u, mask, to, blend(chosen, ints(s, t, u, 0, a), ints(s, t, u, 1, b)));
    true
}

/// Compares integers.
#[inline(always)]
pub fn compare<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u32, u32) -> bool,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    finish_compare::<N>(s, t, u, mask, to, zip(ints(s, t, u, 0, a), ints(s, t, u, 1, b), f));
    true
}

/// True if the thread rounds to nearest even and is not in ALT mode.
#[inline(always)]
pub fn usual(t: &Thread) -> bool {
    !t.modes.alternative && t.modes.rounding == 0
}

/// True if an operation whose results need no rounding can take the fast path. G45 always rounds
/// toward zero, so its rounding mode does not matter here.
#[inline(always)]
fn exact(t: &Thread) -> bool {
    !t.modes.alternative && (t.modes.rounding == 0 || t.modes.gen45())
}

/// True if the thread has the arithmetic of G45 and is not in ALT mode.
#[inline(always)]
fn toward_zero(t: &Thread) -> bool {
    t.modes.gen45() && !t.modes.alternative
}

/// The arithmetic of G45. Without the feature `gen45`, no thread has it.
#[cfg(not(feature = "gen45"))]
use Nearest as G45;
#[cfg(feature = "gen45")]
use TowardZero as G45;

/// Executes a function of one float.
#[inline(always)]
pub fn float1<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32) -> f32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !exact(t) {
        return false;
    }
    finish_floats::<N>(s, t, u, mask, to, map(floats(s, t, u, 0, a), f), true);
    true
}

/// Copies floats; NaNs keep their pattern.
#[inline(always)]
pub fn copy<const N: usize>(s: Level, t: &mut Thread, u: &Uop, mask: u32, _: ()) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !exact(t) {
        return false;
    }
    finish_floats::<N>(s, t, u, mask, to, floats(s, t, u, 0, a), false);
    true
}

/// Executes a function of two floats in any mode. `computed` is as in [`finish_floats`].
#[inline(always)]
fn of_two_floats<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32, f32) -> f32,
    computed: bool,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    let values = zip(floats(s, t, u, 0, a), floats(s, t, u, 1, b), f);
    finish_floats::<N>(s, t, u, mask, to, values, computed);
    true
}

/// Executes a function of two floats.
#[inline(always)]
pub fn float2<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32, f32) -> f32,
) -> bool {
    usual(t) && of_two_floats::<N>(s, t, u, mask, f, true)
}

/// Adds floats.
#[inline(always)]
pub fn sum<const N: usize>(s: Level, t: &mut Thread, u: &Uop, mask: u32, _: ()) -> bool {
    float2::<N>(s, t, u, mask, |a, b| a + b)
        || toward_zero(t) && of_two_floats::<N>(s, t, u, mask, |a, b| G45.add(a, b), true)
}

/// Multiplies floats.
#[inline(always)]
pub fn product<const N: usize>(s: Level, t: &mut Thread, u: &Uop, mask: u32, _: ()) -> bool {
    float2::<N>(s, t, u, mask, |a, b| a * b)
        || toward_zero(t) && of_two_floats::<N>(s, t, u, mask, |a, b| G45.mul(a, b), true)
}

/// Executes a function of two floats that returns one of them. NaNs keep their pattern.
#[inline(always)]
pub fn preference<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32, f32) -> f32,
) -> bool {
    exact(t) && of_two_floats::<N>(s, t, u, mask, f, false)
}

/// Computes source 0 plus the product of sources 1 and 2, rounded once.
#[inline(always)]
pub fn multiply_add<const N: usize>(s: Level, t: &mut Thread, u: &Uop, mask: u32, _: ()) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let c = or_aside!(base(&t.regs, &u.plan.src[2].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    let factors = zip(floats(s, t, u, 1, b), floats(s, t, u, 2, c), |b, c| (b, c));
    let values = zip(floats(s, t, u, 0, a), factors, |a, (b, c)| s.fused(b, c, a));
    finish_floats::<N>(s, t, u, mask, to, values, true);
    true
}

/// Computes a line, p x + r, or a plane, p x + q y + r. Source 0 names four floats: p, q, an unused
/// one, r.
#[inline(always)]
pub fn plane<const N: usize>(s: Level, t: &mut Thread, u: &Uop, mask: u32, is_line: bool) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    let older = !usual(t);
    if older && !toward_zero(t) {
        return false;
    }
    let [p, q, _, r] = tuple(t, u, a);
    let values = if is_line {
        let x = floats(s, t, u, 1, b);
        match older {
            true => map(x, |x: f32| G45.add(G45.mul(p, x), r)),
            false => map(x, |x: f32| p * x + r),
        }
    } else {
        let [x, y] = coordinates::<N>(t, u, b);
        match older {
            true => zip(x, y, |x, y| G45.add(G45.add(G45.mul(p, x), G45.mul(q, y)), r)),
            false => zip(x, y, |x, y| (p * x + q * y) + r),
        }
    };
    finish_floats::<N>(s, t, u, mask, to, values, true);
    true
}

/// Selects one of two floats by the predicate.
#[inline(always)]
pub fn choice_of_floats<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    _: (),
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !exact(t) {
        return false;
    }
    let chosen = t.predicate(u);
    finish_floats::<N>(
        s,
        t,
        u,
        mask,
        to,
        blend(chosen, floats(s, t, u, 0, a), floats(s, t, u, 1, b)),
        false,
    );
    true
}

/// Compares floats.
#[inline(always)]
pub fn compare_floats<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32, f32) -> bool,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !exact(t) {
        return false;
    }
    finish_compare::<N>(s, t, u, mask, to, zip(floats(s, t, u, 0, a), floats(s, t, u, 1, b), f));
    true
}

/// Converts floats to integers.
#[inline(always)]
pub fn to_int<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32) -> u32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !exact(t) {
        return false;
    }
    finish::<N>(s, t, u, mask, to, map(floats(s, t, u, 0, a), f));
    true
}

/// Converts integers to floats.
#[inline(always)]
pub fn to_float<const N: usize>(
    s: Level,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u32) -> f32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    finish_floats::<N>(s, t, u, mask, to, map(ints(s, t, u, 0, a), f), true);
    true
}
