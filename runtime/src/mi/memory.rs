//! Copies, fills, semaphores, atomics and the conditional end of a batch.

use super::MiError;
use super::builder::Builder;
use super::emit::{Emit, MiEngine, MiPacket};
use super::location::{Dword, Mem, Width};
use super::node;
use super::value::{Storable, Value};
use crate::batch::Access;
use crate::engine::EngineId;
use crate::gen8::mi::{
    MiAtomic, MiAtomicAtomicOpcode as Opcode, MiAtomicDataSize, MiAtomicOperand,
    MiConditionalBatchBufferEnd, MiCopyMemMem, MiSemaphoreSignal,
    MiSemaphoreSignalTargetEngineSelect as Target, MiSemaphoreWait,
    MiSemaphoreWaitCompareOperation as Compare, MiSemaphoreWaitWaitMode, MiStoreDataImm,
};
use genxml_core::address::Graphics;
use genxml_core::{Address, U};

/// Largest number of dwords that one MI_STORE_DATA_IMM of [`Builder::fill`] stores.
const FILL: u64 = 64;

/// The condition under which a semaphore lets the engine continue: an unsigned comparison of memory
/// with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// Memory is equal to the constant.
    Equal(u32),
    /// Memory differs from the constant.
    NotEqual(u32),
    /// Memory is greater than the constant.
    GreaterThan(u32),
    /// Memory is greater than the constant or equal to it.
    AtLeast(u32),
    /// Memory is less than the constant.
    LessThan(u32),
    /// Memory is less than the constant or equal to it.
    AtMost(u32),
}

/// The operation of an atomic: the new value of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// Bitwise AND of memory and operand.
    And,
    /// Bitwise OR of memory and operand.
    Or,
    /// Bitwise exclusive OR of memory and operand.
    Xor,
    /// The new value is the operand.
    Exchange,
    /// Memory + operand.
    Add,
    /// Memory - operand.
    Subtract,
    /// Operand - memory.
    ReverseSubtract,
    /// The larger of memory and operand, as two's complement.
    SignedMaximum,
    /// The smaller of memory and operand, as two's complement.
    SignedMinimum,
    /// The larger of memory and operand, unsigned.
    Maximum,
    /// The smaller of memory and operand, unsigned.
    Minimum,
}

impl Atomic {
    fn opcode(self, wide: bool) -> Opcode {
        let (dword, qword) = match self {
            Atomic::And => (Opcode::ATOMIC_4B_AND, Opcode::ATOMIC_8B_AND),
            Atomic::Or => (Opcode::ATOMIC_4B_OR, Opcode::ATOMIC_8B_OR),
            Atomic::Xor => (Opcode::ATOMIC_4B_XOR, Opcode::ATOMIC_8B_XOR),
            Atomic::Exchange => (Opcode::ATOMIC_4B_MOVE, Opcode::ATOMIC_8B_MOVE),
            Atomic::Add => (Opcode::ATOMIC_4B_ADD, Opcode::ATOMIC_8B_ADD),
            Atomic::Subtract => (Opcode::ATOMIC_4B_SUB, Opcode::ATOMIC_8B_SUB),
            Atomic::ReverseSubtract => {
                (Opcode::ATOMIC_4B_REVERSE_SUB, Opcode::ATOMIC_8B_REVERSE_SUB)
            }
            Atomic::SignedMaximum => (Opcode::ATOMIC_4B_SIGNED_MAX, Opcode::ATOMIC_8B_SIGNED_MAX),
            Atomic::SignedMinimum => (Opcode::ATOMIC_4B_SIGNED_MIN, Opcode::ATOMIC_8B_SIGNED_MIN),
            Atomic::Maximum => (Opcode::ATOMIC_4B_UNSIGNED_MAX, Opcode::ATOMIC_8B_UNSIGNED_MAX),
            Atomic::Minimum => (Opcode::ATOMIC_4B_UNSIGNED_MIN, Opcode::ATOMIC_8B_UNSIGNED_MIN),
        };
        if wide { qword } else { dword }
    }
}

impl<E: MiEngine, B: Emit<E>> Builder<'_, E, B> {
    /// Copies dwords, also between ranges that overlap. Takes 5 dwords of the batch for each dword.
    ///
    /// # Errors
    /// [`MiError::Range`] if memory ends beyond 48 bits, [`MiError::Batch`] if it is not completely
    /// inside its object.
    pub fn copy(
        &mut self,
        to: impl Into<Mem<Dword>>,
        from: impl Into<Mem<Dword>>,
        dwords: u64,
    ) -> Result<(), MiError> {
        let (to, from) = (to.into().location, from.into().location);
        let backwards = to.address.va48() > from.address.va48();
        for index in 0..dwords {
            let offset = 4 * if backwards { dwords - 1 - index } else { index };
            let (to, from) = (to.after(offset)?, from.after(offset)?);
            if to == from {
                continue;
            }
            let packet = MiCopyMemMem {
                destination_memory_address: to.address,
                source_memory_address: from.address,
                ..MiCopyMemMem::new()
            };
            let references = [to.reference(Access::Write), from.reference(Access::Read)];
            self.emit(&MiPacket::CopyMemMem(packet), references.into_iter().flatten())?;
        }
        Ok(())
    }

    /// Fills dwords with a constant. Takes about one dword of the batch for each dword.
    ///
    /// # Errors
    /// [`MiError::Range`] if memory ends beyond 48 bits, [`MiError::Batch`] if it is not completely
    /// inside its object.
    pub fn fill(
        &mut self,
        to: impl Into<Mem<Dword>>,
        value: u32,
        dwords: u64,
    ) -> Result<(), MiError> {
        let to = to.into().location;
        if let Some(last) = dwords.checked_sub(1) {
            to.after(last.saturating_mul(4))?;
        }
        let data = [U::from_bits(value.into()); FILL as usize];
        let mut done = 0;
        while done < dwords {
            let now = FILL.min(dwords - done);
            let here = to.after(4 * done)?;
            let packet = MiStoreDataImm {
                data_dword: data[..now as usize].into(),
                ..MiStoreDataImm::new(here.address)
            };
            self.emit(&MiPacket::StoreDataImm(packet), here.reference(Access::Write))?;
            done += now;
        }
        Ok(())
    }

    /// Makes the engine wait, by polling, until a dword in memory meets the condition.
    ///
    /// # Errors
    /// [`MiError::Batch`].
    pub fn wait(&mut self, semaphore: Mem<Dword>, until: Until) -> Result<(), MiError> {
        let (compare_operation, data) = match until {
            Until::Equal(data) => (Compare::SAD_EQUAL_SDD, data),
            Until::NotEqual(data) => (Compare::SAD_NOT_EQUAL_SDD, data),
            Until::GreaterThan(data) => (Compare::SAD_GREATER_THAN_SDD, data),
            Until::AtLeast(data) => (Compare::SAD_GREATER_THAN_OR_EQUAL_SDD, data),
            Until::LessThan(data) => (Compare::SAD_LESS_THAN_SDD, data),
            Until::AtMost(data) => (Compare::SAD_LESS_THAN_OR_EQUAL_SDD, data),
        };
        let packet = MiSemaphoreWait {
            compare_operation,
            wait_mode: MiSemaphoreWaitWaitMode::POLLING_MODE,
            semaphore_data_dword: U::from_bits(data.into()),
            semaphore_address: semaphore.address(),
            ..MiSemaphoreWait::new()
        };
        self.emit(&MiPacket::SemaphoreWait(packet), semaphore.location.reference(Access::Read))
    }

    /// Signals the context `context_id`, which waits for a semaphore on `engine`, to test the
    /// semaphore again. [`Video`](EngineId::Video) is the first video engine.
    ///
    /// # Errors
    /// [`MiError::Batch`].
    pub fn signal(&mut self, engine: EngineId, context_id: u32) -> Result<(), MiError> {
        let packet = MiSemaphoreSignal {
            target_engine_select: match engine {
                EngineId::Render => Target::RCS,
                EngineId::Blitter => Target::BCS,
                EngineId::Video => Target::VCS0,
                EngineId::VideoEnhance => Target::VECS,
            },
            target_context_id: U::from_bits(context_id.into()),
            ..MiSemaphoreSignal::new()
        };
        self.emit(&MiPacket::SemaphoreSignal(packet), None)
    }

    /// Ends the batch here unless a dword in memory is greater than `data`, unsigned. Only valid in
    /// a first-level batch.
    ///
    /// # Errors
    /// [`MiError::Range`] if the address is not a multiple of 8.
    pub fn end_unless_greater(&mut self, memory: Mem<Dword>, data: u32) -> Result<(), MiError> {
        let what = MiError::range("the address of the dword that a conditional end compares");
        let packet = MiConditionalBatchBufferEnd {
            compare_data_dword: U::from_bits(data.into()),
            compare_address: Address::new(memory.address().get()).map_err(what)?,
            ..MiConditionalBatchBufferEnd::new()
        };
        self.emit(
            &MiPacket::ConditionalBatchBufferEnd(packet),
            memory.location.reference(Access::Read),
        )
    }

    /// Emits an atomic operation on memory. A constant operand is part of the command; any other
    /// goes through general registers 0 and 1, which must be free.
    ///
    /// # Errors
    /// [`MiError::Range`] if the address of a qword is not a multiple of 8;
    /// [`MiError::RegisterInUse`]; as [`store`](Self::store) for the operand.
    pub fn atomic<W: Width>(
        &mut self,
        memory: Mem<W>,
        what: Atomic,
        operand: impl Storable<W>,
    ) -> Result<(), MiError> {
        let opcode = what.opcode(W::WIDE);
        self.emit_atomic(memory, opcode, [Some(operand.storable()), None], false)
    }

    /// As [`atomic`](Self::atomic), and returns the previous value of memory. Uses general
    /// registers 4 and 5, which must be free; 4 stays in use as with [`keep`](Self::keep).
    ///
    /// # Errors
    /// As [`atomic`](Self::atomic).
    pub fn atomic_fetch<W: Width>(
        &mut self,
        memory: Mem<W>,
        what: Atomic,
        operand: impl Storable<W>,
    ) -> Result<Value<W>, MiError> {
        let opcode = what.opcode(W::WIDE);
        self.returned(|mi| mi.emit_atomic(memory, opcode, [Some(operand.storable()), None], true))
    }

    /// Stores `new` if memory holds `expected`, and returns the previous value. Uses the same
    /// registers as [`atomic_fetch`](Self::atomic_fetch). Unless both operands are constants, `new`
    /// uses registers 2 and 3, which must be free.
    ///
    /// # Errors
    /// As [`atomic`](Self::atomic).
    pub fn compare_and_write<W: Width>(
        &mut self,
        memory: Mem<W>,
        expected: impl Storable<W>,
        new: impl Storable<W>,
    ) -> Result<Value<W>, MiError> {
        let opcode = match W::WIDE {
            true => Opcode::ATOMIC_8B_COMPARE_AND_WRITE,
            false => Opcode::ATOMIC_4B_COMPARE_AND_WRITE,
        };
        let operands = [Some(expected.storable()), Some(new.storable())];
        self.returned(|mi| mi.emit_atomic(memory, opcode, operands, true))
    }

    /// Emits an atomic that returns a value, with its result registers reserved.
    fn returned<W: Width>(
        &mut self,
        atomic: impl FnOnce(&mut Self) -> Result<(), MiError>,
    ) -> Result<Value<W>, MiError> {
        let (low, _high) = (self.gprs.take(4)?, self.gprs.take(5)?);
        atomic(self)?;
        let whole = node::gpr(low, u64::MAX);
        Ok(Value::new(if W::WIDE { whole } else { node::low(&whole) }))
    }

    fn emit_atomic<W: Width>(
        &mut self,
        memory: Mem<W>,
        opcode: Opcode,
        operands: [Option<Value<W>>; 2],
        returns: bool,
    ) -> Result<(), MiError> {
        let constants = operands.each_ref().map(|operand| match operand {
            Some(operand) => operand.constant(),
            None => Some(0),
        });
        let size = if W::WIDE { MiAtomicDataSize::QWORD } else { MiAtomicDataSize::DWORD };
        if W::WIDE {
            Address::<Graphics, 8, 64>::new(memory.address().get())
                .map_err(MiError::range("the address of an atomic's qword"))?;
        }
        let reference = memory.location.reference(Access::Write);
        let packet = MiAtomic {
            atomic_opcode: opcode,
            data_size: size,
            // Later commands must see the writes of the atomic to memory and registers.
            cs_stall: true,
            return_data_control: returns,
            memory_address: memory.address(),
            ..MiAtomic::new()
        };
        if let [Some(one), Some(two)] = constants {
            // Each operand has room for 16 bytes.
            let dword =
                |value: u64, index: u32| U::from_bits(value.checked_shr(32 * index).unwrap_or(0));
            let inline = [0, 1, 2, 3].map(|index| MiAtomicOperand {
                operand1_data_dword: dword(one, index),
                operand2_data_dword: dword(two, index),
            });
            let packet = MiAtomic { inline_data: true, operand: (&inline).into(), ..packet };
            return self.emit(&MiPacket::Atomic(packet), reference);
        }
        // Each operand has room for 16 bytes: a pair of general registers.
        let (mut pairs, mut second) = (Vec::new(), Vec::new());
        for (first, operand) in [0, 2].into_iter().zip(&operands) {
            if let Some(operand) = operand {
                pairs.push((&operand.node, self.gprs.take(first)?));
                second.push(self.gprs.take(first + 1)?);
            }
        }
        self.lower().keep_all(&pairs)?;
        self.emit(&MiPacket::Atomic(packet), reference)
    }
}
