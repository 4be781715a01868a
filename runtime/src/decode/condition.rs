//! Conditions of fields, prepared for evaluation. Nearly all test one small field, so their result
//! is looked up in a table of the field's values.

use genxml_core::bits;
use genxml_core::reflect::Expr;

/// Largest width in bits of a field whose values fit the table.
const SMALL: u32 = 6;

/// When a field exists.
#[derive(Debug)]
pub(super) enum Exists {
    Always,
    If(Test),
    /// The field exists unless one of these conditions holds.
    Unless(Box<[Test]>),
}

impl Exists {
    /// True if a field of the container that starts at bit `base` of `dwords` exists.
    #[inline]
    pub fn holds(&self, dwords: &[u32], base: u32) -> bool {
        match self {
            Exists::Always => true,
            Exists::If(test) => test.holds(dwords, base),
            Exists::Unless(tests) => !tests.iter().any(|test| test.holds(dwords, base)),
        }
    }

    /// Passes first and last bit of every field that the conditions read to `each`.
    pub fn reads(&self, each: &mut dyn FnMut(u32, u32)) {
        let tests = match self {
            Exists::Always => &[],
            Exists::If(test) => std::slice::from_ref(test),
            Exists::Unless(tests) => &tests[..],
        };
        for test in tests {
            match *test {
                Test::Small { start, end, .. } => each(start, end),
                Test::Any(condition) => fields(condition, each),
            }
        }
    }
}

/// A condition.
#[derive(Debug)]
pub(super) enum Test {
    /// A condition on the field at these bits only. It holds for value `n` of the field if bit `n`
    /// of `values` is set.
    Small {
        start: u32,
        end: u32,
        values: u64,
    },
    Any(&'static Expr),
}

impl Test {
    pub fn new(condition: &'static Expr) -> Test {
        let mut field = None;
        if !only(condition, &mut field) {
            return Test::Any(condition);
        }
        let Some((start, end)) = field.filter(|(start, end)| end - start < SMALL) else {
            return Test::Any(condition);
        };
        let holds = |value: &u64| {
            let mut dwords = vec![0; end as usize / 32 + 1];
            bits::put(&mut dwords, start, end, *value);
            condition.holds(&dwords, 0)
        };
        let values =
            (0..1 << (end - start + 1)).filter(holds).fold(0, |set, value| set | 1u64 << value);
        Test::Small { start, end, values }
    }

    #[inline]
    fn holds(&self, dwords: &[u32], base: u32) -> bool {
        match *self {
            Test::Small { start, end, values } => {
                values >> bits::get(dwords, base + start, base + end) & 1 != 0
            }
            Test::Any(condition) => condition.holds(dwords, base),
        }
    }
}

/// Passes first and last bit of every field that the condition reads to `each`.
fn fields(condition: &Expr, each: &mut dyn FnMut(u32, u32)) {
    match *condition {
        Expr::Number(_) => {}
        Expr::Field { start, end, .. } => each(start, end),
        Expr::Not(inner) => fields(inner, each),
        Expr::Binary(_, left, right) => {
            fields(left, each);
            fields(right, each);
        }
    }
}

/// True if the condition reads at most one field; `field` gets the first and last bit of it.
fn only(condition: &Expr, field: &mut Option<(u32, u32)>) -> bool {
    match *condition {
        Expr::Number(_) => true,
        Expr::Field { start, end, .. } => *field.get_or_insert((start, end)) == (start, end),
        Expr::Not(inner) => only(inner, field),
        Expr::Binary(_, left, right) => only(left, field) && only(right, field),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use genxml_core::reflect::Op;

    const FIELD: Expr = Expr::Field { name: "Field", start: 34, end: 36 };
    const OTHER: Expr = Expr::Field { name: "Other", start: 0, end: 0 };

    /// Oracle: evaluating the condition itself.
    #[test]
    fn a_table_says_the_same() {
        static CONDITIONS: [Expr; 5] = [
            FIELD,
            Expr::Not(&FIELD),
            Expr::Binary(Op::Eq, &FIELD, &Expr::Number(5)),
            Expr::Binary(
                Op::Or,
                &Expr::Binary(Op::Gt, &FIELD, &Expr::Number(6)),
                &Expr::Binary(Op::Lt, &FIELD, &Expr::Number(2)),
            ),
            Expr::Binary(Op::And, &FIELD, &OTHER),
        ];
        for condition in &CONDITIONS {
            let test = Test::new(condition);
            let small = !matches!(condition, Expr::Binary(Op::And, ..));
            assert_eq!(matches!(test, Test::Small { .. }), small, "{condition:?}");
            for value in 0..8 {
                for base in [0, 5, 32] {
                    let mut dwords = [1 << (base % 32), 0, 0];
                    bits::put(&mut dwords, base + 34, base + 36, value);
                    assert_eq!(
                        test.holds(&dwords, base),
                        condition.holds(&dwords, base),
                        "{condition:?} {value}"
                    );
                }
            }
        }
    }
}
