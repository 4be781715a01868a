//! Numbers of forked processes, which a process and all its descendants share.

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of forked processes so far, in memory that children inherit and share. `None` if the
/// kernel has no memory.
fn count() -> Option<&'static AtomicU32> {
    static COUNT: OnceLock<Option<&'static AtomicU32>> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: without an address the kernel maps new memory where nothing is mapped.
        let page =
            unsafe { mmap_anonymous(std::ptr::null_mut(), 4096, protection, MapFlags::SHARED) };
        // SAFETY: the page is never unmapped, consists of zeros, and is aligned. All processes that
        // share it access it as an atomic number.
        Some(unsafe { AtomicU32::from_ptr(page.ok()?.cast()) })
    })
}

/// Called before a fork, so that the child inherits the count.
pub fn prepare() {
    count();
}

/// Called in a forked child: the number of this process, which no relative has. If the kernel had
/// no memory for the count, some number.
pub fn number() -> u32 {
    count().map_or(std::process::id(), |count| count.fetch_add(1, Ordering::Relaxed))
}
