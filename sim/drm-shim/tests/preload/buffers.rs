//! Shared buffers (dma-bufs).

use crate::client::{ioctl, map, object, open, stores, submit};
use crate::process::{fork, preloaded};
use genxml_drm_uapi::{Request, drm, i915, sync_file};
use rustix::net;
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::Ordering;

/// A shared buffer stays after the process that exported it has ended. Oracle: a dma-buf is a file,
/// whose last descriptor keeps the memory (Linux Documentation/driver-api/dma-buf.rst).
#[test]
fn buffers_without_exporters() {
    preloaded("buffers::buffers_without_exporters", || {
        let (ours, theirs) = std::os::unix::net::UnixDatagram::pair().unwrap();
        fork(|| {
            let file = open();
            let (handle, numbers) = object(&file, 8192);
            numbers[1024].store(77, Ordering::Relaxed);
            let mut prime = drm::PrimeHandle { handle, flags: drm::CLOEXEC | 2, fd: -1 };
            let request = Request::of::<drm::PrimeHandle>(drm::nr::PRIME_HANDLE_TO_FD);
            ioctl(&file, request, &mut prime).unwrap();
            // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
            let buffer = unsafe { OwnedFd::from_raw_fd(prime.fd) };
            let files = [buffer.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = net::SendAncillaryBuffer::new(&mut space);
            assert!(control.push(net::SendAncillaryMessage::ScmRights(&files)));
            let bytes = [IoSlice::new(b"x")];
            net::sendmsg(&theirs, &bytes, &mut control, net::SendFlags::empty()).unwrap();
            // The process ends with these files open.
            std::mem::forget((file, buffer));
        })
        .join();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = net::RecvAncillaryBuffer::new(&mut space);
        let bytes = &mut [0];
        let bytes = &mut [IoSliceMut::new(bytes)];
        net::recvmsg(&ours, bytes, &mut control, net::RecvFlags::empty()).unwrap();
        let received = control.drain().find_map(|message| match message {
            net::RecvAncillaryMessage::ScmRights(mut files) => files.next(),
            _ => None,
        });
        let buffer = File::from(received.unwrap());
        assert_eq!(map(&buffer, 8192, 0)[1024].load(Ordering::Relaxed), 77);
        let file = open();
        let mut prime = drm::PrimeHandle { fd: buffer.as_raw_fd(), ..Default::default() };
        let request = Request::of::<drm::PrimeHandle>(drm::nr::PRIME_FD_TO_HANDLE);
        ioctl(&file, request, &mut prime).unwrap();
        drop(buffer);
        let (batch, commands) = object(&file, 4096);
        stores(commands, 5);
        submit(&file, prime.handle, batch).unwrap();
        let mut offset =
            i915::GemMmapOffset { handle: prime.handle, flags: 2, ..Default::default() };
        let request = Request::i915::<i915::GemMmapOffset>(i915::nr::GEM_MMAP_OFFSET);
        ioctl(&file, request, &mut offset).unwrap();
        let numbers = map(&file, 8192, offset.offset);
        let numbers = [2, 1024].map(|index: usize| numbers[index].load(Ordering::Relaxed));
        assert_eq!(numbers, [5, 77]);
    });
}

/// Oracle: IGT's prime_mmap@test_invalid_sync_flags, and Linux dma-buf.c.
#[test]
fn accesses_to_buffers() {
    preloaded("buffers::accesses_to_buffers", || {
        let file = open();
        let (handle, _) = object(&file, 4096);
        let mut prime = drm::PrimeHandle { handle, flags: drm::CLOEXEC, fd: -1 };
        let request = Request::of::<drm::PrimeHandle>(drm::nr::PRIME_HANDLE_TO_FD);
        ioctl(&file, request, &mut prime).unwrap();
        // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
        let buffer = unsafe { File::from_raw_fd(prime.fd) };
        // DMA_BUF_IOCTL_SYNC as a C compiler computes it from linux/dma-buf.h.
        let request = Request(0x4008_6200);
        for (flags, works) in [
            (0, false),
            (1, true),
            (2, true),
            (3, true),
            (4, false),
            (5, true),
            (6, true),
            (7, true),
            (8, false),
            (9, false),
            (1 << 31 | 1, false),
            (1 << 63 | 1, false),
        ] {
            let mut sync = sync_file::DmaBufSync { flags };
            let result = ioctl(&buffer, request, &mut sync).map_err(|error| error.raw_os_error());
            let expected = if works { Ok(()) } else { Err(Some(libc::EINVAL)) };
            assert_eq!(result, expected, "{flags:#x}");
        }
        // SAFETY: the kernel's interface takes any address.
        let result = unsafe { libc::ioctl(buffer.as_raw_fd(), 0x4008_6200, 8usize) };
        let error = std::io::Error::last_os_error().raw_os_error();
        assert_eq!((result, error), (-1, Some(libc::EFAULT)));
    });
}
