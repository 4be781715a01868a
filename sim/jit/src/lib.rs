//! Vector code for x86-64, made at run time and called through a safe interface.
//!
//! The code jumps only forward, so every call ends. It accesses two ranges of memory, and no other:
//!
//! - The *block* has a size that is known when the code is made. [`Assembler`] checks every memory
//!   operand against it.
//! - The *window* has a size that only the call gives. The code itself compares the position with
//!   the size before it accesses the window.
//!
//! [`Code`] keeps the code in pages that are either writable or executable, never both.
//!
//! The instructions are those of AVX2 and FMA: eight lanes of 32 bits in each register. The names
//! and encodings are those of Intel's Software Developer's Manual, volume 2.

#[cfg(all(target_arch = "x86_64", unix))]
mod pages;

mod assembler;

pub use assembler::{Assembler, Jump, Lanes, Memory, Op2, Op3, Reg};

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
    ///
    /// # Panics
    /// If a routine has no end.
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

    /// Calls routine `number` on `block` and `window`. `mask` has a dword for each lane: all ones
    /// or zero. Returns 0 if the routine reached its end, else the number of the exit that it took
    /// ([`Assembler::leave_unless`], [`Assembler::seek`]).
    ///
    /// # Panics
    /// If there is no such routine, or if `block` is smaller than the block that the code was made
    /// for.
    #[inline]
    pub fn call(
        &self,
        number: usize,
        block: &mut [u8],
        mask: &[u32; MASK_LANES],
        window: &mut [u8],
    ) -> u32 {
        assert!(
            block.len() >= self.block,
            "the code needs a block of {} bytes; this one has {}",
            self.block,
            block.len()
        );
        let start = self.routines[number];
        #[cfg(all(target_arch = "x86_64", unix))]
        return self.pages.call(start, block, mask, window);
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        unreachable!("no code was made: {start} {mask:?} {}", window.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A routine that adds one to eight dwords at byte 8. Oracle: Rust.
    #[test]
    fn a_routine_changes_only_its_row() {
        let mut assembler = Assembler::new(48);
        let (reg, spare) = (Reg::new(3), Reg::new(12));
        let number = assembler.begin(true);
        assembler.load(reg, Memory::Block(8), Lanes::Dwords);
        assembler.op3_constant(Op3::Vpaddd, reg, reg, [1; LANES]);
        assembler.store(reg, 8, Lanes::Dwords, spare);
        assembler.end();
        let Some(code) = Code::new(assembler) else {
            println!("skipped: this host cannot run the code");
            return;
        };
        let mut block: Vec<u8> = (0..48).collect();
        let mut expected = block.clone();
        for dword in expected[8..40].chunks_exact_mut(4) {
            let value = u32::from_le_bytes([dword[0], dword[1], dword[2], dword[3]]);
            dword.copy_from_slice(&(value + 1).to_le_bytes());
        }
        assert_eq!(code.call(number, &mut block, &[0; MASK_LANES], &mut []), 0);
        assert_eq!(block, expected);
    }

    /// A routine that copies eight dwords of the window to the next 32 bytes, if the position in
    /// the block is inside the window and its lanes are equal. Oracle: Rust.
    #[test]
    fn a_routine_leaves_at_the_end_of_the_window() {
        let mut assembler = Assembler::new(ROW);
        let (at, equal, data) = (Reg::new(0), Reg::new(9), Reg::new(15));
        let number = assembler.begin(true);
        assembler.load(at, Memory::Block(0), Lanes::Dword);
        assembler.load(equal, Memory::Block(0), Lanes::Dwords);
        assembler.op3(Op3::Vpcmpeqd, equal, equal, at);
        let differs = assembler.skip_unless(equal);
        assembler.seek(at, 0xfc, 2 * ROW, 9);
        assembler.load(data, Memory::Window(0), Lanes::Dwords);
        assembler.store_window(data, ROW);
        let done = assembler.skip();
        assembler.target(differs);
        assembler.leave_unless(equal, 7);
        assembler.target(done);
        assembler.end();
        let Some(code) = Code::new(assembler) else {
            println!("skipped: this host cannot run the code");
            return;
        };
        let mask = [0; MASK_LANES];
        for size in [0, 63, 64, 65, 100, 200] {
            for at in (0..300u32).step_by(3) {
                let mut block: Vec<u8> =
                    [at; LANES].iter().flat_map(|at| at.to_le_bytes()).collect();
                let before: Vec<u8> = (0..size as u8).collect();
                let mut window = before.clone();
                let position = at as usize & 0xfc;
                let mut expected = before.clone();
                let inside = position + 2 * ROW <= size;
                if inside {
                    expected.copy_within(position..position + ROW, position + ROW);
                }
                let exit = code.call(number, &mut block, &mask, &mut window);
                assert_eq!(
                    (exit, window),
                    (if inside { 0 } else { 9 }, expected),
                    "{at} of {size}"
                );
                block[4] ^= 1;
                let mut window = before.clone();
                assert_eq!(code.call(number, &mut block, &mask, &mut window), 7);
                assert_eq!(window, before);
            }
        }
    }

    #[test]
    #[should_panic(expected = "beyond the 0 bytes")]
    fn an_access_to_the_window_without_a_check_is_refused() {
        let mut assembler = Assembler::new(32);
        assembler.begin(false);
        assembler.seek(Reg::new(0), 0xff, 32, 1);
        assembler.leave_unless(Reg::new(0), 1);
        assembler.store_window(Reg::new(0), 0);
    }

    #[test]
    #[should_panic(expected = "must end")]
    fn a_routine_without_an_end_is_refused() {
        let mut assembler = Assembler::new(32);
        assembler.begin(false);
        if Code::new(assembler).is_none() {
            panic!("this host refuses all code; elsewhere the routine must end");
        }
    }

    #[test]
    #[should_panic(expected = "beyond the 32 bytes")]
    fn an_operand_beyond_the_block_is_refused() {
        Assembler::new(32).load(Reg::new(0), Memory::Block(4), Lanes::Dwords);
    }

    #[test]
    #[should_panic(expected = "needs a block of 32 bytes")]
    fn a_block_that_is_too_small_is_refused() {
        let mut assembler = Assembler::new(32);
        let number = assembler.begin(false);
        assembler.end();
        match Code::new(assembler) {
            Some(code) => drop(code.call(number, &mut [0; 31], &[0; MASK_LANES], &mut [])),
            None => panic!("this host refuses all code; elsewhere it needs a block of 32 bytes"),
        }
    }
}
