//! Messages of dwords whose slots access adjacent memory, or read the same memory. Most messages of
//! compiled kernels are of this kind. They take this fast path instead of the general path in
//! [`super::untyped`] and [`super::scattered`]. With this path and with that of the EU for integers
//! of 64 bits, the OpenCL matrix product in `tests/live/speed.sh` takes 0.4 times the time.

use super::target;
use super::window::Target;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::mem::ADDRESS_MASK;
use crate::unit::bindings::FIRST_SPECIAL_INDEX;
use crate::unit::port::Port;
use genxml_eu::gen8::descriptors::{MdcBtsSlmA32, MdcCmask, MdcSm3};
use genxml_eu::gen8::eu_messages::{A64ScatteredSubtype, Msd1A64S, Msd1Us};
use genxml_eu::gen8::messages::{MessageDescriptor, MtDp1};

/// Number of slots whose offsets are examined together.
const SLOTS: usize = 8;

/// Bytes of a dword.
const DWORD: u64 = 4;

/// Bytes of one dword of each of these slots.
const ROW: u64 = SLOTS as u64 * DWORD;

/// The offsets of eight slots.
#[derive(Clone, Copy)]
enum Row {
    /// Adjacent memory for adjacent slots, from this offset on.
    Adjacent(u64),
    /// The same memory for all slots.
    Same(u64),
}

/// The memory that a message accesses.
struct Buffer {
    /// Graphics address of offset 0; not used for shared local memory.
    base: u64,
    /// Number of bytes.
    end: u64,
    /// Mask of the bits of an offset that are used.
    reach: u64,
    local: bool,
}

/// The memory of messages with addresses.
const EVERYTHING: Buffer = Buffer { base: 0, end: ADDRESS_MASK, reach: ADDRESS_MASK, local: false };

/// What a message moves.
struct Access {
    write: bool,
    /// True for addresses of 64 bits.
    long: bool,
    /// Number of slots divided by eight: 1 or 2.
    rows: usize,
    /// Number of dwords of a slot: 1 to 4.
    elements: usize,
}

/// Executes an untyped read or write with 8 or 16 active slots, if each eight slots access adjacent
/// memory inside the bounds, or read the same memory. Returns false for other messages and for
/// those that cause a fault; the caller then has to execute the message from its start.
pub(super) fn untyped(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    descriptor: &Msd1Us,
) -> bool {
    let kind = descriptor.message_type;
    let long = kind == MtDp1::MT1R_A64_US || kind == MtDp1::MT1W_A64_US;
    let write = kind == MtDp1::MT1W_US || kind == MtDp1::MT1W_A64_US;
    let rows = match descriptor.simd_mode {
        MdcSm3::SIMD8 => 1,
        MdcSm3::SIMD16 => 2,
        _ => return false,
    };
    let elements = match descriptor.channel_mask {
        MdcCmask::R => 1,
        MdcCmask::RG => 2,
        MdcCmask::RGB => 3,
        MdcCmask::RGBA => 4,
        _ => return false,
    };
    let buffer = match long {
        true => Some(EVERYTHING),
        false => buffer(port, descriptor.binding_table_index.get()),
    };
    buffer.is_some_and(|buffer| {
        execute(port, registers, message, &buffer, &Access { write, long, rows, elements })
    })
}

/// As [`untyped`], for the A64 Scattered Read and Write of dwords.
pub(super) fn scattered(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    descriptor: &Msd1A64S,
) -> bool {
    let write = descriptor.message_type == MtDp1::MT1W_A64_SB;
    let elements = 1 << descriptor.data_size.bits();
    descriptor.subtype == A64ScatteredSubtype::DWORD
        && elements <= 4
        && execute(
            port,
            registers,
            message,
            &EVERYTHING,
            &Access { write, long: true, rows: 1, elements },
        )
}

fn execute(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    buffer: &Buffer,
    access: &Access,
) -> bool {
    let &Access { write, long, rows, elements } = access;
    let all = u32::MAX >> (u32::BITS - (rows * SLOTS) as u32);
    let common = MessageDescriptor::unpack_lossy(&[message.descriptor]);
    let (addresses, data) = (if long { 2 * rows } else { rows }, rows * elements);
    let lengths = if write { (addresses + data, 0) } else { (addresses, data) };
    if message.mask & all != all
        || common.header_present
        || (common.message_length.get() as usize, common.response_length.get() as usize) != lengths
    {
        return false;
    }
    let step = elements as u64 * DWORD;
    let row = |n: usize| match long {
        true => wide_row(registers, message.payload + 2 * n * REGISTER, step, buffer.reach),
        false => short_row(registers, message.payload + n * REGISTER, step, buffer.reach),
    };
    let Some(found) = row(0).zip(row(rows - 1)) else { return false };
    let moved = match (write, message.response, elements) {
        (true, _, 1) => {
            put(port, registers, buffer, rows, found, message.payload + addresses * REGISTER)
        }
        (false, Some(to), 1) => get_dwords(port, registers, buffer, rows, found, to),
        (false, Some(to), 2) => get::<2>(port, registers, buffer, rows, found, to),
        (false, Some(to), 3) => get::<3>(port, registers, buffer, rows, found, to),
        (false, Some(to), 4) => get::<4>(port, registers, buffer, rows, found, to),
        _ => None,
    };
    if moved.is_none() {
        return false;
    }
    target::observe(port, buffer.local, write);
    let bytes = (rows * SLOTS * elements) as u64 * DWORD;
    match write {
        true => port.exec.stats.bytes_written += bytes,
        false => port.exec.stats.bytes_read += bytes,
    }
    true
}

/// Reads one dword for each slot of one or two rows into registers from byte `to` on. `None`,
/// without an effect on registers, if a part is out of bounds or if a page is missing.
#[inline(always)]
fn get_dwords(
    port: &Port<'_, '_>,
    registers: &mut Registers,
    buffer: &Buffer,
    rows: usize,
    found: (Row, Row),
    to: usize,
) -> Option<()> {
    match found {
        (Row::Adjacent(start), Row::Adjacent(next)) if rows == 2 && next == start + ROW => {
            let bytes: [u8; 2 * ROW as usize] = load(port, buffer, start)?;
            registers.bytes_mut()[to..to + bytes.len()].copy_from_slice(&bytes);
        }
        _ => get::<1>(port, registers, buffer, rows, found, to)?,
    }
    Some(())
}

/// As [`get_dwords`], for `E` dwords for each slot. The registers get the first dwords of all
/// slots, then the second dwords, and so on.
#[inline(always)]
fn get<const E: usize>(
    port: &Port<'_, '_>,
    registers: &mut Registers,
    buffer: &Buffer,
    rows: usize,
    found: (Row, Row),
    to: usize,
) -> Option<()> {
    // All is read before the first register is written: the response can be in the registers of
    // the offsets, which are needed again after a fault.
    let first = slots::<E>(port, buffer, found.0)?;
    let last = if rows == 2 { Some(slots::<E>(port, buffer, found.1)?) } else { None };
    for element in 0..E {
        let to = to + element * rows * REGISTER;
        registers.set_dwords(to, first.map(|slot| slot[element]));
        if let Some(last) = last {
            registers.set_dwords(to + REGISTER, last.map(|slot| slot[element]));
        }
    }
    Some(())
}

/// The dwords of eight slots.
#[inline(always)]
fn slots<const E: usize>(
    port: &Port<'_, '_>,
    buffer: &Buffer,
    row: Row,
) -> Option<[[u32; E]; SLOTS]> {
    let mut slots = [[0; E]; SLOTS];
    match row {
        Row::Adjacent(start) => load_into(port, buffer, start, slots.as_flattened_mut())?,
        Row::Same(at) => {
            let mut slot = [0; E];
            load_into(port, buffer, at, &mut slot)?;
            slots = [slot; SLOTS];
        }
    }
    Some(slots)
}

/// Writes one dword for each slot of one or two rows from registers from byte `from` on. `None` if
/// a part is out of bounds or if a page is missing; then the first row may be written.
#[inline(always)]
fn put(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    buffer: &Buffer,
    rows: usize,
    found: (Row, Row),
    from: usize,
) -> Option<()> {
    // If all slots write the same dword, the value of the last one stays. That is left to the
    // general path.
    let (Row::Adjacent(start), Row::Adjacent(next)) = found else { return None };
    if rows == 2 && next == start + ROW {
        let bytes: [u8; 2 * ROW as usize] = registers.row(from);
        return store(port, buffer, start, &bytes);
    }
    let bytes: [u8; ROW as usize] = registers.row(from);
    store(port, buffer, start, &bytes)?;
    if rows == 2 {
        let bytes: [u8; ROW as usize] = registers.row(from + REGISTER);
        store(port, buffer, next, &bytes)?;
    }
    Some(())
}

/// The memory of binding table index `index`; `None` if it is structured, or if the message has to
/// be refused.
#[inline(always)]
fn buffer(port: &mut Port<'_, '_>, index: u64) -> Option<Buffer> {
    if MdcBtsSlmA32::from_bits(index) == MdcBtsSlmA32::SLM {
        let reach = Target::Local.reach();
        // Dwords that are adjacent below this end stay adjacent after the offsets are masked.
        let end = Target::Local.bytes(port.local.slm.len()).min(reach + 1);
        return Some(Buffer { base: 0, end, reach, local: true });
    }
    let index = u8::try_from(index).ok().filter(|index| *index < FIRST_SPECIAL_INDEX)?;
    match target::as_buffer(port.bindings.surface(port.exec, index).ok()?)? {
        Target::Memory { base, size } => {
            Some(Buffer { base, end: size & !(DWORD - 1), reach: u64::MAX, local: false })
        }
        Target::Structured { .. } | Target::Local => None,
    }
}

/// The row of eight offsets of 32 bits from byte `at` of the registers on. Adjacent slots are
/// `step` bytes apart.
#[inline(always)]
fn short_row(registers: &Registers, at: usize, step: u64, reach: u64) -> Option<Row> {
    let offsets: [u32; SLOTS] = registers.row(at);
    let distances = offsets.map(|offset| offset.wrapping_sub(offsets[0]).into());
    row(u64::from(offsets[0]) & reach, distances, step)
}

/// As [`short_row`], for addresses of 64 bits.
#[inline(always)]
fn wide_row(registers: &Registers, at: usize, step: u64, reach: u64) -> Option<Row> {
    let offsets: [u64; SLOTS] = registers.row(at);
    row(offsets[0] & reach, offsets.map(|offset| offset.wrapping_sub(offsets[0])), step)
}

/// The row of slots at these distances from the first one.
#[inline(always)]
fn row(first: u64, distances: [u64; SLOTS], step: u64) -> Option<Row> {
    // Bits below the alignment are ignored (assumptions::LOW_OFFSET_BITS_ARE_DROPPED).
    let first = first & !(DWORD - 1);
    let (row, step) = match distances[1] {
        0 => (Row::Same(first), 0),
        distance if distance == step => (Row::Adjacent(first), step),
        _ => return None,
    };
    let other = (0..).zip(distances).fold(0, |other, (n, distance)| other | distance ^ (n * step));
    (other == 0).then_some(row)
}

/// The `N` bytes from offset `start` on; `None` if they are out of bounds or if a page is
/// missing.
#[inline(always)]
fn load<const N: usize>(port: &Port<'_, '_>, buffer: &Buffer, start: u64) -> Option<[u8; N]> {
    if start + N as u64 > buffer.end {
        return None;
    }
    if buffer.local {
        return port.local.slm[start as usize..].first_chunk().copied();
    }
    port.exec.vm.read_array(buffer.base.wrapping_add(start)).ok()
}

/// Fills `dwords` from offset `start` on. `None` if they are out of bounds or if a page is
/// missing.
#[inline(always)]
fn load_into(port: &Port<'_, '_>, buffer: &Buffer, start: u64, dwords: &mut [u32]) -> Option<()> {
    if start + dwords.len() as u64 * DWORD > buffer.end {
        return None;
    }
    let bytes = bytemuck::must_cast_slice_mut(dwords);
    if buffer.local {
        bytes.copy_from_slice(port.local.slm[start as usize..].get(..bytes.len())?);
        return Some(());
    }
    port.exec.vm.read(buffer.base.wrapping_add(start), bytes).ok()
}

/// Writes bytes from offset `start` on. `None` if they are out of bounds or if a page is
/// missing; then the first bytes may be written.
#[inline(always)]
fn store<const N: usize>(
    port: &mut Port<'_, '_>,
    buffer: &Buffer,
    start: u64,
    bytes: &[u8; N],
) -> Option<()> {
    if start + N as u64 > buffer.end {
        return None;
    }
    if buffer.local {
        *port.local.slm[start as usize..].first_chunk_mut()? = *bytes;
        return Some(());
    }
    port.exec.vm.write_array(buffer.base.wrapping_add(start), bytes).ok()
}
