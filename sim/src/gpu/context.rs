//! A hardware context of a [`Gpu`](crate::Gpu).

use crate::cs::streamer::Streamer;
use crate::machine::state::State;
use crate::mem::AddressSpace;

/// Identifies a context of a [`Gpu`](crate::Gpu).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct ContextId(usize);

impl ContextId {
    pub(crate) fn of(index: usize) -> Self {
        ContextId(index)
    }

    pub(crate) fn index(self) -> usize {
        self.0
    }

    /// The number by which MI_SEMAPHORE_SIGNAL names the context, if it was not submitted by an
    /// execution list.
    pub fn number(self) -> u32 {
        self.0 as u32
    }
}

/// A hardware context.
#[derive(Clone, Debug)]
pub struct Context {
    /// The context's page tables.
    pub space: AddressSpace,
    /// Latched packets and registers.
    pub state: State,
    /// True if the context has no page tables: all its addresses go through the global table.
    pub global_only: bool,
    /// The streamer, if the context was switched out within a batch or while it waited.
    pub suspended: Option<Streamer>,
}

impl Context {
    /// A context with the page tables `space` and default state.
    pub fn new(space: AddressSpace) -> Self {
        Context { space, state: State::default(), global_only: false, suspended: None }
    }
}
