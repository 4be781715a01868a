//! Tests the expression builder with random expressions.

use super::*;
use genxml::engine::{Blitter, Render, Video, VideoEnhance};
use genxml::mi::{Condition, Operand, Value};

/// An expression in the test's own representation.
#[derive(Clone, Debug)]
enum Tree {
    Constant(u64),
    Qword(u64),
    Dword(u64),
    /// The value of an earlier expression.
    Earlier(usize),
    Unary(Unary, Box<Tree>),
    Binary(Binary, Box<Tree>, Box<Tree>),
    ByConstant(ByConstant, Box<Tree>, u64),
    Select(Compare, Box<[Tree; 4]>),
}

#[derive(Clone, Copy, Debug)]
enum Unary {
    Not,
    Negate,
    Low,
    High,
    SignExtended,
}

#[derive(Clone, Copy, Debug)]
enum Binary {
    Add,
    Subtract,
    And,
    Or,
    Xor,
    Minimum,
    Maximum,
    Mask(Compare),
    Bit(Compare),
}

#[derive(Clone, Copy, Debug)]
enum ByConstant {
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Multiply,
    And,
}

#[derive(Clone, Copy, Debug)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    SignedLess,
    SignedAtMost,
    SignedGreater,
    SignedAtLeast,
}

impl Compare {
    pub const ALL: [Compare; 10] = [
        Compare::Equal,
        Compare::NotEqual,
        Compare::Less,
        Compare::AtMost,
        Compare::Greater,
        Compare::AtLeast,
        Compare::SignedLess,
        Compare::SignedAtMost,
        Compare::SignedGreater,
        Compare::SignedAtLeast,
    ];

    pub fn eval(self, a: u64, b: u64) -> bool {
        let (s, t) = (a as i64, b as i64);
        match self {
            Compare::Equal => a == b,
            Compare::NotEqual => a != b,
            Compare::Less => a < b,
            Compare::AtMost => a <= b,
            Compare::Greater => a > b,
            Compare::AtLeast => a >= b,
            Compare::SignedLess => s < t,
            Compare::SignedAtMost => s <= t,
            Compare::SignedGreater => s > t,
            Compare::SignedAtLeast => s >= t,
        }
    }

    pub fn build(self, a: impl Operand, b: impl Operand) -> Condition {
        match self {
            Compare::Equal => a.equal_to(b),
            Compare::NotEqual => a.not_equal_to(b),
            Compare::Less => a.less_than(b),
            Compare::AtMost => a.at_most(b),
            Compare::Greater => a.greater_than(b),
            Compare::AtLeast => a.at_least(b),
            Compare::SignedLess => a.signed_less_than(b),
            Compare::SignedAtMost => a.signed_at_most(b),
            Compare::SignedGreater => a.signed_greater_than(b),
            Compare::SignedAtLeast => a.signed_at_least(b),
        }
    }
}

impl Tree {
    fn eval(&self, inputs: &[u64], earlier: &[u64]) -> u64 {
        let eval = |tree: &Tree| tree.eval(inputs, earlier);
        let mask = |truth| if truth { u64::MAX } else { 0 };
        match self {
            Tree::Constant(value) => *value,
            Tree::Qword(index) => inputs[*index as usize],
            Tree::Dword(index) => inputs[*index as usize / 2] >> (32 * (index % 2)) & 0xffff_ffff,
            Tree::Earlier(index) => earlier[*index],
            Tree::Unary(op, x) => match (op, eval(x)) {
                (Unary::Not, x) => !x,
                (Unary::Negate, x) => x.wrapping_neg(),
                (Unary::Low, x) => u64::from(x as u32),
                (Unary::High, x) => x >> 32,
                (Unary::SignExtended, x) => x as i32 as u64,
            },
            Tree::Binary(op, a, b) => {
                let (a, b) = (eval(a), eval(b));
                match op {
                    Binary::Add => a.wrapping_add(b),
                    Binary::Subtract => a.wrapping_sub(b),
                    Binary::And => a & b,
                    Binary::Or => a | b,
                    Binary::Xor => a ^ b,
                    Binary::Minimum => a.min(b),
                    Binary::Maximum => a.max(b),
                    Binary::Mask(compare) => mask(compare.eval(a, b)),
                    Binary::Bit(compare) => compare.eval(a, b).into(),
                }
            }
            Tree::ByConstant(op, x, by) => {
                let (x, shift) = (eval(x), u32::try_from(*by).unwrap_or(64));
                match op {
                    ByConstant::ShiftLeft => x.checked_shl(shift).unwrap_or(0),
                    ByConstant::ShiftRight => x.checked_shr(shift).unwrap_or(0),
                    ByConstant::ShiftRightSigned => (x as i64 >> shift.min(63)) as u64,
                    ByConstant::Multiply => x.wrapping_mul(*by),
                    ByConstant::And => x & by,
                }
            }
            Tree::Select(compare, parts) => {
                let [a, b, yes, no] = parts.each_ref().map(eval);
                if compare.eval(a, b) { yes } else { no }
            }
        }
    }

    fn build(&self, earlier: &[Value]) -> Value {
        let build = |tree: &Tree| tree.build(earlier);
        match self {
            Tree::Constant(value) => value.value(),
            Tree::Qword(index) => input(*index).value(),
            Tree::Dword(index) => input32(*index).value(),
            Tree::Earlier(index) => earlier[*index].clone(),
            Tree::Unary(op, x) => match (op, build(x)) {
                (Unary::Not, x) => !x,
                (Unary::Negate, x) => -x,
                (Unary::Low, x) => x.low().value(),
                (Unary::High, x) => x.high().value(),
                (Unary::SignExtended, x) => x.sign_extended(),
            },
            Tree::Binary(op, a, b) => {
                let (a, b) = (build(a), build(b));
                match op {
                    Binary::Add => a + b,
                    Binary::Subtract => a - b,
                    Binary::And => a & b,
                    Binary::Or => a | b,
                    Binary::Xor => a ^ b,
                    Binary::Minimum => a.minimum(b),
                    Binary::Maximum => a.maximum(b),
                    Binary::Mask(compare) => compare.build(a, b).mask(),
                    Binary::Bit(compare) => compare.build(a, b).to_bit().value(),
                }
            }
            Tree::ByConstant(op, x, by) => {
                let x = build(x);
                match op {
                    ByConstant::ShiftLeft => x << *by,
                    ByConstant::ShiftRight => x >> *by,
                    ByConstant::ShiftRightSigned => x.shift_right_signed(*by),
                    ByConstant::Multiply => x * *by,
                    ByConstant::And => x & *by,
                }
            }
            Tree::Select(compare, parts) => {
                let [a, b, yes, no] = parts.each_ref().map(build);
                compare.build(a, b).select(yes, no)
            }
        }
    }
}

fn compare() -> impl Strategy<Value = Compare> {
    proptest::sample::select(&Compare::ALL[..])
}

/// Random expressions that may use the values of `earlier` earlier expressions.
fn tree(earlier: usize) -> impl Strategy<Value = Tree> {
    let mut leaves = vec![
        number().prop_map(Tree::Constant).boxed(),
        (0u64..8).prop_map(Tree::Qword).boxed(),
        (0u64..16).prop_map(Tree::Dword).boxed(),
    ];
    if earlier > 0 {
        leaves.push((0..earlier).prop_map(Tree::Earlier).boxed());
    }
    let leaf = proptest::strategy::Union::new(leaves);
    leaf.prop_recursive(5, 40, 4, |inner| {
        let unary = proptest::sample::select(vec![
            Unary::Not,
            Unary::Negate,
            Unary::Low,
            Unary::High,
            Unary::SignExtended,
        ]);
        let binary = prop_oneof![
            3 => proptest::sample::select(vec![
                Binary::Add,
                Binary::Subtract,
                Binary::And,
                Binary::Or,
                Binary::Xor,
                Binary::Minimum,
                Binary::Maximum
            ]),
            1 => compare().prop_map(Binary::Mask),
            1 => compare().prop_map(Binary::Bit),
        ];
        let shift = proptest::sample::select(vec![
            ByConstant::ShiftLeft,
            ByConstant::ShiftRight,
            ByConstant::ShiftRightSigned,
        ]);
        let by = proptest::sample::select(vec![ByConstant::Multiply, ByConstant::And]);
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            2 => (unary, boxed()).prop_map(|(op, x)| Tree::Unary(op, x)),
            5 => (binary, boxed(), boxed()).prop_map(|(op, a, b)| Tree::Binary(op, a, b)),
            2 => (shift, boxed(), 0u64..66).prop_map(|(op, x, by)| Tree::ByConstant(op, x, by)),
            1 => (by, boxed(), number()).prop_map(|(op, x, by)| Tree::ByConstant(op, x, by)),
            1 => (compare(), inner.clone(), inner.clone(), inner.clone(), inner)
                .prop_map(|(op, a, b, yes, no)| Tree::Select(op, Box::new([a, b, yes, no]))),
        ]
    })
}

/// Four expressions, each of which may use the earlier ones, and whether each is kept in a
/// register.
fn program() -> impl Strategy<Value = Vec<(Tree, bool)>> {
    (tree(0), tree(1), tree(2), tree(3), any::<[bool; 4]>())
        .prop_map(|(a, b, c, d, kept)| [a, b, c, d].into_iter().zip(kept).collect())
}

fn check_program<E: MiEngine>(program: &[(Tree, bool)], inputs: &[u64]) {
    let mut expected: Vec<u64> = Vec::new();
    for (tree, _) in program {
        expected.push(tree.eval(inputs, &expected));
    }
    let mut run = Run::new::<E>(inputs, |mi| {
        let mut values: Vec<Value> = Vec::new();
        for (index, (tree, kept)) in program.iter().enumerate() {
            let value = tree.build(&values);
            let value = if *kept { mi.keep(value)? } else { value };
            mi.store(output(index as u64), &value)?;
            mi.store(output32(64 + index as u64), value.low())?;
            mi.store(output32(96 + index as u64), value.high())?;
            let variable = mi.variable(&value)?;
            mi.store(&variable, &variable ^ &value)?;
            mi.store(output(16 + index as u64), &variable)?;
            values.push(value);
        }
        assert_eq!(
            mi.gprs().free(),
            16 - program
                .iter()
                .zip(&values)
                .filter(|((_, kept), value)| { *kept && value.constant().is_none() })
                .count() as u32
        );
        drop(values);
        assert_eq!(mi.gprs().free(), 16);
        Ok(())
    })
    .unwrap();
    for (index, expected) in expected.into_iter().enumerate() {
        let index = index as u64;
        assert_eq!(run.output(index), expected, "expression {index}");
        let low = run.get(OUTPUT + 4 * (64 + index)) as u32;
        assert_eq!(low, expected as u32, "low half of expression {index}");
        let high = run.get(OUTPUT + 4 * (96 + index)) as u32;
        assert_eq!(high, (expected >> 32) as u32, "high half of expression {index}");
        assert_eq!(run.output(16 + index), 0, "the difference of expression {index} and itself");
    }
    assert_eq!(run.output(4), CANARY);
}

proptest! {
    #[test]
    fn expressions(program in program(), inputs in proptest::collection::vec(number(), 8)) {
        check_program::<Render>(&program, &inputs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn expressions_on_other_engines(program in program(), inputs in proptest::collection::vec(number(), 8)) {
        check_program::<Blitter>(&program, &inputs);
        check_program::<Video>(&program, &inputs);
        check_program::<VideoEnhance>(&program, &inputs);
    }
}
