//! The registers of a message: payload and response.

use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use genxml::gen45::messages::MessageDescriptor;

/// A message with its lengths, decoded from the descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'m> {
    /// The message as the `send` instruction sent it.
    pub message: &'m Message,
    /// Name of the message in error messages.
    pub name: &'static str,
    /// Number of registers that are sent, with the header.
    pub sent: usize,
    /// Response length in registers.
    pub returned: usize,
}

impl<'m> Payload<'m> {
    /// Decodes the fields that all message descriptors have.
    pub fn open(message: &'m Message, name: &'static str) -> Payload<'m> {
        let common = MessageDescriptor::unpack_lossy(&[message.descriptor]);
        Payload {
            message,
            name,
            sent: common.message_length.get() as usize,
            returned: common.response_length.get() as usize,
        }
    }

    /// Byte offset of register `n` of the message; register 0 is the header, if there is one.
    pub fn at(&self, n: usize) -> usize {
        self.message.payload + n * REGISTER
    }

    /// Checks the number of registers of the message and of its response. The response length may
    /// also be zero. Too many registers are an error, like too few (003:1165-1167).
    pub fn check(&self, port: &Port<'_, '_>, sent: usize, back: usize) -> Result<(), Fault> {
        if self.sent == sent && (self.returned == back || self.returned == 0) {
            return Ok(());
        }
        Err(self.lengths(port, sent, back))
    }

    #[cold]
    fn lengths(&self, port: &Port<'_, '_>, sent: usize, back: usize) -> Fault {
        let why = format!(
            "{} needs {sent} registers (message length) and answers with {back} (response \
             length), but has {} and {}",
            self.name, self.sent, self.returned
        );
        port.illegal(why, self.message)
    }

    /// Byte offset of the response; `None` without a destination or with response length 0.
    pub fn answer(&self) -> Option<usize> {
        self.message.response.filter(|_| self.returned > 0)
    }

    /// The fault for a message that breaks a rule. `why` follows the name of the message.
    #[cold]
    pub fn illegal(&self, port: &Port<'_, '_>, why: &str) -> Fault {
        port.illegal(format!("{}: {why}", self.name), self.message)
    }

    /// Adds the bytes that the message has read or written to the statistics, or returns the fault
    /// for its page fault.
    #[inline]
    pub fn moved(
        &self,
        port: &mut Port<'_, '_>,
        write: bool,
        bytes: Result<u64, PageFault>,
    ) -> Result<(), Fault> {
        match bytes {
            Ok(bytes) if write => port.exec.stats.bytes_written += bytes,
            Ok(bytes) => port.exec.stats.bytes_read += bytes,
            Err(fault) => return Err(port.exec.page(fault, self.name)),
        }
        Ok(())
    }

    /// Dwords of register `n` of the message.
    #[inline(always)]
    pub fn dwords<const N: usize>(&self, registers: &Registers, n: usize) -> [u32; N] {
        registers.dwords(self.at(n))
    }
}
