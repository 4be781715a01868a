//! What a counter implements.

use crate::machine::events::Event;
use std::fmt::Debug;

/// A value of a counter for a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Value {
    /// Name of the counter.
    pub track: &'static str,
    /// Name of the value in the counter.
    pub series: &'static str,
    pub value: f64,
}

/// Counts the events of the packets of an engine.
pub(super) trait Count: Debug + Send {
    /// Counts an event of the packet.
    fn event(&mut self, event: &Event<'_>);

    /// The values of the packet, without zeros. The next events are those of the next packet.
    fn take(&mut self) -> Vec<Value>;
}
