//! What an observer can read before an instruction of a thread.

use super::local::Local;
use crate::eu::Thread;
use crate::eu::regions::ACC_FILE;
use crate::machine::state::State;
use crate::machine::view::View;
use crate::mem::Vm;
use std::fmt;

/// The view of [`Event::Instruction`](crate::Event::Instruction).
pub(super) struct ThreadView<'a, 'm> {
    pub vm: &'a Vm<'m>,
    pub state: &'a State,
    pub thread: &'a Thread,
    pub local: &'a Local,
}

impl fmt::Debug for ThreadView<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadView").finish_non_exhaustive()
    }
}

impl View for ThreadView<'_, '_> {
    fn read(&self, address: u64, out: &mut [u8]) -> bool {
        self.vm.read(address, out).is_ok()
    }

    fn physical(&self, address: u64) -> Option<u64> {
        self.vm.physical(address)
    }

    fn state(&self) -> &State {
        self.state
    }

    fn accumulators(&self) -> Option<Vec<u8>> {
        let dword = |at| self.thread.acc.bits(at, 4) as u32;
        Some((0..ACC_FILE).step_by(4).flat_map(|at| dword(at).to_le_bytes()).collect())
    }

    fn local(&self) -> Option<&[u8]> {
        Some(&self.local.slm)
    }

    fn executed(&self) -> Option<u64> {
        Some(self.thread.executed())
    }
}
