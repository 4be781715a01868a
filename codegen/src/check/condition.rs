//! Warnings for comparisons of a field with a number that the field cannot hold.

use super::context::{Check, for_each_scope};
use crate::diagnostic::{Code, Diagnostic};
use crate::expr;
use crate::model::{Cond, Container, Expr, Op, Span};
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
        rule_comparisons(check, &rule.require, (&rule.span, "require"));
    }
    for view in &container.views {
        if let Some(condition) = &view.exists_if {
            rule_comparisons(check, condition, (&view.field.span, "exists-if"));
        }
    }
}

/// Does the same as [`comparisons`] for the condition of a rule or view, and also checks `in`.
fn rule_comparisons(check: &mut Check<'_>, condition: &Cond, place: (&Span, &str)) {
    match condition {
        Cond::Number(_) | Cond::Field(_) | Cond::Index | Cond::Role(_) => {}
        Cond::Not(inner) | Cond::Bits(inner, _) => rule_comparisons(check, inner, place),
        Cond::In(inner, ranges) => {
            if let Cond::Field(field) = &**inner
                && let bits = field.end - field.start + 1
                && let Some((first, last)) = ranges.iter().find(|(_, last)| *last > ones(bits))
            {
                // The part of the range that the field cannot hold.
                let beyond = match (*first).max(ones(bits).saturating_add(1)) {
                    first if first == *last => first.to_string(),
                    first => format!("{first}..{last}"),
                };
                let message = format!("`[{}]` is never {beyond}: it has {bits} bits", field.name);
                let place = check.place(place.0, place.1);
                check.report(Diagnostic::new(Code::Never, place, message));
            }
            rule_comparisons(check, inner, place);
        }
        Cond::Last(_, inner) | Cond::Over(_, _, inner) => {
            if let Some(inner) = inner {
                rule_comparisons(check, inner, place);
            }
        }
        Cond::Binary(op, left, right) => {
            let (field, value, order) = match (&**left, &**right) {
                (Cond::Field(field), Cond::Number(value)) => (Some(field), *value, true),
                (Cond::Number(value), Cond::Field(field)) => (Some(field), *value, false),
                _ => (None, 0, true),
            };
            if let (Op::Eq | Op::Ne, Some(field)) = (op, field)
                && value > ones(field.end - field.start + 1)
            {
                let name = format!("[{}]", field.name);
                let (left, right) =
                    if order { (name, value.to_string()) } else { (value.to_string(), name) };
                never(
                    check,
                    *op,
                    &format!("{left} {} {right}", op.symbol()),
                    &field.name,
                    (field.start, field.end),
                    place,
                );
            }
            rule_comparisons(check, left, place);
            rule_comparisons(check, right, place);
        }
    }
}

fn never(
    check: &mut Check<'_>,
    op: Op,
    text: &str,
    name: &str,
    (start, end): (u32, u32),
    (span, attribute): (&Span, &str),
) {
    let outcome = if op == Op::Eq { "never" } else { "always" };
    let message = format!("`{text}` {outcome} holds: `{name}` has {} bits", end - start + 1);
    let place = check.place(span, attribute);
    check.report(Diagnostic::new(Code::Never, place, message));
}

/// Reports `==` and `!=` between a field and a number that has more bits than the field.
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
                never(
                    check,
                    *op,
                    &expr::display(condition),
                    name,
                    (*start, *end),
                    (span, attribute),
                );
            }
            comparisons(check, left, span, attribute);
            comparisons(check, right, span, attribute);
        }
    }
}
