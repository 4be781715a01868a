//! Assigns each latched container its positions (slots) in a store of all latched state, in the
//! order of the containers.

use crate::model::{Container, Spec};

/// The slots of a container; the same as `genxml_core::latch::Slots`.
pub struct Slots {
    pub first: u32,
    pub entries: u32,
    pub offset: u32,
    pub dwords: u32,
    pub index: Option<(u32, u32)>,
}

/// The slots of all latched containers.
#[derive(Default)]
pub struct Latches {
    /// The slots of each container; `None` if it is not latched.
    pub slots: Vec<Option<Slots>>,
    /// Number of all slots.
    pub count: u32,
    /// Dwords of all slots.
    pub dwords: u32,
}

impl Latches {
    pub fn new(spec: &Spec) -> Self {
        let mut latches = Latches::default();
        for container in &spec.containers {
            let slots = container.latch.is_some().then(|| latches.take(container));
            latches.slots.push(slots);
        }
        latches
    }

    /// Takes the next free slots for a container.
    fn take(&mut self, container: &Container) -> Slots {
        let index = container.latch_index().map(|field| (field.start, field.end));
        let entries = index.map_or(1, |(start, end)| 1 << (end - start + 1));
        let dwords = container.max_dwords().unwrap_or(0);
        let slots = Slots { first: self.count, entries, offset: self.dwords, dwords, index };
        self.count += entries;
        self.dwords += entries * dwords;
        slots
    }
}
