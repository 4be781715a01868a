//! The values that a violated rule uses.

use super::operand::Operand;
use super::tracker::Now;
use genxml_core::rule::{Base, Cond, Facts, FieldRef, Frame, Quantifier, Rule};

/// The values that a violated rule uses, and the bits of the container's own fields among them.
/// `inside` names the fields that hold the container, outermost first.
pub(super) fn operands(
    rule: &Rule,
    frame: &Frame<'_>,
    facts: &Now<'_>,
    inside: &[&'static str],
) -> (Vec<Operand>, Vec<(u32, u32)>) {
    let mut operands = Operands { facts, inside, found: Vec::new(), bits: Vec::new() };
    operands.collect(&rule.require, frame, &[]);
    (operands.found, operands.bits)
}

struct Operands<'a> {
    facts: &'a Now<'a>,
    inside: &'a [&'static str],
    found: Vec<Operand>,
    bits: Vec<(u32, u32)>,
}

impl Operands<'_> {
    fn push(&mut self, name: String, value: Option<u64>, text: Option<&'static str>) {
        if !self.found.iter().any(|operand| operand.name == name) {
            self.found.push(Operand { name, value, text });
        }
    }

    /// Adds the values that `cond` reads. `path` names the enclosing elements, outermost first.
    fn collect(&mut self, cond: &Cond, frame: &Frame<'_>, path: &[String]) {
        match cond {
            Cond::Number(_) | Cond::Index => {}
            Cond::Field(field) => self.field(field, frame, path),
            Cond::Not(inner) | Cond::In(inner, _) | Cond::Bits(inner, _) => {
                self.collect(inner, frame, path)
            }
            Cond::Binary(_, left, right) => {
                self.collect(left, frame, path);
                self.collect(right, frame, path);
            }
            Cond::Last(index) => {
                let name = format!("last({})", self.facts.rules.last_name(*index));
                let value = self.facts.last(*index);
                let alone = self.facts.rules.lasts[usize::from(*index)].condition.is_none();
                let name = if alone { name } else { name.replace(')', ", ...)") };
                self.push(name, value, (value == Some(0)).then_some("never"));
            }
            Cond::Role(role) => {
                let value = self.facts.role(*role).map(u64::from);
                self.push(format!("role({})", role.name()), value, None);
            }
            Cond::Over(what, group, body) => {
                // If one element decides the result, only its values are listed.
                let mut decided = false;
                if *what == Quantifier::All {
                    let facts = self.facts;
                    let mut at = 0;
                    group.elements(frame, facts, &mut |element| {
                        decided = body.eval(element, facts) == Some(0);
                        if decided {
                            let mut path = path.to_vec();
                            path.push(format!("{}[{at}]", group.name));
                            self.collect(body, element, &path);
                        }
                        at += 1;
                        !decided
                    });
                }
                if !decided {
                    let value = cond.eval(frame, self.facts);
                    let name = match what {
                        Quantifier::Count => format!("count({})", group.name),
                        _ => format!("{}({}, ...)", what.name(), group.name),
                    };
                    self.push(name, value, None);
                }
            }
        }
    }

    fn field(&mut self, field: &FieldRef, frame: &Frame<'_>, path: &[String]) {
        if let (Base::Own(_), []) = (field.base, path) {
            self.bits.push((field.start, field.end));
        }
        let value = field.get(frame, self.facts);
        let text = value.zip(field.list).and_then(|(value, list)| list.name_of(value));
        let name = match field.base {
            Base::Own(outward) => {
                let inside = path.len().saturating_sub(outward.into());
                let mut parts = self.inside.to_vec();
                parts.extend(path[..inside].iter().map(String::as_str));
                parts.push(field.name);
                format!("[{}]", parts.join("."))
            }
            Base::State(_) => format!("[{}]", field.name),
        };
        self.push(name, value, text);
    }
}
