//! The pages that the machine code of kernels may access, by their numbers.
//!
//! An address space has tables of such pages beside its TLB. A page is valid only while the TLB has
//! its translation. So each change of an entry of the TLB removes the page. All pages are removed
//! if pointers to memory may have become invalid ([`Memory::identity`](super::Memory)).

#![allow(unsafe_code, reason = "the pages are pointers, which move to other threads")]

use genxml_jit::{PAGES, Page as Entry, Pages};
use std::cell::Cell;
use std::fmt;

/// How many of the pages that were added last are remembered.
pub(super) const RECENT: usize = 8;

/// The pages that machine code may access.
pub(super) struct HostPages {
    pub(super) reads: Pages,
    pub(super) writes: Pages,
    /// The identity of the memory, overlay or claimant that the pages belong to.
    owner: Cell<u64>,
    /// True if there can be pages.
    any: Cell<bool>,
    /// Numbers of the pages that were added last.
    pub(super) recent: Cell<[u64; RECENT]>,
}

// SAFETY: the pointers are used only with the memory that they belong to, which is `Send` too.
unsafe impl Send for HostPages {}

impl fmt::Debug for HostPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostPages").finish_non_exhaustive()
    }
}

impl HostPages {
    pub(super) fn new() -> Box<HostPages> {
        Box::new(HostPages {
            reads: [const { Cell::new(Entry::NONE) }; PAGES],
            writes: [const { Cell::new(Entry::NONE) }; PAGES],
            owner: Cell::new(0),
            any: Cell::new(false),
            recent: Cell::new([u64::MAX; RECENT]),
        })
    }

    /// Removes the pages at one entry.
    pub(super) fn remove(&self, entry: usize) {
        self.reads[entry].set(Entry::NONE);
        self.writes[entry].set(Entry::NONE);
    }

    /// Removes all pages from the table of pages to read.
    pub(super) fn remove_reads(&self) {
        if self.any.get() {
            self.reads.iter().for_each(|entry| entry.set(Entry::NONE));
        }
    }

    /// Removes all pages.
    pub(super) fn clear(&self) {
        if self.any.replace(false) {
            (0..PAGES).for_each(|entry| self.remove(entry));
        }
    }

    /// Removes all pages, unless they belong to the memory or overlay with this identity.
    #[inline]
    pub(super) fn belong_to(&self, owner: u64) {
        if self.owner.replace(owner) != owner {
            self.clear();
        }
    }

    /// Adds page `number`, unless the table has it: to the pages to write if `write`, else to those
    /// to read. Calls `entry` for the new entry; adds nothing if that is `None`.
    #[inline]
    pub(super) fn add(&self, number: u64, write: bool, entry: impl FnOnce() -> Option<Entry>) {
        let table = if write { &self.writes } else { &self.reads };
        let place = &table[Entry::entry(number)];
        if place.get().number() == number {
            return;
        }
        let Some(entry) = entry() else { return };
        place.set(entry);
        self.any.set(true);
        let mut recent = self.recent.get();
        if !recent.contains(&number) {
            recent.rotate_right(1);
            recent[0] = number;
            self.recent.set(recent);
        }
    }
}
