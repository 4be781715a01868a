//! Descriptors: shared buffers, syncobjs, and what is released when they are closed.

use super::*;

#[test]
fn shared_buffers() {
    let mut client = Client::open(RENDER);
    let handle = client.create(8192);
    client.write(handle, 4096, b"shared").unwrap();
    let mut prime = drm::PrimeHandle { handle, flags: drm::CLOEXEC, fd: -1 };
    client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut prime).unwrap();
    let mut back = drm::PrimeHandle { fd: prime.fd, ..Default::default() };
    client.core(drm::nr::PRIME_FD_TO_HANDLE, &mut back).unwrap();
    assert_eq!(back.handle, handle);
    // Another file of the same device gets its own handle. The object stays when the first file is
    // closed.
    let other = Id::new();
    client.device.open(other, RENDER, None);
    let mine = std::mem::replace(&mut client.id, other);
    client.create(4096);
    client.core(drm::nr::PRIME_FD_TO_HANDLE, &mut back).unwrap();
    assert_eq!(back.handle, 2);
    client.device.close(mine);
    assert_eq!(&client.read::<6>(2, 4096), b"shared");
    // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
    let descriptor = unsafe { OwnedFd::from_raw_fd(prime.fd) };
    let host::Mappable { file, offset, .. } =
        client.device.shared_mapping(descriptor.as_fd(), 4096, 4096).unwrap();
    let pages = PROCESS.import(file, offset, 4096).unwrap();
    assert_eq!(&bytes(&*pages, 0), b"shared");
    for length in [4097, u64::MAX, u64::MAX - 4095] {
        assert!(client.device.shared_mapping(descriptor.as_fd(), 4096, length).is_err());
    }
    // The object is removed when its descriptor and all handles are closed.
    client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle: 2, pad: 0 }).unwrap();
    assert_eq!(client.device.objects.len(), 2);
    drop(descriptor);
    client.device.collect();
    assert_eq!(client.device.objects.len(), 1);
    let mut wrong = drm::PrimeHandle { fd: 987, ..Default::default() };
    assert_eq!(client.core(drm::nr::PRIME_FD_TO_HANDLE, &mut wrong), errno(Errno::BADF));
}

/// Oracle: i915_gem_close_object and drm_vma_node_is_allowed (Linux): a file maps only objects that
/// it has a handle of, and without a handle its address spaces do not have the object.
#[test]
fn objects_of_other_files() {
    let mut client = Client::open(RENDER);
    let handle = client.create(4096);
    client.write(handle, 0, &store(0x20_0000, 1)).unwrap();
    let mut flink = drm::GemFlink { handle, name: 0 };
    client.core(drm::nr::GEM_FLINK, &mut flink).unwrap();
    let mut map = i915::GemMmapOffset { handle, flags: 2, ..Default::default() };
    client.i915(i915::nr::GEM_MMAP_OFFSET, &mut map).unwrap();
    client.device.mapping(client.id, map.offset, 4096).unwrap();

    let other = Id::new();
    client.device.open(other, PRIMARY, None);
    client.id = other;
    let refused = |client: &mut Client| client.device.mapping(other, map.offset, 4096).unwrap_err();
    assert_eq!(refused(&mut client), Errno::ACCESS);
    let mut open = drm::GemOpen { name: flink.name, ..Default::default() };
    client.core(drm::nr::GEM_OPEN, &mut open).unwrap();
    client.device.mapping(other, map.offset, 4096).unwrap();
    let space = client.device.files[&other].contexts[&0].vm;
    let target = client.create(4096);
    let mut list =
        [pinned(target, 0x20_0000), ExecObject2 { handle: open.handle, ..Default::default() }];
    client.exec(&mut list, 0, 0).unwrap();
    let bound = |client: &Client| client.device.vms[&space].count();
    assert_eq!(bound(&client), 2);
    client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle: open.handle, pad: 0 }).unwrap();
    assert_eq!(bound(&client), 1);
    assert_eq!(refused(&mut client), Errno::ACCESS);
}

/// A descriptor that is not a sync file is refused. Oracle: Linux's sync_file_get_fence and its
/// callers.
#[test]
fn other_descriptors() {
    let mut client = Client::open(RENDER);
    let (pipe, _end) = std::io::pipe().unwrap();
    let pipe = std::os::fd::AsRawFd::as_raw_fd(&pipe);
    let batch = client.store_batch(0, 1);
    let mut objects = [pinned(batch, 0x20_0000)];
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    for fd in [pipe, -1] {
        let mut exec = ExecBuffer2 {
            buffers_ptr: objects.as_mut_ptr() as u64,
            buffer_count: 1,
            flags: exec::FENCE_IN,
            rsvd2: u64::from(fd.cast_unsigned()),
            ..Default::default()
        };
        assert_eq!(client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec), errno(Errno::INVAL));
        for flags in [0, drm::SYNCOBJ_SYNC_FILE] {
            let mut import = drm::SyncobjHandle { handle: sync.handle, flags, fd, pad: 0 };
            assert_eq!(
                client.core(drm::nr::SYNCOBJ_FD_TO_HANDLE, &mut import),
                errno(Errno::INVAL)
            );
        }
    }
}

/// The device finds exported descriptors that clients have closed, without a notification.
#[test]
fn closed_descriptors() {
    let mut client = Client::open(RENDER);
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
    let close = |descriptor| drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
    for _ in 0..1200 {
        let mut export = drm::SyncobjHandle { handle: sync.handle, ..Default::default() };
        client.core(drm::nr::SYNCOBJ_HANDLE_TO_FD, &mut export).unwrap();
        close(export.fd);
        assert!(client.device.shared_syncs.len() <= SWEEP_THRESHOLD);
    }
    let handle = client.create(4096);
    for _ in 0..1200 {
        let mut export = drm::PrimeHandle { handle, flags: drm::CLOEXEC, fd: 0 };
        client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut export).unwrap();
        close(export.fd);
        assert!(client.device.exports.len() <= SWEEP_THRESHOLD);
    }
    client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }).unwrap();
    assert!(client.device.objects.is_empty());
}

#[test]
fn closed_files() {
    let mut client = Client::open(RENDER);
    client.create(4096);
    assert_eq!((client.device.objects.len(), client.device.files.len()), (1, 1));
    client.end = descriptor::signaled_fence().unwrap();
    client.device.collect();
    assert_eq!((client.device.objects.len(), client.device.files.len()), (0, 0));
    assert!(client.device.vms.is_empty());
}

/// Oracle: IGT's prime_mmap@test_errors, and Linux drm_prime.c.
#[test]
fn flags_of_exports() {
    let mut client = Client::open(RENDER);
    let handle = client.create(4096);
    for (flags, works) in [
        (0, true),
        (drm::RDWR, true),
        (drm::CLOEXEC, true),
        (drm::RDWR | drm::CLOEXEC, true),
        (drm::CLOEXEC - 1, false),
        (drm::CLOEXEC + 1, false),
        (drm::RDWR - 1, false),
        (drm::RDWR + 1, false),
    ] {
        let mut export = drm::PrimeHandle { handle, flags, fd: -1 };
        let outcome = client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut export);
        assert_eq!(outcome, if works { Ok(()) } else { errno(Errno::INVAL) }, "{flags:#x}");
        if works {
            // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
            drop(unsafe { OwnedFd::from_raw_fd(export.fd) });
        }
    }
}
