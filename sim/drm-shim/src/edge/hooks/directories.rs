//! Hooks for opendir, readdir and scandir.

use super::{c_path, descriptor, find, hooks};
use crate::device::descriptor::Descriptor;
use crate::edge::directory;
use crate::edge::next::{self, Compare, Filter, fail};
use crate::edge::session::tree;
use crate::tree::{Found, Node};
use libc::{DIR, c_char, c_int, dirent};

hooks! {
    fn opendir(name: *const c_char) -> *mut DIR {
        // SAFETY: `opendir` requires that `name` is a C string, and `find` requires no more.
        match unsafe { find(name, true) } {
            // SAFETY: `name` is the caller's C string.
            None => unsafe { directory::extend(next::opendir(name), tree) },
            Some(Found::Elsewhere(path)) => {
                let path = c_path(&path);
                // SAFETY: `path` ends with a zero byte and lives until the call returns.
                unsafe { directory::extend(next::opendir(path.as_ptr().cast()), tree) }
            }
            Some(Found::Here(path, Node::Directory)) => directory::open(tree(), &path),
            Some(found) => {
                let missing = found == Found::Missing;
                fail(if missing { libc::ENOENT } else { libc::ENOTDIR });
                std::ptr::null_mut()
            }
        }
    }
    fn fdopendir(file: c_int) -> *mut DIR {
        match descriptor(file) {
            Some(Descriptor::Directory { number, .. }) => {
                let Some(path) = tree().path(number) else {
                    fail(libc::EBADF);
                    return std::ptr::null_mut();
                };
                // SAFETY: `fdopendir` takes the descriptor from the caller, who does not use it any
                // more. The directory is read from the tree and needs no descriptor.
                unsafe { libc::syscall(libc::SYS_close, file) };
                directory::open(tree(), path)
            }
            // SAFETY: the caller passes the descriptor on, as `fdopendir` requires.
            _ => unsafe { directory::extend(next::fdopendir(file), tree) },
        }
    }
    fn readdir(directory: *mut DIR) -> *mut dirent {
        // SAFETY: `readdir` requires a directory that is open and that no other thread reads or
        // closes at the same time. `directory::read` requires the same. A directory that is not of
        // the tree is libc's own.
        unsafe { directory::read(directory).unwrap_or_else(|| directory::read_libcs(directory)) }
    }
    fn readdir64(directory: *mut DIR) -> *mut dirent {
        // SAFETY: as for `readdir`: `readdir64` has the same contract, and with 64-bit `off_t` the
        // same entries.
        unsafe { directory::read(directory).unwrap_or_else(|| directory::read_libcs(directory)) }
    }
    fn rewinddir(directory: *mut DIR) -> () {
        // SAFETY: `rewinddir` requires a directory that is open and that no other thread uses at
        // the same time. `directory::rewind` requires the same. A directory that is not of the tree
        // is libc's own.
        unsafe { directory::rewind(directory).unwrap_or_else(|| next::rewinddir(directory)) }
    }
    fn closedir(directory: *mut DIR) -> c_int {
        // SAFETY: `closedir` requires that nobody else uses the directory or its entries any more,
        // as `directory::close` does.
        match unsafe { directory::close(directory) } {
            Some(()) => 0,
            None => {
                directory::forget(directory);
                // SAFETY: the directory is not of the tree, so it is libc's own; `closedir`
                // requires that it is open and not used afterwards.
                unsafe { next::closedir(directory) }
            }
        }
    }
    fn dirfd(directory: *mut DIR) -> c_int {
        match directory::is_ours(directory) {
            true => fail(libc::ENOTSUP),
            // SAFETY: the directory is not of the tree, so it is libc's own; `dirfd` requires that
            // it is open.
            false => unsafe { next::dirfd(directory) },
        }
    }
    fn scandir(
        name: *const c_char,
        list: *mut *mut *mut dirent,
        filter: Filter,
        compare: Compare,
    ) -> c_int {
        // SAFETY: `scandir` requires a C string, a `list` that can be written, and functions that
        // take entries, as `scan` does.
        unsafe { scan(name, list, filter, compare) }
    }
    fn scandir64(
        name: *const c_char,
        list: *mut *mut *mut dirent,
        filter: Filter,
        compare: Compare,
    ) -> c_int {
        // SAFETY: as for `scandir`: `scandir64` has the same contract, and with 64-bit `off_t` the
        // same entries.
        unsafe { scan(name, list, filter, compare) }
    }
}

/// The hook for scandir.
///
/// # Safety
/// `name` is null or points to a string that ends with a zero byte. `list` can be written. `filter`
/// and `compare` may be called with entries.
unsafe fn scan(
    name: *const c_char,
    list: *mut *mut *mut dirent,
    filter: Filter,
    compare: Compare,
) -> c_int {
    // SAFETY: the caller promises what `find` requires.
    let entries = match unsafe { find(name, true) } {
        // SAFETY: `name` is the caller's C string. Nobody else has the new directory.
        None => unsafe { all(next::opendir(name)) },
        Some(Found::Elsewhere(path)) => {
            let path = c_path(&path);
            // SAFETY: `path` ends with a zero byte and lives until the call returns. Nobody else
            // has the new directory.
            unsafe { all(next::opendir(path.as_ptr().cast())) }
        }
        Some(Found::Missing) => return fail(libc::ENOENT),
        Some(Found::Here(path, Node::Directory)) => Some(directory::entries(tree(), &path)),
        Some(Found::Here(..)) => return fail(libc::ENOTDIR),
    };
    match entries {
        // SAFETY: the caller promises what `directory::scan` requires of `list` and the functions.
        Some(entries) => unsafe { directory::scan(entries, list, filter, compare) },
        None => -1,
    }
}

/// All entries of a directory that libc has opened just now; `None` with errno set if it could not
/// be opened.
///
/// # Safety
/// The directory is null, or nobody else uses it.
unsafe fn all(directory: *mut DIR) -> Option<Vec<dirent>> {
    // SAFETY: libc has opened the directory just now, and nobody else uses it.
    (!directory.is_null()).then(|| unsafe { directory::drain(directory::extend(directory, tree)) })
}
