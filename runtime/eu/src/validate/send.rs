//! Messages.

use super::view::View;
use super::{Check, Place, Report, Rule, error, warning};
use crate::gen8::eu;
use crate::instruction::*;
use crate::ops::Format;

pub(super) static RULES: &[Rule] = &[
    error(
        "EU-SEND-SOURCE",
        "2d p.177; G45 vol 4 send",
        "the payload of a message lies in general registers that are addressed directly",
        "move it there first",
        Check::Instruction(source),
    ),
    error(
        "EU-SEND-ALIGN1",
        "G45 vol 4 send",
        "a send is in Align1",
        "set the access mode",
        Check::Instruction(align1),
    ),
    error(
        "EU-SEND-DESTINATION",
        "G45 vol 4 send",
        "the reply of a message goes to general registers",
        "write a general register",
        Check::Instruction(destination),
    ),
    warning(
        "EU-SEND-IDLE",
        "G45 vol 4 send; hardware takes it, as kernels show",
        "a message without a reply has null or a general register as destination",
        "write null",
        Check::Instruction(idle),
    ),
    error(
        "MSG-LENGTH",
        "2d p.262",
        "a message has at least one register",
        "correct the length in the descriptor",
        Check::Instruction(length),
    ),
    error(
        "MSG-RESPONSE",
        "2d p.262",
        "a message returns at most 16 registers",
        "correct the length in the descriptor",
        Check::Instruction(response),
    ),
    error(
        "EU-SEND-RANGE",
        "2d p.119; IVB vol 4 part 3, general registers",
        "payload and reply of a message lie in r0 to r127",
        "begin lower or correct the lengths in the descriptor",
        Check::Instruction(range),
    ),
    error(
        "EU-SEND-REPLY",
        "G45 vol 4 send",
        "a message with null as destination has no reply",
        "name a destination, or ask for no reply",
        Check::Instruction(reply),
    ),
    error(
        "EU-SEND-FUNCTION",
        "2b p.28",
        "the receiver of a message exists",
        "the number is reserved: name a shared function",
        Check::Instruction(function),
    ),
    error(
        "EU-SEND-DESCRIPTOR",
        "IVB vol 4 part 3, address register",
        "a descriptor that is not in the instruction is in a0.0",
        "load a0.0 with it",
        Check::Instruction(descriptor),
    ),
    warning(
        "EU-SEND-DEPENDENCY",
        "G45 vol 4 send",
        "a send does not check its destination: NoDDChk should not be set",
        "take NoDDChk away",
        Check::Instruction(dependency),
    ),
    error(
        "EU-EOT-PAYLOAD",
        "Broadwell, send, by Mesa's validator",
        "the message that ends the thread is sent from r112 to r127",
        "the other registers may be given to the next thread: copy the payload up",
        Check::Instruction(eot_payload),
    ),
    error(
        "EU-EOT-REPLY",
        "G45 vol 4 11.5.4",
        "the message that ends the thread has no reply",
        "send it before the last message",
        Check::Instruction(eot_reply),
    ),
    error(
        "EU-SEND-R127",
        "Broadwell, send, by Mesa's validator",
        "a reply that overlaps its own payload does not reach r127",
        "let the reply begin elsewhere",
        Check::Instruction(last_register),
    ),
];

/// The send, if it is one.
fn message(view: &View<'_>) -> Option<Send> {
    view.i.send.filter(|_| view.op.format == Format::Send)
}

/// Registers sent and returned, if the descriptor stands in the instruction.
fn lengths(send: &Send) -> Option<(u32, u32)> {
    let Descriptor::Immediate(descriptor) = send.descriptor else { return None };
    let message = eu::EuInstructionOperandSendMsg::unpack_lossy(&[descriptor]).message_descriptor;
    Some((message.message_length.get() as u32, message.response_length.get() as u32))
}

fn grf(register: &Register) -> Option<u32> {
    match *register {
        Register::Grf { number, .. } => Some(number.into()),
        _ => None,
    }
}

/// The first register of the payload.
fn payload(view: &View<'_>) -> Option<u32> {
    match &view.i.sources[0] {
        Operand::Register(source) => grf(&source.register),
        _ => None,
    }
}

fn source(view: &View<'_>, report: &mut Report<'_>) {
    // Null has a rule of its own.
    let null = matches!(&view.i.sources[0], Operand::Register(source) if source.register.is_null());
    if message(view).is_some() && payload(view).is_none() && !null {
        report.add(Place::Source(0), format_args!("{:?}", view.i.sources[0]));
    }
}

fn align1(view: &View<'_>, report: &mut Report<'_>) {
    if message(view).is_some() && !view.align1() {
        report.add(Place::Instruction, format_args!("Align16"));
    }
}

/// An architecture register that is not null as destination.
fn odd_destination(view: &View<'_>) -> Option<(Arf, u8)> {
    message(view)?;
    match view.written()?.register {
        Register::Arf { file, number, .. } => Some((file, number)),
        _ => None,
    }
}

/// True if a reply comes, or may come.
fn replies(view: &View<'_>) -> bool {
    message(view).and_then(|send| lengths(&send)).is_none_or(|(_, returned)| returned != 0)
}

fn destination(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((file, number)) = odd_destination(view)
        && replies(view)
    {
        report.add(Place::Destination, format_args!("{file:?} {number}"));
    }
}

fn idle(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((file, number)) = odd_destination(view)
        && !replies(view)
    {
        report.add(Place::Destination, format_args!("{file:?} {number}"));
    }
}

fn length(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((0, _)) = message(view).and_then(|send| lengths(&send)) {
        report.add(Place::Source(0), format_args!("no register is sent"));
    }
}

fn response(view: &View<'_>, report: &mut Report<'_>) {
    if let Some((_, returned @ 17..)) = message(view).and_then(|send| lengths(&send)) {
        report.add(Place::Destination, format_args!("{returned} registers"));
    }
}

fn range(view: &View<'_>, report: &mut Report<'_>) {
    let Some(send) = message(view) else { return };
    let (sent, returned) = lengths(&send).unwrap_or((1, 1));
    if let Some(first) = payload(view)
        && first + sent > 128
    {
        report.add(Place::Source(0), format_args!("{sent} registers from r{first} on"));
    }
    let first = view.i.destination.and_then(|destination| grf(&destination.register));
    if let Some(first) = first
        && first + returned > 128
        && returned <= 16
    {
        report.add(Place::Destination, format_args!("{returned} registers from r{first} on"));
    }
}

fn reply(view: &View<'_>, report: &mut Report<'_>) {
    let Some((_, returned)) = message(view).and_then(|send| lengths(&send)) else { return };
    if view.written().is_none() && returned != 0 {
        report.add(Place::Destination, format_args!("null, {returned} registers come back"));
    }
}

fn function(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(Send { function: SharedFunction::Reserved(number), .. }) = message(view) {
        report.add(Place::Instruction, format_args!("receiver {number}"));
    }
}

fn descriptor(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(Send { descriptor: Descriptor::Address(byte @ 1..), .. }) = message(view) {
        report.add(Place::Instruction, format_args!("a0 from byte {byte} on"));
    }
}

fn dependency(view: &View<'_>, report: &mut Report<'_>) {
    if message(view).is_some() && view.i.no_dd_check {
        report.add(Place::Instruction, format_args!("NoDDChk"));
    }
}

fn eot_payload(view: &View<'_>, report: &mut Report<'_>) {
    if let Some(first) = payload(view)
        && view.i.ends_thread()
        && first < 112
    {
        report.add(Place::Source(0), format_args!("r{first}"));
    }
}

fn eot_reply(view: &View<'_>, report: &mut Report<'_>) {
    let Some((_, returned)) = message(view).and_then(|send| lengths(&send)) else { return };
    if view.i.ends_thread() && returned != 0 {
        report.add(Place::Destination, format_args!("{returned} registers come back"));
    }
}

fn last_register(view: &View<'_>, report: &mut Report<'_>) {
    let Some((sent, returned)) = message(view).and_then(|send| lengths(&send)) else { return };
    let destination = view.i.destination.and_then(|destination| grf(&destination.register));
    let (Some(from), Some(to)) = (payload(view), destination) else { return };
    let overlap = returned != 0 && from < to + returned && to < from + sent;
    if overlap && to + returned > 127 {
        report.add(
            Place::Destination,
            format_args!(
                "r{to} to r{}, sent are r{from} to r{}",
                to + returned - 1,
                from + sent.max(1) - 1
            ),
        );
    }
}
