//! `Debug` of generated types: a container's fields by the tables, in meant values.

use crate::bits;
use crate::reflect::{Container, Enumeration, Field, Group, Kind, Type};
use core::fmt::{self, Debug, Formatter};

/// Shows a container by its tables: the manual's name and all fields that exist, but for opcode, length and reserved
/// bits. Bits that lie behind the end of `dwords` read as zero.
pub fn debug(info: &'static Container, dwords: &[u32], f: &mut Formatter<'_>) -> fmt::Result {
    let hidden = match info.kind {
        Kind::Instruction { opcode_mask, length_field, .. } => {
            opcode_mask | length_field.map_or(0, |(start, end)| (bits::ones(end - start + 1) as u32) << start)
        }
        _ => 0,
    };
    Fields { name: info.name, fields: info.fields, groups: info.groups, dwords, base: 0, hidden }.fmt(f)
}

/// Shows a value of an enumeration: its name, or the number if it has none.
pub fn debug_value(list: &'static Enumeration, value: u64, f: &mut Formatter<'_>) -> fmt::Result {
    match list.name_of(value) {
        Some(name) => f.write_str(name),
        None => value.fmt(f),
    }
}

/// The fields of a container or of a group's element that starts at bit `base`.
struct Fields<'a> {
    name: &'static str,
    fields: &'static [Field],
    groups: &'static [Group],
    dwords: &'a [u32],
    base: u32,
    /// Bits of dword 0 that are not shown.
    hidden: u32,
}

impl Fields<'_> {
    /// True if a field that exists under a condition has the bits: then the one without does not exist.
    fn taken(&self, field: &Field) -> bool {
        self.fields.iter().any(|other| {
            let shared = other.start <= field.end && field.start <= other.end;
            shared && other.exists_if.is_some_and(|condition| condition.holds(self.dwords, self.base))
        })
    }
}

impl Debug for Fields<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct(self.name);
        for field in self.fields {
            let exists = match field.exists_if {
                Some(condition) => condition.holds(self.dwords, self.base),
                None => !self.taken(field),
            };
            let reserved = matches!(field.ty, Type::MustBeZero | Type::MustBeOne | Type::Reserved);
            let hidden = field.end < 32 && self.hidden >> field.start & 1 == 1;
            if exists && !reserved && !hidden {
                out.field(field.name, &Value { field, dwords: self.dwords, base: self.base });
            }
        }
        for group in self.groups {
            out.field(group.name, &Elements { group, dwords: self.dwords, base: self.base + group.start });
        }
        out.finish()
    }
}

/// A field of what starts at bit `base`.
struct Value<'a> {
    field: &'static Field,
    dwords: &'a [u32],
    base: u32,
}

impl Debug for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.base + self.field.start, self.base + self.field.end);
        if let Type::Struct(info) = self.field.ty {
            let (fields, groups) = (info.fields, info.groups);
            return Fields { name: info.name, fields, groups, dwords: self.dwords, base: start, hidden: 0 }
                .fmt(f);
        }
        let width = end - start + 1;
        if width > 64 {
            let dwords = (start..=end).step_by(32);
            let dwords = dwords.map(|first| bits::get(self.dwords, first, end.min(first + 31)));
            return f.debug_list().entries(dwords).finish();
        }
        let stored = bits::get(self.dwords, start, end);
        let unit = |fraction: u32| (1u64 << fraction.min(63)) as f64;
        match self.field.ty {
            Type::Bool => (stored != 0).fmt(f),
            Type::Int => bits::sign_extend(stored, width).fmt(f),
            Type::Float if width == 32 => f32::from_bits(stored as u32).fmt(f),
            Type::Float if width == 64 => f64::from_bits(stored).fmt(f),
            Type::UFixed(fraction) => (stored as f64 / unit(fraction)).fmt(f),
            Type::SFixed(fraction) => (bits::sign_extend(stored, width) as f64 / unit(fraction)).fmt(f),
            Type::Enum(list) => match list.name_of(stored) {
                Some(name) => write!(f, "{name} ({stored})"),
                None => stored.fmt(f),
            },
            Type::Address { .. } => write!(f, "{:#x}", stored << (self.field.start % 32)),
            _ => self.field.stored.meant(stored).fmt(f),
        }
    }
}

/// The elements of a fixed group that starts at bit `base`, or of a variable one as far as there are dwords.
struct Elements<'a> {
    group: &'static Group,
    dwords: &'a [u32],
    base: u32,
}

impl Debug for Elements<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let group = self.group;
        let room =
            (32 * self.dwords.len() as u32).saturating_sub(self.base).checked_div(group.bits).unwrap_or(0);
        let count = if group.count == 0 { room } else { group.count };
        let mut list = f.debug_list();
        for index in 0..count {
            let (dwords, base) = (self.dwords, self.base + index * group.bits);
            match (group.fields, group.groups) {
                ([field], []) => list.entry(&Value { field, dwords, base }),
                (fields, groups) => {
                    list.entry(&Fields { name: group.name, fields, groups, dwords, base, hidden: 0 })
                }
            };
        }
        list.finish()
    }
}
