//! Containers as maps of named fields, with the tables: `serde` of every generated type (feature
//! `serde`).
//!
//! A container is a map from the manual's field names to decoded values: a count is the number
//! itself, not the stored count minus one; addresses are in bytes; enumerations are names. The map
//! does not contain opcode, length and reserved bits, or alternatives whose condition does not
//! hold. Structures are nested maps, arrays are lists.
//!
//! | field | written | read |
//! |---|---|---|
//! | integer | number | number, or text: `"12"`, `"0x1f"` |
//! | power of two | number | also `"2^5"` |
//! | flag | `true` | also 0 and 1 |
//! | enumeration | name, or the number if it has no name of its own | name or number |
//! | address, offset | text, `"0x1000"` | also a number |
//! | fixed point | number | number, rounded to the nearest; text `"0x12"` is the stored pattern |
//! | float | number, or text with the stored pattern if it is not finite | the same |
//! | more than 64 bits | list of dwords | the same |
//!
//! Two special names hold what fields cannot express. `"$length"` is the number of dwords of an
//! instruction that is shorter than its description, as in older generations. `"$dwords"` holds the
//! dwords after the described ones: payloads of instructions whose description has only the header,
//! and tails. Both are written only if needed. With them, reading restores every instruction.
//!
//! A field that the map leaves out gets its default; a field without a sensible default must be
//! given. Unknown names are refused, and so are values that the field cannot hold: [`BuildError`]
//! says which field and why.
//!
//! Types with a variable tail borrow the tail, so they implement only `Serialize`. To read one, use
//! the dwords that [`build`] returns.

mod build;
mod error;
mod tree;
mod write;

/// Key of an instruction's length in dwords, written if it is less than described.
pub const LENGTH: &str = "$length";
/// Key of the dwords after the described ones.
pub const DWORDS: &str = "$dwords";

/// Number of dwords that the fields of the container describe. `elements` returns the number of
/// elements of its variable tail, if it has one.
fn described(info: &Container, elements: impl FnOnce(&Group) -> usize) -> usize {
    if let Some(tail) = info.groups.iter().find(|group| group.count == 0) {
        return (tail.start / 32) as usize + (elements(tail) * tail.bits as usize).div_ceil(32);
    }
    if !info.partial {
        return info.dwords();
    }
    let end = info.fields.iter().map(|field| field.end / 32 + 1).max();
    end.unwrap_or(0) as usize
}

pub use build::build;
pub use error::{BuildError, Reason, nearest};
pub use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
pub use tree::Tree;
pub use write::FieldMap;

use crate::packet::Fixed;
use crate::read::Codec;
use crate::reflect::{Container, Group};
use alloc::vec;
use serde_core::{de, ser};

/// `Serialize` of a generated type.
///
/// # Errors
/// Errors of the serializer, and a tail that the length field of its packet cannot express.
pub fn serialize<'a, T: Codec<'a>, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut dwords = vec![0; value.encoded_dwords()];
    value.encode(&mut dwords).map_err(ser::Error::custom)?;
    FieldMap::new(T::INFO, &dwords).serialize(serializer)
}

/// `Deserialize` of a generated type of fixed size. The format must be self-describing, like JSON.
///
/// # Errors
/// Errors of the deserializer, and [`BuildError`] as a message.
pub fn deserialize<'de, T: Fixed, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let tree = Tree::deserialize(deserializer)?;
    let mut dwords = build(T::INFO, &tree).map_err(de::Error::custom)?;
    dwords.resize(dwords.len().max(T::INFO.dwords()), 0);
    Ok(T::read_lossy(&dwords))
}

/// Implements `Serialize` and `Deserialize` for generated types of fixed size, and `Serialize` for
/// those with a variable tail.
#[doc(hidden)]
#[macro_export]
macro_rules! serial {
    ($($fixed:ident)*; $($variable:ident)*) => {
        $(
            impl $crate::serial::Serialize for $fixed {
                fn serialize<S: $crate::serial::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    $crate::serial::serialize(self, serializer)
                }
            }
            impl<'de> $crate::serial::Deserialize<'de> for $fixed {
                fn deserialize<D: $crate::serial::Deserializer<'de>>(
                    deserializer: D,
                ) -> ::core::result::Result<Self, D::Error> {
                    $crate::serial::deserialize(deserializer)
                }
            }
        )*
        $(
            impl $crate::serial::Serialize for $variable<'_> {
                fn serialize<S: $crate::serial::Serializer>(
                    &self,
                    serializer: S,
                ) -> ::core::result::Result<S::Ok, S::Error> {
                    $crate::serial::serialize(self, serializer)
                }
            }
        )*
    };
}
