//! Addresses of objects in an address space: chosen by the client (softpin), or assigned by the
//! kernel and written into batches by relocations.

use super::config::Chip;
use super::gem::ObjectId;
use crate::uapi::i915::{ExecObject2, object};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Identifies an address space (VM) of a client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct VmId(pub u64);

/// End of the addresses that the client can choose for objects without SUPPORTS_48B. The kernel
/// leaves the last page of 4 GiB free.
const END_32: u64 = (1 << 32) - 4096;
/// End of the address space.
pub const END_48: u64 = 1 << 48;

/// The objects that are bound in an address space. An object stays bound after its submission, so
/// that later submissions need no relocation, and can use the object without listing it. It is
/// unbound when it is removed, when it gets another address, or when another object needs its
/// addresses. (Linux i915_gem_execbuffer.c, eb_validate_vma; i915_gem_evict.c)
#[derive(Debug)]
pub struct Vm {
    /// Lowest address that the device assigns.
    first: u64,
    /// End of the addresses for objects without SUPPORTS_48B.
    end: u64,
    /// Number of contexts and handles that refer to the address space.
    pub users: u32,
    /// End and object of each bound range, by start.
    bound: BTreeMap<u64, (u64, ObjectId)>,
    addresses: BTreeMap<ObjectId, u64>,
}

/// An object of a submission that needs an address.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The object.
    pub object: ObjectId,
    /// Size in bytes, whole pages.
    pub size: u64,
    /// Alignment in bytes: a power of two, or 0.
    pub alignment: u64,
    /// The address, if the client chose it.
    pub pinned: Option<u64>,
    /// The address where the client wishes an object that is not bound, if it chose none; 0
    /// without a wish.
    pub wish: u64,
    /// True if the object supports 48-bit addresses.
    pub wide: bool,
}

/// The canonical form of an address: bit 47 repeated in the bits above.
pub const fn canonical(address: u64) -> u64 {
    ((address << 16) as i64 >> 16) as u64
}

/// The low 48 bits of an address.
pub const fn plain(address: u64) -> u64 {
    address & (END_48 - 1)
}

/// The address that the flags and offset of an EXECBUFFER2 entry choose; `None` without PINNED.
///
/// # Errors
/// EINVAL for an address that is not canonical, or not aligned to a page and to the alignment of
/// the entry, or if the object would end above 2^48; without SUPPORTS_48B, or if the GPU has no
/// page tables of 48 bits (`has_48`), above 4 GiB less one page. (Linux i915_vma.c,
/// i915_vma_insert)
pub fn pinned(entry: &ExecObject2, size: u64, has_48: bool) -> Result<Option<u64>, Errno> {
    if entry.flags & object::PINNED == 0 {
        return Ok(None);
    }
    let address = plain(entry.offset);
    let end = if has_48 && entry.flags & object::SUPPORTS_48B != 0 { END_48 } else { END_32 };
    let fits = address.is_multiple_of(entry.alignment.max(4096))
        && canonical(address) == entry.offset
        && address + size <= end;
    fits.then_some(Some(address)).ok_or(Errno::INVAL)
}

/// The address where the offset of an EXECBUFFER2 entry without PINNED wishes the object: the page
/// of the offset.
///
/// The kernel takes 0 as a wish, too. Here 0 is no wish, so that low addresses stay free and small
/// wrong addresses fault. (Linux i915_gem_execbuffer.c, eb_pin_vma)
pub fn wish(entry: &ExecObject2) -> u64 {
    plain(entry.offset) / 4096 * 4096
}

impl Vm {
    /// An address space without objects, with one reference.
    pub fn with_user(chip: &Chip) -> Vm {
        Vm {
            first: chip.first_address,
            end: chip.end_address,
            users: 1,
            bound: BTreeMap::new(),
            addresses: BTreeMap::new(),
        }
    }

    /// Number of bound objects.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.bound.len()
    }

    /// Unbinds an object.
    pub fn forget(&mut self, object: ObjectId) {
        if let Some(address) = self.addresses.remove(&object) {
            self.bound.remove(&address);
        }
    }

    /// Binds an object at `address`. Objects that overlap it are unbound.
    fn bind(&mut self, wanted: &Wanted, address: u64) {
        self.forget(wanted.object);
        let end = address + wanted.size;
        while let Some((_, &(top, object))) = self.bound.range(..end).next_back()
            && top > address
        {
            self.forget(object);
        }
        self.bound.insert(address, (end, wanted.object));
        self.addresses.insert(wanted.object, address);
    }

    /// Binds the objects of a submission and returns their addresses, in order: the chosen ones,
    /// and assigned ones for the other objects.
    ///
    /// # Errors
    /// ENOSPC if there is no room, or if two chosen ranges overlap.
    pub fn place(&mut self, wanted: &[Wanted]) -> Result<Vec<u64>, Errno> {
        let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
        for object in wanted {
            let Some(address) = object.pinned else { continue };
            if overlaps(&taken, &(address..address + object.size)) {
                return Err(Errno::NOSPC);
            }
            taken.insert(address, address + object.size);
        }
        for object in wanted {
            if let Some(address) = object.pinned {
                self.bind(object, address);
            }
        }
        let mut addresses = Vec::with_capacity(wanted.len());
        for object in wanted {
            let address = match object.pinned {
                Some(address) => address,
                None => self.assign(object, wanted)?,
            };
            addresses.push(address);
        }
        Ok(addresses)
    }

    /// The address where the object is bound already, or a new one if that does not fit: the one
    /// that the client wishes if that is free, else the first that is free. If there is no room,
    /// all objects that are not in `submission` are unbound.
    fn assign(&mut self, wanted: &Wanted, submission: &[Wanted]) -> Result<u64, Errno> {
        let alignment = wanted.alignment.max(4096);
        let end = if wanted.wide { END_48 } else { self.end };
        if let Some(&address) = self.addresses.get(&wanted.object) {
            // PAD_TO_SIZE can ask for more addresses than before.
            let room = self.bound.get(&address).map_or(0, |(top, _)| top - address);
            let fits = room >= wanted.size && address + wanted.size <= end;
            if fits && address.is_multiple_of(alignment) {
                return Ok(address);
            }
            self.forget(wanted.object);
        } else if wanted.wish != 0
            && wanted.wish.is_multiple_of(alignment)
            && wanted.wish + wanted.size <= end
            && self.is_free(wanted.wish..wanted.wish + wanted.size)
        {
            self.bind(wanted, wanted.wish);
            return Ok(wanted.wish);
        }
        let address = match self.first_fit(wanted.size, alignment, end) {
            Some(address) => address,
            None => {
                let listed: BTreeSet<ObjectId> = submission.iter().map(|one| one.object).collect();
                self.bound.retain(|_, (_, object)| listed.contains(object));
                self.addresses.retain(|object, _| listed.contains(object));
                self.first_fit(wanted.size, alignment, end).ok_or(Errno::NOSPC)?
            }
        };
        self.bind(wanted, address);
        Ok(address)
    }

    /// True if no object is bound in a range.
    fn is_free(&self, range: Range<u64>) -> bool {
        self.bound.range(..range.end).next_back().is_none_or(|(_, (end, _))| *end <= range.start)
    }

    /// The lowest free range of `size` bytes below `end`; `None` without such a range.
    fn first_fit(&self, size: u64, alignment: u64, end: u64) -> Option<u64> {
        let mut address = self.first.next_multiple_of(alignment);
        loop {
            let range = address..address.checked_add(size).filter(|top| *top <= end)?;
            let last = self.bound.range(..range.end).next_back().map(|(_, (top, _))| *top);
            match last.filter(|top| *top > address) {
                Some(top) => address = top.checked_next_multiple_of(alignment)?,
                None => return Some(address),
            }
        }
    }
}

/// True if a range overlaps one of `taken`, which do not overlap each other.
fn overlaps(taken: &BTreeMap<u64, u64>, range: &Range<u64>) -> bool {
    taken.range(..range.end).next_back().is_some_and(|(_, end)| *end > range.start)
}

#[cfg(test)]
mod tests;
