//! The read position in a batch.

use crate::memory::{Memory, VA_MASK};
use std::collections::HashSet;

/// The read position in one batch. It follows jumps that do not return.
pub(super) struct Cursor<'a> {
    code: &'a dyn Memory,
    at: u64,
    /// The end of the batch, if its length is given.
    end: Option<u64>,
    /// The contiguous bytes that were looked up last, and their address. They usually contain the
    /// next packet.
    piece: &'a [u8],
    piece_at: u64,
    /// Targets of jumps, and the start.
    visited: HashSet<u64>,
}

impl<'a> Cursor<'a> {
    /// A cursor at `start` in `code`. The batch ends at `end` at the latest.
    pub fn new(start: u64, end: Option<u64>, code: &'a dyn Memory) -> Cursor<'a> {
        let visited = HashSet::from([start]);
        Cursor { code, at: start, end, piece: &[], piece_at: 0, visited }
    }

    /// Address of the next packet.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The memory that is read.
    pub fn code(&self) -> &'a dyn Memory {
        self.code
    }

    /// Dwords up to the end of the batch; 2^62 - 1 if its length is not given.
    pub fn room(&self) -> u64 {
        self.end.map_or(u64::MAX, |end| end.saturating_sub(self.at)) / 4
    }

    /// The bytes at the read position that are contiguous in the dump; `None` if not even a dword
    /// is mapped. Fewer than 4 bytes if the dword at the position is in two pieces of the dump.
    #[inline]
    pub fn tail(&mut self) -> Option<&'a [u8]> {
        let offset = self.at.checked_sub(self.piece_at).and_then(|at| usize::try_from(at).ok());
        let tail = match offset.and_then(|offset| self.piece.get(offset..)) {
            Some(tail) if tail.len() >= 4 => tail,
            _ => {
                (self.piece, self.piece_at) = (self.code.tail(self.at), self.at);
                self.piece
            }
        };
        (tail.len() >= 4 || self.code.bytes(self.at, &mut [0; 4]) == 4).then_some(tail)
    }

    /// Moves on by `dwords`.
    #[inline]
    pub fn advance(&mut self, dwords: u64) {
        self.at = (self.at + 4 * dwords) & VA_MASK;
    }

    /// Moves to `target` in `code`; the given end of the batch then no longer applies. Returns
    /// false without moving if the batch starts at `target` or has already jumped to it.
    pub fn jump(&mut self, target: u64, code: &'a dyn Memory) -> bool {
        if !self.visited.insert(target) {
            return false;
        }
        (self.at, self.end, self.code) = (target, None, code);
        // `code` may be another memory, with other contents at the same address.
        self.piece = &[];
        true
    }
}
