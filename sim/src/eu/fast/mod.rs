//! Short cuts for the instructions that make up most of all kernels: integers of up to 32 bits and
//! single floats, from any region, without accumulators.
//!
//! An instruction that can take one has it in its [`Plan`]: the operation, and how its operands
//! lie. Every operation is a function of its own for each number of channels, on arrays of lanes
//! that the compiler makes vector instructions of. Reading order: [`plan`] decides, [`lanes`]
//! brings operands to lanes and results back, [`level`] is what the processor offers, and the table
//! at the end of this file has the operations.

pub mod lanes;
pub mod level;
pub mod plan;

pub use level::Level;
pub use plan::Plan;

use super::math;
use super::ops;
use super::thread::Thread;
use super::uop::{Math, Uop};
use lanes::{
    base, blend, coordinates, finish, finish_compare, finish_floats, floats, ints, map, tuple, zip,
};

/// Executes an instruction for the channels of `mask`. False if it has to take the general path: it
/// has no short cut, or the modes of the thread or an address rule it out; then nothing has
/// happened yet.
#[inline(always)]
pub fn run<S: Compiled>(level: S, t: &mut Thread, u: &Uop, mask: u32) -> bool {
    let sizes = &S::table()[u.plan.operation as usize];
    sizes[usize::from(u.plan.size & 7).min(SIZES - 1)](level, t, u, mask)
}

/// One operation for one number of channels.
pub type Handler<S> = fn(S, &mut Thread, &Uop, u32) -> bool;

/// Numbers of channels: 1 to 32.
const SIZES: usize = 6;

/// All operations by the logarithm of the number of channels.
pub type Operations<S> = [[Handler<S>; SIZES]; Operation::ALL.len() + 1];

/// A level that the operations are compiled for.
pub trait Compiled: Level {
    /// They. Not generic, so that they are compiled with the model and not with each of its users.
    fn table() -> &'static Operations<Self>;
}

impl Compiled for level::Baseline {
    fn table() -> &'static Operations<Self> {
        const { &operations::<Self>() }
    }
}

#[cfg(target_arch = "x86_64")]
impl Compiled for level::V3 {
    fn table() -> &'static Operations<Self> {
        const { &operations::<Self>() }
    }
}

// ---- around the operations ----

/// Gives up a short cut unless the value is there.
macro_rules! or_aside {
    ($value:expr) => {
        match $value {
            Some(value) => value,
            None => return false,
        }
    };
}

#[inline(always)]
fn int1<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u32) -> u32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    finish::<S, N>(s, t, u, mask, to, map(ints(s, t, u, 0, a), f));
    true
}

#[inline(always)]
fn int2<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u32, u32) -> u32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    finish::<S, N>(s, t, u, mask, to, zip(ints(s, t, u, 0, a), ints(s, t, u, 1, b), f));
    true
}

/// One of two, as the predicate says.
#[inline(always)]
fn choice<S: Level, const N: usize>(s: S, t: &mut Thread, u: &Uop, mask: u32, _: ()) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    let chosen = t.predicate(u);
    finish::<S, N>(s, t, u, mask, to, blend(chosen, ints(s, t, u, 0, a), ints(s, t, u, 1, b)));
    true
}

#[inline(always)]
fn compare<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(u32, u32) -> bool,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    finish_compare::<S, N>(s, t, u, mask, to, zip(ints(s, t, u, 0, a), ints(s, t, u, 1, b), f));
    true
}

/// True unless the modes ask for other arithmetic than rounding to nearest even.
#[inline(always)]
fn usual(t: &Thread) -> bool {
    !t.modes.alternative && t.modes.rounding == 0
}

#[inline(always)]
fn float1<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32) -> f32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    finish_floats::<S, N>(s, t, u, mask, to, map(floats(s, t, u, 0, a), f), true);
    true
}

/// A copy, which keeps what is not a number as it is.
#[inline(always)]
fn copy<S: Level, const N: usize>(s: S, t: &mut Thread, u: &Uop, mask: u32, _: ()) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    finish_floats::<S, N>(s, t, u, mask, to, floats(s, t, u, 0, a), false);
    true
}

#[inline(always)]
fn float2<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32, f32) -> f32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    finish_floats::<S, N>(
        s,
        t,
        u,
        mask,
        to,
        zip(floats(s, t, u, 0, a), floats(s, t, u, 1, b), f),
        true,
    );
    true
}

/// One of two floats, as it is.
#[inline(always)]
fn preference<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32, f32) -> f32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    finish_floats::<S, N>(
        s,
        t,
        u,
        mask,
        to,
        zip(floats(s, t, u, 0, a), floats(s, t, u, 1, b), f),
        false,
    );
    true
}

/// Source 0 plus the product of the others.
#[inline(always)]
fn multiply_add<S: Level, const N: usize>(s: S, t: &mut Thread, u: &Uop, mask: u32, _: ()) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let c = or_aside!(base(&t.regs, &u.plan.src[2].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    let factors = zip(floats(s, t, u, 1, b), floats(s, t, u, 2, c), |b, c| (b, c));
    let values = zip(floats(s, t, u, 0, a), factors, |a, (b, c)| S::fused(b, c, a));
    finish_floats::<S, N>(s, t, u, mask, to, values, true);
    true
}

/// A line or plane: p x + r or p x + q y + r, with a tuple p, q, -, r.
#[inline(always)]
fn plane<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    is_line: bool,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    let [p, q, _, r] = tuple(t, u, a);
    let values = if is_line {
        map(floats(s, t, u, 1, b), |x: f32| p * x + r)
    } else {
        let [x, y] = coordinates::<N>(t, u, b);
        zip(x, y, |x, y| (p * x + q * y) + r)
    };
    finish_floats::<S, N>(s, t, u, mask, to, values, true);
    true
}

#[inline(always)]
fn choice_of_floats<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    _: (),
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    let chosen = t.predicate(u);
    finish_floats::<S, N>(
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

#[inline(always)]
fn compare_floats<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32, f32) -> bool,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let b = or_aside!(base(&t.regs, &u.plan.src[1].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    finish_compare::<S, N>(s, t, u, mask, to, zip(floats(s, t, u, 0, a), floats(s, t, u, 1, b), f));
    true
}

#[inline(always)]
fn to_int<S: Level, const N: usize>(
    s: S,
    t: &mut Thread,
    u: &Uop,
    mask: u32,
    f: impl Fn(f32) -> u32,
) -> bool {
    let a = or_aside!(base(&t.regs, &u.plan.src[0].place));
    let to = or_aside!(base(&t.regs, &u.plan.dst));
    if !usual(t) {
        return false;
    }
    finish::<S, N>(s, t, u, mask, to, map(floats(s, t, u, 0, a), f));
    true
}

#[inline(always)]
fn to_float<S: Level, const N: usize>(
    s: S,
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
    finish_floats::<S, N>(s, t, u, mask, to, map(ints(s, t, u, 0, a), f), true);
    true
}

// ---- the operations ----

fn aside<S: Level>(_: S, _: &mut Thread, _: &Uop, _: u32) -> bool {
    false
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $around:ident($body:expr);)*) => {
        /// An operation on lanes.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Operation {
            /// None: the general path.
            None,
            $($(#[$doc])* $name,)*
        }

        impl Operation {
            /// All but [`Operation::None`].
            pub const ALL: &'static [Operation] = &[$(Operation::$name),*];
        }

        #[allow(non_snake_case)]
        mod handlers {
            use super::*;
            $(pub fn $name<S: Level, const N: usize>(s: S, t: &mut Thread, u: &Uop, mask: u32) -> bool {
                s.vectorize(#[inline(always)] move || $around::<S, N>(s, t, u, mask, $body))
            })*
        }

        const fn operations<S: Level>() -> Operations<S> {
            [
                [aside; SIZES],
                $([
                    handlers::$name::<S, 1>,
                    handlers::$name::<S, 2>,
                    handlers::$name::<S, 4>,
                    handlers::$name::<S, 8>,
                    handlers::$name::<S, 16>,
                    handlers::$name::<S, 32>,
                ],)*
            ]
        }
    };
}

operations! {
    /// A copy.
    Mov = int1(|a| a);
    /// Complement.
    Not = int1(|a| !a);
    /// Conjunction.
    And = int2(|a, b| a & b);
    /// Disjunction.
    Or = int2(|a, b| a | b);
    /// Exclusive disjunction.
    Xor = int2(|a, b| a ^ b);
    /// Sum.
    Add = int2(u32::wrapping_add);
    /// Low bits of the product.
    Mul = int2(u32::wrapping_mul);
    /// Left shift.
    Shl = int2(|a, b| a << (b & 31));
    /// Logical right shift.
    Shr = int2(|a, b| a >> (b & 31));
    /// Logical right shift of 16 bits.
    ShrWord = int2(|a, b| (a & 0xffff) >> (b & 31));
    /// Arithmetic right shift.
    Asr = int2(|a, b| ((a as i32) >> (b & 31)) as u32);
    /// Mean of signed numbers, rounded up.
    AvgSigned = int2(|a, b| (a | b).wrapping_sub(((a ^ b) as i32 >> 1) as u32));
    /// Mean of unsigned numbers, rounded up.
    AvgUnsigned = int2(|a, b| (a | b).wrapping_sub((a ^ b) >> 1));
    /// Lesser of two signed numbers.
    MinSigned = int2(|a, b| (a as i32).min(b as i32) as u32);
    /// Lesser of two unsigned numbers.
    MinUnsigned = int2(u32::min);
    /// Greater of two signed numbers.
    MaxSigned = int2(|a, b| (a as i32).max(b as i32) as u32);
    /// Greater of two unsigned numbers.
    MaxUnsigned = int2(u32::max);
    /// One of two integers.
    Sel = choice(());
    /// Equality of integers.
    Equal = compare(|a, b| a == b);
    /// Order of signed numbers.
    LessSigned = compare(|a, b| (a as i32) < b as i32);
    /// Order of unsigned numbers.
    LessUnsigned = compare(|a, b| a < b);
    /// A copy of a float with modifiers or saturation.
    MovFloat = copy(());
    /// Fraction.
    Frc = float1(ops::frc);
    /// Toward minus infinity.
    Rndd = float1(f32::floor);
    /// Toward plus infinity.
    Rndu = float1(f32::ceil);
    /// To the nearest, ties to even.
    Rnde = float1(f32::round_ties_even);
    /// Toward zero.
    Rndz = float1(f32::trunc);
    /// Sum of floats.
    AddFloat = float2(|a, b| a + b);
    /// Product of floats.
    MulFloat = float2(|a, b| a * b);
    /// Sum with a product, rounded once.
    MadFloat = multiply_add(());
    /// A line.
    LineFloat = plane(true);
    /// A plane.
    PlaneFloat = plane(false);
    /// Reciprocal.
    Inv = float1(|a| math::float(Math::Inv, a, 0.0, false));
    /// Quotient of floats.
    Fdiv = float2(|a, b| math::float(Math::Fdiv, a, b, false));
    /// Square root.
    Sqrt = float1(|a| math::float(Math::Sqrt, a, 0.0, false));
    /// Reciprocal of the square root.
    Rsq = float1(|a| math::float(Math::Rsq, a, 0.0, false));
    /// Logarithm to base 2.
    Log = float1(|a| math::float(Math::Log, a, 0.0, false));
    /// Power of 2.
    Exp = float1(|a| math::float(Math::Exp, a, 0.0, false));
    /// Sine.
    Sin = float1(|a| math::float(Math::Sin, a, 0.0, false));
    /// Cosine.
    Cos = float1(|a| math::float(Math::Cos, a, 0.0, false));
    /// Power.
    Pow = float2(|a, b| math::float(Math::Pow, a, b, false));
    /// Lesser of two floats.
    MinFloat = preference(ops::min);
    /// Greater of two floats.
    MaxFloat = preference(ops::max);
    /// One of two floats.
    SelFloat = choice_of_floats(());
    /// Equality of floats.
    EqualFloat = compare_floats(|a, b| a == b);
    /// Order of floats.
    LessFloat = compare_floats(|a, b| a < b);
    /// Order or equality of floats.
    AtMostFloat = compare_floats(|a, b| a <= b);
    /// To a signed integer.
    FloatToSigned = to_int(|a| a as i32 as u32);
    /// To an unsigned integer.
    FloatToUnsigned = to_int(|a| a as u32);
    /// From a signed integer.
    SignedToFloat = to_float(|a| a as i32 as f32);
    /// From an unsigned integer.
    UnsignedToFloat = to_float(|a| a as f32);
}
