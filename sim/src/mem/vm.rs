//! Memory as a context accesses it: through page tables.

use super::access::Client;
use super::claims::Claimant;
use super::log::{AccessLog, Acting};
use super::overlay::Overlay;
use super::page::{Page, PageMut};
#[cfg(feature = "fast")]
use super::reach::{self, Shadow};
use super::{ADDRESS_MASK, AddressSpace, Cause, Memory, Nearby, PAGE, PageFault};
#[cfg(feature = "fast")]
use genxml_jit::{BOUNDS, Bounds, Reach};

/// Memory through the page tables of one address space. Addresses are cut to 48 bits; accesses may
/// be unaligned and may cross pages. If a write faults, the bytes in the pages before the faulting
/// one have been written.
pub struct Vm<'a> {
    target: Target<'a>,
    /// The page tables.
    pub space: &'a mut AddressSpace,
}

/// The memory that the page tables lead to.
enum Target<'a> {
    /// Physical memory, read and written directly.
    Memory(&'a mut Memory),
    /// Memory that is only read; writes go to the overlay.
    Overlay(&'a Memory, &'a mut Overlay),
    /// Memory that several host threads read and write. Each page must be claimed first.
    Claimed(&'a Memory, &'a Claimant<'a>),
    /// As `Memory`, and every access is recorded.
    Logged(&'a mut Memory, &'a AccessLog),
}

macro_rules! scalars {
    ($($read:ident $write:ident $type:ident $bytes:literal;)*) => {$(
        #[doc = concat!("The little-endian `", stringify!($type), "` at `address`.")]
        ///
        /// # Errors
        /// [`PageFault`] with the first byte that cannot be read.
        #[inline]
        pub fn $read(&self, address: u64) -> Result<$type, PageFault> {
            self.read_array::<$bytes>(address).map($type::from_le_bytes)
        }

        #[doc = concat!("Writes the little-endian `", stringify!($type), "` at `address`.")]
        ///
        /// # Errors
        /// [`PageFault`] with the first byte that cannot be written.
        #[inline]
        pub fn $write(&mut self, address: u64, value: $type) -> Result<(), PageFault> {
            self.write_array(address, &value.to_le_bytes())
        }
    )*};
}

impl<'a> Vm<'a> {
    /// Accesses `mem` through page tables.
    pub fn new(mem: &'a mut Memory, space: &'a mut AddressSpace) -> Self {
        Vm { target: Target::Memory(mem), space }
    }

    /// Accesses memory that others read at the same time, through page tables. Writes go to
    /// `overlay`.
    pub fn over(mem: &'a Memory, overlay: &'a mut Overlay, space: &'a mut AddressSpace) -> Self {
        Vm { target: Target::Overlay(mem, overlay), space }
    }

    /// Accesses memory that other host threads access at the same time, through page tables.
    /// `claimant` claims the pages.
    pub fn claiming(
        mem: &'a Memory,
        claimant: &'a Claimant<'a>,
        space: &'a mut AddressSpace,
    ) -> Self {
        Vm { target: Target::Claimed(mem, claimant), space }
    }

    /// Accesses `mem` through page tables, and records every access in `log`.
    pub fn logged(mem: &'a mut Memory, log: &'a AccessLog, space: &'a mut AddressSpace) -> Self {
        Vm { target: Target::Logged(mem, log), space }
    }

    /// The record of accesses, if there is one.
    #[inline(always)]
    pub fn log(&self) -> Option<&'a AccessLog> {
        match self.target {
            Target::Logged(_, log) => Some(log),
            Target::Memory(_) | Target::Overlay(..) | Target::Claimed(..) => None,
        }
    }

    /// Accesses count as those of `client` until the result is dropped.
    #[inline(always)]
    pub fn client(&self, client: Client) -> Acting<'a> {
        Acting::new(self.log(), client)
    }

    /// Accesses are not recorded until the result is dropped: they are those of an observer.
    #[inline(always)]
    pub fn unrecorded(&self) -> Acting<'a> {
        Acting::unrecorded(self.log())
    }

    /// Records an access to a page that [`page`](Self::page) or [`page_mut`](Self::page_mut)
    /// returned: `length` bytes from `address` on, in one page.
    #[inline(always)]
    pub fn record(&self, address: u64, length: usize, write: bool) {
        if let Target::Logged(mem, log) = &self.target
            && let Ok(slot) = self.space.read(mem, address)
        {
            log.add(mem, self.space, slot, address, length, write);
        }
    }

    /// Records reads of elements. Each has `bytes` bytes at one of `offsets` from `base`, the
    /// address of a page. None crosses a line of 64 bytes.
    #[inline(always)]
    pub fn record_elements(&self, base: u64, offsets: &[u32], bytes: usize) {
        if let Target::Logged(mem, log) = &self.target {
            log.add_elements(mem, self.space, base, offsets, bytes);
        }
    }

    /// A bit for each line of 64 bytes of the page of `address`: set if reads of the line need not
    /// be [recorded](Self::record). All are set if nothing is recorded.
    #[inline(always)]
    pub fn harmless_lines(&self, address: u64) -> u64 {
        match &self.target {
            Target::Logged(mem, log) => match self.space.read(mem, address) {
                Ok(slot) => log.harmless(mem, self.space, slot, address),
                Err(_) => 0,
            },
            Target::Memory(_) | Target::Overlay(..) | Target::Claimed(..) => u64::MAX,
        }
    }

    /// The same memory through other page tables.
    pub fn through<'b>(&'b mut self, space: &'b mut AddressSpace) -> Vm<'b> {
        let target = match &mut self.target {
            Target::Memory(mem) => Target::Memory(mem),
            Target::Logged(mem, log) => Target::Logged(mem, log),
            Target::Overlay(mem, overlay) => {
                // The overlay cannot commit translations of another space.
                overlay.keep_order();
                Target::Overlay(mem, overlay)
            }
            Target::Claimed(mem, claimant) => {
                claimant.refuse();
                Target::Claimed(mem, claimant)
            }
        };
        Vm { target, space }
    }

    /// The same memory and page tables, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> Vm<'_> {
        let target = match &mut self.target {
            Target::Memory(mem) => Target::Memory(mem),
            Target::Logged(mem, log) => Target::Logged(mem, log),
            Target::Overlay(mem, overlay) => Target::Overlay(mem, overlay),
            Target::Claimed(mem, claimant) => Target::Claimed(mem, claimant),
        };
        Vm { target, space: self.space }
    }

    /// The same memory and page tables. Every access is recorded in `log`.
    #[cfg(test)]
    pub fn with_log<'b>(&'b mut self, log: &'b AccessLog) -> Vm<'b> {
        let (mem, space) = self.memory().expect("memory without an overlay");
        Vm::logged(mem, log, space)
    }

    /// Memory for machine code: `window`, and the pages that were [lent](Self::lend). `bounds` has
    /// the ranges of buffers. There are no pages if accesses are logged.
    #[cfg(feature = "fast")]
    #[inline]
    pub fn reach<'r>(
        &'r mut self,
        window: &'r mut [u8],
        bounds: Option<&'r [Bounds; BOUNDS]>,
    ) -> Reach<'r> {
        match &mut self.target {
            Target::Memory(mem) => reach::reach(mem, self.space, window, bounds),
            Target::Overlay(_, overlay) => reach::reach_over(overlay, self.space, window, bounds),
            Target::Claimed(_, claimant) => {
                reach::reach_claimed(claimant, self.space, window, bounds)
            }
            Target::Logged(..) => Reach::window(window),
        }
    }

    /// Adds the page of `address` to [`reach`](Self::reach): to write it if `write`, else to read
    /// it. Call this after such an access, because then the TLB has the translation.
    #[cfg(feature = "fast")]
    #[inline]
    pub fn lend(&self, address: u64, write: bool) {
        match &self.target {
            Target::Memory(mem) => {
                reach::add(mem.identity(), mem, self.space, address, write);
            }
            Target::Overlay(mem, overlay) => {
                reach::add_over(mem, overlay, self.space, address, write);
            }
            Target::Claimed(mem, claimant) => {
                reach::add(claimant.identity(), mem, self.space, address, write);
            }
            Target::Logged(..) => {}
        }
    }

    /// Copies of the pages that were [lent](Self::lend) last; `None` over an [`Overlay`], over
    /// claimed pages, or if accesses are recorded.
    #[cfg(feature = "fast")]
    pub fn shadow(&self, bounds: Option<&[Bounds; BOUNDS]>) -> Option<Shadow> {
        match &self.target {
            Target::Memory(mem) => Some(Shadow::new(mem, self.space, bounds)),
            Target::Overlay(..) | Target::Claimed(..) | Target::Logged(..) => None,
        }
    }

    /// The frames, with the page tables; `None` over an [`Overlay`] or claimed pages.
    pub fn memory(&mut self) -> Option<(&mut Memory, &mut AddressSpace)> {
        match &mut self.target {
            Target::Memory(mem) | Target::Logged(mem, _) => Some((mem, self.space)),
            Target::Overlay(..) | Target::Claimed(..) => None,
        }
    }

    /// The physical address of the byte at `address`; `None` if it cannot be read.
    pub fn physical(&self, address: u64) -> Option<u64> {
        let memory: &Memory = match &self.target {
            Target::Memory(memory) | Target::Logged(memory, _) => memory,
            Target::Overlay(memory, _) => memory,
            Target::Claimed(_, claimant) => {
                claimant.refuse();
                return None;
            }
        };
        self.space.translate(memory, address, false).ok()
    }

    /// Records that the current work depends on more than memory, for example on the clock or on
    /// the progress of other threads. If the work is a part of a walker or draw that runs in
    /// parallel with other parts, that part is run again at its position in the order. If the work
    /// runs in order anyway, this has no effect.
    #[inline]
    pub fn keep_order(&self) {
        match &self.target {
            Target::Overlay(_, overlay) => overlay.keep_order(),
            Target::Claimed(_, claimant) => claimant.refuse(),
            Target::Memory(_) | Target::Logged(..) => {}
        }
    }

    scalars! {
        read_u8 write_u8 u8 1;
        read_u16 write_u16 u16 2;
        read_u32 write_u32 u32 4;
        read_u64 write_u64 u64 8;
    }

    /// The bytes from `address` on.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot be read.
    #[inline]
    pub fn read_array<const N: usize>(&self, address: u64) -> Result<[u8; N], PageFault> {
        let page = self.page_to_read(address, N)?;
        if let Some(bytes) = page.load((address % PAGE) as usize) {
            return Ok(bytes);
        }
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// Writes `bytes` from `address` on.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot be written.
    #[inline]
    pub fn write_array<const N: usize>(
        &mut self,
        address: u64,
        bytes: &[u8; N],
    ) -> Result<(), PageFault> {
        let mut page = self.page_to_write(address, N)?;
        if page.store((address % PAGE) as usize, bytes).is_some() {
            return Ok(());
        }
        self.write(address, bytes)
    }

    /// Fills `out` from `address` on. Returns false and changes nothing if the bytes are not all in
    /// one page, or if the page cannot be read.
    #[inline(always)]
    pub fn read_within_page<const N: usize>(&self, address: u64, out: &mut [u8; N]) -> bool {
        let at = (address % PAGE) as usize;
        if at + N > PAGE as usize {
            return false;
        }
        match self.page_to_read(address, N) {
            Ok(page) => {
                page.read(at, out);
                true
            }
            Err(_) => false,
        }
    }

    /// Reads `N` bytes from each of two addresses. Returns false if one of the two ranges crosses
    /// the end of a page, or if a page cannot be read. Then the content of `out` is not defined.
    #[inline(always)]
    pub fn read_two<const N: usize>(
        &self,
        [first, second]: [u64; 2],
        out: &mut [[u8; N]; 2],
    ) -> bool {
        let [to_first, to_second] = out;
        if first / PAGE == second / PAGE
            && let Some(page) = self.page_without_record(first)
        {
            let Ok(page) = page else { return false };
            let parts = [page.load((first % PAGE) as usize), page.load((second % PAGE) as usize)];
            let [Some(first), Some(second)] = parts else { return false };
            (*to_first, *to_second) = (first, second);
            return true;
        }
        self.read_within_page(first, to_first) && self.read_within_page(second, to_second)
    }

    /// Writes bytes to two addresses.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot be written.
    #[inline(always)]
    pub fn write_two<const N: usize>(
        &mut self,
        [first, second]: [u64; 2],
        bytes: [&[u8; N]; 2],
    ) -> Result<(), PageFault> {
        if first / PAGE == second / PAGE {
            let mut page = match &mut self.target {
                Target::Memory(mem) => {
                    let slot = self.space.write(mem, first)?;
                    mem.page_mut(slot)
                }
                Target::Claimed(mem, claimant) => claimant.write(mem, self.space, first)?,
                Target::Overlay(..) | Target::Logged(..) => {
                    self.write_array(first, bytes[0])?;
                    return self.write_array(second, bytes[1]);
                }
            };
            let done = page.store((first % PAGE) as usize, bytes[0]).is_some()
                && page.store((second % PAGE) as usize, bytes[1]).is_some();
            if done {
                return Ok(());
            }
        }
        self.write_array(first, bytes[0])?;
        self.write_array(second, bytes[1])
    }

    /// Fills `out` from `address` on.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot be read; `out` is filled up to that byte.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let (mut address, mut rest) = (address, out);
        while !rest.is_empty() {
            let page = self.page_to_read(address, rest.len())?;
            let at = (address % PAGE) as usize;
            let (now, later) = rest.split_at_mut(rest.len().min(PAGE as usize - at));
            page.read(at, now);
            address = address.wrapping_add(now.len() as u64);
            rest = later;
        }
        Ok(())
    }

    /// Writes `bytes` from `address` on.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot be written; the bytes before it are written.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), PageFault> {
        let (mut address, mut rest) = (address, bytes);
        while !rest.is_empty() {
            let mut page = self.page_to_write(address, rest.len())?;
            let at = (address % PAGE) as usize;
            let (now, later) = rest.split_at(rest.len().min(PAGE as usize - at));
            page.write(at, now);
            address = address.wrapping_add(now.len() as u64);
            rest = later;
        }
        Ok(())
    }

    /// The page that holds `address`, without a copy. The caller [records](Self::record) which
    /// bytes it reads.
    ///
    /// # Errors
    /// [`PageFault`] with `address` if it cannot be read.
    #[inline(always)]
    pub fn page(&self, address: u64) -> Result<&Page, PageFault> {
        let start = address & !(PAGE - 1);
        let page = match &self.target {
            Target::Logged(mem, _) => observed_page(mem, self.space, start, None),
            _ => self.page_to_read(start, PAGE as usize),
        };
        page.map_err(|fault| PageFault { address: address & ADDRESS_MASK, ..fault })
    }

    /// Mutable access to the page that holds `address`, without a copy. All of the page counts as
    /// read and written, so [`write`](Self::write) is better where threads may run in parallel. The
    /// caller [records](Self::record) which bytes it writes.
    ///
    /// # Errors
    /// [`PageFault`] with `address` if it cannot be written.
    #[inline]
    pub fn page_mut(&mut self, address: u64) -> Result<PageMut<'_>, PageFault> {
        let start = address & !(PAGE - 1);
        let of_address = |fault| PageFault { address: address & ADDRESS_MASK, ..fault };
        match &mut self.target {
            Target::Memory(mem) | Target::Logged(mem, _) => {
                let slot = self.space.write(mem, start).map_err(of_address)?;
                Ok(mem.page_mut(slot))
            }
            Target::Overlay(mem, overlay) => {
                overlay.page_mut(mem, self.space, start).map_err(of_address)
            }
            Target::Claimed(mem, claimant) => {
                claimant.write(mem, self.space, start).map_err(of_address)
            }
        }
    }

    /// The memory mapped near the address of a fault; `None` if nothing is mapped near it, or if
    /// the cause of the fault is not a missing mapping.
    #[cold]
    pub fn nearby(&self, fault: &PageFault) -> Option<Nearby> {
        let mem = match &self.target {
            Target::Memory(mem) | Target::Logged(mem, _) => mem,
            Target::Overlay(mem, _) => *mem,
            // The items run again in order, which returns the fault with this information.
            Target::Claimed(..) => return None,
        };
        match fault.cause {
            Cause::NotPresent(_) | Cause::Outside => Some(self.space.nearby(mem, fault.address)),
            Cause::BadFrame(_) | Cause::ReadOnly(_) => None,
        }
        .filter(|near| near.below.or(near.above).is_some())
    }

    /// Checks that `bytes` bytes from `address` on can be read, or written if `write`.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot be accessed.
    pub fn probe(&self, address: u64, bytes: u64, write: bool) -> Result<(), PageFault> {
        let mut at = address & ADDRESS_MASK;
        let end = at.saturating_add(bytes);
        while at < end {
            match &self.target {
                Target::Memory(mem) | Target::Logged(mem, _) => {
                    self.space.probe(mem, at, write)?;
                }
                Target::Overlay(mem, overlay) => overlay.probe(mem, self.space, at, write)?,
                Target::Claimed(mem, claimant) => claimant.probe(mem, self.space, at, write)?,
            }
            at = (at | (PAGE - 1)) + 1;
        }
        Ok(())
    }

    /// The page of `address`, for reads of any length; `None` if the length matters, because reads
    /// are recorded.
    #[inline(always)]
    fn page_without_record(&self, address: u64) -> Option<Result<&Page, PageFault>> {
        match &self.target {
            Target::Memory(mem) => Some(self.space.read(mem, address).map(|slot| mem.page(slot))),
            Target::Claimed(mem, claimant) => Some(claimant.read(mem, self.space, address)),
            Target::Overlay(..) | Target::Logged(..) => None,
        }
    }

    /// The page of `address`, for a read of `length` bytes. Only the bytes in this page count as
    /// read.
    #[inline(always)]
    fn page_to_read(&self, address: u64, length: usize) -> Result<&Page, PageFault> {
        match &self.target {
            Target::Memory(mem) => Ok(mem.page(self.space.read(mem, address)?)),
            Target::Overlay(mem, overlay) => overlay.read(mem, self.space, address, length),
            Target::Claimed(mem, claimant) => claimant.read(mem, self.space, address),
            Target::Logged(mem, log) => {
                observed_page(mem, self.space, address, Some((log, length)))
            }
        }
    }

    /// The page of `address`, for a write of `length` bytes. Only the bytes in this page count as
    /// written.
    #[inline(always)]
    fn page_to_write(&mut self, address: u64, length: usize) -> Result<PageMut<'_>, PageFault> {
        match &mut self.target {
            Target::Memory(mem) => {
                let slot = self.space.write(mem, address)?;
                Ok(mem.page_mut(slot))
            }
            Target::Overlay(mem, overlay) => overlay.write(mem, self.space, address, length),
            Target::Claimed(mem, claimant) => claimant.write(mem, self.space, address),
            Target::Logged(mem, log) => {
                let slot = self.space.write(mem, address)?;
                log.add(mem, self.space, slot, address, length, true);
                Ok(mem.page_mut(slot))
            }
        }
    }
}

/// The page of `address`, for a read while an observer wants accesses. With a log and a length, the
/// read is recorded.
#[cold]
#[inline(never)]
fn observed_page<'m>(
    mem: &'m Memory,
    space: &AddressSpace,
    address: u64,
    record: Option<(&AccessLog, usize)>,
) -> Result<&'m Page, PageFault> {
    let slot = space.read(mem, address)?;
    if let Some((log, length)) = record {
        log.add(mem, space, slot, address, length, false);
    }
    Ok(mem.page(slot))
}
