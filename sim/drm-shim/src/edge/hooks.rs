//! The functions that take libc's place: each looks whether a path or descriptor is one of the
//! device's, and goes on to libc or the kernel if not. Nothing here is locked but for those.
//!
//! `open` and `ioctl` take a variable number of arguments in C; on 64-bit machines those are passed
//! as named ones are.

use super::directory;
use super::host::PROCESS;
use super::next::{self, Compare, Filter, fail};
use super::session::{self, tree};
use crate::device::descriptor::{self, Descriptor, Id};
use crate::tree::{Found, Node, Tree};
use crate::uapi::{DRM_TYPE, Request};
use libc::{
    AT_FDCWD, DIR, FILE, c_char, c_int, c_uint, c_ulong, c_void, dirent, mode_t, off_t, size_t,
    ssize_t,
};
use rustix::fd::{BorrowedFd, IntoRawFd};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use std::ffi::CStr;

/// The path that a client passes, if it may be one of the tree's.
///
/// # Safety
/// `path` is null or ends with a zero.
unsafe fn path<'a>(path: *const c_char) -> Option<&'a str> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(path) }.to_str().ok()
}

/// What a path leads to in the tree; none for all others.
///
/// # Safety
/// `name` is null or ends with a zero.
unsafe fn find(name: *const c_char, follow: bool) -> Option<Found<'static>> {
    // SAFETY: the caller's promise.
    let name = unsafe { path(name) }?;
    // Making the tree reads files itself, in /sys among others: it is made only for paths that it
    // has.
    let likely = name.starts_with("/dev/") || name.starts_with("/sys/") || name.starts_with("//");
    if !likely || !Tree::concerns(name) {
        return None;
    }
    tree().find(name, follow)
}

/// The same for a path that counts from a directory.
///
/// # Safety
/// `name` is null or ends with a zero.
unsafe fn find_at(at: c_int, name: *const c_char, follow: bool) -> Option<Found<'static>> {
    // SAFETY: the caller's promise.
    unsafe {
        if at >= 0
            && let Some(name) = path(name)
            && !name.starts_with('/')
            && let Some(Descriptor::Directory { number, .. }) = stands_for(at)
        {
            let directory = tree().path(number)?;
            return tree().find(&format!("{directory}/{name}"), follow);
        }
        find(name, follow)
    }
}

/// What a descriptor stands for.
fn stands_for(number: c_int) -> Option<Descriptor> {
    if number < 0 {
        return None;
    }
    // SAFETY: borrowed to be asked for its peer; the kernel says if there is no such descriptor.
    Descriptor::of(unsafe { BorrowedFd::borrow_raw(number) })
}

/// A path as C has it.
fn c_path(path: &str) -> Vec<u8> {
    let mut bytes = path.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// A number from the kernel's result.
fn number(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|error| fail(error.raw_os_error()))
}

/// A descriptor for a file of the tree.
fn open_found(path: &str, node: &Node, flags: c_int) -> Result<c_int, Errno> {
    let close_on_exec = flags & libc::O_CLOEXEC != 0;
    match node {
        Node::Device(minor) => Ok(session::open(*minor, close_on_exec)?.into_raw_fd()),
        Node::File(contents) => {
            let memfd = if close_on_exec { MemfdFlags::CLOEXEC } else { MemfdFlags::empty() };
            let file = rustix::fs::memfd_create("genx-file", memfd)?;
            rustix::io::write(&file, contents)?;
            rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))?;
            Ok(file.into_raw_fd())
        }
        Node::Link(_) => Err(Errno::LOOP),
        Node::Directory => {
            let directory = Descriptor::Directory { id: Id::new(), number: tree().number(path) };
            Ok(directory.create(close_on_exec)?.0.into_raw_fd())
        }
    }
}

/// # Safety
/// As openat.
unsafe fn open_at(at: c_int, name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: as the caller; the path made here ends with a zero.
    unsafe {
        match find_at(at, name, flags & libc::O_NOFOLLOW == 0) {
            None => libc::syscall(libc::SYS_openat, at, name, flags, mode) as c_int,
            Some(Found::Elsewhere(path)) => {
                libc::syscall(libc::SYS_openat, AT_FDCWD, c_path(&path).as_ptr(), flags, mode)
                    as c_int
            }
            Some(Found::Missing) => fail(libc::ENOENT),
            Some(Found::Here(path, node)) => number(open_found(&path, node, flags)),
        }
    }
}

/// Numbers of a file's status.
struct Status {
    mode: c_uint,
    device: u64,
    size: u64,
}

fn device_status(minor: u32) -> Status {
    Status { mode: libc::S_IFCHR | 0o666, device: libc::makedev(226, minor), size: 0 }
}

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

/// What fstat says of a socket that stands for something.
fn descriptor_status(descriptor: Descriptor) -> Option<Status> {
    match descriptor {
        Descriptor::Device { minor, .. } => Some(device_status(minor)),
        Descriptor::DmaBuf { size, .. } => {
            Some(Status { mode: libc::S_IFREG | 0o600, device: 0, size })
        }
        Descriptor::Directory { .. } => {
            Some(Status { mode: libc::S_IFDIR | 0o755, device: 0, size: 0 })
        }
        Descriptor::Syncobj { .. } | Descriptor::SyncFile { .. } => None,
    }
}

impl Status {
    /// # Safety
    /// `out` may be written.
    unsafe fn store(&self, out: *mut libc::stat, whole: bool) {
        // SAFETY: the caller's promise; zeros are right for every field.
        unsafe {
            if whole {
                out.write(std::mem::zeroed());
                (*out).st_nlink = 1;
                (*out).st_blksize = 4096;
                (*out).st_dev = 6;
                (*out).st_ino = self.device + 2;
            }
            (*out).st_mode = self.mode;
            (*out).st_rdev = self.device;
            (*out).st_size = self.size as off_t;
        }
    }

    /// # Safety
    /// `out` may be written.
    unsafe fn store_x(&self, out: *mut libc::statx, whole: bool) {
        // SAFETY: the caller's promise; zeros are right for every field.
        unsafe {
            if whole {
                out.write(std::mem::zeroed());
                (*out).stx_mask = libc::STATX_BASIC_STATS;
                (*out).stx_nlink = 1;
                (*out).stx_blksize = 4096;
                (*out).stx_dev_minor = 6;
                (*out).stx_ino = self.device + 2;
            }
            (*out).stx_mode = self.mode as u16;
            (*out).stx_rdev_major = libc::major(self.device);
            (*out).stx_rdev_minor = libc::minor(self.device);
            (*out).stx_size = self.size;
        }
    }
}

/// # Safety
/// As fstatat.
unsafe fn stat_at(at: c_int, name: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
    // SAFETY: as the caller.
    unsafe {
        match find_at(at, name, flags & libc::AT_SYMLINK_NOFOLLOW == 0) {
            None => {
                let result = libc::syscall(libc::SYS_newfstatat, at, name, out, flags) as c_int;
                if result == 0
                    && (*out).st_mode & libc::S_IFMT == libc::S_IFSOCK
                    && path(name).is_some_and(str::is_empty)
                    && let Some(status) = stands_for(at).and_then(descriptor_status)
                {
                    status.store(out, false);
                }
                result
            }
            Some(Found::Elsewhere(path)) => {
                libc::syscall(libc::SYS_newfstatat, AT_FDCWD, c_path(&path).as_ptr(), out, flags)
                    as c_int
            }
            Some(Found::Missing) => fail(libc::ENOENT),
            Some(Found::Here(_, node)) => {
                node_status(node).store(out, true);
                0
            }
        }
    }
}

/// Declares functions of the C ABI.
macro_rules! hooks {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty $body:block)*) => {$(
        $(#[$meta])*
        /// Takes the place of libc's function of this name.
        ///
        /// # Safety
        /// As libc says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            // SAFETY: the caller keeps the promises of libc's function, which are those of what is
            // called here.
            #[allow(unused_unsafe, reason = "some need none")]
            unsafe { $body }
        }
    )*};
}

hooks! {
    fn open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int { open_at(AT_FDCWD, name, flags, mode) }
    fn open64(name: *const c_char, flags: c_int, mode: mode_t) -> c_int { open_at(AT_FDCWD, name, flags, mode) }
    fn __open_2(name: *const c_char, flags: c_int) -> c_int { open_at(AT_FDCWD, name, flags, 0) }
    fn __open64_2(name: *const c_char, flags: c_int) -> c_int { open_at(AT_FDCWD, name, flags, 0) }
    fn openat(at: c_int, name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        open_at(at, name, flags, mode)
    }
    fn openat64(at: c_int, name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        open_at(at, name, flags, mode)
    }
    fn __openat_2(at: c_int, name: *const c_char, flags: c_int) -> c_int { open_at(at, name, flags, 0) }
    fn __openat64_2(at: c_int, name: *const c_char, flags: c_int) -> c_int { open_at(at, name, flags, 0) }

    fn fopen(name: *const c_char, mode: *const c_char) -> *mut FILE { open_stream(name, mode) }
    fn fopen64(name: *const c_char, mode: *const c_char) -> *mut FILE { open_stream(name, mode) }

    fn stat(name: *const c_char, out: *mut libc::stat) -> c_int { stat_at(AT_FDCWD, name, out, 0) }
    fn stat64(name: *const c_char, out: *mut libc::stat) -> c_int { stat_at(AT_FDCWD, name, out, 0) }
    fn lstat(name: *const c_char, out: *mut libc::stat) -> c_int {
        stat_at(AT_FDCWD, name, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn lstat64(name: *const c_char, out: *mut libc::stat) -> c_int {
        stat_at(AT_FDCWD, name, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn fstat(file: c_int, out: *mut libc::stat) -> c_int { stat_of(file, out) }
    fn fstat64(file: c_int, out: *mut libc::stat) -> c_int { stat_of(file, out) }
    fn fstatat(at: c_int, name: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        stat_at(at, name, out, flags)
    }
    fn fstatat64(at: c_int, name: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        stat_at(at, name, out, flags)
    }
    fn __xstat(_version: c_int, name: *const c_char, out: *mut libc::stat) -> c_int {
        stat_at(AT_FDCWD, name, out, 0)
    }
    fn __xstat64(_version: c_int, name: *const c_char, out: *mut libc::stat) -> c_int {
        stat_at(AT_FDCWD, name, out, 0)
    }
    fn __lxstat(_version: c_int, name: *const c_char, out: *mut libc::stat) -> c_int {
        stat_at(AT_FDCWD, name, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn __lxstat64(_version: c_int, name: *const c_char, out: *mut libc::stat) -> c_int {
        stat_at(AT_FDCWD, name, out, libc::AT_SYMLINK_NOFOLLOW)
    }
    fn __fxstat(_version: c_int, file: c_int, out: *mut libc::stat) -> c_int { stat_of(file, out) }
    fn __fxstat64(_version: c_int, file: c_int, out: *mut libc::stat) -> c_int { stat_of(file, out) }
    fn __fxstatat(_version: c_int, at: c_int, name: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        stat_at(at, name, out, flags)
    }
    fn __fxstatat64(_version: c_int, at: c_int, name: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int {
        stat_at(at, name, out, flags)
    }
    fn statx(at: c_int, name: *const c_char, flags: c_int, mask: c_uint, out: *mut libc::statx) -> c_int {
        match find_at(at, name, flags & libc::AT_SYMLINK_NOFOLLOW == 0) {
            None => {
                let result = libc::syscall(libc::SYS_statx, at, name, flags, mask, out) as c_int;
                if result == 0
                    && c_uint::from((*out).stx_mode) & libc::S_IFMT == libc::S_IFSOCK
                    && path(name).is_none_or(str::is_empty)
                    && let Some(status) = stands_for(at).and_then(descriptor_status)
                {
                    status.store_x(out, false);
                }
                result
            }
            Some(Found::Elsewhere(path)) => {
                let path = c_path(&path);
                libc::syscall(libc::SYS_statx, AT_FDCWD, path.as_ptr(), flags, mask, out) as c_int
            }
            Some(Found::Missing) => fail(libc::ENOENT),
            Some(Found::Here(_, node)) => {
                node_status(node).store_x(out, true);
                0
            }
        }
    }

    fn access(name: *const c_char, mode: c_int) -> c_int { access_at(AT_FDCWD, name, mode, 0) }
    fn eaccess(name: *const c_char, mode: c_int) -> c_int { access_at(AT_FDCWD, name, mode, libc::AT_EACCESS) }
    fn euidaccess(name: *const c_char, mode: c_int) -> c_int {
        access_at(AT_FDCWD, name, mode, libc::AT_EACCESS)
    }
    fn faccessat(at: c_int, name: *const c_char, mode: c_int, flags: c_int) -> c_int {
        access_at(at, name, mode, flags)
    }

    fn getxattr(name: *const c_char, attribute: *const c_char, out: *mut c_void, size: size_t) -> ssize_t {
        attributes(libc::SYS_getxattr, name, true, attribute, out, size)
    }
    fn lgetxattr(name: *const c_char, attribute: *const c_char, out: *mut c_void, size: size_t) -> ssize_t {
        attributes(libc::SYS_lgetxattr, name, false, attribute, out, size)
    }

    fn readlink(name: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
        read_link(AT_FDCWD, name, out, size)
    }
    fn __readlink_chk(name: *const c_char, out: *mut c_char, size: size_t, _room: size_t) -> ssize_t {
        read_link(AT_FDCWD, name, out, size)
    }
    fn readlinkat(at: c_int, name: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
        read_link(at, name, out, size)
    }
    fn realpath(name: *const c_char, out: *mut c_char) -> *mut c_char { real_path(name, out) }
    fn __realpath_chk(name: *const c_char, out: *mut c_char, _room: size_t) -> *mut c_char {
        real_path(name, out)
    }
    fn canonicalize_file_name(name: *const c_char) -> *mut c_char { real_path(name, std::ptr::null_mut()) }

    fn opendir(name: *const c_char) -> *mut DIR {
        match find(name, true) {
            None => next::opendir(name),
            Some(Found::Elsewhere(path)) => next::opendir(c_path(&path).as_ptr().cast()),
            Some(Found::Here(path, Node::Directory)) => directory::open(tree(), &path),
            Some(found) => {
                let missing = found == Found::Missing;
                fail(if missing { libc::ENOENT } else { libc::ENOTDIR });
                std::ptr::null_mut()
            }
        }
    }
    fn fdopendir(file: c_int) -> *mut DIR {
        match stands_for(file) {
            Some(Descriptor::Directory { number, .. }) => {
                let Some(path) = tree().path(number) else {
                    fail(libc::EBADF);
                    return std::ptr::null_mut();
                };
                // It is the directory's now.
                libc::syscall(libc::SYS_close, file);
                directory::open(tree(), path)
            }
            _ => next::fdopendir(file),
        }
    }
    fn readdir(directory: *mut DIR) -> *mut dirent {
        directory::read(directory).unwrap_or_else(|| next::readdir(directory))
    }
    fn readdir64(directory: *mut DIR) -> *mut dirent {
        directory::read(directory).unwrap_or_else(|| next::readdir(directory))
    }
    fn rewinddir(directory: *mut DIR) -> () {
        directory::rewind(directory).unwrap_or_else(|| next::rewinddir(directory))
    }
    fn closedir(directory: *mut DIR) -> c_int {
        match directory::close(directory) {
            Some(()) => 0,
            None => next::closedir(directory),
        }
    }
    fn dirfd(directory: *mut DIR) -> c_int {
        if directory::is_ours(directory) { fail(libc::ENOTSUP) } else { next::dirfd(directory) }
    }
    fn scandir(name: *const c_char, list: *mut *mut *mut dirent, filter: Filter, compare: Compare) -> c_int {
        scan(name, list, filter, compare)
    }
    fn scandir64(name: *const c_char, list: *mut *mut *mut dirent, filter: Filter, compare: Compare) -> c_int {
        scan(name, list, filter, compare)
    }

    fn ioctl(file: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
        match special(file, Request(request as u32), argument as u64) {
            Some(result) => number(result.map(|()| 0)),
            None => libc::syscall(libc::SYS_ioctl, file, request, argument) as c_int,
        }
    }

    fn mmap(at: *mut c_void, length: size_t, protection: c_int, flags: c_int, file: c_int, offset: off_t)
        -> *mut c_void { map(at, length, protection, flags, file, offset) }
    fn mmap64(at: *mut c_void, length: size_t, protection: c_int, flags: c_int, file: c_int, offset: off_t)
        -> *mut c_void { map(at, length, protection, flags, file, offset) }

    fn munmap(at: *mut c_void, length: size_t) -> c_int {
        session::leave(at as u64, length as u64);
        libc::syscall(libc::SYS_munmap, at, length) as c_int
    }
    fn mremap(at: *mut c_void, length: size_t, new_length: size_t, flags: c_int, new: *mut c_void) -> *mut c_void {
        session::leave(at as u64, length as u64);
        if flags & libc::MREMAP_FIXED != 0 {
            session::leave(new as u64, new_length as u64);
        }
        libc::syscall(libc::SYS_mremap, at, length, new_length, flags, new) as *mut c_void
    }
    fn madvise(at: *mut c_void, length: size_t, advice: c_int) -> c_int {
        if matches!(advice, libc::MADV_DONTNEED | libc::MADV_FREE | libc::MADV_REMOVE) {
            session::leave(at as u64, length as u64);
        }
        libc::syscall(libc::SYS_madvise, at, length, advice) as c_int
    }

    fn lseek(file: c_int, offset: off_t, whence: c_int) -> off_t { seek(file, offset, whence) }
    fn lseek64(file: c_int, offset: off_t, whence: c_int) -> off_t { seek(file, offset, whence) }
}

/// # Safety
/// As fopen.
unsafe fn open_stream(name: *const c_char, mode: *const c_char) -> *mut FILE {
    // SAFETY: as the caller; a descriptor that was just made is a stream's to close.
    unsafe {
        match find(name, true) {
            None => next::fopen(name, mode),
            Some(Found::Elsewhere(path)) => next::fopen(c_path(&path).as_ptr().cast(), mode),
            Some(Found::Missing) => {
                fail(libc::ENOENT);
                std::ptr::null_mut()
            }
            Some(Found::Here(path, node)) => match number(open_found(&path, node, libc::O_CLOEXEC))
            {
                -1 => std::ptr::null_mut(),
                descriptor => libc::fdopen(descriptor, mode),
            },
        }
    }
}

/// # Safety
/// As fstat.
unsafe fn stat_of(file: c_int, out: *mut libc::stat) -> c_int {
    // SAFETY: as the caller; the kernel's status has the layout of libc's.
    unsafe {
        let result = libc::syscall(libc::SYS_fstat, file, out) as c_int;
        if result == 0
            && (*out).st_mode & libc::S_IFMT == libc::S_IFSOCK
            && let Some(status) = stands_for(file).and_then(descriptor_status)
        {
            status.store(out, false);
        }
        result
    }
}

/// # Safety
/// As faccessat.
unsafe fn access_at(at: c_int, name: *const c_char, mode: c_int, flags: c_int) -> c_int {
    // SAFETY: as the caller.
    unsafe {
        match find_at(at, name, flags & libc::AT_SYMLINK_NOFOLLOW == 0) {
            None => next::faccessat(at, name, mode, flags),
            Some(Found::Elsewhere(path)) => {
                next::faccessat(AT_FDCWD, c_path(&path).as_ptr().cast(), mode, flags)
            }
            Some(Found::Missing) => fail(libc::ENOENT),
            Some(Found::Here(_, node)) => {
                let runs = mode & libc::X_OK != 0 && *node != Node::Directory;
                if runs { fail(libc::EACCES) } else { 0 }
            }
        }
    }
}

/// Files of the tree have no extended attributes.
///
/// # Safety
/// As getxattr.
unsafe fn attributes(
    call: libc::c_long,
    name: *const c_char,
    follow: bool,
    attribute: *const c_char,
    out: *mut c_void,
    size: size_t,
) -> ssize_t {
    // SAFETY: as the caller.
    unsafe {
        match find(name, follow) {
            None => libc::syscall(call, name, attribute, out, size) as ssize_t,
            Some(Found::Elsewhere(path)) => {
                libc::syscall(call, c_path(&path).as_ptr(), attribute, out, size) as ssize_t
            }
            Some(Found::Missing) => fail(libc::ENOENT) as ssize_t,
            Some(Found::Here(..)) => fail(libc::ENOTSUP) as ssize_t,
        }
    }
}

/// # Safety
/// As readlinkat.
unsafe fn read_link(at: c_int, name: *const c_char, out: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: as the caller: `out` has room for `size` bytes.
    unsafe {
        match find_at(at, name, false) {
            None => libc::syscall(libc::SYS_readlinkat, at, name, out, size) as ssize_t,
            Some(Found::Elsewhere(path)) => {
                libc::syscall(libc::SYS_readlinkat, AT_FDCWD, c_path(&path).as_ptr(), out, size)
                    as ssize_t
            }
            Some(Found::Missing) => fail(libc::ENOENT) as ssize_t,
            Some(Found::Here(_, Node::Link(target))) => {
                let length = target.len().min(size);
                std::ptr::copy_nonoverlapping(target.as_ptr().cast(), out, length);
                length as ssize_t
            }
            Some(Found::Here(..)) => fail(libc::EINVAL) as ssize_t,
        }
    }
}

/// # Safety
/// As realpath.
unsafe fn real_path(name: *const c_char, out: *mut c_char) -> *mut c_char {
    // SAFETY: as the caller: `out` is null or has room for PATH_MAX bytes.
    unsafe {
        match find(name, true) {
            None => next::realpath(name, out),
            Some(Found::Elsewhere(path)) => next::realpath(c_path(&path).as_ptr().cast(), out),
            Some(Found::Missing) => {
                fail(libc::ENOENT);
                std::ptr::null_mut()
            }
            Some(Found::Here(path, _)) => {
                let path = c_path(&path);
                let out = if out.is_null() { libc::malloc(path.len()).cast() } else { out };
                if !out.is_null() {
                    std::ptr::copy_nonoverlapping(path.as_ptr().cast(), out, path.len());
                }
                out
            }
        }
    }
}

/// # Safety
/// As scandir.
unsafe fn scan(
    name: *const c_char,
    list: *mut *mut *mut dirent,
    filter: Filter,
    compare: Compare,
) -> c_int {
    // SAFETY: as the caller.
    unsafe {
        match find(name, true) {
            None => next::scandir(name, list, filter, compare),
            Some(Found::Elsewhere(path)) => {
                next::scandir(c_path(&path).as_ptr().cast(), list, filter, compare)
            }
            Some(Found::Missing) => fail(libc::ENOENT),
            Some(Found::Here(path, Node::Directory)) => {
                directory::scan(tree(), &path, list, filter, compare)
            }
            Some(Found::Here(..)) => fail(libc::ENOTDIR),
        }
    }
}

/// Argument of SYNC_IOC_MERGE.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct SyncMerge {
    name: [u8; 32],
    second: i32,
    fence: i32,
    flags: u32,
    pad: u32,
}

/// Argument of SYNC_IOC_FILE_INFO.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct SyncInfo {
    name: [u8; 32],
    status: i32,
    flags: u32,
    fences: u32,
    pad: u32,
    infos: u64,
}

/// What SYNC_IOC_FILE_INFO says of each fence.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct FenceInfo {
    object: [u8; 32],
    driver: [u8; 32],
    status: i32,
    flags: u32,
    timestamp: u64,
}

/// ioctls of devices, shared buffers and fences; none if the descriptor is something else.
fn special(file: c_int, request: Request, argument: u64) -> Option<Result<(), Errno>> {
    const SYNC_FILE: u32 = b'>' as u32;
    const DMA_BUF: u32 = b'b' as u32;
    let of_sync = |size| request.size() == size;
    let is_fence = || matches!(stands_for(file), Some(Descriptor::SyncFile { .. }));
    match request.kind() {
        DRM_TYPE => match stands_for(file)? {
            Descriptor::Device { id, minor } => Some(session::ioctl(id, minor, request, argument)),
            _ => Some(Err(Errno::NOTTY)),
        },
        SYNC_FILE if request.number() == 3 && of_sync(size_of::<SyncMerge>()) && is_fence() => {
            Some((|| {
                let mut merge: SyncMerge = PROCESS.value(argument)?;
                // (Linux sync_file.c, sync_file_ioctl_merge)
                let second = PROCESS.sync_file(merge.second).map_err(|_| Errno::NOENT)?;
                let files = [PROCESS.sync_file(file)?, second];
                merge.fence = session::merge(files)?.into_raw_fd();
                PROCESS.put(argument, &merge)
            })())
        }
        SYNC_FILE if request.number() == 4 && of_sync(size_of::<SyncInfo>()) && is_fence() => {
            Some((|| {
                let mut info: SyncInfo = PROCESS.value(argument)?;
                let status = descriptor::status(PROCESS.duplicate(file)?);
                (info.status, info.flags) = (status, 0);
                // It says so as one fence.
                if info.fences > 0 {
                    PROCESS
                        .put(info.infos, &FenceInfo { status, ..bytemuck::Zeroable::zeroed() })?;
                }
                info.fences = 1;
                PROCESS.put(argument, &info)
            })())
        }
        DMA_BUF => match (stands_for(file)?, request.number()) {
            // Begin and end of the CPU's work: memory is coherent.
            (Descriptor::DmaBuf { .. }, 0) => Some(Ok(())),
            (Descriptor::DmaBuf { .. }, 2) => Some((|| {
                let mut pair: [i32; 2] = PROCESS.value(argument)?;
                pair[1] = descriptor::signaled_fence()?.into_raw_fd();
                PROCESS.put(argument, &pair)
            })()),
            (Descriptor::DmaBuf { .. }, 3) => Some(Ok(())),
            _ => Some(Err(Errno::NOTTY)),
        },
        _ => None,
    }
}

/// # Safety
/// As mmap.
unsafe fn map(
    at: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    let descriptor = if flags & libc::MAP_ANONYMOUS != 0 { None } else { stands_for(file) };
    if flags & libc::MAP_FIXED != 0 {
        session::leave(at as u64, length as u64);
    }
    // SAFETY: as the caller; a file that takes the place of the client's shows what that stands
    // for.
    unsafe {
        let Some(descriptor) = descriptor else {
            return libc::syscall(libc::SYS_mmap, at, length, protection, flags, file, offset)
                as *mut c_void;
        };
        match session::mapping(descriptor, offset as u64, length as u64) {
            Ok((file, offset)) => {
                let file = rustix::fd::AsRawFd::as_raw_fd(&file);
                libc::syscall(libc::SYS_mmap, at, length, protection, flags, file, offset)
                    as *mut c_void
            }
            Err(error) => {
                fail(error.raw_os_error());
                libc::MAP_FAILED
            }
        }
    }
}

/// # Safety
/// As lseek.
unsafe fn seek(file: c_int, offset: off_t, whence: c_int) -> off_t {
    // SAFETY: as the caller.
    let result = unsafe { libc::syscall(libc::SYS_lseek, file, offset, whence) };
    // Sockets cannot be sought in: buffers tell their size by it.
    if result == -1
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESPIPE)
        && let Some(Descriptor::DmaBuf { size, .. }) = stands_for(file)
    {
        return match (whence, offset) {
            (libc::SEEK_END, 0) => size as off_t,
            (libc::SEEK_SET, 0) => 0,
            _ => fail(libc::EINVAL).into(),
        };
    }
    result
}
