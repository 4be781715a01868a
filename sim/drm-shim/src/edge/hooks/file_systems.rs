//! Hooks for statfs. libudev refuses files that are not on sysfs.

use super::links::path_of;
use super::{c_path, descriptor, find, hooks};
use crate::edge::next::fail;
use crate::tree::Found;
use libc::{c_char, c_int};

hooks! {
    fn statfs(name: *const c_char, out: *mut libc::statfs) -> c_int {
        // SAFETY: `statfs` requires a C string and room for a statfs, as `of_path` does.
        unsafe { of_path(name, out) }
    }
    fn statfs64(name: *const c_char, out: *mut libc::statfs) -> c_int {
        // SAFETY: `statfs64` requires a C string and room for a statfs64, which is a statfs here.
        unsafe { of_path(name, out) }
    }
    fn fstatfs(file: c_int, out: *mut libc::statfs) -> c_int {
        // SAFETY: `fstatfs` requires room for a statfs, as `of_file` does.
        unsafe { of_file(file, out) }
    }
    fn fstatfs64(file: c_int, out: *mut libc::statfs) -> c_int {
        // SAFETY: `fstatfs64` requires room for a statfs64, which is a statfs here.
        unsafe { of_file(file, out) }
    }
}

/// The file system of a path of the tree.
fn file_system(path: &str) -> libc::statfs {
    // SAFETY: a statfs is a structure of integers, for which zeros are valid.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    status.f_type = match path {
        _ if path.starts_with("/dev/") => libc::TMPFS_MAGIC,
        _ if path.starts_with("/sys/kernel/debug") => libc::DEBUGFS_MAGIC,
        _ => libc::SYSFS_MAGIC,
    };
    (status.f_bsize, status.f_frsize, status.f_namelen) = (4096, 4096, 255);
    status
}

/// The hook for statfs.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte. `out` has room for a statfs.
unsafe fn of_path(name: *const c_char, out: *mut libc::statfs) -> c_int {
    // SAFETY: the caller promises what `find` requires.
    match unsafe { find(name, true) } {
        // SAFETY: the kernel reads a C string, or returns EFAULT for null, and writes a statfs to
        // `out`, which has room for it.
        None => unsafe { libc::syscall(libc::SYS_statfs, name, out) as c_int },
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns; `out` has room
            // for a statfs.
            unsafe { libc::syscall(libc::SYS_statfs, path.as_ptr(), out) as c_int }
        }
        Some(Found::Missing) => fail(libc::ENOENT),
        Some(Found::Here(path, _)) => {
            // SAFETY: `out` has room for a statfs.
            unsafe { out.write(file_system(&path)) };
            0
        }
    }
}

/// The hook for fstatfs.
///
/// # Safety
/// `out` has room for a statfs.
unsafe fn of_file(file: c_int, out: *mut libc::statfs) -> c_int {
    match descriptor(file).and_then(path_of) {
        Some(path) => {
            // SAFETY: `out` has room for a statfs.
            unsafe { out.write(file_system(path)) };
            0
        }
        // SAFETY: the kernel writes a statfs to `out`, which has room for it.
        None => unsafe { libc::syscall(libc::SYS_fstatfs, file, out) as c_int },
    }
}
