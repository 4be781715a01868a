//! Hooks for chdir, fchdir and getcwd.

use super::{c_path, descriptor, find, hooks};
use crate::device::descriptor::Descriptor;
use crate::edge::next::fail;
use crate::edge::session::tree;
use crate::edge::working::{LONGEST, enter, inside, kernels, leave};
use crate::tree::{Found, Node};
use libc::{c_char, c_int, size_t};

hooks! {
    fn chdir(name: *const c_char) -> c_int {
        // SAFETY: `chdir` requires that `name` is a C string, and `find` requires no more.
        match unsafe { find(name, true) } {
            // SAFETY: `name` is null, for which the kernel returns EFAULT, or a C string.
            None => unsafe { leave(libc::syscall(libc::SYS_chdir, name) as c_int) },
            Some(Found::Elsewhere(path)) => {
                let path = c_path(&path);
                // SAFETY: `path` ends with a zero byte and lives until the call returns.
                unsafe { leave(libc::syscall(libc::SYS_chdir, path.as_ptr()) as c_int) }
            }
            Some(Found::Missing) => fail(libc::ENOENT),
            Some(Found::Here(path, Node::Directory)) => enter(tree().number(&path)),
            Some(Found::Here(..)) => fail(libc::ENOTDIR),
        }
    }
    fn fchdir(file: c_int) -> c_int {
        match descriptor(file) {
            Some(Descriptor::Directory { number, .. }) => enter(number),
            // SAFETY: the kernel checks the descriptor.
            _ => unsafe { leave(libc::syscall(libc::SYS_fchdir, file) as c_int) },
        }
    }
    fn getcwd(out: *mut c_char, size: size_t) -> *mut c_char {
        // SAFETY: `getcwd` requires an `out` that is null or has room for `size` bytes, as `write`
        // does.
        unsafe { write(out, size) }
    }
    fn __getcwd_chk(out: *mut c_char, size: size_t, room: size_t) -> *mut c_char {
        // SAFETY: `__getcwd_chk` requires `room` bytes at `out`, and no more than that are written.
        // (libc's aborts if `size` is larger.)
        unsafe { write(out, size.min(room)) }
    }
    fn get_current_dir_name() -> *mut c_char {
        // SAFETY: a null `out` needs no room.
        unsafe { write(std::ptr::null_mut(), 0) }
    }
}

/// The hook for getcwd. If `out` is null, malloc provides the memory: `size` bytes or, if `size` is
/// 0, as much as the path needs.
///
/// # Safety
/// `out` is null or has room for `size` bytes.
unsafe fn write(out: *mut c_char, size: size_t) -> *mut c_char {
    let mut buffer = [0; LONGEST];
    let path = match inside() {
        Some(path) => &c_path(path)[..],
        None => match kernels(&mut buffer) {
            Some(path) => path,
            None => return std::ptr::null_mut(),
        },
    };
    let error = match (out.is_null(), size) {
        (false, 0) => Some(libc::EINVAL),
        (true, 0) => None,
        _ => (path.len() > size).then_some(libc::ERANGE),
    };
    if let Some(error) = error {
        fail(error);
        return std::ptr::null_mut();
    }
    let out: *mut c_char = match out.is_null() {
        // SAFETY: malloc takes any size; the client frees the result, as for getcwd.
        true => unsafe { libc::malloc(size.max(path.len())).cast() },
        false => out,
    };
    if !out.is_null() {
        // SAFETY: `out` has room for the path: malloc gave that much, or `size` was checked. Both
        // are different memory from `path`, which is in this function.
        unsafe { std::ptr::copy_nonoverlapping(path.as_ptr().cast(), out, path.len()) };
    }
    out
}
