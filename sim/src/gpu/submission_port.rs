//! The submission port of an engine: the lists of contexts that the host gave it.

use genxml::gen8::memory::ContextDescriptorFormat as Descriptor;

/// Two contexts, to be run one after the other; the second may be missing.
pub type List = [Descriptor; 2];

/// The submission port of an engine and what was written to it.
#[derive(Clone, Debug, Default)]
pub struct Execlists {
    /// Dwords that were written so far, less than four.
    pub(super) written: Vec<u32>,
    /// The list that runs, and which of its elements.
    pub(super) running: Option<(List, usize)>,
    /// The list that comes next.
    pub(super) pending: Option<List>,
}

impl Execlists {
    /// The element that runs or comes next.
    pub(super) fn element(&self) -> Option<&Descriptor> {
        self.running.as_ref().map(|(list, element)| &list[*element])
    }

    /// True if the element that runs is the last of its list.
    pub(super) fn is_last(&self) -> bool {
        self.running.as_ref().is_some_and(|(list, element)| *element == 1 || !list[1].valid)
    }

    /// Gives up the list that runs. The next one, and what was written to the port, stay.
    pub(super) fn give_up(&mut self) {
        self.running = self.pending.take().map(|list| (list, 0));
    }
}
