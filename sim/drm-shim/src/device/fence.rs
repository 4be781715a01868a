//! Fences, which signal when work of the GPU is complete or has failed, event counters that they
//! signal, and a count of changes for threads that wait.

use super::descriptor;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::thread::futex;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The monotonic clock in nanoseconds, which timeouts refer to.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The time limit of a wait without a timeout: only a change ends it.
pub const FOREVER: u64 = u64::MAX;

/// Counts changes that threads wait for. A thread that waits holds no lock.
#[derive(Debug, Default)]
pub struct Changes {
    /// The count, on which threads wait (futex). It wraps.
    count: AtomicU32,
    /// True if the queue cannot continue without a change from outside.
    at_rest: AtomicBool,
}

impl Changes {
    /// The count. Read the count before checking the condition to wait for.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// Counts a change and wakes all waiting threads.
    pub fn add(&self) {
        self.count.fetch_add(1, Ordering::Release);
        // It fails only for a wrong address.
        let _ = futex::wake(&self.count, futex::Flags::PRIVATE, i32::MAX.cast_unsigned());
    }

    /// Says whether the queue can continue by itself, or needs a change from outside. Counts a
    /// change if it cannot any more.
    pub fn set_at_rest(&self, at_rest: bool) {
        if !self.at_rest.swap(at_rest, Ordering::AcqRel) && at_rest {
            self.add();
        }
    }

    /// Waits until the count differs from `seen`, but at most until the clock (`now`) reaches
    /// `until`, and at most a second. May return earlier. Returns true if a signal handler of the
    /// client has run.
    pub fn wait(&self, seen: u32, until: u64) -> bool {
        // At most a second: a signal handler may have delayed this thread, so the caller must check
        // its condition again.
        let left = until.saturating_sub(now()).min(1_000_000_000);
        let limit = Timespec {
            tv_sec: (left / 1_000_000_000) as i64,
            tv_nsec: (left % 1_000_000_000) as i64,
        };
        let woken = futex::wait(&self.count, futex::Flags::PRIVATE, seen, Some(&limit));
        woken == Err(Errno::INTR)
    }
}

/// An event counter of the client (eventfd), which is signaled when some fences have signaled.
#[derive(Debug)]
pub struct Event {
    counter: OwnedFd,
    /// Number of fences that have not signaled yet, plus 1 while [`Event::after`] runs.
    left: AtomicUsize,
}

impl Event {
    /// Signals `counter` once all `fences` have signaled, which may be now.
    pub fn after(counter: OwnedFd, fences: &[Fence]) {
        let event = Arc::new(Event { counter, left: AtomicUsize::new(fences.len() + 1) });
        for fence in fences {
            fence.add_event(&event);
        }
        event.count_down();
    }

    /// One of the fences has signaled.
    fn count_down(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        // The kernel leaves a full counter as it is, where a write would wait. (Linux fs/eventfd.c,
        // eventfd_signal_mask)
        let mut polled = [PollFd::new(&self.counter, PollFlags::OUT)];
        if matches!(poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(1..)) {
            // The counter is a descriptor of the client: there is nobody to report an error to.
            let _ = rustix::io::write(&self.counter, &1u64.to_ne_bytes());
        }
    }
}

const PENDING: u8 = 0;
const DONE: u8 = 1;
const FAILED: u8 = 2;

/// A fence, shared by its clones.
#[derive(Clone)]
pub struct Fence(Arc<Work>);

/// What a fence signals.
#[derive(Default)]
struct Signals {
    /// The device's end of each sync file of the fence.
    sync_files: Vec<OwnedFd>,
    events: Vec<Arc<Event>>,
}

struct Work {
    state: AtomicU8,
    /// Class of the engine in the uAPI; `None` if no engine does the work.
    class: Option<u16>,
    signals: Mutex<Signals>,
    changes: Arc<Changes>,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fence({:?})", self.state())
    }
}

impl PartialEq for Fence {
    fn eq(&self, other: &Fence) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Fence {}

impl Fence {
    /// A fence that has not signaled.
    pub fn new(class: Option<u16>, changes: &Arc<Changes>) -> Fence {
        Fence(Arc::new(Work {
            state: AtomicU8::new(PENDING),
            class,
            signals: Mutex::default(),
            changes: changes.clone(),
        }))
    }

    /// Class of the engine in the uAPI; `None` if no engine does the work.
    pub fn class(&self) -> Option<u16> {
        self.0.class
    }

    /// The result; `None` until the fence signals. A client that has seen a sync file signal gets
    /// the result.
    pub fn result(&self) -> Option<Result<(), Errno>> {
        self.state().or_else(|| {
            // Another thread may be in `signal`, between the sync files and the state.
            drop(self.signals());
            self.state()
        })
    }

    fn signals(&self) -> MutexGuard<'_, Signals> {
        self.0.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result; `None` before, and while another thread signals the sync files.
    fn state(&self) -> Option<Result<(), Errno>> {
        match self.0.state.load(Ordering::Acquire) {
            PENDING => None,
            DONE => Some(Ok(())),
            _ => Some(Err(Errno::IO)),
        }
    }

    /// True once the work is complete or has failed.
    pub fn is_signaled(&self) -> bool {
        self.result().is_some()
    }

    /// Signals the fence: its sync files and events first, so that a client that knows the result
    /// of the fence finds them signaled. Threads in [`Fence::wait`] notice at the next
    /// [change](Changes::add), or within a second.
    pub fn signal(&self, well: bool) {
        let mut signals = self.signals();
        for descriptor in signals.sync_files.drain(..) {
            descriptor::signal(&descriptor, well);
        }
        for event in signals.events.drain(..) {
            event.count_down();
        }
        self.0.state.store(if well { DONE } else { FAILED }, Ordering::Release);
    }

    /// Waits until the fence signals, and returns its result.
    pub fn wait(&self) -> Result<(), Errno> {
        loop {
            let seen = self.0.changes.count();
            if let Some(result) = self.result() {
                return result;
            }
            self.0.changes.wait(seen, FOREVER);
        }
    }

    /// As [`wait`](Self::wait), but returns with success when the work cannot continue without a
    /// change from outside, for example because it waits for a semaphore that the client writes.
    pub fn wait_or_rest(&self) -> Result<(), Errno> {
        loop {
            let seen = self.0.changes.count();
            if let Some(result) = self.result() {
                return result;
            }
            if self.0.changes.at_rest.load(Ordering::Acquire) {
                return self.result().unwrap_or(Ok(()));
            }
            self.0.changes.wait(seen, FOREVER);
        }
    }

    /// Counts an event down when this fence signals, or now if it has.
    fn add_event(&self, event: &Arc<Event>) {
        let mut signals = self.signals();
        match self.state() {
            None => signals.events.push(event.clone()),
            Some(_) => event.count_down(),
        }
    }

    /// A sync file of the fence.
    ///
    /// # Errors
    /// EMFILE or ENFILE if there are too many descriptors.
    pub fn descriptor(&self) -> Result<OwnedFd, Errno> {
        let mut signals = self.signals();
        if self.state() == Some(Ok(())) {
            return descriptor::signaled_fence();
        }
        let (client, device) = descriptor::new_fence()?;
        match self.state() {
            None => signals.sync_files.push(device),
            Some(result) => descriptor::signal(&device, result.is_ok()),
        }
        Ok(client)
    }
}

#[cfg(test)]
mod tests;
