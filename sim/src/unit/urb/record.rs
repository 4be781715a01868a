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

/// The dwords of the URB that have their bits in one word of a set.
pub(super) type Block = [u32; WORD];

/// Copies block `n` of the bytes of the URB. Bytes after the end are 0.
pub(super) fn block(bytes: &[u8], n: usize) -> Block {
    let mut block = [0; WORD];
    let to: &mut [u8] = bytemuck::cast_slice_mut(&mut block);
    let from = bytes.get(n * to.len()..).unwrap_or_default();
    let length = from.len().min(to.len());
    to[..length].copy_from_slice(&from[..length]);
    block
}

/// The reads and writes of a part.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Record {
    /// Dwords that the part read and had not written itself before.
    read: Dwords,
    written: Dwords,
    /// The blocks with written dwords, in the order of their first writes: the index of each, and
    /// its values before.
    old: Vec<(usize, Block)>,
}

impl Record {
    /// Records a read of a range of dwords.
    #[inline]
    pub(super) fn read(&mut self, dwords: Range<usize>) {
        if !self.written.contains(&dwords) {
            self.read.insert(&dwords, &self.written);
        }
    }

    /// Records a write of a range of dwords. `bytes` is the content of the URB before the write.
    /// `whole` is false if the write leaves some bytes of the first or last dword unchanged.
    #[inline]
    pub(super) fn write(&mut self, dwords: Range<usize>, bytes: &[u8], whole: bool) {
        // Fast path for most ranges: they lie in one block, and an earlier write to this block has
        // saved its old values.
        let (n, first) = (dwords.start / WORD, dwords.start % WORD);
        if let Some(word) = self.written.0.get_mut(n)
            && whole
            && *word != 0
            && (1..=WORD - first).contains(&dwords.len())
        {
            *word |= u64::MAX >> (WORD - dwords.len()) << first;
            return;
        }
        if !whole {
            self.read.insert(&dwords, &self.written);
        }
        for (n, mask) in words(&dwords) {
            if self.written.0.len() <= n {
                self.written.0.resize(n + 1, 0);
            }
            let word = &mut self.written.0[n];
            if *word == 0 {
                self.old.push((n, block(bytes, n)));
            }
            *word |= mask;
        }
    }

    /// The blocks with written dwords: the index of each, and its values before.
    pub(super) fn old(&self) -> &[(usize, Block)] {
        &self.old
    }
}

/// What a part did with the URB.
#[derive(Debug, Default)]
pub struct Changes {
    read: Dwords,
    /// The blocks with written dwords: the index of each, a mask of the written dwords, and the new
    /// values.
    pub(super) written: Vec<(usize, u64, Block)>,
}

impl Changes {
    /// The changes of a record. `bytes` are those of the URB after all writes.
    pub(super) fn new(record: &mut Record, bytes: &[u8]) -> Changes {
        let written = &record.written.0;
        let blocks = record.old.iter().map(|&(n, _)| (n, written[n], block(bytes, n)));
        Changes { written: blocks.collect(), read: std::mem::take(&mut record.read) }
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
        for &(n, mask, _) in &part.written {
            if self.0.0.len() <= n {
                self.0.0.resize(n + 1, 0);
            }
            self.0.0[n] |= mask;
        }
    }
}
