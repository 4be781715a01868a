//! Messages that move dwords between registers and memory for 8 or 16 slots. Most messages of
//! compiled kernels are of this kind. Their descriptors are decoded once, with the kernel.

use super::regions::{GRF_BYTES, REGISTER};
use genxml_eu::gen8::descriptors::{MdcBtsSlmA32, MdcCmask, MdcSm3};
use genxml_eu::gen8::eu_messages::{A64ScatteredSubtype, Msd1A64S, Msd1Us};
use genxml_eu::gen8::messages::{MessageDescriptor, MtDp1};
use genxml_eu::instruction::SharedFunction;

/// Number of slots of a row. Their offsets of 32 bits fill one register, those of 64 bits fill two.
pub const SLOTS: usize = 8;

/// The memory that a message accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// All memory, by addresses of 64 bits.
    Addresses,
    /// Shared local memory, by offsets of 32 bits.
    Local,
    /// The surface of this binding table index, by offsets of 32 bits.
    Surface(u8),
}

/// An untyped or scattered message of dwords without a header, to data port 1. Its lengths are
/// those that its type needs, and its payload and response are inside the register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The memory.
    pub space: Space,
    /// True if the message writes memory.
    pub write: bool,
    /// Number of slots divided by eight: 1 or 2.
    pub rows: u8,
    /// Number of dwords of a slot: 1 to 4.
    pub elements: u8,
    /// First byte of the offsets in the registers.
    pub offsets: u16,
    /// First byte of the data in the registers.
    pub data: u16,
}

impl Transfer {
    /// The message with this receiver and descriptor, whose payload begins at byte `payload` of the
    /// registers, and its response at byte `response`. `None` if it is of another kind, or if it is
    /// not valid.
    pub fn new(
        function: SharedFunction,
        descriptor: u32,
        payload: usize,
        response: Option<usize>,
    ) -> Option<Transfer> {
        if function != SharedFunction::DataPort1 {
            return None;
        }
        let (space, write, rows, elements) =
            untyped(descriptor).or_else(|| scattered(descriptor))?;
        let long = space == Space::Addresses;
        let (addresses, data) = (if long { 2 * rows } else { rows }, rows * elements);
        let (sent, back) = if write { (addresses + data, 0) } else { (addresses, data) };
        let common = MessageDescriptor::unpack_lossy(&[descriptor]);
        let lengths = (common.message_length.get(), common.response_length.get());
        if common.header_present
            || lengths != (sent.into(), back.into())
            || payload + usize::from(sent) * REGISTER > GRF_BYTES
        {
            return None;
        }
        let first = match write {
            true => payload + usize::from(addresses) * REGISTER,
            false => response.filter(|at| at + usize::from(back) * REGISTER <= GRF_BYTES)?,
        };
        let (offsets, data) = (payload as u16, first as u16);
        Some(Transfer { space, write, rows, elements, offsets, data })
    }

    /// Number of registers of the response.
    pub fn responds(&self) -> usize {
        if self.write { 0 } else { usize::from(self.rows) * usize::from(self.elements) }
    }

    /// Mask of the slots. Bit 0 is the first channel of the send.
    pub fn slots(&self) -> u32 {
        u32::MAX >> (u32::BITS - u32::from(self.rows) * SLOTS as u32)
    }
}

/// An Untyped Surface Read or Write, or an A64 Untyped Read or Write, of the first dwords of each
/// slot: the space, whether it writes, the number of rows and of dwords for each slot.
fn untyped(descriptor: u32) -> Option<(Space, bool, u8, u8)> {
    let descriptor = Msd1Us::unpack_lossy(&[descriptor]);
    let (long, write) = match descriptor.message_type {
        MtDp1::MT1R_US => (false, false),
        MtDp1::MT1W_US => (false, true),
        MtDp1::MT1R_A64_US => (true, false),
        MtDp1::MT1W_A64_US => (true, true),
        _ => return None,
    };
    let rows = match descriptor.simd_mode {
        MdcSm3::SIMD8 => 1,
        MdcSm3::SIMD16 => 2,
        _ => return None,
    };
    let elements = match descriptor.channel_mask {
        MdcCmask::R => 1,
        MdcCmask::RG => 2,
        MdcCmask::RGB => 3,
        MdcCmask::RGBA => 4,
        _ => return None,
    };
    let index = descriptor.binding_table_index.get();
    let space = match long {
        true => Space::Addresses,
        false if MdcBtsSlmA32::from_bits(index) == MdcBtsSlmA32::SLM => Space::Local,
        false => Space::Surface(u8::try_from(index).ok()?),
    };
    Some((space, write, rows, elements))
}

/// As [`untyped`], for an A64 Scattered Read or Write of dwords.
fn scattered(descriptor: u32) -> Option<(Space, bool, u8, u8)> {
    let descriptor = Msd1A64S::unpack_lossy(&[descriptor]);
    let write = match descriptor.message_type {
        MtDp1::MT1R_A64_SB => false,
        MtDp1::MT1W_A64_SB => true,
        _ => return None,
    };
    let elements = 1u8.checked_shl(descriptor.data_size.bits() as u32)?;
    let dwords = descriptor.subtype == A64ScatteredSubtype::DWORD && elements <= 4;
    dwords.then_some((Space::Addresses, write, 1, elements))
}

/// Counts of messages that compiled code executed itself. They are added to the counters of the
/// data port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of messages that read shared local memory.
    pub local_reads: u64,
    /// Number of messages that write shared local memory.
    pub local_writes: u64,
    /// Number of messages to other memory.
    pub global: u64,
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
}

impl Tally {
    /// Adds a message.
    pub fn add(&mut self, transfer: &Transfer) {
        match (transfer.space, transfer.write) {
            (Space::Local, false) => self.local_reads += 1,
            (Space::Local, true) => self.local_writes += 1,
            _ => self.global += 1,
        }
        let bytes = u64::from(transfer.rows) * u64::from(transfer.elements) * REGISTER as u64;
        *(if transfer.write { &mut self.bytes_written } else { &mut self.bytes_read }) += bytes;
    }
}
