//! Bytes that are loaded into frames when these are first accessed.
//!
//! The data of a large capture are in a file. If each object were filled when it is created, all
//! data would be in memory soon. With a [`Later`], only what the GPU accesses takes memory.
//!
//! Pages are loaded in groups of 16. [`Memory`](super::Memory) loads a page before it returns the
//! slot of the page, so nothing reads or writes a page before it is loaded.
#![allow(unsafe_code, reason = "writes pages that are not loaded through a shared reference")]

use super::PAGE;
use super::page::{Page, PageMut};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Pages of a group.
const PAGES: usize = 16;

/// Bytes of a group.
const GROUP: usize = PAGES * PAGE as usize;

/// Where bytes come from that are loaded later.
pub trait Contents: Send + Sync {
    /// Fills `out` with the bytes from `position` on.
    fn read(&self, position: u64, out: &mut [u8]);
}

/// What is to be loaded into a block.
#[derive(Clone)]
pub(super) struct Later {
    source: Arc<dyn Contents>,
    groups: Box<[Group]>,
}

/// The state of a group of pages.
#[derive(Default)]
struct Group {
    is_loaded: AtomicBool,
    /// What is written when the group is loaded, in order, over zeros.
    pieces: Mutex<Vec<Piece>>,
}

/// Bytes of the source that belong into a group.
#[derive(Clone, Copy)]
struct Piece {
    /// Offset in the group.
    offset: u32,
    length: u32,
    /// Position in the source.
    position: u64,
}

impl fmt::Debug for Later {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Later").field("groups", &self.groups.len()).finish_non_exhaustive()
    }
}

impl Clone for Group {
    fn clone(&self) -> Group {
        let pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let is_loaded = AtomicBool::new(self.is_loaded.load(Ordering::Acquire));
        Group { is_loaded, pieces: Mutex::new(pieces.clone()) }
    }
}

impl Later {
    /// For a block of `pages` pages, which are all zeros and were not accessed.
    pub(super) fn new(source: Arc<dyn Contents>, pages: usize) -> Later {
        let groups = (0..pages.div_ceil(PAGES)).map(|_| Group::default()).collect();
        Later { source, groups }
    }

    /// Writes `length` bytes of the source, from `position` on, to `offset` of the block, whose
    /// bytes are `block`. Groups that are loaded already are written now, the others when they are
    /// loaded.
    pub(super) fn add(&mut self, offset: usize, length: usize, position: u64, block: &mut [u8]) {
        let (mut at, end) = (offset, offset + length);
        while at < end {
            let now = (GROUP - at % GROUP).min(end - at);
            let position = position + (at - offset) as u64;
            let group = &mut self.groups[at / GROUP];
            if *group.is_loaded.get_mut() {
                self.source.read(position, &mut block[at..at + now]);
            } else {
                let pieces = group.pieces.get_mut().unwrap_or_else(PoisonError::into_inner);
                if now == GROUP {
                    pieces.clear();
                }
                let (offset, length) = ((at % GROUP) as u32, now as u32);
                pieces.push(Piece { offset, length, position });
            }
            at += now;
        }
    }

    /// Loads the group of a page, if it is not loaded. `pages` are all pages of the block.
    #[inline]
    pub(super) fn load(&self, page: usize, pages: &[Page]) {
        if let Some(group) = self.groups.get(page / PAGES)
            && !group.is_loaded.load(Ordering::Acquire)
        {
            let first = page / PAGES * PAGES;
            self.fill(group, &pages[first..pages.len().min(first + PAGES)]);
        }
    }

    #[cold]
    fn fill(&self, group: &Group, pages: &[Page]) {
        let mut pieces = group.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have loaded it while this one waited.
        if group.is_loaded.load(Ordering::Acquire) {
            return;
        }
        let mut bytes = Vec::new();
        for piece in std::mem::take(&mut *pieces) {
            bytes.resize(piece.length as usize, 0);
            self.source.read(piece.position, &mut bytes);
            let (mut at, mut rest) = (piece.offset as usize, &bytes[..]);
            while !rest.is_empty() {
                let within = at % PAGE as usize;
                let (now, later) = rest.split_at(rest.len().min(PAGE as usize - within));
                // SAFETY: nobody has a slice of the page, and no other thread accesses it:
                // `Memory` loads a page before it makes a slice or returns its slot. The lock
                // orders this write before others here, and `is_loaded` before all later accesses.
                unsafe { PageMut::new(&pages[at / PAGE as usize]) }.write(within, now);
                (at, rest) = (at + now.len(), later);
            }
        }
        group.is_loaded.store(true, Ordering::Release);
    }
}
