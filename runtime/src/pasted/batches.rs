//! Batches that a text describes, as submissions.

use crate::engine::EngineId;
use crate::memory::{Memory, VA_MASK};
use crate::submission::{Each, Submission};
use std::collections::BTreeMap;
use std::io;

/// Memory of a text: pieces that do not overlap, in order of their addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pieces(Vec<(u64, Vec<u8>)>);

impl Pieces {
    /// Memory of one piece.
    pub fn one(address: u64, bytes: Vec<u8>) -> Pieces {
        Pieces(vec![(address & VA_MASK, bytes)])
    }

    /// Memory of dwords by address. Dwords that follow each other become one piece.
    pub fn of_dwords(dwords: &BTreeMap<u64, u32>) -> Pieces {
        let mut pieces: Vec<(u64, Vec<u8>)> = Vec::new();
        for (address, dword) in dwords {
            match pieces.last_mut() {
                Some((start, bytes)) if *start + bytes.len() as u64 == *address => {
                    bytes.extend(dword.to_le_bytes());
                }
                Some((start, bytes)) if *start + bytes.len() as u64 > *address => {}
                _ => pieces.push((*address, dword.to_le_bytes().to_vec())),
            }
        }
        Pieces(pieces)
    }

    /// The pieces: address and bytes.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.0.iter().map(|(address, bytes)| (*address, &bytes[..]))
    }
}

impl Memory for Pieces {
    fn tail(&self, address: u64) -> &[u8] {
        let Some(before) = self.0.partition_point(|piece| piece.0 <= address).checked_sub(1) else {
            return &[];
        };
        let (start, bytes) = &self.0[before];
        let offset = usize::try_from(address - start).ok();
        offset.and_then(|offset| bytes.get(offset..)).unwrap_or_default()
    }
}

/// A batch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Its name, for people.
    pub name: String,
    /// Number of its context.
    pub context: u32,
    /// The engine that executes it.
    pub engine: EngineId,
    /// GPU address of the first command.
    pub address: u64,
    /// Bytes of the batch; 0 if it runs to its MI_BATCH_BUFFER_END.
    pub length: u64,
    /// The memory that the text has.
    pub memory: Pieces,
}

/// The batches of a text, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Batches(pub Vec<Batch>);

impl Batches {
    /// Passes the batches to `each`.
    ///
    /// # Errors
    /// Errors returned by `each`.
    pub fn submissions(&self, each: &mut Each<'_>) -> io::Result<()> {
        for (number, batch) in self.0.iter().enumerate() {
            let Batch { name, context, engine, address, length, memory } = batch;
            let plain = Submission::of_batch(*engine, memory, *address, *length);
            each(&Submission { name, number: number as u64, context: *context, ..plain })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_dwords() {
        let dwords = BTreeMap::from([(0x1000, 1), (0x1004, 2), (0x2000, 3)]);
        let pieces = Pieces::of_dwords(&dwords);
        let found: Vec<_> = pieces.iter().map(|(at, bytes)| (at, bytes.len())).collect();
        assert_eq!(found, [(0x1000, 8), (0x2000, 4)]);
        assert_eq!(pieces.tail(0x1004), [2, 0, 0, 0]);
        assert!(pieces.tail(0x1008).is_empty() && pieces.tail(0).is_empty());
    }
}
