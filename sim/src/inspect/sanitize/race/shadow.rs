//! Who accessed which bytes during a packet: a cell for each four bytes, or for each byte of pages
//! with accesses that are not whole dwords.

use super::order::Stamp;
use rustc_hash::FxHashMap;

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Bytes of a cell in most pages.
const DWORD: u64 = 4;

/// Number of an access in the list of accesses, plus 1. 0 stands for none.
pub type Number = u32;

/// The access with a number.
pub fn stamp(stamps: &[Stamp], number: Number) -> Option<&Stamp> {
    stamps.get((number as usize).checked_sub(1)?)
}

/// The newest of the accesses that need no order among each other. Three are enough to find one
/// without order before a later access: the newest, the newest of another thread than that one, and
/// the newest of another group than the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Newest(pub [Number; 3]);

impl Newest {
    /// Adds an access.
    #[inline]
    pub fn add(&mut self, number: Number, stamps: &[Stamp]) {
        let old = self.0[0];
        if old == number {
            return;
        }
        self.0[0] = number;
        if let (Some(old_stamp), Some(new)) = (stamp(stamps, old), stamp(stamps, number)) {
            if old_stamp.thread != new.thread {
                self.0[1] = old;
            }
            if old_stamp.group != new.group {
                self.0[2] = old;
            }
        }
    }
}

/// The accesses to the bytes of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The newest write. Older ones were in order before it, or are reported already.
    pub write: Number,
    /// The newest write of a render target.
    pub output: Number,
    /// Reads since the latest write.
    pub reads: Newest,
    /// Atomic operations since the latest write.
    pub atomics: Newest,
}

#[derive(Debug)]
struct Page {
    /// Graphics address of the page, minus its key.
    delta: u64,
    /// Bytes of a cell.
    grain: u64,
    cells: Vec<Cell>,
    /// The value of [`Shadow::round`] for which the cells are valid.
    round: u64,
}

/// Maximum number of pages that keep their memory at [`Shadow::clear`]. If there are more, it frees
/// all.
const KEPT: usize = 1 << 12;

/// The cells of all bytes.
#[derive(Debug, Default)]
pub struct Shadow {
    pages: FxHashMap<u64, Page>,
    /// Number of calls of `clear`. Pages of earlier rounds are empty.
    round: u64,
}

impl Shadow {
    /// Forgets all accesses. Packets often access the same pages, so the pages keep their memory.
    pub fn clear(&mut self) {
        self.round += 1;
        if self.pages.len() > KEPT {
            self.pages.clear();
        }
    }

    /// Calls `work` for each cell of `bytes` bytes from `first` on, with the graphics address and
    /// the number of bytes of the cell. `address` is the graphics address of the first byte.
    pub fn each(
        &mut self,
        first: u64,
        address: u64,
        bytes: u64,
        mut work: impl FnMut(u64, u64, &mut Cell),
    ) {
        let (mut at, end) = (first, first + bytes);
        while at < end {
            let key = at / PAGE;
            let stop = end.min((key + 1) * PAGE);
            let round = self.round;
            let page = self.pages.entry(key).or_insert_with(|| Page {
                delta: 0,
                grain: DWORD,
                cells: vec![Cell::default(); (PAGE / DWORD) as usize],
                round,
            });
            if page.round != round {
                page.cells.truncate((PAGE / DWORD) as usize);
                page.cells.fill(Cell::default());
                (page.grain, page.round) = (DWORD, round);
            }
            page.delta = address.wrapping_sub(first);
            if page.grain != 1 && (!at.is_multiple_of(DWORD) || !stop.is_multiple_of(DWORD)) {
                page.cells = page.cells.iter().flat_map(|cell| [*cell; DWORD as usize]).collect();
                page.grain = 1;
            }
            let Page { delta, grain, .. } = *page;
            let range = (at % PAGE / grain) as usize..((stop - 1) % PAGE / grain) as usize + 1;
            for (n, cell) in page.cells[range].iter_mut().enumerate() {
                work((at + n as u64 * grain).wrapping_add(delta), grain, cell);
            }
            at = stop;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte access splits the cells of its page, and keeps what they hold.
    #[test]
    fn cells_split() {
        let mut shadow = Shadow::default();
        shadow.each(0x1000, 0x5000, 8, |_, _, cell| cell.write = 7);
        let mut seen = Vec::new();
        shadow.each(0x1003, 0x5003, 6, |address, bytes, cell| {
            seen.push((address, bytes, cell.write));
        });
        let expected = [0x5003, 0x5004, 0x5005, 0x5006, 0x5007, 0x5008]
            .map(|address| (address, 1, if address < 0x5008 { 7 } else { 0 }));
        assert_eq!(seen, expected);
    }

    /// Pages that are used again have neither cells nor the size of cells of the round before.
    #[test]
    fn pages_are_empty_after_a_clear() {
        let mut shadow = Shadow::default();
        shadow.each(0x1001, 0x1001, 3, |_, _, cell| cell.write = 7);
        shadow.clear();
        let mut seen = Vec::new();
        shadow.each(0x1000, 0x1000, 8, |address, bytes, cell| {
            seen.push((address, bytes, cell.write));
        });
        assert_eq!(seen, [(0x1000, 4, 0), (0x1004, 4, 0)]);
    }

    /// An access over the end of a page.
    #[test]
    fn pages() {
        let mut shadow = Shadow::default();
        let mut seen = Vec::new();
        shadow.each(0x1ffc, 0x1ffc, 8, |address, bytes, _| seen.push((address, bytes)));
        assert_eq!(seen, [(0x1ffc, 4), (0x2000, 4)]);
    }

    /// After accesses of three groups, the newest of another thread and of another group are kept.
    #[test]
    fn newest() {
        let access = |thread, group| Stamp { thread, group, ..Stamp::default() };
        let stamps = [access(0, 0), access(1, 0), access(2, 1), access(3, 1), access(3, 1)];
        let mut newest = Newest::default();
        for number in 1..=5 {
            newest.add(number, &stamps);
        }
        assert_eq!(newest.0, [5, 3, 2]);
    }
}
