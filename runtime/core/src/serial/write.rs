//! Conversion from dwords to named fields.

use super::{DWORDS, LENGTH, described};
use crate::bits;
use crate::members::{Element, Elements, Level, Member, Value};
use crate::reflect::{Container, Kind, Type};
use alloc::format;
use serde_core::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// A container that is serialized as a map of its fields.
#[derive(Clone, Copy, Debug)]
pub struct FieldMap<'a>(Level<'a>, Option<&'static Container>);

impl<'a> FieldMap<'a> {
    /// The container that starts with `dwords`.
    pub fn new(info: &'static Container, dwords: &'a [u32]) -> Self {
        let dwords = match info.kind {
            // Drop the dwords after the end of the instruction.
            Kind::Instruction { length_field: Some((start, end)), bias, .. }
                if !dwords.is_empty() =>
            {
                let length = bits::get(dwords, start, end).saturating_add(bias.into());
                &dwords[..dwords.len().min(length.max(1) as usize)]
            }
            Kind::Instruction { .. } => &dwords[..dwords.len().min(info.dwords())],
            _ => dwords,
        };
        FieldMap(Level::of(info, dwords), Some(info))
    }
}

impl Serialize for FieldMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in self.0.fields.iter().filter(|field| self.0.is_data(field)) {
            let member = self.0.member(field);
            // A field without effect is written too if it is not zero.
            let held = field.alternative.is_none() && member.stored() != 0;
            if !held && !self.0.exists(field) {
                continue;
            }
            map.serialize_entry(member.field.name, &One(member))?;
        }
        for array in self.0.arrays() {
            map.serialize_entry(array.name(), &List(array))?;
        }
        if let Some(info @ Container { kind: Kind::Instruction { .. }, .. }) = self.1 {
            let dwords = self.0.dwords;
            let tail = self.0.arrays().find(|array| array.group.count == 0);
            let end = described(info, |_| tail.map_or(0, |tail| tail.count() as usize));
            let rest = dwords.get(end..).unwrap_or_default();
            if dwords.len() != info.dwords().max(end) && rest.is_empty() && tail.is_none() {
                map.serialize_entry(LENGTH, &dwords.len())?;
            }
            if !rest.is_empty()
                && (dwords.len() != info.dwords() || rest.iter().any(|dword| *dword != 0))
            {
                map.serialize_entry(DWORDS, rest)?;
            }
        }
        map.end()
    }
}

struct One<'a>(Member<'a>);

impl One<'_> {
    /// The stored pattern as text.
    fn pattern<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:#x}", self.0.stored()))
    }
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let member = self.0;
        if let Some(level) = member.level() {
            return FieldMap(level, None).serialize(serializer);
        }
        let (start, end) = member.bits();
        let fixed = matches!(member.field.ty, Type::UFixed(_) | Type::SFixed(_));
        match member.value() {
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Uint(0) if member.stored() >= 64 => {
                // A power of two that 64 bits cannot hold.
                serializer.serialize_str(&format!("2^{}", member.stored()))
            }
            Value::Uint(value) => serializer.serialize_u64(value),
            Value::Int(value) => serializer.serialize_i64(value),
            Value::Float(_) if fixed && end - start >= 53 => self.pattern(serializer),
            Value::Float(value) if value.is_finite() => serializer.serialize_f64(value),
            Value::Single(value) if value.is_finite() => serializer.serialize_f32(value),
            Value::Float(_) | Value::Single(_) => self.pattern(serializer),
            Value::Enum { value, name: Some(name) } => {
                let own = match member.field.ty {
                    Type::Enum(list) => list.value_of(name) == Some(value),
                    _ => false,
                };
                if own { serializer.serialize_str(name) } else { serializer.serialize_u64(value) }
            }
            Value::Enum { value, name: None } => serializer.serialize_u64(value),
            Value::Address(value) => serializer.collect_str(&format_args!("{value:#x}")),
            Value::Wide => serializer.collect_seq(member.words()),
        }
    }
}

struct List<'a>(Elements<'a>);

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.count() as usize))?;
        for element in self.0.iter() {
            match element {
                Element::Field(member) => list.serialize_element(&One(member))?,
                Element::Level(level) => list.serialize_element(&FieldMap(level, None))?,
            }
        }
        list.end()
    }
}
