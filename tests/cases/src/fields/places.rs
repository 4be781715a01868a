//! The fields of packets and structures, and their places in records of the decoder.
//!
//! A field of an embedded structure belongs to the outermost packet or structure. For example the
//! length of buffer 0 in 3DSTATE_CONSTANT_VS and in 3DSTATE_CONSTANT_PS are two fields.

use genxml::decode::Record;
use genxml_core::bits;
use genxml_core::reflect::{Container, Field, Group, Kind, Type};
use std::collections::BTreeSet;
use std::fmt;

/// Units of the specification whose structures are state or parts of packets. Structures of other
/// units describe messages, registers, files, or state of the video engines.
const UNITS: [&str; 11] = [
    "media",
    "media_states",
    "mi",
    "render3d_binding",
    "render3d_constants",
    "render3d_depth",
    "render3d_fetch",
    "render3d_pixel",
    "render3d_raster",
    "render3d_stages",
    "state",
];

/// A field of a packet or structure.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Place {
    /// Name of the packet or structure.
    pub container: &'static str,
    /// First bit of the field in the container; in its first element if the field is in an array.
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
    /// Name of the field, after the names of the arrays and structures that it is in.
    pub path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.container, self.bits(), self.path)
    }
}

impl Place {
    /// Dword and bits of the field: `dw1 15:0`.
    pub fn bits(&self) -> String {
        let (dword, first) = (self.start / 32, self.start % 32);
        format!("dw{dword} {}:{first}", self.end - 32 * dword)
    }
}

/// A field in a record.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The field.
    pub place: Place,
    /// The field in the tables.
    pub field: &'static Field,
    /// First bit in the record.
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
}

impl Instance {
    /// The stored bits; the low 64 bits of wider fields.
    pub fn stored(&self, dwords: &[u32]) -> u64 {
        bits::get(dwords, self.start, self.last())
    }

    /// Replaces the stored bits.
    pub fn put(&self, dwords: &mut [u32], value: u64) {
        // `bits::put` only sets bits.
        let mut old = vec![0; dwords.len()];
        bits::put(&mut old, self.start, self.last(), self.stored(dwords));
        dwords.iter_mut().zip(old).for_each(|(dword, old)| *dword ^= old);
        bits::put(dwords, self.start, self.last(), value);
    }

    /// Number of bits that [`put`](Self::put) replaces.
    pub fn width(&self) -> u32 {
        self.last() - self.start + 1
    }

    fn last(&self) -> u32 {
        self.end.min(self.start + 63)
    }
}

/// Collects the fields of a container.
struct Walk<'a> {
    container: &'static Container,
    /// The dwords of the record. Without a record, arrays have one element, and conditions hold.
    dwords: Option<&'a [u32]>,
    found: Vec<Instance>,
}

impl Walk<'_> {
    /// Adds `fields` and `groups` of a container or element. `base` is its first bit in the record.
    /// `first` is the first bit that it would have as the first element of its arrays.
    fn parts(
        &mut self,
        (fields, groups): (&'static [Field], &'static [Group]),
        (base, first): (u32, u32),
        path: &str,
    ) {
        for field in fields {
            let name = format!("{path}{}", field.name);
            if let (Some(dwords), Some(condition)) = (self.dwords, field.exists_if)
                && !condition.holds(dwords, base)
            {
                continue;
            }
            match field.ty {
                Type::MustBeZero | Type::MustBeOne | Type::Reserved => {}
                Type::Struct(part) => {
                    let at = (base + field.start, first + field.start);
                    self.parts((part.fields, part.groups), at, &format!("{name}."));
                }
                _ => self.field(field, base, first, name),
            }
        }
        for group in groups {
            let start = base + group.start;
            let room = self.dwords.map_or(0, |dwords| 32 * dwords.len() as u32);
            let fit = room.saturating_sub(start) / group.bits;
            let count = match (self.dwords, group.count) {
                (None, _) => 1,
                (Some(_), 0) => fit,
                (Some(_), count) => count.min(fit),
            };
            // Two elements are enough to find out whether a field is used.
            for index in 0..count.min(2) {
                let at = (start + index * group.bits, first + group.start);
                let name = match group.name {
                    "" => path.to_owned(),
                    name => format!("{path}{name}[]."),
                };
                self.parts((group.fields, group.groups), at, &name);
            }
        }
    }

    fn field(&mut self, field: &'static Field, base: u32, first: u32, path: String) {
        let (start, end) = (base + field.start, base + field.end);
        if self.dwords.is_some_and(|dwords| end >= 32 * dwords.len() as u32) {
            return;
        }
        if end < 32 && selects(self.container, start, end) {
            return;
        }
        let container = self.container.name;
        let place = Place { container, start: first + field.start, end: first + field.end, path };
        self.found.push(Instance { place, field, start, end });
    }
}

/// True if a field of a packet's first dword says which packet it is or how long it is. Another
/// value makes another packet.
fn selects(container: &Container, start: u32, end: u32) -> bool {
    match container.kind {
        Kind::Instruction { opcode_mask, length_field, .. } => {
            bits::get(&[opcode_mask], start, end) != 0 || length_field == Some((start, end))
        }
        _ => false,
    }
}

/// The fields of a record of this container.
pub fn instances(container: &'static Container, record: &Record) -> Vec<Instance> {
    let mut walk = Walk { container, dwords: Some(&record.dwords), found: Vec::new() };
    walk.parts((container.fields, container.groups), (0, 0), "");
    walk.found
}

/// All fields of a container.
pub fn places(container: &'static Container) -> Vec<Place> {
    let mut walk = Walk { container, dwords: None, found: Vec::new() };
    walk.parts((container.fields, container.groups), (0, 0), "");
    let mut places: Vec<Place> = walk.found.into_iter().map(|found| found.place).collect();
    places.sort();
    places.dedup();
    places
}

/// All packets.
pub fn packets() -> impl Iterator<Item = &'static Container> {
    let all = genxml::gen8::CONTAINERS.iter().copied();
    all.filter(|container| matches!(container.kind, Kind::Instruction { .. }))
}

/// State structures that are not part of another container.
pub fn structures() -> Vec<&'static Container> {
    let all = genxml::gen8::CONTAINERS;
    let mut inner = BTreeSet::new();
    for container in all {
        embedded((container.fields, container.groups), &mut inner);
    }
    let state = |container: &&'static Container| {
        matches!(container.kind, Kind::Struct { .. })
            && UNITS.contains(&container.unit)
            && !inner.contains(container.name)
    };
    all.iter().copied().filter(state).collect()
}

fn embedded(
    (fields, groups): (&'static [Field], &'static [Group]),
    names: &mut BTreeSet<&'static str>,
) {
    for field in fields {
        if let Type::Struct(part) = field.ty {
            names.insert(part.name);
        }
    }
    for group in groups {
        embedded((group.fields, group.groups), names);
    }
}
