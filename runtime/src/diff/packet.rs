//! The differences of two packets of one type.

use genxml_core::bits;
use genxml_core::members::{Element, Level, Member, Value};
use genxml_core::reflect::{Container, Field};
use std::collections::BTreeMap;
use std::fmt;

/// The differences of two packets of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct PacketDiff {
    /// Description of the type of both packets.
    pub container: &'static Container,
    /// The changes, in order of the bits.
    pub changes: Vec<Change>,
}

impl PacketDiff {
    /// True if no bit differs. Missing dwords of the fixed part count as zero.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// The name, and a line for each change.
impl fmt::Display for PacketDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.container.name)?;
        self.changes.iter().try_for_each(|change| writeln!(f, "  {change}"))
    }
}

/// A field, or bits outside all fields, that differ.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The field's name, after the names of the structures and arrays that hold it: `Entry[3].Color
    /// Clamp Range`. For bits that no field describes, a text that says so.
    pub path: String,
    /// Name of the packet, or of the structure nested in it, that the field belongs to.
    pub container: &'static str,
    /// First and last bit, counted from the start of the packet.
    pub bits: (u32, u32),
    /// The value in the first packet; `None` if the field does not exist there.
    pub old: Option<Side>,
    /// The value in the second packet; `None` if the field does not exist there.
    pub new: Option<Side>,
}

/// One side of a change.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Side {
    /// The stored bits.
    pub stored: u64,
    /// The decoded value; `None` for bits without a value, such as reserved bits.
    pub value: Option<Value>,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            Some(value) => value.fmt(f),
            None => write!(f, "{:#x}", self.stored),
        }
    }
}

/// Prints `Width: 64 -> 128 (dw2 13:0)`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side =
            |side: &Option<Side>| side.map_or_else(|| "absent".to_owned(), |side| side.to_string());
        let (start, end) = self.bits;
        write!(f, "{}: {} -> {} (dw{} ", self.path, side(&self.old), side(&self.new), start / 32)?;
        match (start % 32, end % 32) {
            (low, _) if start == end => write!(f, "{low})"),
            (low, high) if start / 32 == end / 32 => write!(f, "{high}:{low})"),
            (low, high) => write!(f, "{low} to dw{} {high})", end / 32),
        }
    }
}

/// Compares two packets of the type `info` field by field. In the fixed part, missing dwords count
/// as zero. Missing elements of an array count as absent.
pub fn packets(info: &'static Container, a: &[u32], b: &[u32]) -> PacketDiff {
    let mut changes = Vec::new();
    if a != b {
        let (old, new) = (Leaves::of(info, a), Leaves::of(info, b));
        let mut keys: Vec<_> = old.leaves.keys().chain(new.leaves.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let (old, new) = (old.leaves.get(key), new.leaves.get(key));
            let same = match (old, new) {
                (Some(old), Some(new)) => old.side.stored == new.side.stored,
                _ => false,
            };
            if let (false, Some(leaf)) = (same, new.or(old)) {
                changes.push(Change {
                    path: key.2.clone(),
                    container: leaf.container,
                    bits: (key.0, key.1),
                    old: old.map(|leaf| leaf.side),
                    new: new.map(|leaf| leaf.side),
                });
            }
        }
        meaningless(info, (a, b), (&old.covered, &new.covered), &mut changes);
        changes.sort_by_key(|change| change.bits);
    }
    PacketDiff { container: info, changes }
}

/// A field on one side.
struct Leaf {
    container: &'static str,
    side: Side,
}

/// All fields of a packet, by first bit, last bit and path.
struct Leaves {
    leaves: BTreeMap<(u32, u32, String), Leaf>,
    /// A mask of the bits that fields cover.
    covered: Vec<u32>,
}

impl Leaves {
    fn of(info: &'static Container, dwords: &[u32]) -> Self {
        let mut leaves = Leaves { leaves: BTreeMap::new(), covered: vec![0; dwords.len()] };
        leaves.level(Level::of(info, dwords), "", info.name);
        leaves
    }

    fn level(&mut self, level: Level<'_>, path: &str, container: &'static str) {
        for member in level.fields() {
            self.member(member, join(path, member.field.name), container);
        }
        for array in level.arrays() {
            for (index, element) in array.iter().enumerate() {
                let path = format!("{}[{index}]", join(path, array.name()));
                match element {
                    Element::Field(member) => self.member(member, path, container),
                    Element::Level(level) => self.level(level, &path, container),
                }
            }
        }
    }

    fn member(&mut self, member: Member<'_>, path: String, container: &'static str) {
        if let Some(level) = member.level() {
            return self.level(level, &path, level.name);
        }
        let (start, end) = member.bits();
        for bit in start..=end {
            if let Some(dword) = self.covered.get_mut((bit / 32) as usize) {
                *dword |= 1 << (bit % 32);
            }
        }
        let mut put = |start: u32, end: u32, stored: u64, value: Value| {
            let side = Side { stored, value: Some(value) };
            self.leaves.insert((start, end, path.clone()), Leaf { container, side });
        };
        match member.value() {
            Value::Wide => {
                for (word, first) in member.words().zip((start..=end).step_by(32)) {
                    put(first, end.min(first + 31), word.into(), Value::Uint(word.into()));
                }
            }
            value => put(start, end, member.stored(), value),
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Adds the differing bits that are not a field with a value: opcode, length, reserved or
/// undescribed bits.
fn meaningless(
    info: &'static Container,
    (a, b): (&[u32], &[u32]),
    covered: (&[u32], &[u32]),
    out: &mut Vec<Change>,
) {
    let at = |dwords: &[u32], index: usize| dwords.get(index).copied().unwrap_or(0);
    let differ = |bit: u32| {
        let index = (bit / 32) as usize;
        let bits = (at(a, index) ^ at(b, index)) & !(at(covered.0, index) | at(covered.1, index));
        bits >> (bit % 32) & 1 == 1
    };
    let mut push = |path: &str, start: u32, end: u32| {
        let side =
            |dwords: &[u32]| Some(Side { stored: bits::get(dwords, start, end), value: None });
        let (path, bits) = (path.to_owned(), (start, end));
        out.push(Change { path, container: info.name, bits, old: side(a), new: side(b) });
    };
    let total = 32 * a.len().max(b.len()) as u32;
    let mut bit = 0;
    while bit < total {
        if !differ(bit) {
            bit += 1;
            continue;
        }
        let inside = |field: &&Field| (field.start..=field.end).contains(&bit);
        let (path, start, end) = match info.fields.iter().find(inside) {
            Some(field) if field.end - field.start < 64 => (field.name, field.start, field.end),
            // For a wider field, use only the part in this dword.
            Some(field) => {
                (field.name, field.start.max(bit / 32 * 32), field.end.min(bit / 32 * 32 + 31))
            }
            None => {
                let end = (bit..bit / 32 * 32 + 32).take_while(|bit| differ(*bit)).last();
                ("bits that no field describes", bit, end.unwrap_or(bit))
            }
        };
        push(path, start, end);
        bit = bit.max(end) + 1;
    }
}
