//! Directories of the tree, as opendir and scandir give them.

use super::next::{self, Compare, Filter};
use crate::tree::{Node, Tree};
use libc::{DIR, c_int, dirent};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// An open directory.
struct Open {
    entries: Vec<dirent>,
    at: usize,
}

/// Addresses of all that are open.
static OPEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());
/// How many, to be asked without a lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

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
        // SAFETY: a dirent is plain numbers, for which zeros are right.
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
    let open = Box::into_raw(Box::new(Open { entries: entries(tree, path), at: 0 }));
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).insert(open as usize);
    COUNT.fetch_add(1, Ordering::Relaxed);
    open.cast()
}

/// The open directory at an address, if it is one of the tree.
fn known(directory: *mut DIR) -> Option<*mut Open> {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.contains(&(directory as usize)).then_some(directory.cast())
}

/// The next entry; null at the end. None if the directory is libc's.
pub fn read(directory: *mut DIR) -> Option<*mut dirent> {
    let open = known(directory)?;
    // SAFETY: `open` made it and `close` has not freed it; a client reads a directory from one
    // thread at a time.
    let open = unsafe { &mut *open };
    let entry = open.entries.get_mut(open.at);
    open.at += 1;
    Some(entry.map_or(std::ptr::null_mut(), |entry| entry))
}

/// Back to the first entry.
pub fn rewind(directory: *mut DIR) -> Option<()> {
    let open = known(directory)?;
    // SAFETY: as for `read`.
    unsafe { (*open).at = 0 };
    Some(())
}

/// True if it is a directory of the tree.
pub fn is_ours(directory: *mut DIR) -> bool {
    known(directory).is_some()
}

/// Closes it.
pub fn close(directory: *mut DIR) -> Option<()> {
    let open = known(directory)?;
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&(directory as usize));
    COUNT.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: `open` made it, and nobody else can take it out of the list.
    drop(unsafe { Box::from_raw(open) });
    Some(())
}

/// scandir: entries that a filter keeps, in order, each in memory of malloc.
///
/// # Safety
/// `list` and the functions are as scandir wants them.
pub unsafe fn scan(
    tree: &Tree,
    path: &str,
    list: *mut *mut *mut dirent,
    filter: Filter,
    compare: Compare,
) -> c_int {
    let mut kept: Vec<*const dirent> = Vec::new();
    for entry in entries(tree, path) {
        // SAFETY: the caller's filter takes an entry; malloc's memory is large enough for one
        // before it is written.
        unsafe {
            if filter.is_some_and(|filter| filter(&entry) == 0) {
                continue;
            }
            let copy: *mut dirent = libc::malloc(size_of::<dirent>()).cast();
            if copy.is_null() {
                return next::fail(libc::ENOMEM);
            }
            copy.write(entry);
            kept.push(copy);
        }
    }
    if let Some(compare) = compare {
        // SAFETY: the caller's function takes two entries.
        kept.sort_by(|a, b| unsafe { compare(&mut a.cast(), &mut b.cast()) }.cmp(&0));
    }
    // SAFETY: memory of malloc for all pointers; `list` is the caller's to be written.
    unsafe {
        let array: *mut *mut dirent =
            libc::malloc((kept.len().max(1)) * size_of::<*mut dirent>()).cast();
        if array.is_null() {
            return next::fail(libc::ENOMEM);
        }
        for (index, entry) in kept.iter().enumerate() {
            array.add(index).write(entry.cast_mut());
        }
        list.write(array);
    }
    kept.len() as c_int
}
