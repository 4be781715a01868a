//! A violation: its position, and the values that cause it.

use super::fields;
use super::operand::Operand;
use super::quote::Quote;
use crate::decode::Issue;
use crate::engine::EngineId;
use genxml_core::reflect::Container;
use genxml_core::rule::{Rule, Severity};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A violation of a rule.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Severity of the finding: that of the rule, unless the program changed it.
    pub severity: Severity,
    /// The container that violates the rule.
    pub container: &'static Container,
    /// Number of the submission, if the batch is from a dump.
    pub submission: Option<u64>,
    /// The engine.
    pub engine: EngineId,
    /// GPU address of the violation. For a register, the register's offset; for a part of an
    /// instruction, the instruction's address.
    pub address: u64,
    /// Index of the container in its array, if it is an element of an array.
    pub index: Option<u32>,
    /// Start address of the batch.
    pub batch: u64,
    /// Name and address of the packet that violates the rule, or of the packet that points to the
    /// violating structure.
    pub packet: (&'static str, u64),
    /// The values that the condition uses.
    pub operands: Vec<Operand>,
    /// For the rules about single fields (`FIELD-RANGE` and so on): the issue of the field, which
    /// is the only operand.
    pub issue: Option<Issue>,
    /// The instruction, if the violation is in one.
    pub instruction: Option<InKernel>,
    /// For a finding of the validator of instructions: the values in words, and a hint.
    pub validated: Option<Validated>,
    /// The packets around the violation; `None` outside a batch.
    pub quote: Option<Arc<Quote>>,
}

/// A violation reported by the validator of instructions ([`genxml_eu::validate`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validated {
    /// The operand and its values.
    pub values: String,
    /// A hint on how to fix the instruction.
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
    /// Bytes from the start of the kernel to the instruction.
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

/// A condition with this many bytes or more is not printed with its finding.
const LONG: usize = 200;

impl Finding {
    /// The condition, unless it is too long to be read at one glance. Findings of the validator have
    /// no condition; they contain advice.
    fn short_condition(&self) -> Option<Cow<'static, str>> {
        let required = self.required();
        (self.validated.is_none() && required.len() < LONG).then_some(required)
    }

    /// True if the alternate form leaves out the condition because it is long.
    pub fn hides_condition(&self) -> bool {
        self.validated.is_none() && self.short_condition().is_none()
    }

    /// Writes the problem with its page, the position, the values, and what to do.
    fn lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.source();
        write!(f, "{} {}: {}", self.severity.name(), self.rule.id, self.rule.message)?;
        if !source.is_empty() {
            write!(f, " ({source})")?;
        }
        write!(f, "\n  at {:#x}: {}", self.address, self.container.name)?;
        if let Some(index) = self.index {
            write!(f, " [{index}]")?;
        }
        let (packet, address) = self.packet;
        if packet != self.container.name {
            write!(f, ", of {packet} at {address:#x}")?;
        }
        if let Some(submission) = self.submission {
            write!(f, "; exec {submission}, {} engine", self.engine)?;
        } else {
            write!(f, "; {} engine", self.engine)?;
        }
        if let Some(instruction) = &self.instruction {
            write!(f, "\n  in {instruction}")?;
        }
        for operand in &self.operands {
            write!(f, "\n    {operand}")?;
        }
        if let Some(validated) = &self.validated {
            write!(f, "\n    {}\n  do: {}", validated.values, validated.hint)?;
        }
        if let Some(required) = self.short_condition() {
            write!(f, "\n  required: {required}")?;
        }
        Ok(())
    }
}

/// One line: severity, id, position and problem. The alternate form (`{:#}`) has more lines: the
/// page of the manual, the packet around the position, the values that cause the finding, and the
/// condition or what to do.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return self.lines(f);
        }
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

/// The position of the checker in the dump.
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
