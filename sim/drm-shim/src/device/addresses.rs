//! Where objects lie in an address space: where the client wants them, or where the kernel found
//! room; and the addresses that it writes into batches for clients that do not know them.

use super::gem::ObjectId;
use crate::uapi::i915::object;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ops::Range;

/// An address space, as clients see it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct VmId(pub u64);

/// The first address that is given out: those below are never right.
const FIRST: u64 = 0x1000_0000;
/// What objects lie below unless they say that they support 48 bits; the kernel keeps the last page
/// free.
const END_32: u64 = (1 << 32) - 4096;
/// End of all addresses.
const END_48: u64 = 1 << 48;

/// What is remembered of an address space: where objects lie that had no address of their own. They
/// keep it, so that clients need no relocation the next time.
#[derive(Debug, Default)]
pub struct Vm {
    /// Who uses it: contexts and handles.
    pub users: u32,
    /// Objects by address, with their ends.
    given: BTreeMap<u64, (u64, ObjectId)>,
    addresses: BTreeMap<ObjectId, u64>,
}

/// An object of a submission that wants an address.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Which.
    pub object: ObjectId,
    /// Bytes, in whole pages.
    pub size: u64,
    /// A power of two.
    pub alignment: u64,
    /// The address, of those that say it.
    pub pinned: Option<u64>,
    /// Addresses of 48 bits will do.
    pub wide: bool,
}

/// The form that addresses have in batches: bit 47 repeated above.
pub const fn canonical(address: u64) -> u64 {
    ((address << 16) as i64 >> 16) as u64
}

/// An address in its 48 bits.
pub const fn plain(address: u64) -> u64 {
    address & (END_48 - 1)
}

/// What an object of an EXECBUFFER2 asks for.
///
/// # Errors
/// EINVAL for an address that cannot be.
pub fn pinned(offset: u64, flags: u64, size: u64) -> Result<Option<u64>, Errno> {
    if flags & object::PINNED == 0 {
        return Ok(None);
    }
    let address = plain(offset);
    let fits =
        address.is_multiple_of(4096) && canonical(address) == offset && address + size <= END_48;
    fits.then_some(Some(address)).ok_or(Errno::INVAL)
}

impl Vm {
    /// An empty one with one user.
    pub fn with_user() -> Vm {
        Vm { users: 1, ..Vm::default() }
    }

    /// Forgets an object.
    pub fn forget(&mut self, object: ObjectId) {
        if let Some(address) = self.addresses.remove(&object) {
            self.given.remove(&address);
        }
    }

    /// An address for each object of a submission, in order.
    ///
    /// # Errors
    /// ENOSPC if there is no room, or if two objects want the same address; EINVAL if one has a
    /// size of 0.
    pub fn place(&mut self, wanted: &[Wanted]) -> Result<Vec<u64>, Errno> {
        let mut taken: BTreeMap<u64, u64> = BTreeMap::new();
        for object in wanted {
            let Some(address) = object.pinned else { continue };
            if overlaps(&taken, &(address..address + object.size)) {
                return Err(Errno::NOSPC);
            }
            taken.insert(address, address + object.size);
        }
        let mut addresses = Vec::with_capacity(wanted.len());
        for object in wanted {
            let address = match object.pinned {
                Some(address) => {
                    self.forget(object.object);
                    address
                }
                None => self.find(object, &mut taken)?,
            };
            addresses.push(address);
        }
        Ok(addresses)
    }

    /// The address that an object had, or a new one; `taken` is what this submission has taken.
    fn find(&mut self, wanted: &Wanted, taken: &mut BTreeMap<u64, u64>) -> Result<u64, Errno> {
        let alignment = wanted.alignment.max(4096);
        let end = if wanted.wide { END_48 } else { END_32 };
        if let Some(&address) = self.addresses.get(&wanted.object) {
            let range = address..address + wanted.size;
            if address.is_multiple_of(alignment) && range.end <= end && !overlaps(taken, &range) {
                taken.insert(range.start, range.end);
                return Ok(address);
            }
            self.forget(wanted.object);
        }
        // First fit: both maps are gone through side by side.
        let mut address = FIRST.next_multiple_of(alignment);
        loop {
            let range = address
                ..address.checked_add(wanted.size).filter(|top| *top <= end).ok_or(Errno::NOSPC)?;
            let given = self.given.range(..range.end).next_back().map(|(_, (top, _))| *top);
            let pinned = taken.range(..range.end).next_back().map(|(_, top)| *top);
            match given.max(pinned).filter(|top| *top > address) {
                Some(top) => {
                    address = top.checked_next_multiple_of(alignment).ok_or(Errno::NOSPC)?
                }
                None => break,
            }
        }
        taken.insert(address, address + wanted.size);
        self.given.insert(address, (address + wanted.size, wanted.object));
        self.addresses.insert(wanted.object, address);
        Ok(address)
    }
}

/// True if a range meets one of others that do not meet each other.
fn overlaps(taken: &BTreeMap<u64, u64>, range: &Range<u64>) -> bool {
    taken.range(..range.end).next_back().is_some_and(|(_, end)| *end > range.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(number: u64, size: u64, pinned: Option<u64>) -> Wanted {
        Wanted { object: ObjectId(number), size, alignment: 0, pinned, wide: false }
    }

    #[test]
    fn canonical_form() {
        assert_eq!(canonical(0x8001_ffff_0000), 0xffff_8001_ffff_0000);
        assert_eq!(canonical(0x7fff_ffff_f000), 0x7fff_ffff_f000);
        assert_eq!(pinned(0xffff_8001_ffff_0000, object::PINNED, 4096), Ok(Some(0x8001_ffff_0000)));
        assert_eq!(pinned(0x8001_ffff_0000, object::PINNED, 4096), Err(Errno::INVAL));
        assert_eq!(pinned(0x1001, object::PINNED, 4096), Err(Errno::INVAL));
        assert_eq!(pinned(0x1001, 0, 4096), Ok(None));
    }

    /// Objects keep their addresses, and make way for those that are pinned.
    #[test]
    fn places() {
        let mut vm = Vm::default();
        let first = vm.place(&[object(1, 8192, None), object(2, 4096, None)]).unwrap();
        assert_eq!(first, [FIRST, FIRST + 8192]);
        let second = vm.place(&[object(2, 4096, None), object(3, 4096, None)]).unwrap();
        assert_eq!(second, [FIRST + 8192, FIRST + 12288]);
        let third =
            vm.place(&[object(2, 4096, None), object(4, 4096, Some(FIRST + 8192))]).unwrap();
        assert_eq!(third, [FIRST + 16384, FIRST + 8192]);
        let twice = [object(5, 8192, Some(FIRST)), object(6, 4096, Some(FIRST + 4096))];
        assert_eq!(vm.place(&twice), Err(Errno::NOSPC));
        let aligned = Wanted { alignment: 1 << 20, ..object(7, 4096, None) };
        assert_eq!(vm.place(&[aligned]).unwrap(), [FIRST + (1 << 20)]);
        let large = object(8, 4 << 30, None);
        assert_eq!(vm.place(&[large]), Err(Errno::NOSPC));
        assert!(vm.place(&[Wanted { wide: true, ..large }]).is_ok());
    }
}
