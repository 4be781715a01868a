//! The client's memory and descriptors. Memory is read and written by the kernel as in its own
//! ioctls, so a wrong address is an error and never a crash.

use super::mappings;
use crate::device::host::{Mappable, Pages, UserPages};
use genxml_sim::mem::{Backing, Page};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Direction of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    FromClient,
    ToClient,
}

/// Copies between the client's memory at `address`, which may be wrong, and `length` bytes at
/// `ours`.
///
/// # Safety
/// `ours` is valid for reads of `length` bytes, and for writes if `direction` is `FromClient`.
unsafe fn transfer(
    direction: Direction,
    address: u64,
    ours: *mut u8,
    length: usize,
) -> Result<(), Errno> {
    let mut done = 0;
    while done < length {
        let theirs = address.checked_add(done as u64).ok_or(Errno::FAULT)?;
        let left = length - done;
        let ours = ours.wrapping_add(done);
        let client = libc::iovec { iov_base: theirs as *mut libc::c_void, iov_len: left };
        let own = libc::iovec { iov_base: ours.cast(), iov_len: left };
        // The client's memory is the local side of the call. The kernel accesses the local side
        // with the page tables, as it accesses the argument of an ioctl: on x86 it can read pages
        // that have only PROT_WRITE. On the remote side it checks the protection of the mapping.
        // (Linux process_vm_access.c; get_user_pages)
        //
        // SAFETY: both vectors have one element and live until the call returns. `own` is the rest
        // of the range that the caller promised. The kernel checks the address in `client`, which
        // the client passed to be read or written; if it points into memory of this library, the
        // client breaks its own process, as with any wrong pointer that it passes to the kernel.
        let copied = unsafe {
            let process = libc::getpid();
            match direction {
                Direction::FromClient => libc::process_vm_writev(process, &client, 1, &own, 1, 0),
                Direction::ToClient => libc::process_vm_readv(process, &client, 1, &own, 1, 0),
            }
        };
        match copied {
            1.. => done += copied as usize,
            0 => return Err(Errno::FAULT),
            _ => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EPERM | libc::ENOSYS) => {
                    // SAFETY: the rest of the range that the caller promised.
                    return unsafe { by_file(direction, theirs, ours, left) };
                }
                _ => return Err(Errno::FAULT),
            },
        }
    }
    Ok(())
}

/// Copies like [`transfer`], for sandboxes that forbid the system call.
///
/// # Safety
/// As for [`transfer`].
#[cold]
unsafe fn by_file(
    direction: Direction,
    address: u64,
    ours: *mut u8,
    length: usize,
) -> Result<(), Errno> {
    use std::os::unix::fs::FileExt as _;
    let writes = direction == Direction::ToClient;
    let file = std::fs::File::options().read(true).write(writes).open("/proc/self/mem");
    let file = file.map_err(|_| Errno::FAULT)?;
    let result = match direction {
        Direction::FromClient => {
            // SAFETY: the caller promised that the range is valid for writes.
            let out = unsafe { std::slice::from_raw_parts_mut(ours, length) };
            file.read_exact_at(out, address)
        }
        Direction::ToClient => {
            // SAFETY: the caller promised that the range is valid for reads.
            let bytes = unsafe { std::slice::from_raw_parts(ours, length) };
            file.write_all_at(bytes, address)
        }
    };
    result.map_err(|_| Errno::FAULT)
}

/// Fills `out` from the client's memory at `address`.
///
/// # Errors
/// EFAULT if not all of it can be read.
pub fn read(address: u64, out: &mut [u8]) -> Result<(), Errno> {
    // SAFETY: `out` is valid for writes of its length.
    unsafe { transfer(Direction::FromClient, address, out.as_mut_ptr(), out.len()) }
}

/// Writes `bytes` to the client's memory at `address`.
///
/// # Errors
/// EFAULT if not all of it can be written.
pub fn write(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    // SAFETY: `bytes` is valid for reads of its length, and this direction does not write it.
    unsafe { transfer(Direction::ToClient, address, bytes.as_ptr().cast_mut(), bytes.len()) }
}

/// A duplicate of one of the client's descriptors.
///
/// # Errors
/// EBADF if the number is not that of an open descriptor.
pub fn duplicate(number: i32) -> Result<OwnedFd, Errno> {
    if number < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: the number is not -1. It is borrowed for one system call, which fails with EBADF if
    // no such descriptor is open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_dupfd_cloexec(borrowed, 0)
}

/// Maps part of a file for the client, at an address that the kernel chooses, and returns the
/// address. The mapping keeps the memory until the client unmaps it.
///
/// # Errors
/// The errors of mmap.
pub fn map(memory: Mappable, bytes: u64) -> Result<u64, Errno> {
    let length = usize::try_from(bytes).map_err(|_| Errno::OVERFLOW)?;
    // SAFETY: without an address the kernel maps the file where nothing is mapped, so no memory
    // that is in use changes. The client owns the mapping from now on and unmaps it.
    let address = unsafe {
        mmap(
            std::ptr::null_mut(),
            length,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            &memory.file,
            memory.offset,
        )?
    };
    mappings::add(address as u64, bytes, memory.keeper);
    Ok(address as u64)
}

/// Pages of the client's own memory that it gave to the GPU (GEM_USERPTR).
///
/// The client may unmap these pages at any time, as with a kernel. So [`is_accessible`] is called
/// before each use, and the hooks that unmap pages wait until the GPU has finished with those that
/// are [pinned](is_pinned).
#[derive(Clone, Debug)]
pub struct Pinned(Arc<Range>);

#[derive(Debug)]
struct Range {
    address: u64,
    length: usize,
    /// True if the GPU may write the pages.
    writable: bool,
    /// Distinguishes ranges with the same address.
    serial: u64,
}

/// Size of a page in bytes.
const PAGE: u64 = 4096;
/// Number of pinned ranges, readable without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// End address of each pinned range, by its start address and serial number.
static PINNED: Mutex<BTreeMap<(u64, u64), u64>> = Mutex::new(BTreeMap::new());

impl Range {
    fn list() -> MutexGuard<'static, BTreeMap<(u64, u64), u64>> {
        PINNED.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the range to the list if it is not there.
    fn add(&self) {
        let end = self.address.saturating_add(self.length as u64);
        Range::list().insert((self.address, self.serial), end);
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        Range::list().remove(&(self.address, self.serial));
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// True if the client gave pages to the GPU. This is one atomic load.
#[inline]
pub fn has_pinned() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

/// True if some pages of a range are pinned. Without any pinned range this is one atomic load.
pub fn is_pinned(address: u64, bytes: u64) -> bool {
    if !has_pinned() {
        return false;
    }
    let end = address.saturating_add(bytes);
    // Pinned ranges may overlap each other, so check all that start before `end`. Clients have some
    // tens of them.
    Range::list().range(..(end, 0)).any(|(_, top)| *top > address)
}

/// Unpins the ranges of which a block of the heap contains at least one whole page. Returns true if
/// there are some. A submission that lists such an object [pins](UserPages::pin) it again.
///
/// The library itself uses the heap of the client. So a block of the library may share a page with
/// a pinned range, and may get the place of a block that the client freed. The library must not
/// wait for itself when it frees such a block.
pub fn give_back(address: u64, bytes: u64) -> bool {
    // Most blocks are smaller. Among these are all nodes of the list, which are freed while the
    // list is locked.
    if bytes < PAGE || !has_pinned() {
        return false;
    }
    let (first, end) =
        (address.next_multiple_of(PAGE), address.saturating_add(bytes) / PAGE * PAGE);
    if first >= end {
        return false;
    }
    let mut list = Range::list();
    let before = list.len();
    list.retain(|(start, _), top| *start >= end || *top <= first);
    list.len() < before
}

impl Pinned {
    /// Pins a range. Address and size are multiples of 4096. The caller checks
    /// [`is_accessible`](UserPages::is_accessible) before each use.
    pub fn new(address: u64, bytes: u64, writable: bool) -> Pinned {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let range = Range { address, length: bytes as usize, writable, serial };
        range.add();
        COUNT.fetch_add(1, Ordering::Relaxed);
        Pinned(Arc::new(range))
    }

    /// The client's address of `length` bytes from `offset` of the range on.
    ///
    /// # Errors
    /// EINVAL if these bytes go beyond the end of the range.
    fn part(&self, offset: u64, length: usize) -> Result<u64, Errno> {
        let end = offset.checked_add(length as u64).ok_or(Errno::INVAL)?;
        if end <= self.size() { Ok(self.0.address + offset) } else { Err(Errno::INVAL) }
    }
}

impl Pages for Pinned {
    fn size(&self) -> u64 {
        self.0.length as u64
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Errno> {
        read(self.part(offset, out.len())?, out)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        write(self.part(offset, bytes.len())?, bytes)
    }

    fn backing(&self) -> Box<dyn Backing> {
        Box::new(self.clone())
    }
}

impl UserPages for Pinned {
    fn overlaps(&self, address: u64, bytes: u64) -> bool {
        address < self.0.address + self.size() && self.0.address < address.saturating_add(bytes)
    }

    fn is_accessible(&self) -> bool {
        is_accessible(self.0.address, self.size(), self.0.writable)
    }

    fn pin(&self) {
        self.0.add();
    }
}

/// True if all pages of a range are mapped and can be read, and written if `writable`. Before Linux
/// 5.14, true if they are mapped: the protection is not checked.
pub fn is_accessible(address: u64, bytes: u64, writable: bool) -> bool {
    // MADV_POPULATE_* exist since Linux 5.14. On an empty range, this advice succeeds if the kernel
    // has it.
    static CAN_POPULATE: OnceLock<bool> = OnceLock::new();
    let populate = |address: u64, bytes: u64| {
        let advice = if writable { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ };
        // SAFETY: the advice makes the kernel load pages as a read or write would, without changing
        // their contents. Addresses that are not mapped are an error.
        unsafe { libc::madvise(address as *mut libc::c_void, bytes as usize, advice) == 0 }
    };
    match CAN_POPULATE.get_or_init(|| populate(0, 0)) {
        true => populate(address, bytes),
        false => are_mapped(address, bytes),
    }
}

/// True if all pages of a range are mapped, with any protection.
fn are_mapped(address: u64, bytes: u64) -> bool {
    // The kernel writes a byte for each page. `states` has room for the pages of this many bytes.
    const PIECE: u64 = 4096 * 4096;
    let mut states = [0u8; 4096];
    let mut at = address;
    let end = address.saturating_add(bytes);
    while at < end {
        let length = PIECE.min(end - at);
        // SAFETY: `states` has a byte for each of at most 4096 pages. The kernel does not access
        // the range itself.
        let result =
            unsafe { libc::mincore(at as *mut libc::c_void, length as usize, states.as_mut_ptr()) };
        if result != 0 {
            return false;
        }
        at += length;
    }
    true
}

// SAFETY: the range does not change, and the address is a multiple of the page size
// (`Host::user_pages`), so the pages are aligned. The model accesses them only while a submission
// runs that has the object, or while the report before or after it copies them. They are mapped
// then: `Machine::run` and `Storage::populated` check `is_accessible` first (readable, and writable
// if the GPU may write), and a client that unmaps some waits in the hooks of munmap, mremap, mmap,
// madvise, free and realloc until the submission has run. If the client unmaps them by a system
// call of its own during its submission, the process gets SIGSEGV, as with any library that was
// given the memory. The client's threads may write the pages at any time, which atomic bytes
// permit. Pages that are not writable are only read: the GPU's page tables map them read-only. This
// crate makes no `&[u8]` or `&mut` of them.
unsafe impl Backing for Pinned {
    fn pages(&self) -> NonNull<[Page]> {
        let first = NonNull::new(self.0.address as *mut Page).unwrap_or(NonNull::dangling());
        // GEM_USERPTR refuses address 0.
        let count = if self.0.address == 0 { 0 } else { self.0.length / size_of::<Page>() };
        NonNull::slice_from_raw_parts(first, count)
    }
}

#[cfg(test)]
mod tests;
