//! Executable pages.

#![allow(unsafe_code, reason = "maps pages and calls the code in them")]

use crate::{MASK_LANES, Reach};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Pages with code. They are executable and not writable.
pub struct Pages {
    start: *mut c_void,
    length: usize,
}

// SAFETY: the pages are never written after `new`.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Copies `bytes`, which the assembler made, to executable pages.
    pub(crate) fn new(bytes: &[u8]) -> Option<Pages> {
        let length = bytes.len().max(1);
        // SAFETY: the kernel chooses an address that is not in use.
        let start = unsafe {
            mmap_anonymous(
                null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        };
        let pages = Pages { start: start.ok()?, length };
        // SAFETY: the pages are writable, new, and at least as long as `bytes`.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), pages.start.cast(), bytes.len()) };
        // SAFETY: the pages are those of the map above, and there is no other reference to them.
        unsafe { mprotect(pages.start, length, MprotectFlags::READ | MprotectFlags::EXEC) }.ok()?;
        Some(pages)
    }

    /// Calls the routine that begins at byte `at`. The caller checks that `block` has
    /// the size that the assembler was made for.
    #[inline]
    pub(crate) fn call(
        &self,
        at: usize,
        block: &mut [u8],
        mask: &[u32; MASK_LANES],
        reach: &Reach<'_>,
    ) -> u32 {
        type Routine = unsafe extern "sysv64" fn(*mut u8, *const u32, *const Reach<'_>) -> u32;
        assert!(at < self.length, "the routine is inside the pages");
        // SAFETY: `Code` passes only offsets where the assembler began a routine. A routine follows
        // the calling convention: it changes only vector registers, rax, rcx, rdx and r8 to r11,
        // restores MXCSR, and returns. It reads `mask`, its constants and `reach`, and accesses
        // `block` below the limit. It accesses the window only after it has compared the end of
        // the access with the length, and pages only after it has found them in a table of `reach`
        // and compared the end of the access with that of the page.
        unsafe {
            let routine: Routine = std::mem::transmute(self.start.cast::<u8>().add(at));
            routine(block.as_mut_ptr(), mask.as_ptr(), reach)
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages are those that `new` mapped; no routine is running, because `call`
        // borrows `self`. An error leaves the pages mapped.
        let _ = unsafe { munmap(self.start, self.length) };
    }
}
