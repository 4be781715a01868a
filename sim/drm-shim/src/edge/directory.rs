//! Directories for opendir, readdir and scandir: those of the tree, and the machine's directories
//! above them, whose lists also have the names that lead to the tree ([`extend`]).

use super::next::{self, Compare, Filter};
use crate::tree::{Node, Tree};
use libc::{DIR, c_int, dirent};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
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

/// The type of a file, for a directory entry.
fn kind(node: &Node) -> u8 {
    match node {
        Node::Directory => libc::DT_DIR,
        Node::File(_) => libc::DT_REG,
        Node::Link(_) => libc::DT_LNK,
        Node::Device(_) => libc::DT_CHR,
    }
}

/// A directory entry with this number.
fn entry(index: usize, name: &str, kind: u8) -> dirent {
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
}

/// The name in a directory entry.
fn name(entry: &dirent) -> &[u8] {
    // SAFETY: the name ends with a zero byte and lives as long as the entry.
    unsafe { CStr::from_ptr(entry.d_name.as_ptr()) }.to_bytes()
}

/// The entries of a directory of the tree.
pub fn entries(tree: &Tree, path: &str) -> Vec<dirent> {
    let fixed = [(".", libc::DT_DIR), ("..", libc::DT_DIR)];
    let listed = tree.list(path).into_iter().map(|(name, node)| (name, kind(node)));
    let all = fixed.into_iter().chain(listed).enumerate();
    all.map(|(index, (name, kind))| entry(index, name, kind)).collect()
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

/// Entries that follow those of one of the machine's directories.
struct Extra {
    /// Path of the directory.
    path: String,
    entries: Vec<dirent>,
    /// For each entry: true if the machine's directory has this name, too.
    present: Vec<bool>,
    /// Index of the next entry.
    next: usize,
}

impl Extra {
    /// The machine's directory has an entry with this name. Returns false if the tree hides it.
    fn pass(&mut self, found: &[u8]) -> bool {
        // The client may have gone back to an earlier entry.
        self.next = 0;
        if let Some(index) = self.entries.iter().position(|entry| name(entry) == found) {
            self.present[index] = true;
            return true;
        }
        std::str::from_utf8(found).map_or(true, |name| {
            matches!(name, "." | "..") || !Tree::covers(&format!("{}/{name}", self.path))
        })
    }

    /// The next entry; null after the last entry. It stays at its address until the directory is
    /// closed.
    fn read(&mut self) -> *mut dirent {
        while self.present.get(self.next) == Some(&true) {
            self.next += 1;
        }
        let entry = self.entries.get_mut(self.next);
        self.next += 1;
        entry.map_or(std::ptr::null_mut(), |entry| entry)
    }
}

/// The extra entries of libc's directories that lead to the tree, by address of the directory.
static EXTRAS: Mutex<BTreeMap<usize, Extra>> = Mutex::new(BTreeMap::new());
/// Number of directories with extra entries, readable without the lock.
static EXTRA_COUNT: AtomicUsize = AtomicUsize::new(0);

fn extras() -> MutexGuard<'static, BTreeMap<usize, Extra>> {
    EXTRAS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// After libc has opened a directory: if it is above a path of the tree, its list also has the name
/// that leads there. Programs look for devices in such lists. (libudev lists `/sys/class` before
/// `/sys/class/drm`.) `tree` is called only for such directories. Returns `directory`.
///
/// # Safety
/// The directory is null or one that libc has opened just now.
pub unsafe fn extend(directory: *mut DIR, tree: fn() -> &'static Tree) -> *mut DIR {
    if directory.is_null() {
        return directory;
    }
    // If libc itself closed an earlier directory at this address, its entries are still here.
    forget(directory);
    // SAFETY: libc has opened the directory.
    let file = unsafe { next::dirfd(directory) };
    let path = rustix::fs::readlink(format!("/proc/self/fd/{file}"), Vec::new()).ok();
    let path = path.as_ref().and_then(|path| path.to_str().ok());
    if let Some(path) = path.filter(|path| Tree::is_above(path)) {
        let listed = tree().list(path).into_iter().enumerate();
        let entries: Vec<dirent> =
            listed.map(|(index, (name, node))| entry(index, name, kind(node))).collect();
        let present = vec![false; entries.len()];
        let extra = Extra { path: path.to_owned(), entries, present, next: 0 };
        extras().insert(directory as usize, extra);
        EXTRA_COUNT.fetch_add(1, Ordering::Relaxed);
    }
    directory
}

/// The next entry of one of libc's directories; null after the last entry.
///
/// # Safety
/// The directory is open, and no other thread reads, rewinds or closes it during the call, or uses
/// the entry that the previous call returned.
pub unsafe fn read_libcs(directory: *mut DIR) -> *mut dirent {
    // SAFETY: the caller keeps the contract of readdir.
    let read = || unsafe { next::readdir(directory) };
    if EXTRA_COUNT.load(Ordering::Relaxed) == 0 {
        return read();
    }
    let mut extras = extras();
    let Some(extra) = extras.get_mut(&(directory as usize)) else { return read() };
    loop {
        let found = read();
        if found.is_null() {
            return extra.read();
        }
        // SAFETY: libc's entry is valid until the next call of readdir, and its name ends with a
        // zero byte. It may be shorter than a `dirent`, so no reference to all of it is made.
        let name = unsafe { CStr::from_ptr((&raw const (*found).d_name).cast()) };
        if extra.pass(name.to_bytes()) {
            return found;
        }
    }
}

/// Forgets the extra entries of one of libc's directories.
pub fn forget(directory: *mut DIR) {
    if EXTRA_COUNT.load(Ordering::Relaxed) > 0 && extras().remove(&(directory as usize)).is_some() {
        EXTRA_COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The entries of one of libc's directories, with the extra ones. Closes the directory.
///
/// # Safety
/// [`extend`] returned the directory, and nobody else uses it.
pub unsafe fn drain(directory: *mut DIR) -> Vec<dirent> {
    let mut entries = Vec::new();
    // SAFETY: the directory is open and nobody else uses it, by the caller's promise. Each entry is
    // valid until the next call; it has `d_reclen` bytes, and a `dirent` has room for them.
    unsafe {
        loop {
            let found = read_libcs(directory);
            if found.is_null() {
                break;
            }
            let mut entry: dirent = std::mem::zeroed();
            let bytes = usize::from((&raw const (*found).d_reclen).read());
            let to = (&raw mut entry).cast::<u8>();
            to.copy_from_nonoverlapping(found.cast(), bytes.min(size_of::<dirent>()));
            entries.push(entry);
        }
        forget(directory);
        next::closedir(directory);
    }
    entries
}

/// scandir: stores an array of those of `entries` that `filter` selects, sorted by `compare`, in
/// `list`, and returns their number. The array and each entry are in memory of malloc. Returns -1,
/// with errno set, if memory runs out.
///
/// # Safety
/// `list` can be written. `filter` may be called with an entry, and `compare` with two.
pub unsafe fn scan(
    entries: Vec<dirent>,
    list: *mut *mut *mut dirent,
    filter: Filter,
    compare: Compare,
) -> c_int {
    let mut selected: Vec<*const dirent> = Vec::new();
    for entry in entries {
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
