//! Records what a walk has emitted, so that it is not emitted again.

use super::kernel::Used;
use super::stage::Stage;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Largest number of recorded states of stages. When it is reached, all are forgotten, so their
/// tables are emitted again.
const MAX_DRAWS: usize = 1 << 16;

/// The set of what was emitted.
#[derive(Default)]
pub(super) struct Seen {
    /// True if tables and structures of draws count as new every time.
    every_draw: bool,
    /// Kernels by address, and what they use.
    kernels: HashMap<u64, Rc<Used>>,
    /// Index and state of each stage of a draw, with GPU addresses instead of offsets.
    stages: HashSet<(usize, Stage)>,
    /// Arrays of state: address and number of elements.
    arrays: HashSet<(u64, u32)>,
    /// Fingerprints of draws whose vertices were emitted.
    vertices: HashSet<u64>,
    /// Targets of conditional jumps.
    conditional: HashSet<u64>,
}

impl Seen {
    /// An empty set. With `every_draw`, the tables and structures of draws count as new every time.
    pub fn new(every_draw: bool) -> Seen {
        Seen { every_draw, ..Seen::default() }
    }

    /// What the kernel at this address uses, if it was emitted.
    pub fn kernel(&self, at: u64) -> Option<Rc<Used>> {
        self.kernels.get(&at).cloned()
    }

    /// Records that the kernel at this address was emitted, and what it uses.
    pub fn add_kernel(&mut self, at: u64, used: Rc<Used>) {
        self.kernels.insert(at, used);
    }

    /// True if the tables of this stage must be emitted: its state is new, or `every_draw` is set.
    pub fn new_stage(&mut self, index: usize, stage: &Stage) -> bool {
        self.stages.insert((index, stage.clone())) || self.every_draw
    }

    /// Forgets all stages if there are `MAX_DRAWS`.
    pub fn limit_stages(&mut self) {
        if self.stages.len() == MAX_DRAWS {
            self.stages.clear();
        }
    }

    /// True if the array at this address, with this number of elements, must be emitted: it is
    /// new, or `every_draw` is set.
    pub fn new_array(&mut self, at: u64, elements: u32) -> bool {
        self.arrays.insert((at, elements)) || self.every_draw
    }

    /// True if the vertices of a draw with this fingerprint must be emitted: the fingerprint is
    /// new, or `every_draw` is set.
    pub fn new_vertices(&mut self, fingerprint: u64) -> bool {
        self.vertices.insert(fingerprint) || self.every_draw
    }

    /// True if no conditional jump led to this address before.
    pub fn new_conditional(&mut self, target: u64) -> bool {
        self.conditional.insert(target)
    }
}
