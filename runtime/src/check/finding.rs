//! A violation: its position, and the values that cause it.

use super::fields;
use super::quote::Quote;
use super::tracker::Now;
use crate::decode::Issue;
use crate::engine::EngineId;
use genxml_core::reflect::Container;
use genxml_core::rule::{Base, Cond, Facts, FieldRef, Frame, Quantifier, Rule, Severity};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A violation of a rule.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Its severity: the rule's, unless it was changed.
    pub severity: Severity,
    /// The container that violates it.
    pub container: &'static Container,
    /// Number of the submission, in captures.
    pub submission: Option<u64>,
    /// The engine.
    pub engine: EngineId,
    /// GPU address of the violation; the offset of a register; for a part of an instruction the
    /// address of the instruction.
    pub address: u64,
    /// Index in the array, if it is an element of one.
    pub index: Option<u32>,
    /// Start address of the batch.
    pub batch: u64,
    /// Name and address of the packet itself, or of the one that points here.
    pub packet: (&'static str, u64),
    /// The values that the condition uses.
    pub operands: Vec<Operand>,
    /// For the rules about single fields (`FIELD-RANGE` and so on): the issue of the field, which
    /// is the only operand.
    pub issue: Option<Issue>,
    /// The instruction, if the violation is in one.
    pub instruction: Option<InKernel>,
    /// For the validator of instructions: the values in words, and a hint.
    pub validated: Option<Validated>,
    /// The packets around it; `None` outside a batch.
    pub quote: Option<Arc<Quote>>,
}

/// A violation reported by the validator of instructions ([`genxml_eu::validate`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validated {
    /// The operand and its values.
    pub values: String,
    /// A hint what to do.
    pub hint: &'static str,
}

impl Finding {
    /// The condition that does not hold.
    pub fn required(&self) -> Cow<'static, str> {
        match (self.issue, self.operands.first()) {
            (Some(issue), Some(field)) => fields::required(issue, &field.name).into(),
            _ => self.rule.text.into(),
        }
    }

    /// Volume and page of the manual; for a single field those of its container.
    pub fn source(&self) -> &'static str {
        match self.issue {
            Some(_) => self.container.source,
            None => self.rule.source,
        }
    }
}

/// An instruction of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InKernel {
    /// GPU address of the kernel.
    pub kernel: u64,
    /// Bytes from there to the instruction.
    pub offset: u64,
    /// The disassembled instruction, or why it cannot be disassembled.
    pub text: String,
}

impl InKernel {
    /// The instruction at `offset` of a kernel with these bytes.
    pub(super) fn new(kernel: u64, bytes: &[u8], offset: u64) -> InKernel {
        let rest =
            usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
        let text = match genxml_eu::instructions(rest).next() {
            Some(Ok(located)) => located.instruction.to_string(),
            Some(Err(error)) => format!("({}) {}", error.raw, error.problem),
            None => String::new(),
        };
        InKernel { kernel, offset, text: text.split_whitespace().collect::<Vec<_>>().join(" ") }
    }
}

impl fmt::Display for InKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {:#x} +{:#x}: {}", self.kernel, self.offset, self.text)
    }
}

/// A value that a condition uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// The field as in the condition, elements of groups with their index; or a function.
    pub name: String,
    /// The stored bits, or the function's value; `None` if it is unknown.
    pub value: Option<u64>,
    /// The name of the value.
    pub text: Option<&'static str>,
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = ", self.name)?;
        match (self.value, self.text) {
            (Some(value), Some(text)) => write!(f, "{value} ({text})"),
            (Some(value), None) if value > 9 => write!(f, "{value} ({value:#x})"),
            (Some(value), None) => write!(f, "{value}"),
            (None, _) => f.write_str("unknown"),
        }
    }
}

/// One line: severity, id, position and problem.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.severity.name(), self.rule.id, self.container.name)?;
        if let Some(index) = self.index {
            write!(f, " [{index}]")?;
        }
        write!(f, " at {:#x}", self.address)?;
        if let Some(submission) = self.submission {
            write!(f, " (exec {submission})")?;
        }
        if let Some(instruction) = &self.instruction {
            write!(f, " ({instruction})")?;
        }
        write!(f, ": {}", self.rule.message)?;
        match (self.issue, self.operands.first(), &self.validated) {
            (Some(_), Some(field), _) => write!(f, ": {field}"),
            (.., Some(validated)) => write!(f, ": {}", validated.values),
            _ => Ok(()),
        }
    }
}

/// The position of the checker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Position {
    pub submission: Option<u64>,
    pub engine: EngineId,
    pub batch: u64,
    pub packet: (&'static str, u64),
}

impl Position {
    pub fn new(engine: EngineId) -> Position {
        Position { submission: None, engine, batch: 0, packet: ("", 0) }
    }
}

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

    /// `path` names the enclosing elements, outermost first.
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
                // Only the element that decides the result, if there is one.
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
