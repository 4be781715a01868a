//! free and realloc. libc unmaps large blocks in these functions without a call of munmap. So they
//! first wait until the GPU has finished with the pages of the block ([`session::wait_for_block`]).
//!
//! Programs call these functions very often: without pages that a client gave to the GPU, each
//! call only reads an atomic number before it calls libc.

use super::hooks;
use crate::edge::{client, next, session};
use libc::{c_void, size_t};

hooks! {
    fn free(block: *mut c_void) -> () {
        // SAFETY: the caller of `free` owns the block.
        unsafe { wait(block) };
        // SAFETY: the caller keeps the contract of `free`.
        unsafe { next::free(block) }
    }
    fn realloc(block: *mut c_void, size: size_t) -> *mut c_void {
        // SAFETY: the caller of `realloc` owns the block.
        unsafe { wait(block) };
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { next::realloc(block, size) }
    }
}

/// Waits until the GPU has finished with a block of the heap.
///
/// # Safety
/// The block is null, or the caller owns it.
#[inline]
unsafe fn wait(block: *mut c_void) {
    if client::has_pinned() && !block.is_null() {
        // SAFETY: the block is not null, and the caller owns it.
        let bytes = unsafe { libc::malloc_usable_size(block) };
        session::wait_for_block(block as u64, bytes as u64);
    }
}
