//! Unified return buffer (URB): memory inside the GPU through which threads pass data to each
//! other. (G45 vol 4, chapter 8. The message layout follows what drivers send, gen8_facts 4.4.)

use super::port::Port;
use crate::assumptions::{URB_BYTES, URB_HANDLE_BYTES};
use crate::eu::Message;
use crate::eu::fast::lanes::turned;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::slots::UnitState;
use genxml::eu::gen8::eu_payloads::{
    UrbMessageHeader, UrbSimd8HandlesPayload, UrbSimd8MasksPayload, UrbSimd8OffsetsPayload,
};
use genxml::gen8::messages::{
    UrbMessageDescriptor, UrbMessageDescriptorSwizzleControl as Swizzle,
    UrbMessageDescriptorUrbOpcode as Opcode,
};
use record::Record;
use std::fmt;

mod record;
mod transfers;

pub use record::{Changes, Written};
pub use transfers::{Transfer, headers, transfers};

/// Bytes of an oword, which is half a register.
const OWORD: usize = 16;
/// Bytes of a dword.
const DWORD: usize = 4;
/// Maximum number of dwords of a channel that one write stores.
const ROW: usize = 8;

impl UnitState for Urb {}

/// The unified return buffer. Bytes that were never written read as 0.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Urb {
    bytes: Vec<u8>,
    /// Reads and writes of the part that runs now; `None` if they are not recorded.
    record: Option<Box<Record>>,
}

/// The error for an access that goes beyond the end of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outside {
    /// Offset of the first byte of the access.
    pub offset: usize,
}

impl fmt::Debug for Urb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Urb({} bytes)", self.bytes.len())
    }
}

impl Urb {
    fn range(offset: usize, length: usize) -> Result<std::ops::Range<usize>, Outside> {
        match offset.checked_add(length) {
            Some(end) if end <= URB_BYTES => Ok(offset..end),
            _ => Err(Outside { offset }),
        }
    }

    /// The bytes up to the last one that was written. All others are 0.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads the bytes from `offset` on.
    ///
    /// # Errors
    /// [`Outside`] if the range goes beyond the buffer.
    #[inline]
    pub fn read(&mut self, offset: usize, out: &mut [u8]) -> Result<(), Outside> {
        let range = Self::range(offset, out.len())?;
        if let Some(record) = &mut self.record {
            record.read(range.start / DWORD..range.end.div_ceil(DWORD));
        }
        let there = self.bytes.get(range.start..range.end.min(self.bytes.len()));
        let there = there.unwrap_or_default();
        out[..there.len()].copy_from_slice(there);
        out[there.len()..].fill(0);
        Ok(())
    }

    /// Writes the bytes from `offset` on.
    ///
    /// # Errors
    /// [`Outside`] if the range goes beyond the buffer.
    #[inline]
    pub fn write(&mut self, offset: usize, bytes: &[u8]) -> Result<(), Outside> {
        let range = Self::range(offset, bytes.len())?;
        self.grow(range.end);
        if let Some(record) = &mut self.record {
            let dwords = range.start / DWORD..range.end.div_ceil(DWORD);
            let whole = range.start.is_multiple_of(DWORD) && range.end.is_multiple_of(DWORD);
            record.write(dwords, |dword| value(&self.bytes, dword), whole);
        }
        self.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    /// Writes the first `length` bytes of each row of `rows`. A row has `dwords` dwords. The first
    /// row goes to `offset`, and each other row goes `stride` bytes after the one before it.
    /// Returns false and changes nothing if a row goes beyond the buffer, if rows overlap, if
    /// `length` is 0 or more than a row has, or if `offset`, `stride` and `length` are not all
    /// whole dwords.
    pub fn write_rows(
        &mut self,
        offset: usize,
        stride: usize,
        length: usize,
        (rows, dwords): (&[u32], usize),
    ) -> bool {
        let whole = [offset, stride, length].iter().all(|n| n.is_multiple_of(DWORD));
        if !whole || length > stride || length > DWORD * dwords || length == 0 {
            return false;
        }
        let Some(last) = (rows.len() / dwords).checked_sub(1) else { return true };
        let at = |row: usize| offset.saturating_add(row.saturating_mul(stride));
        let Ok(range) = Self::range(at(last), length) else { return false };
        self.grow(range.end);
        if self.record.is_some() {
            (0..=last).for_each(|row| self.record_dwords(at(row), length));
        }
        let places = self.bytes[offset..].chunks_mut(stride);
        for (row, to) in rows.chunks_exact(dwords).zip(places) {
            to[..length].copy_from_slice(&bytemuck::cast_slice(row)[..length]);
        }
        true
    }

    /// Writes `count` registers from byte `first` of the registers on. The dwords of each channel
    /// in `mask` are written one after the other, from the channel's offset in `places` on. Returns
    /// false and changes nothing if `count` is 0, if a register does not exist, if a dword is
    /// outside the buffer, or if the offsets of all eight channels are not multiples of 4 that
    /// ascend by at least the size of a channel's data.
    #[inline]
    fn write_columns(
        &mut self,
        places: &[usize; 8],
        mask: u32,
        registers: &Registers,
        first: usize,
        count: usize,
    ) -> bool {
        let channels = || (0..8).filter(|channel| mask >> channel & 1 == 1);
        let length = DWORD * count;
        let end = |channel: usize| places[channel].saturating_add(length);
        let Some(last) = channels().next_back() else { return true };
        let last = end(last);
        let ascending = (1..8).all(|channel| end(channel - 1) <= places[channel]);
        let aligned = places.iter().fold(0, |bits, place| bits | place).is_multiple_of(DWORD);
        let Some(from) = registers.grf().get(first..first + count * REGISTER) else { return false };
        if last > URB_BYTES || count == 0 || !ascending || !aligned {
            return false;
        }
        self.grow(last);
        if self.record.is_some() {
            channels().for_each(|channel| self.record_dwords(places[channel], length));
        }
        let bytes = self.bytes.as_mut_slice();
        let (blocks, rest) = from.as_chunks::<REGISTER>().0.as_chunks::<{ OWORD / DWORD }>();
        for (n, block) in blocks.iter().enumerate() {
            // Four registers as eight rows, one for each channel.
            let registers: [[u32; 8]; OWORD / DWORD] = bytemuck::cast(*block);
            let rows = turned(&registers);
            for channel in channels() {
                if let Some(to) = bytes[places[channel] + n * OWORD..].first_chunk_mut() {
                    *to = bytemuck::cast::<_, [u8; OWORD]>(rows[channel]);
                }
            }
        }
        for (n, register) in rest.iter().enumerate() {
            let at = blocks.len() * OWORD + n * DWORD;
            for channel in channels() {
                let dword = &register[DWORD * channel..][..DWORD];
                bytes[places[channel] + at..][..DWORD].copy_from_slice(dword);
            }
        }
        true
    }

    /// Records a write of whole dwords. Call this before the write. The buffer must contain them.
    fn record_dwords(&mut self, offset: usize, length: usize) {
        if let Some(record) = &mut self.record {
            let dwords = offset / DWORD..(offset + length) / DWORD;
            record.write(dwords, |dword| value(&self.bytes, dword), true);
        }
    }

    /// Extends the buffer with zeros, so that it contains all bytes before `end`.
    #[inline]
    fn grow(&mut self, end: usize) {
        if self.bytes.len() < end {
            self.bytes.resize(end.next_multiple_of(DWORD), 0);
        }
    }

    /// Records all reads and writes from now on, for a part that runs in parallel with others.
    pub fn start_record(&mut self) {
        self.record = Some(Box::default());
    }

    /// True if reads and writes are recorded.
    pub fn is_recorded(&self) -> bool {
        self.record.is_some()
    }

    /// Ends the record. Undoes all writes since it was started, and returns what was read and
    /// written.
    pub fn undo_recorded(&mut self) -> Changes {
        let Some(record) = self.record.take() else { return Changes::default() };
        let old = record.old().to_vec();
        let changes = Changes::new(*record, |dword| value(&self.bytes, dword));
        for (dword, old) in old {
            self.put(dword, old);
        }
        changes
    }

    /// Repeats the writes of a part, which [`undo_recorded`](Self::undo_recorded) has undone.
    pub fn redo(&mut self, part: &Changes) {
        for &(dword, new) in &part.written {
            self.put(dword, new);
        }
    }

    fn put(&mut self, dword: usize, value: u32) {
        let from = DWORD * dword;
        if self.bytes.len() < from + DWORD {
            self.bytes.resize(from + DWORD, 0);
        }
        self.bytes[from..from + DWORD].copy_from_slice(&value.to_ne_bytes());
    }

    /// Writes zeros to `length` bytes from `offset` on.
    ///
    /// # Errors
    /// [`Outside`] if the range goes beyond the buffer.
    pub fn clear(&mut self, offset: usize, length: usize) -> Result<(), Outside> {
        let range = Self::range(offset, length)?;
        // Bytes after the end of the vector read as 0 anyway.
        let end = range.end.min(self.bytes.len());
        if let Some(bytes) = self.bytes.get_mut(range.start..end) {
            bytes.fill(0);
        }
        Ok(())
    }

    /// Reads the dword at `offset`.
    ///
    /// # Errors
    /// [`Outside`] if the dword goes beyond the buffer.
    pub fn read_u32(&mut self, offset: usize) -> Result<u32, Outside> {
        let mut bytes = [0; 4];
        self.read(offset, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }
}

/// The value of a dword; 0 after the end of the bytes.
#[inline]
fn value(bytes: &[u8], dword: usize) -> u32 {
    let bytes = bytes.get(DWORD * dword..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

/// Executes a message to the URB.
///
/// # Errors
/// [`Fault::IllegalInstruction`] for messages that are too short, for oword messages with more than
/// one register of data, for reserved opcodes, and for addresses outside of the URB.
pub fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = UrbMessageDescriptor::unpack_lossy(&[message.descriptor]);
    let urb = port.exec.state.slots.get_mut::<Urb>();
    if !urb.is_recorded() {
        port.exec.vm.keep_order();
    }
    let done = match descriptor.urb_opcode {
        Opcode::WRITE_HWORD | Opcode::WRITE_OWORD => {
            write_block(urb, registers, message, &descriptor)
        }
        Opcode::READ_HWORD | Opcode::READ_OWORD => read_block(urb, registers, message, &descriptor),
        Opcode::SIMD8_WRITE => write_channels(urb, registers, message, &descriptor),
        Opcode::SIMD8_READ => read_channels(urb, registers, message, &descriptor),
        Opcode::ATOMIC_MOV | Opcode::ATOMIC_INC | Opcode::ATOMIC_ADD => {
            atomic(urb, registers, message, &descriptor)
        }
        other => Err(Wrong::Message(format!("URB opcode {} is reserved", other.bits()))),
    };
    if matches!(descriptor.urb_opcode, Opcode::ATOMIC_MOV | Opcode::ATOMIC_INC | Opcode::ATOMIC_ADD)
    {
        port.exec.device.observed.add(Counter::Atomics, 1);
    }
    done.map_err(|wrong| {
        let why = match wrong {
            Wrong::Message(why) => why,
            Wrong::Address(Outside { offset }) => {
                format!("byte {offset:#x} of the URB, which has {URB_BYTES:#x} bytes")
            }
        };
        port.illegal(why, message)
    })
}

enum Wrong {
    Message(String),
    Address(Outside),
}

impl From<Outside> for Wrong {
    fn from(outside: Outside) -> Wrong {
        Wrong::Address(outside)
    }
}

/// Returns the byte offset of the first register after the `headers` header registers of a message,
/// and the number of registers from there on. Fewer than `least` registers are an error.
fn data(
    message: &Message,
    descriptor: &UrbMessageDescriptor,
    headers: usize,
    least: usize,
) -> Result<(usize, usize), Wrong> {
    let sent = descriptor.message_length.get() as usize;
    match sent.checked_sub(headers) {
        Some(registers) if registers >= least => {
            Ok((message.payload + headers * REGISTER, registers))
        }
        _ => Err(Wrong::Message(format!(
            "a URB message of {sent} registers, {} are needed",
            headers + least
        ))),
    }
}

// ---- blocks ----

/// Byte offsets in the URB of the data of the header's two handles. The offsets in the message
/// count units of `unit` bytes.
fn entries(
    header: &UrbMessageHeader,
    descriptor: &UrbMessageDescriptor,
    unit: usize,
) -> [usize; 2] {
    let slots = match descriptor.per_slot_offset {
        true => [header.slot_0_offset.get(), header.slot_1_offset.get()],
        false => [0; 2],
    };
    let handles = [header.urb_handle_0.get(), header.urb_handle_1.get()];
    [0, 1].map(|n: usize| place(descriptor, handles[n], slots[n], unit))
}

/// Byte offset in the URB of the data of a handle. Slot offset and global offset count units of
/// `unit` bytes. Their sum wraps at 32 bits, so that a slot offset can be negative.
fn place(descriptor: &UrbMessageDescriptor, handle: u64, slot: u64, unit: usize) -> usize {
    let units = (slot as u32).wrapping_add(descriptor.global_offset.get() as u32);
    handle as usize * URB_HANDLE_BYTES + units as usize * unit
}

/// Iterates over the register halves of a block in order. Each item is the byte offset in the URB
/// and the byte offset in the data or response of the message. In an interleaved message, the lower
/// halves belong to the first handle and the upper halves to the second. An oword message that is
/// not interleaved has the lower half only.
fn halves(
    descriptor: &UrbMessageDescriptor,
    header: &UrbMessageHeader,
    registers: usize,
) -> Result<impl Iterator<Item = (usize, usize)>, Wrong> {
    let interleaved = descriptor.swizzle_control == Swizzle::INTERLEAVE_OR_CHANNEL_MASK_PRESENT;
    let words = matches!(descriptor.urb_opcode, Opcode::WRITE_OWORD | Opcode::READ_OWORD);
    let [first, second] = entries(header, descriptor, if words { OWORD } else { REGISTER });
    if words && registers > 1 {
        let why =
            format!("an oword URB message with {registers} registers of data; the maximum is one");
        return Err(Wrong::Message(why));
    }
    let half = move |n: usize| {
        let at = n * REGISTER;
        match (interleaved, words) {
            (true, _) => [Some((first + n * OWORD, at)), Some((second + n * OWORD, at + OWORD))],
            (false, true) => [Some((first, at)), None],
            (false, false) => [Some((first + at, at)), Some((first + at + OWORD, at + OWORD))],
        }
    };
    Ok((0..registers).flat_map(move |n| half(n).into_iter().flatten()))
}

fn write_block(
    urb: &mut Urb,
    registers: &Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
) -> Result<(), Wrong> {
    let header = UrbMessageHeader::unpack_lossy(&registers.dwords(message.payload));
    let (first, count) = data(message, descriptor, 1, 0)?;
    let interleaved = descriptor.swizzle_control == Swizzle::INTERLEAVE_OR_CHANNEL_MASK_PRESENT;
    // One bit for each dword of a register. The channel enables apply only to interleaved messages
    // (8.4.3.2).
    let mut mask = header.vertex_0_channel_mask.get() | header.vertex_1_channel_mask.get() << 4;
    if interleaved {
        mask &= u64::from(message.mask);
    }
    for (to, from) in halves(descriptor, &header, count)? {
        for dword in 0..OWORD / 4 {
            let from = from + 4 * dword;
            if mask >> (from % REGISTER / 4) & 1 == 1 {
                urb.write(to + 4 * dword, &registers.grf()[first + from..first + from + 4])?;
            }
        }
    }
    Ok(())
}

fn read_block(
    urb: &mut Urb,
    registers: &mut Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
) -> Result<(), Wrong> {
    let header = UrbMessageHeader::unpack_lossy(&registers.dwords(message.payload));
    data(message, descriptor, 1, 0)?;
    let Some(response) = message.response else { return Ok(()) };
    for (from, to) in halves(descriptor, &header, descriptor.response_length.get() as usize)? {
        urb.read(from, &mut registers.grf_mut()[response + to..response + to + OWORD])?;
    }
    Ok(())
}

/// Changes a dword of the URB and writes its old value to the response. The operand is the first
/// dword after the header (assumptions::URB_ATOMICS_TAKE_DWORDS).
fn atomic(
    urb: &mut Urb,
    registers: &mut Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
) -> Result<(), Wrong> {
    let header = UrbMessageHeader::unpack_lossy(&registers.dwords(message.payload));
    let takes = usize::from(descriptor.urb_opcode != Opcode::ATOMIC_INC);
    let (first, _) = data(message, descriptor, 1, takes)?;
    let [at, _] = entries(&header, descriptor, 4);
    let old = urb.read_u32(at)?;
    let new = match descriptor.urb_opcode {
        Opcode::ATOMIC_MOV => registers.u32(first),
        Opcode::ATOMIC_ADD => old.wrapping_add(registers.u32(first)),
        _ => old.wrapping_add(1),
    };
    urb.write(at, &new.to_le_bytes())?;
    if let Some(response) = message.response
        && descriptor.response_length.get() > 0
    {
        registers.set_u32(response, old);
    }
    Ok(())
}

// ---- channels ----

/// Byte offset in the URB of the data of each channel, and the number of message registers before
/// the channel masks or the data.
fn channels(
    registers: &Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
) -> Result<([usize; 8], usize), Wrong> {
    let headers = 1 + usize::from(descriptor.per_slot_offset);
    data(message, descriptor, headers, 0)?;
    let handles = UrbSimd8HandlesPayload::unpack_lossy(&registers.dwords(message.payload)).channel;
    let mut offsets = [0; 8];
    if descriptor.per_slot_offset {
        let slots = registers.dwords(message.payload + REGISTER);
        offsets = UrbSimd8OffsetsPayload::unpack_lossy(&slots).channel.map(|offset| offset.get());
    }
    let place = |channel: usize| place(descriptor, handles[channel].get(), offsets[channel], OWORD);
    Ok((std::array::from_fn(place), headers))
}

fn write_channels(
    urb: &mut Urb,
    registers: &Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
) -> Result<(), Wrong> {
    let (places, mut headers) = channels(registers, message, descriptor)?;
    let mut masks = [u64::MAX; 8];
    if descriptor.swizzle_control == Swizzle::INTERLEAVE_OR_CHANNEL_MASK_PRESENT {
        let (at, _) = data(message, descriptor, headers, 1)?;
        masks = UrbSimd8MasksPayload::unpack_lossy(&registers.dwords(at))
            .channel
            .map(|mask| mask.get());
        headers += 1;
    }
    let (first, count) = data(message, descriptor, headers, 0)?;
    let unmasked = masks == [u64::MAX; 8];
    if unmasked && urb.write_columns(&places, message.mask, registers, first, count) {
        return Ok(());
    }
    let all = u64::MAX >> (u64::BITS as usize - count.clamp(1, ROW));
    for channel in (0..8).filter(|channel| message.mask >> channel & 1 == 1) {
        if count <= ROW && masks[channel] & all == all {
            let mut row = [0; ROW];
            for (component, value) in row[..count].iter_mut().enumerate() {
                *value = registers.u32(first + component * REGISTER + 4 * channel);
            }
            // After an error, the loop below writes the dwords that are inside the buffer.
            if urb.write(places[channel], bytemuck::cast_slice(&row[..count])).is_ok() {
                continue;
            }
        }
        for component in (0..count).filter(|component| masks[channel] >> component & 1 == 1) {
            let value = registers.u32(first + component * REGISTER + 4 * channel);
            urb.write(places[channel] + 4 * component, &value.to_le_bytes())?;
        }
    }
    Ok(())
}

fn read_channels(
    urb: &mut Urb,
    registers: &mut Registers,
    message: &Message,
    descriptor: &UrbMessageDescriptor,
) -> Result<(), Wrong> {
    let (places, _) = channels(registers, message, descriptor)?;
    let Some(response) = message.response else { return Ok(()) };
    for channel in (0..8).filter(|channel| message.mask >> channel & 1 == 1) {
        for component in 0..descriptor.response_length.get() as usize {
            let value = urb.read_u32(places[channel] + 4 * component)?;
            registers.set_u32(response + component * REGISTER + 4 * channel, value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
