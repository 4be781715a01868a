//! The observer that finds the vertices that stream output wrote to a range of memory.

use super::clock::Clock;
use super::origins::{Needs, Origins, PrimitiveOrigin};
use crate::machine::events::{Event, Now, Observer};
use std::ops::Range;

/// Looks for what stream output writes in one packet of a run.
#[derive(Debug)]
pub struct StreamTracer {
    packet: u64,
    clock: Clock,
    origins: Origins,
}

impl StreamTracer {
    /// Looks for the primitive that stream output wrote last to a range of graphics addresses, in
    /// the packet with this number, from 1 on.
    pub fn new(packet: u64, addresses: Range<u64>) -> StreamTracer {
        StreamTracer { packet, clock: Clock::default(), origins: Origins::streamed(addresses) }
    }

    /// True if the packet has ended.
    pub fn is_done(&self) -> bool {
        self.clock.packets >= self.packet
    }

    /// The primitive, and the dwords of its vertices that were written to the range. `None` if
    /// stream output did not write the range.
    pub fn finish(self) -> Option<(PrimitiveOrigin, Needs)> {
        let needs = self.origins.needs().clone();
        Some((self.origins.finish()?, needs))
    }
}

impl Observer for StreamTracer {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        if self.follows() {
            self.origins.event(event);
        }
        self.clock.event(event);
    }

    fn follows(&self) -> bool {
        self.clock.packets + 1 == self.packet
    }
}
