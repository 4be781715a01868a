//! Memory through page tables, as a decoder reads it.

use super::image::{Image, Translation};
use super::tables::{ENTRIES, Leads, PAGE, PAGE_SHIFT};
use crate::memory::{Memory, VA_MASK};
use std::cell::RefCell;

/// Number of shared zero pages, for pages that are mapped and never written.
const ZERO_PAGES: u64 = 16;
static ZEROS: [u8; (ZERO_PAGES * PAGE) as usize] = [0; (ZERO_PAGES * PAGE) as usize];

/// Largest number of pages looked up at once: 64 MiB.
const MAX_RUN: u64 = 1 << 14;

/// Pages whose bytes are contiguous.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// First page.
    page: u64,
    /// Number of pages.
    count: u64,
    /// Index of the first page in the image; `None` if the pages were never written.
    slot: Option<u32>,
}

impl Run {
    /// True if the run `next` follows this one, in addresses and in the image.
    fn leads_to(&self, next: &Run) -> bool {
        let slot = |run: &Run| run.slot.map(u64::from);
        self.page + self.count == next.page
            && slot(self).map(|slot| slot + self.count) == slot(next)
    }
}

/// Memory of a context, or global memory, at one point of a file.
///
/// Consecutive mapped pages that were first written in this order are contiguous; one look-up
/// covers at most 64 MiB of them. Pages that are mapped and were never written read as 0, as in
/// simulators.
#[derive(Debug)]
pub struct View<'a> {
    image: &'a Image,
    translation: Translation,
    /// The runs looked up so far, in order.
    runs: RefCell<Vec<Run>>,
    global: Option<Box<View<'a>>>,
}

impl<'a> View<'a> {
    /// A view through the page tables of `translation`.
    pub fn new(image: &'a Image, translation: Translation) -> Self {
        let view =
            |translation, global| View { image, translation, runs: RefCell::default(), global };
        let global =
            (translation != Translation::Global).then(|| Box::new(view(Translation::Global, None)));
        view(translation, global)
    }

    /// The run that holds a page; `None` if the page is not mapped.
    fn find(&self, page: u64) -> Option<Run> {
        let at = match self.known(page) {
            Ok(run) => return Some(run),
            Err(at) => at,
        };
        let mut runs = self.runs.borrow_mut();
        let next = runs.get(at).copied();
        let mut run = self.look_up(page, next.map_or(u64::MAX, |next| next.page))?;
        match next {
            // The new run ends where a known run begins: join them.
            Some(next) if run.slot.is_some() && run.leads_to(&next) => {
                run.count += next.count;
                runs[at] = run;
            }
            _ => runs.insert(at, run),
        }
        Some(run)
    }

    /// The run that holds a page, if it was looked up before; otherwise the index in `runs` at
    /// which the run belongs.
    fn known(&self, page: u64) -> Result<Run, usize> {
        let runs = self.runs.borrow();
        let at = runs.partition_point(|run| run.page <= page);
        match at.checked_sub(1).map(|before| runs[before]) {
            Some(run) if page - run.page < run.count => Ok(run),
            _ => Err(at),
        }
    }

    /// The longest run from `page` on that ends before page `end`, at most `MAX_RUN` pages, or
    /// `ZERO_PAGES` if they were never written. `None` if `page` is not mapped.
    fn look_up(&self, page: u64, end: u64) -> Option<Run> {
        let mut directory = None;
        let slot = self.image.slot(self.frame(page, &mut directory)?);
        let limit = if slot.is_some() { MAX_RUN } else { ZERO_PAGES };
        let mut count = 1;
        while count < limit && page + count < end {
            let Some(frame) = self.frame(page + count, &mut directory) else { break };
            let next = self.image.slot(frame);
            match (slot, next) {
                (None, None) => {}
                (Some(first), Some(next)) if u64::from(next) == u64::from(first) + count => {}
                _ => break,
            }
            count += 1;
        }
        Some(Run { page, count, slot })
    }

    /// The frame of a page. `directory` caches the entry for the 2 MiB of the last page.
    fn frame(&self, page: u64, directory: &mut Option<(u64, Option<Leads>)>) -> Option<u64> {
        if self.translation == Translation::Global {
            return self.image.global_page(page);
        }
        let part = page / ENTRIES;
        let leads = match *directory {
            Some((known, leads)) if known == part => leads,
            _ => {
                let leads = self.image.directory(&self.translation, page);
                *directory = Some((part, leads));
                leads
            }
        };
        self.image.leaf(leads?, page)
    }
}

impl Memory for View<'_> {
    fn tail(&self, address: u64) -> &[u8] {
        let address = address & VA_MASK;
        let Some(run) = self.find(address >> PAGE_SHIFT) else { return &[] };
        let bytes = match run.slot {
            Some(slot) => self.image.run(slot, run.count),
            None => &ZEROS[..(run.count * PAGE) as usize],
        };
        &bytes[(address - (run.page << PAGE_SHIFT)) as usize..]
    }

    fn global(&self) -> Option<&dyn Memory> {
        match &self.global {
            Some(global) => Some(&**global),
            None => Some(self),
        }
    }
}
