//! The registers of a message of the G45: payload and response.

use super::port::Port;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
pub use crate::unit::payload::Payload;
use genxml::gen45::messages::MessageDescriptor;

/// On the G45, the descriptor does not say whether there is a header. A header counts as register 0
/// of the payload.
impl<'m> Payload<'m> {
    /// Decodes the fields that all message descriptors of the G45 have.
    pub fn open_gen45(message: &'m Message, name: &'static str) -> Payload<'m> {
        let common = MessageDescriptor::unpack_lossy(&[message.descriptor]);
        let [sent, returned] = [common.message_length.get(), common.response_length.get()]
            .map(|length| length as usize);
        Payload::plain(message, name, message.payload, sent, returned)
    }

    /// Byte offset of register `n` of the message.
    pub fn at(&self, n: usize) -> usize {
        self.body + n * REGISTER
    }

    /// Dwords of register `n` of the message.
    #[inline(always)]
    pub fn dwords<const N: usize>(&self, registers: &Registers, n: usize) -> [u32; N] {
        registers.dwords(self.at(n))
    }

    /// The fault for a message that breaks a rule. `why` follows the name of the message.
    #[cold]
    pub fn illegal(&self, port: &Port<'_, '_>, why: &str) -> Fault {
        port.illegal(format!("{}: {why}", self.name), self.message)
    }
}
