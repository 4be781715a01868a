//! A page of memory, which code outside the model may write at any time.
//!
//! Memory that a host supplies ([`Backing`](super::Backing)) is shared: the threads of a driver
//! and other processes store to it while the model runs. A `&[u8]` promises that the bytes do not
//! change, and a `&mut [u8]` that nobody else accesses them. For shared memory both promises would
//! be false, which is undefined behaviour. So no such reference to shared memory ever exists. A
//! [`Page`] consists of atomic bytes, and every access copies with relaxed atomic loads or stores.
//!
//! This makes stores from outside safe: they are never a data race with an access of the model. An
//! access of 1, 2, 4 or 8 bytes at a multiple of its size is one load or store, so a semaphore or
//! sequence number is never torn. A larger or unaligned access is split into several, and a store
//! from outside may happen between them, as on hardware. One case remains: Rust leaves unordered
//! atomic accesses of different sizes to the same bytes undefined if one of them writes. Within the
//! model all accesses are ordered: either the owner of `&mut Memory` writes, or a host thread that
//! has [claimed](super::claims) the page, and then no other host thread accesses the page.
//!
//! On x86-64 a relaxed access is an ordinary move: aligned accesses cost nothing.
#![allow(unsafe_code, reason = "memory that others write cannot be a slice")]

use super::PAGE;
use bytemuck::Zeroable;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// Bytes of a page.
const SIZE: usize = PAGE as usize;

/// The bytes of a page. The alignment is that of the largest access. With a larger alignment, the
/// host's allocator would have to write pages to zero them.
#[repr(C, align(8))]
pub struct Page([AtomicU8; SIZE]);

// SAFETY: all bytes of a page are atomic integers, for which zero is a valid value.
unsafe impl Zeroable for Page {}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").finish_non_exhaustive()
    }
}

impl From<[u8; SIZE]> for Page {
    fn from(bytes: [u8; SIZE]) -> Page {
        Page(bytes.map(AtomicU8::new))
    }
}

impl Page {
    /// A page of zeros.
    pub const fn zeros() -> Page {
        Page([const { AtomicU8::new(0) }; SIZE])
    }

    /// A copy of the `N` bytes from `at` on; `None` if they extend beyond the page.
    #[inline(always)]
    pub fn load<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        if at > SIZE || N > SIZE - at {
            return None;
        }
        let mut out = [0; N];
        self.read(at, &mut out);
        Some(out)
    }

    /// Fills `out` with the bytes from `at` on.
    ///
    /// # Panics
    /// If these bytes extend beyond the page.
    #[inline(always)]
    pub fn read(&self, at: usize, out: &mut [u8]) {
        assert!(at <= SIZE && out.len() <= SIZE - at, "{} bytes at {at}", out.len());
        // SAFETY: the range lies in the page, by the assertion. The page is borrowed, so all its
        // bytes are valid for atomic reads during the call.
        unsafe { load(self.0.as_ptr().add(at).cast_mut().cast(), out) }
    }

    /// The first byte, for code that accesses the page by pointers.
    #[cfg(feature = "fast")]
    pub(super) fn start(&self) -> *mut u8 {
        self.0.as_ptr().cast_mut().cast()
    }

    /// Mutable access to the page.
    #[inline(always)]
    pub fn as_mut(&mut self) -> PageMut<'_> {
        PageMut(self)
    }

    /// The bytes of a page that nobody else can access.
    pub fn bytes_mut(&mut self) -> &mut [u8; SIZE] {
        // SAFETY: an array of `AtomicU8` has the layout of an array of `u8`, and `&mut self` says
        // that nobody else accesses it while the result exists: pages of memory that others share
        // are only ever borrowed as `&Page`.
        unsafe { &mut *self.0.as_mut_ptr().cast() }
    }

    /// The bytes of consecutive pages as one slice.
    ///
    /// # Safety
    /// Nobody writes the pages while the result exists.
    pub(super) unsafe fn slice(pages: &[Page]) -> &[u8] {
        // SAFETY: the pages are `SIZE` bytes each without padding, and live as long as the
        // result. By the caller's promise they do not change meanwhile.
        unsafe { std::slice::from_raw_parts(pages.as_ptr().cast(), size_of_val(pages)) }
    }

    /// The bytes of pages that nobody else can access.
    pub(super) fn slice_mut(pages: &mut [Page]) -> &mut [u8] {
        // SAFETY: the pages are `SIZE` bytes each without padding, and live as long as the
        // result. As they are borrowed by `&mut`, nobody else accesses them meanwhile.
        unsafe { std::slice::from_raw_parts_mut(pages.as_mut_ptr().cast(), size_of_val(pages)) }
    }
}

/// Mutable access to a page.
///
/// For the model's memory it comes from `&mut Memory` or from a [claim](super::claims) of the page,
/// so only one host thread writes at a time.
#[derive(Debug)]
pub struct PageMut<'a>(&'a Page);

impl<'a> PageMut<'a> {
    /// Permits writes to a page.
    ///
    /// # Safety
    /// While the result exists, nobody has a slice of the page's bytes, and every other access to
    /// the page by this program is ordered before or after the writes.
    #[inline(always)]
    pub unsafe fn new(page: &'a Page) -> Self {
        PageMut(page)
    }

    /// Writes the `N` bytes from `at` on; writes nothing and returns `None` if they extend beyond
    /// the page.
    #[inline(always)]
    #[must_use]
    pub fn store<const N: usize>(&mut self, at: usize, bytes: &[u8; N]) -> Option<()> {
        if at > SIZE || N > SIZE - at {
            return None;
        }
        self.write(at, bytes);
        Some(())
    }

    /// Writes `bytes` from `at` on.
    ///
    /// # Panics
    /// If `bytes` extend beyond the page.
    #[inline(always)]
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at <= SIZE && bytes.len() <= SIZE - at, "{} bytes at {at}", bytes.len());
        // SAFETY: the range lies in the page, by the assertion. The page is borrowed, and its bytes
        // have interior mutability, so they are valid for atomic writes during the call.
        unsafe { store(bytes, self.0.0.as_ptr().add(at).cast_mut().cast()) }
    }
}

/// Fills `out` with the bytes from `from` on.
///
/// # Safety
/// The range lies in a page, which is valid for atomic reads.
#[inline(always)]
unsafe fn load(from: *mut u8, out: &mut [u8]) {
    // The length is often a constant; the compiler then keeps only the branches on the address.
    let (length, bits) = (out.len(), from.addr() | out.len());
    // SAFETY: the accesses lie in the range that the caller promised, and each is aligned: the
    // address is a multiple of its size, as is the distance to the next one. `gather` and
    // `load_unaligned` require what the caller promised.
    unsafe {
        if bits.is_multiple_of(8) {
            for (n, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                *out = AtomicU64::from_ptr(from.add(8 * n).cast())
                    .load(Ordering::Relaxed)
                    .to_ne_bytes();
            }
        } else if bits.is_multiple_of(4) && length <= 16 {
            for (n, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                *out = AtomicU32::from_ptr(from.add(4 * n).cast())
                    .load(Ordering::Relaxed)
                    .to_ne_bytes();
            }
        } else if let (true, Some(out)) = (bits.is_multiple_of(2), out.as_mut_array()) {
            *out = AtomicU16::from_ptr(from.cast()).load(Ordering::Relaxed).to_ne_bytes();
        } else if let [out] = out {
            *out = AtomicU8::from_ptr(from).load(Ordering::Relaxed);
        } else if length <= 16 {
            gather(from, out);
        } else {
            load_unaligned(from, out);
        }
    }
}

/// Fills `out`, at most 16 bytes, from the aligned quadwords that contain the bytes from `from` on.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
unsafe fn gather(from: *mut u8, out: &mut [u8]) {
    let skip = from.addr() % 8;
    let end = skip + out.len();
    // SAFETY: pages are aligned to 8 bytes and their size is a multiple of 8, so a quadword that
    // contains a byte of the range lies in the page.
    let quadword = |n: usize| unsafe {
        let at = from.sub(skip).add(8 * n);
        u128::from(u64::from_le(AtomicU64::from_ptr(at.cast()).load(Ordering::Relaxed)))
    };
    let mut value = quadword(0) >> (8 * skip);
    if end > 8 {
        value |= quadword(1) << (64 - 8 * skip);
    }
    if end > 16 {
        value |= quadword(2) << (128 - 8 * skip);
    }
    out.copy_from_slice(&value.to_le_bytes()[..out.len()]);
}

/// Copies one byte at a time up to the first address that is a multiple of 8, then eight bytes at a
/// time, then the remaining bytes (fewer than 8) one at a time.
///
/// # Safety
/// As for [`load`].
#[inline(never)]
unsafe fn load_unaligned(from: *mut u8, out: &mut [u8]) {
    let (head, rest) = out.split_at_mut((from.addr().wrapping_neg() % 8).min(out.len()));
    let (middle, tail) = rest.split_at_mut(rest.len() / 8 * 8);
    // SAFETY: head, middle and tail are the range that the caller promised, in order. Bytes are
    // always aligned; the middle starts at a multiple of 8, or is empty.
    unsafe {
        for (n, out) in head.iter_mut().enumerate() {
            *out = AtomicU8::from_ptr(from.add(n)).load(Ordering::Relaxed);
        }
        let from = from.add(head.len());
        if !middle.is_empty() {
            load(from, middle);
        }
        let from = from.add(middle.len());
        for (n, out) in tail.iter_mut().enumerate() {
            *out = AtomicU8::from_ptr(from.add(n)).load(Ordering::Relaxed);
        }
    }
}

/// Writes `bytes` from `to` on.
///
/// # Safety
/// `to` is valid for atomic writes of `bytes.len()` bytes.
#[inline(always)]
unsafe fn store(bytes: &[u8], to: *mut u8) {
    let bits = to.addr() | bytes.len();
    // SAFETY: the accesses lie in the range that the caller promised, and each is aligned: the
    // address is a multiple of its size, as is the distance to the next one.
    unsafe {
        if bits.is_multiple_of(8) {
            // Four at a time, because the compiler does not unroll loops of atomic writes.
            let (fours, rest) = bytes.as_chunks::<8>().0.as_chunks::<4>();
            for (n, four) in fours.iter().enumerate() {
                for (part, bytes) in four.iter().enumerate() {
                    AtomicU64::from_ptr(to.add(32 * n + 8 * part).cast())
                        .store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
                }
            }
            for (n, bytes) in rest.iter().enumerate() {
                AtomicU64::from_ptr(to.add(32 * fours.len() + 8 * n).cast())
                    .store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
            }
        } else if bits.is_multiple_of(4) {
            for (n, bytes) in bytes.as_chunks().0.iter().enumerate() {
                AtomicU32::from_ptr(to.add(4 * n).cast())
                    .store(u32::from_ne_bytes(*bytes), Ordering::Relaxed);
            }
        } else if let (true, Some(bytes)) = (bits.is_multiple_of(2), bytes.as_array()) {
            AtomicU16::from_ptr(to.cast()).store(u16::from_ne_bytes(*bytes), Ordering::Relaxed);
        } else if let [byte] = bytes {
            AtomicU8::from_ptr(to).store(*byte, Ordering::Relaxed);
        } else {
            store_unaligned(bytes, to);
        }
    }
}

/// Writes one byte at a time up to the first address that is a multiple of 8, then eight bytes at a
/// time, then the remaining bytes (fewer than 8) one at a time.
///
/// # Safety
/// As for [`store`].
#[inline(never)]
unsafe fn store_unaligned(bytes: &[u8], to: *mut u8) {
    let (head, rest) = bytes.split_at((to.addr().wrapping_neg() % 8).min(bytes.len()));
    let (middle, tail) = rest.split_at(rest.len() / 8 * 8);
    // SAFETY: head, middle and tail are the range that the caller promised, in order. Bytes are
    // always aligned; the middle starts at a multiple of 8, or is empty.
    unsafe {
        for (n, byte) in head.iter().enumerate() {
            AtomicU8::from_ptr(to.add(n)).store(*byte, Ordering::Relaxed);
        }
        let to = to.add(head.len());
        if !middle.is_empty() {
            store(middle, to);
        }
        let to = to.add(middle.len());
        for (n, byte) in tail.iter().enumerate() {
            AtomicU8::from_ptr(to.add(n)).store(*byte, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: a slice of bytes. Near both ends of a page, for lengths up to 36 and some longer
    /// ones, reads and writes do what they do to the slice, and other bytes do not change.
    #[test]
    fn ranges() {
        let bytes: [u8; SIZE] = std::array::from_fn(|n| (n % 251) as u8);
        for at in (0..20).chain(SIZE - 36..=SIZE) {
            for length in (0..=36).chain([64, 72, 96, 104, 120]).filter(|n| *n <= SIZE - at) {
                let mut page = Page::from(bytes);
                let mut out = vec![0; length];
                page.read(at, &mut out);
                assert_eq!(out, bytes[at..at + length], "{length} bytes at {at}");
                out.iter_mut().for_each(|byte| *byte ^= 0xff);
                page.as_mut().write(at, &out);
                let mut expected = bytes;
                expected[at..at + length].copy_from_slice(&out);
                assert_eq!(page.load(0), Some(expected), "{length} bytes at {at}");
            }
        }
    }

    #[test]
    fn ends() {
        let mut page = Page::from([7; SIZE]);
        assert_eq!((page.load(SIZE - 4), page.load::<4>(SIZE - 3)), (Some([7; 4]), None));
        assert_eq!(page.load::<1>(usize::MAX), None);
        assert_eq!(page.as_mut().store(SIZE - 7, &[0; 8]), None);
        assert_eq!(page.as_mut().store(SIZE - 8, &[0; 8]), Some(()));
        assert_eq!(page.bytes_mut()[SIZE - 9..], [7, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
}
