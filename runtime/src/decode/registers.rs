//! The values of registers, as far as commands have set them.

use super::tables::Tables;
use genxml_core::bits;
use genxml_core::reflect;
use std::collections::BTreeMap;

/// Largest number of registers whose values are recorded; only damaged dumps write more.
const MAX_KNOWN: usize = 4096;

/// The values of registers, as far as commands have set them.
#[derive(Debug, Clone, Default)]
pub(super) struct Registers {
    /// The known values by the register's byte offset.
    values: BTreeMap<u32, Known>,
}

/// A value, and a mask of the bits that are known.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    value: u32,
    bits: u32,
}

impl Registers {
    /// Records a write to the register at `offset`. In a masked register, bits 31:16 select which
    /// of bits 15:0 change.
    pub fn write(&mut self, tables: &Tables, offset: u32, value: u32) {
        let masked = tables.register(offset).is_some_and(|at| {
            matches!(at.register.kind, reflect::Kind::Register { masked: true, .. })
        });
        if self.values.len() >= MAX_KNOWN && !self.values.contains_key(&offset) {
            return;
        }
        let known = self.values.entry(offset).or_default();
        *known = if masked {
            let enabled = bits::get(&[value], 16, 31) as u32;
            Known { value: known.value & !enabled | value & enabled, bits: known.bits | enabled }
        } else {
            Known { value, bits: u32::MAX }
        };
    }

    /// Forgets the value of the register at `offset`.
    pub fn forget(&mut self, offset: u32) {
        self.values.remove(&offset);
    }

    /// Forgets the values of the registers of this name.
    pub fn forget_named(&mut self, tables: &Tables, name: &str) {
        self.values
            .retain(|offset, _| tables.register(*offset).is_none_or(|at| at.register.name != name));
    }

    /// The value at `offset`, if all of it is known.
    pub fn value(&self, offset: u32) -> Option<u32> {
        self.values.get(&offset).filter(|known| known.bits == u32::MAX).map(|known| known.value)
    }

    /// The value of the register of this name, which must exist only once, if all of it is known.
    pub fn named(&self, tables: &Tables, name: &str) -> Option<u32> {
        match tables.container(name)?.kind {
            reflect::Kind::Register { offset, .. } => self.value(offset),
            _ => None,
        }
    }

    /// A field of the register of this name, which must exist only once, if its bits are known.
    pub fn field(&self, tables: &Tables, name: &str, field: &str) -> Option<u64> {
        let register = tables.container(name)?;
        let reflect::Kind::Register { offset, .. } = register.kind else { return None };
        let field = register.fields.iter().find(|other| other.name == field)?;
        let known = self.values.get(&offset)?;
        let all = bits::ones(field.end - field.start + 1);
        (field.end < 32 && bits::get(&[known.bits], field.start, field.end) == all)
            .then(|| bits::get(&[known.value], field.start, field.end))
    }
}
