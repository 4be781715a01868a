//! The connection of one thread with memory and with the shared functions.

use super::bindings::Bindings;
use super::local::Local;
use crate::eu::Message;
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Refusal};

/// Connects one thread with memory and with the shared functions. A generation that has other
/// binding tables than Gen8 has other types `B` and `L`.
pub struct Port<'p, 'a, B = Bindings, L = Local> {
    /// Memory, state, statistics and budget of the simulated machine.
    pub exec: &'p mut Exec<'a>,
    /// Surfaces by binding table index.
    pub bindings: &'p mut B,
    /// State that the threads of the group share, and what the thread produces.
    pub local: &'p mut L,
    /// Graphics address of the kernel, for events and errors.
    pub kernel: u64,
    /// Number of the thread, for events.
    pub thread: u32,
}

impl<B, L> Port<'_, '_, B, L> {
    /// Makes the next faults name the instruction at `ip` as their position.
    pub(super) fn arrive(&mut self, ip: u32) {
        self.exec.at = self.exec.at.in_kernel(self.kernel, ip);
    }

    /// The fault for a message that needs something that the model does not implement.
    #[cold]
    pub fn missing(&self, what: &str, message: &Message, page: &'static str) -> Fault {
        self.refuse(Refusal::missing(what.to_owned(), page), message)
    }

    /// The fault for a message that a shared function refuses.
    #[cold]
    pub(super) fn refuse(&self, refusal: Refusal, message: &Message) -> Fault {
        let refusal = match refusal {
            Refusal::Missing { what, page } => {
                let Message { function, descriptor, .. } = message;
                let what =
                    format!("{what} (message to {function:?}, descriptor {descriptor:#010x})");
                Refusal::missing(what, page)
            }
            illegal @ Refusal::Illegal { .. } => illegal,
        };
        refusal.fault(self.exec.at)
    }

    /// The fault for a message that breaks the rules.
    #[cold]
    pub fn illegal(&self, why: String, message: &Message) -> Fault {
        self.refuse(Refusal::illegal(why), message)
    }
}

impl Port<'_, '_> {
    /// A copy of the message in which the channels of uncovered pixels are disabled. A send with
    /// NoMask keeps them: it does not depend on pixels.
    #[inline(always)]
    pub(super) fn covered(&self, message: &Message) -> Message {
        match self.local.covered {
            Some(covered) if !message.no_mask => {
                Message { mask: message.mask & covered >> message.first, ..*message }
            }
            _ => *message,
        }
    }
}
