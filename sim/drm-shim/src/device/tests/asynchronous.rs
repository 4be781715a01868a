//! Submissions that run while the client continues (GENX_SHIM_ASYNC).

use super::*;

/// A submission waits for its fences while the client continues. Ioctls that need the submission's
/// result wait or report that it is pending.
#[test]
fn work_after_a_fence() {
    let mut client = asynchronous();
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0000, 7);
    let other = client.create(4096);
    let writes = |handle, address| ExecObject2 {
        flags: pinned(0, 0).flags | object::WRITE,
        ..pinned(handle, address)
    };
    let (gate, opens) = Client::gate();
    let done = client.exec_after(&gate, &mut [writes(data, 0x30_0000), pinned(batch, 0x20_0000)]);
    assert!(!descriptor::is_signaled(&done) && descriptor::status(&done) == 0);
    // Render is class 0. (Linux i915_gem_busy.c)
    assert_eq!(client.busy(data), 0x1_0001);
    assert_eq!(client.busy(batch), 0x1_0000);
    assert_eq!(client.busy(other), 0);
    assert_eq!(client.wait(other, 0), (Ok(()), 0));
    assert_eq!(client.wait(data, 0), (errno(Errno::TIME), 0));
    let (outcome, left) = client.wait(data, 5_000_000);
    assert_eq!((outcome, left), (errno(Errno::TIME), 0));
    let mut read = i915::GemTransfer { handle: data, size: 4, ..Default::default() };
    assert_eq!(client.i915(i915::nr::GEM_PREAD, &mut read), Err(Stop::Wait(FOREVER)));
    let mut domain = i915::GemSetDomain { handle: batch, read_domains: 1, write_domain: 0 };
    client.i915(i915::nr::GEM_SET_DOMAIN, &mut domain).unwrap();
    domain.write_domain = 1;
    assert_eq!(client.i915(i915::nr::GEM_SET_DOMAIN, &mut domain), Err(Stop::Wait(FOREVER)));

    // A merged sync file signals when both sync files have signaled. Import it into a syncobj.
    let merged = client
        .device
        .merge([done.try_clone().unwrap(), descriptor::signaled_fence().unwrap()])
        .unwrap();
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let fd = rustix::fd::AsRawFd::as_raw_fd(&merged);
    let flags = drm::SYNCOBJ_SYNC_FILE;
    client
        .core(
            drm::nr::SYNCOBJ_FD_TO_HANDLE,
            &mut drm::SyncobjHandle { handle: sync.handle, flags, fd, pad: 0 },
        )
        .unwrap();
    let handles = [sync.handle];
    let mut wait = drm::SyncobjWait {
        handles: handles.as_ptr() as u64,
        count_handles: 1,
        ..Default::default()
    };
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), errno(Errno::TIME));

    // A submission of another context does not depend on the first one and overtakes it. Objects
    // exist as long as pending work uses them, also after their handles are closed.
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let second = client.store_batch(0x30_0000, 8);
    client
        .exec(&mut [writes(other, 0x30_0000), pinned(second, 0x20_0000)], 0, create.ctx_id)
        .unwrap();
    assert_eq!(client.wait(other, -1).0, Ok(()));
    assert_eq!(client.read::<4>(other, 0), [8, 0, 0, 0]);
    // A write to the same object waits for the pending write, whatever the context.
    let third = client.store_batch(0x30_0000, 9);
    client
        .exec(&mut [writes(data, 0x30_0000), pinned(third, 0x20_0000)], 0, create.ctx_id)
        .unwrap();
    let mut destroy = i915::ContextDestroy { ctx_id: create.ctx_id, pad: 0 };
    client.i915(i915::nr::GEM_CONTEXT_DESTROY, &mut destroy).unwrap();
    for handle in [batch, second, third] {
        client.core(drm::nr::GEM_CLOSE, &mut drm::GemClose { handle, pad: 0 }).unwrap();
    }
    assert!(!descriptor::is_signaled(&done));
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(data, i64::MAX).0, Ok(()));
    assert_eq!(client.read::<4>(data, 0), [9, 0, 0, 0]);
    assert!(descriptor::is_signaled(&done) && descriptor::status(&done) == 1);
    assert_eq!(client.busy(data), 0);
    wait.timeout_nsec = i64::MAX;
    while let Err(stop) = client.core(drm::nr::SYNCOBJ_WAIT, &mut wait) {
        assert_eq!(stop, Stop::Wait(i64::MAX as u64));
    }
    assert!(descriptor::is_signaled(&merged));
    // The second context and the closed objects were removed when their work was complete.
    assert_eq!(client.counts()[..2], [2, 1]);
}

/// A fault of a submission whose ioctl has returned is reported by the submission's fence, by the
/// next submission, and by GET_RESET_STATS.
#[test]
fn late_faults() {
    let mut client = asynchronous();
    let wrong = client.store_batch(0x70_0000, 1);
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    let ctx_id = create.ctx_id;
    let mut param = i915::ContextParam {
        ctx_id,
        param: i915::context_param::RECOVERABLE,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut param).unwrap();
    client.exec(&mut [pinned(wrong, 0x20_0000)], 0, ctx_id).unwrap();
    assert_eq!(client.wait(wrong, -1).0, Ok(()));
    let mut stats = i915::ResetStats { ctx_id, ..Default::default() };
    client.i915(i915::nr::GET_RESET_STATS, &mut stats).unwrap();
    assert_eq!((stats.reset_count, stats.batch_active, stats.batch_pending), (1, 1, 0));
    assert_eq!(client.exec(&mut [pinned(wrong, 0x20_0000)], 0, ctx_id), errno(Errno::IO));

    // If a fault bans a context, its submissions that still wait fail, and their fences report
    // this.
    let (gate, opens) = Client::gate();
    let mut zero =
        i915::ContextParam { param: i915::context_param::RECOVERABLE, ..Default::default() };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut zero).unwrap();
    let data = client.create(4096);
    let right = client.store_batch(0x30_0000, 1);
    let first = client.exec_after(&gate, &mut [pinned(wrong, 0x20_0000)]);
    let next = client.exec_after(&gate, &mut [pinned(data, 0x30_0000), pinned(right, 0x20_0000)]);
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(data, -1).0, Ok(()));
    for fence in [first, next] {
        assert_eq!(descriptor::status(&fence), -Errno::IO.raw_os_error());
    }
    assert_eq!(client.read::<4>(data, 0), [0; 4]);

    // When a file is closed, requests of a context that is not persistent fail if they have not
    // started.
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    param = i915::ContextParam {
        ctx_id: create.ctx_id,
        param: i915::context_param::PERSISTENCE,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_CONTEXT_SETPARAM, &mut param).unwrap();
    let (gate, _closed) = Client::gate();
    let mut objects = [pinned(data, 0x30_0000), pinned(right, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 2,
        flags: exec::FENCE_IN,
        rsvd1: create.ctx_id.into(),
        rsvd2: rustix::fd::AsRawFd::as_raw_fd(&gate) as u64,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    assert_ne!(client.busy(data), 0);
    client.device.close(client.id);
    assert_eq!(client.counts()[..2], [0, 0]);
}

/// A submission with a shared object is complete when its ioctl returns.
#[test]
fn shared_work() {
    let mut client = asynchronous();
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0000, 7);
    let mut prime = drm::PrimeHandle { handle: data, flags: drm::CLOEXEC, fd: -1 };
    client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut prime).unwrap();
    // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
    let _end = unsafe { OwnedFd::from_raw_fd(prime.fd) };
    let mut objects = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 2,
        ..Default::default()
    };
    let outcome = client.begin(COMMAND_BASE + i915::nr::GEM_EXECBUFFER2, &mut exec);
    assert!(matches!(outcome, Err(Stop::After(_))), "{outcome:?}");
}

/// A relocation with a write domain declares that the batch writes the object. So readers wait.
/// Oracle: Linux i915_gem_execbuffer.c, eb_relocate_entry.
#[test]
fn relocations_that_declare_writes() {
    for (write_domain, busy) in [(0, 0x1_0000), (2, 0x1_0001)] {
        let mut client = asynchronous();
        let data = client.create(4096);
        let batch = client.store_batch(0x30_0000, 7);
        let mut relocation = i915::Relocation {
            target_handle: data,
            offset: ADDRESS_FIELD,
            presumed_offset: 0x30_0000,
            write_domain,
            ..Default::default()
        };
        let mut objects = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
        (objects[1].relocation_count, objects[1].relocs_ptr) =
            (1, std::ptr::from_mut(&mut relocation) as u64);
        let (gate, opens) = Client::gate();
        client.exec_after(&gate, &mut objects);
        assert_eq!(objects[0].flags & object::WRITE, 0, "the client's flags do not change");
        assert_eq!(client.busy(data), busy);
        descriptor::signal(&opens, true);
    }
}

/// A client with as many submissions that wait as a ring has room for, the list of objects of each,
/// and what they wait for.
fn full_ring() -> (Client, [ExecObject2; 2], OwnedFd) {
    let mut client = asynchronous();
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0000, 1);
    let mut list = [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)];
    let (gate, opens) = Client::gate();
    for _ in 0..context::RING {
        client.exec_after(&gate, &mut list);
    }
    (client, list, opens)
}

/// A context whose submissions do not end takes only as many as its ring has room for. Submissions
/// of other contexts do not wait. (Linux i915_gem_execbuffer.c, eb_throttle)
#[test]
fn full_rings() {
    let (mut client, mut list, opens) = full_ring();
    assert_eq!(client.exec(&mut list, 0, 0), Err(Stop::Wait(FOREVER)));
    assert_eq!(client.exec(&mut list, exec::BLT, 0), Ok(()));
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(list[0].handle, -1).0, Ok(()));
    assert_eq!(client.exec(&mut list, 0, 0), Ok(()));
}

/// In a forked child, the work of the parent takes no room in a ring: it never ends there.
#[test]
fn full_rings_in_a_forked_child() {
    let (mut client, mut list, opens) = full_ring();
    client.device.pause();
    client.device.forked(0);
    assert_eq!(client.exec(&mut list, 0, 0), Ok(()));
    assert_eq!(client.wait(list[0].handle, -1).0, Ok(()));
    descriptor::signal(&opens, true);
}

/// Work that is pending when a buffer is exported is complete when its descriptor exists: users of
/// the descriptor do not wait for it. Oracle: begin_cpu_access (Linux i915_gem_dmabuf.c) waits.
#[test]
fn pending_work_of_exports() {
    let mut client = asynchronous();
    let data = client.create(4096);
    let batch = client.store_batch(0x30_0000, 1);
    let (gate, opens) = Client::gate();
    client.exec_after(&gate, &mut [pinned(data, 0x30_0000), pinned(batch, 0x20_0000)]);
    let mut prime = drm::PrimeHandle { handle: data, flags: 0, fd: -1 };
    assert_eq!(client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut prime), Err(Stop::Wait(FOREVER)));
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(data, -1).0, Ok(()));
    client.core(drm::nr::PRIME_HANDLE_TO_FD, &mut prime).unwrap();
    // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
    drop(unsafe { OwnedFd::from_raw_fd(prime.fd) });
}
