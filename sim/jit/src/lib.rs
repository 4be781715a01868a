//! Vector code for x86-64, made at run time and called through a safe interface.
//!
//! The code has no jumps, so every call ends. It reads and writes one block of
//! memory whose size is known when the code is made. [`Assembler`] checks every memory operand
//! against that size, so the code cannot access other memory. [`Code`] keeps the code in pages that
//! are either writable or executable, never both.
//!
//! The instructions are those of AVX2 and FMA: eight lanes of 32 bits in each register. The names
//! and encodings are those of Intel's Software Developer's Manual, volume 2.

#[cfg(all(target_arch = "x86_64", unix))]
mod pages;

mod assembler;

pub use assembler::{Assembler, Lanes, Memory, Op2, Op3, Reg};

use std::fmt;

/// Lanes of a vector register.
pub const LANES: usize = 8;
/// Bytes of a vector register.
pub const ROW: usize = 32;
/// Lanes of the mask that code is called with.
pub const MASK_LANES: usize = 32;

/// Code that can be called. It holds any number of routines.
pub struct Code {
    /// Size in bytes of the block that the routines work on.
    block: usize,
    #[cfg(all(target_arch = "x86_64", unix))]
    pages: pages::Pages,
    /// Offset of the first byte of each routine.
    routines: Vec<usize>,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("routines", &self.routines.len()).finish_non_exhaustive()
    }
}

impl Code {
    /// True if this processor and operating system can run the code: x86-64 with AVX2 and FMA, with
    /// Unix's `mmap`.
    pub fn supported() -> bool {
        #[cfg(all(target_arch = "x86_64", unix))]
        return std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        return false;
    }

    /// Makes the routines of `assembler` executable. Returns `None` if the host cannot run them, or
    /// if it cannot map memory.
    pub fn new(assembler: Assembler) -> Option<Code> {
        if !Code::supported() {
            return None;
        }
        #[cfg(all(target_arch = "x86_64", unix))]
        {
            let (bytes, routines, block) = assembler.finish();
            Some(Code { block, pages: pages::Pages::new(&bytes)?, routines })
        }
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        {
            let _ = assembler;
            None
        }
    }

    /// Calls routine `number` on `block`. Lane n of the mask that the routine reads is all ones if
    /// bit n of `mask` is set, else zero.
    ///
    /// # Panics
    /// If there is no such routine, or if `block` is smaller than the block that the code was made
    /// for.
    #[inline]
    pub fn call(&self, number: usize, block: &mut [u8], mask: &[u32; MASK_LANES]) {
        assert!(
            block.len() >= self.block,
            "the code needs a block of {} bytes; this one has {}",
            self.block,
            block.len()
        );
        let start = self.routines[number];
        #[cfg(all(target_arch = "x86_64", unix))]
        self.pages.call(start, block, mask);
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        let _ = (start, mask);
    }
}
