//! Where the command streamer continues after a packet.

use crate::machine::wait::Wait;

/// What comes after a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next packet.
    Next,
    /// Another batch.
    Start {
        /// Its first packet.
        address: u64,
        /// True if the address is in the global table.
        global: bool,
        /// True if the batch is of the second level: it returns here.
        second: bool,
    },
    /// The batch that called this one, after its call.
    Return,
    /// Nothing: this batch ends, and the one that called it.
    End,
    /// The next packet, once this wait is over.
    Wait(Wait),
    /// The next packet, with the state of another context of the ring.
    Context {
        /// Address of its image.
        address: u32,
        /// Its state is not restored.
        inhibit: bool,
    },
    /// Another context; this one continues later with the next packet.
    Preempted,
}
