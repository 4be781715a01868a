//! References from packets and state to buffer objects, and what the kernel needs to move the objects.

use super::buffer::Object;
use super::error::BatchError;
use super::fields;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;
use genxml_core::address::{Graphics, SpaceKind};
use genxml_core::reflect::Container;
use genxml_core::{Address, OutOfRange, bits};

/// What the GPU does with an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It only reads.
    Read,
    /// It writes too; the kernel then orders other users of the object behind it.
    Write,
}

/// A place in a buffer that holds the address of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    /// Bytes from the start of the buffer to the first dword that the kernel writes.
    pub offset: u64,
    /// Address of the object that the place was filled in for.
    pub target: u64,
    /// Name of the object.
    pub object: Arc<str>,
    /// The address that stands there, without what shares its dwords; 48 bits.
    pub address: u64,
    /// What is added to the object's address: its lowest bits may be other fields of the dword, as in
    /// STATE_BASE_ADDRESS, because the kernel writes the whole of it.
    pub delta: u32,
    /// What the GPU does there.
    pub access: Access,
    /// Name of the packet or structure.
    pub packet: &'static str,
    /// Name of the field.
    pub field: &'static str,
    /// The 64 bits that the kernel writes are all the address's, or flags below it.
    pub(super) whole: bool,
}

/// An address that was given out and that no packet holds yet.
#[derive(Debug, Clone)]
struct Waiting {
    target: u64,
    object: Arc<str>,
    address: u64,
    access: Access,
}

/// Addresses that wait for their packet.
pub(super) struct Waitings(Vec<Waiting>);

/// References of one buffer: those that wait for their packet, and those that are placed.
#[derive(Debug, Clone, Default)]
pub(super) struct References {
    // Behind a cell, so that `batch.emit(&Packet { address: batch.writes(..)? })` borrows as it reads.
    waiting: RefCell<Vec<Waiting>>,
    pub placed: Vec<Relocation>,
}

const VA_BITS: u32 = 48;

/// The low 48 bits.
pub(super) const fn va(address: u64) -> u64 {
    address & bits::ones(VA_BITS)
}

/// With bits 63:48 as bit 47, as the kernel writes addresses.
pub(super) const fn canonical(address: u64) -> u64 {
    bits::sign_extend(va(address), VA_BITS) as u64
}

impl References {
    /// The address of `object` + `delta` for the next packet.
    pub fn take<const A: u64, const N: u32>(
        &self,
        object: &(impl Object + ?Sized),
        delta: u64,
        access: Access,
    ) -> Result<Address<Graphics, A, N>, BatchError> {
        if delta >= object.size() {
            return Err(BatchError::Outside { object: object.name().clone(), delta, size: object.size() });
        }
        let (target, address) = (object.address(), object.address() + delta);
        let typed = Address::new(address).map_err(|source: OutOfRange| BatchError::Offset {
            buffer: object.name().clone(),
            what: "the reference",
            offset: delta,
            source: Box::new(source),
        })?;
        let waiting = Waiting { target, object: object.name().clone(), address, access };
        self.waiting.borrow_mut().push(waiting);
        Ok(typed)
    }

    /// True if an address was given out that no packet holds yet.
    #[inline(always)]
    pub fn waiting(&mut self) -> bool {
        !self.waiting.get_mut().is_empty()
    }

    /// Forgets addresses that were given out for a packet that did not come.
    pub fn forget(&mut self) {
        self.waiting.get_mut().clear();
    }

    /// Hands over what waits, to be placed elsewhere.
    pub fn take_waiting(&mut self) -> Waitings {
        Waitings(core::mem::take(self.waiting.get_mut()))
    }

    /// Finds the fields that hold the waiting addresses in the packet or structure at byte `at` of the buffer.
    pub fn place(
        &mut self,
        container: &'static Container,
        dwords: &[u32],
        at: u64,
    ) -> Result<(), BatchError> {
        let waiting = self.take_waiting();
        self.place_these(waiting, container, dwords, at)
    }

    /// As [`place`](Self::place), of these addresses.
    pub fn place_these(
        &mut self,
        Waitings(mut waiting): Waitings,
        container: &'static Container,
        dwords: &[u32],
        at: u64,
    ) -> Result<(), BatchError> {
        let placed = &mut self.placed;
        fields::addresses(container, dwords, &mut |found| {
            if found.space != SpaceKind::Graphics {
                return;
            }
            // A field that drops low bits (its alignment) was given an address without them.
            let Some(index) = waiting.iter().position(|one| va(one.address) == va(found.value)) else {
                return;
            };
            let one = waiting.remove(index);
            let (dword, qword) = qword(dwords, found.start);
            let delta = va(qword).wrapping_sub(one.target);
            let high = qword >> VA_BITS;
            let whole = found.end >= 32 * dword + VA_BITS - 1
                && delta <= u64::from(u32::MAX)
                && (high == 0 || high == canonical(qword) >> VA_BITS);
            placed.push(Relocation {
                offset: at + 4 * u64::from(dword),
                target: one.target,
                object: one.object,
                address: va(found.value),
                delta: delta as u32,
                access: one.access,
                packet: container.name,
                field: found.field.name,
                whole,
            });
        });
        match waiting.pop() {
            None => Ok(()),
            Some(one) => {
                Err(BatchError::Unplaced { packet: container.name, object: one.object, address: one.address })
            }
        }
    }

    /// As [`place_these`](Self::place_these), where references to the same fields may stand already.
    pub fn replace(
        &mut self,
        waiting: Waitings,
        container: &'static Container,
        dwords: &[u32],
        at: u64,
    ) -> Result<(), BatchError> {
        let mut before = core::mem::take(&mut self.placed);
        let result = self.place_these(waiting, container, dwords, at);
        before.retain(|old| self.placed.iter().all(|new| new.offset != old.offset));
        before.append(&mut self.placed);
        self.placed = before;
        result
    }

    /// After the packet of these dwords at byte `at` was changed: deltas follow flags below their addresses, and what
    /// holds another address than before is no reference any longer.
    pub fn changed(&mut self, container: &'static Container, dwords: &[u32], at: u64) {
        let range = at..at + 4 * dwords.len() as u64;
        let mut there = Vec::new();
        fields::addresses(container, dwords, &mut |found| {
            let (dword, qword) = qword(dwords, found.start);
            there.push((at + 4 * u64::from(dword), va(found.value), va(qword)));
        });
        self.placed.retain_mut(|relocation| {
            let same = there
                .iter()
                .find(|(offset, address, _)| *offset == relocation.offset && *address == relocation.address);
            if let Some((_, _, qword)) = same {
                relocation.delta = qword.wrapping_sub(relocation.target) as u32;
            }
            same.is_some() || !range.contains(&relocation.offset)
        });
    }
}

/// The dword where the address of a field starts, and the 64 bits from there on.
fn qword(dwords: &[u32], start: u32) -> (u32, u64) {
    let dword = start / 32;
    (dword, bits::get(dwords, 32 * dword, 32 * dword + 63))
}
