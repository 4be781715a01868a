//! The state of a draw, for observers: a summary of the state that the pipeline resolves, in plain
//! values that all generations have. Invalid state is not an error here: the draw itself reports
//! it, and [`Summary::problems`] lists it.
//!
//! * [`state`] has the values; `kernel` finds the messages of a kernel;
//! * `gen8` and, with the feature of this name, `gen45` read them from the packets of a generation.

#[cfg(feature = "gen45")]
mod gen45;
mod gen8;
pub(in crate::inspect) mod kernel;
pub mod state;

pub use state::*;

use crate::machine::drawing::{Drawing, Primitive};

impl Drawing<'_> {
    /// The state of the draw, resolved from the latched packets.
    pub fn summary(&self) -> Summary {
        match self.packet {
            Primitive::Gen8(packet) => gen8::summary(self, packet),
            #[cfg(feature = "gen45")]
            Primitive::Gen45(packet) => gen45::summary(self, packet),
        }
    }
}
