//! The record of a part that runs in parallel with other parts ([`crate::machine::parallel`]): the
//! dwords of the URB that it read and wrote.

use std::ops::Range;

/// Number of bits in a word of a set. Each bit is a dword of the URB.
const WORD: usize = 64;

/// A set of dwords of the URB: one bit for each. Dwords after the end of the vector are not in it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct Dwords(Vec<u64>);

impl Dwords {
    /// True if the set has all dwords of the range.
    fn contains(&self, dwords: &Range<usize>) -> bool {
        words(dwords).all(|(n, mask)| self.0.get(n).is_some_and(|word| word & mask == mask))
    }

    /// Adds the dwords of the range that are not in `except`.
    fn insert(&mut self, dwords: &Range<usize>, except: &Dwords) {
        for (n, mask) in words(dwords) {
            if self.0.len() <= n {
                self.0.resize(n + 1, 0);
            }
            self.0[n] |= mask & !except.0.get(n).unwrap_or(&0);
        }
    }

    /// True if the sets have a dword in common.
    fn intersects(&self, other: &Dwords) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }
}

/// The words of a set that have bits for a range, each with its index and a mask of these bits.
fn words(dwords: &Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let (start, end) = (dwords.start, dwords.end);
    (start / WORD..end.div_ceil(WORD)).map(move |n| {
        let from = start.saturating_sub(n * WORD);
        let to = (end - n * WORD).min(WORD);
        (n, u64::MAX << from & u64::MAX >> (WORD - to))
    })
}

/// The reads and writes of a part.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Record {
    /// Dwords that the part read and had not written itself before.
    read: Dwords,
    written: Dwords,
    /// The written dwords, in the order of their first writes, each with its value before.
    old: Vec<(usize, u32)>,
}

impl Record {
    /// Records a read of a range of dwords.
    #[inline]
    pub(super) fn read(&mut self, dwords: Range<usize>) {
        if !self.written.contains(&dwords) {
            self.read.insert(&dwords, &self.written);
        }
    }

    /// Records a write of a range of dwords. `value` returns the value of a dword before the write.
    /// `whole` is false if the write leaves some bytes of the first or last dword unchanged.
    #[inline]
    pub(super) fn write(
        &mut self,
        dwords: Range<usize>,
        value: impl Fn(usize) -> u32,
        whole: bool,
    ) {
        if self.written.contains(&dwords) {
            return;
        }
        if !whole {
            self.read.insert(&dwords, &self.written);
        }
        let new = dwords.clone().filter(|&dword| !self.written.contains(&(dword..dword + 1)));
        self.old.extend(new.map(|dword| (dword, value(dword))));
        self.written.insert(&dwords, &Dwords::default());
    }

    /// The dwords that were written, with their values before.
    pub(super) fn old(&self) -> &[(usize, u32)] {
        &self.old
    }
}

/// What a part did with the URB.
#[derive(Debug, Default)]
pub struct Changes {
    read: Dwords,
    /// The written dwords with their new values.
    pub(super) written: Vec<(usize, u32)>,
}

impl Changes {
    /// The changes of a record; `value` returns the new value of a dword.
    pub(super) fn new(record: Record, value: impl Fn(usize) -> u32) -> Changes {
        let written = record.old.iter().map(|&(dword, _)| (dword, value(dword))).collect();
        Changes { read: record.read, written }
    }
}

/// The dwords of the URB that merged parts wrote.
#[derive(Debug, Default)]
pub struct Written(Dwords);

impl Written {
    /// True if a part read nothing that an earlier part wrote. The writes include those of earlier
    /// waves, although the part saw them. So some parts are aborted without need. This is rare:
    /// shaders usually do not read what other threads left in the URB.
    pub fn admits(&self, part: &Changes) -> bool {
        !self.0.intersects(&part.read)
    }

    /// Adds the writes of a part.
    pub fn add(&mut self, part: &Changes) {
        for &(dword, _) in &part.written {
            self.0.insert(&(dword..dword + 1), &Dwords::default());
        }
    }
}
