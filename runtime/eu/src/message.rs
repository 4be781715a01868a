//! What a message asks for, in words: the comments of the disassembly.

use crate::gen8::eu as gen8;
use crate::instruction::*;

/// `wr:3h+0, rd:0; hdc.dc1; media block write`: lengths in registers, receiver, message.
pub fn comment(instruction: &Instruction) -> Option<String> {
    let send = instruction.send?;
    let function = function_name(send.function);
    match send.descriptor {
        Descriptor::Address(byte) => {
            let word = byte / 4;
            Some(format!("wr:a0.{word}[28:25]+0, rd:a0.{word}[24:20]; {function}"))
        }
        Descriptor::Immediate(descriptor) => {
            let message = gen8::EuInstructionOperandSendMsg::unpack_lossy(&[descriptor]).message_descriptor;
            let header = if message.header_present { "h" } else { "" };
            let (sent, returned) = (message.message_length.get(), message.response_length.get());
            Some(format!("wr:{sent}{header}+0, rd:{returned}; {function}"))
        }
    }
}

/// IGA's name of a receiver.
pub fn function_name(function: SharedFunction) -> &'static str {
    match function {
        SharedFunction::Null => "null",
        SharedFunction::Sampler => "sampler",
        SharedFunction::Gateway => "gateway",
        SharedFunction::DataPortSampler => "hdc.dcro",
        SharedFunction::DataPortRender => "hdc.rc",
        SharedFunction::Urb => "urb",
        SharedFunction::ThreadSpawner => "spawner",
        SharedFunction::MotionEstimation => "vme",
        SharedFunction::DataPortConstant => "hdc.cc",
        SharedFunction::DataPort0 => "hdc.dc0",
        SharedFunction::PixelInterpolator => "pixi",
        SharedFunction::DataPort1 => "hdc.dc1",
        SharedFunction::CheckAndRefinement => "cre",
        SharedFunction::Reserved(_) => "reserved",
    }
}
