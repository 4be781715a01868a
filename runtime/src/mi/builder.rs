//! The builder: operations on a batch.

use super::MiError;
use super::emit::{Emit, MiEngine, MiPacket, PostSync, Predication, Reference};
use super::gpr::{Gpr, Gprs};
use super::lower::Lower;
use super::node;
use super::place::{self, Mem, Qword, Reg, RegisterDwords, Target, Width};
use super::value::{Condition, Operand, Storable, Value};
use crate::batch::Access;
use crate::gen8::mi::{MiSetPredicate, MiSetPredicatePredicateEnable};
use genxml_core::{Address, Fixed};
use std::marker::PhantomData;

/// Puts expressions into a batch of engine `E`.
///
/// An operation has emitted all its packets when it returns, so other packets can follow at any
/// time, through [`batch`](Self::batch) or after the builder. If an operation fails, the batch may
/// hold a part of its packets: it is of no use any more.
///
/// General registers are used as they are free, and belong to the builder between its first and its
/// last operation; see [`with_gprs`](Self::with_gprs).
#[derive(Debug)]
pub struct Builder<'b, E: MiEngine, B: Emit<E>> {
    pub(super) batch: &'b mut B,
    pub(super) gprs: Gprs,
    engine: PhantomData<E>,
}

impl<'b, E: MiEngine, B: Emit<E>> Builder<'b, E, B> {
    /// A builder that takes all general registers for its own.
    pub fn new(batch: &'b mut B) -> Self {
        Self::with_gprs(batch, Gprs::new())
    }

    /// A builder that shares general registers with whoever has clones of `gprs`: builders before
    /// and after it, or other code that [took](Gprs::take) some.
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

    /// A register of the specification: of this engine, if each has one.
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

    /// The `index`th of the registers of one kind.
    ///
    /// # Errors
    /// [`MiError::NoSuchRegister`] if there are fewer.
    pub fn register_of<R: Fixed<Dwords: RegisterDwords>>(
        &self,
        index: u32,
    ) -> Result<Reg<<R::Dwords as RegisterDwords>::Width>, MiError> {
        place::register::<R>(E::BASE, index)
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

    /// Stores a value in memory, a register or a variable. 32 bits stored as 64 have zeros above.
    ///
    /// # Errors
    /// [`MiError`], also for what is wrong inside the expression.
    pub fn store<W: Width>(
        &mut self,
        to: impl Into<Target<W>>,
        value: impl Storable<W>,
    ) -> Result<(), MiError> {
        self.lower().store(&to.into().place, W::WIDE, &value.storable().node)
    }

    /// Evaluates a value now, into a general register which it keeps until the result and all
    /// expressions made of it are dropped.
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

    /// Evaluates a condition now, as [`keep`](Self::keep) does a value.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn keep_condition(&mut self, condition: &Condition) -> Result<Condition, MiError> {
        Ok(Condition { mask: self.keep(condition.mask())?.node })
    }

    /// A general register with a first value, to be read and [stored](Self::store) to until it is
    /// dropped.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn variable(&mut self, value: impl Operand) -> Result<Gpr, MiError> {
        self.lower().keep(&value.value().node, None)
    }

    /// Sets the predicate (MI_PREDICATE_RESULT) of this engine: what predicated commands look at.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub fn set_predicate(&mut self, condition: &Condition) -> Result<(), MiError> {
        let mut lower = self.lower();
        lower.want(&condition.mask);
        lower.predicate(&condition.mask)
    }

    /// From here on, commands that the streamer allows there (few: see the manual) do nothing as
    /// the mode says.
    ///
    /// # Errors
    /// [`MiError::Batch`].
    pub fn skip_commands(&mut self, mode: MiSetPredicatePredicateEnable) -> Result<(), MiError> {
        self.emit(&MiPacket::SetPredicate(MiSetPredicate { predicate_enable: mode }), None)
    }

    /// Writes a value or the time when all work before it is done. On the render engine caches are
    /// written back before (render target, depth, data cache), so that results are in memory when
    /// the value is.
    ///
    /// # Errors
    /// [`MiError::Range`] if the address is not a multiple of 8.
    pub fn write_after_work(&mut self, to: Mem<Qword>, what: PostSync) -> Result<(), MiError> {
        let address =
            Address::new(to.address().get()).map_err(MiError::range("the address of a qword"))?;
        Ok(E::post_sync(self.batch, address, to.location.reference(Access::Write), what)?)
    }
}

/// What looks at the predicate: on the render engine only.
impl<E: Predication, B: Emit<E>> Builder<'_, E, B> {
    /// Stores a value in memory if the predicate is set; it is evaluated anyway.
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

    /// Stores a value in memory if a condition holds. Sets the predicate. What condition and value
    /// share is evaluated once.
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

    /// Packets that run only if a condition holds: otherwise the streamer jumps over them. Sets the
    /// predicate.
    ///
    /// Nothing is emitted for a condition that is known to be false. What `body` keeps in registers
    /// has no value behind it unless the condition held.
    ///
    /// # Errors
    /// Those of `body`, and as [`store`](Self::store).
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
        let behind = self.batch.label();
        self.batch.jump_if(behind)?;
        body(self)?;
        Ok(self.batch.bind(behind)?)
    }

    /// Packets that run once, and again as long as the condition that they return holds. Sets the
    /// predicate.
    ///
    /// # Errors
    /// Those of `body`, and as [`store`](Self::store).
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
