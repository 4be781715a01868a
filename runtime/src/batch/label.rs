//! Targets of jumps.

use super::position::Position;
use crate::engine::Engine;
use crate::pipeline::Pipeline;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

/// A target of jumps in the same batch, bound now or later ([`Batch::label`](super::Batch::label),
/// [`Batch::bind`](super::Batch::bind), [`Batch::here`](super::Batch::here)). Jumps to it happen in
/// the pipeline `P`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Label<P: Pipeline> {
    /// The unique number of the batch.
    pub(super) batch: usize,
    pub(super) index: usize,
    pub(super) pipeline: PhantomData<P>,
}

impl<P: Pipeline> fmt::Debug for Label<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "label {} of batch number {}", self.index, self.batch)
    }
}

/// A position in a batch that other batches of the engine `E` can jump to in the pipeline `P`
/// ([`Batch::target`](super::Batch::target), [`Batch::jump_to`](super::Batch::jump_to)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<E: Engine, P: Pipeline> {
    pub(super) buffer: BufferExtent,
    pub(super) delta: u64,
    pub(super) marker: PhantomData<(E, P)>,
}

impl<E: Engine, P: Pipeline> Target<E, P> {
    /// GPU address of the target.
    pub const fn address(&self) -> u64 {
        self.buffer.address + self.delta
    }
}

/// Name, address and size of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BufferExtent {
    pub name: Arc<str>,
    pub address: u64,
    pub size: u64,
}

impl BufferExtent {
    pub fn of(object: &impl super::Object) -> BufferExtent {
        BufferExtent { name: object.name().clone(), address: object.address(), size: object.size() }
    }
}

impl super::Object for BufferExtent {
    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn size(&self) -> u64 {
        self.size
    }
}

/// The state of a label in its batch.
#[derive(Debug, Clone, Default)]
pub(super) struct LabelState {
    /// Segment and dword, once bound.
    pub position: Option<(usize, usize)>,
    /// Jumps to the label that were emitted before it was bound.
    pub jumps: Vec<Position>,
}
