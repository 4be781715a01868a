//! Tests of `rule`.

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

/// The truth tables of Kleene's three-valued logic.
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
    static LIST: Enumeration = Enumeration {
        name: "L",
        values: &[(2, "two"), (3, "three")],
        bits: &[(3, 24)],
        ..Enumeration::EMPTY
    };
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
