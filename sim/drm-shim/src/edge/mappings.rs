//! The client's mappings of objects. Each keeps the memory of its object until the client unmaps
//! it, as a mapping of a kernel's object does.

use crate::device::host::Keeper;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a page: the kernel unmaps whole pages.
const PAGE: u64 = 4096;

/// A part of the client's addresses that maps an object.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// Address after the last byte.
    pub end: u64,
    /// The memory that is mapped.
    pub keeper: Keeper,
}

/// All mappings by start address. They do not overlap.
type List = BTreeMap<u64, Mapping>;

/// Number of mappings, readable without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static LIST: Mutex<List> = Mutex::new(List::new());

thread_local! {
    /// True while this thread holds the lock of the list.
    static HELD: Cell<bool> = const { Cell::new(false) };
}

/// The locked list.
#[derive(Debug)]
pub struct Held(MutexGuard<'static, List>);

impl Drop for Held {
    fn drop(&mut self) {
        COUNT.store(self.0.len(), Ordering::Relaxed);
        // At the end of a thread the flag may be gone, and nobody reads it any more.
        let _ = HELD.try_with(|held| held.set(false));
    }
}

/// Locks the list. `None` if this thread has locked it already: then an allocator that unmaps its
/// own memory called the hook, and this memory is not a mapping of an object.
pub fn hold() -> Option<Held> {
    if HELD.try_with(|held| held.replace(true)).ok()? {
        return None;
    }
    Some(Held(LIST.lock().unwrap_or_else(PoisonError::into_inner)))
}

impl Held {
    /// Removes the mappings of a range of addresses, and returns them.
    fn take(&mut self, start: u64, end: u64) -> Vec<Mapping> {
        let list = &mut *self.0;
        let mut taken = Vec::new();
        while let Some((&first, mapping)) = list.range(..end).next_back()
            && mapping.end > start
        {
            let Some(mut mapping) = list.remove(&first) else { break };
            if mapping.end > end {
                list.insert(end, Mapping { start: end, ..mapping.clone() });
                mapping.end = end;
            }
            if first < start {
                list.insert(first, Mapping { end: start, ..mapping.clone() });
                mapping.start = start;
            }
            taken.push(mapping);
        }
        taken
    }
}

/// The end of the pages that contain `bytes` bytes from `start` on.
fn end_of(start: u64, bytes: u64) -> u64 {
    start.saturating_add(bytes).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
}

/// Records that the client has mapped memory at `start`.
pub fn add(start: u64, bytes: u64, keeper: Keeper) {
    restore(vec![Mapping { start, end: end_of(start, bytes), keeper }]);
}

/// Records mappings that the client has now. They replace those that have the same addresses.
pub fn restore(mappings: Vec<Mapping>) {
    let mut replaced = Vec::new();
    if let Some(mut held) = hold() {
        for mapping in mappings {
            replaced.extend(held.take(mapping.start, mapping.end));
            held.0.insert(mapping.start, mapping);
        }
    }
    // Dropped without the lock: that may free memory of objects.
    drop(replaced);
}

/// Removes the mappings of a range that the client is about to unmap, and returns them. The memory
/// stays until the result is dropped. Without any mapping this is one atomic load.
pub fn take(start: u64, bytes: u64) -> Vec<Mapping> {
    if COUNT.load(Ordering::Relaxed) == 0 || !start.is_multiple_of(PAGE) {
        return Vec::new();
    }
    hold().map_or(Vec::new(), |mut held| held.take(start, end_of(start, bytes)))
}

#[cfg(test)]
mod tests;
