//! Kernels: sequences of instructions in memory.

use crate::decode::{DecodeError, Problem, Raw, decode, length};
use crate::instruction::Instruction;

/// An instruction and its position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Located {
    /// Byte offset in the kernel.
    pub position: u64,
    /// The instruction.
    pub instruction: Instruction,
}

/// Iterates over the instructions in `bytes`. An instruction that cannot be decoded is returned as
/// an error with its position; the iteration continues after it. Fewer than four bytes at the end
/// are ignored.
pub fn instructions(bytes: &[u8]) -> Instructions<'_> {
    Instructions { bytes, position: 0 }
}

/// Iterator over a kernel, see [`instructions`].
#[derive(Clone, Debug)]
pub struct Instructions<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl Iterator for Instructions<'_> {
    type Item = Result<Located, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.position..)?;
        let (dwords, count) = dwords(rest);
        let dwords = &dwords[..count];
        let first = *dwords.first()?;
        let position = self.position as u64;
        self.position += length(first) as usize;
        let located = |instruction| Located { position, instruction };
        Some(decode(dwords).map(located).map_err(|error| DecodeError { position, ..error }))
    }
}

/// Up to four dwords from the start of `bytes`, and their number.
pub(crate) fn dwords(bytes: &[u8]) -> ([u32; 4], usize) {
    let mut dwords = [0; 4];
    let mut count = 0;
    for (dword, chunk) in dwords.iter_mut().zip(bytes.chunks_exact(4)) {
        // The chunk has four bytes.
        *dword = chunk.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        count += 1;
    }
    (dwords, count)
}

/// Number of bytes up to and including the first send that ends the thread. This is the length of a
/// straight-line kernel of unknown size. A kernel with several ends, or one that jumps over its
/// end, may be longer.
///
/// Returns an error for the first instruction that is truncated or cannot be decoded before the end
/// is found. If `bytes` have no end of thread, the error is [`Problem::Truncated`] at their end.
pub fn length_until_eot(bytes: &[u8]) -> Result<u64, DecodeError> {
    for located in instructions(bytes) {
        let Located { position, instruction } = located?;
        if instruction.ends_thread() {
            return Ok(position + u64::from(instruction.length()));
        }
    }
    let problem = Problem::Truncated { needed: 16, available: 0 };
    Err(DecodeError { position: bytes.len() as u64, raw: Raw::new(&[]), problem })
}
