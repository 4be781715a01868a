//! Scattered reads and writes: bytes, dwords or qwords at an offset or address of each slot (G45
//! vol 4, 5.10.5; 2a p.287-292, p.331, p.380-383, p.415).

use super::elements::{Shape, Transfer};
use super::outside;
use super::rows;
use super::slots::{Range, Simd, Slots, whole_dwords};
use super::target::{self, Allowed, Header};
use super::window::{Target, Window};
use crate::assumptions::{EIGHT_BYTES_OF_A_SLOT_ARE_A_QWORD, LOCAL_MEMORY_HAS_A_GLOBAL_OFFSET};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers};
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use crate::unit::payload::Payload;
use crate::unit::port::Port;
use genxml_eu::gen8::descriptors::{MdcDs, MdcSm2};
use genxml_eu::gen8::eu_messages::{A64ScatteredSubtype, Msd0Bs, Msd0Dws, Msd1A64S};
use genxml_eu::gen8::messages::{MtDp0, MtDp1};

/// Maximum number of bytes that one dword of the registers holds for a slot.
const BYTES: usize = 4;

const fn simd(mode: MdcSm2) -> Simd {
    match mode {
        MdcSm2::SIMD8 => Simd::Eight,
        _ => Simd::Sixteen,
    }
}

/// Dword Scattered Read and Write. The function also executes the Dword Scattered Read of the
/// constant cache, which has the same control bits (2d p.319).
pub(super) fn dwords(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
    write: bool,
    allowed: Allowed,
) -> Result<(), Fault> {
    let descriptor = Msd0Dws::unpack_lossy(&[message.descriptor]);
    let name = if write { "a dword scattered write" } else { "a dword scattered read" };
    let payload = Payload::open(message, name);
    let simd = simd(descriptor.simd_mode);
    let header = Header::read(registers, payload.header);
    let index = descriptor.binding_table_index.get();
    let target = whole_dwords(target::buffer(port, &payload, index, allowed, header)?);
    let end = target.bytes(port.local.slm.len());
    let range = Range { global: header.global, unit: 4, align: 4, end, reach: target.reach() };
    let mask = simd.active(message.mask, u32::MAX);
    let slots = Slots::short(simd, mask, registers, payload.body, range);
    let element = simd.registers() * REGISTER;
    let shape = Shape { width: 4, slot: 4, element, present: 1, packed: true };
    let count = simd.registers();
    Transfer { write, target, slots: &slots, shape, addresses: count, data: count }
        .run(port, registers, &payload)
}

/// Byte Scattered Read and Write: one, two or four bytes at any offset.
pub(super) fn bytes(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    let descriptor = Msd0Bs::unpack_lossy(&[message.descriptor]);
    let write = descriptor.message_type == MtDp0::MT0W_BS;
    let payload = Payload::open(
        message,
        if write { "a byte scattered write" } else { "a byte scattered read" },
    );
    let simd = simd(descriptor.simd_mode);
    let count = match descriptor.data_elements {
        MdcDs::B => 1,
        MdcDs::W => 2,
        MdcDs::DW => 4,
        other => return Err(payload.reserved(port, "Data Elements", other.bits())),
    };
    let header = Header::read(registers, payload.header);
    let target =
        target::buffer(port, &payload, descriptor.binding_table_index.get(), Allowed::Any, header)?;
    let end = target.bytes(port.local.slm.len());
    let global = match target {
        Target::Local if !LOCAL_MEMORY_HAS_A_GLOBAL_OFFSET => 0,
        _ => header.global,
    };
    let range = Range { global, unit: 1, align: 1, end, reach: target.reach() };
    let mask = simd.active(message.mask, u32::MAX);
    let slots = Slots::short(simd, mask, registers, payload.body, range);
    let bytes = Bytes {
        write,
        target,
        slots: &slots,
        count,
        addresses: simd.registers(),
        data: simd.registers(),
    };
    bytes.run(port, registers, &payload)
}

/// A64 Scattered Read and Write of bytes, dwords or qwords, always with eight slots. Bit 12, which
/// selects 16 slots on later hardware, is ignored (2a p.287).
pub(super) fn long(
    port: &mut Port<'_, '_>,
    registers: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    if rows::message(port, registers, message) {
        return Ok(());
    }
    let descriptor = Msd1A64S::unpack_lossy(&[message.descriptor]);
    let write = descriptor.message_type == MtDp1::MT1W_A64_SB;
    let payload = Payload::open(
        message,
        if write { "an A64 scattered write" } else { "an A64 scattered read" },
    );
    payload.forbidden(port)?;
    let simd = Simd::Eight;
    let mask = simd.active(message.mask, u32::MAX);
    let count = 1usize << descriptor.data_size.bits();
    let addresses = simd.registers_of(8);
    let target = Target::EVERYTHING;
    let width = match descriptor.subtype {
        A64ScatteredSubtype::BYTE => {
            let slots = Slots::long(simd, mask, registers, payload.body, 1);
            let data = count.div_ceil(BYTES);
            return Bytes { write, target, slots: &slots, count, addresses, data }
                .run(port, registers, &payload);
        }
        A64ScatteredSubtype::DWORD => 4,
        A64ScatteredSubtype::QWORD => 8,
        other => return Err(payload.reserved(port, "A64 Scattered Message Subtype", other.bits())),
    };
    // The registers hold element 0 of all slots, then element 1 of all slots, and so on. The
    // payload limit is 256 bytes (2d p.5), which is eight registers.
    let element = simd.registers_of(width);
    let data = element * count;
    if data > 8 {
        return Err(payload.reserved(port, "Data Elements", descriptor.data_size.bits()));
    }
    let slots = Slots::long(simd, mask, registers, payload.body, width as u64);
    let present = (1 << count) - 1;
    let shape = Shape { width, slot: width, element: element * REGISTER, present, packed: true };
    Transfer { write, target, slots: &slots, shape, addresses, data }.run(port, registers, &payload)
}

/// A message that moves up to eight bytes for each slot. Up to four bytes are zero-extended to one
/// dword in the registers. Eight bytes are one qword, or two dwords in different registers.
struct Bytes<'s> {
    write: bool,
    target: Target,
    slots: &'s Slots,
    /// Number of bytes of a slot.
    count: usize,
    /// Number of address registers.
    addresses: usize,
    /// Number of data registers.
    data: usize,
}

impl Bytes<'_> {
    fn run(
        &self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
        payload: &Payload<'_>,
    ) -> Result<(), Fault> {
        let Some(at) = payload.data(port, self.write, self.addresses, self.data)? else {
            return Ok(());
        };
        let mut window = Window::new(self.target, &mut port.exec.vm, &mut port.local.slm);
        let bytes = self.each(&mut window, registers, at);
        let cut = window.cut();
        outside::slots(port, cut, self.target, self.slots, self.count as u64, self.write);
        target::observe(port, self.target == Target::Local, self.write);
        payload.moved(port, self.write, bytes)
    }

    /// Moves the bytes of each slot and returns their number. Bounds are checked for each byte.
    fn each(
        &self,
        window: &mut Window<'_, '_>,
        registers: &mut Registers,
        at: usize,
    ) -> Result<u64, PageFault> {
        let mut bytes = 0;
        for slot in (0..self.slots.simd.count()).filter(|slot| self.slots.has(*slot)) {
            let (offset, end) = (self.slots.offsets[slot], self.slots.ends[slot]);
            let (pitch, next) = match self.count {
                8 if EIGHT_BYTES_OF_A_SLOT_ARE_A_QWORD => (8, BYTES),
                _ => (BYTES, REGISTER),
            };
            for first in (0..self.count).step_by(BYTES) {
                let place = at + slot * pitch + first / BYTES * next;
                let length = (self.count - first).min(BYTES);
                let offset = offset + first as u64;
                let mut dword = [0; BYTES];
                if self.write {
                    dword = registers.u32(place).to_le_bytes();
                    window.write(offset, end, &dword[..length])?;
                } else {
                    window.read(offset, end, &mut dword[..length])?;
                    registers.set_u32(place, u32::from_le_bytes(dword));
                }
                bytes += length as u64;
            }
        }
        Ok(bytes)
    }
}
