//! Rules, findings, and the collection of findings.

use super::place::Place;
use super::slots::Slots;
use super::view::View;
use crate::instruction::Instruction;
use crate::native::Native;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use genxml_core::rule::Severity;

/// A restriction that the validator checks.
#[derive(Debug)]
pub struct Rule {
    /// Stable identifier.
    pub id: &'static str,
    /// Severity of a violation.
    pub severity: Severity,
    /// The condition that must hold.
    pub text: &'static str,
    /// Advice for correcting a violation.
    pub hint: &'static str,
    /// Volume and page of the manual, or another source.
    pub source: &'static str,
    pub(super) check: Check,
}

/// Rules are compared by id.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

/// The check function of a rule.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// Checks a single instruction.
    Instruction(fn(&View<'_>, &mut Report<'_>)),
    /// Checks the 16 bytes of an instruction.
    Native(fn(&Native, &mut Report<'_>)),
    /// Checks a whole kernel.
    Kernel(fn(&Slots, &mut Report<'_>)),
}

/// A rule whose violations are errors.
pub(super) const fn error(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    hint: &'static str,
    check: Check,
) -> Rule {
    Rule { id, severity: Severity::Error, text, hint, source, check }
}

/// A rule whose violations are warnings.
pub(super) const fn warning(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    hint: &'static str,
    check: Check,
) -> Rule {
    Rule { id, severity: Severity::Warning, text, hint, source, check }
}

/// A violation.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Byte offset of the instruction in the kernel.
    pub position: u64,
    /// The instruction, if it can be decoded.
    pub instruction: Option<Instruction>,
    /// The part of the instruction that is wrong.
    pub place: Place,
    /// The values that break the rule.
    pub values: String,
}

/// One line: severity, id, position, instruction, condition, values, hint.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {:#x}", self.rule.severity.name(), self.rule.id, self.position)?;
        if let Some(instruction) = &self.instruction {
            let text = instruction.to_string();
            f.write_str(" (")?;
            for (index, word) in text.split_whitespace().enumerate() {
                write!(f, "{}{word}", if index > 0 { " " } else { "" })?;
            }
            f.write_str(")")?;
        }
        write!(f, ": {}: {}{}; {}", self.rule.text, self.place, self.values, self.rule.hint)
    }
}

/// Collects the findings of a rule.
pub(super) struct Report<'a> {
    pub rule: &'static Rule,
    pub position: u64,
    pub instruction: Option<&'a Instruction>,
    pub findings: &'a mut Vec<Finding>,
}

impl Report<'_> {
    /// Adds a finding for the current instruction.
    pub fn add(&mut self, place: Place, values: fmt::Arguments<'_>) {
        self.at(self.position, self.instruction, place, values);
    }

    /// Adds a finding for the given instruction of the kernel.
    pub fn at(
        &mut self,
        position: u64,
        instruction: Option<&Instruction>,
        place: Place,
        values: fmt::Arguments<'_>,
    ) {
        self.findings.push(Finding {
            rule: self.rule,
            position,
            instruction: instruction.copied(),
            place,
            values: values.to_string(),
        });
    }
}
