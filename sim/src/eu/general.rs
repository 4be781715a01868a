//! The interface of the general bodies: the operands of one instruction, as lanes.
//!
//! [`Ints`] and [`Floats`] fetch the sources, call a function for each channel, and finish the
//! results. [`super::operands`] has the steps of both.

use super::convert::format;
use super::operands::{
    Finish, Lanes, Operand, bits, finish_compare, finish_floats, finish_ints, floats,
    implicit_element, ints, map,
};
use super::ops::number::Int;
use super::ops::rounding::Arithmetic;
use super::soft::Rounding;
use super::thread::Thread;
use super::uop::{Condition, Op, Uop};
use crate::assumptions::SELECTION_FLUSHES_SUBNORMALS;
use crate::machine::fault::Refusal;

/// The result of executing an instruction on the general path.
pub type Done = Result<(), Refusal>;

/// The error for an instruction that the manual does not allow. In the message, `how` follows the
/// name of the instruction.
#[cold]
pub fn illegal(u: &Uop, how: &str) -> Refusal {
    let name = match (u.op, u.function) {
        (Op::Isa(opcode), Some(function)) => format!("{opcode}.{}", function.name()),
        (Op::Isa(opcode), None) => opcode.to_string(),
        (op, _) => format!("{op:?}"),
    };
    Refusal::illegal(format!("{name} {how}"))
}

/// Executes a comparison; `holds` is the result of a condition for a channel.
#[inline(always)]
fn compare(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    holds: impl Fn(Condition, usize) -> bool,
) -> Done {
    let size = usize::from(u.size);
    let found = u.condition.map_or(0, |condition| bits(size, |c| holds(condition, c)));
    finish_compare(thread, u, mask, found);
    Ok(())
}

/// An instruction with integer sources.
pub struct Ints<'a, T> {
    /// The thread that executes the instruction.
    pub thread: &'a mut Thread,
    /// The instruction.
    pub u: &'a Uop,
    /// The channels that are written.
    pub mask: u32,
    /// True if the negation of a source is the complement of its bits.
    pub logic: bool,
    lanes: std::marker::PhantomData<T>,
}

impl<'a, T: Int> Ints<'a, T> {
    /// The operands of `u`.
    #[inline(always)]
    pub fn new(thread: &'a mut Thread, u: &'a Uop, mask: u32, logic: bool) -> Self {
        Ints { thread, u, mask, logic, lanes: std::marker::PhantomData }
    }

    /// Number of channels of the instruction.
    #[inline(always)]
    pub fn size(&self) -> usize {
        usize::from(self.u.size)
    }

    /// Loads source `index`.
    #[inline(always)]
    pub fn load(&self, index: usize) -> Lanes<T> {
        ints::<T>(self.thread, &self.u.src[index], self.size(), self.logic)
    }

    /// The accumulator, as a source that the instruction does not name.
    pub fn accumulator(&self) -> Lanes<T> {
        map(self.size(), |c| {
            let (offset, ty) = implicit_element(self.u, c);
            T::cut(self.thread.acc.integer(offset, ty))
        })
    }

    /// Clamps, writes and compares the results.
    #[inline(always)]
    pub fn finish(self, results: &Lanes<T>) -> Done {
        finish_ints(self.thread, self.u, self.mask, results);
        Ok(())
    }

    /// Executes a function of one source.
    #[inline(always)]
    pub fn one(self, f: impl Fn(T) -> T) -> Done {
        let a = self.load(0);
        let results = map(self.size(), |c| f(a[c]));
        self.finish(&results)
    }

    /// Executes a function of two sources.
    #[inline(always)]
    pub fn two(self, f: impl Fn(T, T) -> T) -> Done {
        let (a, b) = (self.load(0), self.load(1));
        let results = map(self.size(), |c| f(a[c], b[c]));
        self.finish(&results)
    }

    /// Executes a function of three sources.
    #[inline(always)]
    pub fn three(self, f: impl Fn(T, T, T) -> T) -> Done {
        let (a, b, c2) = (self.load(0), self.load(1), self.load(2));
        let results = map(self.size(), |c| f(a[c], b[c], c2[c]));
        self.finish(&results)
    }

    /// Selects source 0 where the predicate holds, else source 1.
    pub fn choose(self) -> Done {
        let (a, b, chosen) = (self.load(0), self.load(1), self.thread.predicate(self.u));
        let results = map(self.size(), |c| if chosen >> c & 1 == 1 { a[c] } else { b[c] });
        self.finish(&results)
    }

    /// Where the condition of the instruction holds, sets the flag and writes all ones to the
    /// destination; elsewhere clears the flag and writes zeros.
    pub fn compare(self, holds: impl Fn(Condition, T, T) -> bool) -> Done {
        let (a, b) = (self.load(0), self.load(1));
        compare(self.thread, self.u, self.mask, |condition, c| holds(condition, a[c], b[c]))
    }

    /// The error for an operation that has no integer form.
    #[cold]
    pub fn refuse(self) -> Done {
        Err(illegal(self.u, "of integers"))
    }
}

/// An instruction with float sources, computed with the arithmetic `A`.
pub struct Floats<'a, T, A> {
    /// The thread that executes the instruction.
    pub thread: &'a mut Thread,
    /// The instruction.
    pub u: &'a Uop,
    /// The channels that are written.
    pub mask: u32,
    /// The arithmetic, which says how sums and products are rounded.
    pub m: &'a A,
    /// True if the results are unchanged sources.
    selects: bool,
    lanes: std::marker::PhantomData<T>,
}

impl<'a, T: Operand, A: Arithmetic<T>> Floats<'a, T, A> {
    /// The operands of `u`.
    #[inline(always)]
    pub fn new(thread: &'a mut Thread, u: &'a Uop, mask: u32, m: &'a A) -> Self {
        Floats { thread, u, mask, m, selects: false, lanes: std::marker::PhantomData }
    }

    /// Operands of an operation whose results are sources: NaNs and infinities stay unchanged.
    #[inline(always)]
    pub fn selecting(self) -> Self {
        Floats { selects: true, ..self }
    }

    /// Number of channels of the instruction.
    #[inline(always)]
    pub fn size(&self) -> usize {
        usize::from(self.u.size)
    }

    #[inline(always)]
    fn flush(&self) -> bool {
        !self.selects || SELECTION_FLUSHES_SUBNORMALS
    }

    /// Loads source `index`.
    #[inline(always)]
    pub fn load(&self, index: usize) -> Lanes<T> {
        floats::<T>(self.thread, &self.u.src[index], self.u.exec, self.size(), self.flush())
    }

    /// The accumulator, as a source that the instruction does not name.
    pub fn accumulator(&self) -> Lanes<T> {
        map(self.size(), |c| {
            let (offset, ty) = implicit_element(self.u, c);
            let bits = self.thread.acc.bits(offset, ty.size());
            let subnormal = bits & format(ty).infinity() == 0;
            let flushed = if subnormal && self.thread.modes.flushes(ty) {
                bits & format(ty).sign()
            } else {
                bits
            };
            T::load(ty, flushed, Rounding::Nearest)
        })
    }

    /// Computes one result for each channel with `f`, and finishes the results. The arithmetic
    /// records which channels overflow.
    #[inline(always)]
    pub fn each(self, f: impl Fn(&A, usize) -> T) -> Done {
        let results = map(self.size(), |c| {
            self.m.channel(c);
            f(self.m, c)
        });
        let how = Finish {
            computed: !self.selects,
            flush: self.flush(),
            overflows: self.m.overflows(),
            nearest: false,
        };
        finish_floats(self.thread, self.u, self.mask, &results, how);
        Ok(())
    }

    /// Executes a function of one source.
    #[inline(always)]
    pub fn one(self, f: impl Fn(T) -> T) -> Done {
        let a = self.load(0);
        self.each(|_, c| f(a[c]))
    }

    /// Executes a function of two sources.
    #[inline(always)]
    pub fn two(self, f: impl Fn(&A, T, T) -> T) -> Done {
        let (a, b) = (self.load(0), self.load(1));
        self.each(|m, c| f(m, a[c], b[c]))
    }

    /// Executes a function of three sources.
    #[inline(always)]
    pub fn three(self, f: impl Fn(&A, T, T, T) -> T) -> Done {
        let (a, b, c2) = (self.load(0), self.load(1), self.load(2));
        self.each(|m, c| f(m, a[c], b[c], c2[c]))
    }

    /// Selects source 0 where the predicate holds, else source 1.
    pub fn choose(self) -> Done {
        let this = self.selecting();
        let (a, b, chosen) = (this.load(0), this.load(1), this.thread.predicate(this.u));
        this.each(|_, c| if chosen >> c & 1 == 1 { a[c] } else { b[c] })
    }

    /// Where the condition of the instruction holds, sets the flag and writes all ones to the
    /// destination; elsewhere clears the flag and writes zeros.
    pub fn compare(self, holds: impl Fn(Condition, T, T) -> bool) -> Done {
        let (a, b) = (self.load(0), self.load(1));
        compare(self.thread, self.u, self.mask, |condition, c| holds(condition, a[c], b[c]))
    }

    /// The error for an operation that has no float form.
    #[cold]
    pub fn refuse(self) -> Done {
        Err(illegal(self.u, "of floats"))
    }
}
