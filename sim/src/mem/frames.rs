//! A map from frame numbers to the slots where the frames are stored: a tree of four levels with
//! 512 entries per node, like the page tables themselves.

/// The storage of a frame: a block and a page of that block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Slot {
    pub(super) block: u32,
    pub(super) page: u32,
}

impl Slot {
    /// The slot of a frame that does not exist.
    pub(super) const NOWHERE: Slot = Slot { block: u32::MAX, page: 0 };
    /// The slot of every installed frame that nothing has written: a page of zeros, for reading
    /// only.
    pub(super) const UNTOUCHED: Slot = Slot { block: 0, page: 0 };
}

/// A map from frame numbers (36 bits) to slots.
#[derive(Clone, Debug)]
pub(super) struct FrameMap {
    /// Inner nodes; the root comes first. An entry is the index of a child node, or 0 if there is
    /// no child. In the lowest level of inner nodes, an entry is the index of a leaf plus 1, or 0.
    nodes: Vec<[u32; 512]>,
    leaves: Vec<[Slot; 512]>,
}

impl Default for FrameMap {
    fn default() -> Self {
        FrameMap { nodes: vec![[0; 512]], leaves: Vec::new() }
    }
}

/// The index of `number` in a node whose entries cover `2^shift` frames.
#[inline(always)]
fn index(number: u64, shift: u32) -> usize {
    (number >> shift) as usize % 512
}

impl FrameMap {
    /// The slot of frame `number`; `None` if the frame does not exist.
    #[inline]
    pub(super) fn get(&self, number: u64) -> Option<Slot> {
        if number >> 36 != 0 {
            return None;
        }
        let mut node = 0;
        for shift in [27, 18] {
            node = self.nodes[node][index(number, shift)] as usize;
            if node == 0 {
                return None;
            }
        }
        let leaf = self.nodes[node][index(number, 9)] as usize;
        let slot = self.leaves.get(leaf.wrapping_sub(1))?[index(number, 0)];
        (slot != Slot::NOWHERE).then_some(slot)
    }

    /// Sets the slot of frame `number`.
    pub(super) fn set(&mut self, number: u64, slot: Slot) {
        debug_assert_eq!(number >> 36, 0);
        let mut node = 0;
        for shift in [27, 18] {
            let at = index(number, shift);
            if self.nodes[node][at] == 0 {
                self.nodes[node][at] = self.nodes.len() as u32;
                self.nodes.push([0; 512]);
            }
            node = self.nodes[node][at] as usize;
        }
        let at = index(number, 9);
        if self.nodes[node][at] == 0 {
            self.leaves.push([Slot::NOWHERE; 512]);
            self.nodes[node][at] = self.leaves.len() as u32;
        }
        let leaf = self.nodes[node][at] as usize - 1;
        self.leaves[leaf][index(number, 0)] = slot;
    }
}
