//! The memory outside the block that a call may access.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::null_mut;

/// Bytes of a page.
pub const PAGE: usize = 4096;
/// Number of entries of a table of pages.
pub const PAGES: usize = 512;
/// Number of ranges of addresses that a routine can select ([`Bounds`]).
pub const BOUNDS: usize = 256;

/// Number of 64-bit words for the marks of a page. Each byte of the page has a bit. One more word
/// follows, because a routine always writes two adjacent words. The value of this last word never
/// changes.
pub const MARKS: usize = PAGE / 64 + 1;

/// An entry of a table of pages: the number of the page, its first byte in the host's memory, and
/// where accesses are marked.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Page {
    number: u64,
    start: *mut u8,
    /// Null if accesses are not marked.
    marks: *mut u64,
    unused: u64,
}

impl Page {
    /// No page.
    pub const NONE: Page =
        Page { number: u64::MAX, start: null_mut(), marks: null_mut(), unused: 0 };

    /// The page with this number, which begins at `start`.
    pub const fn new(number: u64, start: *mut u8) -> Page {
        Page { number, start, ..Page::NONE }
    }

    /// The same page. Each access sets the bits of its bytes in [`MARKS`] words from `marks` on.
    #[must_use]
    pub const fn with_marks(self, marks: *mut u64) -> Page {
        Page { marks, ..self }
    }

    /// Number of the page.
    pub const fn number(self) -> u64 {
        self.number
    }

    /// The entry of a table where routines look for page `number`.
    #[inline(always)]
    pub const fn entry(number: u64) -> usize {
        (number ^ number >> PAGES.trailing_zeros()) as usize % PAGES
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.number)
    }
}

/// A table of pages. Page n is at entry [`Page::entry`]`(n)`, or in no entry.
pub type Pages = [Cell<Page>; PAGES];

/// A range of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Bounds {
    /// Address of the first byte.
    pub base: u64,
    /// Number of bytes; 0 for a range that is not known.
    pub bytes: u64,
}

/// The memory outside the block that a call may access: the window, pages, and the bounds by which
/// a routine finds addresses.
#[derive(Debug)]
#[repr(C)]
pub struct Reach<'a> {
    window: *mut u8,
    length: usize,
    reads: *const Pages,
    writes: *const Pages,
    bounds: *const [Bounds; BOUNDS],
    lifetime: PhantomData<&'a mut [u8]>,
}

struct NoPages(Pages);

// SAFETY: nobody changes the table: it is private, and is only lent to routines, which read it.
#[allow(unsafe_code, reason = "a table that never changes may be shared")]
unsafe impl Sync for NoPages {}

static NO_PAGES: NoPages = NoPages([const { Cell::new(Page::NONE) }; PAGES]);
static NO_BOUNDS: [Bounds; BOUNDS] = [Bounds { base: 0, bytes: 0 }; BOUNDS];

impl<'a> Reach<'a> {
    /// The window, and no pages.
    pub fn window(window: &'a mut [u8]) -> Reach<'a> {
        let (length, window) = (window.len(), window.as_mut_ptr());
        let (reads, writes) = (&raw const NO_PAGES.0, &raw const NO_PAGES.0);
        Reach { window, length, reads, writes, bounds: &NO_BOUNDS, lifetime: PhantomData }
    }

    /// Adds pages and bounds. Routines read the pages of `reads`, and write those of `writes`.
    ///
    /// # Safety
    /// During `'a`:
    /// - Each page of `reads` has [`PAGE`] bytes from its start on that are valid for reads.
    /// - Each page of `writes` has [`PAGE`] bytes from its start on that are valid for writes.
    /// - The [`MARKS`] words of each page that has marks are valid for reads and writes.
    /// - Nobody has a reference to these bytes, except one through which others may write them
    ///   (`&UnsafeCell`, `&AtomicU8`).
    /// - No other thread of this program accesses these bytes without atomics.
    #[allow(unsafe_code, reason = "the pages are raw pointers")]
    #[must_use]
    pub unsafe fn with_pages(
        self,
        reads: &'a Pages,
        writes: &'a Pages,
        bounds: Option<&'a [Bounds; BOUNDS]>,
    ) -> Reach<'a> {
        Reach { reads, writes, bounds: bounds.unwrap_or(&NO_BOUNDS), ..self }
    }
}

/// Offsets in [`Reach`], for the assembler.
pub(crate) const READS: u8 = std::mem::offset_of!(Reach<'_>, reads) as u8;
pub(crate) const WRITES: u8 = std::mem::offset_of!(Reach<'_>, writes) as u8;
pub(crate) const FIRST_BOUNDS: u8 = std::mem::offset_of!(Reach<'_>, bounds) as u8;
