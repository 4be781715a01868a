//! The client's memory: read and written through the kernel, so that a wrong address is an error and never a crash.

use bytemuck::Pod;
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;

/// Most bytes of an array that a client passes.
const MOST: usize = 256 << 20;

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
        let local = libc::iovec { iov_base: ours.wrapping_add(done).cast(), iov_len: length - done };
        let remote = libc::iovec { iov_base: theirs as *mut libc::c_void, iov_len: length - done };
        // SAFETY: `ours` leads to `length` bytes that the caller holds, for writing if bytes come from the client. The
        // kernel checks the other address. Bytes that overlap Rust's own objects are the client's wrong-doing, as with any
        // pointer that it passes to the kernel.
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
                Some(libc::EPERM | libc::ENOSYS) => return by_file(way, theirs, ours, done, length),
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
    let file = std::fs::File::options().read(true).write(way == Way::ToClient).open("/proc/self/mem");
    let file = file.map_err(|_| Errno::FAULT)?;
    // SAFETY: as in `transfer`: the caller's bytes from `done` on.
    let ours = unsafe { std::slice::from_raw_parts_mut(ours.add(done), length - done) };
    let result = match way {
        Way::FromClient => file.read_exact_at(ours, address),
        Way::ToClient => file.write_all_at(ours, address),
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

/// The structure at `address`.
///
/// # Errors
/// EFAULT.
pub fn value<T: Pod>(address: u64) -> Result<T, Errno> {
    let mut value = T::zeroed();
    read(address, bytemuck::bytes_of_mut(&mut value))?;
    Ok(value)
}

/// Writes a structure.
///
/// # Errors
/// EFAULT.
pub fn put<T: Pod>(address: u64, value: &T) -> Result<(), Errno> {
    write(address, bytemuck::bytes_of(value))
}

/// `count` structures from `address` on.
///
/// # Errors
/// EFAULT; E2BIG for a count that no client has.
pub fn array<T: Pod>(address: u64, count: u64) -> Result<Vec<T>, Errno> {
    let size = size_of::<T>() as u64;
    let bytes = count.checked_mul(size).filter(|bytes| *bytes <= MOST as u64).ok_or(Errno::TOOBIG)?;
    if bytes == 0 {
        return Ok(Vec::new());
    }
    // The last one is looked at before memory is taken for all.
    value::<T>(address.checked_add(bytes - size).ok_or(Errno::FAULT)?)?;
    let mut values = vec![T::zeroed(); count as usize];
    read(address, bytemuck::cast_slice_mut(&mut values))?;
    Ok(values)
}

/// Writes structures one behind the other.
///
/// # Errors
/// EFAULT.
pub fn put_array<T: Pod>(address: u64, values: &[T]) -> Result<(), Errno> {
    write(address, bytemuck::cast_slice(values))
}

/// Writes as many of `values` as there is room for, and how many there are: the kernel's way to tell lists.
///
/// # Errors
/// EFAULT.
pub fn put_list<T: Pod>(address: u64, room: &mut u32, values: &[T]) -> Result<(), Errno> {
    let fitting = values.len().min(*room as usize);
    if address != 0 && fitting > 0 {
        put_array(address, &values[..fitting])?;
    }
    *room = values.len() as u32;
    Ok(())
}

/// A copy of one of the client's descriptors, whose number may be wrong.
///
/// # Errors
/// EBADF.
pub fn descriptor(number: i32) -> Result<OwnedFd, Errno> {
    if number < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: borrowed only to be copied; the kernel says if there is no such descriptor.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_dupfd_cloexec(borrowed, 0)
}

/// Pages of the client's own memory that it gave to the GPU.
///
/// The client may unmap them at any time, as with a kernel; [`are_there`] is asked before each use.
#[derive(Debug)]
pub struct Own {
    address: u64,
    length: usize,
}

impl Own {
    /// `bytes` bytes from `address` on, both multiples of 4096. The caller asks [`are_there`] before whatever
    /// touches them.
    pub fn new(address: u64, bytes: u64) -> Own {
        Own { address, length: bytes as usize }
    }
}

/// True if all pages of a range are mapped.
pub fn are_there(address: u64, bytes: u64) -> bool {
    // In pieces: the kernel writes a byte for each page.
    const PIECE: u64 = 4096 * 4096;
    let mut states = [0u8; 4096];
    let mut at = address;
    let end = address.saturating_add(bytes);
    while at < end {
        let length = PIECE.min(end - at);
        // SAFETY: `states` has a byte for each page of a piece; the kernel only looks at the range.
        let result = unsafe { libc::mincore(at as *mut libc::c_void, length as usize, states.as_mut_ptr()) };
        if result != 0 {
            return false;
        }
        at += length;
    }
    true
}

impl AsRef<[u8]> for Own {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the pages are asked for before each submission that has them (`are_there`). A client that unmaps them
        // while its own submission runs crashes itself, as it crashes with any other library that was given its memory.
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.length) }
    }
}

impl AsMut<[u8]> for Own {
    fn as_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; the client gave the pages to be written.
        unsafe { std::slice::from_raw_parts_mut(self.address as *mut u8, self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wrong addresses are errors.
    #[test]
    fn wrong_addresses() {
        let mut bytes = [1u8, 2, 3, 4];
        let address = bytes.as_mut_ptr() as u64;
        assert_eq!(value::<u32>(address), Ok(u32::from_ne_bytes(bytes)));
        put(address, &9u32).unwrap();
        assert_eq!(value::<u32>(address), Ok(9));
        for wrong in [0, 4, u64::MAX, 1 << 47] {
            assert_eq!(value::<u32>(wrong), Err(Errno::FAULT), "{wrong:#x}");
            assert_eq!(put(wrong, &1u32), Err(Errno::FAULT), "{wrong:#x}");
        }
        assert_eq!(array::<u64>(address, u64::MAX), Err(Errno::TOOBIG));
        assert_eq!(array::<u64>(0, 1 << 20), Err(Errno::FAULT));
    }
}
