//! Synchronisation objects: fences with a number, and timelines of them. All work is done when its submission returns, so a
//! fence that is there is past; what can be waited for is that it is there.

use super::{Device, File, Handles, Outcome, Stop};
use crate::edge::client;
use crate::edge::token::{self, Id, Token};
use crate::uapi::drm;
use rustix::fd::{AsFd, IntoRawFd};
use rustix::io::Errno;
use std::sync::{Arc, Mutex, PoisonError};

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sync {
    /// There is a fence.
    pub fence: bool,
    /// The last point of the timeline that is past.
    pub point: u64,
}

/// Those that several files have are one.
pub type SharedSync = Arc<Mutex<Sync>>;

/// Changes or reads one.
fn with<R>(sync: &SharedSync, work: impl FnOnce(&mut Sync) -> R) -> R {
    work(&mut sync.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Signals a binary one (point 0) or a point of a timeline.
pub(super) fn set(sync: &SharedSync, point: u64) {
    with(sync, |sync| {
        sync.fence = true;
        sync.point = if point == 0 { 0 } else { sync.point.max(point) };
    });
}

/// True if the fence at a point, or the only one at point 0, is there, and so past.
pub(super) fn is_past(sync: &SharedSync, point: u64) -> bool {
    with(sync, |sync| sync.fence && (point == 0 || sync.point >= point))
}

/// SYNCOBJ_CREATE.
pub(super) fn create(all: &mut Handles<SharedSync>, arg: &mut drm::Syncobj) -> Outcome {
    if arg.flags & !drm::SYNCOBJ_CREATE_SIGNALED != 0 {
        return Err(Errno::INVAL.into());
    }
    let fence = arg.flags & drm::SYNCOBJ_CREATE_SIGNALED != 0;
    arg.handle = all.add(Arc::new(Mutex::new(Sync { fence, point: 0 })));
    Ok(())
}

/// SYNCOBJ_DESTROY.
pub(super) fn destroy(all: &mut Handles<SharedSync>, arg: &mut drm::Syncobj) -> Outcome {
    all.remove(arg.handle).map_err(|_| Errno::INVAL)?;
    Ok(())
}

/// Those that an array of handles names.
fn several(all: &Handles<SharedSync>, handles: u64, count: u32) -> Result<Vec<SharedSync>, Errno> {
    if count == 0 {
        return Err(Errno::INVAL);
    }
    let handles: Vec<u32> = client::array(handles, count.into())?;
    handles.into_iter().map(|handle| all.get(handle).cloned()).collect()
}

/// Waits for all or one of them.
fn wait_for(
    all: &Handles<SharedSync>,
    handles: (u64, u32),
    points: Option<u64>,
    flags: u32,
    timeout: i64,
) -> Result<u32, Stop> {
    let syncs = several(all, handles.0, handles.1)?;
    let points = match points {
        Some(0) | None => vec![0; syncs.len()],
        Some(points) => client::array::<u64>(points, handles.1.into())?,
    };
    let mut past = syncs.iter().zip(&points).map(|(sync, point)| is_past(sync, *point));
    let (first, done) = match flags & drm::SYNCOBJ_WAIT_ALL != 0 {
        true => (0, past.all(|past| past)),
        false => {
            let first = past.position(|past| past);
            (first.unwrap_or(0), first.is_some())
        }
    };
    if done {
        return Ok(first as u32);
    }
    // Without a fence there is nothing to wait for, unless for the fence itself.
    if flags & (drm::SYNCOBJ_WAIT_FOR_SUBMIT | drm::SYNCOBJ_WAIT_AVAILABLE) == 0 {
        let missing = |(sync, point): (&SharedSync, &u64)| !is_past(sync, *point);
        if syncs.iter().zip(&points).any(missing) {
            return Err(Errno::INVAL.into());
        }
    }
    match u64::try_from(timeout) {
        Ok(until) if until > now() => Err(Stop::Wait(until)),
        _ => Err(Errno::TIME.into()),
    }
}

/// The monotonic clock in nanoseconds, what timeouts count by.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// SYNCOBJ_WAIT.
pub(super) fn wait(all: &Handles<SharedSync>, arg: &mut drm::SyncobjWait) -> Outcome {
    let handles = (arg.handles, arg.count_handles);
    arg.first_signaled = wait_for(all, handles, None, arg.flags, arg.timeout_nsec)?;
    Ok(())
}

/// SYNCOBJ_TIMELINE_WAIT.
pub(super) fn timeline_wait(all: &Handles<SharedSync>, arg: &mut drm::SyncobjTimelineWait) -> Outcome {
    let handles = (arg.handles, arg.count_handles);
    arg.first_signaled = wait_for(all, handles, Some(arg.points), arg.flags, arg.timeout_nsec)?;
    Ok(())
}

/// SYNCOBJ_RESET.
pub(super) fn reset(all: &Handles<SharedSync>, arg: &mut drm::SyncobjArray) -> Outcome {
    for sync in several(all, arg.handles, arg.count_handles)? {
        with(&sync, |sync| *sync = Sync::default());
    }
    Ok(())
}

/// SYNCOBJ_SIGNAL.
pub(super) fn signal(all: &Handles<SharedSync>, arg: &mut drm::SyncobjArray) -> Outcome {
    for sync in several(all, arg.handles, arg.count_handles)? {
        set(&sync, 0);
    }
    Ok(())
}

/// SYNCOBJ_TIMELINE_SIGNAL.
pub(super) fn timeline_signal(all: &Handles<SharedSync>, arg: &mut drm::SyncobjTimelineArray) -> Outcome {
    let points: Vec<u64> = client::array(arg.points, arg.count_handles.into())?;
    for (sync, point) in several(all, arg.handles, arg.count_handles)?.iter().zip(points) {
        set(sync, point);
    }
    Ok(())
}

/// SYNCOBJ_QUERY.
pub(super) fn query(all: &Handles<SharedSync>, arg: &mut drm::SyncobjTimelineArray) -> Outcome {
    let syncs = several(all, arg.handles, arg.count_handles)?;
    let points: Vec<u64> = syncs.iter().map(|sync| with(sync, |sync| sync.point)).collect();
    Ok(client::put_array(arg.points, &points)?)
}

/// SYNCOBJ_TRANSFER: the fence of one becomes that of another.
pub(super) fn transfer(all: &Handles<SharedSync>, arg: &mut drm::SyncobjTransfer) -> Outcome {
    let (from, to) = (all.get(arg.src_handle)?, all.get(arg.dst_handle)?);
    if !is_past(from, arg.src_point) {
        return Err(Errno::INVAL.into());
    }
    set(to, arg.dst_point);
    Ok(())
}

impl Device {
    /// SYNCOBJ_HANDLE_TO_FD.
    pub(super) fn sync_export(&mut self, file: &mut File, arg: &mut drm::SyncobjHandle) -> Outcome {
        let sync = file.syncobjs.get(arg.handle)?.clone();
        if arg.flags & drm::SYNCOBJ_SYNC_FILE != 0 {
            if !is_past(&sync, 0) {
                return Err(Errno::INVAL.into());
            }
            arg.fd = token::signaled()?.into_raw_fd();
            return Ok(());
        }
        let id = Id::new();
        let (client, device) = Token::Sync { id }.create(true)?;
        self.shared_syncs.push((id, sync, device));
        arg.fd = client.into_raw_fd();
        Ok(())
    }

    /// SYNCOBJ_FD_TO_HANDLE.
    pub(super) fn sync_import(&mut self, file: &mut File, arg: &mut drm::SyncobjHandle) -> Outcome {
        let descriptor = client::descriptor(arg.fd)?;
        if arg.flags & drm::SYNCOBJ_SYNC_FILE != 0 {
            let sync = file.syncobjs.get(arg.handle)?;
            token::is_ready(&descriptor, None);
            set(sync, 0);
            return Ok(());
        }
        let Some(Token::Sync { id }) = Token::of(descriptor.as_fd()) else {
            return Err(Errno::INVAL.into());
        };
        match self.shared_syncs.iter().find(|(known, ..)| *known == id) {
            Some((_, sync, _)) => {
                arg.handle = file.syncobjs.add(sync.clone());
                Ok(())
            }
            None => {
                self.reporter.missing("a synchronisation object of another process");
                Err(Errno::INVAL.into())
            }
        }
    }
}
