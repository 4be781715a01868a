//! Memoisation units: runs of fields whose text depends on at most 64 bits.
//!
//! Programs set the same state again and again, with key changes. The text of a part of a packet
//! depends only on its bits, its position and the base addresses, unless it has a condition on
//! other bits. So the parts of a container are grouped into steps, usually one per dword: with a
//! memo of the text for a step's bits, its fields need not be decoded again.

use super::fields::Bases;
use super::tables::{BitPosition, FieldPlan, GroupPlan, Part, Plan, Shape};
use genxml_core::address::SpaceKind;
use genxml_core::bits;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers with more bits have too many values for a memo.
const NARROW: u32 = 16;

/// The number of the next step, unique over all tables.
static NUMBERS: AtomicUsize = AtomicUsize::new(1);

/// Adjacent parts that share no dword with other parts of the container.
#[derive(Debug)]
pub(super) struct Step {
    /// Index of its first part, and of the one after its last.
    pub first: usize,
    pub end: usize,
    /// The first and last dword.
    pub dwords: (u32, u32),
    /// The key of the memo, if the text depends on key bits.
    pub key: Option<MemoKey>,
    /// Its conditions read only these dwords.
    pub alone: bool,
    /// No value of its fields can have an issue.
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
        // Missing dwords do not differ.
        first >= end || one.get(first..end) == other.get(first..end)
    }
}

/// The bits, up to 64, on which the text of parts depends, together with their position and, if
/// `based`, the base addresses.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoKey {
    /// Unique number of the step; not zero.
    pub number: usize,
    start: u32,
    end: u32,
    place: BitPosition,
    /// Bits of addresses and long numbers: only zero is memoised.
    wide: u64,
    based: bool,
}

impl MemoKey {
    /// The bits, of a container that starts at bit `base`, if none is missing and the value is
    /// memoised.
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

    /// The version of the base addresses, if the text depends on them.
    #[inline(always)]
    pub fn version(&self, bases: &Bases) -> u32 {
        if self.based { bases.version() } else { 0 }
    }
}

/// The bits that parts read.
struct Reach {
    start: u32,
    end: u32,
    wide: Vec<(u32, u32)>,
    based: bool,
    alone: bool,
    sound: bool,
}

/// The steps of these parts of a container or group; `plans` are those of the structures in them.
pub(super) fn steps(parts: &[Part], plans: &[Plan]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut first = 0;
    while first < parts.len() {
        let mut end = first + 1;
        let (start, mut last) = range(&parts[first]);
        while let Some((next, further)) =
            parts.get(end).map(range).filter(|part| part.0 / 32 <= last / 32)
        {
            debug_assert!(start <= next);
            last = last.max(further);
            end += 1;
        }
        steps.push(step(parts, (first, end), (start, last), plans));
        first = end;
    }
    steps
}

/// The key for an element of a group as a whole, if there is one.
pub(super) fn whole(parts: &[Part], plans: &[Plan]) -> Option<MemoKey> {
    let bits =
        parts.iter().map(range).reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    step(parts, (0, parts.len()), bits, plans).key
}

fn step(
    parts: &[Part],
    (first, end): (usize, usize),
    (start, last): (u32, u32),
    plans: &[Plan],
) -> Step {
    let dwords = (start / 32, last / 32);
    let mut reach =
        Reach { start, end: last, wide: Vec::new(), based: false, alone: true, sound: true };
    reach.parts(&parts[first..end], 0, dwords, plans);
    let key = (reach.alone && reach.end - reach.start < 64).then(|| {
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let mut wide = 0;
        for (start, end) in reach.wide {
            wide |= bits::ones(end - start + 1) << (start - reach.start);
        }
        let (start, end, based) = (reach.start, reach.end, reach.based);
        MemoKey { number, start, end, place: BitPosition::new(start, end), wide, based }
    });
    Step { first, end, dwords, key, alone: reach.alone, sound: reach.sound }
}

/// First and last bit of a part; the last is the largest number if it has no end.
fn range(part: &Part) -> (u32, u32) {
    match part {
        Part::Field(field) => (field.start, field.end),
        Part::Group(GroupPlan { group, .. }) => {
            let end = match group.count {
                0 => u32::MAX,
                count => {
                    group.start.saturating_add(count.saturating_mul(group.bits)).saturating_sub(1)
                }
            };
            (group.start, end.max(group.start))
        }
    }
}

impl Reach {
    /// Adds parts of a container that starts at bit `base`, in these dwords.
    fn parts(&mut self, parts: &[Part], base: u32, dwords: (u32, u32), plans: &[Plan]) {
        for part in parts {
            match part {
                Part::Field(field) => self.field(field, base, dwords, plans),
                // A long group is not memoised as a whole: one element stands for the others.
                Part::Group(plan) => {
                    let (start, end) = range(part);
                    let short = end - start < 64;
                    for index in 0..if short { plan.group.count } else { 1 } {
                        let at = base + start + index * plan.group.bits;
                        let inside = (at / 32, (at + plan.group.bits.max(1) - 1) / 32);
                        self.parts(&plan.parts, at, if short { dwords } else { inside }, plans);
                    }
                }
            }
        }
    }

    fn field(&mut self, field: &FieldPlan, base: u32, dwords: (u32, u32), plans: &[Plan]) {
        if let Some(limits) = &field.limits {
            self.sound &= limits.range.is_none();
            limits.exists.reads(&mut |start, end| {
                let (start, end) = (base + start, base + end);
                self.alone &= dwords.0 <= start / 32 && end / 32 <= dwords.1;
                self.start = self.start.min(start);
                self.end = self.end.max(end);
            });
        }
        let (start, end) = (base + field.start, base + field.end);
        let long = end - start >= NARROW;
        let wide = match field.shape {
            Shape::Nested(id) => return self.parts(&plans[id.index()].parts, start, dwords, plans),
            Shape::Address(SpaceKind::Mmio) => false,
            Shape::Address(space) => {
                self.based |= space != SpaceKind::Graphics;
                true
            }
            Shape::Uint(_) | Shape::Int => long,
            Shape::Wide(wrong) => {
                self.sound &= wrong.is_none();
                wrong.is_none()
            }
            Shape::Zeros(_) | Shape::Ones | Shape::Enum(_) => {
                self.sound = false;
                false
            }
            _ => false,
        };
        if wide {
            self.wide.push((start, end.min(start.saturating_add(63))));
        }
    }
}
