//! References from packets and state to buffer objects, with the data that the kernel needs to move
//! the objects.

use super::error::BatchError;
use super::fields;
use super::object::Object;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;
use genxml_core::address::{Graphics, SpaceKind};
use genxml_core::reflect::{Container, Field, Kind};
use genxml_core::{Address, OutOfRange, bits};

/// The GPU's access to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The GPU only reads the object.
    Read,
    /// The GPU writes the object too; the kernel then orders other users of the object after it.
    Write,
}

/// A position in a buffer that holds the address of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    /// Bytes from the start of the buffer to the first dword that the kernel writes.
    pub offset: u64,
    /// Address of the object when the field was written.
    pub target: u64,
    /// Name of the object.
    pub object: Arc<str>,
    /// The address in the field, without other fields of its dwords; 48 bits.
    pub address: u64,
    /// The value added to the object's address. Its lowest bits may be other fields of the dword,
    /// as in STATE_BASE_ADDRESS, because the kernel writes the whole dword.
    pub delta: u64,
    /// The GPU's access.
    pub access: Access,
    /// Name of the packet or structure.
    pub packet: &'static str,
    /// Name of the field.
    pub field: &'static str,
    /// True if the 64 bits that the kernel writes hold nothing but the address and flags in the
    /// bits below it.
    pub(super) whole: bool,
}

/// An address that was taken with `reads` or `writes` and is not in a packet yet.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    target: u64,
    object: Arc<str>,
    address: u64,
    access: Access,
}

/// References of one buffer: those that wait for their packet, and those that are in a packet.
#[derive(Debug, Clone, Default)]
pub(super) struct References {
    // In a cell, so that `batch.emit(&Packet { address: batch.writes(..)? })` compiles.
    waiting: RefCell<Vec<Waiting>>,
    pub placed: Vec<Relocation>,
}

/// The largest value that the kernel adds to an object's address: it takes `delta` as an `int`
/// (i915, relocate_entry).
pub(super) const MAX_DELTA: u64 = i32::MAX as u64;

const VA_BITS: u32 = 48;

/// The low 48 bits of an address.
pub(super) const fn va(address: u64) -> u64 {
    address & bits::ones(VA_BITS)
}

/// The canonical form, in which the kernel writes addresses: bits 63:48 equal bit 47.
pub(super) const fn canonical(address: u64) -> u64 {
    bits::sign_extend(va(address), VA_BITS) as u64
}

impl References {
    /// A set of references that all still wait for their packet.
    pub fn of(waiting: Vec<Waiting>) -> Self {
        References { waiting: RefCell::new(waiting), placed: Vec::new() }
    }

    /// The address of `object` + `delta` for the next packet.
    pub fn take<const A: u64, const N: u32>(
        &self,
        object: &(impl Object + ?Sized),
        delta: u64,
        access: Access,
    ) -> Result<Address<Graphics, A, N>, BatchError> {
        if delta >= object.size() {
            return Err(BatchError::Outside {
                object: object.name().clone(),
                delta,
                size: object.size(),
            });
        }
        let (target, address) = (object.address(), object.address() + delta);
        if address == 0 {
            return Err(BatchError::AtZero { object: object.name().clone() });
        }
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

    /// Adds an address for the next packet, in an object of which only the address is known.
    #[cfg(all(feature = "std", feature = "registers"))]
    pub fn add(&mut self, target: u64, address: u64, access: Access) {
        let object = alloc::format!("the object at {target:#x}").into();
        self.waiting.get_mut().push(Waiting { target, object, address, access });
    }

    /// Drops the waiting addresses; returns the error for a packet that does not hold them.
    #[cfg(all(feature = "std", feature = "registers"))]
    pub fn unplaced(&mut self, packet: &'static str) -> BatchError {
        let first = self.take_waiting().into_iter().next();
        let (object, address) = first.map_or((Arc::from(""), 0), |one| (one.object, one.address));
        BatchError::Unplaced { packet, object, address }
    }

    /// True if an address waits for its packet.
    #[inline(always)]
    pub fn waiting(&mut self) -> bool {
        !self.waiting.get_mut().is_empty()
    }

    /// Drops the waiting addresses of a packet that was not emitted.
    pub fn forget(&mut self) {
        self.waiting.get_mut().clear();
    }

    /// Adds a reference for each waiting address. Searches `dwords` for the fields that hold the
    /// addresses. `dwords` are one packet, or consecutive structures, described by `container`, at
    /// byte `at` of the buffer. Afterwards no address waits. On an error, no reference is added.
    ///
    /// # Errors
    /// [`BatchError::Unplaced`]; [`BatchError::Ambiguous`] if more fields hold an address than the
    /// number of times it was taken.
    pub fn place(
        &mut self,
        container: &'static Container,
        dwords: &[u32],
        at: u64,
    ) -> Result<(), BatchError> {
        let waiting = self.take_waiting();
        self.placed.append(&mut resolve(&[], &waiting, container, dwords, at)?);
        Ok(())
    }

    /// Returns the waiting addresses, for another buffer.
    pub fn take_waiting(&mut self) -> Vec<Waiting> {
        core::mem::take(self.waiting.get_mut())
    }

    /// As [`place`](Self::place) for these addresses, in a packet that may already have references.
    /// A new reference replaces the old one in the same field.
    pub fn replace(
        &mut self,
        waiting: &[Waiting],
        container: &'static Container,
        dwords: &[u32],
        at: u64,
    ) -> Result<(), BatchError> {
        let mut new = resolve(&self.placed, waiting, container, dwords, at)?;
        self.placed.retain(|old| new.iter().all(|new| new.offset != old.offset));
        self.placed.append(&mut new);
        Ok(())
    }

    /// Updates the references of the packet at byte `at` after a change of the packet: their deltas
    /// contain the flags below the addresses. References whose field now holds another address are
    /// removed.
    pub fn changed(&mut self, container: &'static Container, dwords: &[u32], at: u64) {
        let range = at..at + 4 * dwords.len() as u64;
        let mut there = Vec::new();
        fields::addresses(container, dwords, &mut |found| {
            let (dword, qword) = qword(dwords, found.start);
            there.push((at + 4 * u64::from(dword), va(found.value), va(qword)));
        });
        self.placed.retain_mut(|relocation| {
            let same = there.iter().find(|(offset, address, _)| {
                *offset == relocation.offset && *address == relocation.address
            });
            if let Some((_, _, qword)) = same {
                relocation.delta = qword.wrapping_sub(relocation.target);
            }
            same.is_some() || !range.contains(&relocation.offset)
        });
    }
}

/// The references for the waiting addresses, in the order in which they were taken. A field that
/// already has a reference in `placed` keeps it if enough other fields are left.
fn resolve(
    placed: &[Relocation],
    waiting: &[Waiting],
    container: &'static Container,
    dwords: &[u32],
    at: u64,
) -> Result<Vec<Relocation>, BatchError> {
    let mut fields = holders(waiting, container, dwords, at);
    let mut new = Vec::new();
    for (index, one) in waiting.iter().enumerate() {
        let holds = |field: &Holder| field.address == va(one.address);
        let taken =
            waiting[index..].iter().filter(|other| va(other.address) == va(one.address)).count();
        let mut excess = fields.iter().filter(|field| holds(field)).count().saturating_sub(taken);
        fields.retain(|field| {
            let stands =
                |old: &Relocation| old.offset == field.offset && old.address == field.address;
            let keeps = excess > 0 && holds(field) && placed.iter().any(stands);
            excess -= usize::from(keeps);
            !keeps
        });
        let (packet, object, address) = (container.name, one.object.clone(), one.address);
        if excess > 0 {
            return Err(BatchError::Ambiguous {
                packet,
                object,
                address,
                fields: taken + excess,
                taken,
            });
        }
        match fields.iter().position(holds) {
            Some(field) => new.push(fields.remove(field).relocation(one, container)),
            None => return Err(BatchError::Unplaced { packet, object, address }),
        }
    }
    Ok(new)
}

/// A field that holds a waiting address.
struct Holder {
    field: &'static Field,
    /// Bytes from the start of the buffer.
    offset: u64,
    address: u64,
    qword: u64,
    /// True if the field holds all 48 bits of an address.
    wide: bool,
}

impl Holder {
    fn relocation(&self, one: &Waiting, container: &'static Container) -> Relocation {
        let high = self.qword >> VA_BITS;
        Relocation {
            offset: self.offset,
            target: one.target,
            object: one.object.clone(),
            address: self.address,
            delta: va(self.qword).wrapping_sub(one.target),
            access: one.access,
            packet: container.name,
            field: self.field.name,
            whole: self.wide && (high == 0 || high == canonical(self.qword) >> VA_BITS),
        }
    }
}

/// The fields that hold waiting addresses, in consecutive structures `container` from byte `at` on.
fn holders(
    waiting: &[Waiting],
    container: &'static Container,
    dwords: &[u32],
    at: u64,
) -> Vec<Holder> {
    let mut holders = Vec::new();
    // Packets have variable length and are not repeated.
    let length = match container.kind {
        Kind::Struct { .. } => container.dwords().max(1),
        _ => dwords.len().max(1),
    };
    for (index, dwords) in dwords.chunks(length).enumerate() {
        let at = at + 4 * (index * length) as u64;
        fields::addresses(container, dwords, &mut |found| {
            // The low bits, which the field does not store because of its alignment, are zero.
            let address = va(found.value);
            if found.space == SpaceKind::Graphics
                && waiting.iter().any(|one| va(one.address) == address)
            {
                let (dword, qword) = qword(dwords, found.start);
                holders.push(Holder {
                    field: found.field,
                    offset: at + 4 * u64::from(dword),
                    address,
                    qword,
                    wide: found.end >= 32 * dword + VA_BITS - 1,
                });
            }
        });
    }
    holders
}

/// The dword in which the address of a field starts, and the 64 bits from there on.
fn qword(dwords: &[u32], start: u32) -> (u32, u64) {
    let dword = start / 32;
    (dword, bits::get(dwords, 32 * dword, 32 * dword + 63))
}
