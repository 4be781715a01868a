//! The registers of a message: header, payload and response.

use crate::assumptions::MEDIA_BLOCKS_MAY_HAVE_REGISTERS_TO_SPARE;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use crate::unit::port::Port;
use genxml::gen8::messages::MessageDescriptor;

/// A message with its header, payload and lengths, decoded from the descriptor.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'m> {
    /// The message as the `send` instruction sent it.
    pub message: &'m Message,
    /// Name of the message in error messages.
    pub name: &'static str,
    /// Byte offset of the header in the registers, if there is one.
    pub header: Option<usize>,
    /// Byte offset of the payload after the header.
    pub body: usize,
    /// Number of registers after the header.
    sent: usize,
    /// Response length in registers.
    returned: usize,
}

impl<'m> Payload<'m> {
    /// Decodes the fields that all message descriptors have.
    pub fn open(message: &'m Message, name: &'static str) -> Payload<'m> {
        let common = MessageDescriptor::unpack_lossy(&[message.descriptor]);
        let (sent, returned) =
            (common.message_length.get() as usize, common.response_length.get() as usize);
        let header = (common.header_present && sent > 0).then_some(message.payload);
        let registers = usize::from(header.is_some());
        Payload {
            message,
            name,
            header,
            body: message.payload + registers * REGISTER,
            sent: sent - registers,
            returned,
        }
    }

    /// A message with `sent` registers from byte `body` on, and `returned` registers of response.
    /// For descriptors of another generation, which have other fields.
    pub fn plain(
        message: &'m Message,
        name: &'static str,
        body: usize,
        sent: usize,
        returned: usize,
    ) -> Payload<'m> {
        Payload { message, name, header: None, body, sent, returned }
    }

    /// Checks that the message has `sent` registers after its header and a response of `back`
    /// registers. Too many registers are an error, like too few (G45 vol 4, 2.6.11). The response
    /// length may also be zero.
    pub fn check<B, L>(
        &self,
        port: &Port<'_, '_, B, L>,
        sent: usize,
        back: usize,
    ) -> Result<(), Fault> {
        if self.sent == sent && (self.returned == back || self.returned == 0) {
            return Ok(());
        }
        Err(self.lengths(port, sent, back))
    }

    /// Like `check`, for a message whose size is in its header. The message and a response may have
    /// more registers than needed. The extra registers are neither read nor written
    /// (assumptions::MEDIA_BLOCKS_MAY_HAVE_REGISTERS_TO_SPARE).
    pub fn at_least<B, L>(
        &self,
        port: &Port<'_, '_, B, L>,
        sent: usize,
        back: usize,
    ) -> Result<(), Fault> {
        if !MEDIA_BLOCKS_MAY_HAVE_REGISTERS_TO_SPARE {
            return self.check(port, sent, back);
        }
        let answered = self.returned == 0 || back > 0 && self.returned >= back;
        if self.sent >= sent && answered {
            return Ok(());
        }
        Err(self.lengths(port, sent, back))
    }

    #[cold]
    fn lengths<B, L>(&self, port: &Port<'_, '_, B, L>, sent: usize, back: usize) -> Fault {
        let header = usize::from(self.header.is_some());
        let why = format!(
            "{} needs {} registers (message length) and answers with {back} (response length), but has {} and {}",
            self.name,
            sent + header,
            self.sent + header,
            self.returned
        );
        port.illegal(why, self.message)
    }

    /// Checks the lengths of a message with `addresses` registers of addresses and `data` registers
    /// of data. A write sends the data, a read gets them back. Returns the byte offset of the data
    /// in the registers; `None` if a read has no response.
    pub fn data<B, L>(
        &self,
        port: &Port<'_, '_, B, L>,
        write: bool,
        addresses: usize,
        data: usize,
    ) -> Result<Option<usize>, Fault> {
        let (sent, back) = if write { (data, 0) } else { (0, data) };
        self.check(port, addresses + sent, back)?;
        Ok(if write { Some(self.body + addresses * REGISTER) } else { self.answer() })
    }

    /// Adds the bytes that the message has read or written to the statistics, or returns the fault
    /// for its page fault.
    #[inline]
    pub fn moved<B, L>(
        &self,
        port: &mut Port<'_, '_, B, L>,
        write: bool,
        bytes: Result<u64, PageFault>,
    ) -> Result<(), Fault> {
        match bytes {
            Ok(bytes) if write => port.exec.stats.bytes_written += bytes,
            Ok(bytes) => port.exec.stats.bytes_read += bytes,
            Err(fault) => return Err(self.page(port, fault)),
        }
        Ok(())
    }

    /// Response length in registers.
    pub fn returned(&self) -> usize {
        self.returned
    }

    /// Number of registers after the header.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// Byte offset of the response in the registers. `None` if there is no destination or the
    /// response length is zero.
    pub fn answer(&self) -> Option<usize> {
        self.message.response.filter(|_| self.returned > 0)
    }

    /// Executes a message that has no effect on the model, because the model has no caches and
    /// completes each access immediately. It sends one register, with or without Header Present.
    /// Its response has `back` registers, of which no source describes the contents; the model
    /// returns zeros.
    pub fn acknowledge<B, L>(
        &self,
        port: &Port<'_, '_, B, L>,
        registers: &mut Registers,
        back: usize,
    ) -> Result<(), Fault> {
        self.check(port, usize::from(self.header.is_none()), back)?;
        if let Some(answer) = self.answer() {
            registers.grf_mut()[answer..answer + back * REGISTER].fill(0);
        }
        Ok(())
    }

    /// Byte offset of the header. A message without a header is an error.
    pub fn required<B, L>(&self, port: &Port<'_, '_, B, L>) -> Result<usize, Fault> {
        self.header
            .ok_or_else(|| port.illegal(format!("{} without a header", self.name), self.message))
    }

    /// Checks that there is no header.
    pub fn forbidden<B, L>(&self, port: &Port<'_, '_, B, L>) -> Result<(), Fault> {
        match self.header {
            None => Ok(()),
            Some(_) => Err(port.illegal(
                format!("{} with a header, which it must not have", self.name),
                self.message,
            )),
        }
    }

    /// The fault for a descriptor field with a reserved value.
    #[cold]
    pub fn reserved<B, L>(&self, port: &Port<'_, '_, B, L>, field: &str, value: u64) -> Fault {
        port.illegal(format!("{}: {field} = {value} is reserved", self.name), self.message)
    }

    /// The fault for a page fault of the message.
    #[cold]
    pub fn page<B, L>(&self, port: &Port<'_, '_, B, L>, fault: PageFault) -> Fault {
        port.exec.page(fault, self.name)
    }
}
