//! Faults: everything that ends a submission early. A fault says where it happened and what is
//! wrong.

use super::wait::Wait;
use crate::mem::{Nearby, PageFault, Va};
use std::borrow::Cow;
use std::fmt;

pub use super::place::{InKernel, Place};

/// A thread that waits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Number of the thread within its group; for a thread without a group, the number of its
    /// hardware thread slot.
    pub thread: u32,
    /// The instruction that waits.
    pub eu: InKernel,
    /// The event that it waits for.
    pub reason: String,
}

/// Why a submission ended before the end of its batch.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// An address that cannot be accessed: no memory is mapped there, its page table entry points
    /// outside physical memory, the address is beyond the end of the address space, or the access
    /// is a write to read-only memory.
    #[error("{at}: {fault} ({what}){}", near.as_ref().map(|near| format!("; {near}")).unwrap_or_default())]
    Page {
        /// The address and why it could not be used.
        fault: PageFault,
        /// The nearest mapped memory, if nothing is mapped at the address.
        near: Option<Box<Nearby>>,
        /// The data that was being read or written.
        what: Cow<'static, str>,
        /// The packet.
        at: Place,
    },
    /// A function that hardware has and the model does not implement yet.
    #[error("{at}: the model does not implement {what} yet ({page})")]
    Unimplemented {
        /// The packet, field value or message.
        what: Cow<'static, str>,
        /// The packet.
        at: Place,
        /// Where the missing function is described.
        page: Cow<'static, str>,
    },
    /// The submission did more work than its budget allows: an endless loop, or a budget that is
    /// too small.
    #[error(
        "{at}: the watchdog ended it, still running after {limit} units of work; if that is meant, \
         raise the work limit"
    )]
    Hang {
        /// The budget, in the units of [`crate::machine::watchdog`].
        /// [`Gpu::set_work_limit`](crate::Gpu::set_work_limit) changes it.
        limit: u64,
        /// The packet that was running.
        at: Place,
    },
    /// Threads that wait for each other, or for something that no thread sends.
    #[error("{at}: {group}: {}", waiting(threads))]
    Stuck {
        /// The thread group; for threads without a group, what kind of threads they are.
        group: Cow<'static, str>,
        /// All threads that have not ended.
        threads: Vec<Waiting>,
        /// The packet that started the first of them.
        at: Place,
    },
    /// A thread reached an instruction that the EU does not have or that breaks its rules.
    #[error("{at}: illegal instruction: {why}")]
    IllegalInstruction {
        /// What is wrong with the instruction.
        why: Cow<'static, str>,
        /// The instruction, and the packet that started the thread.
        at: Place,
    },
    /// A thread raised an exception, and no STATE_SIP says where the system routine is.
    #[error("{at}: {exception}, and there is no system routine (STATE_SIP)")]
    Exception {
        /// The exception.
        exception: Exception,
        /// The instruction, and the packet that started the thread.
        at: Place,
    },
    /// A field has a value that its packet does not allow.
    #[error("{at}: {field} = {value:#x}: {why}")]
    BadPacket {
        /// The field, as the manual names it.
        field: &'static str,
        /// Value of the field.
        value: u64,
        /// Why the value is wrong, or what is allowed.
        why: Cow<'static, str>,
        /// The packet.
        at: Place,
    },
    /// Every engine that has work waits for a semaphore, and no engine can change one.
    #[error("deadlock: {}", waits.iter().map(Wait::to_string).collect::<Vec<_>>().join("; "))]
    Deadlock {
        /// The semaphore wait of each engine that has work.
        waits: Vec<Wait>,
    },
    /// The packet's dwords cannot be parsed.
    #[error("{at}: {why}")]
    Malformed {
        /// The error of the parser.
        why: Cow<'static, str>,
        /// The packet.
        at: Place,
    },
    /// A dword that is not a packet header of the engine.
    #[error("{at}: {header:#010x} is not a packet header of the {} engine", at.engine)]
    UnknownPacket {
        /// The dword.
        header: u32,
        /// Position of the dword.
        at: Place,
    },
    /// A packet that is longer than the rest of its batch.
    #[error("{at}: the packet has {needed} dwords, the batch ends after {available}")]
    Truncated {
        /// Dwords of the packet.
        needed: usize,
        /// Dwords that are left.
        available: usize,
        /// The packet.
        at: Place,
    },
    /// The observer ended the run ([`Observer::cancels`](crate::Observer::cancels)).
    #[error("{at}: the observer ended the run")]
    Cancelled {
        /// The packet, or the instruction, that was about to be executed.
        at: Place,
    },
    /// The model's memory is used up.
    #[error("out of memory: {0}")]
    Memory(#[from] crate::mem::OutOfMemory),
}

genxml_core::debug_as_display!(Fault);

/// Describes the first four waiting threads, and gives the number of the others.
fn waiting(threads: &[Waiting]) -> String {
    const SHOWN: usize = 4;
    let list: Vec<String> = (threads.iter().take(SHOWN))
        .map(|waiting| {
            let InKernel { kernel, ip } = waiting.eu;
            format!(
                "thread {} in the kernel at {} +{ip:#x} for {}",
                waiting.thread,
                Va(kernel),
                waiting.reason
            )
        })
        .collect();
    let more = match threads.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("waits forever: {}{more}", list.join("; "))
}

/// Why the model refuses an operation. [`Refusal::fault`] turns it into a [`Fault`] once the packet
/// is known.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The model does not implement the operation yet; hardware does.
    #[error("the model does not implement {what} ({page})")]
    Missing {
        /// The operation, field value or message.
        what: Cow<'static, str>,
        /// Where the missing function is described.
        page: Cow<'static, str>,
    },
    /// The manual forbids the operation.
    #[error("{why}")]
    Illegal {
        /// What is wrong.
        why: Cow<'static, str>,
    },
}

genxml_core::debug_as_display!(Refusal);

impl Refusal {
    /// The model lacks `what`, which is described at `page`.
    #[cold]
    pub fn missing(
        what: impl Into<Cow<'static, str>>,
        page: impl Into<Cow<'static, str>>,
    ) -> Refusal {
        Refusal::Missing { what: what.into(), page: page.into() }
    }

    /// The manual forbids the operation, for the reason `why`.
    #[cold]
    pub fn illegal(why: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal::Illegal { why: why.into() }
    }

    /// The fault for this refusal. `at` is the position of the refused packet or instruction.
    #[cold]
    pub fn fault(self, at: Place) -> Fault {
        match self {
            Refusal::Missing { what, page } => Fault::Unimplemented { what, at, page },
            Refusal::Illegal { why } => Fault::IllegalInstruction { why, at },
        }
    }
}

impl Fault {
    /// The packet that was running, if there was one. For a deadlock, the first packet that waits.
    pub fn place(&self) -> Option<Place> {
        match self {
            Fault::Page { at, .. }
            | Fault::Unimplemented { at, .. }
            | Fault::Hang { at, .. }
            | Fault::Cancelled { at }
            | Fault::Stuck { at, .. }
            | Fault::IllegalInstruction { at, .. }
            | Fault::Exception { at, .. }
            | Fault::BadPacket { at, .. }
            | Fault::Malformed { at, .. }
            | Fault::UnknownPacket { at, .. }
            | Fault::Truncated { at, .. } => Some(*at),
            Fault::Deadlock { waits } => waits.first().map(|wait| wait.at),
            Fault::Memory(_) => None,
        }
    }
}

/// An event that interrupts a program (004:3150-3500).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exception {
    /// An instruction with DebugCtrl, or any instruction while the status bit of an earlier
    /// breakpoint is still set.
    Breakpoint,
    /// A request from outside ([`Thread::halt`](crate::eu::Thread::halt)), or the program set the
    /// bit of this exception in `cr0.1`.
    ExternalHalt,
    /// The program set the bit of this exception in `cr0.1`.
    Software,
    /// `illegal`, or an operation that does not exist.
    IllegalOpcode,
    /// G45: a mask stack has more than 12 masks, or an instruction popped more masks than there
    /// were.
    MaskStack,
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Exception::Breakpoint => "breakpoint",
            Exception::ExternalHalt => "external halt",
            Exception::Software => "software exception",
            Exception::IllegalOpcode => "illegal opcode",
            Exception::MaskStack => "overflow or underflow of a mask stack",
        })
    }
}
