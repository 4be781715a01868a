//! Syncobjs and timelines.

use super::*;

#[test]
fn fences() {
    let mut client = Client::open(RENDER);
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let handles = [sync.handle];
    let (address, count_handles) = (handles.as_ptr() as u64, 1);
    let mut wait = drm::SyncobjWait { handles: address, count_handles, ..Default::default() };
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), errno(Errno::INVAL));
    wait.flags = drm::SYNCOBJ_WAIT_FOR_SUBMIT;
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), errno(Errno::TIME));
    wait.timeout_nsec = i64::MAX;
    assert_eq!(client.core(drm::nr::SYNCOBJ_WAIT, &mut wait), Err(Stop::Wait(i64::MAX as u64)));

    // A submission signals the syncobj, and then a point of its timeline.
    let batch = client.store_batch(0x20_0800, 1);
    let mut fences = [i915::ExecFence { handle: sync.handle, flags: i915::FENCE_SIGNAL }];
    let mut objects = [pinned(batch, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 1,
        cliprects_ptr: fences.as_mut_ptr() as u64,
        num_cliprects: 1,
        flags: exec::FENCE_ARRAY | exec::FENCE_OUT,
        ..Default::default()
    };
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    client.core(drm::nr::SYNCOBJ_WAIT, &mut wait).unwrap();
    // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
    let fence = unsafe { OwnedFd::from_raw_fd((exec.rsvd2 >> 32) as i32) };
    assert!(descriptor::is_signaled(&fence));

    let points = [5u64];
    let mut timeline = i915::TimelineFences {
        fence_count: 1,
        handles_ptr: fences.as_ptr() as u64,
        values_ptr: points.as_ptr() as u64,
        ..Default::default()
    };
    exec.flags = exec::USE_EXTENSIONS;
    (exec.num_cliprects, exec.cliprects_ptr) = (0, std::ptr::from_mut(&mut timeline) as u64);
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    let mut past = [0u64];
    let mut query = drm::SyncobjTimelineArray {
        handles: address,
        points: past.as_mut_ptr() as u64,
        count_handles,
        flags: 0,
    };
    client.core(drm::nr::SYNCOBJ_QUERY, &mut query).unwrap();
    assert_eq!(past, points);
    let later = [6u64];
    let mut wait = drm::SyncobjTimelineWait {
        handles: address,
        points: later.as_ptr() as u64,
        count_handles,
        flags: drm::SYNCOBJ_WAIT_FOR_SUBMIT,
        ..Default::default()
    };
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait), errno(Errno::TIME));
    query.points = later.as_ptr() as u64;
    client.core(drm::nr::SYNCOBJ_TIMELINE_SIGNAL, &mut query).unwrap();
    client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait).unwrap();
    // A submission that waits for a syncobj without a fence is refused.
    let mut reset = drm::SyncobjArray { handles: address, count_handles, pad: 0 };
    client.core(drm::nr::SYNCOBJ_RESET, &mut reset).unwrap();
    fences[0].flags = i915::FENCE_WAIT;
    assert_eq!(client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec), errno(Errno::INVAL));

    let mut export = drm::SyncobjHandle { handle: sync.handle, ..Default::default() };
    client.core(drm::nr::SYNCOBJ_HANDLE_TO_FD, &mut export).unwrap();
    let mut import = drm::SyncobjHandle { fd: export.fd, ..Default::default() };
    client.core(drm::nr::SYNCOBJ_FD_TO_HANDLE, &mut import).unwrap();
    let both = [import.handle];
    let mut signal = drm::SyncobjArray { handles: both.as_ptr() as u64, count_handles, pad: 0 };
    client.core(drm::nr::SYNCOBJ_SIGNAL, &mut signal).unwrap();
    let mut wait = drm::SyncobjWait { handles: address, count_handles, ..Default::default() };
    client.core(drm::nr::SYNCOBJ_WAIT, &mut wait).unwrap();
    // SAFETY: the ioctl just returned the descriptor, and nothing else owns it.
    drop(unsafe { OwnedFd::from_raw_fd(export.fd) });
}

/// Oracle: Linux drm_syncobj.c: an ioctl with unknown flags or a set padding returns EINVAL, also
/// if the handle is wrong, and does nothing.
#[test]
fn unknown_flags() {
    let mut client = Client::open(RENDER);
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let mut refuse = |number, handle: &mut drm::SyncobjHandle| {
        assert_eq!(client.core(number, handle), errno(Errno::INVAL), "{handle:?}");
    };
    for number in [drm::nr::SYNCOBJ_HANDLE_TO_FD, drm::nr::SYNCOBJ_FD_TO_HANDLE] {
        for handle in [sync.handle, 99] {
            refuse(number, &mut drm::SyncobjHandle { handle, flags: 0xdead, ..Default::default() });
            refuse(number, &mut drm::SyncobjHandle { handle, pad: 1, ..Default::default() });
        }
    }
    let handles = [sync.handle];
    let mut array =
        drm::SyncobjArray { handles: handles.as_ptr() as u64, count_handles: 1, pad: 1 };
    assert_eq!(client.core(drm::nr::SYNCOBJ_RESET, &mut array), errno(Errno::INVAL));
    assert_eq!(client.core(drm::nr::SYNCOBJ_SIGNAL, &mut array), errno(Errno::INVAL));
    let mut points = drm::SyncobjTimelineArray {
        handles: array.handles,
        points: [1u64].as_ptr() as u64,
        count_handles: 1,
        flags: 1 << 31,
    };
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_SIGNAL, &mut points), errno(Errno::INVAL));
    let [src_handle, dst_handle] = [sync.handle; 2];
    let mut transfer =
        drm::SyncobjTransfer { src_handle, dst_handle, pad: 1, ..Default::default() };
    assert_eq!(client.core(drm::nr::SYNCOBJ_TRANSFER, &mut transfer), errno(Errno::INVAL));
    // Padding of SYNCOBJ_DESTROY, where SYNCOBJ_CREATE has flags.
    let mut destroy = drm::Syncobj { handle: sync.handle, flags: 1 };
    assert_eq!(client.core(drm::nr::SYNCOBJ_DESTROY, &mut destroy), errno(Errno::INVAL));
    destroy.flags = 0;
    client.core(drm::nr::SYNCOBJ_DESTROY, &mut destroy).unwrap();
}

/// Points of a timeline signal in order.
#[test]
fn timelines() {
    let mut client = asynchronous();
    let batch = client.store_batch(0x20_0800, 1);
    let mut sync = drm::Syncobj::default();
    client.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
    let handles = [sync.handle];
    let mut fences = [i915::ExecFence { handle: sync.handle, flags: i915::FENCE_SIGNAL }];
    let mut points = [3u64];
    let mut timeline = i915::TimelineFences {
        fence_count: 1,
        handles_ptr: fences.as_mut_ptr() as u64,
        values_ptr: points.as_mut_ptr() as u64,
        ..Default::default()
    };
    let mut objects = [pinned(batch, 0x20_0000)];
    let mut exec = ExecBuffer2 {
        buffers_ptr: objects.as_mut_ptr() as u64,
        buffer_count: 1,
        cliprects_ptr: std::ptr::from_mut(&mut timeline) as u64,
        flags: exec::USE_EXTENSIONS | exec::FENCE_IN,
        ..Default::default()
    };
    let (gate, opens) = Client::gate();
    exec.rsvd2 = rustix::fd::AsRawFd::as_raw_fd(&gate) as u64;
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    let mut asked = [3u64];
    let mut wait = drm::SyncobjTimelineWait {
        handles: handles.as_ptr() as u64,
        points: asked.as_mut_ptr() as u64,
        count_handles: 1,
        ..Default::default()
    };
    let query = |client: &mut Client, flags| {
        let mut point = [99u64];
        let mut query = drm::SyncobjTimelineArray {
            handles: handles.as_ptr() as u64,
            points: point.as_mut_ptr() as u64,
            count_handles: 1,
            flags,
        };
        client.core(drm::nr::SYNCOBJ_QUERY, &mut query).unwrap();
        point[0]
    };
    // Point 3 has a fence that has not signaled; point 5 has no fence yet.
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait), errno(Errno::TIME));
    wait.flags = drm::SYNCOBJ_WAIT_AVAILABLE;
    client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait).unwrap();
    assert_eq!(
        (query(&mut client, 0), query(&mut client, drm::SYNCOBJ_QUERY_LAST_SUBMITTED)),
        (0, 3)
    );
    asked[0] = 5;
    wait.flags = 0;
    assert_eq!(client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait), errno(Errno::INVAL));
    // The submission of point 5 waits for point 3.
    (points[0], exec.flags) = (5, exec::USE_EXTENSIONS);
    let data = client.create(4096);
    let store = client.store_batch(0x30_0000, 1);
    let mut both = [pinned(data, 0x30_0000), pinned(store, 0x20_0000)];
    let mut order = [
        i915::ExecFence { handle: sync.handle, flags: i915::FENCE_WAIT },
        i915::ExecFence { handle: sync.handle, flags: i915::FENCE_SIGNAL },
    ];
    let mut values = [3u64, 5];
    timeline.fence_count = 2;
    (timeline.handles_ptr, timeline.values_ptr) =
        (order.as_mut_ptr() as u64, values.as_mut_ptr() as u64);
    (exec.buffers_ptr, exec.buffer_count) = (both.as_mut_ptr() as u64, 2);
    let mut create = i915::ContextCreate::default();
    client.i915(i915::nr::GEM_CONTEXT_CREATE, &mut create).unwrap();
    exec.rsvd1 = create.ctx_id.into();
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    assert_eq!(client.wait(data, 1_000_000).0, errno(Errno::TIME));
    descriptor::signal(&opens, true);
    assert_eq!(client.wait(data, -1).0, Ok(()));
    client.core(drm::nr::SYNCOBJ_TIMELINE_WAIT, &mut wait).unwrap();
    assert_eq!(query(&mut client, 0), 5);
    assert_eq!(client.read::<4>(data, 0), [1, 0, 0, 0]);
    // Oracle: Linux i915_gem_execbuffer.c, add_timeline_fence_array.
    order[0].flags = i915::FENCE_WAIT | i915::FENCE_SIGNAL;
    values[0] = 5;
    assert_eq!(client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec), errno(Errno::INVAL));
    // A chain of extensions excludes an array. Oracle: parse_execbuf2_extensions, in this file.
    order[0].flags = i915::FENCE_WAIT;
    client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec).unwrap();
    exec.num_cliprects = 1;
    assert_eq!(client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec), errno(Errno::INVAL));
    (exec.num_cliprects, exec.flags) = (0, exec::USE_EXTENSIONS | exec::FENCE_ARRAY);
    assert_eq!(client.i915(i915::nr::GEM_EXECBUFFER2, &mut exec), errno(Errno::INVAL));
}

impl Client {
    fn syncobj(&mut self) -> u32 {
        let mut sync = drm::Syncobj::default();
        self.core(drm::nr::SYNCOBJ_CREATE, &mut sync).unwrap();
        sync.handle
    }

    /// Calls SYNCOBJ_EVENTFD with a new event counter. Returns the counter.
    fn event(&mut self, handle: u32, point: u64, flags: u32) -> OwnedFd {
        let counter = counter();
        let fd = rustix::fd::AsRawFd::as_raw_fd(&counter);
        let mut event = drm::SyncobjEventfd { handle, flags, point, fd, pad: 0 };
        self.core(drm::nr::SYNCOBJ_EVENTFD, &mut event).unwrap();
        counter
    }

    /// Attaches the fence of a sync file to a syncobj.
    fn attach(&mut self, handle: u32, point: u64, file: &OwnedFd) {
        let binary = if point == 0 { handle } else { self.syncobj() };
        let mut import = drm::SyncobjHandle {
            handle: binary,
            flags: drm::SYNCOBJ_SYNC_FILE,
            fd: rustix::fd::AsRawFd::as_raw_fd(file),
            pad: 0,
        };
        self.core(drm::nr::SYNCOBJ_FD_TO_HANDLE, &mut import).unwrap();
        if point != 0 {
            let mut transfer = drm::SyncobjTransfer {
                src_handle: binary,
                dst_handle: handle,
                dst_point: point,
                ..Default::default()
            };
            self.core(drm::nr::SYNCOBJ_TRANSFER, &mut transfer).unwrap();
        }
    }
}

fn counter() -> OwnedFd {
    use rustix::event::{EventfdFlags, eventfd};
    eventfd(0, EventfdFlags::NONBLOCK).unwrap()
}

/// The number of signals since the last call, waiting up to ten seconds for the first one if
/// `waits`.
fn signals(counter: &OwnedFd, waits: bool) -> u64 {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled = [PollFd::new(counter, PollFlags::IN)];
    let limit = if waits { 10 } else { 0 };
    poll(&mut polled, Some(&Timespec { tv_sec: limit, tv_nsec: 0 })).unwrap();
    let mut count = [0; 8];
    match rustix::io::read(counter, &mut count) {
        Ok(8) => u64::from_ne_bytes(count),
        result => {
            assert_eq!(result, Err(Errno::AGAIN));
            0
        }
    }
}

/// Oracle: IGT's syncobj_eventfd, and Linux drm_syncobj.c.
#[test]
fn events_of_syncobjs() {
    let mut client = Client::open(RENDER);
    for point in [0, 1] {
        // Events that wait for a fence to exist, and then for the fence.
        let handle = client.syncobj();
        let (done, there) = (
            client.event(handle, point, 0),
            client.event(handle, point, drm::SYNCOBJ_WAIT_AVAILABLE),
        );
        assert_eq!([signals(&done, false), signals(&there, false)], [0, 0], "{point}");
        let (file, opens) = Client::gate();
        client.attach(handle, point, &file);
        assert_eq!([signals(&done, false), signals(&there, true)], [0, 1], "{point}");
        // Events of a fence that exists.
        let (done2, there2) = (
            client.event(handle, point, 0),
            client.event(handle, point, drm::SYNCOBJ_WAIT_AVAILABLE),
        );
        assert_eq!([signals(&done2, false), signals(&there2, true)], [0, 1], "{point}");
        descriptor::signal(&opens, true);
        assert_eq!([signals(&done, true), signals(&done2, true)], [1, 1], "{point}");
        // Events of a fence that has signaled.
        for flags in [0, drm::SYNCOBJ_WAIT_AVAILABLE] {
            let event = client.event(handle, point, flags);
            assert_eq!(signals(&event, false), 1, "{point} {flags}");
        }
        assert_eq!([&done, &there, &done2, &there2].map(|event| signals(event, false)), [0; 4]);
    }
    // An event of a later point, an event that survives SYNCOBJ_RESET, and an event whose syncobj
    // is destroyed before the fence signals.
    let handle = client.syncobj();
    let (first, second) = (client.event(handle, 1, 0), client.event(handle, 2, 0));
    let handles = [handle];
    let mut array =
        drm::SyncobjArray { handles: handles.as_ptr() as u64, count_handles: 1, pad: 0 };
    client.core(drm::nr::SYNCOBJ_RESET, &mut array).unwrap();
    let points = [1u64];
    let mut signal = drm::SyncobjTimelineArray {
        handles: array.handles,
        points: points.as_ptr() as u64,
        count_handles: 1,
        flags: 0,
    };
    client.core(drm::nr::SYNCOBJ_TIMELINE_SIGNAL, &mut signal).unwrap();
    assert_eq!([signals(&first, false), signals(&second, false)], [1, 0]);
    let (file, opens) = Client::gate();
    client.attach(handle, 2, &file);
    client.core(drm::nr::SYNCOBJ_DESTROY, &mut drm::Syncobj { handle, flags: 0 }).unwrap();
    assert_eq!(signals(&second, false), 0);
    descriptor::signal(&opens, true);
    assert_eq!(signals(&second, true), 1);
}

/// Oracle: IGT's syncobj_eventfd, and Linux drm_syncobj.c and eventfd.c.
#[test]
fn wrong_events_of_syncobjs() {
    let mut client = Client::open(RENDER);
    let handle = client.syncobj();
    let counter = counter();
    let fd = rustix::fd::AsRawFd::as_raw_fd(&counter);
    let null = std::fs::File::open("/dev/null").unwrap();
    let good = drm::SyncobjEventfd { handle, fd, ..Default::default() };
    let null = rustix::fd::AsRawFd::as_raw_fd(&null);
    for (mut event, error) in [
        (drm::SyncobjEventfd { flags: 1, ..good }, Errno::INVAL),
        (drm::SyncobjEventfd { flags: 0xdead_beef, handle: 99, ..good }, Errno::INVAL),
        (drm::SyncobjEventfd { pad: 1, ..good }, Errno::INVAL),
        (drm::SyncobjEventfd { handle: 99, fd: -1, ..good }, Errno::NOENT),
        (drm::SyncobjEventfd { fd: null, ..good }, Errno::INVAL),
        (drm::SyncobjEventfd { fd: -1, ..good }, Errno::BADF),
    ] {
        assert_eq!(client.core(drm::nr::SYNCOBJ_EVENTFD, &mut event), errno(error), "{event:?}");
    }
    // A full counter stays as it is, and the device does not wait.
    rustix::io::write(&counter, &(u64::MAX - 1).to_ne_bytes()).unwrap();
    let handles = [handle];
    let mut array =
        drm::SyncobjArray { handles: handles.as_ptr() as u64, count_handles: 1, pad: 0 };
    client.core(drm::nr::SYNCOBJ_SIGNAL, &mut array).unwrap();
    client.core(drm::nr::SYNCOBJ_EVENTFD, &mut good.clone()).unwrap();
    assert_eq!(signals(&counter, false), u64::MAX - 1);
}
