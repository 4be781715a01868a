//! Rules at run time: the programming restrictions of the manual as conditions that can be
//! evaluated.
//!
//! Conditions are nested constants of the tables; [`Cond::eval`] walks them without allocation.
//! What came before a packet is told by [`Facts`]. A value that is not known is `None`, and a rule
//! is violated only if its condition is known to be zero: `unknown && 0` is 0, `unknown || 1` is 1,
//! everything else with something unknown is unknown.

use crate::bits;
use crate::reflect::{Enumeration, Op};

/// A programming restriction of a container.
#[derive(Debug)]
pub struct Rule {
    /// Stable identifier.
    pub id: &'static str,
    /// How bad a violation is.
    pub severity: Severity,
    /// Must hold.
    pub require: Cond,
    /// The condition as the specification has it.
    pub text: &'static str,
    /// What is wrong if it does not hold, in our own words.
    pub message: &'static str,
    /// Volume and page of the manual.
    pub source: &'static str,
}

/// Two rules are equal if they are one: rules are statics.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        core::ptr::eq(self, other)
    }
}

impl Eq for Rule {}

/// How bad the violation of a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Needed on some steppings.
    Workaround,
    /// Works, but is not what is meant, or cannot be told for sure.
    Warning,
    /// Undefined or hanging.
    Error,
}

impl Severity {
    /// The word of the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Workaround => "workaround",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A condition. Its value is a number; one that is not zero holds.
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
    /// The value lies in one of the ranges, which include both ends.
    In(&'static Cond, &'static [(u64, u64)]),
    /// How many bits the value of the enumeration stands for.
    Bits(&'static Cond, &'static Enumeration),
    /// Place of the last packet of this kind: index into the `LASTS` of the tables.
    Last(u16),
    /// A statement about the elements of a group.
    Over(Quantifier, GroupRef, &'static Cond),
    /// Number of the element that the innermost [`Cond::Over`] stands at.
    Index,
    /// Kernels use the surface in this way.
    Role(Role),
}

/// What [`Cond::Over`] says about the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// The condition holds for every one.
    All,
    /// The condition holds for one at least.
    Any,
    /// Sum of the values.
    Sum,
    /// How many there are; the condition does not matter.
    Count,
    /// No two elements have the same value.
    Unique,
}

impl Quantifier {
    /// The word of the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Quantifier::All => "all",
            Quantifier::Any => "any",
            Quantifier::Sum => "sum",
            Quantifier::Count => "count",
            Quantifier::Unique => "unique",
        }
    }
}

/// Where a field or group is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// In the container, or the element that the innermost [`Cond::Over`] stands at; the number is
    /// how many further out.
    Own(u8),
    /// In the last one seen of the container with this index in the `CONTAINERS` of the tables.
    State(u16),
}

/// A field.
#[derive(Debug, Clone, Copy)]
pub struct FieldRef {
    /// Where from.
    pub base: Base,
    /// The name as the condition writes it.
    pub name: &'static str,
    /// First bit.
    pub start: u32,
    /// Last bit, inclusive.
    pub end: u32,
    /// Names of its values.
    pub list: Option<&'static Enumeration>,
}

/// A group.
#[derive(Debug, Clone, Copy)]
pub struct GroupRef {
    /// Where from.
    pub base: Base,
    /// The name as the condition writes it.
    pub name: &'static str,
    /// First bit of the first element.
    pub start: u32,
    /// Size of an element in bits.
    pub bits: u32,
    /// Number of elements; 0: as many as there are.
    pub count: u32,
}

/// What a [`Cond::Last`] looks for: packets of a kind, perhaps only those that fulfil a condition.
#[derive(Debug)]
pub struct Last {
    /// Index of the instruction in the `CONTAINERS` of the tables.
    pub packet: u16,
    /// Over its own fields.
    pub condition: Option<&'static Cond>,
}

/// How messages of a kernel use a surface of the binding table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    /// Through the sampler.
    Sampled,
    /// Written or read as a render target.
    RenderTarget,
    /// Typed surface messages, atomic ones too.
    Typed,
    /// Untyped surface messages, atomic ones too.
    Untyped,
    /// Byte and dword scattered messages.
    Scattered,
    /// Oword block messages.
    Block,
    /// Media block messages.
    Media,
    /// Atomic operations, typed or not.
    Atomic,
    /// Something is read.
    Read,
    /// Something is written.
    Written,
}

impl Role {
    /// The word of the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Sampled => "sampled",
            Role::RenderTarget => "render-target",
            Role::Typed => "typed",
            Role::Untyped => "untyped",
            Role::Scattered => "scattered",
            Role::Block => "block",
            Role::Media => "media",
            Role::Atomic => "atomic",
            Role::Read => "read",
            Role::Written => "written",
        }
    }
}

/// A set of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles(u16);

impl Roles {
    /// No role.
    pub const NONE: Roles = Roles(0);

    /// These roles.
    pub fn of(roles: &[Role]) -> Roles {
        Roles(roles.iter().fold(0, |set, role| set | 1 << *role as u16))
    }

    /// True if the role is in the set.
    pub fn contains(self, role: Role) -> bool {
        self.0 >> role as u16 & 1 != 0
    }

    /// The roles of both sets.
    pub fn and(self, other: Roles) -> Roles {
        Roles(self.0 | other.0)
    }
}

/// What is known besides the container itself.
pub trait Facts {
    /// The dwords of the last container of this index, if there was one and bits `first` to `last`
    /// of it are known.
    fn state(&self, container: u16, first: u32, last: u32) -> Option<&[u32]>;

    /// Place of the last packet that this entry of `LASTS` looks for, 0 if there was none.
    fn last(&self, index: u16) -> Option<u64>;

    /// Whether the surface is used in this way.
    fn role(&self, role: Role) -> Option<bool>;
}

/// No facts: a container by itself.
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
    /// First bit of the element.
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

    /// The frame so many elements further out.
    fn outward(&self, levels: u8) -> Option<&Frame<'a>> {
        (0..levels).try_fold(self, |frame, _| frame.outer)
    }

    fn bits(&self) -> u64 {
        32 * self.dwords.len() as u64
    }
}

impl FieldRef {
    /// The stored bits, if they are there.
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
    /// Calls `each` with the frame of every element until it returns false. Returns true if all
    /// elements are there: false if the container is not known, or ends before the last one.
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
        // Nothing changes a known "no" of all, or a known "yes" of any.
        !matches!((what, value), (Quantifier::All, Some(0)) | (Quantifier::Any, Some(1)))
    });
    match (complete, what) {
        (true, _) => value,
        (false, Quantifier::All) => and(value, None),
        (false, Quantifier::Any) => or(value, None),
        (false, _) => None,
    }
}

/// Every pair of elements is compared: groups are short, and nothing is allocated.
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
mod tests {
    use super::*;

    const A: Cond = field(Base::Own(0), 0, 7);
    const B: Cond = field(Base::Own(0), 8, 15);
    const BEYOND: Cond = field(Base::Own(0), 64, 71);
    const ELEMENT: Cond = field(Base::Own(0), 0, 7);

    const fn field(base: Base, start: u32, end: u32) -> Cond {
        Cond::Field(FieldRef { base, name: "", start, end, list: None })
    }

    const fn group(base: Base, count: u32) -> GroupRef {
        GroupRef { base, name: "", start: 32, bits: 8, count }
    }

    /// A container with elements 1, 2, 3, 3 in its second dword.
    const DWORDS: [u32; 2] = [0x0203, 0x0303_0201];

    struct Known;

    impl Facts for Known {
        fn state(&self, container: u16, _: u32, _: u32) -> Option<&[u32]> {
            (container == 1).then_some(&DWORDS)
        }
        fn last(&self, index: u16) -> Option<u64> {
            Some(index.into())
        }
        fn role(&self, role: Role) -> Option<bool> {
            (role != Role::Media).then_some(role == Role::Typed)
        }
    }

    fn eval(cond: &Cond) -> Option<u64> {
        cond.eval(&Frame::new(&DWORDS), &Known)
    }

    /// The tables of Kleene's logic.
    #[test]
    fn three_values() {
        const NO: Cond = Cond::Number(0);
        const YES: Cond = Cond::Number(7);
        const WHAT: Cond = BEYOND;
        let and = |left, right| eval(&Cond::Binary(Op::And, left, right));
        let or = |left, right| eval(&Cond::Binary(Op::Or, left, right));
        for (left, right, both, either) in [
            (&NO, &NO, Some(0), Some(0)),
            (&NO, &YES, Some(0), Some(1)),
            (&YES, &YES, Some(1), Some(1)),
            (&NO, &WHAT, Some(0), None),
            (&YES, &WHAT, None, Some(1)),
            (&WHAT, &WHAT, None, None),
        ] {
            assert_eq!((and(left, right), or(left, right)), (both, either));
            assert_eq!((and(right, left), or(right, left)), (both, either));
        }
        assert_eq!(eval(&Cond::Not(&WHAT)), None);
        assert_eq!(eval(&Cond::Binary(Op::Eq, &WHAT, &NO)), None);
        assert_eq!(eval(&Cond::Binary(Op::Mul, &NO, &WHAT)), None);
        assert_eq!(eval(&Cond::In(&WHAT, &[(0, u64::MAX)])), None);
    }

    #[test]
    fn fields_here_and_elsewhere() {
        assert_eq!((eval(&A), eval(&B), eval(&BEYOND)), (Some(3), Some(2), None));
        assert_eq!(eval(&field(Base::State(1), 8, 15)), Some(2));
        assert_eq!(eval(&field(Base::State(2), 8, 15)), None);
        assert_eq!(eval(&field(Base::State(1), 64, 64)), None);
        assert_eq!(eval(&field(Base::Own(1), 0, 0)), None);
        assert_eq!(eval(&Cond::Last(5)), Some(5));
        assert_eq!(eval(&Cond::Role(Role::Typed)), Some(1));
        assert_eq!(eval(&Cond::Role(Role::Read)), Some(0));
        assert_eq!(eval(&Cond::Role(Role::Media)), None);
    }

    #[test]
    fn sets_and_numbers() {
        const RANGES: &[(u64, u64)] = &[(1, 1), (3, 5)];
        for (value, inside) in [(0, 0), (1, 1), (2, 0), (3, 1), (5, 1), (6, 0)] {
            let number: &'static Cond = [
                &Cond::Number(0),
                &Cond::Number(1),
                &Cond::Number(2),
                &Cond::Number(3),
                &Cond::Number(4),
                &Cond::Number(5),
                &Cond::Number(6),
            ][value];
            assert_eq!(eval(&Cond::In(number, RANGES)), Some(inside), "{value}");
        }
        const ZERO: Cond = Cond::Number(0);
        const SEVEN: Cond = Cond::Number(7);
        assert_eq!(eval(&Cond::Binary(Op::Div, &SEVEN, &A)), Some(2));
        assert_eq!(eval(&Cond::Binary(Op::Rem, &SEVEN, &A)), Some(1));
        assert_eq!(eval(&Cond::Binary(Op::Div, &SEVEN, &ZERO)), Some(0));
        assert_eq!(eval(&Cond::Binary(Op::Sub, &ZERO, &SEVEN)), Some(7u64.wrapping_neg()));
        static LIST: Enumeration =
            Enumeration { name: "L", values: &[(2, "two"), (3, "three")], bits: &[(3, 24)] };
        assert_eq!(eval(&Cond::Bits(&A, &LIST)), Some(24));
        assert_eq!(eval(&Cond::Bits(&B, &LIST)), None);
    }

    #[test]
    fn elements() {
        const OWN: GroupRef = group(Base::Own(0), 0);
        const THREE: GroupRef = group(Base::Own(0), 3);
        const NINE: GroupRef = group(Base::Own(0), 9);
        const THERE: GroupRef = group(Base::State(1), 3);
        const NOWHERE: GroupRef = group(Base::State(2), 3);
        const LESS: Cond = Cond::Binary(Op::Lt, &ELEMENT, &Cond::Number(4));
        const ONE: Cond = Cond::Binary(Op::Eq, &ELEMENT, &Cond::Number(1));
        const OUTER: Cond = Cond::Binary(Op::Le, &ELEMENT, &field(Base::Own(1), 0, 7));
        const SMALLER: Cond = Cond::Binary(Op::Lt, &ELEMENT, &field(Base::Own(1), 0, 7));
        const COUNTED: Cond =
            Cond::Binary(Op::Eq, &ELEMENT, &Cond::Binary(Op::Add, &Cond::Index, &Cond::Number(1)));
        use Quantifier::*;
        let over = |what, group, body| eval(&Cond::Over(what, group, body));
        assert_eq!(over(Count, OWN, &ELEMENT), Some(4));
        assert_eq!(over(Count, THREE, &ELEMENT), Some(3));
        assert_eq!(over(Count, NOWHERE, &ELEMENT), None);
        assert_eq!(over(Sum, OWN, &ELEMENT), Some(9));
        assert_eq!(over(Sum, THERE, &ELEMENT), Some(6));
        assert_eq!(over(Sum, NINE, &ELEMENT), None);
        assert_eq!(over(All, OWN, &LESS), Some(1));
        assert_eq!(over(All, OWN, &ONE), Some(0));
        assert_eq!(over(All, NINE, &LESS), None, "elements are missing");
        assert_eq!(over(All, NINE, &ONE), Some(0), "one element is enough");
        assert_eq!(over(All, NOWHERE, &ONE), None);
        assert_eq!(over(Any, OWN, &ONE), Some(1));
        assert_eq!(over(Any, NINE, &ONE), Some(1));
        assert_eq!(over(Any, NINE, &Cond::Number(0)), None);
        assert_eq!(over(All, OWN, &OUTER), Some(1));
        assert_eq!(over(All, OWN, &SMALLER), Some(0));
        assert_eq!(over(All, THREE, &COUNTED), Some(1));
        assert_eq!(over(All, OWN, &COUNTED), Some(0));
        assert_eq!(over(Unique, THREE, &ELEMENT), Some(1));
        assert_eq!(over(Unique, OWN, &ELEMENT), Some(0));
        assert_eq!(over(Unique, NINE, &ELEMENT), Some(0));
    }
}
