//! Memory for the machine code of kernels, which accesses pages without calls. The pages are those
//! of [`super::host_pages`].
//!
//! Over claimed pages, machine code accesses the pages that its user has claimed. Over an
//! [`Overlay`], machine code marks its accesses as the model does. It reads only pages that
//! the part has not written.

#![allow(unsafe_code, reason = "machine code accesses pages by pointers")]

use super::claims::Claimant;
use super::overlay::Overlay;
use super::physical::Memory;
use super::space::AddressSpace;
use super::{PAGE, Page};
use genxml_jit::{BOUNDS, Bounds, PAGES, Page as Entry, Pages, Reach};
use std::cell::Cell;
use std::fmt;

const _: () = assert!(PAGE as usize == genxml_jit::PAGE, "the pages of code are those of memory");

/// The window, and the pages of `space` that were [added](add).
#[inline]
pub(super) fn reach<'r>(
    memory: &'r mut Memory,
    space: &'r AddressSpace,
    window: &'r mut [u8],
    bounds: Option<&'r [Bounds; BOUNDS]>,
) -> Reach<'r> {
    let pages = space.host_pages();
    pages.belong_to(memory.identity());
    // SAFETY: the pages belong to `memory`, which is borrowed by `&mut` as long as the result
    // exists, and whose identity has not changed since they were added. So they are valid, nobody
    // has a slice of their bytes, and the model makes no other access.
    unsafe { Reach::window(window).with_pages(&pages.reads, &pages.writes, bounds) }
}

/// As [`reach`], over claimed pages.
#[inline]
pub(super) fn reach_claimed<'r>(
    claimant: &'r Claimant<'_>,
    space: &'r mut AddressSpace,
    window: &'r mut [u8],
    bounds: Option<&'r [Bounds; BOUNDS]>,
) -> Reach<'r> {
    let pages = space.host_pages();
    pages.belong_to(claimant.identity());
    // SAFETY: the TLB of `space` has only pages that the claimant's user has claimed, and `pages`
    // has only pages of the TLB. The pages to write are claimed for writing. So no other host
    // thread accesses a page that machine code writes, and none writes a page that machine code
    // reads. Memory is borrowed as long as there are claims, so the pages are valid. `space` is
    // borrowed by `&mut`, so the model makes no other access with these claims.
    unsafe { Reach::window(window).with_pages(&pages.reads, &pages.writes, bounds) }
}

/// As [`reach`], over an overlay.
#[inline]
pub(super) fn reach_over<'r>(
    overlay: &'r mut Overlay,
    space: &'r AddressSpace,
    window: &'r mut [u8],
    bounds: Option<&'r [Bounds; BOUNDS]>,
) -> Reach<'r> {
    let pages = space.host_pages();
    pages.belong_to(overlay.identity());
    // SAFETY: the pages to write and all marks belong to `overlay`, which is borrowed by `&mut` as
    // long as the result exists, and whose identity has not changed since they were added. The
    // pages to read belong to the memory below the overlay, which does not change as long as the
    // overlay is used. Marks and pages are cells and atomics.
    unsafe { Reach::window(window).with_pages(&pages.reads, &pages.writes, bounds) }
}

/// Lets machine code access the page of `address`: to write it if `write`, else to read it. Does
/// nothing if the TLB does not have the translation. `owner` is the identity of the memory, or of
/// the claimant.
#[inline]
pub(super) fn add(owner: u64, memory: &Memory, space: &AddressSpace, address: u64, write: bool) {
    if let Some(cached) = space.remembered(address, write) {
        let pages = space.host_pages();
        pages.belong_to(owner);
        let page = || Some(Entry::new(cached.page, memory.existing(cached.slot)?.start()));
        pages.add(cached.page, write, page);
    }
}

/// As [`add`], over an overlay.
#[inline]
pub(super) fn add_over(
    memory: &Memory,
    overlay: &Overlay,
    space: &AddressSpace,
    address: u64,
    write: bool,
) {
    if let Some(cached) = space.remembered(address, write) {
        let pages = space.host_pages();
        pages.belong_to(overlay.identity());
        pages.add(cached.page, write, || overlay.lend(memory, cached, write));
    }
}

/// Copies of the pages that were added last to those of machine code. Machine code that runs on the
/// copies does not change memory.
pub struct Shadow {
    copies: Vec<(u64, Box<Page>)>,
    reads: Box<Pages>,
    writes: Box<Pages>,
    bounds: Option<Box<[Bounds; BOUNDS]>>,
}

impl fmt::Debug for Shadow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.copies.iter().map(|(number, _)| number)).finish()
    }
}

impl Shadow {
    /// Copies the pages of `space` that were added last.
    pub(super) fn new(
        memory: &Memory,
        space: &AddressSpace,
        bounds: Option<&[Bounds; BOUNDS]>,
    ) -> Shadow {
        let pages = space.host_pages();
        pages.belong_to(memory.identity());
        let table = || Box::new([const { Cell::new(Entry::NONE) }; PAGES]);
        let (reads, writes) = (table(), table());
        let (mut copies, mut frames) = (Vec::new(), Vec::new());
        for number in pages.recent.get() {
            let entry = Entry::entry(number);
            let [readable, writable] =
                [&pages.reads, &pages.writes].map(|table| table[entry].get().number() == number);
            let Some(cached) = space.remembered(number.wrapping_mul(PAGE), false) else { continue };
            let Some(page) = memory.existing(cached.slot) else { continue };
            // A frame with two addresses is copied once: a write to one copy would not change the
            // other.
            if cached.page != number || frames.contains(&cached.slot) {
                continue;
            }
            frames.push(cached.slot);
            let mut bytes = [0; PAGE as usize];
            page.read(0, &mut bytes);
            let copy = Box::new(Page::from(bytes));
            for (table, allowed) in [(&reads, readable), (&writes, writable)] {
                if allowed {
                    table[entry].set(Entry::new(number, copy.start()));
                }
            }
            copies.push((number, copy));
        }
        Shadow { copies, reads, writes, bounds: bounds.map(|bounds| Box::new(*bounds)) }
    }

    /// The window and the copies.
    pub fn reach<'r>(&'r mut self, window: &'r mut [u8]) -> Reach<'r> {
        // SAFETY: the entries are pages of `copies`, which is borrowed as long as the result
        // exists. Nobody has a slice of their bytes.
        unsafe {
            Reach::window(window).with_pages(&self.reads, &self.writes, self.bounds.as_deref())
        }
    }

    /// The address of the first byte of a copy that differs from memory. `read` reads memory from
    /// an address on into a slice. If it returns false, the page counts as different.
    pub fn difference(&self, read: impl Fn(u64, &mut [u8]) -> bool) -> Option<u64> {
        self.copies.iter().find_map(|(number, copy)| {
            let (mut own, mut other) = ([0; PAGE as usize], [0; PAGE as usize]);
            copy.read(0, &mut own);
            if !read(number * PAGE, &mut other) {
                return Some(number * PAGE);
            }
            let at = own.iter().zip(&other).position(|(own, other)| own != other)?;
            Some(number * PAGE + at as u64)
        })
    }
}
