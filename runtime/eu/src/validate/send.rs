//! Rules about messages.

use super::place::Place;
use super::rule::{Check, Report, Rule, error, warning};
use super::view::View;
use crate::gen8::eu;
use crate::instruction::*;
use crate::message::{Lengths, describe};
use crate::ops::Format;

pub(super) static RULES: &[Rule] = &[
    error(
        "EU-SEND-SOURCE",
        "2d p.177; G45 vol 4 send",
        "the payload of a message must be in directly addressed general registers",
        "move it there first",
        Check::Instruction(source),
    ),
    error(
        "EU-SEND-ALIGN1",
        "G45 vol 4 send",
        "a send must use Align1",
        "set the access mode",
        Check::Instruction(align1),
    ),
    error(
        "EU-SEND-DESTINATION",
        "G45 vol 4 send",
        "the reply of a message must go to general registers",
        "write a general register",
        Check::Instruction(destination),
    ),
    warning(
        "EU-SEND-IDLE",
        "G45 vol 4 send; hardware accepts it, as kernels show",
        "the destination of a message without a reply should be null or a general register",
        "write null",
        Check::Instruction(idle),
    ),
    error(
        "MSG-LENGTH",
        "2d p.262",
        "a message must send at least one register",
        "correct the length in the descriptor",
        Check::Instruction(length),
    ),
    error(
        "MSG-RESPONSE",
        "2d p.262",
        "a message may return at most 16 registers",
        "correct the length in the descriptor",
        Check::Instruction(response),
    ),
    error(
        "MSG-PAYLOAD",
        "2d p.115-501; without a page, Mesa's compiler",
        "the message length must be the number of registers of the header and the payload",
        "correct the length in the descriptor, or the fields that say what is sent",
        Check::Instruction(payload_length),
    ),
    error(
        "MSG-REPLY",
        "2d p.115-501; without a page, Mesa's compiler",
        "the response length must be the number of registers of the reply, or 0",
        "correct the length in the descriptor, or the fields that say what is returned",
        Check::Instruction(reply_length),
    ),
    error(
        "EU-SEND-RANGE",
        "2d p.119; IVB vol 4 part 3, general registers",
        "payload and reply of a message must be in r0 to r127",
        "use lower registers or correct the lengths in the descriptor",
        Check::Instruction(range),
    ),
    error(
        "EU-SEND-REPLY",
        "G45 vol 4 send",
        "a message with destination null must have no reply",
        "give a destination, or set the response length to 0",
        Check::Instruction(reply),
    ),
    error(
        "EU-SEND-FUNCTION",
        "2b p.28",
        "the receiver of a message must exist",
        "use a shared function: the number is reserved",
        Check::Instruction(function),
    ),
    error(
        "EU-SEND-DESCRIPTOR",
        "IVB vol 4 part 3, address register",
        "a descriptor that is not in the instruction must be in a0.0",
        "load a0.0 with it",
        Check::Instruction(descriptor),
    ),
    warning(
        "EU-SEND-DEPENDENCY",
        "G45 vol 4 send",
        "a send should not set NoDDChk",
        "remove NoDDChk",
        Check::Instruction(dependency),
    ),
    error(
        "EU-EOT-PAYLOAD",
        "Broadwell, send, by Mesa's validator",
        "the payload of the message that ends the thread must be in r112 to r127",
        "copy the payload there: the other registers may already belong to the next thread",
        Check::Instruction(eot_payload),
    ),
    error(
        "EU-EOT-REPLY",
        "G45 vol 4 11.5.4",
        "the message that ends the thread must have no reply",
        "send a message that has a reply before the last message",
        Check::Instruction(eot_reply),
    ),
    error(
        "EU-SEND-R127",
        "Broadwell, send, by Mesa's validator",
        "a reply that overlaps its own payload must not include r127",
        "use another first register for the reply",
        Check::Instruction(last_register),
    ),
];

/// The message, if the instruction is a send.
fn message(view: &View<'_>) -> Option<Send> {
    view.i.send.filter(|_| view.op.format == Format::Send)
}

/// Numbers of registers sent and returned, if the descriptor is in the instruction.
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
    // The null register has its own rule.
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

/// The destination if it is an architecture register other than null.
fn odd_destination(view: &View<'_>) -> Option<(Arf, u8)> {
    message(view)?;
    match view.written()?.register {
        Register::Arf { file, number, .. } => Some((file, number)),
        _ => None,
    }
}

/// True if there is a reply, or may be one.
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

/// The numbers of registers that the message sends and returns, and those that its descriptor says.
fn expected_lengths(view: &View<'_>) -> Option<(Lengths, u8, u8)> {
    let send = message(view)?;
    let Descriptor::Immediate(descriptor) = send.descriptor else { return None };
    let message = describe(send.function, descriptor);
    Some((message.lengths()?, message.sent, message.returned))
}

fn payload_length(view: &View<'_>, report: &mut Report<'_>) {
    let Some((lengths, sent, _)) = expected_lengths(view) else { return };
    // Another rule checks the length 0.
    if sent != 0 && !lengths.may_send(sent) {
        report.add(Place::Source(0), format_args!("it is {sent}, must be {}", lengths.sent));
    }
}

fn reply_length(view: &View<'_>, report: &mut Report<'_>) {
    let Some((lengths, _, returned)) = expected_lengths(view) else { return };
    // Another rule checks lengths above that of the longest reply.
    if returned <= 16 && !lengths.may_return(returned) {
        report.add(
            Place::Destination,
            format_args!("it is {returned}, must be {}", lengths.returned),
        );
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
        report.add(Place::Destination, format_args!("null, {returned} registers are returned"));
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
        report.add(Place::Destination, format_args!("{returned} registers are returned"));
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
