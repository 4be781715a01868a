//! Memory as a context sees it.

use super::{ADDRESS_MASK, AddressSpace, Cause, Memory, Nearby, PAGE, PageFault};

/// Memory through the page tables of one address space. Addresses are cut to 48 bits; accesses may be unaligned and
/// may cross pages. An access that faults in its second page leaves the first one written.
pub struct Vm<'a> {
    mem: &'a mut Memory,
    /// The page tables.
    pub space: &'a mut AddressSpace,
}

macro_rules! scalars {
    ($($read:ident $write:ident $type:ident $bytes:literal;)*) => {$(
        #[doc = concat!("The little-endian `", stringify!($type), "` at `address`.")]
        ///
        /// # Errors
        /// [`PageFault`] with the first byte that cannot be read.
        #[inline]
        pub fn $read(&self, address: u64) -> Result<$type, PageFault> {
            let page = self.mem.page(self.space.read(self.mem, address)?);
            if let Some(bytes) = page[(address % PAGE) as usize..].first_chunk::<$bytes>() {
                return Ok($type::from_le_bytes(*bytes));
            }
            let mut bytes = [0; $bytes];
            self.read(address, &mut bytes)?;
            Ok($type::from_le_bytes(bytes))
        }

        #[doc = concat!("Writes the little-endian `", stringify!($type), "` at `address`.")]
        ///
        /// # Errors
        /// [`PageFault`] with the first byte that cannot be written.
        #[inline]
        pub fn $write(&mut self, address: u64, value: $type) -> Result<(), PageFault> {
            let slot = self.space.write(self.mem, address)?;
            let page = self.mem.page_mut(slot);
            if let Some(bytes) = page[(address % PAGE) as usize..].first_chunk_mut::<$bytes>() {
                *bytes = value.to_le_bytes();
                return Ok(());
            }
            self.write(address, &value.to_le_bytes())
        }
    )*};
}

impl<'a> Vm<'a> {
    /// Frames through page tables.
    pub fn new(mem: &'a mut Memory, space: &'a mut AddressSpace) -> Self {
        Vm { mem, space }
    }

    /// The same memory through other page tables.
    pub fn through<'b>(&'b mut self, space: &'b mut AddressSpace) -> Vm<'b> {
        Vm { mem: self.mem, space }
    }

    /// The same for a shorter time.
    pub fn reborrow(&mut self) -> Vm<'_> {
        Vm { mem: self.mem, space: self.space }
    }

    scalars! {
        read_u8 write_u8 u8 1;
        read_u16 write_u16 u16 2;
        read_u32 write_u32 u32 4;
        read_u64 write_u64 u64 8;
    }

    /// Fills `out` from `address` on.
    ///
    /// # Errors
    /// [`PageFault`] with the first byte that cannot be read; `out` is filled up to there.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let (mut address, mut rest) = (address, out);
        while !rest.is_empty() {
            let run = self.run(address, rest.len())?;
            let (now, later) = rest.split_at_mut(run.len());
            now.copy_from_slice(run);
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
            let run = self.run_mut(address, rest.len())?;
            let (now, later) = rest.split_at(run.len());
            run.copy_from_slice(now);
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
    pub fn page(&self, address: u64) -> Result<&[u8], PageFault> {
        Ok(self.mem.page(self.space.read(self.mem, address)?))
    }

    /// The page that holds `address`, in place, to be written.
    ///
    /// # Errors
    /// [`PageFault`] with `address` if it cannot be written.
    #[inline]
    pub fn page_mut(&mut self, address: u64) -> Result<&mut [u8], PageFault> {
        let slot = self.space.write(self.mem, address)?;
        Ok(self.mem.page_mut(slot))
    }

    /// Up to `max` bytes from `address` to the end of its page, in place.
    ///
    /// # Errors
    /// [`PageFault`] if the page cannot be read.
    #[inline]
    pub fn run(&self, address: u64, max: usize) -> Result<&[u8], PageFault> {
        let page = self.mem.page(self.space.read(self.mem, address)?);
        let at = (address % PAGE) as usize;
        Ok(&page[at..page.len().min(at.saturating_add(max))])
    }

    /// Up to `max` bytes from `address` to the end of its page, in place, to be written.
    ///
    /// # Errors
    /// [`PageFault`] if the page cannot be written.
    #[inline]
    pub fn run_mut(&mut self, address: u64, max: usize) -> Result<&mut [u8], PageFault> {
        let slot = self.space.write(self.mem, address)?;
        let page = self.mem.page_mut(slot);
        let at = (address % PAGE) as usize;
        let end = page.len().min(at.saturating_add(max));
        Ok(&mut page[at..end])
    }

    /// What is mapped near the address of a fault; none if the address itself is mapped.
    #[cold]
    pub fn nearby(&self, fault: &PageFault) -> Option<Nearby> {
        match fault.cause {
            Cause::NotPresent(_) | Cause::Outside => Some(self.space.nearby(self.mem, fault.address)),
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
            self.space.probe(self.mem, at, write)?;
            at = (at | (PAGE - 1)) + 1;
        }
        Ok(())
    }
}
