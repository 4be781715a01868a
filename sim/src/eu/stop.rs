//! Reasons why a thread does not continue with the next instruction.

use crate::machine::fault::{Exception, Fault, Place, Refusal};

/// Work that a thread has to do before its next instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Pending {
    /// The thread continues at this offset from the kernel's first instruction. The index of the
    /// uop is not known yet.
    pub goto: Option<u32>,
    /// The thread stops, for this reason.
    pub stop: Option<Stop>,
    /// True if the next instruction was counted before it had to wait. It is not counted again.
    pub again: bool,
    /// True if exceptions must be checked before the next instruction.
    pub watch: bool,
    /// G45: true if the current instruction raises the exception of a mask stack.
    #[cfg(feature = "gen45")]
    pub stacks: bool,
}

impl Pending {
    /// True if there is something to do.
    pub fn any(&self) -> bool {
        *self != Pending::default()
    }
}

/// Why a thread stopped. All numbers have 32 bits, so that the value stays in two registers of the
/// host: a copy through memory of a part that was just written is slow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The thread sent the message that ends it.
    End,
    /// The thread jumps to this byte offset from the kernel's first instruction, where nothing is
    /// decoded yet. It can continue after [`super::decode::extend`] has decoded the target.
    Decode(i32),
    /// The thread waits for a notification in this subregister of `n0`
    /// ([`super::thread::Thread::notify`]).
    Notification(u32),
    /// A `sendc` waits for the end of the thread with this FFTID
    /// ([`super::thread::Thread::retired`]).
    Dependency(u32),
}

/// Why an instruction cannot continue. With the kernel's address it becomes a [`Fault`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// The instruction cannot be executed.
    Refused(Refusal),
    /// An exception for which the context has no system routine.
    Exception(Exception),
}

impl Trap {
    /// The fault for this trap at `at`.
    #[cold]
    pub fn fault(self, at: Place) -> Fault {
        match self {
            Trap::Refused(refusal) => refusal.fault(at),
            Trap::Exception(exception) => Fault::Exception { exception, at },
        }
    }
}

impl From<Refusal> for Trap {
    fn from(refusal: Refusal) -> Trap {
        Trap::Refused(refusal)
    }
}

/// Why the thread does not continue with the next instruction.
#[derive(Debug)]
pub(super) enum Interrupt {
    /// The thread cannot continue.
    Trap(Trap),
    /// [`Pending`] says what to do next.
    Pause,
}

impl<T: Into<Trap>> From<T> for Interrupt {
    fn from(trap: T) -> Interrupt {
        Interrupt::Trap(trap.into())
    }
}
