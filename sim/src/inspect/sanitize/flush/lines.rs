//! The lines of memory: who wrote their bytes, and which caches have read them.

use super::caches::{Path, Time};
use rustc_hash::FxHashMap;

/// Bytes of a line. All caches of Gen8 have lines of 64 bytes.
pub const LINE: u64 = 64;
/// Lines of a page of 4 KiB.
const LINES: usize = 64;

/// The latest write to some bytes of a line.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// A bit for each byte.
    pub mask: u64,
    /// Graphics address of the line's first byte, as the writer saw it.
    pub address: u64,
    /// When it was written.
    pub time: Time,
    /// Index of the writer in [`Flush::authors`](super::Flush).
    pub author: u32,
    /// Number of the thread, if a thread's message wrote it.
    pub thread: Option<u32>,
    /// The path that it was written through.
    pub path: Path,
}

/// A read that brought the line into a cache.
#[derive(Clone, Copy, Debug)]
pub struct Fill {
    /// When it was read.
    pub time: Time,
    /// The path that it was read through.
    pub path: Path,
}

/// What is recorded for a line.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Writes, each with the bytes that no later write has replaced.
    pub writes: Vec<Write>,
    /// The first read through each path since its last invalidation.
    pub fills: Vec<Fill>,
    /// The value of [`Lines::round`] for which the line is valid.
    round: u64,
}

/// All lines that were accessed, by physical address.
#[derive(Debug, Default)]
pub struct Lines {
    /// Index in `lines` of the first line of each page.
    index: FxHashMap<u64, usize>,
    lines: Vec<Line>,
    /// Pages of recent accesses, each with its index. The low bits of a page select the entry.
    recent: Vec<(u64, usize)>,
    /// Number of calls of `clear`. Lines of earlier rounds are empty.
    round: u64,
}

/// Maximum number of lines that keep their memory at [`Lines::clear`]. If there are more, it frees
/// all.
const KEPT: usize = 1 << 18;

/// Number of pages in `Lines::recent`.
const RECENT: usize = 256;

impl Lines {
    /// The line that contains the byte at a physical address.
    pub fn line(&mut self, physical: u64) -> &mut Line {
        let (page, line) = (physical / (LINE * LINES as u64), (physical / LINE) as usize % LINES);
        if self.recent.is_empty() {
            self.recent = vec![(u64::MAX, 0); RECENT];
        }
        let recent = &mut self.recent[page as usize % RECENT];
        if recent.0 != page {
            let lines = &mut self.lines;
            let index = *self.index.entry(page).or_insert_with(|| {
                lines.resize_with(lines.len() + LINES, Line::default);
                lines.len() - LINES
            });
            *recent = (page, index);
        }
        let line = &mut self.lines[recent.1 + line];
        if line.round != self.round {
            line.writes.clear();
            line.fills.clear();
            line.round = self.round;
        }
        line
    }
}

impl Lines {
    /// Forgets all lines. Submissions often access the same lines, so the lines keep their memory.
    pub fn clear(&mut self) {
        if self.lines.len() > KEPT {
            *self = Lines::default();
        }
        self.round += 1;
    }
}

/// The bytes from `at` on, `bytes` of them, as a mask of a line. Both are in the line.
pub fn mask(at: u64, bytes: u64) -> u64 {
    u64::MAX >> (LINE - bytes.clamp(1, LINE)) << (at % LINE)
}

#[cfg(test)]
mod tests {
    use super::{Lines, mask};

    #[test]
    fn masks_cover_the_bytes() {
        assert_eq!([mask(0, 64), mask(63, 1), mask(4, 4)], [u64::MAX, 1 << 63, 0xf0]);
    }

    #[test]
    fn lines_are_found_again() {
        let mut lines = Lines::default();
        lines.line(0x1044).fills.push(super::Fill {
            time: 7,
            path: super::Path::new(
                genxml::engine::EngineId::Render,
                super::super::caches::Holder::Data,
            ),
        });
        assert_eq!(lines.line(0x1000).fills.len(), 0);
        assert_eq!(lines.line(0x2040).fills.len(), 0);
        assert_eq!(lines.line(0x107f).fills[0].time, 7);
        lines.clear();
        assert_eq!(lines.line(0x1044).fills.len(), 0);
    }
}
