//! The fields of a container with their values in given dwords. `Debug`, diffs and JSON iterate
//! over them.
//!
//! [`Level::of`] starts at a container. [`Level::fields`] returns the fields that exist under the
//! conditions of the specification, without opcode, length and reserved bits. [`Level::arrays`]
//! returns all arrays. Nested structures are again a `Level`.

use crate::bits;
use crate::reflect::{Container, Field, Group, Kind, Stored, Type};
use core::fmt;

/// The fields and arrays of a container, or of an element of an array.
#[derive(Clone, Copy, Debug)]
pub struct Level<'a> {
    /// The manual's name of the container, or the name of the array.
    pub name: &'static str,
    /// All fields, whether they exist or not.
    pub fields: &'static [Field],
    /// All arrays.
    pub groups: &'static [Group],
    /// Dwords of the outermost container. Dwords after the end read as zero.
    pub dwords: &'a [u32],
    /// First bit of this container or element in `dwords`.
    pub base: u32,
    /// Mask of the bits of the first dword that are opcode or length.
    hidden: u32,
}

impl<'a> Level<'a> {
    /// The container that starts with `dwords`.
    pub fn of(info: &'static Container, dwords: &'a [u32]) -> Self {
        let hidden = match info.kind {
            Kind::Instruction { opcode_mask, length_field, .. } => {
                let length = length_field
                    .map_or(0, |(start, end)| (bits::ones(end - start + 1) as u32) << start);
                opcode_mask | length
            }
            _ => 0,
        };
        Level { hidden, ..Level::nested(info, dwords, 0) }
    }

    /// The structure that starts at bit `base`.
    pub fn nested(info: &'static Container, dwords: &'a [u32], base: u32) -> Self {
        Level { name: info.name, fields: info.fields, groups: info.groups, dwords, base, hidden: 0 }
    }

    /// The same fields at the same position of `dwords`, which hold another container of the same
    /// type.
    pub const fn over<'b>(&self, dwords: &'b [u32]) -> Level<'b> {
        let Level { name, fields, groups, base, hidden, .. } = *self;
        Level { name, fields, groups, dwords, base, hidden }
    }

    /// True if the field's condition holds. A field without a condition exists unless the condition
    /// of another field that shares its bits holds.
    pub fn exists(&self, field: &Field) -> bool {
        let holds = |field: &Field| {
            field.exists_if.map(|condition| condition.holds(self.dwords, self.base))
        };
        holds(field).unwrap_or_else(|| {
            let shared = |other: &&Field| other.start <= field.end && field.start <= other.end;
            !self.fields.iter().filter(shared).any(|other| holds(other) == Some(true))
        })
    }

    /// True if the field is neither reserved nor opcode nor length.
    pub fn is_data(&self, field: &Field) -> bool {
        let hidden = field.end < 32 && self.hidden >> field.start & 1 == 1;
        !hidden && !matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved)
    }

    /// The fields that exist, without opcode, length and reserved bits.
    pub fn fields(self) -> impl Iterator<Item = Member<'a>> {
        let fields =
            self.fields.iter().filter(move |field| self.is_data(field) && self.exists(field));
        fields.map(move |field| self.member(field))
    }

    /// `field` with its value in these dwords, whether it exists or not.
    pub fn member(&self, field: &'static Field) -> Member<'a> {
        Member { field, dwords: self.dwords, base: self.base }
    }

    /// All arrays.
    pub fn arrays(self) -> impl Iterator<Item = Elements<'a>> {
        self.groups.iter().map(move |group| Elements {
            group,
            dwords: self.dwords,
            start: self.base + group.start,
        })
    }
}

/// A field of the container, structure or element that starts at bit `base` of `dwords`.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The field's description.
    pub field: &'static Field,
    /// Dwords of the outermost container.
    pub dwords: &'a [u32],
    /// First bit of the container, structure or element that has the field.
    pub base: u32,
}

impl<'a> Member<'a> {
    /// First and last bit in the outermost container.
    pub const fn bits(&self) -> (u32, u32) {
        (self.base + self.field.start, self.base + self.field.end)
    }

    /// The nested structure, if the field is one.
    pub fn level(&self) -> Option<Level<'a>> {
        match self.field.ty {
            Type::Struct(info) => Some(Level::nested(info, self.dwords, self.bits().0)),
            _ => None,
        }
    }

    /// The stored bits; the first 64 if the field is wider.
    pub fn stored(&self) -> u64 {
        let (start, end) = self.bits();
        bits::get(self.dwords, start, end.min(start + 63))
    }

    /// The content of a field of more than 64 bits, 32 bits at a time.
    pub fn words(self) -> impl Iterator<Item = u32> + 'a {
        let (start, end) = self.bits();
        let first = (start..=end).step_by(32);
        first.map(move |first| bits::get(self.dwords, first, end.min(first + 31)) as u32)
    }

    /// The decoded value.
    pub fn value(&self) -> Value {
        let (start, end) = self.bits();
        let (width, stored) = (end - start + 1, self.stored());
        let unit = |fraction: u32| (1u64 << fraction.min(63)) as f64;
        match self.field.ty {
            _ if width > 64 => Value::Wide,
            Type::Bool if width == 1 => Value::Bool(stored != 0),
            Type::Int => Value::Int(bits::sign_extend(stored, width)),
            Type::Float if width == 32 => Value::Single(f32::from_bits(stored as u32)),
            Type::Float if width == 64 => Value::Float(f64::from_bits(stored)),
            Type::UFixed(fraction) => Value::Float(stored as f64 / unit(fraction)),
            Type::SFixed(fraction) => {
                Value::Float(bits::sign_extend(stored, width) as f64 / unit(fraction))
            }
            Type::Enum(list) => Value::Enum { value: stored, name: list.name_of(stored) },
            Type::Address { .. } => Value::Address(stored << self.address_shift()),
            _ => Value::Uint(self.field.stored.decode(stored)),
        }
    }

    /// The number of the address bit that the first bit of an address field stores.
    pub const fn address_shift(&self) -> u32 {
        match self.field.stored {
            Stored::Shifted(by) => by,
            _ => self.field.start % 32,
        }
    }
}

/// An array.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// The array's description.
    pub group: &'static Group,
    /// Dwords of the outermost container.
    pub dwords: &'a [u32],
    /// First bit of the first element.
    pub start: u32,
}

/// An element of an array.
#[derive(Clone, Copy, Debug)]
pub enum Element<'a> {
    /// An element of an array of plain values.
    Field(Member<'a>),
    /// An element that has members.
    Level(Level<'a>),
}

impl<'a> Elements<'a> {
    /// The array's name. An array without a name takes the name of its only field or inner array,
    /// else the name `Entries`.
    pub fn name(&self) -> &'static str {
        fn of(group: &'static Group) -> &'static str {
            match (group.name, group.fields, group.groups) {
                ("", [field], []) => field.name,
                ("", [], [inner]) => of(inner),
                ("", ..) => "Entries",
                (name, ..) => name,
            }
        }
        of(self.group)
    }

    /// Number of elements. For a variable array, the complete elements in the dwords.
    pub fn count(&self) -> u32 {
        let room = (32 * self.dwords.len() as u32).saturating_sub(self.start);
        match self.group.count {
            0 => room.checked_div(self.group.bits).unwrap_or(0),
            count => count,
        }
    }

    /// Element `index`. It is not checked that the element exists.
    pub fn get(&self, index: u32) -> Element<'a> {
        let (group, dwords) = (self.group, self.dwords);
        let base = self.start + index * group.bits;
        match (group.fields, group.groups) {
            ([field], []) => Element::Field(Member { field, dwords, base }),
            (fields, groups) => {
                let name = self.name();
                Element::Level(Level { name, fields, groups, dwords, base, hidden: 0 })
            }
        }
    }

    /// All elements.
    pub fn iter(self) -> impl Iterator<Item = Element<'a>> {
        (0..self.count()).map(move |index| self.get(index))
    }
}

/// The decoded value of a field. A count that hardware stores minus one is the count itself; an
/// address is in bytes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// One bit.
    Bool(bool),
    /// An unsigned integer.
    Uint(u64),
    /// A signed integer.
    Int(i64),
    /// Fixed point, or an IEEE double.
    Float(f64),
    /// An IEEE single.
    Single(f32),
    /// A value of an enumeration, and its name if it has one.
    Enum {
        /// The stored value.
        value: u64,
        /// The manual's name.
        name: Option<&'static str>,
    },
    /// A byte address or offset.
    Address(u64),
    /// More than 64 bits: see [`Member::words`].
    Wide,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Bool(value) => value.fmt(f),
            Value::Uint(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Float(value) => fmt::Debug::fmt(&value, f),
            Value::Single(value) => fmt::Debug::fmt(&value, f),
            Value::Enum { value, name: Some(name) } => write!(f, "{name} ({value})"),
            Value::Enum { value, name: None } => value.fmt(f),
            Value::Address(value) => write!(f, "{value:#x}"),
            Value::Wide => f.write_str("(wide)"),
        }
    }
}
