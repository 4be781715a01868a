//! The working directory, where relative paths start. A directory of the tree does not exist for
//! the kernel. So the kernel's working directory is `/` while the client's is in the tree. Programs
//! that the client starts inherit the kernel's working directory.

use super::session::tree;
use libc::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of the working directory among the paths of the tree; [`OUTSIDE`] if it is elsewhere.
static CURRENT: AtomicU64 = AtomicU64::new(OUTSIDE);

/// The number for a working directory outside the tree.
const OUTSIDE: u64 = u64::MAX;

/// Length of the longest path, with the zero byte at its end (PATH_MAX).
pub const LONGEST: usize = 4096;

/// Makes a directory of the tree the working directory.
pub fn enter(number: u64) -> c_int {
    // SAFETY: the path is a C string.
    let result = unsafe { libc::syscall(libc::SYS_chdir, c"/".as_ptr()) as c_int };
    if result == 0 {
        CURRENT.store(number, Ordering::Relaxed);
    }
    result
}

/// Records that the kernel has changed the working directory, if `result` is 0.
pub fn leave(result: c_int) -> c_int {
    if result == 0 {
        CURRENT.store(OUTSIDE, Ordering::Relaxed);
    }
    result
}

/// The working directory, if it is in the tree.
pub fn inside() -> Option<&'static str> {
    match CURRENT.load(Ordering::Relaxed) {
        OUTSIDE => None,
        number => tree().path(number),
    }
}

/// The kernel's working directory with a zero byte; `None` with errno set
/// after an error.
pub fn kernels(out: &mut [u8; LONGEST]) -> Option<&[u8]> {
    // SAFETY: `out` has room for the number of bytes.
    let length = unsafe { libc::syscall(libc::SYS_getcwd, out.as_mut_ptr(), out.len()) };
    out.get(..usize::try_from(length).ok()?)
}

/// True if a relative path from `start` on may lead to the tree: the tree has only directories
/// below `/dev` and `/sys`.
fn may_lead(start: &str, name: &str) -> bool {
    let below = |top: &str| {
        start.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    start == "/"
        || below("/dev")
        || below("/sys")
        || name.starts_with("..")
        || name.contains("/../")
}

/// The working directory, at which the relative path `name` starts; `None` if this path cannot lead
/// to the tree.
pub fn current_for(name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    if let Some(path) = inside() {
        return Some(path.to_owned());
    }
    let mut buffer = [0; LONGEST];
    let start = std::str::from_utf8(kernels(&mut buffer)?.strip_suffix(b"\0")?).ok()?;
    may_lead(start, name).then(|| start.to_owned())
}

/// The path of an open directory of the kernel, at which the relative path `name` starts; `None` if
/// this path cannot lead to the tree.
pub fn of_descriptor(at: c_int, name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    let start = rustix::fs::readlink(format!("/proc/self/fd/{at}"), Vec::new()).ok()?;
    let start = start.to_str().ok()?;
    may_lead(start, name).then(|| start.to_owned())
}
