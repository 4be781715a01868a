//! Hooks for open, fopen and lseek.

use super::{c_path, descriptor, descriptor_of_proc, find, find_at, hooks, number};
use crate::device::descriptor::{Descriptor, Id};
use crate::edge::next::{self, fail};
use crate::edge::session::{self, tree};
use crate::tree::{Found, Node};
use libc::{AT_FDCWD, FILE, c_char, c_int, mode_t, off_t};
use rustix::fd::{FromRawFd, IntoRawFd, OwnedFd};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;

hooks! {
    fn open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: `open` requires that `name` is a C string, and `open_at` requires no more.
        unsafe { open_at(AT_FDCWD, name, flags, mode) }
    }
    fn open64(name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: `open64` requires that `name` is a C string, and `open_at` requires no more.
        unsafe { open_at(AT_FDCWD, name, flags, mode) }
    }
    fn __open_2(name: *const c_char, flags: c_int) -> c_int {
        // SAFETY: `__open_2` requires that `name` is a C string. It has no mode: its flags create
        // no file, so the 0 is not used.
        unsafe { open_at(AT_FDCWD, name, flags, 0) }
    }
    fn __open64_2(name: *const c_char, flags: c_int) -> c_int {
        // SAFETY: `__open64_2` requires that `name` is a C string. It has no mode: its flags create
        // no file, so the 0 is not used.
        unsafe { open_at(AT_FDCWD, name, flags, 0) }
    }
    fn openat(at: c_int, name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: `openat` requires that `name` is a C string, and `open_at` requires no more.
        unsafe { open_at(at, name, flags, mode) }
    }
    fn openat64(at: c_int, name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        // SAFETY: `openat64` requires that `name` is a C string, and `open_at` requires no more.
        unsafe { open_at(at, name, flags, mode) }
    }
    fn __openat_2(at: c_int, name: *const c_char, flags: c_int) -> c_int {
        // SAFETY: `__openat_2` requires that `name` is a C string. It has no mode: its flags create
        // no file, so the 0 is not used.
        unsafe { open_at(at, name, flags, 0) }
    }
    fn __openat64_2(at: c_int, name: *const c_char, flags: c_int) -> c_int {
        // SAFETY: `__openat64_2` requires that `name` is a C string. It has no mode: its flags
        // create no file, so the 0 is not used.
        unsafe { open_at(at, name, flags, 0) }
    }

    fn fopen(name: *const c_char, mode: *const c_char) -> *mut FILE {
        // SAFETY: `fopen` requires that `name` and `mode` are C strings, as `open_stream` does.
        unsafe { open_stream(name, mode) }
    }
    fn fopen64(name: *const c_char, mode: *const c_char) -> *mut FILE {
        // SAFETY: `fopen64` requires that `name` and `mode` are C strings, as `open_stream` does.
        unsafe { open_stream(name, mode) }
    }

    fn lseek(file: c_int, offset: off_t, whence: c_int) -> off_t { seek(file, offset, whence) }
    fn lseek64(file: c_int, offset: off_t, whence: c_int) -> off_t { seek(file, offset, whence) }
}

/// Opens a file of the tree, and returns the number of its descriptor.
fn open_found(path: &str, node: &Node, flags: c_int) -> Result<c_int, Errno> {
    let close_on_exec = flags & libc::O_CLOEXEC != 0;
    match node {
        Node::Device(minor) => Ok(session::open(*minor, close_on_exec)?.into_raw_fd()),
        Node::File(contents) => file_of(contents, close_on_exec),
        // With O_PATH, the descriptor stands for the link itself. libudev follows links this way.
        Node::Link(_) if flags & libc::O_PATH == 0 => Err(Errno::LOOP),
        Node::Link(_) | Node::Directory => {
            let directory = Descriptor::Directory { id: Id::new(), number: tree().number(path) };
            Ok(directory.create(close_on_exec)?.0.into_raw_fd())
        }
    }
}

/// A new descriptor of a file with these contents.
fn file_of(contents: &[u8], close_on_exec: bool) -> Result<c_int, Errno> {
    let memfd = if close_on_exec { MemfdFlags::CLOEXEC } else { MemfdFlags::empty() };
    let file = rustix::fs::memfd_create("genx-file", memfd)?;
    rustix::io::write(&file, contents)?;
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))?;
    Ok(file.into_raw_fd())
}

/// If the new descriptor `file` is fdinfo of one of the device's descriptors, closes it and returns
/// one for a file that has the device's lines, too. Otherwise returns `file`.
///
/// # Safety
/// `name` is the C string with which the kernel has opened `file`.
unsafe fn with_fdinfo(name: *const c_char, flags: c_int, file: c_int) -> c_int {
    // SAFETY: the caller promises what `path` requires; the string is used in this call only.
    let name = unsafe { super::path(name) };
    // The name of such a file is a number. So most files need no further system call.
    let last = name.and_then(|name| name.rsplit('/').next());
    if last.is_none_or(|last| last.is_empty() || !last.bytes().all(|byte| byte.is_ascii_digit())) {
        return file;
    }
    let own = format!("/proc/{}/fdinfo/", std::process::id());
    let path = rustix::fs::readlink(format!("/proc/self/fd/{file}"), Vec::new()).ok();
    let path = path.as_ref().and_then(|path| path.to_str().ok());
    let number = path.and_then(|path| path.strip_prefix(&own)?.parse().ok());
    let Some(Descriptor::Device { id, .. }) = number.and_then(descriptor) else { return file };
    let Some(lines) = session::fdinfo(id) else { return file };
    // SAFETY: the descriptor was opened just now and has no other owner.
    let kernels = unsafe { OwnedFd::from_raw_fd(file) };
    let mut contents = Vec::new();
    // Without the kernel's lines, the client gets those of the device.
    let _ = File::from(kernels).read_to_end(&mut contents);
    contents.extend_from_slice(lines.as_bytes());
    super::number(file_of(&contents, flags & libc::O_CLOEXEC != 0))
}

/// Opens a path of /proc that names a descriptor of this process, after the kernel refused it with
/// ENXIO. A device's descriptor is a socket here, which the kernel does not open again.
///
/// # Safety
/// `name` points to a string that ends with a zero byte.
unsafe fn reopen(name: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller promises what `descriptor_of_proc` requires.
    match unsafe { descriptor_of_proc(name) } {
        Some(Descriptor::Device { minor, .. }) => {
            let close_on_exec = flags & libc::O_CLOEXEC != 0;
            number(session::open(minor, close_on_exec).map(IntoRawFd::into_raw_fd))
        }
        _ => fail(libc::ENXIO),
    }
}

/// The hook for openat.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte.
unsafe fn open_at(at: c_int, name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller promises what `find_at` requires.
    match unsafe { find_at(at, name, flags & libc::O_NOFOLLOW == 0) } {
        None => {
            // SAFETY: `name` is null, for which the kernel returns EFAULT, or a C string.
            let file = unsafe { libc::syscall(libc::SYS_openat, at, name, flags, mode) as c_int };
            if file == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO) {
                // SAFETY: the kernel has read the path, so it is a C string.
                return unsafe { reopen(name, flags) };
            }
            if file == -1 {
                return -1;
            }
            // SAFETY: the kernel has read the path, so it is a C string.
            unsafe { with_fdinfo(name, flags, file) }
        }
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns.
            unsafe {
                libc::syscall(libc::SYS_openat, AT_FDCWD, path.as_ptr(), flags, mode) as c_int
            }
        }
        Some(Found::Missing) => fail(libc::ENOENT),
        Some(Found::Here(path, node)) => number(open_found(&path, node, flags)),
    }
}

/// The hook for fopen.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte; `mode` points to one.
unsafe fn open_stream(name: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: the caller promises what `find` requires.
    match unsafe { find(name, true) } {
        // SAFETY: the caller promises what fopen and `path` require.
        None => unsafe {
            match super::path(name) {
                Some(path) if path.starts_with("/proc/") && path.contains("/fdinfo/") => {
                    match open_at(AT_FDCWD, name, libc::O_RDONLY | libc::O_CLOEXEC, 0) {
                        -1 => std::ptr::null_mut(),
                        file => libc::fdopen(file, mode),
                    }
                }
                _ => next::fopen(name, mode),
            }
        },
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns; `mode` is the
            // caller's C string.
            unsafe { next::fopen(path.as_ptr().cast(), mode) }
        }
        Some(Found::Missing) => {
            fail(libc::ENOENT);
            std::ptr::null_mut()
        }
        Some(Found::Here(path, node)) => match number(open_found(&path, node, libc::O_CLOEXEC)) {
            -1 => std::ptr::null_mut(),
            // SAFETY: the descriptor was opened just now and has no other owner, so the stream may
            // own it; `mode` is the caller's C string.
            descriptor => unsafe { libc::fdopen(descriptor, mode) },
        },
    }
}

/// The hook for lseek. Clients use lseek to get the size of a shared buffer. The buffer's
/// descriptor is a socket and cannot seek, so the hook answers seeks to the start and the end.
fn seek(file: c_int, offset: off_t, whence: c_int) -> off_t {
    // SAFETY: lseek takes three numbers and accesses no memory of the process.
    let result = unsafe { libc::syscall(libc::SYS_lseek, file, offset, whence) };
    if result == -1
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESPIPE)
        && let Some(Descriptor::DmaBuf { size, .. }) = descriptor(file)
    {
        return match (whence, offset) {
            (libc::SEEK_END, 0) => size as off_t,
            (libc::SEEK_SET, 0) => 0,
            _ => fail(libc::EINVAL).into(),
        };
    }
    result
}
