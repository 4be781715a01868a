//! Places to jump to.

use super::builder::Position;
use crate::engine::Engine;
use crate::pipeline::Pipeline;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

/// A place in a batch that jumps of the same batch lead to, maybe one that comes later
/// ([`Batch::label`](super::Batch::label), [`Batch::bind`](super::Batch::bind),
/// [`Batch::here`](super::Batch::here)). Jumps from and to it happen in the pipeline `P`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Label<P: Pipeline> {
    /// Which batch: a number that no other has.
    pub(super) batch: usize,
    pub(super) index: usize,
    pub(super) pipeline: PhantomData<P>,
}

impl<P: Pipeline> fmt::Debug for Label<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "label {} of batch number {}", self.index, self.batch)
    }
}

/// A place in a batch that other batches of the engine `E` can jump to in the pipeline `P`
/// ([`Batch::target`](super::Batch::target), [`Batch::jump_to`](super::Batch::jump_to)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<E: Engine, P: Pipeline> {
    pub(super) buffer: Place,
    pub(super) delta: u64,
    pub(super) marker: PhantomData<(E, P)>,
}

impl<E: Engine, P: Pipeline> Target<E, P> {
    /// Its GPU address.
    pub const fn address(&self) -> u64 {
        self.buffer.address + self.delta
    }
}

/// Which buffer, without its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub name: Arc<str>,
    pub address: u64,
    pub size: u64,
}

impl Place {
    pub fn of(object: &impl super::Object) -> Place {
        Place { name: object.name().clone(), address: object.address(), size: object.size() }
    }
}

impl super::Object for Place {
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

/// What a batch knows of a label.
#[derive(Debug, Clone, Default)]
pub(super) struct LabelState {
    /// Segment and dword, once bound.
    pub place: Option<(usize, usize)>,
    /// Jumps that wait for it.
    pub jumps: Vec<Position>,
}
