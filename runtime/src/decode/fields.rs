//! From dwords and a plan to items.

use super::memory::VA_MASK;
use super::record::{Issue, Item, Value};
use super::tables::{FieldPlan, GroupPlan, Part, Plan, Tables};
use genxml_core::address::SpaceKind;
use genxml_core::bits;
use genxml_core::reflect::{self, Type};

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
        let container = plan.container;
        if container.groups.iter().any(|group| group.count == 0) {
            return;
        }
        // Of partial containers only what fields cover is described, however long they are said to be.
        let covered = container.fields.iter().map(|field| field.end + 1);
        let described = if container.partial { covered.max().unwrap_or(0) } else { container.bits };
        for dword in described.div_ceil(32) as usize..self.dwords.len() {
            let start = 32 * dword as u32;
            self.push(0, "", None, (start, start + 31), self.dwords[dword].into(), Value::Raw, "", None);
        }
    }

    /// A dword of `plan` behind its first, alone: under the name of the field that holds all of it, if one does.
    pub fn raw(&mut self, plan: &Plan, dword: u32) {
        let (start, end) = (32 * dword, 32 * dword + 31);
        let whole = plan.container.fields.iter().find(|field| field.start <= start && end <= field.end);
        let stored = self.dwords.first().copied().unwrap_or(0).into();
        let name = whole.map_or("", |field| field.name);
        self.push(0, name, None, (start, end), stored, Value::Raw, "", None);
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
            self.push(depth, group.name, Some(index), (at, at + group.bits - 1), 0, Value::Nested, "", None);
            self.parts(&plan.parts, at, depth + 1);
        }
    }

    fn field(&mut self, plan: &FieldPlan, base: u32, depth: u8, index: Option<u32>) {
        let field = plan.field;
        let (start, end) = (base + field.start, base + field.end);
        if plan.hidden || start >= self.total() {
            return;
        }
        if let Some(condition) = field.exists_if
            && !condition.holds(self.dwords, base)
        {
            return;
        }
        if plan.unless.iter().any(|other| other.holds(self.dwords, base)) {
            return;
        }
        if let Some(nested) = plan.nested {
            let nested = self.tables.plan(nested);
            self.push(depth, field.name, index, (start, end), 0, Value::Nested, "", None);
            self.parts(&nested.parts, start, depth + 1);
            return;
        }
        if end - start >= 64 {
            return self.wide(plan, start, end, depth);
        }
        let width = end - start + 1;
        let stored = bits::get(self.dwords, start, end);
        let (value, issue) = match field.ty {
            Type::Reserved | Type::MustBeZero if stored == 0 => return,
            Type::Reserved => (Value::Reserved, Some(Issue::ReservedSet)),
            Type::MustBeZero => (Value::Reserved, Some(Issue::MustBeZero)),
            Type::MustBeOne if stored == bits::ones(width) => return,
            Type::MustBeOne => (Value::Reserved, Some(Issue::MustBeOne)),
            Type::Uint => (Value::Uint(field.stored.meant(stored)), None),
            Type::Int => (Value::Int(bits::sign_extend(stored, width)), None),
            Type::Bool => (Value::Bool(stored != 0), None),
            Type::Float if width == 32 => (Value::Float(f32::from_bits(stored as u32).into()), None),
            Type::Float if width == 64 => (Value::Float(f64::from_bits(stored)), None),
            Type::Float => (Value::Uint(stored), None),
            Type::UFixed(fraction) => (Value::Float(stored as f64 / (1u64 << fraction.min(63)) as f64), None),
            Type::SFixed(fraction) => {
                let value = bits::sign_extend(stored, width) as f64 / (1u64 << fraction.min(63)) as f64;
                (Value::Float(value), None)
            }
            Type::Enum(list) => {
                let name = list.name_of(stored);
                // Zero is what programs leave where a field does not matter.
                let unknown = name.is_none() && stored != 0;
                (Value::Enum { name }, unknown.then_some(Issue::UnknownValue))
            }
            Type::Address { space, .. } => {
                let value = stored << (field.start % 32);
                let register = match space {
                    SpaceKind::Mmio => self.tables.register(value as u32),
                    _ => None,
                };
                (Value::Address { value, space, absolute: self.bases.absolute(space, value), register }, None)
            }
            Type::Struct(_) => return,
        };
        let issue = issue.or(match field.range {
            Some((min, max)) if !in_range(field.ty, stored, width, min, max) => {
                Some(Issue::OutOfRange { min, max })
            }
            _ => None,
        });
        self.push(depth, field.name, index, (start, end), stored, value, field.unit, issue);
    }

    /// A field of more than 64 bits: one item per dword; reserved ones only where set.
    fn wide(&mut self, plan: &FieldPlan, start: u32, end: u32, depth: u8) {
        let reserved = match plan.field.ty {
            Type::Reserved => Some(Issue::ReservedSet),
            Type::MustBeZero => Some(Issue::MustBeZero),
            _ => None,
        };
        for (index, first) in (start..=end.min(self.total().saturating_sub(1))).step_by(32).enumerate() {
            let last = end.min(first + 31);
            let stored = bits::get(self.dwords, first, last);
            match reserved {
                Some(_) if stored == 0 => {}
                Some(_) => {
                    self.push(
                        depth,
                        plan.field.name,
                        None,
                        (first, last),
                        stored,
                        Value::Reserved,
                        "",
                        reserved,
                    );
                }
                None => {
                    let name = plan.field.name;
                    self.push(depth, name, Some(index as u32), (first, last), stored, Value::Raw, "", None);
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one argument for each member of the item")]
    #[inline]
    fn push(
        &mut self,
        depth: u8,
        name: &'static str,
        index: Option<u32>,
        (start, end): (u32, u32),
        stored: u64,
        value: Value,
        unit: &'static str,
        issue: Option<Issue>,
    ) {
        self.items.push(Item { depth, name, index, start, end, stored, value, unit, issue });
    }
}

fn in_range(ty: Type, stored: u64, width: u32, min: u64, max: u64) -> bool {
    match ty {
        Type::Int | Type::SFixed(_) => {
            let value = bits::sign_extend(stored, width);
            bits::sign_extend(min, width) <= value && value <= bits::sign_extend(max, width)
        }
        _ => min <= stored && stored <= max,
    }
}
