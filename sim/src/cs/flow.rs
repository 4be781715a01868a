//! The position at which the command streamer continues after a packet.

use crate::machine::wait::Wait;

/// The next thing that the command streamer executes after a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next packet.
    Next,
    /// Another batch.
    Start {
        /// Address of its first packet.
        address: u64,
        /// True if the address goes through the global table.
        global: bool,
        /// True for a batch of the second level: it returns here.
        second: bool,
    },
    /// The calling batch or ring, after the call.
    Return,
    /// The ring, if there is one: this batch ends, and so does the batch that called it.
    End,
    /// The next packet, once this wait is over.
    Wait(Wait),
    /// The next packet, with the state of another context of the ring.
    Context {
        /// Address of the context's image.
        address: u32,
        /// True if its state is not restored.
        inhibit: bool,
    },
    /// Another context; this one continues later with the next packet.
    Preempted,
}
