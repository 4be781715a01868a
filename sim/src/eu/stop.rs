//! Why a thread does not go on with the next instruction.

use crate::machine::fault::{Exception, Fault, Place, Refusal};

/// What a thread has to do before its next instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Pending {
    /// It continues at this offset from the kernel's first instruction. The index is not known yet.
    pub goto: Option<u32>,
    /// It stops, for this reason.
    pub stop: Option<Stop>,
    /// The instruction has been counted already, before it had to wait.
    pub again: bool,
    /// An exception may be raised before any instruction.
    pub watch: bool,
}

impl Pending {
    /// True if there is something to do.
    pub fn any(&self) -> bool {
        *self != Pending::default()
    }
}

/// Why a thread stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It sent the message that ends it.
    End,
    /// It jumps to this byte offset from the kernel's first instruction, where nothing is decoded
    /// yet. It can continue after [`super::decode8::extend`] has decoded it.
    Decode(i32),
    /// It waits for a notification in this subregister of `n0` ([`super::thread::Thread::notify`]).
    Notification(u8),
    /// A `sendc` waits for the end of the thread with this FFTID ([`super::thread::Thread::retired`]).
    Dependency(u8),
}

/// What an instruction ran into; becomes a [`Fault`] with the kernel's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trap {
    /// It cannot be executed.
    Refused(Refusal),
    /// An exception for which the context has no system routine.
    Exception(Exception),
}

impl Trap {
    /// The fault of a thread that ran into it at `at`.
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

/// Why the next instruction does not follow.
#[derive(Debug)]
pub(super) enum Interrupt {
    /// The thread cannot continue.
    Trap(Trap),
    /// [`Pending`] has what to do next.
    Pause,
}

impl<T: Into<Trap>> From<T> for Interrupt {
    fn from(trap: T) -> Interrupt {
        Interrupt::Trap(trap.into())
    }
}
