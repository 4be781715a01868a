//! The validator of kernels. It reports instructions that the manual forbids, or that a compiler
//! should avoid.
//!
//! A [`Rule`] is data: a stable id, a severity, the page, the condition that must hold, a hint, and
//! a check function. Rules are grouped in families, one file each:
//!
//! * `operands`: types, modifiers, immediates, architecture registers, accumulators
//! * `region`: regions of sources and destinations, the channels of an instruction, Align16
//! * `special`: conversions and half floats, comparisons, dot products, `line` and `pln`, math,
//!   three-source instructions
//! * `send`: messages, thread control
//! * `flow`: jumps and structured control flow over a whole kernel
//! * `encoding`: dwords that cannot be decoded, unused bits that are set
//!
//! Gen4, G45 and Gen5 have rules of their own, in `gen4`; see [`kernel_on`].
//!
//! An error is something that hardware refuses, or whose behaviour the manual leaves undefined. A
//! warning is something that works but should be avoided. Some warnings are about things that the
//! manual forbids but kernels of drivers do; the text of the rule then says so. Restrictions on
//! descriptors and payloads of single messages are in the rules of the specification (`genx
//! check`).
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
mod gen4;
mod operands;
mod place;
mod region;
mod rule;
mod send;
mod slots;
mod special;
mod view;

use crate::generation::Generation;
use crate::instruction::Instruction;
use crate::native::natives;
use crate::ops::Opcode;
use alloc::vec::Vec;
use rule::{Check, Report};
use slots::Slots;
use view::View;

pub use genxml_core::rule::Severity;
pub use place::Place;
pub use rule::{Finding, Rule};

static FAMILIES: [&[Rule]; 6] =
    [encoding::RULES, operands::RULES, region::RULES, special::RULES, send::RULES, flow::RULES];

/// All rules, family by family.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().copied().flatten()
}

/// The rule with this id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// Checks a single instruction. The findings are in the order of the rules.
pub fn instruction(instruction: &Instruction) -> Vec<Finding> {
    let mut findings = Vec::new();
    check_instruction(instruction, 0, &mut findings);
    findings
}

fn check_instruction(instruction: &Instruction, position: u64, findings: &mut Vec<Finding>) {
    let view = View::new(instruction);
    for rule in rules() {
        if let Check::Instruction(check) = rule.check {
            let mut report = Report { rule, position, instruction: Some(instruction), findings };
            check(&view, &mut report);
        }
    }
}

/// Checks a kernel. The findings are ordered by position. `bytes` are the instructions from the
/// first to the last. In unreachable code, zeros are padding and undefined operations are data;
/// they are not checked.
pub fn kernel(bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let slots = Slots::new(bytes);
    for (slot, reached) in slots.all().iter().zip(&slots.reached) {
        if let Ok(instruction) = &slot.instruction
            && (*reached || instruction.opcode != Opcode::Illegal)
        {
            check_instruction(instruction, slot.position, &mut findings);
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

/// The rules of a generation; none if the validator does not know it.
pub fn rules_on(generation: Generation) -> Vec<&'static Rule> {
    match generation {
        Generation::Gen8 => rules().collect(),
        generation if generation.has_message_registers() => gen4::RULES.iter().collect(),
        _ => Vec::new(),
    }
}

/// As [`kernel`], for a kernel of Gen4, G45, Gen5 or Gen8. `None` for any other generation, whose
/// rules the validator does not know.
pub fn kernel_on(generation: Generation, bytes: &[u8]) -> Option<Vec<Finding>> {
    match generation {
        Generation::Gen8 => Some(kernel(bytes)),
        generation if generation.has_message_registers() => Some(gen4::kernel(generation, bytes)),
        _ => None,
    }
}

/// True if no finding of the kernel is an error.
pub fn is_valid(bytes: &[u8]) -> bool {
    kernel(bytes).iter().all(|finding| finding.rule.severity != Severity::Error)
}
