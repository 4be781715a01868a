//! What the device needs from the process that it runs in: access to the client's memory and
//! descriptors, memory that client and GPU share, and threads. The layer above the device
//! implements these traits.

use bytemuck::Pod;
use genxml_sim::mem::Backing;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::io::Errno;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::descriptor;

/// Largest array of a client that is copied, in bytes: the kernel allocates at most this much for a
/// copy. (Linux mm/util.c, kvmalloc_node)
const MAX_ARRAY: u64 = i32::MAX as u64;

/// The client's process. Wrong addresses and descriptor numbers of the client cause an error, never
/// a crash.
pub trait Host: fmt::Debug + Send + Sync {
    /// Fills `out` from the client's memory at `address`.
    ///
    /// # Errors
    /// EFAULT if not all of it can be read.
    fn read(&self, address: u64, out: &mut [u8]) -> Result<(), Errno>;

    /// Writes `bytes` to the client's memory at `address`.
    ///
    /// # Errors
    /// EFAULT if not all of it can be written.
    fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Errno>;

    /// True if all pages of a range of the client's memory are mapped and can be read, and written
    /// if `writable`.
    fn is_accessible(&self, address: u64, bytes: u64, writable: bool) -> bool;

    /// True if the client has the capability CAP_SYS_ADMIN, in any user namespace.
    fn is_admin(&self) -> bool;

    /// A duplicate of one of the client's descriptors.
    ///
    /// # Errors
    /// EBADF if it is not open.
    fn duplicate(&self, number: RawFd) -> Result<OwnedFd, Errno>;

    /// Maps `bytes` bytes of an object into the client's memory and returns the address. The
    /// mapping keeps the memory until the client unmaps it.
    ///
    /// # Errors
    /// The errors of mmap.
    fn map(&self, memory: Mappable, bytes: u64) -> Result<u64, Errno>;

    /// A new arena, all of it free.
    ///
    /// # Errors
    /// The errors of memfd_create, ftruncate and mmap.
    fn new_arena(&self) -> Result<Box<dyn Arena>, Errno>;

    /// Part of a file of another process, as memory of an object.
    ///
    /// # Errors
    /// The errors of mmap.
    fn import(&self, file: OwnedFd, offset: u64, bytes: u64) -> Result<Arc<dyn FilePages>, Errno>;

    /// Pages of the client's own memory (GEM_USERPTR). Address and size are multiples of 4096, and
    /// the address is not 0.
    fn user_pages(&self, address: u64, bytes: u64, writable: bool) -> Arc<dyn UserPages>;

    /// Starts a thread that calls `work`.
    ///
    /// # Errors
    /// EAGAIN if the process cannot have another thread.
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) -> Result<(), Errno>;
}

/// Memory of an object.
pub trait Pages: fmt::Debug + Send + Sync {
    /// Size in bytes.
    fn size(&self) -> u64;

    /// Fills `out` from `offset` on.
    ///
    /// # Errors
    /// EINVAL beyond the end; EFAULT for pages that the client has unmapped.
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Errno>;

    /// Writes bytes from `offset` on.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Errno>;

    /// This memory, for use by the model. It stays mapped as long as the result exists.
    fn backing(&self) -> Box<dyn Backing>;
}

/// Memory of an object that is part of a file, which clients map.
pub trait FilePages: Pages {
    /// The file, and the offset of the first byte in it.
    fn file(&self) -> (BorrowedFd<'_>, u64);

    /// The process that has the file open.
    fn owner(&self) -> u32;

    /// The number of the file's descriptor in that process, and the offset of the first byte.
    fn location(&self) -> (RawFd, u64) {
        let (file, offset) = self.file();
        (file.as_raw_fd(), offset)
    }

    /// The parts that have been written. Reading other parts would allocate pages for them.
    fn populated(&self) -> Vec<Range<u64>>;
}

/// Keeps the memory of an object: as long as a clone of this value exists, the memory's part of the
/// file is not used for another object.
#[derive(Clone, Debug)]
pub struct Keeper {
    _pages: Option<Arc<dyn FilePages>>,
    /// A descriptor of the buffer, if another process owns the memory. That process keeps the
    /// memory as long as the descriptor is open.
    _buffer: Option<Arc<OwnedFd>>,
}

impl Keeper {
    /// Keeps memory of this process.
    pub fn of_pages(pages: Arc<dyn FilePages>) -> Keeper {
        Keeper { _pages: Some(pages), _buffer: None }
    }

    /// Keeps memory of another process, from which `buffer` is a descriptor.
    pub fn of_buffer(buffer: Arc<OwnedFd>) -> Keeper {
        Keeper { _pages: None, _buffer: Some(buffer) }
    }
}

/// Memory that a client may map.
#[derive(Debug)]
pub struct Mappable {
    /// The file that contains the memory.
    pub file: OwnedFd,
    /// Offset in the file at which the mapping starts.
    pub offset: u64,
    /// Prevents that the memory is used for another object while it is mapped.
    pub keeper: Keeper,
}

/// Memory of an object that consists of the client's own pages. The client may unmap them at any
/// time.
pub trait UserPages: Pages {
    /// True if at least one of the pages overlaps `bytes` bytes from the client's address `address`
    /// on.
    fn overlaps(&self, address: u64, bytes: u64) -> bool;

    /// True if all pages are mapped and permit reads, and writes unless the object is read-only.
    fn is_accessible(&self) -> bool;

    /// The client lists the object in a submission: from now on, calls that unmap or free the pages
    /// wait for the work of the object.
    fn pin(&self);
}

/// A file that contains the memory of objects.
pub trait Arena: fmt::Debug + Send {
    /// The process that made the arena.
    fn owner(&self) -> u32;

    /// At least `bytes` zero bytes in whole pages; `None` if there is no room.
    fn allocate(&self, bytes: u64) -> Option<Arc<dyn FilePages>>;
}

impl dyn Host + '_ {
    /// The structure at `address` of the client's memory.
    ///
    /// # Errors
    /// EFAULT if not all of it can be read.
    pub fn value<T: Pod>(&self, address: u64) -> Result<T, Errno> {
        let mut value = T::zeroed();
        self.read(address, bytemuck::bytes_of_mut(&mut value))?;
        Ok(value)
    }

    /// Writes a structure to the client's memory.
    ///
    /// # Errors
    /// EFAULT if not all of it can be written.
    pub fn put<T: Pod>(&self, address: u64, value: &T) -> Result<(), Errno> {
        self.write(address, bytemuck::bytes_of(value))
    }

    /// `count` structures from `address` of the client's memory on.
    ///
    /// # Errors
    /// EFAULT if they cannot be read; ENOMEM for 2 GiB or more, and if the host's memory does not
    /// suffice.
    pub fn array<T: Pod>(&self, address: u64, count: u64) -> Result<Vec<T>, Errno> {
        let size = size_of::<T>() as u64;
        let bytes =
            count.checked_mul(size).filter(|bytes| *bytes <= MAX_ARRAY).ok_or(Errno::NOMEM)?;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        // Read the last element before allocating memory for all of them.
        self.value::<T>(address.checked_add(bytes - size).ok_or(Errno::FAULT)?)?;
        let mut values = Vec::new();
        values.try_reserve_exact(count as usize).map_err(|_| Errno::NOMEM)?;
        values.resize(count as usize, T::zeroed());
        self.read(address, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    /// Writes an array of structures to the client's memory.
    ///
    /// # Errors
    /// EFAULT if not all of it can be written.
    pub fn put_array<T: Pod>(&self, address: u64, values: &[T]) -> Result<(), Errno> {
        self.write(address, bytemuck::cast_slice(values))
    }

    /// Writes at most the first `room` elements of `values` to the client's memory, and none if
    /// `address` is 0. Stores the length of `values` in `room`. The kernel returns lists in this
    /// way.
    ///
    /// # Errors
    /// EFAULT if the elements cannot be written.
    pub fn put_list<T: Pod>(
        &self,
        address: u64,
        room: &mut u32,
        values: &[T],
    ) -> Result<(), Errno> {
        let fitting = values.len().min(*room as usize);
        if address != 0 && fitting > 0 {
            self.put_array(address, &values[..fitting])?;
        }
        *room = values.len() as u32;
        Ok(())
    }

    /// A duplicate of a descriptor that must be an event counter (eventfd).
    ///
    /// # Errors
    /// EBADF if it is not open; EINVAL if it is not one.
    pub fn event_counter(&self, number: RawFd) -> Result<OwnedFd, Errno> {
        let counter = self.duplicate(number)?;
        let link = format!("/proc/self/fd/{}", counter.as_raw_fd());
        let target = rustix::fs::readlink(link, Vec::new());
        match target.as_ref().map(|target| target.to_bytes()) {
            Ok(b"anon_inode:[eventfd]") => Ok(counter),
            _ => Err(Errno::INVAL),
        }
    }

    /// A duplicate of a descriptor that must be a sync file of this device, made by any process.
    ///
    /// # Errors
    /// EINVAL if it is not one.
    pub fn sync_file(&self, number: RawFd) -> Result<OwnedFd, Errno> {
        let file = self.duplicate(number).map_err(|_| Errno::INVAL)?;
        if descriptor::is_fence(file.as_fd()) { Ok(file) } else { Err(Errno::INVAL) }
    }
}
