//! Hooks for readlink and realpath.

use super::{c_path, descriptor_of_proc, find, find_at, hooks};
use crate::device::PRIMARY;
use crate::device::descriptor::Descriptor;
use crate::edge::next::{self, fail};
use crate::edge::session::tree;
use crate::tree::{Found, Node};
use libc::{AT_FDCWD, c_char, c_int, size_t, ssize_t};

hooks! {
    fn readlink(name: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
        // SAFETY: `readlink` requires a C string and room for `size` bytes, as `read_link` does.
        unsafe { read_link(AT_FDCWD, name, out, size) }
    }
    fn __readlink_chk(
        name: *const c_char,
        out: *mut c_char,
        size: size_t,
        room: size_t,
    ) -> ssize_t {
        // SAFETY: `__readlink_chk` requires a C string and `room` bytes at `out`, and no more than
        // that are written. (libc's aborts if `size` is larger.)
        unsafe { read_link(AT_FDCWD, name, out, size.min(room)) }
    }
    fn readlinkat(at: c_int, name: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
        // SAFETY: `readlinkat` requires a C string and room for `size` bytes, as `read_link` does.
        unsafe { read_link(at, name, out, size) }
    }
    fn realpath(name: *const c_char, out: *mut c_char) -> *mut c_char {
        // SAFETY: `realpath` requires a C string, and an `out` that is null or has room for
        // PATH_MAX bytes, as `real_path` does.
        unsafe { real_path(name, out) }
    }
    fn __realpath_chk(name: *const c_char, out: *mut c_char, _room: size_t) -> *mut c_char {
        // SAFETY: `__realpath_chk` requires what `realpath` does: libc's aborts if the room is less
        // than PATH_MAX.
        unsafe { real_path(name, out) }
    }
    fn canonicalize_file_name(name: *const c_char) -> *mut c_char {
        // SAFETY: `canonicalize_file_name` requires a C string; a null `out` needs no room.
        unsafe { real_path(name, std::ptr::null_mut()) }
    }
}

/// The path in the tree that a descriptor was opened with.
pub fn path_of(descriptor: Descriptor) -> Option<&'static str> {
    match descriptor {
        Descriptor::Device { minor: PRIMARY, .. } => Some("/dev/dri/card0"),
        Descriptor::Device { .. } => Some("/dev/dri/renderD128"),
        Descriptor::Directory { number, .. } => tree().path(number),
        Descriptor::DmaBuf { .. } | Descriptor::Syncobj { .. } | Descriptor::SyncFile { .. } => {
            None
        }
    }
}

/// Writes the target of a link, cut at `size` bytes. Returns the number of bytes.
///
/// # Safety
/// `out` has room for `size` bytes.
unsafe fn put(target: &str, out: *mut c_char, size: size_t) -> ssize_t {
    let length = target.len().min(size);
    // SAFETY: the length is at most that of the target and at most `size`, for which `out` has
    // room. The client's buffer does not overlap the tree, which this library owns.
    unsafe { std::ptr::copy_nonoverlapping(target.as_ptr().cast(), out, length) };
    length as ssize_t
}

/// The hook for readlinkat.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte. `out` has room for `size`
/// bytes.
unsafe fn read_link(at: c_int, name: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: the caller promises what `find_at` requires.
    match unsafe { find_at(at, name, false) } {
        None => {
            // SAFETY: the kernel reads a C string, or returns EFAULT for null, and writes up to
            // `size` bytes to `out`, which has room for them.
            let length =
                unsafe { libc::syscall(libc::SYS_readlinkat, at, name, out, size) as ssize_t };
            if length <= 0 {
                return length;
            }
            // SAFETY: the kernel has written `length` bytes to `out`.
            let target = unsafe { std::slice::from_raw_parts(out.cast::<u8>(), length as usize) };
            if target.starts_with(b"socket:") {
                // SAFETY: the kernel has read the path, so it is a C string.
                let descriptor = unsafe { descriptor_of_proc(name) };
                if let Some(target) = descriptor.and_then(path_of) {
                    // SAFETY: `out` has room for `size` bytes.
                    return unsafe { put(target, out, size) };
                }
            }
            length
        }
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns. The caller
            // promises `out`.
            unsafe {
                libc::syscall(libc::SYS_readlinkat, AT_FDCWD, path.as_ptr(), out, size) as ssize_t
            }
        }
        Some(Found::Missing) => fail(libc::ENOENT) as ssize_t,
        Some(Found::Here(_, Node::Link(target))) => {
            // SAFETY: `out` has room for `size` bytes.
            unsafe { put(target, out, size) }
        }
        Some(Found::Here(..)) => fail(libc::EINVAL) as ssize_t,
    }
}

/// The hook for realpath.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte. `out` is null or has room for
/// PATH_MAX bytes.
unsafe fn real_path(name: *const c_char, out: *mut c_char) -> *mut c_char {
    // SAFETY: the caller promises what `find` requires.
    match unsafe { find(name, true) } {
        // SAFETY: the caller promises what realpath requires.
        None => unsafe { next::realpath(name, out) },
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns. The caller
            // promises `out`.
            unsafe { next::realpath(path.as_ptr().cast(), out) }
        }
        Some(Found::Missing) => {
            fail(libc::ENOENT);
            std::ptr::null_mut()
        }
        Some(Found::Here(path, _)) => {
            let path = c_path(&path);
            let out = match out.is_null() {
                // SAFETY: malloc takes any size; the client frees the result, as for realpath.
                true => unsafe { libc::malloc(path.len()).cast() },
                false => out,
            };
            if !out.is_null() {
                // SAFETY: `out` has room for the path: malloc gave that much, or the caller gave
                // PATH_MAX bytes, and no path of the tree is longer than 4095. Both are different
                // memory from `path`, a vector of this function.
                unsafe { std::ptr::copy_nonoverlapping(path.as_ptr().cast(), out, path.len()) };
            }
            out
        }
    }
}
