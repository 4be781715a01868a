//! The client's memory: read and written through the kernel, so that a wrong address is an error
//! and never a crash.

use crate::device::host::{Pages, UserPages};
use genxml_sim::mem::{Backing, Page};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Which way bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    FromClient,
    ToClient,
}

/// Copies between this process' memory at an address that may be wrong and a buffer of ours.
fn transfer(way: Way, address: u64, ours: *mut u8, length: usize) -> Result<(), Errno> {
    let mut done = 0;
    while done < length {
        let theirs = address.checked_add(done as u64).ok_or(Errno::FAULT)?;
        let local =
            libc::iovec { iov_base: ours.wrapping_add(done).cast(), iov_len: length - done };
        let remote = libc::iovec { iov_base: theirs as *mut libc::c_void, iov_len: length - done };
        // SAFETY: `ours` leads to `length` bytes that the caller holds, for writing if bytes come
        // from the client. The kernel checks the other address. Bytes that overlap Rust's own
        // objects are the client's wrong-doing, as with any pointer that it passes to the kernel.
        let copied = unsafe {
            let process = libc::getpid();
            match way {
                Way::FromClient => libc::process_vm_readv(process, &local, 1, &remote, 1, 0),
                Way::ToClient => libc::process_vm_writev(process, &local, 1, &remote, 1, 0),
            }
        };
        match copied {
            1.. => done += copied as usize,
            0 => return Err(Errno::FAULT),
            _ => match std::io::Error::last_os_error().raw_os_error() {
                Some(libc::EPERM | libc::ENOSYS) => {
                    return by_file(way, theirs, ours, done, length);
                }
                _ => return Err(Errno::FAULT),
            },
        }
    }
    Ok(())
}

/// The same where a sandbox forbids the system call.
#[cold]
fn by_file(way: Way, address: u64, ours: *mut u8, done: usize, length: usize) -> Result<(), Errno> {
    use std::os::unix::fs::FileExt as _;
    let file =
        std::fs::File::options().read(true).write(way == Way::ToClient).open("/proc/self/mem");
    let file = file.map_err(|_| Errno::FAULT)?;
    let left = length - done;
    // SAFETY: as in `transfer`: the caller's bytes from `done` on, which it lent to be written only
    // if they come from the client.
    let result = unsafe {
        match way {
            Way::FromClient => {
                file.read_exact_at(std::slice::from_raw_parts_mut(ours.add(done), left), address)
            }
            Way::ToClient => {
                file.write_all_at(std::slice::from_raw_parts(ours.add(done), left), address)
            }
        }
    };
    result.map_err(|_| Errno::FAULT)
}

/// Fills `out` from `address` on.
///
/// # Errors
/// EFAULT if not all of it can be read.
pub fn read(address: u64, out: &mut [u8]) -> Result<(), Errno> {
    transfer(Way::FromClient, address, out.as_mut_ptr(), out.len())
}

/// Writes `bytes` to `address`.
///
/// # Errors
/// EFAULT if not all of it can be written.
pub fn write(address: u64, bytes: &[u8]) -> Result<(), Errno> {
    transfer(Way::ToClient, address, bytes.as_ptr().cast_mut(), bytes.len())
}

/// A copy of one of the client's descriptors, whose number may be wrong.
///
/// # Errors
/// EBADF.
pub fn duplicate(number: i32) -> Result<OwnedFd, Errno> {
    if number < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: borrowed only to be copied; the kernel says if there is no such descriptor.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_dupfd_cloexec(borrowed, 0)
}

/// Maps part of a file for the client, wherever there is room: the address.
///
/// # Errors
/// The kernel's.
pub fn map(file: BorrowedFd<'_>, offset: u64, bytes: u64) -> Result<u64, Errno> {
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

/// Pages of the client's own memory that it gave to the GPU. Copies are the same.
///
/// The client may unmap them at any time, as with a kernel: [`is_accessible`] is asked before each use,
/// and the functions that take pages away wait until the GPU has done with those that are
/// [given](is_pinned).
#[derive(Clone, Debug)]
pub struct Pinned(Arc<Range>);

#[derive(Debug)]
struct Range {
    address: u64,
    length: usize,
    /// The GPU writes them.
    writable: bool,
    serial: u64,
}

/// How many ranges are given to the GPU, to be asked without a lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Start of each with a number of its own, and its end.
static PINNED: Mutex<BTreeMap<(u64, u64), u64>> = Mutex::new(BTreeMap::new());

impl Range {
    fn list() -> MutexGuard<'static, BTreeMap<(u64, u64), u64>> {
        PINNED.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        Range::list().remove(&(self.address, self.serial));
        COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// True if the GPU has pages of a range. It costs next to nothing where it has none at all.
pub fn is_pinned(address: u64, bytes: u64) -> bool {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return false;
    }
    let end = address.saturating_add(bytes);
    // They may lie within each other, so those that start before are all looked at; clients have
    // some tens.
    Range::list().range(..(end, 0)).any(|(_, top)| *top > address)
}

impl Pinned {
    /// `bytes` bytes from `address` on, both multiples of 4096. The caller asks [`is_accessible`]
    /// before whatever touches them.
    pub fn new(address: u64, bytes: u64, writable: bool) -> Pinned {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        Range::list().insert((address, serial), address.saturating_add(bytes));
        COUNT.fetch_add(1, Ordering::Relaxed);
        Pinned(Arc::new(Range { address, length: bytes as usize, writable, serial }))
    }

    /// Address of a part, if it is one.
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
}

/// True if all pages of a range are mapped and can be read, or written.
pub fn is_accessible(address: u64, bytes: u64, writable: bool) -> bool {
    // Both need Linux 5.14: with nothing to do they say whether the kernel has them.
    static CAN_POPULATE: OnceLock<bool> = OnceLock::new();
    let populate = |address: u64, bytes: u64| {
        let advice = if writable { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ };
        // SAFETY: the kernel makes pages be there as if they were read or written, and changes
        // nothing in them.
        unsafe { libc::madvise(address as *mut libc::c_void, bytes as usize, advice) == 0 }
    };
    match CAN_POPULATE.get_or_init(|| populate(0, 0)) {
        true => populate(address, bytes),
        false => are_mapped(address, bytes),
    }
}

/// True if all pages of a range are mapped, whatever may be done with them.
fn are_mapped(address: u64, bytes: u64) -> bool {
    // In pieces: the kernel writes a byte for each page.
    const PIECE: u64 = 4096 * 4096;
    let mut states = [0u8; 4096];
    let mut at = address;
    let end = address.saturating_add(bytes);
    while at < end {
        let length = PIECE.min(end - at);
        // SAFETY: `states` has a byte for each page of a piece; the kernel only looks at the range.
        let result =
            unsafe { libc::mincore(at as *mut libc::c_void, length as usize, states.as_mut_ptr()) };
        if result != 0 {
            return false;
        }
        at += length;
    }
    true
}

impl AsRef<[Page]> for Pinned {
    fn as_ref(&self) -> &[Page] {
        let count = self.0.length / size_of::<Page>();
        // SAFETY: the address is a multiple of the page size (`Host::user_pages`), so the pages are
        // aligned. They are accessed only while a submission runs that has the object. They are
        // mapped then: `is_accessible` is asked before each (that they can be read, and written if
        // the GPU may), and a client that unmaps some waits in the hooks of munmap, mremap, mmap
        // and madvise until it has run. A client whose libc unmaps them without a hook (free of a
        // large block) while its own submission runs gets SIGSEGV, as with any other library that
        // was given its memory. The client's threads may write them at any time, which a `Page`
        // permits. The GPU only reads pages that are not writable: its page tables say so.
        unsafe { std::slice::from_raw_parts(self.0.address as *const Page, count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pinned_pages() {
        const AT: u64 = 0x7000_0000_0000;
        let own = Pinned::new(AT, 8192, true);
        let within = Pinned::new(AT + 4096, 4096, true);
        for (address, bytes, expected) in [
            (AT, 1, true),
            (AT + 8191, 1, true),
            (AT - 4096, 4096, false),
            (AT + 8192, 4096, false),
        ] {
            assert_eq!(
                (is_pinned(address, bytes), own.overlaps(address, bytes)),
                (expected, expected)
            );
        }
        drop(own);
        assert!(!is_pinned(AT, 4096) && is_pinned(AT, 8192));
        drop(within);
        assert!(!is_pinned(AT, 8192));
    }
}
