//! Memory of buffer objects: a sparse file in memory, mapped once. The model works on this mapping, the client maps parts
//! of the same file: nothing is ever copied.

use rustix::fs::{FallocateFlags, MemfdFlags, SeekFrom, fallocate, ftruncate, memfd_create, seek};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

/// Sizes of an arena, the largest that the process may have is taken. Nothing is used before it is touched.
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

/// Pages of a mapping: what the model adopts.
///
/// Others write to them at any time, as to memory of a GPU; the model reads and writes bytes, and any value of them will do.
#[derive(Debug)]
pub struct Shared {
    mapping: Arc<Mapping>,
    offset: usize,
    length: usize,
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `offset` and `length` lie within the mapping, which lives as long as `self`; the file has that length and
        // is never cut. Clients write meanwhile: what is read is any of the values (see `Shared`).
        unsafe { std::slice::from_raw_parts(self.mapping.base.add(self.offset), self.length) }
    }
}

impl AsMut<[u8]> for Shared {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `as_ref`; within this process `self` is the only one that leads to these bytes, since the arena gives
        // a range to one object at a time.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.base.add(self.offset), self.length) }
    }
}

/// A part of the file of an object that another process has, mapped.
///
/// # Errors
/// The kernel's.
pub fn foreign(file: OwnedFd, offset: u64, bytes: u64) -> Result<Shared, Errno> {
    let mapping = Mapping::new(file, offset, bytes)?;
    let length = mapping.length;
    Ok(Shared { mapping: Arc::new(mapping), offset: 0, length })
}

/// A file in memory that objects are parts of.
#[derive(Debug)]
pub struct Arena {
    mapping: Arc<Mapping>,
    /// Free ranges: start and end.
    free: BTreeMap<u64, u64>,
    /// Where the search starts: freed ranges are used late, since clients may still map them.
    cursor: u64,
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
                    return Ok(Arena {
                        mapping: Arc::new(mapping),
                        free: BTreeMap::from([(0, size)]),
                        cursor: 0,
                    });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The file, for clients to map.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.mapping.file.as_fd()
    }

    /// Its number, by which other processes open it.
    pub fn number(&self) -> RawFd {
        self.mapping.file.as_raw_fd()
    }

    /// A range of `bytes` zeros: its offset.
    pub fn allocate(&mut self, bytes: u64) -> Option<u64> {
        let bytes = bytes.checked_next_multiple_of(PAGE)?;
        let fits = |(start, end): (&u64, &u64)| (end - start >= bytes).then_some((*start, *end));
        let (start, end) =
            self.free.range(self.cursor..).find_map(fits).or_else(|| self.free.iter().find_map(fits))?;
        self.free.remove(&start);
        if end > start + bytes {
            self.free.insert(start + bytes, end);
        }
        self.cursor = start + bytes;
        Some(start)
    }

    /// The bytes of a range that was allocated.
    pub fn pages(&self, offset: u64, bytes: u64) -> Shared {
        let end = offset.saturating_add(bytes).min(self.mapping.length as u64);
        let offset = offset.min(end);
        Shared { mapping: self.mapping.clone(), offset: offset as usize, length: (end - offset) as usize }
    }

    /// Which parts of a range hold anything, as offsets in it: those that nobody has touched are zeros, and looking at them
    /// would make pages of them.
    pub fn touched(&self, offset: u64, bytes: u64) -> Vec<Range<u64>> {
        let end = offset + bytes;
        let mut parts = Vec::new();
        let mut at = offset;
        while at < end {
            let Ok(start) = seek(&self.mapping.file, SeekFrom::Data(at)) else { break };
            if start >= end {
                break;
            }
            let stop = seek(&self.mapping.file, SeekFrom::Hole(start)).unwrap_or(end).min(end);
            parts.push(start - offset..stop - offset);
            at = stop;
        }
        parts
    }

    /// Gives a range back; what maps it sees zeros.
    pub fn release(&mut self, offset: u64, bytes: u64) {
        let bytes = bytes.next_multiple_of(PAGE);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if fallocate(&self.mapping.file, flags, offset, bytes).is_err() {
            // It stays taken: a range that is not zero must not be given out.
            return;
        }
        let (mut start, mut end) = (offset, offset + bytes);
        if let Some((&before, &before_end)) = self.free.range(..start).next_back()
            && before_end == start
        {
            self.free.remove(&before);
            start = before;
        }
        if let Some(after_end) = self.free.remove(&end) {
            end = after_end;
        }
        self.free.insert(start, end);
    }
}

/// Maps part of a file for the client, wherever there is room: the address.
///
/// # Errors
/// The kernel's.
pub fn map_for_client(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> Result<u64, Errno> {
    let length = usize::try_from(bytes).map_err(|_| Errno::OVERFLOW)?;
    // SAFETY: a new mapping where the kernel wants it; the client unmaps it.
    let address = unsafe {
        mmap(
            std::ptr::null_mut(),
            length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            file,
            offset,
        )?
    };
    Ok(address as u64)
}

/// Opens the file `number` of process `pid`.
///
/// # Errors
/// If there is no such process or file, or it is somebody else's.
pub fn open_foreign(pid: u32, number: u32) -> Result<OwnedFd, Errno> {
    let open = File::options().read(true).write(true).open(format!("/proc/{pid}/fd/{number}"));
    open.map(OwnedFd::from).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges are zero, shared with other mappings of the file, and zero again when they come back.
    #[test]
    fn ranges() {
        let mut arena = Arena::new().unwrap();
        let first = arena.allocate(5000).unwrap();
        let second = arena.allocate(1).unwrap();
        assert_eq!((first, second), (0, 8192));
        let mut pages = arena.pages(first, 8192);
        assert!(pages.as_ref().iter().all(|byte| *byte == 0));
        // The host may give large pages; it never gives all.
        let large = arena.allocate(64 << 20).unwrap();
        assert!(
            arena.touched(large, 64 << 20).iter().map(|part| part.end - part.start).sum::<u64>() < 64 << 20
        );
        pages.as_mut()[4097] = 7;
        let other = foreign(rustix::io::dup(arena.file()).unwrap(), first, 8192).unwrap();
        assert_eq!(other.as_ref()[4097], 7);
        assert!(arena.touched(first, 8192).iter().any(|part| part.contains(&4097)));
        arena.release(first, 5000);
        assert_eq!(other.as_ref()[4097], 0);
        arena.release(second, 1);
        arena.release(large, 64 << 20);
        assert_eq!(arena.free.len(), 1);
    }
}
