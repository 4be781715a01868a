//! Hooks for mmap, munmap, mremap and madvise. A call that unmaps or discards pages first waits
//! until the GPU has finished with these pages ([`session::wait_for_pages`]). Mappings of objects
//! are recorded ([`mappings`]).

use super::{descriptor, hooks};
use crate::edge::mappings::{self, Mapping};
use crate::edge::next::fail;
use crate::edge::session;
use libc::{c_int, c_void, off_t, size_t};
use rustix::fd::AsRawFd;

hooks! {
    fn mmap(
        at: *mut c_void,
        length: size_t,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: off_t,
    ) -> *mut c_void {
        // SAFETY: the caller of `mmap` may replace what a fixed address has mapped, as `map`
        // requires.
        unsafe { map(at, length, protection, flags, file, offset) }
    }
    fn mmap64(
        at: *mut c_void,
        length: size_t,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: off_t,
    ) -> *mut c_void {
        // SAFETY: the caller of `mmap64` may replace what a fixed address has mapped, as `map`
        // requires.
        unsafe { map(at, length, protection, flags, file, offset) }
    }
    fn munmap(at: *mut c_void, length: size_t) -> c_int {
        session::wait_for_pages(at as u64, length as u64);
        let gone = mappings::take(at as u64, length as u64);
        // SAFETY: the caller of `munmap` owns the range and does not use it any more. The GPU has
        // finished with it too: `wait_for_pages` has returned.
        let result = unsafe { libc::syscall(libc::SYS_munmap, at, length) as c_int };
        if result != 0 {
            mappings::restore(gone);
        }
        result
    }
    fn mremap(
        at: *mut c_void,
        length: size_t,
        new_length: size_t,
        flags: c_int,
        new: *mut c_void,
    ) -> *mut c_void {
        session::wait_for_pages(at as u64, length as u64);
        if flags & libc::MREMAP_FIXED != 0 {
            session::wait_for_pages(new as u64, new_length as u64);
        }
        // SAFETY: the caller of `mremap` owns the old range, and the new one if its address is
        // fixed. The GPU has finished with both: `wait_for_pages` has returned.
        unsafe { remap(at, length, new_length, flags, new) }
    }
    fn madvise(at: *mut c_void, length: size_t, advice: c_int) -> c_int {
        if matches!(advice, libc::MADV_DONTNEED | libc::MADV_FREE | libc::MADV_REMOVE) {
            session::wait_for_pages(at as u64, length as u64);
        }
        // SAFETY: the caller of `madvise` owns the range and may discard its contents if the advice
        // does that. The GPU has finished with it then: `wait_for_pages` has returned.
        unsafe { libc::syscall(libc::SYS_madvise, at, length, advice) as c_int }
    }
}

/// The hook for mmap.
///
/// # Safety
/// If the address is fixed, the caller owns what is mapped there and does not use it any more.
unsafe fn map(
    at: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    let descriptor = if flags & libc::MAP_ANONYMOUS != 0 { None } else { descriptor(file) };
    if flags & libc::MAP_FIXED != 0 {
        session::wait_for_pages(at as u64, length as u64);
    }
    let replaced = match flags & libc::MAP_FIXED {
        0 => Vec::new(),
        _ => mappings::take(at as u64, length as u64),
    };
    let map = |file: c_int, offset: off_t| {
        // SAFETY: without a fixed address the kernel chooses one where nothing is mapped. With one,
        // the caller gives up what is mapped there, and the GPU has finished with it:
        // `wait_for_pages` has returned.
        unsafe {
            libc::syscall(libc::SYS_mmap, at, length, protection, flags, file, offset)
                as *mut c_void
        }
    };
    let result = match descriptor {
        None => map(file, offset),
        // Map the file of the object instead of the descriptor that stands for the object.
        Some(descriptor) => {
            match session::mapping(file, descriptor, offset as u64, length as u64) {
                Ok(memory) => {
                    let result = map(memory.file.as_raw_fd(), memory.offset as off_t);
                    if result != libc::MAP_FAILED {
                        mappings::add(result as u64, length as u64, memory.keeper);
                    }
                    result
                }
                Err(error) => {
                    fail(error.raw_os_error());
                    libc::MAP_FAILED
                }
            }
        }
    };
    if result == libc::MAP_FAILED {
        mappings::restore(replaced);
    }
    result
}

/// The hook for mremap. A mapping of an object moves with its memory. It cannot grow or be
/// duplicated, as in the kernel (Linux i915_gem_mmap.c: VM_DONTEXPAND; mm/mremap.c).
///
/// # Safety
/// The caller owns the old range, and the new one if its address is fixed.
unsafe fn remap(
    at: *mut c_void,
    length: size_t,
    new_length: size_t,
    flags: c_int,
    new: *mut c_void,
) -> *mut c_void {
    let moved = mappings::take(at as u64, length.max(1) as u64);
    let refused = match (&moved[..], flags & libc::MREMAP_DONTUNMAP) {
        ([], _) => None,
        (_, 0) => (new_length > length).then_some(libc::EFAULT),
        _ => Some(libc::EINVAL),
    };
    if let Some(error) = refused {
        mappings::restore(moved);
        fail(error);
        return libc::MAP_FAILED;
    }
    let replaced = match flags & libc::MREMAP_FIXED {
        0 => Vec::new(),
        _ => mappings::take(new as u64, new_length as u64),
    };
    // SAFETY: the caller owns the ranges.
    let result = unsafe {
        libc::syscall(libc::SYS_mremap, at, length, new_length, flags, new) as *mut c_void
    };
    if result == libc::MAP_FAILED {
        mappings::restore(moved);
        mappings::restore(replaced);
        return result;
    }
    let (old, new, size) = (at as u64, result as u64, new_length as u64);
    for Mapping { start, end, keeper } in moved {
        let (start, end) = (start - old, end.min(old.saturating_add(size)) - old);
        if start < end {
            mappings::add(new + start, end - start, keeper);
        }
    }
    result
}
