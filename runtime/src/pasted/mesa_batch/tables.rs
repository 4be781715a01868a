//! Addresses of binding tables in Mesa's text.
//!
//! Mesa prints the entries of a binding table that are not zero, each with the surface state that
//! it points to: the offset of the entry and the address of the surface state differ by Surface
//! State Base Address. The table is at this base, or at the base of the pool of binding tables,
//! plus the offset that the packet before it gives.

use crate::memory::VA_MASK;
use std::collections::BTreeMap;

/// Largest number of entries: a binding table has no more.
const MOST: u32 = 256;

/// What a line says about binding tables.
#[derive(Clone, Copy)]
pub(super) enum Line {
    /// Offset of the next table from its base.
    Offset(u64),
    /// Base address of the pool.
    PoolBase(u64),
    /// True if binding tables are in the pool.
    PoolEnable(bool),
    /// True if offsets of tables count units of eight bytes.
    Coarse(bool),
    /// An entry: index and value.
    Entry(u32, u32),
}

/// A number with `0x` at the start of a text.
pub(super) fn number(text: &str) -> Option<(u64, &str)> {
    let text = text.strip_prefix("0x")?;
    let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
    (end <= 16).then_some(())?;
    Some((u64::from_str_radix(&text[..end], 16).ok()?, &text[end..]))
}

/// The line of a field or entry. `None` for other lines.
pub(super) fn parse(line: &str) -> Option<Line> {
    let (name, value) = line.split_once(": ")?;
    let value_of = || number(value.trim()).map(|(value, _)| value);
    if let Some(index) = name.strip_prefix("pointer ") {
        let index = index.parse().ok().filter(|index| *index < MOST)?;
        return Some(Line::Entry(index, u32::try_from(value_of()?).ok()?));
    }
    match name {
        "Binding Table Pool Base Address" => value_of().map(Line::PoolBase),
        "Binding Table Pool Enable" => value.trim().parse().ok().map(Line::PoolEnable),
        // A field of GT_MODE, which is 1 for tables of 256-byte alignment.
        "Binding Table Alignment" => Some(Line::Coarse(value.trim().starts_with('1'))),
        "Binding Table Pointer" => value_of().map(Line::Offset),
        _ if name.starts_with("Pointer to ") && name.ends_with(" Binding Table") => {
            value_of().map(Line::Offset)
        }
        _ => None,
    }
}

/// The binding table that is read.
#[derive(Default)]
pub(super) struct Tables {
    pool: u64,
    in_pool: bool,
    coarse: bool,
    offset: Option<u64>,
    entries: BTreeMap<u32, u32>,
    /// The value of the last entry, while the address of its surface state is not known.
    last: Option<u32>,
    /// Surface State Base Address.
    base: Option<u64>,
}

impl Tables {
    /// Reads a line. If it begins another table, the one before is added to `dwords`.
    pub fn line(&mut self, line: Line, dwords: &mut BTreeMap<u64, u32>) {
        match line {
            Line::Offset(offset) => {
                self.end(dwords);
                self.offset = Some(offset);
            }
            Line::PoolBase(base) => self.pool = base & VA_MASK,
            Line::PoolEnable(enable) => self.in_pool = enable,
            Line::Coarse(coarse) => self.coarse = coarse,
            Line::Entry(index, value) => {
                self.entries.insert(index, value);
                self.last = Some(value);
            }
        }
    }

    /// Notes the address of a dword, which belongs to the surface state of the last entry.
    pub fn dword(&mut self, address: u64) {
        if let Some(value) = self.last.take() {
            self.base = Some(address.wrapping_sub(value.into()) & VA_MASK);
        }
    }

    /// Adds the table to `dwords` when the next packet begins. Entries between the printed ones are
    /// zero.
    pub fn end(&mut self, dwords: &mut BTreeMap<u64, u32>) {
        let entries = std::mem::take(&mut self.entries);
        let base = self.base.take();
        self.last = None;
        let base = if self.in_pool { Some(self.pool) } else { base };
        let (Some(offset), Some(base), Some((last, _))) =
            (self.offset.take(), base, entries.last_key_value())
        else {
            return;
        };
        let offset = if self.coarse { 8 * offset } else { offset };
        for index in 0..=*last {
            let at = (base + offset + 4 * u64::from(index)) & VA_MASK;
            dwords.entry(at).or_insert(entries.get(&index).copied().unwrap_or(0));
        }
    }
}
