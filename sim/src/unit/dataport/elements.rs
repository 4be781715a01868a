//! Transfers of dwords and qwords between registers and the addresses of slots, for untyped
//! messages and for scattered messages with dwords or qwords.

use super::outside;
use super::slots::Slots;
use super::target;
use super::window::{Target, Window};
use crate::eu::regions::Registers;
use crate::machine::fault::Fault;
use crate::mem::PageFault;
use crate::unit::payload::Payload;
use crate::unit::port::Port;

/// Maximum number of elements of a slot: eight dwords (MDC_A64_DS, 2d p.5).
const ELEMENTS: usize = 8;

/// Bytes of a dword.
const DWORD: usize = 4;

/// Layout of the elements of slots in registers. In memory, the elements of a slot are contiguous.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shape {
    /// Bytes of an element, 4 or 8.
    pub width: usize,
    /// Distance between adjacent slots in registers, in bytes.
    pub slot: usize,
    /// Distance between adjacent elements of a slot in registers, in bytes.
    pub element: usize,
    /// Mask of the elements of a slot that the message has.
    pub present: u32,
    /// True if elements that the message does not have take no room in registers.
    pub packed: bool,
}

impl Shape {
    /// Byte offset in registers of element `n` of a slot, from the slot's first element.
    #[inline(always)]
    fn place(&self, n: usize) -> usize {
        match self.packed {
            true => self.element * (self.present & ((1 << n) - 1)).count_ones() as usize,
            false => self.element * n,
        }
    }

    /// Number of elements up to the last one that the message has.
    #[inline(always)]
    fn span(&self) -> usize {
        (u32::BITS - self.present.leading_zeros()) as usize
    }

    /// Byte offset in registers, from the first slot, of element `n` of adjacent slots that have
    /// `count` elements each.
    #[inline(always)]
    fn place_in_row(&self, n: usize, count: usize) -> usize {
        n / count * self.slot + self.element * (n % count)
    }

    /// Calls `work` for each dword of a slot with its byte offset in registers and its byte offset
    /// in memory. Returns the number of bytes.
    #[inline(always)]
    fn each_dword(
        &self,
        mut work: impl FnMut(usize, u64) -> Result<(), PageFault>,
    ) -> Result<u64, PageFault> {
        let mut bytes = 0;
        for n in (0..self.span()).filter(|n| self.present >> n & 1 == 1) {
            for half in (0..self.width).step_by(DWORD) {
                work(self.place(n) + half, (n * self.width + half) as u64)?;
            }
            bytes += self.width as u64;
        }
        Ok(bytes)
    }

    /// Number of elements of a slot; `None` if an element before the last one is missing.
    #[inline(always)]
    fn whole(&self) -> Option<usize> {
        (self.present & (self.present + 1) == 0).then_some(self.span())
    }
}

/// A message that moves elements. Its payload has the addresses, then the data of a write.
#[derive(Debug)]
pub(super) struct Transfer<'s> {
    /// True if the message writes memory.
    pub write: bool,
    /// The memory that the message accesses.
    pub target: Target,
    /// The slots, with their offsets in that memory.
    pub slots: &'s Slots,
    /// Layout of the data in registers.
    pub shape: Shape,
    /// Number of address registers.
    pub addresses: usize,
    /// Number of data registers.
    pub data: usize,
}

impl Transfer<'_> {
    /// Checks the lengths of the message and moves the elements.
    pub fn run(
        &self,
        port: &mut Port<'_, '_>,
        registers: &mut Registers,
        payload: &Payload<'_>,
    ) -> Result<(), Fault> {
        let Some(at) = payload.data(port, self.write, self.addresses, self.data)? else {
            return Ok(());
        };
        let mut window = Window::new(self.target, &mut port.exec.vm, &mut port.local.slm);
        let bytes = match self.write {
            true => write(&mut window, registers, at, self.slots, &self.shape),
            false => read(&window, registers, at, self.slots, &self.shape),
        };
        let cut = window.cut();
        let reach = (self.shape.span() * self.shape.width) as u64;
        outside::slots(port, cut, self.target, self.slots, reach, self.write);
        target::observe(port, self.target == Target::Local, self.write);
        payload.moved(port, self.write, bytes)
    }
}

/// Reads the elements of the active slots into registers from byte `at` on. The registers of
/// inactive slots keep their values. Returns the number of bytes.
fn read(
    window: &Window<'_, '_>,
    registers: &mut Registers,
    at: usize,
    slots: &Slots,
    shape: &Shape,
) -> Result<u64, PageFault> {
    let mut bytes = 0;
    each(slots, shape, false, |slot, run| match run {
        Run::Row(count) => {
            let length = 8 * count * shape.width;
            let start = at + slot * shape.slot;
            if count == 1 && shape.slot == DWORD && shape.width == DWORD {
                let row: [u8; 8 * DWORD] = window.array(slots.offsets[slot])?;
                registers.set_row(start, row);
            } else {
                let mut memory = [0; 8 * 8 * ELEMENTS];
                window.read(slots.offsets[slot], slots.ends[slot], &mut memory[..length])?;
                for (n, element) in memory[..length].chunks_exact(shape.width).enumerate() {
                    let place = start + shape.place_in_row(n, count);
                    registers.bytes_mut()[place..place + shape.width].copy_from_slice(element);
                }
            }
            bytes += length as u64;
            Ok(())
        }
        Run::Same(count) => {
            let length = count * shape.width;
            let mut memory = [0; 8 * ELEMENTS];
            window.read(slots.offsets[slot], slots.ends[slot], &mut memory[..length])?;
            for (n, element) in memory[..length].chunks_exact(shape.width).enumerate() {
                let first = at + slot * shape.slot + shape.element * n;
                for place in (0..8).map(|slot| first + slot * shape.slot) {
                    registers.bytes_mut()[place..place + shape.width].copy_from_slice(element);
                }
            }
            bytes += 8 * length as u64;
            Ok(())
        }
        Run::Slot => {
            let start = at + slot * shape.slot;
            bytes += shape.each_dword(|place, offset| {
                let value = window.dword(slots.offsets[slot] + offset, slots.ends[slot])?;
                registers.set_u32(start + place, value);
                Ok(())
            })?;
            Ok(())
        }
    })?;
    Ok(bytes)
}

/// Writes the elements of the active slots to memory, in the order of the slots. The registers hold
/// them from byte `at` on. Returns the number of bytes.
fn write(
    window: &mut Window<'_, '_>,
    registers: &Registers,
    at: usize,
    slots: &Slots,
    shape: &Shape,
) -> Result<u64, PageFault> {
    let mut bytes = 0;
    each(slots, shape, true, |slot, run| match run {
        Run::Row(count) => {
            let length = 8 * count * shape.width;
            let start = at + slot * shape.slot;
            bytes += length as u64;
            if count == 1 && shape.slot == DWORD && shape.width == DWORD {
                let row: [u8; 8 * DWORD] = registers.row(start);
                return window.set_array(slots.offsets[slot], &row);
            }
            let mut memory = [0; 8 * 8 * ELEMENTS];
            for (n, element) in memory[..length].chunks_exact_mut(shape.width).enumerate() {
                let place = start + shape.place_in_row(n, count);
                element.copy_from_slice(&registers.bytes()[place..place + shape.width]);
            }
            window.write(slots.offsets[slot], slots.ends[slot], &memory[..length])
        }
        Run::Slot | Run::Same(_) => {
            let start = at + slot * shape.slot;
            bytes += shape.each_dword(|place, offset| {
                let value = registers.u32(start + place);
                window.set_dword(slots.offsets[slot] + offset, slots.ends[slot], value)
            })?;
            Ok(())
        }
    })?;
    Ok(bytes)
}

/// What one step of a transfer moves.
enum Run {
    /// Eight slots with this many elements each, contiguous in memory.
    Row(usize),
    /// Eight slots with this many elements each, all at the same address.
    Same(usize),
    /// One slot.
    Slot,
}

/// Calls `work` for the active slots in order. Eight active slots are moved together if no element
/// is missing and their memory is contiguous, or if they read the same memory.
#[inline(always)]
fn each(
    slots: &Slots,
    shape: &Shape,
    write: bool,
    mut work: impl FnMut(usize, Run) -> Result<(), PageFault>,
) -> Result<(), PageFault> {
    let (count, whole) = (slots.simd.count(), shape.whole());
    let mut slot = 0;
    while slot < count {
        match whole {
            Some(elements) if count >= 8 && slots.row(slot, (elements * shape.width) as u64) => {
                work(slot, Run::Row(elements))?;
                slot += 8;
            }
            Some(elements)
                if count >= 8 && !write && slots.same(slot, (elements * shape.width) as u64) =>
            {
                work(slot, Run::Same(elements))?;
                slot += 8;
            }
            _ => {
                let end = (slot + 8).min(count);
                while slot < end {
                    if slots.has(slot) {
                        work(slot, Run::Slot)?;
                    }
                    slot += 1;
                }
            }
        }
    }
    Ok(())
}
