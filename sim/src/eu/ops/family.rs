//! The form of a row: an operation with its general body and the bodies of its fast path.
//!
//! A row is written in a table of `family!`:
//!
//! ```text
//! /// Mean, rounded up.
//! Avg {
//!     int(i) { i.two(avg) }
//!     fast AvgSigned Int(f) f.exact_if(f.signed) => int2(|a, b| ...);
//! }
//! ```
//!
//! `Avg` is the [`Opcode`]. `int` and `float` are the general bodies for integer and for float
//! sources ([`Ints`], [`Floats`]); `whole` names a function that executes the instruction without
//! them. Each `fast` line is a body of the fast path: its name, the types that it is for
//! ([`Class`]), the rule that says which instructions it can execute ([`Facts`]), and the body on
//! 32-bit lanes with the function of [`super::super::fast::around`] that calls it. The first line
//! whose types and rule fit the instruction is taken. A [`Vector`] after the body names the same
//! body for compiled kernels. A constant before the bodies replaces the
//! constant of the same name in [`Operation`].

use crate::eu::fast::rule::{Choice, Class, Facts};
use crate::eu::fast::vector::Vector;
use crate::eu::general::{Done, Floats, Ints};
use crate::eu::operands::Operand;
use crate::eu::ops::number::{Float, Int};
#[cfg(feature = "gen45")]
use crate::eu::ops::rounding::TowardZero;
use crate::eu::ops::rounding::{Arithmetic, Nearest, NearestHalf, Rounded};
use crate::eu::soft::Format;
use crate::eu::thread::Thread;
use crate::eu::uop::{ExecType, Opcode, Uop};
use genxml_eu::ops::{OPS, Traits};

/// Executes an instruction for the channels of a mask.
pub type Body = fn(&mut Thread, &Uop, u32) -> Done;

/// An operation of the general path.
pub trait Operation {
    /// The opcode of the operation.
    const OPCODE: Opcode;
    /// True if intermediate results of integers may need more than 64 bits.
    const WIDE: bool = false;
    /// Fewest channels that an instruction of this operation can have.
    const LEAST_CHANNELS: u8 = 1;
    /// Executes the instruction, whatever its types, in place of [`int`](Self::int) and
    /// [`float`](Self::float).
    const WHOLE: Option<Body> = None;

    /// The body for integer sources.
    ///
    /// # Errors
    /// The operation does not support these operands.
    fn int<T: Int>(operands: Ints<'_, T>) -> Done {
        operands.refuse()
    }

    /// The body for float sources.
    ///
    /// # Errors
    /// The operation does not support these operands.
    fn float<T: Operand, A: Arithmetic<T>>(operands: Floats<'_, T, A>) -> Done {
        operands.refuse()
    }
}

/// The general bodies of an operation, compiled for each arithmetic.
#[derive(Clone, Copy)]
pub struct Row {
    /// The operation.
    pub opcode: Opcode,
    /// True if intermediate results of integers may need more than 64 bits.
    pub wide: bool,
    /// Fewest channels that an instruction of this operation can have.
    pub least_channels: u8,
    /// Body for integers whose intermediate results fit 64 bits.
    pub int64: Body,
    /// Body for all other integers.
    pub int128: Body,
    /// Body for singles, rounded to nearest even.
    pub single: Body,
    /// Body for halves, rounded to nearest even.
    pub half: Body,
    /// Body for doubles, rounded to nearest even.
    pub double: Body,
    /// Body for singles and halves in any rounding mode, with overflows.
    pub exact_single: Body,
    /// Body for doubles in any rounding mode, with overflows.
    pub exact_double: Body,
    /// Body for singles, rounded toward zero as on G45.
    #[cfg(feature = "gen45")]
    pub toward_zero: Body,
}

impl Row {
    /// The row of an operation.
    pub const fn of<O: Operation>() -> Row {
        let row = Row {
            opcode: O::OPCODE,
            wide: O::WIDE,
            least_channels: O::LEAST_CHANNELS,
            int64: int::<O, i64>,
            int128: int::<O, i128>,
            single: single::<O>,
            half: half::<O>,
            double: double::<O>,
            exact_single: exact::<O, f32>,
            exact_double: exact::<O, f64>,
            #[cfg(feature = "gen45")]
            toward_zero: toward_zero::<O>,
        };
        match O::WHOLE {
            None => row,
            Some(body) => Row {
                int64: body,
                int128: body,
                single: body,
                half: body,
                double: body,
                exact_single: body,
                exact_double: body,
                #[cfg(feature = "gen45")]
                toward_zero: body,
                ..row
            },
        }
    }
}

fn int<O: Operation, T: Int>(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let logic = const { OPS[O::OPCODE as usize].traits.contains(Traits::LOGIC) };
    // On G45, the negation of a source is arithmetic for all operations (003:10915).
    let logic = logic && !thread.modes.gen45();
    O::int(Ints::<T>::new(thread, u, mask, logic))
}

fn single<O: Operation>(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    O::float(Floats::<f32, _>::new(thread, u, mask, &Nearest))
}

#[cfg(feature = "gen45")]
fn toward_zero<O: Operation>(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    O::float(Floats::<f32, _>::new(thread, u, mask, &TowardZero))
}

fn half<O: Operation>(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    O::float(Floats::<f32, _>::new(thread, u, mask, &NearestHalf))
}

fn double<O: Operation>(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    O::float(Floats::<f64, _>::new(thread, u, mask, &Nearest))
}

fn exact<O: Operation, T: Operand + Float>(thread: &mut Thread, u: &Uop, mask: u32) -> Done {
    let format = match u.exec {
        ExecType::Half => Format::HALF,
        _ => T::FORMAT,
    };
    let rounded = Rounded::new(format, thread.modes.rounding_mode());
    O::float(Floats::<T, _>::new(thread, u, mask, &rounded))
}

/// The description of a body of the fast path; [`super::OPERATIONS`] has its code.
#[derive(Clone, Copy)]
pub struct Fast {
    /// The operation.
    pub opcode: Opcode,
    /// Name of the body, unique among all bodies.
    pub name: &'static str,
    /// The types that the body is for.
    pub class: Class,
    /// How the body executes an instruction of this class; `None` if it cannot.
    pub rule: fn(&Facts<'_>) -> Option<Choice>,
    /// The same body for compiled kernels; `None` if they leave it to the fast path.
    pub vector: Option<Vector>,
}

/// Expands a table of rows to `ROWS`, their general bodies; `FAST`, the bodies of the fast path;
/// and `HANDLERS`, the code of `FAST` for each number of channels.
macro_rules! family {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            $(const $constant:ident: $ty:ty = $value:expr;)*
            $(whole $whole:path;)?
            $(int($ints:ident) $int:block)?
            $(float($floats:ident) $float:block)?
            $(fast $fast:ident $class:ident($facts:ident) $rule:expr => $around:ident($body:expr)
                $(, $vector:expr)?;)*
        }
    )*) => {
        mod row {
            use super::*;
            $(
                $(#[$doc])*
                pub struct $name;

                impl Operation for $name {
                    const OPCODE: Opcode = Opcode::$name;
                    $(const $constant: $ty = $value;)*
                    $(const WHOLE: Option<Body> = Some($whole);)?
                    $(fn int<T: Int>($ints: Ints<'_, T>) -> Done $int)?
                    $(fn float<T: Operand, A: Arithmetic<T>>($floats: Floats<'_, T, A>) -> Done
                        $float)?
                }
            )*
        }

        #[allow(non_snake_case)]
        #[cfg_attr(not(feature = "fast"), allow(dead_code))]
        mod handler {
            use super::*;
            $($(
                pub fn $fast<const N: usize>(
                    s: Level,
                    t: &mut Thread,
                    u: &Uop,
                    mask: u32,
                ) -> bool {
                    s.vectorize(
                        #[inline(always)]
                        move || around::$around::<N>(s, t, u, mask, $body),
                    )
                }
            )*)*
        }

        /// The general bodies of this family.
        pub const ROWS: &[Row] = &[$(Row::of::<row::$name>()),*];

        /// The bodies of the fast path for this family.
        pub const FAST: &[Fast] = &[$($(Fast {
            opcode: Opcode::$name,
            name: stringify!($fast),
            class: Class::$class,
            rule: |$facts| $rule,
            vector: [$(Some($vector),)? None][0],
        },)*)*];

        /// The code of the bodies in `FAST`, in the same order.
        #[cfg(not(feature = "fast"))]
        pub const HANDLERS: [[Handler; SIZES]; FAST.len()] =
            [[around::aside; SIZES]; FAST.len()];

        /// The code of the bodies in `FAST`, in the same order.
        #[cfg(feature = "fast")]
        pub const HANDLERS: [[Handler; SIZES]; FAST.len()] =
            [$($([
                handler::$fast::<1>,
                handler::$fast::<2>,
                handler::$fast::<4>,
                handler::$fast::<8>,
                handler::$fast::<16>,
                handler::$fast::<32>,
            ],)*)*];
    };
}
pub(super) use family;

/// The names that a table of rows needs in scope.
pub(super) mod prelude {
    pub(in super::super) use super::family;
    pub use super::{Body, Fast, Operation, Row};
    pub use crate::eu::fast::around::{self, Handler, SIZES};
    pub use crate::eu::fast::level::Level;
    pub use crate::eu::fast::rule::Class;
    pub use crate::eu::fast::vector::Vector;
    pub use crate::eu::general::{Done, Floats, Ints};
    pub use crate::eu::operands::Operand;
    pub use crate::eu::ops::number::{Float, Int};
    pub use crate::eu::ops::rounding::Arithmetic;
    pub use crate::eu::thread::Thread;
    pub use crate::eu::uop::{Opcode, Uop};
}
