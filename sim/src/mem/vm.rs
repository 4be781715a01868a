//! Memory as a context sees it.

use super::overlay::Overlay;
use super::page::{Page, PageMut};
use super::{ADDRESS_MASK, AddressSpace, Cause, Memory, Nearby, PAGE, PageFault};

/// Memory through the page tables of one address space. Addresses are cut to 48 bits; accesses may
/// be unaligned and may cross pages. An access that faults in its second page leaves the first one
/// written.
pub struct Vm<'a> {
    behind: Behind<'a>,
    /// The page tables.
    pub space: &'a mut AddressSpace,
}

/// What is behind the page tables.
enum Behind<'a> {
    /// Memory itself.
    Memory(&'a mut Memory),
    /// Memory that does not change, and over it what was written.
    Overlay(&'a Memory, &'a mut Overlay),
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
    /// Frames through page tables.
    pub fn new(mem: &'a mut Memory, space: &'a mut AddressSpace) -> Self {
        Vm { behind: Behind::Memory(mem), space }
    }

    /// Memory that others look at as well, through page tables: what is written goes to `overlay`.
    pub fn over(mem: &'a Memory, overlay: &'a mut Overlay, space: &'a mut AddressSpace) -> Self {
        Vm { behind: Behind::Overlay(mem, overlay), space }
    }

    /// The same memory through other page tables.
    pub fn through<'b>(&'b mut self, space: &'b mut AddressSpace) -> Vm<'b> {
        let behind = match &mut self.behind {
            Behind::Memory(mem) => Behind::Memory(mem),
            Behind::Overlay(mem, overlay) => {
                // Its translations are not those of the part.
                overlay.keep_order();
                Behind::Overlay(mem, overlay)
            }
        };
        Vm { behind, space }
    }

    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> Vm<'_> {
        let behind = match &mut self.behind {
            Behind::Memory(mem) => Behind::Memory(mem),
            Behind::Overlay(mem, overlay) => Behind::Overlay(mem, overlay),
        };
        Vm { behind, space: self.space }
    }

    /// The frames, with the page tables; none over an [`Overlay`].
    pub fn memory(&mut self) -> Option<(&mut Memory, &mut AddressSpace)> {
        match &mut self.behind {
            Behind::Memory(mem) => Some((mem, self.space)),
            Behind::Overlay(..) => None,
        }
    }

    /// Says that what is done now depends on more than memory: on the clock, on what other threads
    /// did elsewhere. A part of a walker that runs beside others is run again in its place in the
    /// order then. Where things run in order anyway, nothing happens.
    #[inline]
    pub fn keep_order(&self) {
        if let Behind::Overlay(_, overlay) = &self.behind {
            overlay.keep_order();
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

    /// Fills `out` from `address` on.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot be read; `out` is filled up to there.
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
    /// [`PageFault`] with the first byte that cannot be written; everything before it is.
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

    /// The page that holds `address`, in place.
    ///
    /// # Errors
    /// [`PageFault`] with `address` if it cannot be read.
    #[inline]
    pub fn page(&self, address: u64) -> Result<&Page, PageFault> {
        self.page_to_read(address & !(PAGE - 1), PAGE as usize)
            .map_err(|fault| PageFault { address: address & ADDRESS_MASK, ..fault })
    }

    /// The page that holds `address`, in place, to be written. All of it counts as read and
    /// written: where threads may run side by side, [`write`](Self::write) is better.
    ///
    /// # Errors
    /// [`PageFault`] with `address` if it cannot be written.
    #[inline]
    pub fn page_mut(&mut self, address: u64) -> Result<PageMut<'_>, PageFault> {
        let start = address & !(PAGE - 1);
        let of_address = |fault| PageFault { address: address & ADDRESS_MASK, ..fault };
        if let Behind::Overlay(mem, overlay) = &self.behind {
            overlay
                .read(mem, self.space, start, PAGE as usize)
                .map_err(|fault| of_address(PageFault { write: true, ..fault }))?;
        }
        self.page_to_write(start, PAGE as usize).map_err(of_address)
    }

    /// What is mapped near the address of a fault; none if the address itself is mapped.
    #[cold]
    pub fn nearby(&self, fault: &PageFault) -> Option<Nearby> {
        let mem = match &self.behind {
            Behind::Memory(mem) => mem,
            Behind::Overlay(mem, _) => *mem,
        };
        match fault.cause {
            Cause::NotPresent(_) | Cause::Outside => Some(self.space.nearby(mem, fault.address)),
            Cause::BadFrame(_) | Cause::ReadOnly(_) => None,
        }
        .filter(|near| near.below.or(near.above).is_some())
    }

    /// Checks that all of `bytes` bytes from `address` on can be read, or written.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot.
    pub fn probe(&self, address: u64, bytes: u64, write: bool) -> Result<(), PageFault> {
        let mut at = address & ADDRESS_MASK;
        let end = at.saturating_add(bytes);
        while at < end {
            match &self.behind {
                Behind::Memory(mem) => self.space.probe(mem, at, write)?,
                Behind::Overlay(mem, overlay) => overlay.probe(mem, self.space, at, write)?,
            }
            at = (at | (PAGE - 1)) + 1;
        }
        Ok(())
    }

    /// The page of `address`, of which `length` bytes, as far as it goes, are read.
    #[inline(always)]
    fn page_to_read(&self, address: u64, length: usize) -> Result<&Page, PageFault> {
        match &self.behind {
            Behind::Memory(mem) => Ok(mem.page(self.space.read(mem, address)?)),
            Behind::Overlay(mem, overlay) => overlay.read(mem, self.space, address, length),
        }
    }

    /// The page of `address`, of which `length` bytes, as far as it goes, are overwritten.
    #[inline(always)]
    fn page_to_write(&mut self, address: u64, length: usize) -> Result<PageMut<'_>, PageFault> {
        match &mut self.behind {
            Behind::Memory(mem) => {
                let slot = self.space.write(mem, address)?;
                Ok(mem.page_mut(slot))
            }
            Behind::Overlay(mem, overlay) => overlay.write(mem, self.space, address, length),
        }
    }
}
