//! Rules of Gen4, G45 and Gen5. Sources are lines of the transcription of volume 4 of the G45
//! manual (003). Rules about the execution of kernels on later generations do not apply: Gen4 has
//! mask stacks instead of instruction pointers for each channel.

use super::place::Place;
use super::rule::{Check, Finding, Report, Rule, error, warning};
use super::view::View;
use crate::gen4;
use crate::instruction::*;
use crate::kernel::{Instructions, Located};
use crate::ops::{Format, Opcode};
use alloc::vec::Vec;

pub(super) static RULES: &[Rule] = &[
    error(
        "EU4-DECODE",
        "003:9660-10093",
        "all bytes must be instructions",
        "correct the field",
        Check::Instruction(nothing),
    ),
    error(
        "EU4-COMPRESSED-SIZE",
        "003:8821",
        "a compressed instruction must have 16 or 32 channels",
        "correct the execution size or the compression",
        Check::Instruction(compressed_size),
    ),
    error(
        "EU4-COMPRESSED-ALIGN1",
        "003:8809",
        "a compressed instruction must be in Align1",
        "use Align1",
        Check::Instruction(compressed_align1),
    ),
    error(
        "EU4-COMPRESSED-OPERATION",
        "003:10143; facts: kernels of drivers for messages",
        "branches, movi and sums of differences cannot be compressed; of messages, only those to \
         the math function can",
        "leave the compression out",
        Check::Instruction(compressed_operation),
    ),
    error(
        "EU4-MRF",
        "003:7511-7548",
        "there are message registers m0 to m15",
        "use another register",
        Check::Instruction(message_registers),
    ),
    error(
        "EU4-MRF-READ",
        "003:7475-7476, 7524",
        "message registers cannot be read",
        "keep the value in a general register, too",
        Check::Instruction(message_register_sources),
    ),
    error(
        "EU4-GRF",
        "003:7474-7509",
        "there are general registers g0 to g127",
        "use another register",
        Check::Instruction(general_registers),
    ),
    error(
        "EU4-STRIDE",
        "003:9777",
        "the destination of several channels must have a stride",
        "use stride 1",
        Check::Instruction(stride),
    ),
    error(
        "EU4-CONDITION",
        "003:11113-11221, 13249",
        "comparisons must have a condition, and sel must have none",
        "correct the condition",
        Check::Instruction(condition),
    ),
    error(
        "EU4-FLOAT-DWORD",
        "003:10881, 11163, 11221, 12023, 12507",
        "a float source and a dword integer source cannot be combined",
        "convert one of them first",
        Check::Instruction(float_dword),
    ),
    error(
        "EU4-DOT-SIZE",
        "003:11384",
        "a dot product must have at least 4 channels",
        "correct the execution size",
        Check::Instruction(dot_size),
    ),
    error(
        "EU4-LINE-SCALAR",
        "003:12021, 12722",
        "source 0 of line and pln must be one element for all channels",
        "use the region <0,1,0>",
        Check::Instruction(line_scalar),
    ),
    error(
        "EU4-JMPI-SIZE",
        "003:11965",
        "jmpi must have one channel",
        "correct the execution size",
        Check::Instruction(jmpi_size),
    ),
    error(
        "EU4-BRANCH-PREDICATE",
        "003:11631, 11686",
        "else, endif and do must have no predicate",
        "leave the predicate out",
        Check::Instruction(branch_predicate),
    ),
    error(
        "EU4-SEND-RESPONSE",
        "003:13352-13356",
        "the response of a message must go to general registers",
        "write a general register",
        Check::Instruction(response),
    ),
    error(
        "EU4-SEND-LENGTH",
        "003:1015-1021, 13384",
        "the payload of a message must be one or more message registers up to m15",
        "correct the length or the first register",
        Check::Instruction(payload),
    ),
    error(
        "EU4-SEND-EOT",
        "003:13421-13428, 1103-1122",
        "the message that ends the thread must have no response, and go to neither sampler, data \
         port for reads nor math",
        "end the thread with another message",
        Check::Instruction(end_of_thread),
    ),
    warning(
        "EU4-MASK-STACK",
        "003:10534",
        "MaskCtrlEx has no documented value",
        "leave it out",
        Check::Instruction(mask),
    ),
    error(
        "EU4-TARGET",
        "003:11084-13663",
        "a jump must lead to an instruction of the kernel, or to its end",
        "correct the count",
        Check::Instruction(nothing),
    ),
];

/// Checks a kernel.
pub(super) fn kernel(generation: Generation, bytes: &[u8]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let all: Vec<_> = Instructions::of(bytes).on(generation).collect();
    let starts: Vec<u64> = all.iter().flatten().map(|located| located.position).collect();
    for located in &all {
        match located {
            Ok(located) => {
                for rule in RULES {
                    if let Check::Instruction(check) = rule.check {
                        let Located { position, instruction } = *located;
                        let instruction = Some(&instruction);
                        let mut report =
                            Report { rule, position, instruction, findings: &mut findings };
                        check(&View::new(&located.instruction), &mut report);
                    }
                }
                targets(located, &starts, bytes.len() as u64, &mut findings);
            }
            Err(error) => {
                let Some(rule) = RULES.iter().find(|rule| rule.id == "EU4-DECODE") else {
                    continue;
                };
                let position = error.position;
                let mut report =
                    Report { rule, position, instruction: None, findings: &mut findings };
                report.add(Place::Instruction, format_args!("{}", error.problem));
            }
        }
    }
    findings
}

/// Checks the target of a jump.
fn targets(located: &Located, starts: &[u64], end: u64, findings: &mut Vec<Finding>) {
    let Some(rule) = RULES.iter().find(|rule| rule.id == "EU4-TARGET") else { return };
    let Some(branch) = located.instruction.branch else { return };
    let target = located.position.checked_add_signed(i64::from(branch.jip));
    let valid = target.is_some_and(|target| {
        target == end || (target.is_multiple_of(8) && starts.binary_search(&target).is_ok())
    });
    if !valid {
        let (position, instruction) = (located.position, Some(&located.instruction));
        let mut report = Report { rule, position, instruction, findings };
        report.add(Place::Jip, format_args!("{}", branch.jip));
    }
}

/// For rules that are not about single instructions.
fn nothing(_: &View<'_>, _: &mut Report<'_>) {}

fn is_compressed(i: &Instruction) -> bool {
    i.gen4.compression != Compression::None
}

fn compressed_size(view: &View<'_>, report: &mut Report<'_>) {
    let size = view.i.exec_size;
    if is_compressed(view.i) && !matches!(size, 16 | 32) {
        report.add(Place::Instruction, format_args!("{size} channels"));
    }
}

fn compressed_align1(view: &View<'_>, report: &mut Report<'_>) {
    if is_compressed(view.i) && view.i.access_mode == AccessMode::Align16 {
        report.add(Place::Instruction, format_args!("Align16"));
    }
}

fn compressed_operation(view: &View<'_>, report: &mut Report<'_>) {
    let refused = match view.op.format {
        Format::Send => view.i.send.is_some_and(|send| send.function != SharedFunction::Math),
        Format::Basic => {
            matches!(view.i.opcode, Opcode::Movi | Opcode::Sad2 | Opcode::Sada2)
        }
        _ => true,
    };
    if is_compressed(view.i) && refused {
        report.add(Place::Instruction, format_args!("{}", view.i.opcode));
    }
}

/// Registers of the destination, and each of the sources.
fn registers(i: &Instruction) -> impl Iterator<Item = (Place, Register)> {
    let destination = i.destination.map(|destination| (Place::Destination, destination.register));
    let sources = i.sources.into_iter().enumerate().filter_map(|(index, source)| match source {
        Operand::Register(source) => Some((Place::Source(index as u8), source.register)),
        _ => None,
    });
    destination.into_iter().chain(sources)
}

fn message_registers(view: &View<'_>, report: &mut Report<'_>) {
    for (place, register) in registers(view.i) {
        if let Register::Mrf { number, .. } = register {
            let more = match view.i.gen4.compression {
                Compression::None => 0,
                Compression::Compr => 1,
                Compression::Compr4 => 4,
            };
            if u32::from(number) + more > 15 {
                report.add(place, format_args!("m{}", u32::from(number) + more));
            }
        }
    }
}

fn message_register_sources(view: &View<'_>, report: &mut Report<'_>) {
    for (place, register) in registers(view.i) {
        if let (Register::Mrf { number, .. }, Place::Source(_)) = (register, place) {
            report.add(place, format_args!("m{number}"));
        }
    }
}

fn general_registers(view: &View<'_>, report: &mut Report<'_>) {
    for (place, register) in registers(view.i) {
        if let Register::Grf { number: number @ 128.., .. } = register {
            report.add(place, format_args!("g{number}"));
        }
    }
}

fn stride(view: &View<'_>, report: &mut Report<'_>) {
    let Some(destination) = view.i.destination else { return };
    let align1 = view.i.access_mode == AccessMode::Align1;
    if destination.stride == 0 && align1 && view.i.exec_size > 1 {
        report.add(Place::Destination, format_args!("stride 0"));
    }
}

fn condition(view: &View<'_>, report: &mut Report<'_>) {
    match (view.i.opcode, view.i.condition) {
        (Opcode::Cmp | Opcode::Cmpn, None) => {
            report.add(Place::Instruction, format_args!("no condition"));
        }
        (Opcode::Sel, Some(_)) => {
            report.add(Place::Instruction, format_args!("sel with a condition"));
        }
        _ => {}
    }
}

fn float_dword(view: &View<'_>, report: &mut Report<'_>) {
    use Opcode::{Add, Cmp, Cmpn, Line, Mul};
    if !matches!(view.i.opcode, Add | Mul | Cmp | Cmpn | Line) {
        return;
    }
    let types = view.i.operands().map(|operand| match operand {
        Operand::Register(source) => Some(source.ty),
        Operand::Immediate(immediate) => Some(immediate.ty),
        Operand::None => None,
    });
    let (mut float, mut dword) = (false, false);
    for ty in types.flatten() {
        float |= ty.is_float();
        dword |= matches!(ty, DataType::Ud | DataType::D);
    }
    if float && dword {
        report.add(Place::Instruction, format_args!("float and dword sources"));
    }
}

fn dot_size(view: &View<'_>, report: &mut Report<'_>) {
    use Opcode::{Dp2, Dp3, Dp4, Dph};
    if matches!(view.i.opcode, Dp2 | Dp3 | Dp4 | Dph) && view.i.exec_size < 4 {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
}

fn line_scalar(view: &View<'_>, report: &mut Report<'_>) {
    let Operand::Register(source) = view.i.sources[0] else { return };
    let Region { vertical, horizontal, .. } = source.region;
    let scalar = vertical == Vertical::Stride(0) && horizontal == 0;
    let align1 = view.i.access_mode == AccessMode::Align1;
    if matches!(view.i.opcode, Opcode::Line | Opcode::Pln) && align1 && !scalar {
        report.add(Place::Source(0), format_args!("a region of several elements"));
    }
}

fn jmpi_size(view: &View<'_>, report: &mut Report<'_>) {
    if view.i.opcode == Opcode::Jmpi && view.i.exec_size != 1 {
        report.add(Place::Instruction, format_args!("{} channels", view.i.exec_size));
    }
}

fn branch_predicate(view: &View<'_>, report: &mut Report<'_>) {
    let without = matches!(view.i.opcode, Opcode::Else | Opcode::Endif | Opcode::Do);
    if without && view.i.predicate.is_some() {
        report.add(Place::Instruction, format_args!("a predicate"));
    }
}

/// Lengths of payload and response of a message with a descriptor in the instruction.
fn lengths(view: &View<'_>) -> Option<(u64, u64)> {
    match view.i.send?.descriptor {
        Descriptor::Immediate(descriptor) => Some(gen4::lengths(view.i.generation, descriptor)),
        Descriptor::Address(_) => None,
    }
}

fn response(view: &View<'_>, report: &mut Report<'_>) {
    let Some((_, returned)) = lengths(view) else { return };
    let general = matches!(
        view.i.destination.map(|destination| destination.register),
        Some(Register::Grf { .. } | Register::Indirect { .. })
    );
    if returned > 0 && !general {
        report.add(Place::Destination, format_args!("{returned} registers"));
    }
}

fn payload(view: &View<'_>, report: &mut Report<'_>) {
    let Some((sent, _)) = lengths(view) else { return };
    let first = u64::from(view.i.gen4.message_register);
    if sent == 0 || first + sent > 16 {
        report.add(Place::Instruction, format_args!("{sent} registers from m{first} on"));
    }
}

fn end_of_thread(view: &View<'_>, report: &mut Report<'_>) {
    let Some(send) = view.i.send.filter(|send| send.end_of_thread) else { return };
    use SharedFunction::{DataPortRead, Math, Sampler};
    let returned = lengths(view).map_or(0, |(_, returned)| returned);
    let null = view.i.destination.is_some_and(|destination| destination.register.is_null());
    if returned > 0 || !null || matches!(send.function, Sampler | DataPortRead | Math) {
        report.add(Place::Instruction, format_args!("{:?}", send.function));
    }
}

fn mask(view: &View<'_>, report: &mut Report<'_>) {
    if view.i.gen4.no_continue_mask {
        report.add(Place::Instruction, format_args!("MaskCtrlEx"));
    }
}
