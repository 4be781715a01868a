//! The registers of a message: header, payload and answer.

use crate::assumptions::MEDIA_BLOCKS_MAY_HAVE_REGISTERS_TO_SPARE;
use crate::eu::Message;
use crate::eu::regions::REGISTER;
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use crate::unit::port::Port;
use genxml::gen8::messages::MessageDescriptor;

/// A message as it arrives.
#[derive(Debug)]
pub(super) struct Payload<'m> {
    /// What the send says.
    pub message: &'m Message,
    /// What the message is called in reports.
    pub name: &'static str,
    /// Byte in the registers where the header stands, if there is one.
    pub header: Option<usize>,
    /// Byte in the registers where the payload behind it begins.
    pub body: usize,
    /// Registers behind the header.
    sent: usize,
    /// Registers that come back.
    returned: usize,
}

impl<'m> Payload<'m> {
    /// Takes the common part of a descriptor apart.
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

    /// Checks that the message has as many registers behind its header and gets back as many as its
    /// descriptor asks for: too long is an error as too short is (G45 vol 4, 2.6.11). Nothing may
    /// come back of what nobody wants.
    pub fn check(&self, port: &Port<'_, '_>, sent: usize, back: usize) -> Result<(), Fault> {
        if self.sent == sent && (self.returned == back || self.returned == 0) {
            return Ok(());
        }
        Err(self.lengths(port, sent, back))
    }

    /// The same for a message whose size is in its header: there may be more registers, of which
    /// nothing is looked at and nothing changes
    /// (assumptions::MEDIA_BLOCKS_MAY_HAVE_REGISTERS_TO_SPARE).
    pub fn at_least(&self, port: &Port<'_, '_>, sent: usize, back: usize) -> Result<(), Fault> {
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
    fn lengths(&self, port: &Port<'_, '_>, sent: usize, back: usize) -> Fault {
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

    /// Of a message with `addresses` registers of addresses and `data` of data, which a write
    /// brings and a read gets back: checks its lengths, and says at which byte in the registers the
    /// data are or go; none if nobody wants them.
    pub fn data(
        &self,
        port: &Port<'_, '_>,
        write: bool,
        addresses: usize,
        data: usize,
    ) -> Result<Option<usize>, Fault> {
        let (sent, back) = if write { (data, 0) } else { (0, data) };
        self.check(port, addresses + sent, back)?;
        Ok(if write { Some(self.body + addresses * REGISTER) } else { self.answer() })
    }

    /// Counts the bytes that the message has read or written.
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
            Err(fault) => return Err(self.page(port, fault)),
        }
        Ok(())
    }

    /// Registers that come back.
    pub fn returned(&self) -> usize {
        self.returned
    }

    /// Registers behind the header.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// The byte in the registers where the answer goes, if somebody wants it.
    pub fn answer(&self) -> Option<usize> {
        self.message.response.filter(|_| self.returned > 0)
    }

    /// The header, which the message must have.
    pub fn required(&self, port: &Port<'_, '_>) -> Result<usize, Fault> {
        self.header
            .ok_or_else(|| port.illegal(format!("{} without a header", self.name), self.message))
    }

    /// Checks that there is no header.
    pub fn forbidden(&self, port: &Port<'_, '_>) -> Result<(), Fault> {
        match self.header {
            None => Ok(()),
            Some(_) => Err(port.illegal(
                format!("{} with a header, which it must not have", self.name),
                self.message,
            )),
        }
    }

    /// A field of the descriptor holds what it must not.
    #[cold]
    pub fn reserved(&self, port: &Port<'_, '_>, field: &str, value: u64) -> Fault {
        port.illegal(format!("{}: {field} = {value} is reserved", self.name), self.message)
    }

    /// A page fault of the message.
    #[cold]
    pub fn page(&self, port: &Port<'_, '_>, fault: PageFault) -> Fault {
        port.exec.page(fault, self.name)
    }
}
