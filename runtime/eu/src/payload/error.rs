//! Errors of message builders.

/// Number of general registers of a thread.
pub(super) const GRF_COUNT: u32 = 128;

/// The reason why a message cannot be built or put into registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PayloadError {
    /// The message has too many registers.
    #[error(
        "the message has {sent} registers, but at most 15 can be sent: use fewer channels or parts (2d p.262)"
    )]
    TooLong {
        /// Registers of header and payload.
        sent: u32,
    },
    /// The reply has too many registers.
    #[error(
        "the reply has {returned} registers, but at most 16 can be returned: use fewer channels or parts (2d p.262)"
    )]
    ReplyTooLong {
        /// Registers of the reply.
        returned: u32,
    },
    /// The payload goes beyond r127.
    #[error("{count} registers of payload do not fit from r{first} on: the last register is r127, so start at r{} or below", GRF_COUNT - count)]
    Beyond {
        /// First register.
        first: u8,
        /// Number of registers.
        count: u32,
    },
    /// The reply goes beyond r127.
    #[error("{count} registers of reply do not fit from r{first} on: the last register is r127, so start at r{} or below", GRF_COUNT - count)]
    ReplyBeyond {
        /// First register.
        first: u8,
        /// Number of registers.
        count: u32,
    },
    /// The first register of the reply is missing.
    #[error("the message returns {returned} registers: give the first one")]
    NoReplyRegister {
        /// Registers of the reply.
        returned: u32,
    },
    /// The message has no reply.
    #[error("the message returns nothing: give no register for a reply")]
    NoReply,
    /// The reply includes r127 and overlaps the payload.
    #[error(
        "the reply from r{reply} on includes r127 and overlaps the payload from r{payload} on: use other registers (rule EU-SEND-R127)"
    )]
    Overlap {
        /// First register of the payload.
        payload: u8,
        /// First register of the reply.
        reply: u8,
    },
    /// The payload of the last message is not in r112 to r127.
    #[error(
        "the payload of the message that ends the thread starts at r{first}, but must be in r112 to r127 (rule EU-EOT-PAYLOAD)"
    )]
    EndOfThread {
        /// First register of the payload.
        first: u8,
    },
    /// The last message has a reply.
    #[error(
        "the message that ends the thread returns {returned} registers, but must return none (rule EU-EOT-REPLY)"
    )]
    EndWithReply {
        /// Registers of the reply.
        returned: u32,
    },
    /// A constant does not fit its field of the header.
    #[error("the constant {value:#x} does not fit a header field of {bits} bits")]
    Constant {
        /// The constant.
        value: u32,
        /// Size of the field.
        bits: u32,
    },
    /// The header overwrites a register from which it is filled.
    #[error(
        "the header from r{first} on is filled from r{register}, which it overwrites before: use other registers"
    )]
    Overwritten {
        /// First register of the header.
        first: u8,
        /// The register that is read.
        register: u8,
    },
    /// A value that the manual reserves, or that this module does not build.
    #[error("{field} = {value} of {message} is reserved or has no builder")]
    Unsupported {
        /// Name of the descriptor's structure.
        message: &'static str,
        /// Name of the field.
        field: &'static str,
        /// The value.
        value: u64,
    },
}
