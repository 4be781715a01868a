//! Fences: work that is under way until it is done, well or not; and how threads learn that
//! something has changed.

use super::descriptor;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The monotonic clock in nanoseconds, what timeouts count by.
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A wait that only a change ends.
pub const FOREVER: u64 = u64::MAX;

/// Counts changes that others may wait for. It has a lock of its own: nobody waits with another one
/// held.
#[derive(Debug, Default)]
pub struct Changes {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Changes {
    /// How many there were: to be asked before looking at what one waits for.
    pub fn count(&self) -> u64 {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has changed.
    pub fn add(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_all();
    }

    /// Waits until there are more than `seen`, at most until a time of the clock.
    pub fn wait(&self, seen: u64, until: u64) {
        let left = Duration::from_nanos(until.saturating_sub(now()));
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        // Threads that a signal handler keeps busy look again now and then.
        let limit = left.min(Duration::from_secs(1));
        drop(self.changed.wait_timeout_while(count, limit, |count| *count == seen));
    }
}

const PENDING: u8 = 0;
const DONE: u8 = 1;
const FAILED: u8 = 2;

/// Work of the GPU. Copies are of the same.
#[derive(Clone)]
pub struct Fence(Arc<Work>);

struct Work {
    state: AtomicU8,
    /// Class of the engine, as clients know it; none if no engine does it.
    class: Option<u16>,
    /// The device's end of each descriptor that stands for it.
    descriptors: Mutex<Vec<OwnedFd>>,
    changes: Arc<Changes>,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fence({:?})", self.result())
    }
}

impl PartialEq for Fence {
    fn eq(&self, other: &Fence) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Fence {}

impl Fence {
    /// Work that is not done yet.
    pub fn new(class: Option<u16>, changes: &Arc<Changes>) -> Fence {
        Fence(Arc::new(Work {
            state: AtomicU8::new(PENDING),
            class,
            descriptors: Mutex::new(Vec::new()),
            changes: changes.clone(),
        }))
    }

    /// Class of its engine.
    pub fn class(&self) -> Option<u16> {
        self.0.class
    }

    /// What came of it, once it is done.
    pub fn result(&self) -> Option<Result<(), Errno>> {
        match self.0.state.load(Ordering::Acquire) {
            PENDING => None,
            DONE => Some(Ok(())),
            _ => Some(Err(Errno::IO)),
        }
    }

    /// True once it is done, well or not.
    pub fn is_signaled(&self) -> bool {
        self.result().is_some()
    }

    /// It is done. Who waits learns it with the next [change](Changes::add).
    pub fn signal(&self, well: bool) {
        let mut descriptors = self.0.descriptors.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.state.store(if well { DONE } else { FAILED }, Ordering::Release);
        for descriptor in descriptors.drain(..) {
            descriptor::signal(&descriptor, well);
        }
    }

    /// Waits for it.
    pub fn wait(&self) -> Result<(), Errno> {
        loop {
            let seen = self.0.changes.count();
            if let Some(result) = self.result() {
                return result;
            }
            self.0.changes.wait(seen, FOREVER);
        }
    }

    /// A descriptor that can be polled for it: a sync file.
    ///
    /// # Errors
    /// The kernel's.
    pub fn descriptor(&self) -> Result<OwnedFd, Errno> {
        let mut descriptors = self.0.descriptors.lock().unwrap_or_else(PoisonError::into_inner);
        if self.result() == Some(Ok(())) {
            return descriptor::signaled_fence();
        }
        let (client, device) = descriptor::new_fence()?;
        match self.result() {
            None => descriptors.push(device),
            Some(result) => descriptor::signal(&device, result.is_ok()),
        }
        Ok(client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors() {
        let changes = Arc::new(Changes::default());
        let fence = Fence::new(None, &changes);
        let early = fence.descriptor().unwrap();
        assert!(!fence.is_signaled() && !descriptor::is_signaled(&early));
        assert_eq!(descriptor::status(&early), 0);
        let copy = fence.clone();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| fence.wait());
            copy.signal(true);
            changes.add();
            assert_eq!(waiting.join().unwrap(), Ok(()));
        });
        assert!(descriptor::is_signaled(&early));
        assert_eq!(
            (descriptor::status(&early), descriptor::status(fence.descriptor().unwrap())),
            (1, 1)
        );

        let failed = Fence::new(None, &changes);
        let early = failed.descriptor().unwrap();
        failed.signal(false);
        let late = failed.descriptor().unwrap();
        for descriptor in [early, late] {
            assert_eq!(descriptor::status(&descriptor), -Errno::IO.raw_os_error());
        }
        assert_eq!(failed.wait(), Err(Errno::IO));
        // Work of a process that is gone is over.
        let lost = Fence::new(None, &changes);
        let descriptor = lost.descriptor().unwrap();
        drop(lost);
        assert!(descriptor::is_signaled(&descriptor));
    }
}
