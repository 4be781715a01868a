//! Memory of buffer objects: a sparse file in memory, mapped once. The model works on this mapping,
//! the client maps parts of the same file: nothing is ever copied.

use crate::device::host::{self, FilePages, Pages};
use genxml_sim::mem::{Backing, Page, PageMut};
use rustix::fs::{FallocateFlags, MemfdFlags, SeekFrom, fallocate, ftruncate, memfd_create, seek};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use std::collections::BTreeMap;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

/// Sizes of an arena, the largest that the process may have is taken. Nothing is used before it is
/// touched.
const SIZES: [u64; 4] = [1 << 40, 1 << 36, 1 << 33, 1 << 30];

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A mapping of a file, shared with whoever maps it too.
#[derive(Debug)]
struct Mapping {
    base: *mut u8,
    length: usize,
    file: OwnedFd,
}

// SAFETY: a mapping has no owner; access to what it maps is the business of `Shared`.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(file: OwnedFd, offset: u64, length: u64) -> Result<Mapping, Errno> {
        let length = usize::try_from(length).map_err(|_| Errno::OVERFLOW)?;
        // SAFETY: a new mapping where the kernel wants it changes nothing that is there.
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
        Ok(Mapping { base: base.cast(), length, file })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and `Shared`, which leads into it, holds it.
        // It fails only for what is no mapping.
        let _ = unsafe { munmap(self.base.cast(), self.length) };
    }
}

/// Pages of a mapping: what the model adopts. Those of an arena are free again when nobody has them
/// any more.
///
/// Others write to them at any time, as to memory of a GPU; the model reads and writes bytes, and
/// any value of them will do.
#[derive(Clone, Debug)]
pub struct Shared {
    mapping: Arc<Mapping>,
    /// First byte in the mapping.
    at: usize,
    length: usize,
    /// First byte in the file.
    offset: u64,
    /// The process that has the file by its number.
    owner: u32,
    _taken: Option<Arc<Taken>>,
}

impl AsRef<[Page]> for Shared {
    fn as_ref(&self) -> &[Page] {
        let count = self.length / size_of::<Page>();
        // SAFETY: `self` has a share in the mapping, so that stays mapped as long as the result
        // exists. `at` and `length` lie in it (`Arena::allocate`, `import`). `at` is a multiple of
        // the page size, so the pages are aligned. Other processes and the client's own threads
        // write them meanwhile: a `Page` permits that, and nobody makes a `&[u8]` or `&mut` of
        // the mapping.
        unsafe { std::slice::from_raw_parts(self.mapping.base.add(self.at).cast(), count) }
    }
}

impl Shared {
    /// The pieces of a range that lie in one page each: page, offset in it, place in the range.
    fn pieces(
        &self,
        offset: u64,
        length: usize,
    ) -> Result<impl Iterator<Item = (&Page, usize, Range<usize>)>, Errno> {
        const SIZE: usize = size_of::<Page>();
        let offset = usize::try_from(offset).map_err(|_| Errno::INVAL)?;
        let end = offset.checked_add(length).ok_or(Errno::INVAL)?;
        if end > self.length {
            return Err(Errno::INVAL);
        }
        let pages = self.as_ref();
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
        self.length as u64
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Errno> {
        for (page, at, part) in self.pieces(offset, out.len())? {
            page.read(at, &mut out[part]);
        }
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        for (page, at, part) in self.pieces(offset, bytes.len())? {
            // SAFETY: nobody makes slices of a mapping. The device waits for submissions that use
            // the object before it writes there; a view of a tiled object is the exception, see
            // `tiling`.
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
        let (start, end) = (self.offset, self.offset + self.length as u64);
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

/// A part of the file of an object that another process has, mapped.
///
/// # Errors
/// The kernel's.
pub fn import(file: OwnedFd, offset: u64, bytes: u64) -> Result<Shared, Errno> {
    let mapping = Arc::new(Mapping::new(file, offset, bytes)?);
    let length = mapping.length;
    Ok(Shared { mapping, at: 0, length, offset, owner: std::process::id(), _taken: None })
}

/// A file in memory that objects are parts of.
#[derive(Debug)]
pub struct Arena {
    mapping: Arc<Mapping>,
    free: Arc<Mutex<Free>>,
    owner: u32,
}

/// What is free of an arena.
#[derive(Debug)]
struct Free {
    /// Ranges: start and end.
    ranges: BTreeMap<u64, u64>,
    /// Where the search starts: freed ranges are used late, since clients may still map them.
    cursor: u64,
}

/// A range that somebody has.
#[derive(Debug)]
struct Taken {
    mapping: Arc<Mapping>,
    free: Arc<Mutex<Free>>,
    owner: u32,
    range: Range<u64>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        // Those of a parent process stay as they are.
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
    /// The kernel's.
    pub fn new() -> Result<Arena, Errno> {
        let file = memfd_create("genx-objects", MemfdFlags::CLOEXEC)?;
        // Out of the way: programs know the numbers that they expect their files to get.
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
                    // Core dumps would have all of it.
                    // SAFETY: the mapping is ours; what it holds stays as it is.
                    let _ = unsafe {
                        madvise(mapping.base.cast(), mapping.length, Advice::LinuxDontDump)
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
        let taken = Taken {
            mapping: self.mapping.clone(),
            free: self.free.clone(),
            owner: self.owner,
            range: start..start + bytes,
        };
        Some(Arc::new(Shared {
            mapping: self.mapping.clone(),
            at: start as usize,
            length: bytes as usize,
            offset: start,
            owner: self.owner,
            _taken: Some(Arc::new(taken)),
        }))
    }
}

impl Free {
    /// The start of a range of `bytes` bytes that is free no more.
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

    /// Takes a range back; what maps it sees zeros.
    fn release(&mut self, mapping: &Mapping, range: &Range<u64>) {
        let (mut start, mut end) = (range.start, range.end);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if fallocate(&mapping.file, flags, start, end - start).is_err() {
            // It stays taken: a range that is not zero must not be given out.
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
mod tests {
    use super::*;
    use crate::device::host::Arena as _;

    /// Ranges are zero, shared with other mappings of the file, and zero and free again when nobody
    /// has them.
    #[test]
    fn ranges() {
        let arena = Arena::new().unwrap();
        let first = arena.allocate(5000).unwrap();
        let second = arena.allocate(1).unwrap();
        assert_eq!((first.file().1, first.size(), second.file().1), (0, 8192, 8192));
        let mut bytes = [1; 8192];
        first.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 8192]);
        // The host may allocate large pages, but never the whole range.
        let large = arena.allocate(64 << 20).unwrap();
        let populated = large.populated();
        assert!(populated.iter().map(|part| part.end - part.start).sum::<u64>() < 64 << 20);
        first.write(4097, &[7]).unwrap();
        let other = import(rustix::io::dup(first.file().0).unwrap(), 0, 8192).unwrap();
        let seen = || {
            let mut bytes = [0xee; 2];
            other.read(4096, &mut bytes).unwrap();
            bytes
        };
        assert_eq!(seen(), [0, 7]);
        assert!(first.populated().iter().any(|part| part.contains(&4097)));
        let mut bytes = [0; 2];
        first.write(8190, &bytes).unwrap();
        assert_eq!(first.write(8191, &bytes), Err(Errno::INVAL));
        assert_eq!(first.read(u64::MAX, &mut bytes), Err(Errno::INVAL));
        let copy = first.clone();
        drop(first);
        assert_eq!(seen(), [0, 7]);
        drop(copy);
        assert_eq!(seen(), [0, 0]);
        drop((second, large));
        assert_eq!(arena.free.lock().unwrap().ranges.len(), 1);
    }
}
