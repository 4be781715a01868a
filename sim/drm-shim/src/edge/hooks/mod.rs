//! The functions that replace libc's. Each checks whether a path or descriptor belongs to the
//! device, and calls libc or the kernel if not. A call that does not concern the device does not
//! lock the device.
//!
//! * [`open`]: open, fopen, lseek; [`status`]: stat, access, extended attributes;
//! * [`links`]: readlink, realpath; [`file_systems`]: statfs;
//! * [`directories`]: opendir, readdir, scandir;
//! * [`working`]: chdir, getcwd;
//! * [`exit`]: _exit; [`ioctl`]: ioctl;
//! * [`memory`]: mmap, munmap, mremap, madvise; [`heap`]: free, realloc.
//!
//! `open` and `ioctl` take a variable number of arguments in C. The ABIs of 64-bit Linux pass
//! variable arguments in the same registers as named ones.

mod directories;
mod exit;
mod file_systems;
mod heap;
mod ioctl;
mod links;
mod memory;
mod open;
mod status;
mod working;

use super::next::fail;
use super::session::tree;
use super::working::{current_for, of_descriptor};
use crate::device::descriptor::Descriptor;
use crate::tree::{Found, Tree};
use libc::{c_char, c_int};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::ffi::CStr;

/// Exports functions with the C ABI. Each exported name is unique in this library. The function
/// hides libc's function of the same name and type, as LD_PRELOAD intends.
macro_rules! hooks {
    ($(
        $(#[$meta:meta])*
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty $body:block
    )*) => {$(
        $(#[$meta])*
        /// Replaces libc's function of this name.
        ///
        /// # Safety
        /// The caller keeps the contract of libc's function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> $result $body
    )*};
}
use hooks;

/// The path that a client passes; `None` if it is null or not UTF-8. All paths of the tree are
/// UTF-8.
///
/// # Safety
/// `path` is null or points to a string that ends with a zero byte and outlives the result.
unsafe fn path<'a>(path: *const c_char) -> Option<&'a str> {
    if path.is_null() {
        return None;
    }
    // SAFETY: `path` is not null, so it is a string that ends with a zero byte and outlives the
    // result, by the caller's promise.
    unsafe { CStr::from_ptr(path) }.to_str().ok()
}

/// What a path leads to, if it is a path of the tree; `None` for paths outside the tree. A link at
/// the end of the path is followed only if `follow`.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte.
unsafe fn find(name: *const c_char, follow: bool) -> Option<Found<'static>> {
    // SAFETY: the caller promises what `path` requires; the string is used in this call only.
    let name = unsafe { path(name) }?;
    if !name.starts_with('/') {
        return current_for(name).and_then(|start| find_from(&start, name, follow));
    }
    // Creating the tree reads the options. Do not create it for paths that cannot lead to it.
    let likely = ["/dev/", "/sys/", "//", "/."].iter().any(|start| name.starts_with(start))
        || name.contains("/../");
    if !likely || !Tree::covers(name) {
        return None;
    }
    tree().find(name, follow)
}

/// What a path that is relative to the directory `start` leads to, if that is a path of the tree.
fn find_from(start: &str, name: &str, follow: bool) -> Option<Found<'static>> {
    let path = format!("{start}/{name}");
    if Tree::covers(&path) { tree().find(&path, follow) } else { None }
}

/// Like [`find`], but a relative path starts at the open directory `at`.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte.
unsafe fn find_at(at: c_int, name: *const c_char, follow: bool) -> Option<Found<'static>> {
    if at >= 0
        // SAFETY: the caller promises what `path` requires; the string is used in this call only.
        && let Some(name) = unsafe { path(name) }
        && !name.starts_with('/')
    {
        return match descriptor(at) {
            Some(Descriptor::Directory { number, .. }) => {
                tree().find(&format!("{}/{name}", tree().path(number)?), follow)
            }
            Some(_) => None,
            None => find_from(&of_descriptor(at, name)?, name, follow),
        };
    }
    // SAFETY: the caller promises what `find` requires.
    unsafe { find(name, follow) }
}

/// What one of the client's descriptors stands for; `None` if this library did not create it.
fn descriptor(number: c_int) -> Option<Descriptor> {
    if number < 0 {
        return None;
    }
    // SAFETY: the number is not -1. It is borrowed for one system call (getpeername), which fails
    // with EBADF if no such descriptor is open.
    Descriptor::of(unsafe { BorrowedFd::borrow_raw(number) })
}

/// What a path of /proc stands for that names one of the client's descriptors; `None` if this
/// library did not create the descriptor. For the kernel, the path leads to a socket.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte.
unsafe fn descriptor_of_proc(name: *const c_char) -> Option<Descriptor> {
    // SAFETY: the caller promises what `path` requires; the string is used in this call only.
    let name = unsafe { path(name) }?;
    let own = format!("/proc/{}/fd/", std::process::id());
    let mut ways = ["/proc/self/fd/", "/dev/fd/", &own].into_iter();
    descriptor(ways.find_map(|way| name.strip_prefix(way))?.parse().ok()?)
}

/// A path as a C string.
fn c_path(path: &str) -> Vec<u8> {
    let mut bytes = path.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// The return value of a libc function: the number, or -1 with errno set.
fn number(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|error| fail(error.raw_os_error()))
}
