//! The result of an ioctl.

use super::fence::Fence;
use rustix::io::Errno;

/// Why an ioctl has not completed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The ioctl failed with this error.
    Errno(Errno),
    /// The ioctl must wait for a change. Call it again after the next change, or at this time of
    /// the monotonic clock in nanoseconds.
    Wait(u64),
    /// The ioctl succeeded; return once this fence signals.
    After(Fence),
    /// The ioctl succeeded; return once this fence signals, or its work needs something from
    /// outside ([`Fence::wait_or_rest`]).
    AfterWork(Fence),
}

impl From<Errno> for Stop {
    fn from(error: Errno) -> Stop {
        Stop::Errno(error)
    }
}

/// The result of an ioctl.
pub type Outcome = Result<(), Stop>;
