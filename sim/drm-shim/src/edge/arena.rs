//! Memory of objects: a sparse file in memory (memfd), mapped once. The model works on this mapping
//! and clients map parts of the same file, so both see the same memory without copies.

use crate::device::host::{self, FilePages, Pages};
use genxml_sim::mem::{Backing, Page, PageMut};
use rustix::fs::{FallocateFlags, MemfdFlags, SeekFrom, fallocate, ftruncate, memfd_create, seek};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

/// Possible sizes of an arena in bytes. The first size that the process may map is used. Only pages
/// that are touched take memory.
const SIZES: [u64; 4] = [1 << 40, 1 << 36, 1 << 33, 1 << 30];

/// Bytes of a page.
const PAGE: u64 = size_of::<Page>() as u64;

/// A shared mapping of part of a file.
#[derive(Debug)]
struct Mapping {
    /// The first page. The kernel aligns mappings to its page size.
    base: NonNull<Page>,
    /// Length in bytes.
    length: usize,
    file: OwnedFd,
}

// SAFETY: the mapping does not depend on the thread that made it. The pointer leads to pages of
// atomic bytes, which any thread may access, and munmap works from any thread.
unsafe impl Send for Mapping {}
// SAFETY: `&Mapping` gives access to nothing but the pages of atomic bytes and the file.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(file: OwnedFd, offset: u64, length: u64) -> Result<Mapping, Errno> {
        let length = usize::try_from(length).map_err(|_| Errno::OVERFLOW)?;
        // SAFETY: without an address the kernel maps the file where nothing is mapped, so no memory
        // that is in use changes.
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::NORESERVE,
                &file,
                offset,
            )?
        };
        let base = NonNull::new(base.cast()).ok_or(Errno::NOMEM)?;
        Ok(Mapping { base, length, file })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped this range and nobody else unmaps it. All pointers into it come from
        // `Shared`, which holds the mapping, so no pointer is used any more.
        // munmap fails only for a range that was not mapped.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// Part of a mapping: memory of an object, which the model adopts. A part of an arena is freed when
/// the last clone of this value is dropped.
///
/// The client's threads and other processes may write this memory at any time. So there is never a
/// slice of its bytes: every access goes through [`Page`], whose bytes are atomic.
#[derive(Clone, Debug)]
pub struct Shared {
    mapping: Arc<Mapping>,
    /// Index of the first page in the mapping.
    first: usize,
    /// Number of pages.
    count: usize,
    /// Offset of the first byte in the file.
    offset: u64,
    /// The process that has the file open as descriptor `mapping.file`.
    owner: u32,
    _allocation: Option<Arc<Allocation>>,
}

// SAFETY: `first` and `count` do not change and lie in the mapping (`import` maps as many bytes,
// `Arena::allocate` takes a range of the arena). `self` has a share in the mapping, so the range
// stays mapped, readable and writable as long as `self` exists, and the model keeps the backing as
// long as it accesses the frames. No code of this crate makes a `&[u8]` or a `&mut` of it. A file
// that its owner truncates raises SIGBUS, which ends the process.
unsafe impl Backing for Shared {
    fn pages(&self) -> NonNull<[Page]> {
        // SAFETY: `first` lies in the mapping, so the address is within or at the end of it.
        let first = unsafe { self.mapping.base.add(self.first) };
        NonNull::slice_from_raw_parts(first, self.count)
    }
}

impl Shared {
    /// Splits `length` bytes from `offset` on at page boundaries: for each piece, the page, the
    /// offset in the page, and the piece's range in those bytes.
    ///
    /// # Errors
    /// EINVAL if the bytes go beyond the end of the memory.
    fn pieces(
        &self,
        offset: u64,
        length: usize,
    ) -> Result<impl Iterator<Item = (&Page, usize, Range<usize>)>, Errno> {
        const SIZE: usize = size_of::<Page>();
        let offset = usize::try_from(offset).map_err(|_| Errno::INVAL)?;
        let end = offset.checked_add(length).ok_or(Errno::INVAL)?;
        if end > self.count * SIZE {
            return Err(Errno::INVAL);
        }
        // SAFETY: the pages are mapped as long as `self` is borrowed and the mapping is
        // page-aligned (see `Backing`). Others write them meanwhile, which atomic bytes permit.
        let pages = unsafe { self.pages().as_ref() };
        let mut at = offset;
        Ok(std::iter::from_fn(move || {
            let start = at;
            at = end.min((start / SIZE + 1) * SIZE);
            let page = pages.get(start / SIZE).filter(|_| start < end)?;
            Some((page, start % SIZE, start - offset..at - offset))
        }))
    }
}

impl Pages for Shared {
    fn size(&self) -> u64 {
        self.count as u64 * PAGE
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Errno> {
        for (page, at, part) in self.pieces(offset, out.len())? {
            page.read(at, &mut out[part]);
        }
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        for (page, at, part) in self.pieces(offset, bytes.len())? {
            // SAFETY: there are no slices of a mapping. An ioctl that writes an object first waits
            // for the submissions that use it, and the lock of their queue orders it after them. A
            // view of a tiled object is written back without waiting (`device::tiling`): if a
            // submission accesses the same bytes at that time, the order is the client's fault, as
            // on hardware. The accesses are atomic; only their sizes may differ.
            unsafe { PageMut::new(page) }.write(at, &bytes[part]);
        }
        Ok(())
    }

    fn backing(&self) -> Box<dyn Backing> {
        Box::new(self.clone())
    }
}

impl FilePages for Shared {
    fn file(&self) -> (BorrowedFd<'_>, u64) {
        (self.mapping.file.as_fd(), self.offset)
    }

    fn owner(&self) -> u32 {
        self.owner
    }

    fn populated(&self) -> Vec<Range<u64>> {
        let (start, end) = (self.offset, self.offset + self.size());
        let file = &self.mapping.file;
        let mut parts = Vec::new();
        let mut at = start;
        while at < end {
            let Ok(data) = seek(file, SeekFrom::Data(at)) else { break };
            if data >= end {
                break;
            }
            let stop = seek(file, SeekFrom::Hole(data)).unwrap_or(end).min(end);
            parts.push(data - start..stop - start);
            at = stop;
        }
        parts
    }
}

/// Maps part of another process' file as memory of an object. Only whole pages are used.
///
/// # Errors
/// The errors of mmap.
pub fn import(file: OwnedFd, offset: u64, bytes: u64) -> Result<Shared, Errno> {
    let mapping = Arc::new(Mapping::new(file, offset, bytes)?);
    let count = mapping.length / size_of::<Page>();
    Ok(Shared { mapping, first: 0, count, offset, owner: std::process::id(), _allocation: None })
}

/// A file in memory that contains the memory of objects.
#[derive(Debug)]
pub struct Arena {
    mapping: Arc<Mapping>,
    free: Arc<Mutex<Free>>,
    owner: u32,
}

/// The free ranges of an arena.
#[derive(Debug)]
struct Free {
    /// End of each free range, by its start. Both are byte offsets in the file.
    ranges: BTreeMap<u64, u64>,
    /// Byte offset at which the next search starts. A freed range is used again as late as
    /// possible, since clients may still have it mapped.
    cursor: u64,
}

/// An allocated range, freed when it is dropped.
#[derive(Debug)]
struct Allocation {
    mapping: Arc<Mapping>,
    free: Arc<Mutex<Free>>,
    owner: u32,
    range: Range<u64>,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // In a forked child the file is still the parent's, which may use the range.
        if self.owner == std::process::id() {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            free.release(&self.mapping, &self.range);
        }
    }
}

impl Arena {
    /// A new file, all of it free.
    ///
    /// # Errors
    /// The errors of memfd_create, ftruncate and mmap.
    pub fn new() -> Result<Arena, Errno> {
        let file = memfd_create("genx-objects", MemfdFlags::CLOEXEC)?;
        // A high number: programs expect certain low numbers for the files that they open.
        let file = match rustix::io::fcntl_dupfd_cloexec(&file, 512) {
            Ok(high) => high,
            Err(_) => file,
        };
        let mut last = Errno::NOMEM;
        for size in SIZES {
            let attempt = ftruncate(&file, size)
                .and_then(|()| {
                    rustix::io::fcntl_dupfd_cloexec(&file, 512).or_else(|_| rustix::io::dup(&file))
                })
                .and_then(|file| Mapping::new(file, 0, size));
            match attempt {
                Ok(mapping) => {
                    // A core dump would contain the whole mapping.
                    // SAFETY: the range is this mapping, and the advice changes no contents.
                    let _ = unsafe {
                        madvise(mapping.base.as_ptr().cast(), mapping.length, Advice::LinuxDontDump)
                    };
                    let free = Free { ranges: BTreeMap::from([(0, size)]), cursor: 0 };
                    return Ok(Arena {
                        mapping: Arc::new(mapping),
                        free: Arc::new(Mutex::new(free)),
                        owner: std::process::id(),
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

impl host::Arena for Arena {
    fn owner(&self) -> u32 {
        self.owner
    }

    fn allocate(&self, bytes: u64) -> Option<Arc<dyn FilePages>> {
        let bytes = bytes.checked_next_multiple_of(PAGE)?;
        let start = self.free.lock().unwrap_or_else(PoisonError::into_inner).take(bytes)?;
        let allocation = Allocation {
            mapping: self.mapping.clone(),
            free: self.free.clone(),
            owner: self.owner,
            range: start..start + bytes,
        };
        Some(Arc::new(Shared {
            mapping: self.mapping.clone(),
            first: (start / PAGE) as usize,
            count: (bytes / PAGE) as usize,
            offset: start,
            owner: self.owner,
            _allocation: Some(Arc::new(allocation)),
        }))
    }
}

impl Free {
    /// Takes a range of `bytes` bytes and returns its start; `None` if no free range is that large.
    fn take(&mut self, bytes: u64) -> Option<u64> {
        let fits = |(start, end): (&u64, &u64)| (end - start >= bytes).then_some((*start, *end));
        let (start, end) = self
            .ranges
            .range(self.cursor..)
            .find_map(fits)
            .or_else(|| self.ranges.iter().find_map(fits))?;
        self.ranges.remove(&start);
        if end > start + bytes {
            self.ranges.insert(start + bytes, end);
        }
        self.cursor = start + bytes;
        Some(start)
    }

    /// Makes a range free again. Mappings of it read as zeros from now on.
    fn release(&mut self, mapping: &Mapping, range: &Range<u64>) {
        let (mut start, mut end) = (range.start, range.end);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if fallocate(&mapping.file, flags, start, end - start).is_err() {
            // The range stays allocated: a new object must consist of zeros.
            return;
        }
        if let Some((&before, &before_end)) = self.ranges.range(..start).next_back()
            && before_end == start
        {
            self.ranges.remove(&before);
            start = before;
        }
        if let Some(after_end) = self.ranges.remove(&end) {
            end = after_end;
        }
        self.ranges.insert(start, end);
    }
}

#[cfg(test)]
mod tests;
