//! The submission port of an engine: the lists of contexts that the host submitted.

use genxml::gen8::memory::ContextDescriptorFormat as Descriptor;

/// An execution list: two contexts that run one after the other. The second may be missing.
pub type List = [Descriptor; 2];

/// The submission port of an engine and its lists.
#[derive(Clone, Debug, Default)]
pub struct Execlists {
    /// Dwords of the next list that were written so far: fewer than four.
    pub(super) written: Vec<u32>,
    /// The list that runs, and the index of the element that runs.
    pub(super) running: Option<(List, usize)>,
    /// The list that comes next.
    pub(super) pending: Option<List>,
}

impl Execlists {
    /// The current element of the running list.
    pub(super) fn element(&self) -> Option<&Descriptor> {
        self.running.as_ref().map(|(list, element)| &list[*element])
    }

    /// True if the element that runs is the last of its list.
    pub(super) fn is_last(&self) -> bool {
        self.running.as_ref().is_some_and(|(list, element)| *element == 1 || !list[1].valid)
    }

    /// Drops the list that runs and makes the pending list the running one. Dwords written to the
    /// port so far stay.
    pub(super) fn give_up(&mut self) {
        self.running = self.pending.take().map(|list| (list, 0));
    }
}
