//! The lines of memory: who wrote their bytes, and which caches have read them.

use super::caches::{Path, Time};
use crate::mem::PAGE;
use crate::mem::lines::LINES;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The latest write to some bytes of a page.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// Graphics address of the page's first byte, as the writer saw it.
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

impl Write {
    /// True if both were made through the same path by the same packet or instruction.
    pub fn continues(&self, other: &Write) -> bool {
        (self.path, self.author) == (other.path, other.author)
    }
}

/// What is recorded for a page. No byte has more than one write: the latest.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Writes to whole lines, with a bit for each line that no later write has replaced.
    pub whole: SmallVec<[(u64, Write); 2]>,
    /// Writes to parts of lines: the line, a bit for each byte, and the write.
    pub parts: Vec<(u8, u64, Write)>,
    /// The lines that have an entry in `parts`, a bit for each.
    pub has_parts: u64,
    /// When each line was first read since the last invalidation, by path; 0 if it was not.
    pub fills: SmallVec<[(Path, Box<[Time; LINES]>); 1]>,
    /// The value of [`Pages::round`] for which the page is valid.
    round: u64,
}

impl Page {
    /// The latest writes to bytes of a line, with the bytes.
    pub fn writes(&self, line: usize) -> impl Iterator<Item = (u64, &Write)> {
        let whole = self.whole.iter().filter(move |(lines, _)| lines >> line & 1 == 1);
        let whole = whole.map(|(_, write)| (u64::MAX, write));
        let parts = if self.has_parts >> line & 1 == 1 { &self.parts[..] } else { &[] };
        let parts = parts.iter().filter(move |(of, ..)| usize::from(*of) == line);
        whole.chain(parts.map(|(_, bytes, write)| (*bytes, write)))
    }

    /// The times of [`fills`](Self::fills) of a path.
    #[inline]
    pub fn fills(&mut self, path: Path) -> &mut [Time; LINES] {
        let index = match self.fills.iter().position(|(of, _)| *of == path) {
            Some(index) => index,
            None => {
                self.fills.push((path, Box::new([0; LINES])));
                self.fills.len() - 1
            }
        };
        &mut self.fills[index].1
    }

    /// Records a write to whole lines, and removes the older writes to them. If `joins` returns
    /// true for the newest other write, the new one only extends it.
    pub fn replace_lines(&mut self, lines: u64, write: Write, joins: impl Fn(&Write) -> bool) {
        self.whole.iter_mut().for_each(|(of, _)| *of &= !lines);
        if self.has_parts & lines != 0 {
            self.parts.retain(|(line, ..)| lines >> line & 1 == 0);
            self.has_parts &= !lines;
        }
        self.whole.retain(|(of, _)| *of != 0);
        self.add_lines(lines, write, joins);
    }

    fn add_lines(&mut self, lines: u64, write: Write, joins: impl Fn(&Write) -> bool) {
        match self.whole.last_mut().filter(|(_, last)| joins(last)) {
            Some((of, last)) => {
                *of |= lines;
                last.time = write.time;
            }
            None => self.whole.push((lines, write)),
        }
    }

    /// Records a write to some bytes of a line, and removes the older writes to them. If `joins`
    /// returns true for an older write to the line, the new one only extends it.
    pub fn replace_bytes(
        &mut self,
        line: usize,
        bytes: u64,
        write: Write,
        joins: impl Fn(&Write) -> bool,
    ) {
        let bit = 1 << line;
        if let Some((of, whole)) = self.whole.iter_mut().find(|(of, _)| *of & bit != 0) {
            if joins(whole) {
                whole.time = write.time;
                return;
            }
            *of &= !bit;
            let rest = (line as u8, !bytes, *whole);
            self.parts.push(rest);
            self.whole.retain(|(of, _)| *of != 0);
        } else if self.has_parts & bit != 0 {
            let mut joined = None;
            self.parts.retain_mut(|(of, own, old)| {
                if usize::from(*of) != line {
                    return true;
                }
                if joins(old) {
                    let thread = if *own & !bytes == 0 { write.thread } else { old.thread };
                    joined = Some((*own, Write { thread, ..write }));
                    return false;
                }
                *own &= !bytes;
                *own != 0
            });
            if let Some((own, write)) = joined {
                return self.add_bytes(line, own | bytes, write, joins);
            }
        }
        self.add_bytes(line, bytes, write, joins);
    }

    fn add_bytes(&mut self, line: usize, bytes: u64, write: Write, joins: impl Fn(&Write) -> bool) {
        let bit = 1 << line;
        if bytes == u64::MAX {
            self.parts.retain(|(of, ..)| usize::from(*of) != line);
            self.has_parts &= !bit;
            self.add_lines(bit, write, joins);
        } else {
            self.parts.push((line as u8, bytes, write));
            self.has_parts |= bit;
        }
    }

    /// Empties the page.
    fn clear(&mut self) {
        self.whole.clear();
        self.parts.clear();
        self.has_parts = 0;
        self.fills.iter_mut().for_each(|(_, times)| **times = [0; LINES]);
    }
}

/// All pages that were accessed, by physical address.
#[derive(Debug, Default)]
pub struct Pages {
    /// Index in `pages` by number of the page.
    index: FxHashMap<u64, usize>,
    pages: Vec<Page>,
    /// Pages of recent accesses, each with its index. The low bits of a page select the entry.
    recent: Vec<(u64, usize)>,
    /// Number of calls of `clear`. Pages of earlier rounds are empty.
    round: u64,
}

/// Maximum number of pages that keep their memory at [`Pages::clear`]. If there are more, it frees
/// all.
const KEPT: usize = 1 << 12;

/// Number of pages in `Pages::recent`.
const RECENT: usize = 256;

impl Pages {
    /// The page that contains the byte at a physical address.
    #[inline]
    pub fn page(&mut self, physical: u64) -> &mut Page {
        let number = physical / PAGE;
        if self.recent.is_empty() {
            self.recent = vec![(u64::MAX, 0); RECENT];
        }
        let recent = &mut self.recent[number as usize % RECENT];
        if recent.0 != number {
            let pages = &mut self.pages;
            let index = *self.index.entry(number).or_insert_with(|| {
                pages.push(Page::default());
                pages.len() - 1
            });
            *recent = (number, index);
        }
        let page = &mut self.pages[recent.1];
        if page.round != self.round {
            page.clear();
            page.round = self.round;
        }
        page
    }

    /// Forgets all pages. Submissions often access the same pages, so the pages keep their memory.
    pub fn clear(&mut self) {
        if self.pages.len() > KEPT {
            *self = Pages::default();
        }
        self.round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::caches::Holder;
    use super::*;
    use crate::mem::lines::{LINE, mask};
    use genxml::engine::EngineId;
    use std::collections::HashMap;

    #[test]
    fn pages_are_found_again() {
        let path = Path::new(EngineId::Render, Holder::Data);
        let mut pages = Pages::default();
        pages.page(0x1044).fills(path)[1] = 7;
        assert_eq!(pages.page(0x2040).fills(path)[1], 0);
        assert_eq!(pages.page(0x107f).fills(path)[1], 7);
        pages.clear();
        assert_eq!(pages.page(0x1044).fills(path)[1], 0);
    }

    /// Oracle: the latest author of each byte in a map.
    #[test]
    fn each_byte_has_its_latest_writer() {
        let mut random = genxml_testkit::Random::new(5);
        let path = Path::new(EngineId::Render, Holder::Data);
        for _ in 0..200 {
            let (mut page, mut expected) = (Page::default(), HashMap::new());
            for time in 1..40 {
                let author = random.below(3) as u32;
                let write = Write { address: 0, time, author, thread: None, path };
                let joins = |other: &Write| other.continues(&write);
                if random.one_in(3) {
                    let lines = random.bits() & random.bits();
                    if lines == 0 {
                        continue;
                    }
                    page.replace_lines(lines, write, joins);
                    for byte in (0..PAGE).filter(|byte| lines >> (byte / LINE) & 1 == 1) {
                        expected.insert(byte, author);
                    }
                } else {
                    let (line, at) = (random.below(4), random.below(LINE));
                    let bytes = 1 + random.below(LINE - at);
                    page.replace_bytes(line as usize, mask(at, bytes), write, joins);
                    for byte in 0..bytes {
                        expected.insert(LINE * line + at + byte, author);
                    }
                }
            }
            for byte in 0..PAGE {
                let line = (byte / LINE) as usize;
                let found: Vec<_> = page
                    .writes(line)
                    .filter(|(bytes, _)| bytes >> (byte % LINE) & 1 == 1)
                    .map(|(_, write)| write.author)
                    .collect();
                assert_eq!(found, Vec::from_iter(expected.get(&byte).copied()), "{byte}");
            }
        }
    }
}
