//! Rules about single fields: values out of range, reserved bits, values without a name.
//!
//! The decoder reports these as [`Issue`]s. Each kind of issue has a rule here, so that findings,
//! severities and explanations work as for the rules of the specification.

use super::operand::Operand;
use crate::decode::{Issue, Item};
use genxml_core::rule::{Cond, Rule, Severity};
use std::fmt::Write as _;

/// One rule for each kind of issue. These rules apply to the fields of every container.
pub(super) static RULES: [Rule; 5] = [
    rule(
        "FIELD-RANGE",
        Severity::Error,
        "the value of each field with a range is inside the range",
        "a value is outside the range that the manual gives for the field",
    ),
    rule(
        "FIELD-MBZ",
        Severity::Error,
        "each field of type mbz is 0",
        "bits are set that the manual wants to be zero",
    ),
    rule(
        "FIELD-MBO",
        Severity::Error,
        "each field of type mbo has all bits set",
        "bits are not set that the manual wants to be one",
    ),
    rule(
        "FIELD-RESERVED",
        Severity::Warning,
        "each field of type reserved is 0",
        "reserved bits are set",
    ),
    rule(
        "FIELD-VALUE",
        Severity::Warning,
        "each field with named values has one of them, or 0",
        "the manual has no such value of the field",
    ),
];

const fn rule(
    id: &'static str,
    severity: Severity,
    text: &'static str,
    message: &'static str,
) -> Rule {
    // The decoder finds the violations.
    Rule { id, severity, require: Cond::Number(1), text, message, source: "" }
}

/// The index in [`RULES`] of the rule that an issue violates.
pub(super) fn index(issue: Issue) -> usize {
    match issue {
        Issue::OutOfRange { .. } => 0,
        Issue::MustBeZero => 1,
        Issue::MustBeOne => 2,
        Issue::ReservedSet => 3,
        Issue::UnknownValue => 4,
    }
}

/// Removes the issue of a field of a message if it is one of two: reserved bits are set (encoders
/// differ in them), or a binding table index has no name.
pub(super) fn of_message(item: &mut Item) {
    match item.issue {
        Some(Issue::ReservedSet) => item.issue = None,
        Some(Issue::UnknownValue) if item.name == "Binding Table Index" => item.issue = None,
        _ => {}
    }
}

/// The field `items[at]`, which has an issue, as an operand: its name as conditions write it, and
/// its value. `inside` names the fields that hold all items, outermost first.
pub(super) fn operand(items: &[Item], at: usize, inside: &[&'static str]) -> Operand {
    let item = &items[at];
    let mut path: Vec<String> = Vec::new();
    let mut depth = item.depth;
    for outer in items[..at].iter().rev() {
        if outer.depth < depth {
            depth = outer.depth;
            path.push(part(outer));
        }
    }
    path.extend(inside.iter().rev().map(|name| (*name).to_owned()));
    path.reverse();
    path.push(part(item));
    Operand { name: format!("[{}]", path.join(".")), value: Some(item.stored), text: None }
}

/// The name of an item, with its index in an array. Reserved fields share one name, so their bits
/// are added.
fn part(item: &Item) -> String {
    let mut name = item.name.to_owned();
    if let Some(index) = item.index {
        _ = write!(name, "[{index}]");
    }
    if matches!(item.value, crate::decode::Value::Reserved) {
        let (first, last) = (item.start % 32, item.end - item.start / 32 * 32);
        _ = write!(name, " dw{} {last}:{first}", item.start / 32);
    }
    name
}

/// The condition that the field does not meet.
pub(super) fn required(issue: Issue, name: &str) -> String {
    match issue {
        Issue::OutOfRange { min, max } => format!("{name} in {{{min}..{max}}}"),
        Issue::MustBeZero | Issue::ReservedSet => format!("{name} == 0"),
        Issue::MustBeOne => format!("all bits of {name} are 1"),
        Issue::UnknownValue => format!("a value of {name} that has a name"),
    }
}
