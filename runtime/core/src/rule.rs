//! Rules at run time: the programming restrictions of the manual as conditions that can be
//! evaluated.
//!
//! Conditions are nested constants of the tables; [`Cond::eval`] evaluates them without allocation.
//! [`Facts`] supplies values from earlier packets and from kernels. An unknown value is `None`. A
//! rule is violated only if its condition is known to be zero: `unknown && 0` is 0, `unknown || 1`
//! is 1, and every other operation with an unknown operand is unknown.

use crate::bits;
use crate::enumeration::Enumeration;
use genxml_terms::Op;
pub use genxml_terms::{Quantifier, Role};

/// A programming restriction of a container.
#[derive(Debug)]
pub struct Rule {
    /// Stable identifier.
    pub id: &'static str,
    /// How bad a violation is.
    pub severity: Severity,
    /// The condition that must hold.
    pub require: Cond,
    /// The condition as text, from the specification.
    pub text: &'static str,
    /// The problem if the condition does not hold, in our own words.
    pub message: &'static str,
    /// Volume and page of the manual.
    pub source: &'static str,
}

/// Rules are compared by address: they are statics.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        core::ptr::eq(self, other)
    }
}

impl Eq for Rule {}

/// The severity of the violation of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The rule applies to some steppings only.
    Workaround,
    /// The packet works but is probably not intended, or the violation is not certain.
    Warning,
    /// The behaviour is undefined, or the GPU hangs.
    Error,
}

impl Severity {
    /// The name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Workaround => "workaround",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A condition. Its value is a number; it holds if the number is not zero.
#[derive(Debug)]
pub enum Cond {
    /// A number, or a value of an enumeration.
    Number(u64),
    /// The stored value of a field.
    Field(FieldRef),
    /// Logical not.
    Not(&'static Cond),
    /// Two operands.
    Binary(Op, &'static Cond, &'static Cond),
    /// The value lies in one of the ranges; both bounds belong to the range.
    In(&'static Cond, &'static [(u64, u64)]),
    /// Number of bits that the value of the enumeration implies.
    Bits(&'static Cond, &'static Enumeration),
    /// Position in the stream of packets, counted from 1, of the last packet that an entry of the
    /// tables' `LASTS` looks for; 0 if there was none. The operand is the index of this entry.
    Last(u16),
    /// A statement about the elements of a group.
    Over(Quantifier, GroupRef, &'static Cond),
    /// Index of the element that the innermost [`Cond::Over`] is evaluating.
    Index,
    /// 1 if kernels use the surface in this way, else 0.
    Role(Role),
}

/// The container in which a field or group is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// With 0: in the element that the innermost [`Cond::Over`] is evaluating, or in the container
    /// if there is no such element. A larger number is the number of levels further out.
    Own(u8),
    /// In the most recent container of the type with this index in the `CONTAINERS` of the tables.
    State(u16),
}

/// A field.
#[derive(Debug, Clone, Copy)]
pub struct FieldRef {
    /// The container that has the field.
    pub base: Base,
    /// The name as the condition writes it.
    pub name: &'static str,
    /// First bit.
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
    /// Names of the field's values.
    pub list: Option<&'static Enumeration>,
}

/// A group.
#[derive(Debug, Clone, Copy)]
pub struct GroupRef {
    /// The container that has the group.
    pub base: Base,
    /// The name as the condition writes it.
    pub name: &'static str,
    /// First bit of the first element.
    pub start: u32,
    /// Size of an element in bits.
    pub bits: u32,
    /// Number of elements; 0 means as many as the dwords hold.
    pub count: u32,
}

/// The search of a [`Cond::Last`]: packets of one type, optionally only those that fulfil a
/// condition.
#[derive(Debug)]
pub struct Last {
    /// Index of the instruction in the `CONTAINERS` of the tables.
    pub packet: u16,
    /// Condition on the packet's own fields.
    pub condition: Option<&'static Cond>,
}

/// A set of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles(u16);

impl Roles {
    /// No role.
    pub const NONE: Roles = Roles(0);

    /// The set of these roles.
    pub fn of(roles: &[Role]) -> Roles {
        Roles(roles.iter().fold(0, |set, role| set | 1 << *role as u16))
    }

    /// True if the role is in the set.
    pub fn contains(self, role: Role) -> bool {
        self.0 >> role as u16 & 1 != 0
    }

    /// The union of both sets.
    pub fn and(self, other: Roles) -> Roles {
        Roles(self.0 | other.0)
    }
}

/// The known values outside the container that is checked.
pub trait Facts {
    /// The dwords of the most recent container with this index, if there was one and its bits
    /// `first` to `last` are known.
    fn state(&self, container: u16, first: u32, last: u32) -> Option<&[u32]>;

    /// Position in the stream of packets, counted from 1, of the last packet that this entry of
    /// `LASTS` looks for; 0 if there was none, `None` if unknown.
    fn last(&self, index: u16) -> Option<u64>;

    /// True if kernels use the surface in this way; `None` if unknown.
    fn role(&self, role: Role) -> Option<bool>;
}

/// No facts: only the container itself is known.
impl Facts for () {
    fn state(&self, _: u16, _: u32, _: u32) -> Option<&[u32]> {
        None
    }

    fn last(&self, _: u16) -> Option<u64> {
        None
    }

    fn role(&self, _: Role) -> Option<bool> {
        None
    }
}

/// A container, or an element of a group inside one.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    dwords: &'a [u32],
    /// First bit of the container or element in `dwords`.
    base: u32,
    index: u64,
    outer: Option<&'a Frame<'a>>,
}

impl<'a> Frame<'a> {
    /// The whole container.
    pub const fn new(dwords: &'a [u32]) -> Frame<'a> {
        Frame { dwords, base: 0, index: 0, outer: None }
    }

    /// A container that starts at this bit inside another one.
    pub const fn inside(dwords: &'a [u32], base: u32) -> Frame<'a> {
        Frame { base, ..Frame::new(dwords) }
    }

    /// The frame that is `levels` levels further out.
    fn outward(&self, levels: u8) -> Option<&Frame<'a>> {
        (0..levels).try_fold(self, |frame, _| frame.outer)
    }

    fn bits(&self) -> u64 {
        32 * self.dwords.len() as u64
    }
}

impl FieldRef {
    /// The stored bits, if they are known.
    pub fn get(&self, frame: &Frame<'_>, facts: &impl Facts) -> Option<u64> {
        let (dwords, base) = match self.base {
            Base::Own(levels) => {
                let frame = frame.outward(levels)?;
                (frame.dwords, frame.base)
            }
            Base::State(container) => (facts.state(container, self.start, self.end)?, 0),
        };
        let end = u64::from(base) + u64::from(self.end);
        (end < 32 * dwords.len() as u64)
            .then(|| bits::get(dwords, base + self.start, base + self.end))
    }
}

impl GroupRef {
    /// Calls `each` with the frame of every element until `each` returns false. Returns true if all
    /// elements exist, false if the container is not known or ends before the last element.
    pub fn elements(
        &self,
        frame: &Frame<'_>,
        facts: &impl Facts,
        each: &mut dyn FnMut(&Frame<'_>) -> bool,
    ) -> bool {
        let state;
        let inside = match self.base {
            Base::Own(levels) => frame.outward(levels),
            Base::State(container) => match facts.state(container, self.start, self.start) {
                Some(dwords) => {
                    state = Frame { outer: None, ..Frame::new(dwords) };
                    Some(&state)
                }
                None => None,
            },
        };
        let Some(inside) = inside else { return false };
        let start = u64::from(inside.base) + u64::from(self.start);
        let room = inside.bits().saturating_sub(start).checked_div(self.bits.into()).unwrap_or(0);
        let count = if self.count == 0 { room } else { room.min(self.count.into()) };
        for index in 0..count {
            let base = (start + index * u64::from(self.bits)) as u32;
            if !each(&Frame { dwords: inside.dwords, base, index, outer: Some(frame) }) {
                break;
            }
        }
        self.count == 0 || room >= u64::from(self.count)
    }
}

impl Cond {
    /// The value in `frame`, if it is known.
    pub fn eval(&self, frame: &Frame<'_>, facts: &impl Facts) -> Option<u64> {
        match self {
            Cond::Number(value) => Some(*value),
            Cond::Field(field) => field.get(frame, facts),
            Cond::Not(inner) => Some(u64::from(inner.eval(frame, facts)? == 0)),
            Cond::Binary(Op::And, left, right) => match left.eval(frame, facts) {
                Some(0) => Some(0),
                left => and(left, right.eval(frame, facts)),
            },
            Cond::Binary(Op::Or, left, right) => match left.eval(frame, facts) {
                left @ (None | Some(0)) => or(left, right.eval(frame, facts)),
                Some(_) => Some(1),
            },
            Cond::Binary(op, left, right) => {
                Some(op.apply(left.eval(frame, facts)?, right.eval(frame, facts)?))
            }
            Cond::In(inner, ranges) => {
                let value = inner.eval(frame, facts)?;
                Some(u64::from(
                    ranges.iter().any(|(first, last)| *first <= value && value <= *last),
                ))
            }
            Cond::Bits(inner, list) => list.bits_of(inner.eval(frame, facts)?).map(u64::from),
            Cond::Last(index) => facts.last(*index),
            Cond::Over(Quantifier::Unique, group, body) => unique(group, body, frame, facts),
            Cond::Over(what, group, body) => over(*what, group, body, frame, facts),
            Cond::Index => Some(frame.index),
            Cond::Role(role) => facts.role(*role).map(u64::from),
        }
    }

    /// True if the condition is known not to hold.
    pub fn violated(&self, frame: &Frame<'_>, facts: &impl Facts) -> bool {
        self.eval(frame, facts) == Some(0)
    }
}

fn and(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(0), _) | (_, Some(0)) => Some(0),
        (Some(_), Some(_)) => Some(1),
        _ => None,
    }
}

fn or(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(0), Some(0)) => Some(0),
        (Some(0) | None, Some(0) | None) => None,
        _ => Some(1),
    }
}

fn over(
    what: Quantifier,
    group: &GroupRef,
    body: &'static Cond,
    frame: &Frame<'_>,
    facts: &impl Facts,
) -> Option<u64> {
    let mut value = Some(u64::from(what == Quantifier::All));
    let complete = group.elements(frame, facts, &mut |element| {
        value = match what {
            Quantifier::All => and(value, body.eval(element, facts)),
            Quantifier::Any => or(value, body.eval(element, facts)),
            Quantifier::Sum | Quantifier::Unique => {
                value.zip(body.eval(element, facts)).map(|(sum, value)| sum.wrapping_add(value))
            }
            Quantifier::Count => value.map(|count| count + 1),
        };
        // A zero decides `all`, and a value that is not zero decides `any`.
        !matches!((what, value), (Quantifier::All, Some(0)) | (Quantifier::Any, Some(1)))
    });
    match (complete, what) {
        (true, _) => value,
        (false, Quantifier::All) => and(value, None),
        (false, Quantifier::Any) => or(value, None),
        (false, _) => None,
    }
}

/// Compares every pair of elements: groups are short, and nothing is allocated.
fn unique(
    group: &GroupRef,
    body: &'static Cond,
    frame: &Frame<'_>,
    facts: &impl Facts,
) -> Option<u64> {
    let mut result = Some(1);
    let complete = group.elements(frame, facts, &mut |element| {
        let value = body.eval(element, facts);
        group.elements(frame, facts, &mut |other| {
            if other.index < element.index {
                let differ =
                    value.zip(body.eval(other, facts)).map(|(one, two)| u64::from(one != two));
                result = and(result, differ);
            }
            other.index + 1 < element.index && result != Some(0)
        });
        result != Some(0)
    });
    if complete { result } else { and(result, None) }
}

#[cfg(test)]
mod tests;
