//! Containers as maps of named fields, through the tables: `serde` of every generated type (feature
//! `serde`).
//!
//! A container is a map from the manual's names of its fields to their values as meant: counts
//! without the one that hardware leaves out, addresses in bytes, enumerations by name. Opcode,
//! length and reserved bits are not in it, nor are alternatives whose condition does not hold.
//! Structures nest, arrays are lists.
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
//! Two more names say what fields cannot: `"$length"` the dwords of an instruction that is shorter
//! than its description, as older generations' are, and `"$dwords"` the dwords behind what is
//! described: payloads of instructions of which only the header is known, and tails. Both are
//! written where they are needed, so that every instruction comes back.
//!
//! What a map leaves out takes its default; a field without a sensible one must be there. Names
//! that the container does not have are refused, and so are values that the field cannot hold:
//! [`Refused`] says where and why.
//!
//! Types with a variable tail borrow it, so they can only be written; [`build`] gives the dwords to
//! read them from.

mod build;
mod refused;
mod tree;
mod write;

/// The name under which an instruction's length in dwords stands if it is less than described.
pub const LENGTH: &str = "$length";
/// The name under which the dwords behind the described ones stand.
pub const DWORDS: &str = "$dwords";

/// Dwords that the fields of the container describe; `elements` are those of its variable tail, if
/// it has one.
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
pub use refused::{Reason, Refused, nearest};
pub use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
pub use tree::Tree;
pub use write::Shown;

use crate::packet::Fixed;
use crate::read::Codec;
use crate::reflect::{Container, Group};
use alloc::vec;
use serde_core::{de, ser};

/// `Serialize` of a generated type.
///
/// # Errors
/// Those of the serializer; a tail that its packet's length field cannot express.
pub fn serialize<'a, T: Codec<'a>, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut dwords = vec![0; value.encoded_dwords()];
    value.encode(&mut dwords).map_err(ser::Error::custom)?;
    Shown::new(T::INFO, &dwords).serialize(serializer)
}

/// `Deserialize` of a generated type of fixed size. The format must say what it holds, as JSON
/// does.
///
/// # Errors
/// Those of the deserializer; [`Refused`] as a message.
pub fn deserialize<'de, T: Fixed, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let tree = Tree::deserialize(deserializer)?;
    let mut dwords = build(T::INFO, &tree).map_err(de::Error::custom)?;
    dwords.resize(dwords.len().max(T::INFO.dwords()), 0);
    Ok(T::read_lossy(&dwords))
}

/// `Serialize` and `Deserialize` for generated types: those of fixed size; those with a variable
/// tail.
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
