//! Conditions that say something, but not what was meant.

use super::{Check, for_each_scope};
use crate::diagnostic::{Code, Diagnostic};
use crate::expr;
use crate::model::{Container, Expr, Op, Span};
use crate::value::ones;

pub(super) fn check(check: &mut Check<'_>, container: &Container) {
    for_each_scope(container, &mut |scope| {
        for field in scope.fields {
            if let Some(condition) = &field.exists_if {
                comparisons(check, condition, &field.span, "exists-if");
            }
        }
    });
    for rule in &container.rules {
        comparisons(check, &rule.require, &rule.span, "require");
    }
}

/// Reports comparisons of a field with a number that has more bits than the field.
fn comparisons(check: &mut Check<'_>, condition: &Expr, span: &Span, attribute: &str) {
    match condition {
        Expr::Number(_) | Expr::Field { .. } => {}
        Expr::Not(inner) => comparisons(check, inner, span, attribute),
        Expr::Binary(op, left, right) => {
            if let (Op::Eq | Op::Ne, Expr::Field { name, start, end }, Expr::Number(value))
            | (Op::Eq | Op::Ne, Expr::Number(value), Expr::Field { name, start, end }) =
                (op, &**left, &**right)
                && *value > ones(end - start + 1)
            {
                let outcome = if *op == Op::Eq { "never" } else { "always" };
                let bits = end - start + 1;
                let message =
                    format!("`{}` {outcome} holds: `{name}` has {bits} bits", expr::display(condition));
                let place = check.place(span, attribute);
                check.report(Diagnostic::new(Code::Never, place, message));
            }
            comparisons(check, left, span, attribute);
            comparisons(check, right, span, attribute);
        }
    }
}
