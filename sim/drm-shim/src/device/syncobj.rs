//! Syncobjs: binary ones and timelines.

use super::fence::{Event, Fence, now};
use super::handles::Handles;
use super::host::Host;
use super::outcome::{Outcome, Stop};
use crate::uapi::drm;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::sync::{Arc, Mutex, PoisonError};

/// How long SYNCOBJ_TRANSFER with WAIT_FOR_SUBMIT waits until the source has a fence, in
/// nanoseconds. (Linux drm_syncobj.c)
const TRANSFER_TIMEOUT: u64 = 5_000_000_000;

/// A syncobj.
#[derive(Debug, Default)]
pub struct Sync {
    /// True if the syncobj has a fence.
    fence: bool,
    /// The last point of the timeline that has signaled.
    point: u64,
    /// The fences in the order of their points, without those at the front that had signaled at the
    /// last check.
    pending: Vec<Pending>,
    /// Events of points that have no fence yet.
    events: Vec<Waiting>,
}

/// An event of a point that has no fence yet (SYNCOBJ_EVENTFD).
#[derive(Debug)]
struct Waiting {
    point: u64,
    /// True if the event needs the fence only to exist.
    of_submission: bool,
    counter: OwnedFd,
}

/// A fence of a point. A point may have several fences, which are adjacent.
#[derive(Debug)]
struct Pending {
    /// The point; 0 for a binary fence.
    point: u64,
    fence: Fence,
    /// True for the last fence of the point: the point signals when this fence and all before it
    /// have signaled.
    completes: bool,
}

impl Sync {
    /// Removes signaled fences from the front and advances the signaled point.
    fn advance(&mut self) {
        let past = self.pending.iter().take_while(|pending| pending.fence.is_signaled()).count();
        for pending in self.pending.drain(..past).filter(|pending| pending.completes) {
            self.point = self.point.max(pending.point);
        }
    }

    /// At point 0, replaces the fence by `fences`. At other points, adds `fences` to the timeline.
    /// Without `fences`, point 0 has signaled, and another point signals when all earlier points
    /// have signaled.
    fn set(&mut self, point: u64, fences: impl IntoIterator<Item = Fence>) {
        self.fence = true;
        if point == 0 {
            self.point = 0;
            self.pending.clear();
        }
        let before = self.pending.len();
        let last = self.pending.last();
        // Points of a timeline never decrease, whatever the client requests.
        let point = if point == 0 { 0 } else { last.map_or(point, |last| point.max(last.point)) };
        // Without fences, the last pending fence completes the new point, too.
        let last = last.map(|last| last.fence.clone());
        let new = |fence| Pending { point, fence, completes: false };
        self.pending.extend(fences.into_iter().map(new));
        if before == self.pending.len() {
            self.pending.extend(last.map(new));
        }
        match self.pending.last_mut() {
            Some(last) => last.completes = true,
            None => self.point = self.point.max(point),
        }
        self.advance();
        for waiting in std::mem::take(&mut self.events) {
            self.add_event(waiting);
        }
    }

    /// Signals an event once its point has signaled, or with `of_submission` has a fence.
    fn add_event(&mut self, waiting: Waiting) {
        let Waiting { point, of_submission, .. } = waiting;
        if !self.is_there(point) {
            self.events.push(waiting);
            return;
        }
        let before = if of_submission { &[] } else { self.before(point) };
        let fences: Vec<Fence> = before.iter().map(|pending| pending.fence.clone()).collect();
        Event::after(waiting.counter, &fences);
    }

    /// Removes the fences. Events stay until there are fences again. (Linux drm_syncobj.c,
    /// drm_syncobj_replace_fence)
    fn reset(&mut self) {
        *self = Sync { events: std::mem::take(&mut self.events), ..Sync::default() };
    }

    /// True if the timeline has reached or will reach a point; for point 0, true if there is a
    /// fence.
    fn is_there(&self, point: u64) -> bool {
        let last = self.pending.last().map_or(self.point, |last| self.point.max(last.point));
        self.fence && last >= point
    }

    /// Fences that must signal before a point does. For point 0, all fences.
    fn before(&self, point: u64) -> &[Pending] {
        let end = match point {
            0 => self.pending.len(),
            _ if self.point >= point => 0,
            _ => self
                .pending
                .iter()
                .position(|pending| pending.point >= point && pending.completes)
                .map_or(self.pending.len(), |at| at + 1),
        };
        &self.pending[..end]
    }

    /// Called in a forked child: treats fences of the parent as signaled.
    pub(super) fn forget_work(&mut self) {
        for pending in self.pending.drain(..) {
            self.point = self.point.max(pending.point);
        }
    }
}

/// A syncobj, shared by the files that have a handle for it.
pub type SharedSync = Arc<Mutex<Sync>>;

/// Calls a function with the syncobj locked.
pub(super) fn with<R>(sync: &SharedSync, work: impl FnOnce(&mut Sync) -> R) -> R {
    work(&mut sync.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Sets the binary fence (point 0) or adds a point to the timeline. Without `fences`, a binary
/// fence has signaled, and a point signals when all earlier points have signaled.
pub(super) fn set(sync: &SharedSync, point: u64, fences: impl IntoIterator<Item = Fence>) {
    with(sync, |sync| sync.set(point, fences));
}

/// True if the fence at a point exists and has signaled; point 0 means the binary fence.
fn is_signaled(sync: &SharedSync, point: u64) -> bool {
    with(sync, |sync| {
        sync.advance();
        sync.is_there(point) && sync.before(point).is_empty()
    })
}

/// True if the timeline has reached or will reach a point; for point 0, true if there is a fence.
fn is_there(sync: &SharedSync, point: u64) -> bool {
    with(sync, |sync| sync.is_there(point))
}

/// Fences that must signal before a point does; `None` if there is no fence at that point.
pub(super) fn fences(sync: &SharedSync, point: u64) -> Option<Vec<Fence>> {
    with(sync, |sync| {
        sync.advance();
        let fences = || sync.before(point).iter().map(|pending| pending.fence.clone()).collect();
        sync.is_there(point).then(fences)
    })
}

/// Executes the ioctl SYNCOBJ_CREATE.
pub(super) fn create(all: &mut Handles<SharedSync>, arg: &mut drm::Syncobj) -> Outcome {
    if arg.flags & !drm::SYNCOBJ_CREATE_SIGNALED != 0 {
        return Err(Errno::INVAL.into());
    }
    let fence = arg.flags & drm::SYNCOBJ_CREATE_SIGNALED != 0;
    arg.handle = all.add(Arc::new(Mutex::new(Sync { fence, ..Sync::default() })));
    Ok(())
}

/// Executes the ioctl SYNCOBJ_DESTROY.
pub(super) fn destroy(all: &mut Handles<SharedSync>, arg: &mut drm::Syncobj) -> Outcome {
    // The second dword is padding here. (Linux drm_syncobj.c)
    if arg.flags != 0 {
        return Err(Errno::INVAL.into());
    }
    all.remove(arg.handle).map_err(|_| Errno::INVAL)?;
    Ok(())
}

/// The syncobjs of an array of handles.
fn several(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    handles: u64,
    count: u32,
) -> Result<Vec<SharedSync>, Errno> {
    if count == 0 {
        return Err(Errno::INVAL);
    }
    let handles: Vec<u32> = host.array(handles, count.into())?;
    handles.into_iter().map(|handle| all.get(handle).cloned()).collect()
}

/// Returns the index of the first syncobj that has signaled; with WAIT_ALL, returns 0 once all have
/// signaled. With WAIT_AVAILABLE, a syncobj only needs a fence. Until then, makes the ioctl wait;
/// ETIME after the time limit.
fn wait_for(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    handles: (u64, u32),
    points: Option<u64>,
    flags: u32,
    timeout: i64,
) -> Result<u32, Stop> {
    let syncs = several(host, all, handles.0, handles.1)?;
    let points = match points {
        Some(0) | None => vec![0; syncs.len()],
        Some(points) => host.array::<u64>(points, handles.1.into())?,
    };
    let of_submission = flags & drm::SYNCOBJ_WAIT_AVAILABLE != 0;
    let met = |(sync, point): (&SharedSync, &u64)| match of_submission {
        true => is_there(sync, *point),
        false => is_signaled(sync, *point),
    };
    let mut met = syncs.iter().zip(&points).map(met);
    let (first, done) = match flags & drm::SYNCOBJ_WAIT_ALL != 0 {
        true => (0, met.all(|met| met)),
        false => {
            let first = met.position(|met| met);
            (first.unwrap_or(0), first.is_some())
        }
    };
    // Unless one of these flags is set, waiting for a syncobj that has no fence is an error.
    if flags & (drm::SYNCOBJ_WAIT_FOR_SUBMIT | drm::SYNCOBJ_WAIT_AVAILABLE) == 0
        && !syncs.iter().zip(&points).all(|(sync, point)| is_there(sync, *point))
    {
        return Err(Errno::INVAL.into());
    }
    if done {
        return Ok(first as u32);
    }
    match u64::try_from(timeout) {
        Ok(until) if until > now() => Err(Stop::Wait(until)),
        _ => Err(Errno::TIME.into()),
    }
}

/// Executes the ioctl SYNCOBJ_WAIT.
pub(super) fn wait(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    arg: &mut drm::SyncobjWait,
) -> Outcome {
    if arg.flags & !(drm::SYNCOBJ_WAIT_ALL | drm::SYNCOBJ_WAIT_FOR_SUBMIT) != 0 {
        return Err(Errno::INVAL.into());
    }
    let handles = (arg.handles, arg.count_handles);
    arg.first_signaled = wait_for(host, all, handles, None, arg.flags, arg.timeout_nsec)?;
    Ok(())
}

/// Executes the ioctl SYNCOBJ_TIMELINE_WAIT.
pub(super) fn timeline_wait(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    arg: &mut drm::SyncobjTimelineWait,
) -> Outcome {
    let known = drm::SYNCOBJ_WAIT_ALL | drm::SYNCOBJ_WAIT_FOR_SUBMIT | drm::SYNCOBJ_WAIT_AVAILABLE;
    if arg.flags & !known != 0 {
        return Err(Errno::INVAL.into());
    }
    let handles = (arg.handles, arg.count_handles);
    arg.first_signaled =
        wait_for(host, all, handles, Some(arg.points), arg.flags, arg.timeout_nsec)?;
    Ok(())
}

/// Executes the ioctl SYNCOBJ_RESET.
pub(super) fn reset(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    arg: &mut drm::SyncobjArray,
) -> Outcome {
    if arg.pad != 0 {
        return Err(Errno::INVAL.into());
    }
    for sync in several(host, all, arg.handles, arg.count_handles)? {
        with(&sync, Sync::reset);
    }
    Ok(())
}

/// Executes the ioctl SYNCOBJ_SIGNAL.
pub(super) fn signal(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    arg: &mut drm::SyncobjArray,
) -> Outcome {
    if arg.pad != 0 {
        return Err(Errno::INVAL.into());
    }
    for sync in several(host, all, arg.handles, arg.count_handles)? {
        set(&sync, 0, None);
    }
    Ok(())
}

/// Executes the ioctl SYNCOBJ_TIMELINE_SIGNAL.
pub(super) fn timeline_signal(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    arg: &mut drm::SyncobjTimelineArray,
) -> Outcome {
    if arg.flags != 0 {
        return Err(Errno::INVAL.into());
    }
    let points: Vec<u64> = host.array(arg.points, arg.count_handles.into())?;
    for (sync, point) in several(host, all, arg.handles, arg.count_handles)?.iter().zip(points) {
        set(sync, point, None);
    }
    Ok(())
}

/// Executes the ioctl SYNCOBJ_QUERY.
pub(super) fn query(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    arg: &mut drm::SyncobjTimelineArray,
) -> Outcome {
    if arg.flags & !drm::SYNCOBJ_QUERY_LAST_SUBMITTED != 0 {
        return Err(Errno::INVAL.into());
    }
    let point = |sync: &mut Sync| {
        sync.advance();
        match sync.pending.last() {
            Some(last) if arg.flags & drm::SYNCOBJ_QUERY_LAST_SUBMITTED != 0 => last.point,
            _ => sync.point,
        }
    };
    let syncs = several(host, all, arg.handles, arg.count_handles)?;
    let points: Vec<u64> = syncs.iter().map(|sync| with(sync, point)).collect();
    Ok(host.put_array(arg.points, &points)?)
}

/// SYNCOBJ_EVENTFD: signals an event counter once a point has signaled, or with WAIT_AVAILABLE once
/// it has a fence.
///
/// # Errors
/// EINVAL for unknown flags, a set padding, and a descriptor that is not an event counter; ENOENT
/// for an unknown handle; EBADF for an unknown descriptor.
pub(super) fn event(
    host: &dyn Host,
    all: &Handles<SharedSync>,
    arg: &mut drm::SyncobjEventfd,
) -> Outcome {
    if arg.flags & !drm::SYNCOBJ_WAIT_AVAILABLE != 0 || arg.pad != 0 {
        return Err(Errno::INVAL.into());
    }
    let sync = all.get(arg.handle)?;
    let counter = host.event_counter(arg.fd)?;
    let of_submission = arg.flags & drm::SYNCOBJ_WAIT_AVAILABLE != 0;
    with(sync, |sync| {
        sync.advance();
        sync.add_event(Waiting { point: arg.point, of_submission, counter });
    });
    Ok(())
}

/// SYNCOBJ_TRANSFER: copies the fence of one syncobj into another. `since` is the time of the
/// ioctl's first call.
pub(super) fn transfer(
    all: &Handles<SharedSync>,
    arg: &mut drm::SyncobjTransfer,
    since: u64,
) -> Outcome {
    if arg.pad != 0 {
        return Err(Errno::INVAL.into());
    }
    let (from, to) = (all.get(arg.src_handle)?, all.get(arg.dst_handle)?);
    let Some(fences) = fences(from, arg.src_point) else {
        let until = since + TRANSFER_TIMEOUT;
        return Err(match arg.flags & drm::SYNCOBJ_WAIT_FOR_SUBMIT {
            0 => Errno::INVAL.into(),
            _ if until > now() => Stop::Wait(until),
            _ => Errno::TIME.into(),
        });
    };
    set(to, arg.dst_point, fences);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::fence::Changes;

    fn new() -> Fence {
        Fence::new(None, &Arc::new(Changes::default()))
    }

    /// A point with several fences signals when all have signaled, in any order. (SYNCOBJ_TRANSFER
    /// of a point that waits for earlier points gives several fences.)
    #[test]
    fn a_point_needs_all_its_fences() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 2, 0], [2, 1, 0]] {
            let [first, second, third] = [new(), new(), new()];
            let sync = SharedSync::default();
            set(&sync, 3, [first.clone(), second.clone()]);
            // Point 4 has no fence of its own: it signals with point 3.
            set(&sync, 4, None);
            set(&sync, 5, [third.clone()]);
            assert_eq!(fences(&sync, 3).unwrap(), [first.clone(), second.clone()]);
            assert_eq!(fences(&sync, 4).unwrap().last(), Some(&second));
            let all = [first, second, third];
            for (count, &which) in order.iter().enumerate() {
                assert!(!is_signaled(&sync, 5), "{order:?} after {count}");
                all[which].signal(true);
                let done = |which: usize| all[which].is_signaled();
                let reached = [done(0) && done(1), done(0) && done(1) && done(2)];
                let signaled = [3, 4, 5].map(|point| is_signaled(&sync, point));
                assert_eq!(signaled, [reached[0], reached[0], reached[1]], "{order:?} {which}");
            }
            with(&sync, |sync| assert_eq!((sync.point, sync.pending.len()), (5, 0)));
        }
    }

    /// A second request for a point does not delay the first one. (Linux dma-fence-chain.c: a wait
    /// for a point ends with the oldest link that has reached it.)
    #[test]
    fn a_point_that_is_set_twice() {
        let [first, second] = [new(), new()];
        let sync = SharedSync::default();
        set(&sync, 3, [first.clone()]);
        set(&sync, 3, [second]);
        first.signal(true);
        assert!(is_signaled(&sync, 3));
    }
}
