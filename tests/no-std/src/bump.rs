//! An allocator that never frees.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

const SIZE: usize = 1 << 20;

#[repr(align(4096))]
struct Bump {
    memory: UnsafeCell<[u8; SIZE]>,
    used: AtomicUsize,
}

// SAFETY: no part of the memory is given out twice.
unsafe impl Sync for Bump {}

// SAFETY: each allocation lies inside the memory. It is aligned: the memory is aligned to a page,
// and more than that is refused. Nobody else has it: `used` only grows, by one atomic update for
// each allocation.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > 4096 {
            return core::ptr::null_mut();
        }
        let mut start = 0;
        let taken = self.used.try_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            start = used.checked_next_multiple_of(layout.align())?;
            start.checked_add(layout.size()).filter(|end| *end <= SIZE)
        });
        match taken {
            Ok(_) => self.memory.get().cast::<u8>().wrapping_add(start),
            Err(_) => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static HEAP: Bump = Bump { memory: UnsafeCell::new([0; SIZE]), used: AtomicUsize::new(0) };
