//! Memoisation units: runs of fields whose text depends on at most 64 bits.
//!
//! Programs set the same state again and again, with few changes. The text of a part (a field or a
//! group) depends only on its bits, its position and the base addresses, unless it has a condition
//! on other bits. So the parts of a container are grouped into steps, usually one per dword. If the
//! memo has the text for a step's bits, its fields need not be decoded again.

use super::plan::{BitPosition, FieldPlan, GroupPlan, MemoKey, Part, Plan, Shape, Step};
use super::record::NARROW;
use genxml_core::address::SpaceKind;
use genxml_core::bits;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of the next `MemoKey`, unique over all tables.
static NUMBERS: AtomicUsize = AtomicUsize::new(1);

/// The bits on which the text of parts depends.
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

/// The memo key for an element of a group as a whole, if its text depends on at most 64 bits.
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

/// First and last bit of a part; the last is `u32::MAX` for a group without a fixed count.
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
    /// Adds what the text of these parts depends on. Their container starts at bit `base`. A
    /// condition that reads outside `dwords`, the first and last dword, clears `alone`.
    fn parts(&mut self, parts: &[Part], base: u32, dwords: (u32, u32), plans: &[Plan]) {
        for part in parts {
            match part {
                Part::Field(field) => self.field(field, base, dwords, plans),
                // A long group is not memoised as a whole, so it is enough to add one element.
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
