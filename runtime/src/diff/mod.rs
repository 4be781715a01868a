//! Differences between two packets, field by field, and between two batches or dumps, packet by
//! packet.
//!
//! ```
//! use genxml::diff::Diff;
//! use genxml::gen8::mi::PipeControl;
//!
//! let before = PipeControl::default();
//! let after = PipeControl { dc_flush_enable: true, ..before };
//! let diff = before.diff(&after);
//! assert_eq!(diff.to_string(), "PIPE_CONTROL\n  DC Flush Enable: false -> true (dw1 5)\n");
//! assert_eq!(diff.changes[0].bits, (37, 37));
//! ```
//!
//! * [`Diff`]: two values of one generated type; [`packets`]: two packets as dwords, of any
//!   container
//! * [`batches`]: two batches; packets are paired, added and removed ones are found
//! * [`dumps`]: two dumps, with everything that packets point to; each is a [`Tree`] that a decoder
//!   fills. [`write_text`] and [`write_json`] print the differences
//!
//! Values are compared as stored and printed decoded, enumerations with their names. If a
//! condition makes a field exist on one side only, the other side is printed as absent.

mod align;
mod batch;
mod dump;
mod packet;
mod show;
mod tree;

pub use align::{Pair, common, pairs};
pub use batch::{BatchDiff, Place, Step, batches};
pub use dump::{Counts, DumpDiff, dumps};
pub use packet::{Change, PacketDiff, Side, packets};
pub(crate) use show::values;
pub use show::{Show, write_json, write_text};
pub use tree::{Ignore, Tree};

use genxml_core::read::Codec;

/// Comparison of two values of a generated type, field by field.
pub trait Diff {
    /// The differences from `self` to `other`.
    fn diff(&self, other: &Self) -> PacketDiff;
}

impl<'a, T: Codec<'a>> Diff for T {
    fn diff(&self, other: &Self) -> PacketDiff {
        packets(T::INFO, &packed(self), &packed(other))
    }
}

/// The dwords of any container; none if its tail is longer than its length field allows.
fn packed<'a, T: Codec<'a>>(value: &T) -> Vec<u32> {
    let mut out = vec![0; value.encoded_dwords()];
    let length = value.encode(&mut out).unwrap_or(0);
    out.truncate(length);
    out
}
