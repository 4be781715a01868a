//! `Debug` of generated types: prints the fields of a container with the tables, as decoded values.

use crate::members::{Element, Elements, Level, Member, Value};
use crate::packet::Packed;
use crate::reflect::{Container, Enumeration};
use core::fmt::{self, Debug, Formatter};

/// Prints a container of type `T`; see [`debug_dwords`].
pub fn debug<T: Packed>(dwords: &[u32], f: &mut Formatter<'_>) -> fmt::Result {
    debug_dwords(T::INFO, dwords, f)
}

/// Prints a container by its tables: the manual's name and all fields that exist, except opcode,
/// length and reserved bits. Bits after the end of `dwords` read as zero.
pub fn debug_dwords(
    info: &'static Container,
    dwords: &[u32],
    f: &mut Formatter<'_>,
) -> fmt::Result {
    Members(Level::of(info, dwords)).fmt(f)
}

/// Prints a value of an enumeration: its name, or the number if it has no name.
pub fn debug_value(list: &'static Enumeration, value: u64, f: &mut Formatter<'_>) -> fmt::Result {
    match list.name_of(value) {
        Some(name) => f.write_str(name),
        None => value.fmt(f),
    }
}

struct Members<'a>(Level<'a>);

impl Debug for Members<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(self.0.name);
        for member in self.0.fields() {
            out.field(member.field.name, &One(member));
        }
        for array in self.0.arrays() {
            out.field(array.name(), &List(array));
        }
        out.finish()
    }
}

struct One<'a>(Member<'a>);

impl Debug for One<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.0.level(), self.0.value()) {
            (Some(level), _) => Members(level).fmt(f),
            (None, Value::Wide) => f.debug_list().entries(self.0.words()).finish(),
            (None, value) => fmt::Display::fmt(&value, f),
        }
    }
}

struct List<'a>(Elements<'a>);

impl Debug for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for element in self.0.iter() {
            match element {
                Element::Field(member) => list.entry(&One(member)),
                Element::Level(level) => list.entry(&Members(level)),
            };
        }
        list.finish()
    }
}
