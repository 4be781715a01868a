//! Hooks for stat, access and extended attributes.

use super::{c_path, descriptor, find, find_at, hooks, path};
use crate::device::descriptor::Descriptor;
use crate::edge::next::{self, fail};
use crate::edge::session::tree;
use crate::tree::{Found, Node};
use libc::{AT_FDCWD, c_char, c_int, c_uint, c_void, off_t, size_t, ssize_t};

hooks! {
    fn stat(name: *const c_char, out: *mut libc::stat) -> c_int {
        // SAFETY: `stat` requires a C string and room for a stat, as `stat_at` does.
        unsafe { stat_at(AT_FDCWD, name, out, 0) }
    }
    fn stat64(name: *const c_char, out: *mut libc::stat) -> c_int {
        // SAFETY: `stat64` requires a C string and room for a stat64, which is a stat here.
        unsafe { stat_at(AT_FDCWD, name, out, 0) }
    }
    fn lstat(name: *const c_char, out: *mut libc::stat) -> c_int {
        // SAFETY: `lstat` requires a C string and room for a stat, as `stat_at` does.
        unsafe { stat_at(AT_FDCWD, name, out, libc::AT_SYMLINK_NOFOLLOW) }
    }
    fn lstat64(name: *const c_char, out: *mut libc::stat) -> c_int {
        // SAFETY: `lstat64` requires a C string and room for a stat64, which is a stat here.
        unsafe { stat_at(AT_FDCWD, name, out, libc::AT_SYMLINK_NOFOLLOW) }
    }
    fn fstat(file: c_int, out: *mut libc::stat) -> c_int {
        // SAFETY: `fstat` requires room for a stat, as `stat_of` does.
        unsafe { stat_of(file, out) }
    }
    fn fstat64(file: c_int, out: *mut libc::stat) -> c_int {
        // SAFETY: `fstat64` requires room for a stat64, which is a stat here.
        unsafe { stat_of(file, out) }
    }
    fn fstatat(at: c_int, name: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        // SAFETY: `fstatat` requires a C string and room for a stat, as `stat_at` does.
        unsafe { stat_at(at, name, out, flags) }
    }
    fn fstatat64(at: c_int, name: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        // SAFETY: `fstatat64` requires a C string and room for a stat64, which is a stat here.
        unsafe { stat_at(at, name, out, flags) }
    }
    fn __xstat(_version: c_int, name: *const c_char, out: *mut libc::stat) -> c_int {
        // SAFETY: `__xstat` requires a C string and room for a stat; 64-bit glibc has one version.
        unsafe { stat_at(AT_FDCWD, name, out, 0) }
    }
    fn __xstat64(_version: c_int, name: *const c_char, out: *mut libc::stat) -> c_int {
        // SAFETY: `__xstat64` requires a C string and room for a stat64, which is a stat here.
        unsafe { stat_at(AT_FDCWD, name, out, 0) }
    }
    fn __lxstat(_version: c_int, name: *const c_char, out: *mut libc::stat) -> c_int {
        // SAFETY: `__lxstat` requires a C string and room for a stat; 64-bit glibc has one version.
        unsafe { stat_at(AT_FDCWD, name, out, libc::AT_SYMLINK_NOFOLLOW) }
    }
    fn __lxstat64(_version: c_int, name: *const c_char, out: *mut libc::stat) -> c_int {
        // SAFETY: `__lxstat64` requires a C string and room for a stat64, which is a stat here.
        unsafe { stat_at(AT_FDCWD, name, out, libc::AT_SYMLINK_NOFOLLOW) }
    }
    fn __fxstat(_version: c_int, file: c_int, out: *mut libc::stat) -> c_int {
        // SAFETY: `__fxstat` requires room for a stat; 64-bit glibc has one version.
        unsafe { stat_of(file, out) }
    }
    fn __fxstat64(_version: c_int, file: c_int, out: *mut libc::stat) -> c_int {
        // SAFETY: `__fxstat64` requires room for a stat64, which is a stat here.
        unsafe { stat_of(file, out) }
    }
    fn __fxstatat(
        _version: c_int,
        at: c_int,
        name: *const c_char,
        out: *mut libc::stat,
        flags: c_int,
    ) -> c_int {
        // SAFETY: `__fxstatat` requires a C string and room for a stat; 64-bit glibc has one
        // version.
        unsafe { stat_at(at, name, out, flags) }
    }
    fn __fxstatat64(
        _version: c_int,
        at: c_int,
        name: *const c_char,
        out: *mut libc::stat,
        flags: c_int,
    ) -> c_int {
        // SAFETY: `__fxstatat64` requires a C string and room for a stat64, which is a stat here.
        unsafe { stat_at(at, name, out, flags) }
    }
    fn statx(
        at: c_int,
        name: *const c_char,
        flags: c_int,
        mask: c_uint,
        out: *mut libc::statx,
    ) -> c_int {
        // SAFETY: `statx` requires a C string, or null for the descriptor itself, and room for a
        // statx, as `statx_at` does.
        unsafe { statx_at(at, name, flags, mask, out) }
    }

    fn access(name: *const c_char, mode: c_int) -> c_int {
        // SAFETY: `access` requires that `name` is a C string, and `access_at` requires no more.
        unsafe { access_at(AT_FDCWD, name, mode, 0) }
    }
    fn eaccess(name: *const c_char, mode: c_int) -> c_int {
        // SAFETY: `eaccess` requires that `name` is a C string, and `access_at` requires no more.
        unsafe { access_at(AT_FDCWD, name, mode, libc::AT_EACCESS) }
    }
    fn euidaccess(name: *const c_char, mode: c_int) -> c_int {
        // SAFETY: `euidaccess` requires that `name` is a C string, and `access_at` requires no
        // more.
        unsafe { access_at(AT_FDCWD, name, mode, libc::AT_EACCESS) }
    }
    fn faccessat(at: c_int, name: *const c_char, mode: c_int, flags: c_int) -> c_int {
        // SAFETY: `faccessat` requires that `name` is a C string, and `access_at` requires no more.
        unsafe { access_at(at, name, mode, flags) }
    }

    fn getxattr(
        name: *const c_char,
        attribute: *const c_char,
        out: *mut c_void,
        size: size_t,
    ) -> ssize_t {
        // SAFETY: `getxattr` requires two C strings and room for `size` bytes, as `attributes` does
        // for its system call.
        unsafe { attributes(libc::SYS_getxattr, name, true, attribute, out, size) }
    }
    fn lgetxattr(
        name: *const c_char,
        attribute: *const c_char,
        out: *mut c_void,
        size: size_t,
    ) -> ssize_t {
        // SAFETY: `lgetxattr` requires two C strings and room for `size` bytes, as `attributes`
        // does for its system call.
        unsafe { attributes(libc::SYS_lgetxattr, name, false, attribute, out, size) }
    }
}

/// Number of the file system that has all files of the tree.
const FILE_SYSTEM: libc::dev_t = 6;

/// The fields of a status that differ between files.
struct Status {
    mode: c_uint,
    device: u64,
    size: u64,
}

/// The status of a device node.
fn device_status(minor: u32) -> Status {
    Status { mode: libc::S_IFCHR | 0o666, device: libc::makedev(226, minor), size: 0 }
}

/// The status of a file of the tree.
fn node_status(node: &Node) -> Status {
    match node {
        Node::Directory => Status { mode: libc::S_IFDIR | 0o755, device: 0, size: 0 },
        Node::File(bytes) => {
            Status { mode: libc::S_IFREG | 0o644, device: 0, size: bytes.len() as u64 }
        }
        Node::Link(target) => {
            Status { mode: libc::S_IFLNK | 0o777, device: 0, size: target.len() as u64 }
        }
        Node::Device(minor) => device_status(*minor),
    }
}

/// The status to report for a descriptor of this library instead of the status of its socket;
/// `None` if it is reported as a socket.
fn descriptor_status(descriptor: Descriptor) -> Option<Status> {
    match descriptor {
        Descriptor::Device { minor, .. } => Some(device_status(minor)),
        Descriptor::DmaBuf { size, .. } => {
            Some(Status { mode: libc::S_IFREG | 0o600, device: 0, size })
        }
        Descriptor::Directory { number, .. } => match tree().find(tree().path(number)?, false) {
            Some(Found::Here(_, node)) => Some(node_status(node)),
            _ => None,
        },
        Descriptor::Syncobj { .. } | Descriptor::SyncFile { .. } => None,
    }
}

impl Status {
    /// A complete `stat` structure.
    fn stat(&self) -> libc::stat {
        // SAFETY: a stat is a structure of integers, for which zeros are valid.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        stat.st_nlink = 1;
        stat.st_blksize = 4096;
        stat.st_dev = FILE_SYSTEM;
        stat.st_ino = self.device + 2;
        self.patch(&mut stat);
        stat
    }

    /// Changes the fields that differ between files.
    fn patch(&self, stat: &mut libc::stat) {
        stat.st_mode = self.mode;
        stat.st_rdev = self.device;
        stat.st_size = self.size as off_t;
        if self.device != 0 {
            (stat.st_dev, stat.st_ino) = (FILE_SYSTEM, self.device + 2);
        }
    }

    /// A complete `statx` structure.
    fn statx(&self) -> libc::statx {
        // SAFETY: a statx is a structure of integers, for which zeros are valid.
        let mut statx: libc::statx = unsafe { std::mem::zeroed() };
        statx.stx_mask = libc::STATX_BASIC_STATS;
        statx.stx_nlink = 1;
        statx.stx_blksize = 4096;
        statx.stx_dev_minor = libc::minor(FILE_SYSTEM);
        statx.stx_ino = self.device + 2;
        self.patch_x(&mut statx);
        statx
    }

    /// Changes the fields that differ between files.
    fn patch_x(&self, statx: &mut libc::statx) {
        statx.stx_mode = self.mode as u16;
        statx.stx_rdev_major = libc::major(self.device);
        statx.stx_rdev_minor = libc::minor(self.device);
        statx.stx_size = self.size;
        if self.device != 0 {
            statx.stx_dev_major = libc::major(FILE_SYSTEM);
            statx.stx_dev_minor = libc::minor(FILE_SYSTEM);
            statx.stx_ino = self.device + 2;
        }
    }
}

/// The status to report for descriptor `file` if the kernel says that it is a socket (`mode`);
/// `None` if the kernel's status is right.
fn of_socket(file: c_int, mode: c_uint) -> Option<Status> {
    if mode & libc::S_IFMT == libc::S_IFSOCK {
        descriptor(file).and_then(descriptor_status)
    } else {
        None
    }
}

/// The hook for fstatat.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte. `out` has room for a stat.
unsafe fn stat_at(at: c_int, name: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: the caller promises what `find_at` requires.
    match unsafe { find_at(at, name, flags & libc::AT_SYMLINK_NOFOLLOW == 0) } {
        None => {
            // SAFETY: the kernel reads a C string, or returns EFAULT for null, and writes a stat of
            // libc's layout to `out`, which has room for it. If the call succeeds `out` is
            // initialised, and the caller lets nobody else access it. The caller promises what
            // `path` requires.
            unsafe {
                let result = libc::syscall(libc::SYS_newfstatat, at, name, out, flags) as c_int;
                if result == 0
                    && path(name).is_some_and(str::is_empty)
                    && let Some(status) = of_socket(at, (*out).st_mode)
                {
                    status.patch(&mut *out);
                }
                result
            }
        }
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns; `out` has room
            // for a stat.
            unsafe {
                libc::syscall(libc::SYS_newfstatat, AT_FDCWD, path.as_ptr(), out, flags) as c_int
            }
        }
        Some(Found::Missing) => fail(libc::ENOENT),
        Some(Found::Here(_, node)) => {
            // SAFETY: `out` has room for a stat.
            unsafe { out.write(node_status(node).stat()) };
            0
        }
    }
}

/// The hook for statx.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte. `out` has room for a statx.
unsafe fn statx_at(
    at: c_int,
    name: *const c_char,
    flags: c_int,
    mask: c_uint,
    out: *mut libc::statx,
) -> c_int {
    // SAFETY: the caller promises what `find_at` requires.
    match unsafe { find_at(at, name, flags & libc::AT_SYMLINK_NOFOLLOW == 0) } {
        None => {
            // SAFETY: the kernel reads a C string if `name` is not null, and writes a statx to
            // `out`, which has room for it. If the call succeeds `out` is initialised, and the
            // caller lets nobody else access it. The caller promises what `path` requires.
            unsafe {
                let result = libc::syscall(libc::SYS_statx, at, name, flags, mask, out) as c_int;
                if result == 0
                    && path(name).is_none_or(str::is_empty)
                    && let Some(status) = of_socket(at, (*out).stx_mode.into())
                {
                    status.patch_x(&mut *out);
                }
                result
            }
        }
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns; `out` has room
            // for a statx.
            unsafe {
                libc::syscall(libc::SYS_statx, AT_FDCWD, path.as_ptr(), flags, mask, out) as c_int
            }
        }
        Some(Found::Missing) => fail(libc::ENOENT),
        Some(Found::Here(_, node)) => {
            // SAFETY: `out` has room for a statx.
            unsafe { out.write(node_status(node).statx()) };
            0
        }
    }
}

/// The hook for fstat.
///
/// # Safety
/// `out` has room for a stat.
unsafe fn stat_of(file: c_int, out: *mut libc::stat) -> c_int {
    // SAFETY: the kernel writes a stat of libc's layout to `out`, which has room for it. If the
    // call succeeds `out` is initialised, and the caller lets nobody else access it.
    unsafe {
        let result = libc::syscall(libc::SYS_fstat, file, out) as c_int;
        if result == 0
            && let Some(status) = of_socket(file, (*out).st_mode)
        {
            status.patch(&mut *out);
        }
        result
    }
}

/// The hook for faccessat.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte.
unsafe fn access_at(at: c_int, name: *const c_char, mode: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller promises what `find_at` requires.
    match unsafe { find_at(at, name, flags & libc::AT_SYMLINK_NOFOLLOW == 0) } {
        // SAFETY: the caller promises what faccessat requires.
        None => unsafe { next::faccessat(at, name, mode, flags) },
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns.
            unsafe { next::faccessat(AT_FDCWD, path.as_ptr().cast(), mode, flags) }
        }
        Some(Found::Missing) => fail(libc::ENOENT),
        Some(Found::Here(_, node)) => {
            let executes = mode & libc::X_OK != 0 && *node != Node::Directory;
            if executes { fail(libc::EACCES) } else { 0 }
        }
    }
}

/// getxattr and lgetxattr, by the number of the system call. Files of the tree have no extended
/// attributes.
///
/// # Safety
/// `name` and `attribute` are null or point to strings that end with a zero byte. `out` has room
/// for `size` bytes.
unsafe fn attributes(
    call: libc::c_long,
    name: *const c_char,
    follow: bool,
    attribute: *const c_char,
    out: *mut c_void,
    size: size_t,
) -> ssize_t {
    // SAFETY: the caller promises what `find` requires.
    match unsafe { find(name, follow) } {
        // SAFETY: the kernel reads two C strings, or returns EFAULT for null, and writes up to
        // `size` bytes to `out`, which has room for them.
        None => unsafe { libc::syscall(call, name, attribute, out, size) as ssize_t },
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns. The caller
            // promises `out` and `attribute`.
            unsafe { libc::syscall(call, path.as_ptr(), attribute, out, size) as ssize_t }
        }
        Some(Found::Missing) => fail(libc::ENOENT) as ssize_t,
        Some(Found::Here(..)) => fail(libc::ENOTSUP) as ssize_t,
    }
}
