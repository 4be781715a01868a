//! Vector code for x86-64, made at run time and called through a safe interface.
//!
//! The code jumps only forward, so every call ends. It accesses three kinds of memory and no other:
//!
//! - The *block* has a size that is known when the code is made. [`Assembler`] checks every memory
//!   operand against it.
//! - The *window* has a size that only the call gives. The code itself compares the position with
//!   the size before it accesses the window.
//! - *Pages* have 4096 bytes and a number each. The call gives tables of pages ([`Reach`]). The
//!   code looks up the page of an address in a table. It compares the position with the end of the
//!   page before it accesses the page.
//!
//! [`Code`] keeps the code in pages that are either writable or executable, never both.
//!
//! The instructions are those of AVX2 and FMA: eight lanes of 32 bits in each register. The names
//! and encodings are those of Intel's Software Developer's Manual, volume 2.

#[cfg(all(target_arch = "x86_64", unix))]
mod pages;

mod assembler;
mod reach;

pub use assembler::{Address, Assembler, Jump, Lanes, Memory, Op2, Op3, Reg};
pub use reach::{BOUNDS, Bounds, MARKS, PAGE, PAGES, Page, Pages, Reach};

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

    /// Calls routine `number` on `block` and on the memory of `reach`. `mask` has a dword for each
    /// lane: all ones or zero. Returns 0 if the routine reached its end, else the number of the
    /// exit that it took ([`Assembler::leave_unless`], [`Assembler::seek`],
    /// [`Assembler::seek_page`]).
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
        reach: &Reach<'_>,
    ) -> u32 {
        assert!(
            block.len() >= self.block,
            "the code needs a block of {} bytes; this one has {}",
            self.block,
            block.len()
        );
        let start = self.routines[number];
        #[cfg(all(target_arch = "x86_64", unix))]
        return self.pages.call(start, block, mask, reach);
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        unreachable!("no code was made: {start} {mask:?} {reach:?}");
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
        assert_eq!(code.call(number, &mut block, &[0; MASK_LANES], &Reach::window(&mut [])), 0);
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
        assembler.store_row(data, Memory::Window(ROW));
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
                let exit = code.call(number, &mut block, &mask, &Reach::window(&mut window));
                assert_eq!(
                    (exit, window),
                    (if inside { 0 } else { 9 }, expected),
                    "{at} of {size}"
                );
                block[4] ^= 1;
                let mut window = before.clone();
                assert_eq!(code.call(number, &mut block, &mask, &Reach::window(&mut window)), 7);
                assert_eq!(window, before);
            }
        }
    }

    /// Words with the bits of a range.
    fn bits(range: std::ops::Range<usize>) -> [u64; MARKS] {
        let word = |n: usize| {
            (0..64)
                .filter(|bit| range.contains(&(64 * n + bit)))
                .fold(0, |word, bit| word | 1 << bit)
        };
        std::array::from_fn(word)
    }

    /// A routine that copies eight dwords from one page to another: from the first address of the
    /// block to the second, which is absolute or in bounds 3. Oracle: Rust.
    #[test]
    #[allow(unsafe_code, reason = "the pages are raw pointers")]
    fn a_routine_accesses_only_pages_of_its_tables() {
        let (from, to, data) = (Reg::new(1), Reg::new(11), Reg::new(14));
        let mut assembler = Assembler::new(16);
        let routine = |assembler: &mut Assembler, target: Address| {
            let number = assembler.begin(true);
            assembler.load(from, Memory::Block(0), Lanes::Qword);
            assembler.load(to, Memory::Block(8), Lanes::Qword);
            assembler.seek_page(from, Address::Absolute, ROW, false, 1);
            assembler.load(data, Memory::Page(0), Lanes::Dwords);
            assembler.seek_page(to, target, 2 * ROW, true, 2);
            assembler.store_row(data, Memory::Page(ROW));
            assembler.end();
            number
        };
        let absolute = routine(&mut assembler, Address::Absolute);
        let within = routine(&mut assembler, Address::Within(3));
        let Some(code) = Code::new(assembler) else {
            println!("skipped: this host cannot run the code");
            return;
        };
        const SOURCE: u64 = 0x1234_5678;
        const BASE: u64 = 0x8001_fffe_f010;
        let target = BASE >> 12;
        let source: Vec<u8> = (0..PAGE).map(|n| (n * 7 + n / 256) as u8).collect();
        let mut bounds = [Bounds::default(); BOUNDS];
        bounds[3] = Bounds { base: BASE, bytes: 0x800 };
        let none = || [const { std::cell::Cell::new(Page::NONE) }; PAGES];
        let run = |number, addresses: [u64; 2]| {
            let (mut source, mut written) = (source.clone(), vec![0; PAGE]);
            let (reads, writes) = (none(), none());
            let mut marks = [[0; MARKS]; 2];
            let [read, write] = marks.each_mut().map(|marks| marks.as_mut_ptr());
            let page = Page::new(SOURCE, source.as_mut_ptr()).with_marks(read);
            reads[Page::entry(SOURCE)].set(page);
            let page = Page::new(target, written.as_mut_ptr()).with_marks(write);
            writes[Page::entry(target)].set(page);
            let mut block: Vec<u8> = addresses.iter().flat_map(|at| at.to_le_bytes()).collect();
            // SAFETY: the tables hold one page each, which outlives the call.
            let reach =
                unsafe { Reach::window(&mut []).with_pages(&reads, &writes, Some(&bounds)) };
            let exit = code.call(number, &mut block, &[0; MASK_LANES], &reach);
            if exit == 0 {
                let at = (addresses[0] as usize % PAGE) & !3;
                assert_eq!(marks[0], bits(at..at + ROW), "marks of reads");
                // The routine stores one row, but its check was for two, so two are marked.
                let end = written.iter().rposition(|byte| *byte != 0).unwrap_or(0) / 4 * 4 + 4;
                assert_eq!(marks[1], bits(end - 2 * ROW..end), "marks of writes");
            } else {
                assert_eq!(marks[1], [0; MARKS], "marks after exit {exit}");
            }
            (exit, written)
        };
        let expected = |at: usize, from: usize| {
            let mut page = vec![0; PAGE];
            page[at..at + ROW].copy_from_slice(&source[from..from + ROW]);
            page
        };
        for at in (0..PAGE as u64).step_by(52) {
            let from = SOURCE << 12 | at | 0xffff << 48;
            let (exit, written) = run(absolute, [from, target << 12 | 0x103]);
            match at as usize & !3 {
                at if at + ROW <= PAGE => {
                    assert_eq!((exit, written), (0, expected(0x100 + ROW, at)), "{at:#x}");
                }
                at => assert_eq!((exit, written), (1, vec![0; PAGE]), "{at:#x}"),
            }
            let (exit, written) = run(within, [SOURCE << 12, at | 0xabcd_0000_0000]);
            match at as usize & !3 {
                at if at + 2 * ROW <= 0x800 => {
                    assert_eq!((exit, written), (0, expected(0x10 + at + ROW, 0)), "{at:#x}");
                }
                at => assert_eq!((exit, written), (2, vec![0; PAGE]), "{at:#x}"),
            }
        }
        assert_eq!(run(absolute, [target << 12, target << 12]).0, 1, "the page is not in `reads`");
        assert_eq!(run(absolute, [SOURCE << 12, SOURCE << 12]).0, 2, "the page is not in `writes`");
        assert_eq!(run(absolute, [SOURCE << 12, (target << 12) + 0xfc4]).0, 2, "the page ends");
        assert_eq!(run(absolute, [(SOURCE + 512) << 12, target << 12]).0, 1, "another page");
        assert_eq!(run(within, [SOURCE << 12, 0xffff_fff0]).0, 2, "the bounds end");
    }

    #[test]
    #[should_panic(expected = "another kind of access")]
    fn a_store_to_a_page_that_is_only_read_is_refused() {
        let mut assembler = Assembler::new(32);
        assembler.begin(false);
        assembler.seek_page(Reg::new(0), Address::Absolute, ROW, false, 1);
        assembler.store_row(Reg::new(0), Memory::Page(0));
    }

    #[test]
    #[should_panic(expected = "needs a check before it")]
    fn an_access_to_the_window_without_a_check_is_refused() {
        let mut assembler = Assembler::new(32);
        assembler.begin(false);
        assembler.seek(Reg::new(0), 0xff, 32, 1);
        assembler.leave_unless(Reg::new(0), 1);
        assembler.store_row(Reg::new(0), Memory::Window(0));
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
            Some(code) => {
                let reach = Reach::window(&mut []);
                let _ = code.call(number, &mut [0; 31], &[0; MASK_LANES], &reach);
            }
            None => panic!("this host refuses all code; elsewhere it needs a block of 32 bytes"),
        }
    }
}
