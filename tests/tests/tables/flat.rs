//! The fields of a container as a flat list with absolute positions, including those of arrays and
//! nested structures; and dwords in which given fields exist.

use std::collections::HashMap;

use genxml_codegen::model::{Container, ContainerId, Expr, Field, Group, Kind, Op, Spec, Type};
use genxml_core::bits::{get, put};
use genxml_core::round_trip::{ROOM, RoundTrip};
use genxml_core::{PackError, UnpackError};
use genxml_testkit::Random;
use genxml_tests::within;

/// A field with its absolute position.
pub struct Flat<'a> {
    pub field: &'a Field,
    /// First bit from the start of the outermost container.
    pub start: u32,
    /// The field exists if all of these conditions hold.
    pub guards: Vec<Guard<'a>>,
    /// True if the field's value decides whether other fields exist.
    pub decides: bool,
}

impl Flat<'_> {
    pub fn end(&self) -> u32 {
        self.start + self.field.end - self.field.start
    }

    pub fn width(&self) -> u32 {
        self.field.end - self.field.start + 1
    }

    pub fn exists(&self, dwords: &[u32]) -> bool {
        self.guards.iter().all(|guard| guard.holds(dwords))
    }
}

/// A condition, the bit that its positions count from, and whether it must hold.
#[derive(Clone)]
pub struct Guard<'a> {
    pub condition: &'a Expr,
    pub base: u32,
    pub holds: bool,
}

impl Guard<'_> {
    pub fn holds(&self, dwords: &[u32]) -> bool {
        (eval(self.condition, dwords, self.base) != 0) == self.holds
    }
}

/// The fields of a container. For an array these are the fields of the first two elements, and of
/// the last element if the number of elements is fixed.
pub fn flat<'a>(spec: &'a Spec, container: &'a Container) -> Vec<Flat<'a>> {
    let mut out = Vec::new();
    add(spec, &container.fields, &container.groups, 0, &[], &mut out);
    out
}

fn add<'a>(
    spec: &'a Spec,
    fields: &'a [Field],
    groups: &'a [Group],
    base: u32,
    outer: &[Guard<'a>],
    out: &mut Vec<Flat<'a>>,
) {
    for flat in own(fields, base) {
        let guards: Vec<Guard> = outer.iter().cloned().chain(flat.guards).collect();
        if let Type::Struct(ContainerId(id)) = flat.field.ty {
            let inner = &spec.containers[id];
            if !(inner.partial && matches!(inner.kind, Kind::Instruction { .. })) {
                add(spec, &inner.fields, &inner.groups, flat.start, &guards, out);
                continue;
            }
        }
        out.push(Flat { guards, ..flat });
    }
    for group in groups {
        let elements = match group.count {
            0 => vec![0, 1],
            1 => vec![0],
            2 => vec![0, 1],
            count => vec![0, 1, count - 1],
        };
        for element in elements {
            let base = base + group.start + element * group.bits;
            add(spec, &group.fields, &group.groups, base, outer, out);
        }
    }
}

/// The given fields without those of nested structures and arrays. Bit 0 of their container is bit
/// `base`.
pub fn own(fields: &[Field], base: u32) -> Vec<Flat<'_>> {
    let conditions: Vec<&Expr> =
        fields.iter().filter_map(|field| field.exists_if.as_ref()).collect();
    let all = fields.iter().map(|field| {
        let guards = match (&field.exists_if, &field.variant) {
            (Some(condition), _) => vec![Guard { condition, base, holds: true }],
            // The alternative without a condition exists if no other does.
            (None, Some((set, _))) => {
                let others = fields
                    .iter()
                    .filter(|other| other.variant.as_ref().is_some_and(|(s, _)| s == set));
                let others = others.filter_map(|other| other.exists_if.as_ref());
                others.map(|condition| Guard { condition, base, holds: false }).collect()
            }
            (None, None) => Vec::new(),
        };
        let decides = conditions.iter().any(|condition| mentions(condition, field));
        Flat { field, start: base + field.start, guards, decides }
    });
    all.collect()
}

fn mentions(condition: &Expr, field: &Field) -> bool {
    match condition {
        Expr::Number(_) => false,
        Expr::Field { start, end, .. } => *start <= field.end && *end >= field.start,
        Expr::Not(inner) => mentions(inner, field),
        Expr::Binary(_, left, right) => mentions(left, field) || mentions(right, field),
    }
}

/// The value of a condition, by the test's own implementation of the schema.
fn eval(expr: &Expr, dwords: &[u32], base: u32) -> u64 {
    match expr {
        Expr::Number(value) => *value,
        Expr::Field { start, end, .. } => get(dwords, base + start, base + end),
        Expr::Not(inner) => u64::from(eval(inner, dwords, base) == 0),
        Expr::Binary(op, left, right) => {
            let (l, r) = (eval(left, dwords, base), eval(right, dwords, base));
            match op {
                Op::Or => u64::from(l != 0 || r != 0),
                Op::And => u64::from(l != 0 && r != 0),
                Op::Eq => u64::from(l == r),
                Op::Ne => u64::from(l != r),
                Op::Lt => u64::from(l < r),
                Op::Le => u64::from(l <= r),
                Op::Gt => u64::from(l > r),
                Op::Ge => u64::from(l >= r),
                Op::BitAnd => l & r,
                Op::Add => l.wrapping_add(r),
                Op::Sub => l.wrapping_sub(r),
                Op::Mul => l.wrapping_mul(r),
                Op::Div => l.checked_div(r).unwrap_or(0),
                Op::Rem => l.checked_rem(r).unwrap_or(0),
            }
        }
    }
}

/// Least and greatest stored value that a field may have, as bit patterns; `None` if every value is
/// allowed.
pub fn limits(field: &Field) -> Option<(u64, u64)> {
    let mask = mask(field);
    match (field.range, field.nonzero) {
        (Some((0, max)), true) => Some((1, max & mask)),
        (Some((min, max)), _) => Some((min & mask, max & mask)),
        (None, true) => Some((1, mask)),
        (None, false) => None,
    }
}

/// A mask as wide as the field.
pub fn mask(field: &Field) -> u64 {
    u64::MAX >> (63 - (field.end - field.start).min(63))
}

/// Overwrites a field. A field of more than 64 bits becomes 0.
pub fn set(dwords: &mut [u32], start: u32, end: u32, value: u64) {
    for bit in start..=end {
        if let Some(dword) = dwords.get_mut((bit / 32) as usize) {
            *dword &= !(1 << (bit % 32));
        }
    }
    if end - start < 64 {
        put(dwords, start, end, value);
    }
}

type Conditions = Vec<(usize, u32, bool)>;

/// Generates dwords that strict readers accept and in which given conditions hold.
pub struct Sampler<'a> {
    pub trip: &'a RoundTrip,
    pub fields: &'a [Flat<'a>],
    pub random: Random,
    /// Results by conditions; a condition is identified by its address, its base and whether it
    /// holds.
    known: HashMap<Conditions, Option<Vec<u32>>>,
}

impl<'a> Sampler<'a> {
    pub fn new(trip: &'a RoundTrip, fields: &'a [Flat<'a>]) -> Sampler<'a> {
        Sampler { trip, fields, random: Random::of(trip.info.name), known: HashMap::new() }
    }

    /// Well-formed dwords in which the conditions hold; `None` if no random attempt succeeds.
    pub fn sample(&mut self, guards: &[Guard]) -> Option<Vec<u32>> {
        let key = guards
            .iter()
            .map(|g| (std::ptr::from_ref(g.condition) as usize, g.base, g.holds))
            .collect();
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = (0..300).find_map(|turn| self.attempt(guards, turn));
        self.known.insert(key, found.clone());
        found
    }

    fn attempt(&mut self, guards: &[Guard], turn: u32) -> Option<Vec<u32>> {
        let length = self.trip.info.dwords().max(2) + 8;
        let mut dwords: Vec<u32> = (0..length)
            .map(|_| match turn % 3 {
                0 => self.random.bits() as u32,
                1 => self.random.bits() as u32 & 0x0f0f_0f0f,
                _ => 0,
            })
            .collect();
        for flat in self.fields {
            if let Some(limits) = limits(flat.field) {
                let value = within(&mut self.random, limits, mask(flat.field));
                set(&mut dwords, flat.start, flat.end(), value);
            }
        }
        for guard in guards {
            self.towards(guard, &mut dwords);
        }
        let mut dwords = self.repack(&dwords).ok()?;
        // A value outside its range is replaced by one inside.
        for _ in 0..2 * self.fields.len() + 1 {
            match (self.trip.strict)(&dwords) {
                Ok(()) => return guards.iter().all(|guard| guard.holds(&dwords)).then_some(dwords),
                Err(UnpackError::Range { start, .. }) => {
                    let flat = self.fields.iter().find(|flat| {
                        flat.start == start && limits(flat.field).is_some() && flat.exists(&dwords)
                    })?;
                    let value = within(&mut self.random, limits(flat.field)?, mask(flat.field));
                    set(&mut dwords, flat.start, flat.end(), value);
                    dwords = self.repack(&dwords).ok()?;
                }
                Err(_) => return None,
            }
        }
        None
    }

    /// Sets the fields of a condition to numbers that occur in it.
    fn towards(&mut self, guard: &Guard, dwords: &mut [u32]) {
        let (mut fields, mut numbers) = (Vec::new(), vec![0, 1]);
        parts(guard.condition, &mut fields, &mut numbers);
        for _ in 0..20 {
            if guard.holds(dwords) {
                return;
            }
            for &(start, end) in &fields {
                let number = numbers[self.random.index(numbers.len())];
                set(dwords, guard.base + start, guard.base + end, number);
            }
        }
    }

    /// Reads as hardware does and packs again.
    pub fn repack(&self, dwords: &[u32]) -> Result<Vec<u32>, PackError> {
        let mut out = vec![0; ROOM];
        let length = (self.trip.repack)(dwords, &mut out)?;
        out.truncate(length);
        Ok(out)
    }
}

fn parts(expr: &Expr, fields: &mut Vec<(u32, u32)>, numbers: &mut Vec<u64>) {
    match expr {
        Expr::Number(number) => {
            numbers.extend([*number, number.wrapping_add(1), number.wrapping_sub(1)])
        }
        Expr::Field { start, end, .. } => fields.push((*start, *end)),
        Expr::Not(inner) => parts(inner, fields, numbers),
        Expr::Binary(_, left, right) => {
            parts(left, fields, numbers);
            parts(right, fields, numbers);
        }
    }
}
