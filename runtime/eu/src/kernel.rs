//! Kernels: sequences of instructions in memory.

use crate::decode::{DecodeError, Problem, Raw, decode_on, length};
use crate::generation::Generation;
use crate::instruction::Instruction;

/// An instruction and its position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Located {
    /// Byte offset in the kernel.
    pub position: u64,
    /// The instruction.
    pub instruction: Instruction,
}

/// The bytes of a kernel, which are read by position. They need not be in memory.
pub trait Code {
    /// Length in bytes.
    fn length(&self) -> u64;

    /// Up to four dwords from the byte `position` on, and their number. There are fewer than four
    /// at the end of the kernel, and none after an error.
    fn dwords(&mut self, position: u64) -> ([u32; 4], usize);
}

impl Code for &[u8] {
    fn length(&self) -> u64 {
        self.len() as u64
    }

    fn dwords(&mut self, position: u64) -> ([u32; 4], usize) {
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        dwords(self.get(start..).unwrap_or_default())
    }
}

impl<C: Code + ?Sized> Code for &mut C {
    fn length(&self) -> u64 {
        C::length(self)
    }

    fn dwords(&mut self, position: u64) -> ([u32; 4], usize) {
        C::dwords(self, position)
    }
}

/// Iterates over the instructions of a kernel. An instruction that cannot be decoded is returned as
/// an error with its position; the iteration continues after it. Fewer than four bytes at the end
/// are ignored.
pub fn instructions(bytes: &[u8]) -> Instructions<&[u8]> {
    Instructions::of(bytes)
}

/// Iterator over a kernel, see [`instructions`].
#[derive(Clone, Debug)]
pub struct Instructions<C> {
    code: C,
    position: u64,
    generation: Generation,
}

impl<C: Code> Instructions<C> {
    /// The instructions of `code`, as [`instructions`].
    pub fn of(code: C) -> Instructions<C> {
        Instructions::from_position(code, 0)
    }

    /// The instructions of `code` from the byte `position` on.
    pub fn from_position(code: C, position: u64) -> Instructions<C> {
        Instructions { code, position, generation: Generation::Gen8 }
    }

    /// The same instructions, decoded as those of `generation`. Without this call, they are decoded
    /// as those of Gen8.
    pub fn on(self, generation: Generation) -> Instructions<C> {
        Instructions { generation, ..self }
    }

    /// Byte offset of the next instruction.
    pub fn position(&self) -> u64 {
        self.position
    }
}

impl<C: Code> Iterator for Instructions<C> {
    type Item = Result<Located, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.position;
        let (dwords, count) = self.code.dwords(position);
        let dwords = &dwords[..count];
        let first = *dwords.first()?;
        self.position += u64::from(length(first));
        let located = |instruction| Located { position, instruction };
        let decoded = decode_on(self.generation, dwords);
        Some(decoded.map(located).map_err(|error| DecodeError { position, ..error }))
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
/// is found. If the kernel has no end of thread, the error is [`Problem::Truncated`] at its end.
pub fn length_until_eot(bytes: &[u8]) -> Result<u64, DecodeError> {
    end_of_thread(bytes)
}

/// As [`length_until_eot`], for code that need not be in memory.
pub fn end_of_thread(code: impl Code) -> Result<u64, DecodeError> {
    end_of_thread_on(Generation::Gen8, code)
}

/// As [`end_of_thread`], for code of `generation`.
pub fn end_of_thread_on(generation: Generation, mut code: impl Code) -> Result<u64, DecodeError> {
    for located in Instructions::of(&mut code).on(generation) {
        let Located { position, instruction } = located?;
        if instruction.ends_thread() {
            return Ok(position + u64::from(instruction.length()));
        }
    }
    let problem = Problem::Truncated { needed: 16, available: 0 };
    Err(DecodeError { position: code.length(), raw: Raw::new(&[]), problem })
}
