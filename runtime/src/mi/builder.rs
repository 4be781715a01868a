//! The builder of expressions.

use super::MiError;
use super::emit::{Emit, MiEngine, MiPacket, PostSync, Predication, Reference};
use super::gpr::{Gpr, Gprs};
use super::location::{self, Mem, Qword, Reg, RegisterDwords, Target, Width};
use super::lower::Lower;
use super::node;
use super::value::{Condition, Operand, Storable, Value};
use crate::batch::Access;
use crate::gen8::mi::{MiSetPredicate, MiSetPredicatePredicateEnable};
use genxml_core::{Address, Fixed};
use std::marker::PhantomData;

/// Puts expressions into a batch of engine `E`.
///
/// An operation has emitted all its packets when it returns. So other packets can follow at any
/// time, through [`batch`](Self::batch) or after the builder. If an operation fails, the batch may
/// contain some of its packets, and cannot be used any more.
///
/// The builder uses free general registers. Other code must not use them between the builder's
/// first and last operation; see [`with_gprs`](Self::with_gprs).
#[derive(Debug)]
pub struct Builder<'b, E: MiEngine, B: Emit<E>> {
    pub(super) batch: &'b mut B,
    pub(super) gprs: Gprs,
    engine: PhantomData<E>,
}

impl<'b, E: MiEngine, B: Emit<E>> Builder<'b, E, B> {
    /// A builder that owns all general registers.
    pub fn new(batch: &'b mut B) -> Self {
        Self::with_gprs(batch, Gprs::new())
    }

    /// A builder that shares general registers with all owners of clones of `gprs`: other builders,
    /// or code that [took](Gprs::take) some registers.
    pub fn with_gprs(batch: &'b mut B, gprs: Gprs) -> Self {
        Builder { batch, gprs, engine: PhantomData }
    }

    /// The batch, for other packets.
    pub fn batch(&mut self) -> &mut B {
        self.batch
    }

    /// The general registers.
    pub fn gprs(&self) -> &Gprs {
        &self.gprs
    }

    /// A register of the specification. If each engine has one, returns the register of engine `E`.
    ///
    /// ```
    /// # use genxml::{batch::Batch, engine::Blitter, mi::Builder};
    /// use genxml::gen8::engine_registers::RingTimestamp;
    /// # let mut batch = Batch::<Blitter>::new("batch", 0, 4096)?;
    /// let mi = Builder::new(&mut batch);
    /// assert_eq!(mi.register::<RingTimestamp>()?.offset(), 0x22358);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MiError::Range`] if commands cannot name the register.
    pub fn register<R: Fixed<Dwords: RegisterDwords>>(
        &self,
    ) -> Result<Reg<<R::Dwords as RegisterDwords>::Width>, MiError> {
        self.register_of::<R>(0)
    }

    /// The register with this index in an array of registers.
    ///
    /// # Errors
    /// [`MiError::NoSuchRegister`] if there is no register with this index; otherwise as
    /// `register`.
    pub fn register_of<R: Fixed<Dwords: RegisterDwords>>(
        &self,
        index: u32,
    ) -> Result<Reg<<R::Dwords as RegisterDwords>::Width>, MiError> {
        location::register::<R>(E::BASE, index)
    }

    pub(super) fn lower(&mut self) -> Lower<'_, E, B> {
        Lower::new(self.batch, &self.gprs)
    }

    pub(super) fn emit(
        &mut self,
        packet: &MiPacket<'_>,
        references: impl IntoIterator<Item = Reference>,
    ) -> Result<(), MiError> {
        Ok(E::emit(self.batch, packet, references)?)
    }

    /// Stores a value in memory, a register or a variable. A 32-bit value stored as 64 bits is
    /// extended with zeros.
    ///
    /// # Errors
    /// [`MiError`], also for errors inside the expression.
    pub fn store<W: Width>(
        &mut self,
        to: impl Into<Target<W>>,
        value: impl Storable<W>,
    ) -> Result<(), MiError> {
        self.lower().store(&to.into().destination, W::WIDE, &value.storable().node)
    }

    /// Changes some fields of a masked register. The other fields keep their values. In a masked
    /// register, bit `n + 16` of a write enables the change of bit `n`. The function `set` assigns
    /// the fields to change. The write enables the bits of every field that `set` assigns, even if
    /// the new value is the default. Assignments to the field `mask` are ignored.
    ///
    /// ```
    /// # use genxml::{batch::Batch, engine::Render, mi::Builder};
    /// use genxml::gen8::registers::CacheMode1;
    /// # let mut batch = Batch::<Render>::new("batch", 0, 4096)?;
    /// let mut mi = Builder::new(&mut batch);
    /// mi.set_fields(|register: &mut CacheMode1| {
    ///     register.np_pma_fix_enable = true;
    ///     register.np_early_z_fails_disable = false;
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `set` is called twice: once with all bits 0, once with all bits 1. A field that has the same
    /// value after both calls was assigned. `set` must assign the same values in both calls.
    ///
    /// If the register is not masked, the program does not compile.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn set_fields<R: Fixed<Dwords = [u32; 1]>>(
        &mut self,
        set: impl Fn(&mut R),
    ) -> Result<(), MiError> {
        let register = self.register::<R>()?;
        self.store(register, location::masked(set))
    }

    /// Evaluates a value now into a general register, which stays in use until the result and all
    /// expressions made from it are dropped. A constant is returned unchanged and uses no register.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn keep(&mut self, value: impl Operand) -> Result<Value, MiError> {
        let value = value.value();
        if value.constant().is_some() {
            return Ok(value);
        }
        let bits = value.node.bits;
        let gpr = self.lower().keep(&value.node, None)?;
        Ok(Value::new(node::gpr(gpr, bits)))
    }

    /// Evaluates a condition now, as [`keep`](Self::keep) does for a value.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn keep_condition(&mut self, condition: &Condition) -> Result<Condition, MiError> {
        Ok(Condition { mask: self.keep(condition.mask())?.node })
    }

    /// A variable: a general register with an initial value, for reading and [storing](Self::store)
    /// until it is dropped.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn variable(&mut self, value: impl Operand) -> Result<Gpr, MiError> {
        self.lower().keep(&value.value().node, None)
    }

    /// Sets the predicate (MI_PREDICATE_RESULT) of this engine, which predicated commands test.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn set_predicate(&mut self, condition: &Condition) -> Result<(), MiError> {
        let mut lower = self.lower();
        lower.want(&condition.mask);
        lower.predicate(&condition.mask)
    }

    /// Emits MI_SET_PREDICATE: from here on, the streamer skips commands as `mode` defines. The
    /// manual lists the few commands that are allowed while it skips.
    ///
    /// # Errors
    /// [`MiError::Batch`].
    pub fn skip_commands(&mut self, mode: MiSetPredicatePredicateEnable) -> Result<(), MiError> {
        self.emit(&MiPacket::SetPredicate(MiSetPredicate { predicate_enable: mode }), None)
    }

    /// When all earlier work is done, writes a constant or the current time to memory. The render
    /// engine first writes its caches back (render target, depth, data cache), so that results are
    /// in memory before the value.
    ///
    /// # Errors
    /// [`MiError::Range`] if the address is not a multiple of 8; [`MiError::Batch`].
    pub fn write_after_work(&mut self, to: Mem<Qword>, what: PostSync) -> Result<(), MiError> {
        let address =
            Address::new(to.address().get()).map_err(MiError::range("the address of a qword"))?;
        Ok(E::post_sync(self.batch, address, to.location.reference(Access::Write), what)?)
    }
}

/// Operations that use the predicate: only on the render engine.
impl<E: Predication, B: Emit<E>> Builder<'_, E, B> {
    /// Stores a value in memory if the predicate is set. The value is always evaluated.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn store_predicated<W: Width>(
        &mut self,
        to: Mem<W>,
        value: impl Storable<W>,
    ) -> Result<(), MiError> {
        let (value, mut lower) = (value.storable(), self.lower());
        lower.want(&value.node);
        lower.store_predicated(to.location, W::WIDE, &value.node)
    }

    /// Stores a value in memory if a condition holds. Sets the predicate, unless the condition is a
    /// constant. Common parts of condition and value are evaluated once.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn store_if<W: Width>(
        &mut self,
        condition: &Condition,
        to: Mem<W>,
        value: impl Storable<W>,
    ) -> Result<(), MiError> {
        match condition.mask.constant() {
            Some(0) => Ok(()),
            Some(_) => self.store(to, value),
            None => {
                let (value, mut lower) = (value.storable(), self.lower());
                lower.want(&condition.mask);
                lower.want(&value.node);
                lower.predicate(&condition.mask)?;
                lower.store_predicated(to.location, W::WIDE, &value.node)
            }
        }
    }

    /// Emits packets that run only if a condition holds; otherwise the streamer jumps over them.
    /// Sets the predicate to the opposite of the condition, unless the condition is a constant.
    ///
    /// If the condition is a constant false, nothing is emitted. If the condition did not hold,
    /// values that `body` keeps are undefined after the packets, and variables that `body` stores
    /// have their old values.
    ///
    /// # Errors
    /// Those returned by `body`, and as [`store`](Self::store).
    pub fn if_true(
        &mut self,
        condition: &Condition,
        body: impl FnOnce(&mut Self) -> Result<(), MiError>,
    ) -> Result<(), MiError> {
        match condition.mask.constant() {
            Some(0) => return Ok(()),
            Some(_) => return body(self),
            None => self.set_predicate(&!condition)?,
        }
        let after = self.batch.label();
        self.batch.jump_if(after)?;
        body(self)?;
        Ok(self.batch.bind(after)?)
    }

    /// Emits packets that run once, and again while the condition that `body` returns holds. Sets
    /// the predicate, unless the condition is a constant false.
    ///
    /// # Errors
    /// Those returned by `body`, and as [`store`](Self::store).
    pub fn repeat_while(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<Condition, MiError>,
    ) -> Result<(), MiError> {
        let start = self.batch.label();
        self.batch.bind(start)?;
        let condition = body(self)?;
        if condition.mask.constant() == Some(0) {
            return Ok(());
        }
        self.set_predicate(&condition)?;
        Ok(self.batch.jump_if(start)?)
    }
}
