//! Checks of variant sets: all fields of an alternative have the same condition, at most one
//! alternative has none, and no two conditions hold at once.

use super::context::{Check, for_each_scope};
use crate::diagnostic::{Code, Diagnostic};
use crate::expr;
use crate::model::{Container, Expr, Field, Span};

/// Maximum number of bits whose values are all tried, to find two conditions that hold together.
const TRIED_BITS: usize = 14;

struct Alternative<'a> {
    name: &'a str,
    condition: Option<&'a Expr>,
    span: &'a Span,
}

pub(super) fn check(check: &mut Check<'_>, container: &Container) {
    for_each_scope(container, &mut |scope| {
        let mut sets: Vec<&str> = scope
            .fields
            .iter()
            .filter_map(|field| field.variant.as_ref())
            .map(|(set, _)| set.as_str())
            .collect();
        sets.sort_unstable();
        sets.dedup();
        for set in sets {
            let alternatives = alternatives(check, scope.fields, set);
            fallbacks(check, set, &alternatives);
            exclusion(check, set, &alternatives);
        }
    });
}

/// Returns the alternatives of a set in the order of the file. Reports an alternative whose fields
/// have different conditions.
fn alternatives<'a>(check: &mut Check<'_>, fields: &'a [Field], set: &str) -> Vec<Alternative<'a>> {
    let mut members: Vec<(&str, &Field)> = fields
        .iter()
        .filter_map(|field| match &field.variant {
            Some((name, alternative)) if name == set => Some((alternative.as_str(), field)),
            _ => None,
        })
        .collect();
    members.sort_by_key(|(_, field)| field.span.range.start);
    let mut found: Vec<Alternative<'a>> = Vec::new();
    for (name, field) in members {
        let condition = field.exists_if.as_ref();
        match found.iter().find(|alternative| alternative.name == name) {
            None => found.push(Alternative { name, condition, span: &field.span }),
            Some(first) if first.condition == condition => {}
            Some(first) => {
                let show = |condition: Option<&Expr>| {
                    condition.map_or("no condition".to_owned(), expr::display)
                };
                let message =
                    format!("fields of alternative `{set}/{name}` have different conditions");
                let place = check.place(&field.span, "exists-if");
                let also = check.place(first.span, "exists-if");
                check.report(
                    Diagnostic::new(Code::Variant, place, message)
                        .label(show(condition))
                        .also(also, show(first.condition)),
                );
            }
        }
    }
    found
}

fn fallbacks(check: &mut Check<'_>, set: &str, alternatives: &[Alternative<'_>]) {
    let mut fallbacks = alternatives.iter().filter(|alternative| alternative.condition.is_none());
    let Some(first) = fallbacks.next() else { return };
    for other in fallbacks {
        let message =
            format!("`{}` and `{}` of `{set}` both have no condition", first.name, other.name);
        check.report(
            Diagnostic::new(Code::Variant, other.span.clone(), message)
                .also(first.span.clone(), "first here")
                .hint(
                    "one alternative may be without `exists-if`: it is taken when no other holds",
                ),
        );
    }
}

/// Reports two alternatives whose conditions can hold together, with an example. It tries every
/// value of the fields that the conditions name.
fn exclusion(check: &mut Check<'_>, set: &str, alternatives: &[Alternative<'_>]) {
    let conditions: Vec<(&Alternative<'_>, &Expr)> =
        alternatives.iter().filter_map(|one| Some((one, one.condition?))).collect();
    for (index, (one, first)) in conditions.iter().enumerate() {
        for (two, second) in &conditions[index + 1..] {
            let mut fields = Vec::new();
            collect(first, &mut fields);
            collect(second, &mut fields);
            let Some(example) = both(first, second, &fields) else { continue };
            let place = check.place(two.span, "exists-if");
            let also = check.place(one.span, "exists-if");
            let message =
                format!("`{}` and `{}` of `{set}` can hold at once: {example}", one.name, two.name);
            check.report(Diagnostic::new(Code::Variant, place, message).also(also, "and this"));
        }
    }
}

fn collect<'a>(expr: &'a Expr, into: &mut Vec<(&'a str, u32, u32)>) {
    match expr {
        Expr::Number(_) => {}
        Expr::Field { name, start, end } => {
            if !into.iter().any(|(_, s, e)| (s, e) == (start, end)) {
                into.push((name, *start, *end));
            }
        }
        Expr::Not(inner) => collect(inner, into),
        Expr::Binary(_, left, right) => {
            collect(left, into);
            collect(right, into);
        }
    }
}

/// An example of field values for which both conditions hold. With more than [`TRIED_BITS`] bits,
/// only equal conditions are found.
fn both(first: &Expr, second: &Expr, fields: &[(&str, u32, u32)]) -> Option<String> {
    if fields.iter().any(|(_, start, end)| (end - start) as usize >= TRIED_BITS) {
        return (first == second).then(|| "the conditions are the same".to_owned());
    }
    let mut bits: Vec<u32> = fields.iter().flat_map(|(_, start, end)| *start..=*end).collect();
    bits.sort_unstable();
    bits.dedup();
    if bits.len() > TRIED_BITS {
        return (first == second).then(|| "the conditions are the same".to_owned());
    }
    let read = |word: u32, start: u32, end: u32| -> u64 {
        (start..=end)
            .map(|bit| {
                let at = bits.binary_search(&bit).unwrap_or(0);
                u64::from(word >> at & 1) << (bit - start)
            })
            .sum()
    };
    (0..1u32 << bits.len())
        .find(|word| {
            let read = |start, end| read(*word, start, end);
            first.eval(&read) != 0 && second.eval(&read) != 0
        })
        .map(|word| {
            let values = fields
                .iter()
                .map(|(name, start, end)| format!("[{name}] = {}", read(word, *start, *end)));
            values.collect::<Vec<_>>().join(", ")
        })
}
