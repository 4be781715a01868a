//! Decodes the dwords of a container into items, with the prepared description of the container.

use super::bases::Bases;
use super::effects::Follow;
use super::issue::Issue;
use super::plan::{FieldPlan, GroupPlan, Part, Plan, Shape, Step};
use super::record::{Item, Origin, Record, Value};
use super::surface_state;
use super::tables::Tables;
use genxml_core::address::SpaceKind;
use genxml_core::bits;
use genxml_core::reflect;

/// The fields of a packet before they are decoded.
#[derive(Debug, Clone, Copy)]
pub struct Unread<'a> {
    pub(super) tables: &'a Tables,
    pub(super) bases: &'a Bases,
    pub(super) plan: &'a Plan,
}

impl Unread<'_> {
    /// Fills in the items of the packet, if there are none.
    pub fn items(&self, record: &mut Record) {
        if !record.items.is_empty() {
            return;
        }
        let Record { dwords, items, .. } = record;
        Fields { tables: self.tables, bases: self.bases, dwords, items }.all(self.plan);
        if self.plan.follow == Follow::Blit {
            surface_state::pitches_of_tiled(record, self.plan.container);
        }
        record.problems = record.items.iter().filter(|item| item.issue.is_some()).count() as u64;
    }

    /// True if the fields of the packet have no issue, given that an earlier packet of the same
    /// type, with the dwords `before`, had none. Also false if the earlier packet had another
    /// length. The record gets no items.
    pub(crate) fn sound(&self, record: &mut Record, before: &[u32]) -> bool {
        let Record { dwords, items, .. } = record;
        if before.len() != dwords.len() {
            return false;
        }
        let sound = Fields { tables: self.tables, bases: self.bases, dwords, items }
            .sound(self.plan, before);
        items.clear();
        sound
    }
}

/// Decodes the dwords of one container into items.
pub(super) struct Fields<'a> {
    pub tables: &'a Tables,
    pub bases: &'a Bases,
    pub dwords: &'a [u32],
    pub items: &'a mut Vec<Item>,
}

/// Adds the fields of `container`, which starts at bit `base` of `dwords`, and of the structures in
/// it to `items`.
pub(crate) fn items_at(
    tables: &Tables,
    container: &reflect::Container,
    dwords: &[u32],
    base: u32,
    items: &mut Vec<Item>,
) {
    let Some(id) = tables.plan_of(container) else { return };
    Fields { tables, bases: &Bases::default(), dwords, items }.parts(
        &tables.plan(id).parts,
        base,
        0,
    );
}

impl Fields<'_> {
    /// Adds all fields of `plan`, and the dwords that it does not describe.
    pub fn all(&mut self, plan: &Plan) {
        self.parts(&plan.parts, 0, 0);
        self.beyond(plan);
    }

    /// Adds the dwords after those that `plan` describes.
    #[inline]
    pub fn beyond(&mut self, plan: &Plan) {
        let Some(described) = plan.described else { return };
        for dword in described as usize..self.dwords.len() {
            let start = 32 * dword as u32;
            self.raw_item("", None, (start, start + 31), self.dwords[dword].into());
        }
    }

    /// Adds an item for dword `dword` of a register with several dwords; `dwords` holds only this
    /// dword. The item has the name of the field that contains all of the dword, or an empty name.
    pub fn raw(&mut self, plan: &Plan, dword: u32) {
        let (start, end) = (32 * dword, 32 * dword + 31);
        let whole =
            plan.container.fields.iter().find(|field| field.start <= start && end <= field.end);
        let stored = self.dwords.first().copied().unwrap_or(0).into();
        let name = whole.map_or("", |field| field.name);
        self.raw_item(name, None, (start, end), stored);
    }

    /// True if the fields of `plan` have no issue. `before` are dwords of the same length whose
    /// fields have no issue; only what differs from them is checked. Overwrites the list of items.
    fn sound(&mut self, plan: &Plan, before: &[u32]) -> bool {
        before == self.dwords || self.steps_sound(&plan.parts, &plan.steps, 0, before)
    }

    fn steps_sound(&mut self, parts: &[Part], steps: &[Step], base: u32, before: &[u32]) -> bool {
        steps.iter().all(|step| {
            step.sound
                || step.alone && step.same(self.dwords, before, base)
                || self.parts_sound(&parts[step.first..step.end], base, before)
        })
    }

    fn parts_sound(&mut self, parts: &[Part], base: u32, before: &[u32]) -> bool {
        let tables = self.tables;
        parts.iter().all(|part| match part {
            Part::Group(group) => {
                let mut elements = group.elements(self.dwords, base);
                elements.all(|at| self.steps_sound(&group.parts, &group.steps, at, before))
            }
            Part::Field(plan) => match plan.shape {
                Shape::Nested(inner) => {
                    let inner = tables.plan(inner);
                    let there = plan.exists(self.dwords, base);
                    !there
                        || self.steps_sound(&inner.parts, &inner.steps, base + plan.start, before)
                }
                _ => {
                    self.items.clear();
                    self.field(plan, base, 0, None);
                    self.items.iter().all(|item| item.issue.is_none())
                }
            },
        })
    }

    /// Adds an item for bits without a decoded value.
    fn raw_item(
        &mut self,
        name: &'static str,
        index: Option<u32>,
        (start, end): (u32, u32),
        stored: u64,
    ) {
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

    /// Number of bits in the dwords.
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
        for (index, at) in (0..).zip(plan.elements(self.dwords, base)) {
            if let (true, [Part::Field(field)]) = (plan.flat, &plan.parts[..]) {
                self.field(field, at, depth, Some(index));
                continue;
            }
            self.element(plan, at, depth, index);
            self.parts(&plan.parts, at, depth + 1);
        }
    }

    /// Adds the item for an element that starts at bit `at`. The items of its fields follow.
    pub fn element(&mut self, plan: &GroupPlan, at: u32, depth: u8, index: u32) {
        self.items.push(Item {
            depth,
            name: plan.group.name,
            index: Some(index),
            start: at,
            end: at + plan.group.bits - 1,
            stored: 0,
            value: Value::Nested,
            unit: "",
            issue: None,
            origin: Origin::of(plan.group),
        });
    }

    /// Adds the item for a structure in a field. The items of its fields follow.
    pub fn structure(&mut self, plan: &FieldPlan, base: u32, depth: u8) {
        self.items.push(Item {
            depth,
            name: plan.name,
            index: None,
            start: base + plan.start,
            end: base + plan.end,
            stored: 0,
            value: Value::Nested,
            unit: plan.unit,
            issue: None,
            origin: Origin::of(plan.field),
        });
    }

    /// The bits of a field of the container that starts at bit `base`. `None` if the first bit is
    /// missing; other missing bits are zero.
    #[inline(always)]
    fn bits(&self, plan: &FieldPlan, base: u32) -> Option<u64> {
        match base.is_multiple_of(32) && !plan.place.far {
            true => plan.place.bits(self.dwords, base),
            false => self.bits_anywhere(plan, base),
        }
    }

    /// As [`bits`](Self::bits), for fields at any position. Reads only the first 64 bits of longer
    /// fields.
    fn bits_anywhere(&self, plan: &FieldPlan, base: u32) -> Option<u64> {
        let (start, end) = (base + plan.start, base + plan.end);
        (start < self.total()).then(|| bits::get(self.dwords, start, end.min(start + 63)))
    }

    #[inline(always)]
    pub fn field(&mut self, plan: &FieldPlan, base: u32, depth: u8, index: Option<u32>) {
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
            Shape::Uint(how) => push(stored, Value::Uint(how.decode(stored)), issue),
            Shape::Enum(list) | Shape::OneEnumOf(list) => {
                let name = self.tables.value_name(list, stored);
                // Zero without a name is not an issue: programs leave zero in unused fields.
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
                self.structure(plan, base, depth);
                self.parts(&self.tables.plan(nested).parts, base + plan.start, depth + 1);
            }
            Shape::Ones => {
                if stored != bits::ones(plan.end - plan.start + 1) {
                    push(stored, Value::Reserved, Some(Issue::MustBeOne));
                }
            }
            Shape::Int => {
                push(
                    stored,
                    Value::Int(bits::sign_extend(stored, plan.end - plan.start + 1)),
                    issue,
                );
            }
            Shape::Single => {
                push(stored, Value::Float(f32::from_bits(stored as u32).into()), issue)
            }
            Shape::Double => push(stored, Value::Float(f64::from_bits(stored)), issue),
            Shape::UFixed(one) => push(stored, Value::Float(stored as f64 * one), issue),
            Shape::SFixed(one) => {
                let value = bits::sign_extend(stored, plan.end - plan.start + 1);
                push(stored, Value::Float(value as f64 * one), issue);
            }
            Shape::Wide(wrong) => self.wide(plan, wrong, base, depth),
        }
    }

    /// Adds a field of more than 64 bits: one item per dword. If `wrong` has an issue (the field
    /// must be zero or is reserved), dwords of zero are left out.
    fn wide(&mut self, plan: &FieldPlan, wrong: Option<Issue>, base: u32, depth: u8) {
        let (start, end) = (base + plan.start, base + plan.end);
        for (index, first) in
            (start..=end.min(self.total().saturating_sub(1))).step_by(32).enumerate()
        {
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
