//! What the manual forbids in kernels, and what a compiler should not do.
//!
//! A [`Rule`] is data: an id that stays, a severity, the page, what must hold, what to do, and a
//! function that looks. Rules stand in families, one file each:
//!
//! * `operands`: types, modifiers, immediates, architecture registers, accumulators
//! * `region`: regions of sources and destinations, the channels of an instruction, Align16
//! * `special`: conversions and half floats, comparisons, dot products, lines and planes, math,
//!   three sources
//! * `send`: messages, thread control
//! * `flow`: jumps and structured control flow over a whole kernel
//! * `encoding`: dwords that are no instruction, bits that mean nothing
//!
//! Errors are what hardware refuses or leaves undefined, by the manual; warnings what works but
//! should not be done, or what the manual forbids and kernels of drivers do all the same (the rule
//! says so). What single messages want of their descriptors and payloads is in the specification's
//! rules (`genx check`).
//!
//! ```
//! use genxml_eu::instruction::{DataType, Destination, Operand, Region, Register, Source};
//! use genxml_eu::{Instruction, Opcode, validate};
//!
//! let mut mov = Instruction::new(Opcode::Mov, 8);
//! let words = Source::new(Register::grf(4), DataType::W, Region::new(4, 8, 1));
//! mov.destination = Some(Destination::new(Register::grf(6), DataType::W));
//! mov.sources[0] = Operand::Register(words);
//! let found = validate::instruction(&mov);
//! assert_eq!(found[0].rule.id, "EU-REGION-VSTRIDE");
//! assert!(found[0].to_string().contains("src0: <4;8,1>"));
//! ```

mod encoding;
mod flow;
mod operands;
mod region;
mod send;
mod slots;
mod special;
mod view;

use crate::instruction::Instruction;
use crate::native::{Native, natives};
use crate::ops::Opcode;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
pub use genxml_core::rule::Severity;
use slots::Slots;
use view::View;

/// A restriction.
#[derive(Debug)]
pub struct Rule {
    /// Stable identifier.
    pub id: &'static str,
    /// How bad a violation is.
    pub severity: Severity,
    /// What must hold.
    pub text: &'static str,
    /// What to do if it does not.
    pub hint: &'static str,
    /// Volume and page of the manual, or where else it is written down.
    pub source: &'static str,
    check: Check,
}

/// Two rules are equal if they are one: rules are statics.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

/// How a rule looks for violations.
#[derive(Debug, Clone, Copy)]
enum Check {
    /// At an instruction by itself.
    Instruction(fn(&View<'_>, &mut Report<'_>)),
    /// At the 16 bytes of an instruction.
    Native(fn(&Native, &mut Report<'_>)),
    /// At a whole kernel.
    Kernel(fn(&Slots, &mut Report<'_>)),
}

const fn error(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    hint: &'static str,
    check: Check,
) -> Rule {
    Rule { id, severity: Severity::Error, text, hint, source, check }
}

const fn warning(
    id: &'static str,
    source: &'static str,
    text: &'static str,
    hint: &'static str,
    check: Check,
) -> Rule {
    Rule { id, severity: Severity::Warning, text, hint, source, check }
}

static FAMILIES: [&[Rule]; 6] =
    [encoding::RULES, operands::RULES, region::RULES, special::RULES, send::RULES, flow::RULES];

/// Every rule, family by family.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().copied().flatten()
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// The part of an instruction that is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Place {
    /// The whole instruction.
    Instruction,
    /// The destination.
    Destination,
    /// A source, from 0 on.
    Source(u8),
    /// The jump distance JIP.
    Jip,
    /// The jump distance UIP.
    Uip,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Instruction => Ok(()),
            Place::Destination => f.write_str("dst: "),
            Place::Source(number) => write!(f, "src{number}: "),
            Place::Jip => f.write_str("jip: "),
            Place::Uip => f.write_str("uip: "),
        }
    }
}

/// A violation.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Byte position of the instruction in the kernel.
    pub position: u64,
    /// The instruction, if it can be decoded.
    pub instruction: Option<Instruction>,
    /// Which part of it.
    pub place: Place,
    /// The values that break the rule.
    pub values: String,
}

/// One line: severity, id, position, instruction, what must hold, the values, what to do.
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

/// Takes what a rule finds.
struct Report<'a> {
    rule: &'static Rule,
    position: u64,
    instruction: Option<&'a Instruction>,
    findings: &'a mut Vec<Finding>,
}

impl Report<'_> {
    /// Something is wrong with the instruction at hand.
    fn add(&mut self, place: Place, values: fmt::Arguments<'_>) {
        self.at(self.position, self.instruction, place, values);
    }

    /// Something is wrong with this instruction of the kernel.
    fn at(
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

/// What an instruction by itself breaks, in the order of the rules.
pub fn instruction(instruction: &Instruction) -> Vec<Finding> {
    let mut findings = Vec::new();
    look(instruction, 0, &mut findings);
    findings
}

fn look(instruction: &Instruction, position: u64, findings: &mut Vec<Finding>) {
    let view = View::new(instruction);
    for rule in rules() {
        if let Check::Instruction(check) = rule.check {
            let mut report = Report { rule, position, instruction: Some(instruction), findings };
            check(&view, &mut report);
        }
    }
}

/// What a kernel breaks, by position. `bytes` are the instructions from the first to the last.
/// Where nothing leads to, zeros are padding and undefined operations data: they do not count.
pub fn kernel(bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let slots = Slots::new(bytes);
    for (slot, reached) in slots.all().iter().zip(&slots.reached) {
        if let Ok(instruction) = &slot.instruction
            && (*reached || instruction.opcode != Opcode::Illegal)
        {
            look(instruction, slot.position, &mut findings);
        }
    }
    for rule in rules() {
        let mut report = Report { rule, position: 0, instruction: None, findings: &mut findings };
        match rule.check {
            Check::Instruction(_) => {}
            Check::Kernel(check) => check(&slots, &mut report),
            Check::Native(check) => {
                for native in natives(bytes) {
                    (report.position, report.instruction) =
                        (native.position, slots.at(native.position));
                    check(&native, &mut report);
                }
            }
        }
    }
    findings.sort_by_key(|finding| finding.position);
    findings
}

/// True if nothing in the kernel is undefined: no finding is an error.
pub fn is_valid(bytes: &[u8]) -> bool {
    kernel(bytes).iter().all(|finding| finding.rule.severity != Severity::Error)
}
