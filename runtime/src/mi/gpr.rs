//! The general registers of an engine's command streamer, and their allocation.

use super::MiError;
use crate::gen8::engine_registers::CsGpr;
use std::cell::Cell;
use std::rc::Rc;

/// The general registers of one engine: 16 of 64 bits, each free or in use.
///
/// Clones share the registers. A [`Builder`](super::Builder) has its own set unless
/// [`with_gprs`](super::Builder::with_gprs) gives it one. With a shared set, values can pass from
/// one builder to the next.
#[derive(Clone, Debug, Default)]
pub struct Gprs {
    /// Bit `n`: register `n` is in use.
    used: Rc<Cell<u16>>,
}

impl Gprs {
    /// A set in which all registers are free.
    pub fn new() -> Self {
        Self::default()
    }

    /// Marks the register with this number, 0 to 15, as in use, for example because another program
    /// or command uses it.
    ///
    /// # Errors
    /// [`MiError::RegisterInUse`], [`MiError::NoSuchRegister`].
    pub fn take(&self, index: u32) -> Result<Gpr, MiError> {
        let used = self.used.get();
        match 1u16.checked_shl(index) {
            None => Err(MiError::NoSuchRegister { name: CsGpr::NAME, index }),
            Some(bit) if used & bit != 0 => Err(MiError::RegisterInUse { index }),
            Some(_) => Ok(self.hold(index)),
        }
    }

    /// Number of free registers.
    pub fn free(&self) -> u32 {
        self.used.get().count_zeros()
    }

    /// Takes the highest free register that is not in the mask `others`; if there is none, the
    /// highest free one. (Atomics use the lowest registers.)
    pub(super) fn any(&self, others: u16) -> Result<Gpr, MiError> {
        let free = !self.used.get();
        let best = if free & !others != 0 { free & !others } else { free };
        match best.checked_ilog2() {
            Some(index) => Ok(self.hold(index)),
            None => Err(MiError::OutOfRegisters { count: CsGpr::COUNT }),
        }
    }

    fn hold(&self, index: u32) -> Gpr {
        self.used.set(self.used.get() | 1 << index);
        Gpr(Rc::new(Held { pool: self.clone(), index }))
    }
}

/// A general register. It is in use until the last clone and the last expression with it are
/// dropped.
///
/// It is a 64-bit variable: a destination of [`Builder::store`](super::Builder::store) and an
/// operand.
#[derive(Clone, Debug)]
pub struct Gpr(Rc<Held>);

#[derive(Debug)]
struct Held {
    pool: Gprs,
    index: u32,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.pool.used.set(self.pool.used.get() & !(1 << self.index));
    }
}

impl Gpr {
    /// Number of the register, 0 to 15.
    pub fn index(&self) -> u32 {
        self.0.index
    }

    /// A set with only this register, as a mask.
    pub(super) fn bit(&self) -> u16 {
        1 << self.0.index
    }

    pub(super) fn belongs_to(&self, pool: &Gprs) -> bool {
        Rc::ptr_eq(&self.0.pool.used, &pool.used)
    }
}
