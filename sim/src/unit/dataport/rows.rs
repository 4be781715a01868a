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
use crate::unit::local::Local;
use crate::unit::port::Port;
use bytemuck::must_cast;
use std::ops::Range;

/// Bytes of a dword.
const DWORD: u64 = 4;

/// Bytes of a row: one dword for each of eight slots.
const ROW: usize = SLOTS * DWORD as usize;

/// The offsets of eight slots.
#[derive(Clone, Copy)]
enum Row {
    /// Adjacent memory for adjacent slots, from this offset on.
    Adjacent(u64),
    /// The same memory for all slots.
    Same(u64),
}

/// The offsets of `R` rows.
#[derive(Clone, Copy)]
enum Found<const R: usize> {
    /// Adjacent memory for adjacent slots of all rows, from this offset on.
    Whole(u64),
    /// Any other rows.
    Rows([Row; R]),
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

/// Executes an untyped read or write with 8 or 16 slots, or an A64 Scattered Read or Write of
/// dwords. All slots must be active. Each row of eight slots must access adjacent memory inside the
/// bounds, or read the same memory. Returns false for other messages, and for those that cause a
/// fault. The caller then has to execute the message from its start.
pub(super) fn message(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> bool {
    let Message { function, descriptor, payload, response, .. } = *message;
    Transfer::new(function, descriptor, payload, response).is_some_and(|transfer| {
        // The general path records accesses to shared local memory.
        let recorded = transfer.space == Space::Local && port.exec.vm.log().is_some();
        message.mask & transfer.slots() == transfer.slots()
            && !recorded
            && execute(port, registers, &transfer)
    })
}

/// As [`message`], for a decoded message. The caller checks that all slots are active.
#[inline]
pub(in crate::unit) fn execute(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    transfer: &Transfer,
) -> bool {
    let Transfer { write, rows, elements, .. } = *transfer;
    match (write, rows, elements) {
        (false, 1, 1) => read::<1, 1>(port, registers, transfer),
        (false, 1, 2) => read::<1, 2>(port, registers, transfer),
        (false, 1, 3) => read::<1, 3>(port, registers, transfer),
        (false, 1, 4) => read::<1, 4>(port, registers, transfer),
        (false, 2, 1) => read::<2, 1>(port, registers, transfer),
        (false, 2, 2) => read::<2, 2>(port, registers, transfer),
        (false, 2, 3) => read::<2, 3>(port, registers, transfer),
        (false, 2, 4) => read::<2, 4>(port, registers, transfer),
        (true, 1, 1) => self::write::<1>(port, registers, transfer),
        (true, 2, 1) => self::write::<2>(port, registers, transfer),
        _ => None,
    }
    .is_some()
}

/// Reads `E` dwords for each slot of `R` rows. `None`, without an effect, if the message has to be
/// executed from its start.
#[inline(never)]
fn read<const R: usize, const E: usize>(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    transfer: &Transfer,
) -> Option<()> {
    let (offsets, to) = (usize::from(transfer.offsets), usize::from(transfer.data));
    match transfer.space {
        Space::Addresses => {
            let found = wide::<R, E>(registers, offsets)?;
            get::<R, E>(port, registers, &EVERYTHING, found, to)?;
        }
        Space::Local => {
            let buffer = local(port);
            let found = short::<R, E>(registers, offsets, buffer.reach)?;
            get::<R, E>(port, registers, &buffer, found, to)?;
        }
        Space::Surface(index) => {
            let buffer = surface(port, index)?;
            let found = short::<R, E>(registers, offsets, buffer.reach)?;
            get::<R, E>(port, registers, &buffer, found, to)?;
        }
    }
    target::observe(port, transfer.space == Space::Local, false);
    port.exec.stats.bytes_read += (R * E * ROW) as u64;
    Some(())
}

/// Writes one dword for each slot of `R` rows. `None` if the message has to be executed from its
/// start; then the first row may be written.
#[inline(never)]
fn write<const R: usize>(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    transfer: &Transfer,
) -> Option<()> {
    let (offsets, from) = (usize::from(transfer.offsets), usize::from(transfer.data));
    match transfer.space {
        Space::Addresses => {
            let found = wide::<R, 1>(registers, offsets)?;
            put::<R>(port, registers, &EVERYTHING, found, from)?;
        }
        Space::Local => {
            let buffer = local(port);
            let found = short::<R, 1>(registers, offsets, buffer.reach)?;
            put::<R>(port, registers, &buffer, found, from)?;
        }
        Space::Surface(index) => {
            let buffer = surface(port, index)?;
            let found = short::<R, 1>(registers, offsets, buffer.reach)?;
            put::<R>(port, registers, &buffer, found, from)?;
        }
    }
    target::observe(port, transfer.space == Space::Local, true);
    port.exec.stats.bytes_written += (R * ROW) as u64;
    Some(())
}

/// Reads `E` dwords for each slot of `R` rows into registers from byte `to` on. The registers get
/// the first dwords of all slots, then the second dwords, and so on. `None`, without an effect on
/// registers, if a part is out of bounds or if a page is missing.
#[inline(always)]
fn get<const R: usize, const E: usize>(
    port: &Port<'_, '_>,
    registers: &mut Registers,
    buffer: &Buffer,
    found: Found<R>,
    to: usize,
) -> Option<()> {
    // All is read before the first register is written: the response can be in the registers of
    // the offsets, which are needed again after a fault.
    let rows = match found {
        Found::Whole(start) if E == 1 && R == 2 => {
            let row = registers.bytes_mut().get_mut(to..)?.first_chunk_mut::<{ 2 * ROW }>()?;
            return load(port, buffer, start, row);
        }
        Found::Whole(start) if E == 1 => {
            let row = registers.bytes_mut().get_mut(to..)?.first_chunk_mut::<ROW>()?;
            return load(port, buffer, start, row);
        }
        Found::Whole(start) => std::array::from_fn(|n| Row::Adjacent(start + (n * E * ROW) as u64)),
        Found::Rows(rows) => rows,
    };
    if let Row::Same(first) = rows[0]
        && let Row::Same(last) = rows[R - 1]
        && first == last
    {
        let slot = dwords::<E>(port, buffer, first)?;
        for row in 0..E * R {
            registers.set_dwords(to + row * REGISTER, [slot[row / R]; SLOTS]);
        }
        return Some(());
    }
    let first = slots::<E>(port, buffer, rows[0])?;
    let last = if R == 2 { Some(slots::<E>(port, buffer, rows[1])?) } else { None };
    for element in 0..E {
        let to = to + element * R * REGISTER;
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

/// Writes one dword for each slot of `R` rows from registers from byte `from` on. `None` if a part
/// is out of bounds or if a page is missing; then the first row may be written.
#[inline(always)]
fn put<const R: usize>(
    port: &mut Port<'_, '_>,
    registers: &Registers,
    buffer: &Buffer,
    found: Found<R>,
    from: usize,
) -> Option<()> {
    let from = registers.bytes().get(from..)?;
    match found {
        Found::Whole(start) if R == 2 => {
            store(port, buffer, start, from.first_chunk::<{ 2 * ROW }>()?)
        }
        Found::Whole(start) => store(port, buffer, start, from.first_chunk::<ROW>()?),
        Found::Rows(rows) => {
            let (from, _) = from.as_chunks::<ROW>();
            for (row, from) in rows.into_iter().zip(from) {
                // If all slots write the same dword, the value of the last one stays. That is left
                // to the general path.
                let Row::Adjacent(start) = row else { return None };
                store(port, buffer, start, from)?;
            }
            Some(())
        }
    }
}

/// Shared local memory.
#[inline(always)]
fn local(port: &Port<'_, '_>) -> Buffer {
    let end = end_of_local(&port.local.slm);
    Buffer { base: 0, end: end as u64, reach: Target::Local.reach(), local: true }
}

/// The bytes of shared local memory that offsets reach.
#[inline(always)]
pub(in crate::unit) fn local_memory(local: &mut Local) -> &mut [u8] {
    let end = end_of_local(&local.slm);
    &mut local.slm[..end]
}

/// The end of the bytes that [`local_memory`] returns. Offsets below it are not changed when they
/// are masked, so adjacent dwords stay adjacent.
#[inline(always)]
fn end_of_local(slm: &[u8]) -> usize {
    slm.len().min(Target::Local.reach() as usize + 1)
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
            let end = size & !(DWORD - 1);
            #[cfg(feature = "fast")]
            port.bindings.bind(index, genxml_jit::Bounds { base, bytes: end });
            Some(Buffer { base, end, reach: u64::MAX, local: false })
        }
        Target::Structured { .. } | Target::Local => None,
    }
}

/// Classifies the offsets of 32 bits from byte `at` of the registers on, for slots of `E` dwords.
/// `None` if the slots of a row access neither adjacent memory nor the same memory.
#[inline(always)]
fn short<const R: usize, const E: usize>(
    registers: &Registers,
    at: usize,
    reach: u64,
) -> Option<Found<R>> {
    if R == 2 && E == 1 {
        let offsets: [u32; 2 * SLOTS] = registers.row(at);
        let expected = |n: usize| offsets[0].wrapping_add(n as u32 * DWORD as u32);
        if (0..2 * SLOTS).fold(0, |bits, n| bits | (offsets[n] ^ expected(n))) == 0 {
            return Some(Found::Whole(aligned(u64::from(offsets[0]) & reach)));
        }
    }
    let row = |n: usize| {
        let offsets: [u32; SLOTS] = registers.row(at + n * REGISTER);
        let step = step::<E>(offsets[1].wrapping_sub(offsets[0]).into())?;
        let expected = |n: usize| offsets[0].wrapping_add(n as u32 * step as u32);
        let differs = (0..SLOTS).fold(0, |bits, n| bits | (offsets[n] ^ expected(n)));
        (differs == 0).then(|| found(u64::from(offsets[0]) & reach, step))
    };
    all(row)
}

/// As [`short`], for addresses of 64 bits.
#[inline(always)]
fn wide<const R: usize, const E: usize>(registers: &Registers, at: usize) -> Option<Found<R>> {
    let row = |n: usize| {
        let offsets: [u64; SLOTS] = registers.row(at + 2 * n * REGISTER);
        let step = step::<E>(offsets[1].wrapping_sub(offsets[0]))?;
        let expected = |n: usize| offsets[0].wrapping_add(n as u64 * step);
        let differs = (0..SLOTS).fold(0, |bits, n| bits | (offsets[n] ^ expected(n)));
        (differs == 0).then(|| found(offsets[0] & EVERYTHING.reach, step))
    };
    all(row)
}

/// The offsets of all rows; `row` classifies one row. `None` if one of the rows is `None`.
#[inline(always)]
fn all<const R: usize>(row: impl Fn(usize) -> Option<Row>) -> Option<Found<R>> {
    let first = row(0)?;
    match first {
        Row::Adjacent(start) if R == 1 => Some(Found::Whole(start)),
        _ if R == 1 => Some(Found::Rows([first; R])),
        _ => {
            let mut rows = [first; R];
            rows[R - 1] = row(R - 1)?;
            Some(Found::Rows(rows))
        }
    }
}

/// The distance in bytes between neighbouring slots of `E` dwords, if it is `distance` between the
/// first two slots: 0 or the size of a slot. `None` for any other distance.
#[inline(always)]
fn step<const E: usize>(distance: u64) -> Option<u64> {
    let adjacent = E as u64 * DWORD;
    match distance {
        0 => Some(0),
        distance if distance == adjacent => Some(adjacent),
        _ => None,
    }
}

/// The row of slots from offset `first` on.
#[inline(always)]
fn found(first: u64, step: u64) -> Row {
    if step == 0 { Row::Same(aligned(first)) } else { Row::Adjacent(aligned(first)) }
}

/// An offset without the bits below the alignment, which are ignored
/// (assumptions::LOW_OFFSET_BITS_ARE_DROPPED).
#[inline(always)]
fn aligned(offset: u64) -> u64 {
    offset & !(DWORD - 1)
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
    #[cfg(feature = "fast")]
    port.exec.vm.lend(address, false);
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
    let address = buffer.base.wrapping_add(start);
    port.exec.vm.read(address, bytes).ok()?;
    #[cfg(feature = "fast")]
    port.exec.vm.lend(address, false);
    Some(())
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
    let address = buffer.base.wrapping_add(start);
    port.exec.vm.write_array(address, bytes).ok()?;
    #[cfg(feature = "fast")]
    port.exec.vm.lend(address, true);
    Some(())
}
