//! Messages of dwords whose slots access adjacent memory, or read the same memory. Most messages of
//! compiled kernels are of this kind. They take this fast path instead of the general path in
//! [`super::untyped`] and [`super::scattered`]. With this path and with that of the EU for integers
//! of 64 bits, the OpenCL matrix product in `tests/live/speed.sh` takes 0.4 times the time.

use super::target;
use super::window::Target;
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::eu::transfer::{SLOTS, Space, Transfer};
use crate::mem::ADDRESS_MASK;
use crate::unit::bindings::FIRST_SPECIAL_INDEX;
use crate::unit::port::Port;
use bytemuck::must_cast;
use std::ops::Range;

/// Bytes of a dword.
const DWORD: u64 = 4;

/// Bytes of one dword of each of eight slots.
const ROW: usize = SLOTS * DWORD as usize;

/// Distances in bytes of eight slots from the first one, by the number of dwords of a slot.
const DISTANCES: [[u32; SLOTS]; 5] = {
    let mut distances = [[0; SLOTS]; 5];
    let mut elements = 0;
    while elements < distances.len() {
        let mut slot = 0;
        while slot < SLOTS {
            distances[elements][slot] = (slot * elements) as u32 * DWORD as u32;
            slot += 1;
        }
        elements += 1;
    }
    distances
};

/// The offsets of eight slots.
#[derive(Clone, Copy)]
enum Row {
    /// Adjacent memory for adjacent slots, from this offset on.
    Adjacent(u64),
    /// The same memory for all slots.
    Same(u64),
}

/// The memory that a message accesses.
#[derive(Clone, Copy)]
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

/// Executes an untyped read or write with 8 or 16 active slots, or an A64 Scattered Read or Write
/// of dwords, if each eight slots access adjacent memory inside the bounds, or read the same
/// memory. Returns false for other messages and for those that cause a fault; the caller then has
/// to execute the message from its start.
pub(super) fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> bool {
    let Message { function, descriptor, payload, response, .. } = *message;
    Transfer::new(function, descriptor, payload, response).is_some_and(|transfer| {
        message.mask & transfer.slots() == transfer.slots() && execute(port, registers, &transfer)
    })
}

/// Executes a message all of whose slots are active. The result is as for [`message`].
#[inline]
pub(in crate::unit) fn execute(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    transfer: &Transfer,
) -> bool {
    let Transfer { space, write, rows, elements, offsets, data } = *transfer;
    let (offsets, data) = (usize::from(offsets), usize::from(data));
    let (buffer, found) = match space {
        Space::Addresses => (EVERYTHING, wide_rows(registers, offsets, rows, elements)),
        Space::Local => {
            let buffer = local(port);
            (buffer, short_rows(registers, offsets, rows, elements, buffer.reach))
        }
        Space::Surface(index) => match surface(port, index) {
            Some(buffer) => (buffer, short_rows(registers, offsets, rows, elements, buffer.reach)),
            None => return false,
        },
    };
    let Some(found) = found else { return false };
    let moved = match (write, elements) {
        (true, 1) => put(port, registers, &buffer, rows, found, data),
        (false, 1) => get_dwords(port, registers, &buffer, rows, found, data),
        (false, 2) => get::<2>(port, registers, &buffer, rows, found, data),
        (false, 3) => get::<3>(port, registers, &buffer, rows, found, data),
        (false, 4) => get::<4>(port, registers, &buffer, rows, found, data),
        _ => None,
    };
    if moved.is_none() {
        return false;
    }
    target::observe(port, buffer.local, write);
    let bytes = u64::from(rows) * u64::from(elements) * ROW as u64;
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
    rows: u8,
    found: (Row, Row),
    to: usize,
) -> Option<()> {
    match found {
        (Row::Adjacent(start), Row::Adjacent(next)) if rows == 2 && next == start + ROW as u64 => {
            let row = registers.bytes_mut().get_mut(to..)?.first_chunk_mut::<{ 2 * ROW }>()?;
            load(port, buffer, start, row)
        }
        (Row::Adjacent(start), _) if rows == 1 => {
            let row = registers.bytes_mut().get_mut(to..)?.first_chunk_mut::<ROW>()?;
            load(port, buffer, start, row)
        }
        _ => get::<1>(port, registers, buffer, rows, found, to),
    }
}

/// As [`get_dwords`], for `E` dwords for each slot. The registers get the first dwords of all
/// slots, then the second dwords, and so on.
#[inline(always)]
fn get<const E: usize>(
    port: &Port<'_, '_>,
    registers: &mut Registers,
    buffer: &Buffer,
    rows: u8,
    found: (Row, Row),
    to: usize,
) -> Option<()> {
    // All is read before the first register is written: the response can be in the registers of
    // the offsets, which are needed again after a fault.
    if let (Row::Same(first), Row::Same(last)) = found
        && first == last
    {
        let slot = dwords::<E>(port, buffer, first)?;
        for row in 0..E * usize::from(rows) {
            registers.set_dwords(to + row * REGISTER, [slot[row / usize::from(rows)]; SLOTS]);
        }
        return Some(());
    }
    let first = slots::<E>(port, buffer, found.0)?;
    let last = if rows == 2 { Some(slots::<E>(port, buffer, found.1)?) } else { None };
    for element in 0..E {
        let to = to + element * usize::from(rows) * REGISTER;
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
    match row {
        Row::Adjacent(start) => {
            let mut slots = [[0; E]; SLOTS];
            load_into(port, buffer, start, slots.as_flattened_mut())?;
            Some(slots)
        }
        Row::Same(at) => Some([dwords::<E>(port, buffer, at)?; SLOTS]),
    }
}

/// The dwords of one slot.
#[inline(always)]
fn dwords<const E: usize>(port: &Port<'_, '_>, buffer: &Buffer, at: u64) -> Option<[u32; E]> {
    let mut slot = [0; E];
    if E == 4 {
        let mut bytes = [0; 16];
        load(port, buffer, at, &mut bytes)?;
        slot.copy_from_slice(&must_cast::<[u8; 16], [u32; 4]>(bytes));
    } else {
        load_into(port, buffer, at, &mut slot)?;
    }
    Some(slot)
}

/// Writes one dword for each slot of one or two rows from registers from byte `from` on. `None` if
/// a part is out of bounds or if a page is missing; then the first row may be written.
#[inline(always)]
fn put(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    buffer: &Buffer,
    rows: u8,
    found: (Row, Row),
    from: usize,
) -> Option<()> {
    // If all slots write the same dword, the value of the last one stays. That is left to the
    // general path.
    let (Row::Adjacent(start), Row::Adjacent(next)) = found else { return None };
    let from = registers.bytes().get(from..)?;
    if rows == 2 && next == start + ROW as u64 {
        return store(port, buffer, start, from.first_chunk::<{ 2 * ROW }>()?);
    }
    store(port, buffer, start, from.first_chunk::<ROW>()?)?;
    if rows == 2 {
        store(port, buffer, next, from[ROW..].first_chunk::<ROW>()?)?;
    }
    Some(())
}

/// Shared local memory.
#[inline(always)]
fn local(port: &Port<'_, '_>) -> Buffer {
    let reach = Target::Local.reach();
    // Dwords that are adjacent below this end stay adjacent after the offsets are masked.
    let end = Target::Local.bytes(port.local.slm.len()).min(reach + 1);
    Buffer { base: 0, end, reach, local: true }
}

/// The memory of binding table index `index`; `None` if it is structured, or if the message has to
/// be refused.
#[inline(always)]
fn surface(port: &mut Port<'_, '_>, index: u8) -> Option<Buffer> {
    if index >= FIRST_SPECIAL_INDEX {
        return None;
    }
    match target::as_buffer(port.bindings.surface(port.exec, index).ok()?)? {
        Target::Memory { base, size } => {
            Some(Buffer { base, end: size & !(DWORD - 1), reach: u64::MAX, local: false })
        }
        Target::Structured { .. } | Target::Local => None,
    }
}

/// The rows of offsets of 32 bits from byte `at` of the registers on. If there is one row, both
/// parts of the result are alike.
#[inline(always)]
fn short_rows(
    registers: &Registers,
    at: usize,
    rows: u8,
    elements: u8,
    reach: u64,
) -> Option<(Row, Row)> {
    let row = |n: usize| {
        let offsets: [u32; SLOTS] = registers.row(at + n * REGISTER);
        let second = offsets[1].wrapping_sub(offsets[0]);
        let (same, distances) = distances(u64::from(second), elements)?;
        let expected = distances.map(|distance| offsets[0].wrapping_add(distance));
        let differs = (0..SLOTS).fold(0, |bits, n| bits | (offsets[n] ^ expected[n]));
        (differs == 0).then(|| found(u64::from(offsets[0]) & reach, same))
    };
    let first = row(0)?;
    Some((first, if rows == 2 { row(1)? } else { first }))
}

/// As [`short_rows`], for addresses of 64 bits.
#[inline(always)]
fn wide_rows(registers: &Registers, at: usize, rows: u8, elements: u8) -> Option<(Row, Row)> {
    let row = |n: usize| {
        let offsets: [u64; SLOTS] = registers.row(at + 2 * n * REGISTER);
        let (same, distances) = distances(offsets[1].wrapping_sub(offsets[0]), elements)?;
        let expected = distances.map(|distance| offsets[0].wrapping_add(distance.into()));
        let differs = (0..SLOTS).fold(0, |bits, n| bits | (offsets[n] ^ expected[n]));
        (differs == 0).then(|| found(offsets[0] & EVERYTHING.reach, same))
    };
    let first = row(0)?;
    Some((first, if rows == 2 { row(1)? } else { first }))
}

/// The distances of all slots from the first one, by that of the second one, and true if they are
/// zero. `None` if slots of `elements` dwords with this distance are not a row.
#[inline(always)]
fn distances(second: u64, elements: u8) -> Option<(bool, &'static [u32; SLOTS])> {
    let same = second == 0;
    let row = &DISTANCES[if same { 0 } else { usize::from(elements).min(DISTANCES.len() - 1) }];
    (second == u64::from(row[1])).then_some((same, row))
}

#[inline(always)]
fn found(first: u64, same: bool) -> Row {
    // Bits below the alignment are ignored (assumptions::LOW_OFFSET_BITS_ARE_DROPPED).
    let first = first & !(DWORD - 1);
    if same { Row::Same(first) } else { Row::Adjacent(first) }
}

/// The range in shared local memory of `bytes` bytes from offset `start` on, which is in bounds.
#[inline(always)]
fn range(start: u64, bytes: usize) -> Range<usize> {
    start as usize..start as usize + bytes
}

/// Fills `out` from offset `start` on. `None`, without an effect, if the bytes are out of bounds or
/// if a page is missing.
#[inline(always)]
fn load<const N: usize>(
    port: &Port<'_, '_>,
    buffer: &Buffer,
    start: u64,
    out: &mut [u8; N],
) -> Option<()> {
    if start + N as u64 > buffer.end {
        return None;
    }
    if buffer.local {
        out.copy_from_slice(port.local.slm.get(range(start, N))?);
        return Some(());
    }
    let address = buffer.base.wrapping_add(start);
    if !port.exec.vm.read_within_page(address, out) {
        *out = port.exec.vm.read_array(address).ok()?;
    }
    Some(())
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
        bytes.copy_from_slice(port.local.slm.get(range(start, bytes.len()))?);
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
        port.local.slm.get_mut(range(start, N))?.copy_from_slice(bytes);
        return Some(());
    }
    port.exec.vm.write_array(buffer.base.wrapping_add(start), bytes).ok()
}
