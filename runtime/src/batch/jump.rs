//! Jumps inside a batch and between batches, and calls of second-level batches.

use super::buffer::Buffer;
use super::builder::{Batch, Core, FinishedBatch};
use super::error::BatchError;
use super::label::{Label, LabelState, Target};
use super::object::Object;
use super::position::Position;
use super::reloc::Access;
use crate::engine::Engine;
use crate::gen8::mi::{
    MiBatchBufferStart, MiBatchBufferStartAddressSpaceIndicator as Table,
    MiBatchBufferStartSecondLevelBatchBuffer as Level,
};
use crate::pipeline::{Pipeline, RunsIn};
use alloc::sync::Arc;
use core::marker::PhantomData;
use genxml_core::Address;

/// Jumps are MI_BATCH_BUFFER_START through the PPGTT, at the batch's own level. A label belongs to
/// the pipeline in which it was made, so a jump cannot bypass PIPELINE_SELECT.
///
/// ```
/// use genxml::batch::Batch;
/// use genxml::engine::Render;
/// use genxml::gen8::mi::{MiNoop, MiStoreDataImm};
///
/// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
/// let after = batch.label();
/// batch.jump_if(after)?; // skips what follows if the predicate holds
/// batch.emit(&MiNoop::new())?;
/// batch.bind(after)?;
/// batch.finish()?;
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
impl<E: Engine, P: Pipeline> Batch<E, P> {
    /// A label that is not bound yet; jumps to it are filled in when it is bound.
    pub fn label(&mut self) -> Label<P> {
        self.core.labels.push(LabelState::default());
        Label { batch: self.core.id, index: self.core.labels.len() - 1, pipeline: PhantomData }
    }

    /// A label that is bound to the next packet, for backward jumps.
    pub fn here(&mut self) -> Label<P> {
        let position = (self.core.full.len(), self.core.current.used);
        self.core.labels.push(LabelState { position: Some(position), ..LabelState::default() });
        Label { batch: self.core.id, index: self.core.labels.len() - 1, pipeline: PhantomData }
    }

    /// Binds the label to the next packet.
    ///
    /// # Errors
    /// [`BatchError::Bound`] if it is bound already, [`BatchError::ForeignLabel`] if it belongs to
    /// another batch.
    pub fn bind(&mut self, label: Label<P>) -> Result<(), BatchError> {
        let here = (self.core.full.len(), self.core.current.used);
        let state = self.core.state(label)?;
        if let Some((segment, dword)) = state.position {
            let address = self.core.extent_of(segment).address + 4 * dword as u64;
            return Err(BatchError::Bound { batch: self.core.name(), label: label.index, address });
        }
        state.position = Some(here);
        for jump in core::mem::take(&mut state.jumps) {
            self.core.lead(jump, here)?;
        }
        Ok(())
    }

    /// Jumps to the label.
    ///
    /// # Errors
    /// As [`emit`](Self::emit); [`BatchError::ForeignLabel`] if the label belongs to another batch.
    pub fn jump(&mut self, label: Label<P>) -> Result<Position, BatchError> {
        self.core.jump(label, false)
    }

    /// Jumps to the label if the predicate of MI_SET_PREDICATE and MI_PREDICATE is not 0.
    ///
    /// # Errors
    /// As [`jump`](Self::jump).
    pub fn jump_if(&mut self, label: Label<P>) -> Result<Position, BatchError> {
        self.core.jump(label, true)
    }

    /// The position of a label, for jumps from other batches.
    ///
    /// # Errors
    /// [`BatchError::Nowhere`] if it is not bound yet, [`BatchError::ForeignLabel`] if it belongs
    /// to another batch.
    pub fn target(&mut self, label: Label<P>) -> Result<Target<E, P>, BatchError> {
        match self.core.state(label)?.position {
            Some((segment, dword)) => Ok(Target {
                buffer: self.core.extent_of(segment),
                delta: 4 * dword as u64,
                marker: PhantomData,
            }),
            None => Err(BatchError::Nowhere { batch: self.core.name(), label: label.index }),
        }
    }

    /// Jumps to another batch, without return. Packets after the jump run only if a jump to a label
    /// leads to them.
    ///
    /// # Errors
    /// As [`emit`](Self::emit).
    pub fn jump_to<Q: RunsIn<P>>(&mut self, target: &Target<E, Q>) -> Result<Position, BatchError> {
        let level = self.core.level;
        self.core.start(&target.buffer, target.delta, level, false)
    }

    /// Calls a second-level batch.
    ///
    /// # Errors
    /// As [`emit`](Self::emit); [`BatchError::Nested`] in a second-level batch.
    pub fn call<Q: RunsIn<P>>(&mut self, routine: &Routine<E, Q>) -> Result<Position, BatchError> {
        if self.core.level == Level::SECOND_LEVEL_BATCH {
            let routine = routine.batch.buffer.name.clone();
            return Err(BatchError::Nested { batch: self.core.name(), routine });
        }
        self.core.start(&routine.batch.buffer, 0, Level::SECOND_LEVEL_BATCH, false)
    }

    /// Makes the empty batch a second-level batch. `build` emits its packets. The second-level
    /// batch does not change the pipeline, so it can be called wherever `P` is selected, or
    /// anywhere if `P` is `Neutral`.
    ///
    /// ```
    /// use genxml::batch::Batch;
    /// use genxml::engine::Render;
    /// use genxml::gen8::mi::MiNoop;
    ///
    /// let routine = Batch::<Render>::new("routine", 0x2000, 4096)?.routine(|routine| {
    ///     routine.emit(&MiNoop::new())?;
    ///     Ok(())
    /// })?;
    /// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?;
    /// batch.call(&routine)?;
    /// batch.call(&routine)?;
    /// let submission = batch.finish()?.submit(routine.into_buffers())?;
    /// # Ok::<(), genxml::batch::BatchError>(())
    /// ```
    ///
    /// # Errors
    /// Those returned by `build` and [`finish`](Self::finish); [`BatchError::NotEmpty`] if there
    /// are packets already.
    pub fn routine(
        mut self,
        build: impl FnOnce(&mut Self) -> Result<(), BatchError>,
    ) -> Result<Routine<E, P>, BatchError> {
        if self.core.current.used != 0 || !self.core.full.is_empty() {
            return Err(BatchError::NotEmpty { batch: self.core.name() });
        }
        self.core.level = Level::SECOND_LEVEL_BATCH;
        build(&mut self)?;
        Ok(Routine { batch: self.finish()?, pipeline: PhantomData })
    }
}

/// A second-level batch: packets that other batches call, in pipeline `P` ([`Batch::routine`],
/// [`Batch::call`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routine<E: Engine, P: Pipeline> {
    batch: FinishedBatch<E>,
    pipeline: PhantomData<P>,
}

impl<E: Engine, P: Pipeline> Routine<E, P> {
    /// GPU address of the first packet.
    pub const fn address(&self) -> u64 {
        self.batch.buffer.address()
    }

    /// The buffers of the second-level batch, for the submission.
    pub fn into_buffers(self) -> impl Iterator<Item = Buffer> {
        core::iter::once(self.batch.buffer).chain(self.batch.chained)
    }
}

impl Core {
    fn name(&self) -> Arc<str> {
        self.extent_of(0).name
    }

    fn state<P: Pipeline>(&mut self, label: Label<P>) -> Result<&mut LabelState, BatchError> {
        let (same, batch) = (label.batch == self.id, self.name());
        match self.labels.get_mut(label.index) {
            Some(state) if same => Ok(state),
            _ => Err(BatchError::ForeignLabel { batch }),
        }
    }

    fn jump<P: Pipeline>(
        &mut self,
        label: Label<P>,
        predicated: bool,
    ) -> Result<Position, BatchError> {
        let level = self.level;
        let position = self.state(label)?.position;
        match position {
            Some((segment, dword)) => {
                let buffer = self.extent_of(segment);
                self.start(&buffer, 4 * dword as u64, level, predicated)
            }
            None => {
                let position = self.emit(&MiBatchBufferStart {
                    address_space_indicator: Table::PPGTT,
                    second_level_batch_buffer: level,
                    predication_enable: predicated,
                    ..MiBatchBufferStart::new(Address::ZERO)
                })?;
                self.state(label)?.jumps.push(position);
                Ok(position)
            }
        }
    }

    fn start(
        &mut self,
        to: &impl Object,
        delta: u64,
        level: Level,
        predicated: bool,
    ) -> Result<Position, BatchError> {
        let target = self.current.references.take(to, delta, Access::Read)?;
        self.emit(&MiBatchBufferStart {
            address_space_indicator: Table::PPGTT,
            second_level_batch_buffer: level,
            predication_enable: predicated,
            ..MiBatchBufferStart::new(target)
        })
    }

    /// Sets the target of the jump at position `jump`.
    fn lead(&mut self, jump: Position, (segment, dword): (usize, usize)) -> Result<(), BatchError> {
        let buffer = self.extent_of(segment);
        let mut packet: MiBatchBufferStart = self.read(jump)?;
        packet.batch_buffer_start_address =
            self.current.references.take(&buffer, 4 * dword as u64, Access::Read)?;
        self.patch(jump, &packet)
    }

    /// Checks that every jump has its target.
    pub fn resolved(&self) -> Result<(), BatchError> {
        let open = self
            .labels
            .iter()
            .enumerate()
            .find_map(|(label, state)| Some((label, state.jumps.first()?)));
        match open {
            None => Ok(()),
            Some((label, jump)) => {
                let (batch, buffer) = (self.name(), self.extent_of(jump.segment()).name);
                Err(BatchError::Unbound { batch, label, buffer, offset: jump.offset() })
            }
        }
    }
}
