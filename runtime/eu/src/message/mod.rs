//! What a message asks for: its fields by name, and in words.

mod words;

use crate::gen8::eu;
use crate::instruction::*;
use core::fmt::{self, Write};

pub use words::Words;

/// The message in words, IGA's where it has some; `?` is printed for what has none: motion estimation, check and
/// refinement, reserved types.
pub fn words(function: SharedFunction, descriptor: u32) -> Words {
    Words { function, descriptor }
}

/// `wr:3h+0, rd:0; hdc.dc1; media block write`: lengths in registers, receiver, message.
pub(crate) fn comment<W: Write + ?Sized>(out: &mut W, send: &Send) -> fmt::Result {
    let function = function_name(send.function);
    match send.descriptor {
        Descriptor::Address(byte) => {
            let word = byte / 4;
            write!(out, "wr:a0.{word}[28:25]+0, rd:a0.{word}[24:20]; {function}")
        }
        Descriptor::Immediate(descriptor) => {
            let message = eu::EuInstructionOperandSendMsg::unpack_lossy(&[descriptor]).message_descriptor;
            let header = if message.header_present { "h" } else { "" };
            let (sent, returned) = (message.message_length.get(), message.response_length.get());
            write!(out, "wr:{sent}{header}+0, rd:{returned}; {function}; ")?;
            words(send.function, descriptor).write(out)
        }
    }
}

/// IGA's name of a receiver.
pub fn function_name(function: SharedFunction) -> &'static str {
    match function {
        SharedFunction::Reserved(_) => "reserved",
        function => crate::syntax::FUNCTIONS.name(function, crate::syntax::Syntax::Iga).unwrap_or("reserved"),
    }
}
