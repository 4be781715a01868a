//! What an observer can read while it handles an event: memory, state, and what a thread has
//! besides its registers. Nothing is copied or computed before a function is called.

use super::state::State;
use crate::mem::Vm;
use std::fmt;

/// Memory and state during an event.
pub trait View: fmt::Debug {
    /// Fills `out` with memory as the context sees it; false if some of it cannot be read.
    fn read(&self, address: u64, out: &mut [u8]) -> bool;

    /// The physical address of a graphics address; `None` if it is not mapped.
    fn physical(&self, address: u64) -> Option<u64>;

    /// Latched packets, registers, and the state of units.
    fn state(&self) -> &State;

    /// Bytes of `acc0` and `acc1` of the thread; `None` if the event is not of a thread.
    fn accumulators(&self) -> Option<Vec<u8>> {
        None
    }

    /// Shared local memory of the thread group; `None` if the event is not of a thread. It is empty
    /// if the group has none.
    fn local(&self) -> Option<&[u8]> {
        None
    }

    /// Number of instructions that the thread has executed before the event; `None` if the event is
    /// not of a thread.
    fn executed(&self) -> Option<u64> {
        None
    }
}

/// The view of [`Event::Packet`](super::events::Event::Packet).
pub(super) struct PacketView<'a, 'm> {
    pub vm: &'a Vm<'m>,
    pub state: &'a State,
}

impl fmt::Debug for PacketView<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketView").finish_non_exhaustive()
    }
}

impl View for PacketView<'_, '_> {
    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        self.vm.read(address, out).is_ok()
    }

    fn physical(&self, address: u64) -> Option<u64> {
        self.vm.physical(address)
    }

    fn state(&self) -> &State {
        self.state
    }
}
