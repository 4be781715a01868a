//! From dwords and a plan to items.

use super::memory::VA_MASK;
use super::record::{Issue, Item, Origin, Value};
use super::tables::{FieldPlan, GroupPlan, Limits, Part, Plan, Shape, Tables};
use genxml_core::address::SpaceKind;
use genxml_core::bits;
use genxml_core::reflect;

/// Base addresses by space; `None` where nothing has set one yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Bases(pub [Option<u64>; SpaceKind::ALL.len()]);

impl Bases {
    pub fn set(&mut self, space: SpaceKind, base: u64) {
        self.0[space as usize] = Some(base & VA_MASK);
    }

    /// The GPU address of `value` in `space`.
    pub fn absolute(&self, space: SpaceKind, value: u64) -> Option<u64> {
        match space {
            SpaceKind::Graphics => Some(value & VA_MASK),
            SpaceKind::Mmio => None,
            _ => self.0[space as usize].map(|base| base.wrapping_add(value) & VA_MASK),
        }
    }
}

/// Decodes the dwords of one container into items.
pub(super) struct Fields<'a> {
    pub tables: &'a Tables,
    pub bases: &'a Bases,
    pub dwords: &'a [u32],
    pub items: &'a mut Vec<Item>,
}

/// The fields of `container` and of the structures in it, which starts at bit `base` of `dwords`.
pub(crate) fn items_at(
    tables: &Tables,
    container: &reflect::Container,
    dwords: &[u32],
    base: u32,
    items: &mut Vec<Item>,
) {
    let Some(id) = tables.plan_of(container) else { return };
    Fields { tables, bases: &Bases::default(), dwords, items }.parts(&tables.plan(id).parts, base, 0);
}

impl Fields<'_> {
    /// All of `plan`, and the dwords behind what it describes.
    pub fn all(&mut self, plan: &Plan) {
        self.parts(&plan.parts, 0, 0);
        let Some(described) = plan.described else { return };
        for dword in described as usize..self.dwords.len() {
            let start = 32 * dword as u32;
            self.raw_item("", None, (start, start + 31), self.dwords[dword].into());
        }
    }

    /// A dword of `plan` behind its first, alone: under the name of the field that holds all of it, if one does.
    pub fn raw(&mut self, plan: &Plan, dword: u32) {
        let (start, end) = (32 * dword, 32 * dword + 31);
        let whole = plan.container.fields.iter().find(|field| field.start <= start && end <= field.end);
        let stored = self.dwords.first().copied().unwrap_or(0).into();
        let name = whole.map_or("", |field| field.name);
        self.raw_item(name, None, (start, end), stored);
    }

    /// Bits that no field describes.
    fn raw_item(&mut self, name: &'static str, index: Option<u32>, (start, end): (u32, u32), stored: u64) {
        self.items.push(Item {
            depth: 0,
            name,
            index,
            start,
            end,
            stored,
            value: Value::Raw,
            unit: "",
            issue: None,
            origin: Origin::NONE,
        });
    }

    /// Bits that are there.
    fn total(&self) -> u32 {
        32 * self.dwords.len() as u32
    }

    fn parts(&mut self, parts: &[Part], base: u32, depth: u8) {
        for part in parts {
            match part {
                Part::Field(plan) => self.field(plan, base, depth, None),
                Part::Group(plan) => self.group(plan, base, depth),
            }
        }
    }

    fn group(&mut self, plan: &GroupPlan, base: u32, depth: u8) {
        let group = plan.group;
        if group.bits == 0 {
            return;
        }
        let start = base + group.start;
        let room = self.total().saturating_sub(start) / group.bits;
        let count = if group.count == 0 { room } else { group.count.min(room) };
        for index in 0..count {
            let at = start + index * group.bits;
            if let (true, [Part::Field(field)]) = (plan.flat, &plan.parts[..]) {
                self.field(field, at, depth, Some(index));
                continue;
            }
            self.nested(group.name, Some(index), (at, at + group.bits - 1), depth, Origin::NONE);
            self.parts(&plan.parts, at, depth + 1);
        }
    }

    /// An item that others belong to.
    fn nested(
        &mut self,
        name: &'static str,
        index: Option<u32>,
        (start, end): (u32, u32),
        depth: u8,
        origin: Origin,
    ) {
        let value = Value::Nested;
        self.items.push(Item {
            depth,
            name,
            index,
            start,
            end,
            stored: 0,
            value,
            unit: "",
            issue: None,
            origin,
        });
    }

    /// The bits of a field of the container that starts at bit `base`; none if not even the first is there, and those
    /// further on that are not there are zero.
    #[inline(always)]
    fn bits(&self, plan: &FieldPlan, base: u32) -> Option<u64> {
        let place = plan.place;
        if !base.is_multiple_of(32) || place.far {
            return self.bits_anywhere(plan, base);
        }
        let at = (base / 32 + place.dword) as usize;
        let low = *self.dwords.get(at)?;
        let high = if place.two { self.dwords.get(at + 1).copied().unwrap_or(0) } else { 0 };
        Some((u64::from(high) << 32 | u64::from(low)) >> (place.shift & 31) & u64::MAX >> (place.unused & 63))
    }

    /// The same of fields in unusual places, and nothing meant of those that have more than 64 bits.
    fn bits_anywhere(&self, plan: &FieldPlan, base: u32) -> Option<u64> {
        let (start, end) = (base + plan.start, base + plan.end);
        (start < self.total()).then(|| bits::get(self.dwords, start, end.min(start + 63)))
    }

    #[inline(always)]
    fn field(&mut self, plan: &FieldPlan, base: u32, depth: u8, index: Option<u32>) {
        let Some(stored) = self.bits(plan, base) else { return };
        let mut issue = None;
        if let Some(limits) = &plan.limits {
            if !limits.exists.holds(self.dwords, base) {
                return;
            }
            issue = limits.broken(stored, plan.end - plan.start + 1);
        }
        let mut push = |stored, value, issue| {
            self.items.push(Item {
                depth,
                name: plan.name,
                index,
                start: base + plan.start,
                end: base + plan.end,
                stored,
                value,
                unit: plan.unit,
                issue,
                origin: Origin::of(plan.field),
            });
        };
        match plan.shape {
            Shape::Zeros(_) if stored == 0 => {}
            Shape::Zeros(wrong) => push(stored, Value::Reserved, Some(wrong)),
            Shape::Bool => push(stored, Value::Bool(stored != 0), issue),
            Shape::Uint(how) => push(stored, Value::Uint(how.meant(stored)), issue),
            Shape::Enum(list) | Shape::OneEnumOf(list) => {
                let name = self.tables.value_name(list, stored);
                // Zero is what programs leave where a field does not matter.
                if name.is_none() && stored != 0 && matches!(plan.shape, Shape::Enum(_)) {
                    issue = Some(Issue::UnknownValue);
                }
                push(stored, Value::Enum { name }, issue);
            }
            Shape::Address(space) => {
                let value = stored << (plan.start % 32);
                let register = match space {
                    SpaceKind::Mmio => self.tables.register(value as u32),
                    _ => None,
                };
                let absolute = self.bases.absolute(space, value);
                push(stored, Value::Address { value, space, absolute, register }, issue);
            }
            Shape::Nested(nested) => {
                push(0, Value::Nested, None);
                self.parts(&self.tables.plan(nested).parts, base + plan.start, depth + 1);
            }
            Shape::Ones => {
                if stored != bits::ones(plan.end - plan.start + 1) {
                    push(stored, Value::Reserved, Some(Issue::MustBeOne));
                }
            }
            Shape::Int => {
                push(stored, Value::Int(bits::sign_extend(stored, plan.end - plan.start + 1)), issue);
            }
            Shape::Single => push(stored, Value::Float(f32::from_bits(stored as u32).into()), issue),
            Shape::Double => push(stored, Value::Float(f64::from_bits(stored)), issue),
            Shape::UFixed(one) => push(stored, Value::Float(stored as f64 * one), issue),
            Shape::SFixed(one) => {
                let value = bits::sign_extend(stored, plan.end - plan.start + 1);
                push(stored, Value::Float(value as f64 * one), issue);
            }
            Shape::Wide(wrong) => self.wide(plan, wrong, base, depth),
        }
    }

    /// A field of more than 64 bits: one item per dword; reserved ones only where set.
    fn wide(&mut self, plan: &FieldPlan, wrong: Option<Issue>, base: u32, depth: u8) {
        let (start, end) = (base + plan.start, base + plan.end);
        for (index, first) in (start..=end.min(self.total().saturating_sub(1))).step_by(32).enumerate() {
            let last = end.min(first + 31);
            let stored = bits::get(self.dwords, first, last);
            let (index, value) = match wrong {
                Some(_) if stored == 0 => continue,
                Some(_) => (None, Value::Reserved),
                None => (Some(index as u32), Value::Raw),
            };
            let (name, origin) = (plan.name, Origin::of(plan.field));
            self.items.push(Item {
                depth,
                name,
                index,
                start: first,
                end: last,
                stored,
                value,
                unit: "",
                issue: wrong,
                origin,
            });
        }
    }
}

impl Limits {
    /// What is wrong with a value of so many bits, if it is outside the range.
    fn broken(&self, stored: u64, width: u32) -> Option<Issue> {
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
