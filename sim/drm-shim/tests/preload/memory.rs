//! Mappings of objects, and pages of the client that the GPU uses.

use crate::client::{compute, ioctl, object, open, stores, submit};
use crate::process::preloaded;
use genxml_drm_uapi::{Request, drm, i915};
use std::sync::atomic::{AtomicU32, Ordering};

/// A mapping has its memory after its object was closed, until it is unmapped, wherever mremap has
/// moved it. It cannot grow. Oracle: mmap(2); Linux i915_gem_mmap.c (VM_DONTEXPAND).
#[test]
fn mappings_without_objects() {
    const PAGE: usize = 4096;
    preloaded("memory::mappings_without_objects", || {
        let file = open();
        let (handle, numbers) = object(&file, 4 * PAGE as u64);
        for (page, numbers) in numbers.chunks(PAGE / 4).enumerate() {
            numbers[0].store(page as u32 + 1, Ordering::Relaxed);
        }
        let mut close = drm::GemClose { handle, pad: 0 };
        ioctl(&file, Request::of::<drm::GemClose>(drm::nr::GEM_CLOSE), &mut close).unwrap();
        let start: *mut libc::c_void = numbers.as_ptr().cast_mut().cast();
        // SAFETY: mremap refuses to let the mapping grow, and changes nothing.
        let grown = unsafe { libc::mremap(start, 4 * PAGE, 8 * PAGE, libc::MREMAP_MAYMOVE) };
        assert_eq!(grown, libc::MAP_FAILED);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::EFAULT));
        // SAFETY: the second page is not used any more. The fourth page moves to an address where
        // nothing is mapped, and is used at that address only.
        let moved = unsafe {
            assert_eq!(libc::munmap(start.add(PAGE), PAGE), 0);
            let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let room = libc::mmap(std::ptr::null_mut(), PAGE, 0, anonymous, -1, 0);
            let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            assert_eq!(libc::mremap(start.add(3 * PAGE), PAGE, PAGE, flags, room), room);
            room.cast::<AtomicU32>()
        };
        // The device uses no memory again that is still mapped.
        for _ in 0..8 {
            let (_, fresh) = object(&file, 4 * PAGE as u64);
            fresh.iter().for_each(|number| number.store(99, Ordering::Relaxed));
        }
        assert_eq!(numbers[0].load(Ordering::Relaxed), 1);
        assert_eq!(numbers[2 * PAGE / 4].load(Ordering::Relaxed), 3);
        // SAFETY: the fourth page is mapped here, and consists of atomic dwords.
        assert_eq!(unsafe { (*moved).load(Ordering::Relaxed) }, 4);
        compute(&file, 5);
    });
}

/// munmap of pages that a client gave to the GPU waits until the GPU has finished with them. Later
/// submissions that use these pages fail.
#[test]
fn pages_that_go() {
    const LAST: u64 = 100_000;
    preloaded("memory::pages_that_go", || {
        let file = open();
        let (batch, commands) = object(&file, 1 << 21);
        stores(commands, LAST);
        // SAFETY: without an address the kernel maps pages where nothing is mapped.
        let pages = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
        };
        let mut user =
            i915::GemUserptr { user_ptr: pages as u64, user_size: 4096, ..Default::default() };
        ioctl(&file, Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), &mut user).unwrap();
        submit(&file, user.handle, batch).unwrap();
        // SAFETY: nothing uses the pages any more.
        assert_eq!(unsafe { libc::munmap(pages, 4096) }, 0);
        let mut busy = i915::GemBusy { handle: user.handle, busy: 1 };
        ioctl(&file, Request::i915::<i915::GemBusy>(i915::nr::GEM_BUSY), &mut busy).unwrap();
        assert_eq!(busy.busy, 0);
        let error = submit(&file, user.handle, batch).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
        compute(&file, 5);
    });
}

/// `free` and `realloc` of a large block wait in the same way, although libc unmaps its pages
/// without a call of munmap.
#[test]
fn blocks_that_go() {
    const LAST: u64 = 100_000;
    const SIZE: usize = 8 << 20;
    preloaded("memory::blocks_that_go", || {
        let file = open();
        let (batch, commands) = object(&file, 1 << 21);
        stores(commands, LAST);
        for size in [0, 4096, 2 * SIZE] {
            // SAFETY: 4096 is a valid alignment.
            let block = unsafe { libc::memalign(4096, SIZE) };
            assert!(!block.is_null());
            let (user_ptr, user_size) = (block as u64, SIZE as u64);
            let mut user = i915::GemUserptr { user_ptr, user_size, ..Default::default() };
            ioctl(&file, Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), &mut user)
                .unwrap();
            submit(&file, user.handle, batch).unwrap();
            // SAFETY: the block is from memalign, and nothing uses it or the new one any more.
            unsafe {
                match size {
                    0 => libc::free(block),
                    _ => libc::free(libc::realloc(block, size)),
                }
            };
            let mut busy = i915::GemBusy { handle: user.handle, busy: 1 };
            ioctl(&file, Request::i915::<i915::GemBusy>(i915::nr::GEM_BUSY), &mut busy).unwrap();
            assert_eq!(busy.busy, 0);
            let error = submit(&file, user.handle, batch).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EFAULT), "{size}");
        }
        compute(&file, 5);
    });
}

/// If the client itself cannot access its pages in the way the GPU would, a submission with these
/// pages fails, and the process does not crash.
#[test]
fn pages_that_are_not_writable() {
    preloaded("memory::pages_that_are_not_writable", || {
        let file = open();
        let (batch, commands) = object(&file, 4096);
        stores(commands, 1);
        let read_only = i915::USERPTR_READ_ONLY;
        for (protection, flags) in
            [(libc::PROT_READ, 0), (libc::PROT_NONE, 0), (libc::PROT_NONE, read_only)]
        {
            // SAFETY: without an address the kernel maps pages where nothing is mapped.
            let pages = unsafe {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0)
            };
            let mut user = i915::GemUserptr {
                user_ptr: pages as u64,
                user_size: 4096,
                flags,
                ..Default::default()
            };
            ioctl(&file, Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), &mut user)
                .unwrap();
            let error = submit(&file, user.handle, batch).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
            user.flags |= i915::USERPTR_PROBE;
            let probed =
                ioctl(&file, Request::i915::<i915::GemUserptr>(i915::nr::GEM_USERPTR), &mut user);
            assert_eq!(probed.unwrap_err().raw_os_error(), Some(libc::EFAULT));
        }
    });
}
