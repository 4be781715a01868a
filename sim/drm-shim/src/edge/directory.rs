//! Directories of the tree for opendir, readdir and scandir.

use super::next::{self, Compare, Filter};
use crate::tree::{Node, Tree};
use libc::{DIR, c_int, dirent};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An open directory.
struct Open {
    entries: Vec<dirent>,
    /// Index of the next entry.
    next: usize,
}

/// Addresses of the open directories.
static OPEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
/// Number of open directories, readable without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn list() -> MutexGuard<'static, BTreeSet<usize>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entries of a directory.
fn entries(tree: &Tree, path: &str) -> Vec<dirent> {
    let fixed = [(".", libc::DT_DIR), ("..", libc::DT_DIR)];
    let kind = |node: &Node| match node {
        Node::Directory => libc::DT_DIR,
        Node::File(_) => libc::DT_REG,
        Node::Link(_) => libc::DT_LNK,
        Node::Device(_) => libc::DT_CHR,
    };
    let listed = tree.list(path).into_iter().map(|(name, node)| (name, kind(node)));
    let all = fixed.into_iter().chain(listed).enumerate();
    all.map(|(index, (name, kind))| {
        // SAFETY: a dirent is a structure of integers, for which zeros are valid.
        let mut entry: dirent = unsafe { std::mem::zeroed() };
        entry.d_ino = index as u64 + 1;
        entry.d_off = index as i64 + 1;
        entry.d_reclen = size_of::<dirent>() as u16;
        entry.d_type = kind;
        for (to, from) in entry.d_name.iter_mut().zip(name.bytes().take(255)) {
            *to = from as libc::c_char;
        }
        entry
    })
    .collect()
}

/// Opens a directory of the tree.
pub fn open(tree: &Tree, path: &str) -> *mut DIR {
    let open = Box::into_raw(Box::new(Open { entries: entries(tree, path), next: 0 }));
    list().insert(open as usize);
    COUNT.fetch_add(1, Ordering::Relaxed);
    open.cast()
}

/// True for an open directory of the tree; false for one of libc.
pub fn is_ours(directory: *mut DIR) -> bool {
    COUNT.load(Ordering::Relaxed) > 0 && list().contains(&(directory as usize))
}

/// The next entry of the directory; null after the last entry. `None` if the directory is one of
/// libc.
///
/// # Safety
/// No other thread reads, rewinds or closes the directory during the call, or uses the entry that
/// the previous call returned.
pub unsafe fn read(directory: *mut DIR) -> Option<*mut dirent> {
    if !is_ours(directory) {
        return None;
    }
    // SAFETY: the address is in the list, so `open` made it from a box of this type and `close` has
    // not freed it. By the caller's promise nobody else accesses it during the call.
    let open = unsafe { &mut *directory.cast::<Open>() };
    let entry = open.entries.get_mut(open.next);
    open.next += 1;
    Some(entry.map_or(std::ptr::null_mut(), |entry| entry))
}

/// Goes back to the first entry of the directory. `None` if the directory is one of libc.
///
/// # Safety
/// No other thread reads, rewinds or closes the directory during the call.
pub unsafe fn rewind(directory: *mut DIR) -> Option<()> {
    if !is_ours(directory) {
        return None;
    }
    // SAFETY: the address is in the list, so `open` made it from a box of this type and `close` has
    // not freed it. By the caller's promise nobody else accesses it during the call.
    unsafe { (*directory.cast::<Open>()).next = 0 };
    Some(())
}

/// Closes the directory. `None` if it is one of libc.
///
/// # Safety
/// No other thread uses the directory during the call, and nobody uses its entries afterwards.
pub unsafe fn close(directory: *mut DIR) -> Option<()> {
    if COUNT.load(Ordering::Relaxed) == 0 || !list().remove(&(directory as usize)) {
        return None;
    }
    COUNT.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: the address was in the list, so `open` made it from a box of this type. Only the call
    // that removes it from the list gets here, so it is freed once; by the caller's promise nobody
    // uses it any more.
    drop(unsafe { Box::from_raw(directory.cast::<Open>()) });
    Some(())
}

/// scandir: stores an array of the entries that `filter` selects, sorted by `compare`, in `list`,
/// and returns their number. The array and each entry are in memory of malloc. Returns -1, with
/// errno set, if memory runs out.
///
/// # Safety
/// `list` can be written. `filter` may be called with an entry, and `compare` with two.
pub unsafe fn scan(
    tree: &Tree,
    path: &str,
    list: *mut *mut *mut dirent,
    filter: Filter,
    compare: Compare,
) -> c_int {
    let mut selected: Vec<*const dirent> = Vec::new();
    for entry in entries(tree, path) {
        // SAFETY: the caller promises that the filter takes an entry.
        if filter.is_some_and(|filter| unsafe { filter(&entry) } == 0) {
            continue;
        }
        // SAFETY: malloc takes any size.
        let copy: *mut dirent = unsafe { libc::malloc(size_of::<dirent>()).cast() };
        if copy.is_null() {
            return next::fail(libc::ENOMEM);
        }
        // SAFETY: malloc gave room for an entry, aligned for any type.
        unsafe { copy.write(entry) };
        selected.push(copy);
    }
    if let Some(compare) = compare {
        // SAFETY: the caller promises that the function takes the addresses of two pointers to
        // entries. Both are pointers to initialised entries, in variables of this closure.
        selected.sort_by(|a, b| unsafe { compare(&mut a.cast(), &mut b.cast()) }.cmp(&0));
    }
    // SAFETY: malloc takes any size.
    let array: *mut *mut dirent =
        unsafe { libc::malloc(selected.len().max(1) * size_of::<*mut dirent>()).cast() };
    if array.is_null() {
        return next::fail(libc::ENOMEM);
    }
    for (index, entry) in selected.iter().enumerate() {
        // SAFETY: the index is less than the number of pointers that malloc gave room for.
        unsafe { array.add(index).write(entry.cast_mut()) };
    }
    // SAFETY: the caller promises that `list` can be written.
    unsafe { list.write(array) };
    selected.len() as c_int
}
