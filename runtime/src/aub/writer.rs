//! Writes blocks of a memory trace.

use super::Space;
use super::tables::PAGE;
use crate::core::{Address, U, U64};
use crate::gen8::aub::{
    MemTraceMemoryWrite, MemTraceMemoryWriteAddressSpace, MemTraceRegisterPoll,
    MemTraceRegisterPollRegisterSize, MemTraceRegisterWrite, MemTraceRegisterWriteRegisterSize,
    MemTraceVersion, MemTraceVersionDevice, MemTraceVersionMethod,
};
use std::io::{self, Write};

/// Largest number of bytes of text in the version block, with the final zero: Mesa's writer has a
/// buffer of 33.
const MAX_TEXT: usize = 32;

/// Largest number of bytes of memory in a block: a page, as in Mesa's writer. (Length has 16 bits
/// and counts dwords.)
const MAX_DATA: usize = PAGE as usize;

/// Writes a memory trace, the newer kind of file, block by block. [`Reader`](super::Reader) and
/// tools for the files of Mesa's intel_dump_gpu can read the file. [`Recorder`](super::Recorder)
/// writes whole submissions with a `Writer`.
///
/// ```
/// use genxml::aub::{Event, Reader, Space, Writer};
///
/// let mut writer = Writer::new(Vec::new(), 0x1616, "example")?;
/// writer.memory(Space::Physical, 0x1000, &[1, 2, 3, 4])?;
/// let file = writer.finish()?;
/// let mut reader = Reader::new(&file[..])?;
/// reader.next_block()?;
/// let block = reader.next_block()?.expect("the memory");
/// assert_eq!(block.event, Event::Memory { space: Space::Physical, address: 0x1000, bytes: &[1, 2, 3, 4] });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A `Writer` does not write classic files: they only have the global address space, and drivers
/// for Gen8 use a 48-bit address space for each context.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    /// Bytes that were written.
    position: u64,
}

impl<W: Write> Writer<W> {
    /// Begins a file for the GPU with this PCI device id. The name of the program is cut so that
    /// the text with id, name and final zero has at most 32 bytes, the limit of readers.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(out: W, pci_id: u32, application: &str) -> io::Result<Self> {
        let mut text = format!("PCI-ID={pci_id:#X} {application}").replacen("0X", "0x", 1);
        let mut end = text.len().min(MAX_TEXT - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('\0');
        // Cherryview has 0x22b0 to 0x22b3 (Mesa include/pci_ids/i965_pci_ids.h).
        let device = match pci_id {
            0x22b0..=0x22b3 => MemTraceVersionDevice::CHV,
            _ => MemTraceVersionDevice::BDW,
        };
        let mut writer = Writer { out, position: 0 };
        let length = length(MemTraceVersion::DWORDS, text.len());
        // Mesa's writer sets the method for virtual addresses, 0.
        let method = MemTraceVersionMethod::VIRTUAL;
        writer
            .dwords(&MemTraceVersion { length, device, method, ..MemTraceVersion::new() }.pack())?;
        writer.padded(text.as_bytes())?;
        Ok(writer)
    }

    /// Bytes that were written so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Writes memory: physical, or through the global table as written so far. No block crosses a
    /// page boundary.
    ///
    /// # Errors
    /// If the output cannot be written, or the space is one that Broadwell does not have.
    pub fn memory(&mut self, space: Space, address: u64, bytes: &[u8]) -> io::Result<()> {
        let address_space = match space {
            Space::Global => MemTraceMemoryWriteAddressSpace::GGTT,
            Space::Physical => MemTraceMemoryWriteAddressSpace::PHYSICAL,
            other => {
                let text =
                    format!("a memory trace for Broadwell has no memory of the kind {other:?}");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
        };
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let here = ((PAGE - at % PAGE) as usize).min(bytes.len() - done);
            self.block(address_space, at, &bytes[done..done + here])?;
            done += here;
        }
        Ok(())
    }

    /// Writes entries of the global table from number `first` on.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn global_entries(&mut self, first: u64, entries: &[u64]) -> io::Result<()> {
        for (first, entries) in (first..).step_by(MAX_DATA / 8).zip(entries.chunks(MAX_DATA / 8)) {
            self.block(MemTraceMemoryWriteAddressSpace::GGTT_ENTRY, first * 8, &bytes(entries))?;
        }
        Ok(())
    }

    /// Writes a register at a byte offset of the MMIO space.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn register_write(&mut self, offset: u32, value: u32) -> io::Result<()> {
        let write = MemTraceRegisterWrite {
            length: length(MemTraceRegisterWrite::DWORDS, 0),
            register_offset: Address::from_bits(offset.into()),
            register_size: MemTraceRegisterWriteRegisterSize::DWORD,
            value: U::from_bits(value.into()),
            ..MemTraceRegisterWrite::new()
        };
        self.dwords(&write.pack())
    }

    /// Writes a wait: the simulator waits until the bits of `mask` in a register have this value.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn register_poll(&mut self, offset: u32, mask: u32, value: u32) -> io::Result<()> {
        let poll = MemTraceRegisterPoll {
            length: length(MemTraceRegisterPoll::DWORDS, 0),
            register_offset: Address::from_bits(offset.into()),
            register_size: MemTraceRegisterPollRegisterSize::DWORD,
            mask_low: U::from_bits(mask.into()),
            value: U::from_bits(value.into()),
            ..MemTraceRegisterPoll::new()
        };
        self.dwords(&poll.pack())
    }

    /// Ends the file and returns the output.
    ///
    /// # Errors
    /// If buffered data cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn block(
        &mut self,
        space: MemTraceMemoryWriteAddressSpace,
        at: u64,
        data: &[u8],
    ) -> io::Result<()> {
        let write = MemTraceMemoryWrite {
            length: length(MemTraceMemoryWrite::DWORDS, data.len()),
            address: U64::from_bits(at),
            address_space: space,
            size_bytes: U::from_bits(data.len() as u64),
            ..MemTraceMemoryWrite::new()
        };
        self.dwords(&write.pack())?;
        self.padded(data)
    }

    fn dwords(&mut self, dwords: &[u32]) -> io::Result<()> {
        self.position += 4 * dwords.len() as u64;
        dwords.iter().try_for_each(|dword| self.out.write_all(&dword.to_le_bytes()))
    }

    /// Writes bytes, padded with zeros to whole dwords.
    fn padded(&mut self, bytes: &[u8]) -> io::Result<()> {
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        self.position += (bytes.len() + padding) as u64;
        self.out.write_all(bytes)?;
        self.out.write_all(&[0; 3][..padding])
    }
}

/// The value of a block's length field: dwords minus 1.
fn length(dwords: usize, data: usize) -> U<16> {
    U::from_bits((dwords + data.div_ceil(4) - 1) as u64)
}

/// Entries as bytes in memory.
pub(super) fn bytes(entries: &[u64]) -> Vec<u8> {
    entries.iter().flat_map(|entry| entry.to_le_bytes()).collect()
}
