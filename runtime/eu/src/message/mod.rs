//! Decoding of messages: fields by name, lengths, and a description in words.
//!
//! [`describe`] finds the most specific structure of the specification for a descriptor, and its
//! fields. [`Description::lengths`] gives the numbers of registers that such a message sends and
//! receives.

mod atomics;
mod gen8_words;
mod lengths;
mod words;

use crate::encoding as enc;
use crate::gen4;
use crate::gen8::{eu, eu_gen4, eu_gen9, eu_gen12, messages as md};
use crate::generation::Generation;
use crate::instruction::*;
use crate::syntax::{self, Syntax};
use core::fmt::{self, Write};
use genxml_core::Packed;
use genxml_core::members::{Level, Member, Value};
use genxml_core::reflect::{Container, Type};
use genxml_core::rule::Frame;

pub use lengths::{Lengths, Span};
pub use words::Words;

/// A decoded message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// The shared function that receives the message.
    pub function: SharedFunction,
    /// Number of registers sent, including the header.
    pub sent: u8,
    /// Number of registers returned.
    pub returned: u8,
    /// Whether the first register is a header.
    pub header: bool,
    /// The most specific structure for the descriptor. If the shared function has no structure of
    /// its own, the one that all messages have in common. `None` if the shared function does not
    /// exist.
    pub container: Option<&'static Container>,
    dwords: [u32; 1],
}

/// Decodes a message to `function`. Bit 31 of `descriptor`, the end of thread, is ignored.
pub fn describe(function: SharedFunction, descriptor: u32) -> Description {
    let message = eu::EuInstructionOperandSendMsg {
        eot: false,
        ..eu::EuInstructionOperandSendMsg::unpack_lossy(&[descriptor])
    };
    let common = message.message_descriptor;
    let dwords = message.pack();
    Description {
        function,
        sent: common.message_length.get() as u8,
        returned: common.response_length.get() as u8,
        header: common.header_present,
        container: container(function, message),
        dwords,
    }
}

/// Number of registers that a message with this descriptor sends, and that it returns.
pub fn lengths_on(generation: Generation, descriptor: u32) -> (u64, u64) {
    match generation.has_message_registers() {
        true => gen4::lengths(generation, descriptor),
        false => {
            let message = md::MessageDescriptor::unpack_lossy(&[descriptor]);
            (message.message_length.get(), message.response_length.get())
        }
    }
}

/// The shared function that receives a message of Gen4 or G45 with this descriptor.
pub fn receiver_gen4(descriptor: u32) -> SharedFunction {
    let number =
        eu_gen4::EuSendDescriptorGen4::unpack_lossy(&[descriptor]).target_function_id.get();
    let known = enc::SHARED_FUNCTION_GEN4.decode(eu_gen4::SfidGen4::from_bits(number));
    known.unwrap_or(SharedFunction::Reserved(number as u8))
}

/// First and last bit of the descriptor in an instruction (2d p.177).
const DESCRIPTOR: (u32, u32) = (96, 127);

/// Finds the view of the descriptor for the shared function, and in it the most specific view.
fn container(
    function: SharedFunction,
    message: eu::EuInstructionOperandSendMsg,
) -> Option<&'static Container> {
    let send = eu::EuInstructionSend {
        shared_function_id_sfid: enc::SHARED_FUNCTION.encode(function)?,
        src1_reg_file: eu::RegFile::IMM,
        message,
        ..eu::EuInstructionSend::new()
    };
    let send = send.pack();
    let views = eu::EuInstructionSend::INFO.views.iter();
    let views = views
        .filter(|view| (view.start, view.end) == DESCRIPTOR && view.exists(&Frame::new(&send)));
    // The first view is the one that all messages have in common.
    let container = views.rev().find_map(|view| structure(view.ty))?;
    Some(closest(container, &message.pack()))
}

fn closest(container: &'static Container, dwords: &[u32; 1]) -> &'static Container {
    let views = container.views.iter().filter(|view| view.exists(&Frame::new(dwords)));
    views
        .filter_map(|view| structure(view.ty))
        .next()
        .map_or(container, |view| closest(view, dwords))
}

fn structure(ty: Type) -> Option<&'static Container> {
    match ty {
        Type::Struct(container) => Some(container),
        _ => None,
    }
}

impl Description {
    /// The descriptor without the end of thread.
    pub fn descriptor(&self) -> u32 {
        self.dwords[0]
    }

    /// The fields of [`container`](Self::container), without those that all messages have: lengths,
    /// header and end of thread.
    pub fn fields(&self) -> impl Iterator<Item = Member<'_>> {
        const COMMON: [&str; 4] = ["EOT", "Message Length", "Response Length", "Header Present"];
        let levels = self.container.map(|container| Level::of(container, &self.dwords));
        levels
            .into_iter()
            .flat_map(Level::fields)
            .filter(|member| !COMMON.contains(&member.field.name))
    }

    /// The message in words.
    pub fn words(&self) -> Words {
        words(self.function, self.descriptor())
    }

    /// The numbers of registers that a message of this type sends and receives according to the
    /// manual or, without a page of the manual, Mesa's compiler; `None` if they are not known.
    pub fn lengths(&self) -> Option<Lengths> {
        lengths::lengths(self.function, &self.dwords, self.header)
    }

    /// True if the lengths in the descriptor do not agree with [`lengths`](Self::lengths). The
    /// response length may also be zero.
    pub fn contradicts_lengths(&self) -> bool {
        self.lengths().is_some_and(|lengths| {
            !lengths.may_send(self.sent) || !lengths.may_return(self.returned)
        })
    }
}

/// Formats the shared function, structure, fields and lengths: `hdc.dc1 MSD1_US: SIMD Mode SIMD16,
/// Channel Mask 0xe, Binding Table Index 2; sent 2, returned 2`.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(function_name(self.function))?;
        if let Some(container) = self.container {
            write!(f, " {}", container.name)?;
        }
        for (index, member) in self.fields().enumerate() {
            write!(f, "{} {} ", if index == 0 { ":" } else { "," }, member.field.name)?;
            match member.value() {
                Value::Enum { name: Some(name), .. } => f.write_str(name)?,
                Value::Enum { value, name: None } => write!(f, "{value:#x}")?,
                Value::Bool(set) => f.write_str(if set { "yes" } else { "no" })?,
                Value::Uint(value) => write!(f, "{value}")?,
                Value::Int(value) => write!(f, "{value}")?,
                _ => write!(f, "{:#x}", member.stored())?,
            }
        }
        let header = if self.header { " with header" } else { "" };
        write!(f, "; sent {}{header}, returned {}", self.sent, self.returned)
    }
}

/// The message in words; IGA's words if they are right for Gen8. Prints `?` for messages without
/// words: motion estimation, check and refinement, reserved types.
pub fn words(function: SharedFunction, descriptor: u32) -> Words {
    Words { function, descriptor }
}

/// Prints lengths in registers, the shared function and the message as IGA does: `wr:3h+0, rd:0;
/// hdc.dc1; media block write`.
pub(crate) fn comment<W: Write + ?Sized>(out: &mut W, i: &Instruction, send: &Send) -> fmt::Result {
    let gen12 = i.generation >= Generation::Gen12;
    let second = fmt::from_fn(move |f| match i.extended {
        Some(Descriptor::Immediate(extended)) if gen12 => {
            let extended = eu_gen12::EuExtendedDescriptorPartsGen12::unpack_lossy(&[extended]);
            write!(f, "{}", extended.extended_descriptor_10_6)
        }
        Some(Descriptor::Immediate(extended)) => {
            let extended = eu_gen9::ExtendedMessageDescriptor::unpack_lossy(&[extended]);
            write!(f, "{}", extended.extended_message_length)
        }
        Some(Descriptor::Address(byte)) if gen12 => write!(f, "a0.{}[10:6]", byte / 4),
        Some(Descriptor::Address(_)) => f.write_str("?"),
        None => f.write_str("0"),
    });
    // The name of a message of Gen12 has its receiver.
    let function = fmt::from_fn(move |f| match gen12 {
        true => Ok(()),
        false => write!(f, "; {}", name_in_comment(send.function)),
    });
    match send.descriptor {
        Descriptor::Address(byte) => {
            let word = byte / 4;
            write!(out, "wr:a0.{word}[28:25]+{second}, rd:a0.{word}[24:20]{function}")
        }
        Descriptor::Immediate(descriptor) if i.generation.has_message_registers() => {
            let (sent, returned) = gen4::lengths(i.generation, descriptor);
            write!(out, "wr:{sent}+0, rd:{returned}{function}; m{}", i.gen4.message_register)
        }
        Descriptor::Immediate(descriptor) => {
            let message =
                eu::EuInstructionOperandSendMsg::unpack_lossy(&[descriptor]).message_descriptor;
            let header = if message.header_present { "h" } else { "" };
            let (sent, returned) = (message.message_length.get(), message.response_length.get());
            write!(out, "wr:{sent}{header}+{second}, rd:{returned}{function}; ")?;
            if is_described(i.generation, send.function, descriptor) {
                return words(send.function, descriptor).write_iga(out);
            }
            let control = eu::MsgDescpt31::unpack_lossy(&[descriptor]).function_control;
            write!(out, "function control {:#x}", control.get())
        }
    }
}

/// True if the messages of Gen8 describe this message of `generation`: both have the same number
/// for it. Facts for Gen9: Mesa brw_eu_defines.h, whose names have the first generation of each
/// number.
pub fn is_described(generation: Generation, function: SharedFunction, descriptor: u32) -> bool {
    use SharedFunction::*;
    use md::MessageDescriptorSamplingEngineSimdMode10 as Mode;
    if generation <= Generation::Gen8 {
        return generation == Generation::Gen8;
    }
    let dwords = &[descriptor];
    match function {
        Sampler => {
            let message = md::MessageDescriptorSamplingEngine::unpack_lossy(dwords);
            let mode = eu_gen9::SamplerMessageMode::unpack_lossy(dwords);
            let extended = mode.return_format || mode.simd_mode_2_2.get() != 0;
            !extended
                && message.simd_mode_1_0 != Mode::SIMD32_64
                && matches!(message.message_type.bits(), 0..=11 | 16..=18 | 20 | 29..=31)
        }
        DataPortRender => {
            use crate::gen8::eu_messages::{MsdRtw, MtDpRt};
            MsdRtw::unpack_lossy(dwords).message_type == MtDpRt::MT_RTW
        }
        DataPort1 => matches!(
            md::DataPort1MessageDescriptor::unpack_lossy(dwords).message_type.bits(),
            1..=7 | 9..=13 | 17 | 18 | 25 | 26
        ),
        Urb | DataPort0 | Gateway | PixelInterpolator => true,
        _ => false,
    }
}

/// Name of a shared function, in IGA's style.
pub fn function_name(function: SharedFunction) -> &'static str {
    let name = syntax::FUNCTIONS.name(function, Syntax::Iga);
    name.or(syntax::FUNCTIONS_GEN4.name(function, Syntax::Iga)).unwrap_or("reserved")
}

/// IGA's name of a shared function in comments. For some shared functions of Gen8 it differs from
/// the name in instructions.
fn name_in_comment(function: SharedFunction) -> &'static str {
    match function {
        SharedFunction::DataPortSampler => "sampler",
        SharedFunction::DataPortConstant => "hdc.ccdp",
        SharedFunction::Urb => "hdc.urb",
        SharedFunction::PixelInterpolator => "pi",
        SharedFunction::Reserved(_) => "?",
        function => function_name(function),
    }
}
