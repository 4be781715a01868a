//! The position at which the command streamer continues after a packet.

use crate::machine::wait::Wait;

/// The next thing that the command streamer executes after a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The next packet.
    Next,
    /// Another batch.
    Start {
        /// Address of the first packet of the batch.
        address: u64,
        /// True if the address goes through the global table.
        global: bool,
        /// True if the packet asks for a second-level batch, whose end returns to the first-level
        /// batch. Ignored in a ring.
        second: bool,
        /// True if the resource streamer follows the batch.
        resource_streamer: bool,
    },
    /// The next packet. From it on, the resource streamer follows the batch (true) or not.
    ResourceStreamer(bool),
    /// The next packet of the caller: of the first-level batch if a second-level batch ends, of the
    /// ring if a first-level batch ends.
    Return,
    /// The ring, if there is one: this batch ends, and so does the batch that called it.
    End,
    /// The next packet, once this wait has ended.
    Wait(Wait),
    /// The next packet, with the state of another context of the ring.
    Context {
        /// Address of the context's image.
        address: u32,
        /// True if the state of that context is not restored.
        inhibit: bool,
    },
    /// Another context. The current context continues later with the next packet.
    Preempted,
}
