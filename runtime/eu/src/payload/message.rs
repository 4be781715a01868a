//! Messages, and their position in registers.

use super::error::{GRF_COUNT, PayloadError};
use super::header::Header;
use super::part::{Part, Registers};
use crate::gen8::messages::MessageDescriptor;
use crate::instruction::*;
use crate::ops::Opcode;
use alloc::vec::Vec;
use core::fmt;
use genxml_core::U;

/// Maximum number of registers that a message sends (2d p.262, Message Length).
const MAX_SENT: u32 = 15;
/// Maximum number of registers that a message returns (2d p.262, Response Length).
const MAX_RETURNED: u32 = 16;
/// First register that may have the payload of the message that ends the thread (rule
/// EU-EOT-PAYLOAD of the validator).
const FIRST_OF_END: u8 = 112;

/// A message that is not yet in registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    pub(super) function: SharedFunction,
    /// The descriptor. Lengths, Header Present and EOT are still zero.
    pub(super) descriptor: u32,
    pub(super) exec_size: u8,
    pub(super) channel_offset: u8,
    pub(super) no_mask: bool,
    pub(super) header: Option<Header>,
    /// The parts after the header.
    pub(super) parts: Registers,
    pub(super) reply: Registers,
    pub(super) end_of_thread: bool,
}

impl Message {
    /// A message of eight channels without header, payload and reply.
    pub(super) fn new(function: SharedFunction, descriptor: [u32; 1]) -> Message {
        Message {
            function,
            descriptor: descriptor[0],
            exec_size: 8,
            channel_offset: 0,
            no_mask: false,
            header: None,
            parts: Registers::default(),
            reply: Registers::default(),
            end_of_thread: false,
        }
    }

    /// The same message, as the last one of the thread. Its payload must be in r112 to r127.
    pub fn ends_thread(mut self) -> Message {
        self.end_of_thread = true;
        self
    }

    /// Number of registers that the message sends, with the header. Not yet checked.
    pub fn sent(&self) -> u32 {
        self.header_registers() + self.parts.count()
    }

    /// Number of registers that the message returns. Not yet checked.
    pub fn returned(&self) -> u32 {
        self.reply.count()
    }

    /// Puts header and payload into the registers from `payload` on, and the reply into those from
    /// `reply` on. Registers are 0 to 127.
    ///
    /// # Errors
    /// * The message has more than 15 registers, or its reply more than 16.
    /// * The payload or the reply goes beyond r127.
    /// * `reply` is missing although the message has a reply, or is given although it has none.
    /// * The reply includes r127 and overlaps the payload (rule EU-SEND-R127 of the validator).
    /// * The message ends the thread, and the payload is not in r112 to r127 or there is a reply.
    /// * A constant does not fit its field of the header.
    /// * The header overwrites a register from which it is filled.
    pub fn place(&self, payload: u8, reply: Option<u8>) -> Result<Placed, PayloadError> {
        let (sent, returned) = (self.sent(), self.returned());
        if sent > MAX_SENT {
            return Err(PayloadError::TooLong { sent });
        }
        if returned > MAX_RETURNED {
            return Err(PayloadError::ReplyTooLong { returned });
        }
        if u32::from(payload) + sent > GRF_COUNT {
            return Err(PayloadError::Beyond { first: payload, count: sent });
        }
        match reply {
            None if returned > 0 => return Err(PayloadError::NoReplyRegister { returned }),
            Some(_) if returned == 0 => return Err(PayloadError::NoReply),
            Some(first) => self.check_reply(payload, first)?,
            None => {}
        }
        if self.end_of_thread && payload < FIRST_OF_END {
            return Err(PayloadError::EndOfThread { first: payload });
        }
        if self.end_of_thread && returned > 0 {
            return Err(PayloadError::EndWithReply { returned });
        }
        if let Some(header) = &self.header {
            header.check(payload)?;
        }
        Ok(Placed { message: self.clone(), payload, reply })
    }

    fn check_reply(&self, payload: u8, first: u8) -> Result<(), PayloadError> {
        let (sent, returned) = (self.sent(), self.returned());
        let end = u32::from(first) + returned;
        if end > GRF_COUNT {
            return Err(PayloadError::ReplyBeyond { first, count: returned });
        }
        // Both ranges are not empty, and no payload goes beyond r127.
        if end == GRF_COUNT && u32::from(payload) + sent > u32::from(first) {
            return Err(PayloadError::Overlap { payload, reply: first });
        }
        Ok(())
    }

    fn header_registers(&self) -> u32 {
        self.header.as_ref().map_or(0, |header| header.registers.into())
    }
}

/// A message in registers. It prints as lines of assembly (IGA's syntax): the instructions that
/// fill the header, and the `send`.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed {
    message: Message,
    payload: u8,
    reply: Option<u8>,
}

impl Placed {
    /// First register of a part that the message sends; `None` if it has no such part.
    pub fn register(&self, part: Part) -> Option<u8> {
        let headers = self.message.header_registers();
        if part == Part::Header {
            return (headers > 0).then_some(self.payload);
        }
        self.message.parts.position(part).map(|at| (u32::from(self.payload) + headers + at) as u8)
    }

    /// First register of a part of the reply; `None` if it has no such part.
    pub fn reply(&self, part: Part) -> Option<u8> {
        let at = self.message.reply.position(part)?;
        self.reply.map(|first| (u32::from(first) + at) as u8)
    }

    /// Number of registers that the message sends, with the header: 1 to 15.
    pub fn sent(&self) -> u8 {
        self.message.sent() as u8
    }

    /// Number of registers that the message returns: 0 to 16.
    pub fn returned(&self) -> u8 {
        self.message.returned() as u8
    }

    /// The instructions that fill the header. They work without the mask of the channels. There are
    /// none if the message has no header.
    pub fn header(&self) -> Vec<Instruction> {
        self.message.header.as_ref().map_or_else(Vec::new, |header| header.fill(self.payload))
    }

    /// The `send`.
    pub fn send(&self) -> Instruction {
        let message = &self.message;
        let flagged = message.header.as_ref().is_some_and(|header| header.flagged);
        let [descriptor] = MessageDescriptor {
            header_present: flagged,
            // `Message::place` has checked both.
            message_length: U::from_bits(self.sent().into()),
            response_length: U::from_bits(self.returned().into()),
            ..MessageDescriptor::unpack_lossy(&[message.descriptor])
        }
        .pack();
        let mut send = Instruction::new(Opcode::Send, message.exec_size);
        send.channel_offset = message.channel_offset;
        send.no_mask = message.no_mask;
        let reply = self.reply.map_or(Register::NULL, Register::grf);
        send.destination = Some(Destination::new(reply, DataType::Ud));
        let region = Region::new(8, 8, 1);
        let payload = Source::new(Register::grf(self.payload), DataType::Ud, region);
        send.sources[0] = Operand::Register(payload);
        send.send = Some(Send {
            function: message.function,
            descriptor: Descriptor::Immediate(descriptor),
            end_of_thread: message.end_of_thread,
        });
        send
    }

    /// The instructions that fill the header, and the `send`.
    pub fn instructions(&self) -> Vec<Instruction> {
        let mut all = self.header();
        all.push(self.send());
        all
    }
}

impl fmt::Display for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, instruction) in self.instructions().iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{instruction}")?;
        }
        Ok(())
    }
}
