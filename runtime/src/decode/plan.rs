//! Plans: the properties of a container that are computed once, before decoding.

use super::bases::Bases;
use super::condition::Exists;
use super::effects::Follow;
use super::issue::Issue;
use genxml_core::address::SpaceKind;
use genxml_core::bits;
use genxml_core::reflect::{Container, Field, Group, Kind, Stored};

/// The number of a plan in [`Tables`](super::Tables).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlanId(pub(super) u32);

impl PlanId {
    /// The number as an index.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A container with its fields and groups in the order of their bits, and everything that can be
/// prepared before decoding.
#[derive(Debug)]
pub(super) struct Plan {
    pub container: &'static Container,
    pub parts: Vec<Part>,
    pub steps: Vec<Step>,
    pub follow: Follow,
    /// Number of dwords that the fields and groups describe; `None` if a group without a fixed
    /// number of elements goes to the end of the packet.
    pub described: Option<u32>,
    pub length: Length,
}

/// The length of a packet in dwords: a field of its header plus a constant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Length {
    shift: u32,
    mask: u32,
    bias: u32,
}

impl Length {
    pub fn of(container: &Container) -> Length {
        match container.kind {
            Kind::Instruction { bias, length_field: Some((start, end)), .. } => {
                Length { shift: start, mask: bits::ones(end - start + 1) as u32, bias }
            }
            _ => Length { shift: 0, mask: 0, bias: container.bits.div_ceil(32) },
        }
    }

    /// Length of a packet with this header, at least 1.
    #[inline]
    pub fn dwords(self, header: u32) -> u64 {
        (u64::from(header >> self.shift & self.mask) + u64::from(self.bias)).max(1)
    }
}

/// A field or group of a plan.
#[derive(Debug)]
pub(super) enum Part {
    Field(FieldPlan),
    Group(GroupPlan),
}

/// A visible field. Opcode and length are not visible fields: the packet's name and header line
/// already show them.
#[derive(Debug)]
pub(super) struct FieldPlan {
    pub field: &'static Field,
    pub name: &'static str,
    pub unit: &'static str,
    /// First and last bit, copied from the field.
    pub start: u32,
    pub end: u32,
    /// Position of the bits if the container starts on a dword.
    pub place: BitPosition,
    pub shape: Shape,
    /// Condition and range; `None` for most fields, which have neither.
    pub limits: Option<Box<Limits>>,
}

/// The condition and the range of a field.
#[derive(Debug)]
pub(super) struct Limits {
    pub exists: Exists,
    /// Smallest and largest stored value that the manual allows.
    pub range: Option<(u64, u64)>,
    /// True if the values of the range are two's complement.
    pub signed: bool,
}

/// Bits in one or two dwords.
#[derive(Debug, Clone, Copy)]
pub(super) struct BitPosition {
    pub dword: u32,
    pub shift: u8,
    /// 64 minus the width of the field.
    pub unused: u8,
    /// True if the field continues in the next dword.
    pub two: bool,
    /// True if the field goes beyond the next dword. The other members then do not describe it.
    pub far: bool,
}

impl BitPosition {
    pub fn new(start: u32, end: u32) -> BitPosition {
        let (shift, width) = (start % 32, end - start + 1);
        let far = shift + width > 64;
        let unused = if far { 0 } else { 64 - width as u8 };
        BitPosition { dword: start / 32, shift: shift as u8, unused, two: shift + width > 32, far }
    }

    /// Reads the bits in a container that starts at bit `base`. `None` if the first bit is missing,
    /// if `base` is not a multiple of 32, or if the field is `far`. Other missing bits
    /// are zero.
    #[inline(always)]
    pub fn bits(self, dwords: &[u32], base: u32) -> Option<u64> {
        if !base.is_multiple_of(32) || self.far {
            return None;
        }
        let at = (base / 32 + self.dword) as usize;
        let low = *dwords.get(at)?;
        let high = if self.two { dwords.get(at + 1).copied().unwrap_or(0) } else { 0 };
        Some(
            (u64::from(high) << 32 | u64::from(low)) >> (self.shift & 31)
                & u64::MAX >> (self.unused & 63),
        )
    }
}

/// How the bits of a field are decoded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A structure.
    Nested(PlanId),
    /// More than 64 bits, and the issue to report if any of them is set.
    Wide(Option<Issue>),
    /// Bits that must be zero. Zeros are hidden; other values have this issue.
    Zeros(Issue),
    /// Bits that must be one. If all are one, they are hidden.
    Ones,
    Uint(Stored),
    Int,
    Bool,
    Single,
    Double,
    /// Fixed point: the value of the lowest bit.
    UFixed(f64),
    SFixed(f64),
    /// Index into [`Tables::enums`].
    Enum(u32),
    /// As `Enum`, with another enumeration in the same bits. Other packets decide which of the two
    /// applies, so a value without a name is not an issue.
    OneEnumOf(u32),
    Address(SpaceKind),
}

#[derive(Debug)]
pub(super) struct GroupPlan {
    pub group: &'static Group,
    pub parts: Vec<Part>,
    pub steps: Vec<Step>,
    /// The key of the memo for a whole element, if its text depends on at most 64 bits.
    pub whole: Option<MemoKey>,
    /// True if an element is a single field. It is then shown without a level of nesting.
    pub flat: bool,
}

impl FieldPlan {
    /// True if the field exists in the container that starts at bit `base`.
    pub fn exists(&self, dwords: &[u32], base: u32) -> bool {
        let there = ((base + self.start) / 32) < dwords.len() as u32;
        there && self.limits.as_ref().is_none_or(|limits| limits.exists.holds(dwords, base))
    }
}

impl GroupPlan {
    /// The first bit of each element that exists in the container that starts at bit `base`.
    pub fn elements(&self, dwords: &[u32], base: u32) -> impl Iterator<Item = u32> + use<> {
        let Group { start, bits, count, .. } = *self.group;
        let start = base + start;
        let room = (32 * dwords.len() as u32).saturating_sub(start).checked_div(bits).unwrap_or(0);
        (0..if count == 0 { room } else { count.min(room) }).map(move |index| start + index * bits)
    }
}

/// Adjacent parts (fields and groups) that share no dword with other parts of the container.
#[derive(Debug)]
pub(super) struct Step {
    /// Index of its first part, and index after its last part.
    pub first: usize,
    pub end: usize,
    /// The first and last dword.
    pub dwords: (u32, u32),
    /// The key of the memo, if the text depends on at most 64 bits.
    pub key: Option<MemoKey>,
    /// True if the conditions of the fields read only dwords of the step.
    pub alone: bool,
    /// True if no value of the fields can have an issue.
    pub sound: bool,
}

impl Step {
    /// True if two containers, which start at bit `base` of equally many dwords, are equal in this
    /// step.
    pub fn same(&self, one: &[u32], other: &[u32], base: u32) -> bool {
        let first = (base / 32 + self.dwords.0) as usize;
        let end = (base / 32)
            .saturating_add(self.dwords.1)
            .saturating_add(2 - u32::from(base.is_multiple_of(32)));
        let end = (end as usize).min(one.len());
        // Dwords that both containers lack do not differ.
        first >= end || one.get(first..end) == other.get(first..end)
    }
}

/// The position of the bits, at most 64, on which the text of a step or of a group's element
/// depends. If `based`, the text also depends on the base addresses.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoKey {
    /// Unique number of the key; not zero.
    pub number: usize,
    pub start: u32,
    pub end: u32,
    pub place: BitPosition,
    /// Bits of addresses and long numbers. Text is memoised only if they are zero.
    pub wide: u64,
    pub based: bool,
}

impl MemoKey {
    /// Reads the bits in a container that starts at bit `base`. `None` if a bit is missing or the
    /// value is not memoised.
    #[inline(always)]
    pub fn value(&self, dwords: &[u32], base: u32) -> Option<u64> {
        if ((base + self.end) / 32) as usize >= dwords.len() {
            return None;
        }
        let value = match self.place.bits(dwords, base) {
            Some(value) => value,
            None => bits::get(dwords, base + self.start, base + self.end),
        };
        (value & self.wide == 0).then_some(value)
    }

    /// The version of the base addresses if the text depends on them, otherwise 0.
    #[inline(always)]
    pub fn version(&self, bases: &Bases) -> u32 {
        if self.based { bases.version() } else { 0 }
    }
}

impl Limits {
    /// The issue of a value of `width` bits, if it is outside the range.
    pub fn broken(&self, stored: u64, width: u32) -> Option<Issue> {
        let (min, max) = self.range?;
        let inside = if self.signed {
            let value = bits::sign_extend(stored, width);
            bits::sign_extend(min, width) <= value && value <= bits::sign_extend(max, width)
        } else {
            min <= stored && stored <= max
        };
        (!inside).then_some(Issue::OutOfRange { min, max })
    }
}
