//! The time of the host, for traces.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// A time of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostTime {
    /// Time since the clock was made.
    pub wall: Duration,
    /// CPU time that the thread of the model has used since then. With an observer, the model uses
    /// one thread.
    pub cpu: Duration,
}

/// A clock of the host.
pub trait HostClock: Debug + Send {
    /// The time now. It never decreases.
    fn now(&mut self) -> HostTime;
}

/// The clock of the machine. On systems other than Unix, the CPU time is 0.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    start: Instant,
    cpu: Duration,
}

impl MachineClock {
    /// A clock that starts now.
    pub fn new() -> MachineClock {
        MachineClock { start: Instant::now(), cpu: cpu_time() }
    }
}

impl Default for MachineClock {
    fn default() -> MachineClock {
        MachineClock::new()
    }
}

impl HostClock for MachineClock {
    fn now(&mut self) -> HostTime {
        // A call from another thread, which may have used less, is not an error.
        HostTime { wall: self.start.elapsed(), cpu: cpu_time().saturating_sub(self.cpu) }
    }
}

#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    Duration::ZERO
}
