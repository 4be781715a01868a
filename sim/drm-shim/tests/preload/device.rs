//! Calls of ioctl, and the threads and memory that they come from.

use crate::client::{DATA, compute, ioctl, object, open, stores, wait};
use crate::process::preloaded;
use genxml_drm_uapi::{Request, drm, i915};
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;

#[test]
fn device() {
    preloaded("device::device", || {
        let file = open();
        assert_eq!(file.metadata().unwrap().rdev(), libc::makedev(226, 128));
        let mut name = [0u8; 8];
        let mut version = drm::Version {
            name_len: name.len() as u64,
            name: name.as_mut_ptr() as u64,
            ..Default::default()
        };
        ioctl(&file, Request::of::<drm::Version>(drm::nr::VERSION), &mut version).unwrap();
        assert_eq!(CStr::from_bytes_until_nul(&name).unwrap(), c"i915");
        compute(&file, 1234);
        // A duplicate of a descriptor refers to the same file.
        let copy = file.try_clone().unwrap();
        drop(file);
        compute(&copy, 77);
        let error = ioctl(&copy, Request::of::<drm::GemClose>(drm::nr::GEM_CLOSE), &mut [0u64; 1])
            .unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL));
        // Other descriptors have no DRM ioctls.
        let null = File::open("/dev/null").unwrap();
        let error =
            ioctl(&null, Request::of::<drm::Version>(drm::nr::VERSION), &mut version).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    });
}

/// One thread waits for a syncobj, and another thread signals it.
#[test]
fn waits() {
    preloaded("device::waits", || {
        let file = open();
        let mut sync = drm::Syncobj::default();
        ioctl(&file, Request::of::<drm::Syncobj>(drm::nr::SYNCOBJ_CREATE), &mut sync).unwrap();
        let handles = [sync.handle];
        let address = handles.as_ptr() as u64;
        std::thread::scope(|scope| {
            let file = &file;
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                let mut signal = drm::SyncobjArray { handles: address, count_handles: 1, pad: 0 };
                ioctl(file, Request::of::<drm::SyncobjArray>(drm::nr::SYNCOBJ_SIGNAL), &mut signal)
                    .unwrap();
            });
            let mut wait = drm::SyncobjWait {
                handles: address,
                timeout_nsec: i64::MAX,
                count_handles: 1,
                flags: drm::SYNCOBJ_WAIT_FOR_SUBMIT,
                ..Default::default()
            };
            ioctl(file, Request::of::<drm::SyncobjWait>(drm::nr::SYNCOBJ_WAIT), &mut wait).unwrap();
        });
    });
}

/// The model does not run on the client's stack.
#[test]
fn small_stacks() {
    preloaded("device::small_stacks", || {
        let file = open();
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        thread.spawn(move || compute(&file, 3)).unwrap().join().unwrap();
    });
}

/// The lists of objects and of relocations of a submission may be in memory that can only be read.
/// Oracle: Linux i915_gem_execbuffer.c (eb_relocate_entry, i915_gem_execbuffer2_ioctl): errors of
/// writes to the lists are ignored.
#[test]
fn submissions_from_read_only_memory() {
    #[repr(C)]
    struct Lists {
        objects: [i915::ExecObject2; 2],
        relocation: i915::Relocation,
    }
    preloaded("device::submissions_from_read_only_memory", || {
        let file = open();
        let ((data, numbers), (batch, commands)) = (object(&file, 4096), object(&file, 4096));
        stores(commands, 7);
        // The address of the first packet is relocated: to the start of the object of numbers.
        let relocation = i915::Relocation {
            target_handle: data,
            offset: 4,
            presumed_offset: u64::MAX,
            write_domain: 2,
            ..Default::default()
        };
        let flags = i915::object::PINNED;
        // SAFETY: the kernel maps new memory, which is large enough for the lists. It is written
        // before it becomes read-only, and is used by this test only.
        let lists = unsafe {
            let writable = libc::PROT_READ | libc::PROT_WRITE;
            let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let lists: *mut Lists =
                libc::mmap(std::ptr::null_mut(), 4096, writable, anonymous, -1, 0).cast();
            lists.write(Lists {
                objects: [
                    i915::ExecObject2 { handle: data, offset: DATA, flags, ..Default::default() },
                    i915::ExecObject2 {
                        handle: batch,
                        offset: 0x9000_0000,
                        flags,
                        relocation_count: 1,
                        relocs_ptr: std::ptr::from_ref(&(*lists).relocation) as u64,
                        ..Default::default()
                    },
                ],
                relocation,
            });
            assert_eq!(libc::mprotect(lists.cast(), 4096, libc::PROT_READ), 0);
            lists
        };
        let mut exec =
            i915::ExecBuffer2 { buffers_ptr: lists as u64, buffer_count: 2, ..Default::default() };
        ioctl(&file, Request::i915::<i915::ExecBuffer2>(i915::nr::GEM_EXECBUFFER2), &mut exec)
            .unwrap();
        wait(&file, data);
        assert_eq!(numbers[0].load(Ordering::Relaxed), 1, "the first store, at the new address");
        assert_eq!(numbers[2].load(Ordering::Relaxed), 7);
    });
}

/// The device reads arguments from a mapping that the client may only write: on x86 such pages can
/// be read. Oracle: mmap(2), "on some hardware architectures (e.g., i386), PROT_WRITE implies
/// PROT_READ".
#[test]
fn arguments_in_write_only_mappings() {
    preloaded("device::arguments_in_write_only_mappings", || {
        let file = open();
        let (handle, numbers) = object(&file, 4096);
        let mut offset = i915::GemMmapOffset { handle, flags: 2, ..Default::default() };
        ioctl(&file, Request::i915::<i915::GemMmapOffset>(i915::nr::GEM_MMAP_OFFSET), &mut offset)
            .unwrap();
        // SAFETY: without an address the kernel maps the file where nothing is mapped.
        let at = unsafe {
            let (file, offset) = (file.as_raw_fd(), offset.offset as i64);
            libc::mmap64(
                std::ptr::null_mut(),
                4096,
                libc::PROT_WRITE,
                libc::MAP_SHARED,
                file,
                offset,
            )
        };
        assert_ne!(at, libc::MAP_FAILED);
        numbers[0].store(0x1234_5678, Ordering::Relaxed);
        let mut transfer = i915::GemTransfer {
            handle,
            offset: 64,
            size: 4,
            data_ptr: at as u64,
            ..Default::default()
        };
        ioctl(&file, Request::i915::<i915::GemTransfer>(i915::nr::GEM_PWRITE), &mut transfer)
            .unwrap();
        assert_eq!(numbers[16].load(Ordering::Relaxed), 0x1234_5678);
    });
}
