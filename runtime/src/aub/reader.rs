//! Reads blocks one by one.

use super::contents::Contents;
use super::input::{Compression, decompress};
use super::kinds::{CLASSIC, Head, MEMORY_TRACE, classic, trace};
use super::{AubError, Block, Event, Header, Kind, Space};
use crate::engine::EngineId;
use crate::gen8::aub::{
    AubDumpBitmap, AubHeader, AubTraceBlock, AubTraceBlockAddressSpace, AubTraceBlockOperation,
    MemTraceComment, MemTraceMemoryCompare, MemTraceMemoryCompareCompareOperation,
    MemTraceMemoryPoll, MemTraceMemoryPollSizeOfData, MemTraceMemoryWrite,
    MemTraceMemoryWriteAddressSpace as AddressSpace, MemTraceMemoryWriteDiscontiguous,
    MemTraceMemoryWriteTiling as Tiling, MemTraceRegisterCompare, MemTraceRegisterPoll,
    MemTraceRegisterPollOperationType, MemTraceRegisterPollRegisterSize,
    MemTraceRegisterPollRegisterSpace, MemTraceVersion,
};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Largest number of bytes of a classic block in one [`Event`], except for commands.
pub const CHUNK: usize = 64 << 10;

/// Largest number of bytes of commands that a block may put into a ring: the size of the largest
/// ring (RING_BUFFER_CTL, 2c).
pub const MAX_COMMANDS: usize = 2 << 20;

/// The address bits that the GPU uses: 47:0.
const ADDRESS_MASK: u64 = (1 << 48) - 1;

/// Reads a file block by block. It needs memory for one block only: at most 256 KiB, or 2 MiB for
/// commands of a ring.
pub struct Reader<'a> {
    input: Box<dyn Read + 'a>,
    compression: Compression,
    /// Bytes of the decompressed file that were read.
    position: u64,
    /// Dwords of the current block, or data of a classic one.
    buffer: Vec<u32>,
    text: String,
    entries: Vec<u64>,
    /// The unread data of a classic block.
    rest: Option<Rest>,
    /// The writes of the block in the buffer that were not returned yet, last one first.
    writes: Vec<Write>,
    contents: Cell<Contents>,
    /// The end was reached, or an error occurred.
    done: bool,
}

/// The unread data of a classic block.
#[derive(Clone, Copy)]
struct Rest {
    /// Where the block starts.
    position: u64,
    what: What,
    /// Address of the next byte.
    address: u64,
    bytes: u64,
}

/// A write of a block that writes several parts of memory.
#[derive(Clone, Copy)]
struct Write {
    /// Where the block starts.
    position: u64,
    space: AddressSpace,
    address: u64,
    /// Bytes of the data.
    size: u64,
    /// Index in the buffer of the first dword of the data.
    start: usize,
}

/// The kind of data in a classic block.
#[derive(Clone, Copy)]
enum What {
    Memory(Space),
    Entries { bytes: u64 },
    Registers,
    Commands(EngineId),
    Comment,
}

/// Name of the kind of block that writes several parts of memory.
const SEVERAL: &str = MemTraceMemoryWriteDiscontiguous::NAME;

/// Dwords of a trace block's head before Gen8, which lacks Address high.
const SHORT_TRACE_BLOCK: usize = AubTraceBlock::DWORDS - 1;

/// True if the decompressed bytes look like the start of an AUB file.
pub fn starts(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|dword| Head::of(u32::from_le_bytes(*dword)).is_some())
}

impl Reader<'static> {
    /// Reads a file, compressed or not.
    ///
    /// # Errors
    /// [`AubError::Open`], or [`AubError::Read`] if its first bytes cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, AubError> {
        let path = path.as_ref();
        let file =
            File::open(path).map_err(|source| AubError::Open { path: path.to_owned(), source })?;
        Reader::new(file)
    }
}

impl<'a> Reader<'a> {
    /// Reads from any input, compressed or not; it need not be buffered.
    ///
    /// # Errors
    /// [`AubError::Read`] if its first bytes cannot be read.
    pub fn new(input: impl Read + 'a) -> Result<Self, AubError> {
        Reader::boxed(Box::new(input))
    }

    fn boxed(input: Box<dyn Read + 'a>) -> Result<Self, AubError> {
        let (compression, input) = decompress(input).map_err(|source| AubError::Read {
            position: 0,
            compression: Compression::None,
            source,
        })?;
        Ok(Reader {
            input: Box::new(io::BufReader::with_capacity(1 << 16, input)),
            compression,
            position: 0,
            buffer: Vec::new(),
            text: String::new(),
            entries: Vec::new(),
            rest: None,
            writes: Vec::new(),
            contents: Cell::default(),
            done: false,
        })
    }

    /// How the file is compressed.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Bytes of the decompressed file that were read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Numbers of the blocks that were read so far.
    pub fn contents(&self) -> Contents {
        self.contents.get()
    }

    /// The next block, or piece of one; `None` at the end, and after an error.
    ///
    /// # Errors
    /// The problem with its position; everything before that position was read completely.
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>, AubError> {
        if self.done {
            return Ok(None);
        }
        self.done = true;
        // Reading stops at an error and at the end of the file.
        let Some((position, found)) = self.read()? else { return Ok(None) };
        self.done = false;
        let mut contents = self.contents.get();
        let event = self.event(&found);
        contents.add(&event);
        // The event borrows the reader.
        self.contents.set(contents);
        Ok(Some(Block { position, event }))
    }

    /// Reads a block and checks it; its data are then in the buffers of the reader.
    fn read(&mut self) -> Result<Option<(u64, Found)>, AubError> {
        loop {
            if let Some(rest) = self.rest.take() {
                if let Some(found) = self.data(rest)? {
                    return Ok(Some((rest.position, found)));
                }
                continue;
            }
            if let Some(write) = self.writes.pop() {
                return Ok(Some((write.position, self.memory_write(&write, SEVERAL)?)));
            }
            let position = self.position;
            self.buffer.clear();
            let got = self.append(1)?;
            let header = self.buffer.first().copied().unwrap_or(0);
            let head = Head::of(header);
            if got < 4 || head.is_none() {
                if position == 0 {
                    return Err(AubError::NotAub { start: header.to_le_bytes()[..got].to_vec() });
                }
                return match got {
                    0 => Ok(None),
                    4 => Err(AubError::Unknown { position, header }),
                    _ => Err(AubError::Cut {
                        position,
                        block: "unknown",
                        needed: 4,
                        available: got as u64,
                    }),
                };
            }
            let Some(head) = head else { unreachable!("looked at above") };
            let needed = head.dwords as u64 * 4;
            let available = 4 + self.append(head.dwords.saturating_sub(1))? as u64;
            if available < needed {
                return Err(AubError::Cut { position, block: head.name(), needed, available });
            }
            if let Some(found) = self.parse(position, &head)? {
                return Ok(Some((position, found)));
            }
        }
    }

    /// Appends up to `dwords` dwords of the file to the buffer; returns the number of bytes read.
    fn append(&mut self, dwords: usize) -> Result<usize, AubError> {
        let start = self.buffer.len();
        self.buffer.resize(start + dwords, 0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.buffer[start..]);
        let mut got = 0;
        while got < bytes.len() {
            match self.input.read(&mut bytes[got..]) {
                Ok(0) => break,
                Ok(count) => got += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    let position = self.position + got as u64;
                    return Err(AubError::Read { position, compression: self.compression, source });
                }
            }
        }
        self.position += got as u64;
        Ok(got)
    }

    /// The first `N` dwords of the block.
    fn fixed<const N: usize>(&self, position: u64, head: &Head) -> Result<[u32; N], AubError> {
        self.buffer.first_chunk().copied().ok_or(AubError::Field {
            position,
            block: head.name(),
            field: "Length",
            value: (self.buffer.len()) as u64,
            problem: "dwords are too few for the fields of this block",
        })
    }

    /// Parses the block in the buffer; `None` if its data are still to be read.
    fn parse(&mut self, position: u64, head: &Head) -> Result<Option<Found>, AubError> {
        match (head.opcode, head.sub_opcode) {
            (CLASSIC, classic::TRACE_BLOCK) => {
                if self.buffer.len() == SHORT_TRACE_BLOCK {
                    self.buffer.push(0);
                }
                let trace = AubTraceBlock::unpack_lossy(&self.fixed(position, head)?);
                self.rest = Some(trace_block(position, head, &trace)?);
                Ok(None)
            }
            (CLASSIC, classic::HEADER) => self.classic_header(position, head).map(Some),
            (CLASSIC, classic::BITMAP) => {
                let bitmap = AubDumpBitmap::unpack_lossy(&self.fixed(position, head)?);
                Ok(Some(Found::Bitmap(bitmap)))
            }
            (MEMORY_TRACE, trace::MEMORY_WRITES) => self.list_writes(position, head),
            (MEMORY_TRACE, _) => self.memory_trace(position, head).map(Some),
            _ => Ok(Some(other(head))),
        }
    }

    /// Parses the head of a classic file.
    fn classic_header(&self, position: u64, head: &Head) -> Result<Found, AubError> {
        let header = AubHeader::unpack_lossy(&self.fixed(position, head)?);
        let comment = bytemuck::cast_slice::<u32, u8>(&self.buffer[AubHeader::DWORDS..]);
        let comment = &comment[..comment.len().min(header.comment_length.get() as usize)];
        let name = header.application_name.map(|character| character.get() as u8);
        Ok(Found::Header(Header {
            kind: Kind::Classic,
            version: (header.major.get() as u32, header.minor.get() as u32),
            device: None,
            pci_id: pci_id(&text(comment)).map(|(id, _)| id),
            application: text(&name),
        }))
    }

    /// Parses a block of a memory trace that is returned as one event.
    fn memory_trace(&mut self, position: u64, head: &Head) -> Result<Found, AubError> {
        Ok(match head.sub_opcode {
            trace::VERSION => {
                let version = MemTraceVersion::unpack_lossy(&self.fixed(position, head)?);
                let text = text(bytemuck::cast_slice(&self.buffer[MemTraceVersion::DWORDS..]));
                let (pci_id, application) = match pci_id(&text) {
                    Some((id, rest)) => (Some(id), rest.trim().to_owned()),
                    None => (None, text),
                };
                Found::Header(Header {
                    kind: Kind::MemoryTrace,
                    version: (version.file_version.get() as u32, 0),
                    device: Some(version.device),
                    pci_id,
                    application,
                })
            }
            trace::VERSION_OLD => Found::Named { why: Some("no source describes its fields") },
            trace::PREDICATE => {
                Found::Named { why: Some("no source says which tools skip the blocks after it") }
            }
            trace::MEMORY_WRITE => {
                let write = MemTraceMemoryWrite::unpack_lossy(&self.fixed(position, head)?);
                if let Some(why) = unusual(write.repeat_memory, write.tiling) {
                    return Ok(Found::Named { why: Some(why) });
                }
                let write = Write {
                    position,
                    space: write.address_space,
                    address: write.address.get(),
                    size: write.size_bytes.get(),
                    start: MemTraceMemoryWrite::DWORDS,
                };
                self.memory_write(&write, MemTraceMemoryWrite::NAME)?
            }
            trace::MEMORY_COMPARE => self.memory_compare(position, head)?,
            trace::MEMORY_POLL => self.memory_poll(position, head)?,
            trace::REGISTER_WRITE | trace::REGISTER_POLL | trace::REGISTER_COMPARE => {
                self.register(position, head)?
            }
            trace::COMMENT => {
                let _: [u32; MemTraceComment::DWORDS] = self.fixed(position, head)?;
                self.text = text(bytemuck::cast_slice(&self.buffer[MemTraceComment::DWORDS..]));
                Found::Comment
            }
            _ => other(head),
        })
    }

    /// Parses a block that writes, polls or compares a register.
    fn register(&self, position: u64, head: &Head) -> Result<Found, AubError> {
        // The three kinds of blocks have these fields at the same bits; the others are in
        // different bits of the same dword.
        let dwords = self.fixed(position, head)?;
        let register = MemTraceRegisterPoll::unpack_lossy(&dwords);
        let named = |why| Ok(Found::Named { why: Some(why) });
        if register.register_space != MemTraceRegisterPollRegisterSpace::MMIO {
            return named("its register is not in the MMIO space");
        }
        if register.register_size != MemTraceRegisterPollRegisterSize::DWORD {
            return named("its register does not have 32 bits");
        }
        let poll = head.sub_opcode == trace::REGISTER_POLL;
        if poll && register.operation_type != MemTraceRegisterPollOperationType::NORMAL {
            return named(
                "it waits for a checksum of the display, whose format no source describes",
            );
        }
        let compare = head.sub_opcode == trace::REGISTER_COMPARE;
        if compare && MemTraceRegisterCompare::unpack_lossy(&dwords).no_read_expect {
            return Ok(Found::Named { why: None });
        }
        Ok(Found::Register {
            what: match (poll, compare) {
                (true, _) => Access::Poll { equal: !register.poll_not_equal },
                (_, true) => Access::Compare,
                _ => Access::Write,
            },
            offset: register.register_offset.get() as u32,
            mask: register.mask_low.get() as u32,
            value: register.value.get() as u32,
        })
    }

    /// Parses a write of a memory trace, whose data are in the buffer.
    fn memory_write(&mut self, write: &Write, block: &'static str) -> Result<Found, AubError> {
        let Write { position, space, address, size, start } = *write;
        self.has_data(position, block, start, size)?;
        if space == AddressSpace::GGTT_ENTRY {
            let first = entry_number(position, block, address, size, 8)?;
            let bytes = &self.buffer[start..][..size as usize / 4];
            self.entries.clear();
            self.entries.extend(bytes.as_chunks().0.iter().map(|&[low, high]| join(low, high)));
            return Ok(Found::Entries(first));
        }
        Ok(match space_of(space) {
            Ok(space) => Found::Memory {
                space,
                address: address_in(space, address),
                start,
                bytes: size as usize,
            },
            Err(why) => Found::Named { why: Some(why) },
        })
    }

    /// An error if the block in the buffer has fewer than `size` bytes from dword `start` on.
    fn has_data(
        &self,
        position: u64,
        block: &'static str,
        start: usize,
        size: u64,
    ) -> Result<(), AubError> {
        match size > self.buffer.len().saturating_sub(start) as u64 * 4 {
            false => Ok(()),
            true => Err(AubError::Field {
                position,
                block,
                field: "Size bytes",
                value: size,
                problem: "there are fewer in the block, by its Length",
            }),
        }
    }

    /// Lists the writes of a block that writes several parts of memory. Returns an event only if
    /// none of them can be used.
    fn list_writes(&mut self, position: u64, head: &Head) -> Result<Option<Found>, AubError> {
        let block = MemTraceMemoryWriteDiscontiguous::unpack_lossy(&self.fixed(position, head)?);
        if let Some(why) = unusual(block.repeat_memory, Tiling::from_bits(block.tiling.bits())) {
            return Ok(Some(Found::Named { why: Some(why) }));
        }
        let space = AddressSpace::from_bits(block.address_space.bits());
        let mut start = MemTraceMemoryWriteDiscontiguous::DWORDS;
        for write in block.write.iter().take(block.number_of_writes.get() as usize) {
            let (address, size) = (write.address.get(), write.size_bytes.get());
            if size > 0 {
                self.writes.push(Write { position, space, address, size, start });
            }
            start += size.div_ceil(4) as usize;
        }
        self.writes.reverse();
        Ok(None)
    }

    /// Parses a block that states the contents of memory.
    fn memory_compare(&self, position: u64, head: &Head) -> Result<Found, AubError> {
        let dwords = self.fixed(position, head)?;
        let compare = MemTraceMemoryCompare::unpack_lossy(&dwords);
        let size = compare.size_bytes.get();
        self.has_data(position, MemTraceMemoryCompare::NAME, MemTraceMemoryCompare::DWORDS, size)?;
        if compare.no_read_expect {
            return Ok(Found::Named { why: None });
        }
        if compare.pack() != dwords {
            // aub_stream defers comparisons with a bit whose position is not public.
            let why = "it has bits that no source describes; it may be evaluated with later blocks";
            return Ok(Found::Named { why: Some(why) });
        }
        if compare.crc_compare {
            let why = "it has a checksum, whose polynomial no source describes";
            return Ok(Found::Named { why: Some(why) });
        }
        let tiling = Tiling::from_bits(compare.tiling.bits());
        let space = match unusual(compare.repeat_memory, tiling) {
            Some(why) => Err(why),
            None => space_of(AddressSpace::from_bits(compare.address_space.bits())),
        };
        Ok(match space {
            Err(why) => Found::Named { why: Some(why) },
            Ok(space) => Found::Compare {
                space,
                address: address_in(space, compare.address.get()),
                bytes: size as usize,
                equal: compare.compare_operation == MemTraceMemoryCompareCompareOperation::EQUAL,
            },
        })
    }

    /// Parses a block that waits for a value in memory.
    fn memory_poll(&self, position: u64, head: &Head) -> Result<Found, AubError> {
        let poll = MemTraceMemoryPoll::unpack_lossy(&self.fixed(position, head)?);
        let (size, dwords) = match poll.size_of_data {
            MemTraceMemoryPollSizeOfData::BYTE => (1, 1),
            MemTraceMemoryPollSizeOfData::WORD => (2, 1),
            MemTraceMemoryPollSizeOfData::DWORD => (4, 1),
            _ => (8, 2),
        };
        let start = MemTraceMemoryPoll::DWORDS;
        self.has_data(position, MemTraceMemoryPoll::NAME, start, 4 * dwords)?;
        let high = if dwords == 2 { self.buffer[start + 1] } else { 0 };
        let tiling = Tiling::from_bits(poll.tiling.bits());
        let space = match unusual(false, tiling) {
            Some(why) => Err(why),
            None => space_of(AddressSpace::from_bits(poll.address_space.bits())),
        };
        Ok(match space {
            Err(why) => Found::Named { why: Some(why) },
            Ok(space) => Found::MemoryPoll {
                space,
                address: address_in(space, poll.address.get()),
                size,
                mask: poll.mask.get(),
                value: join(self.buffer[start], high),
                equal: !poll.poll_not_equal,
            },
        })
    }

    /// Reads the next piece of a classic block's data; `None` if all data of the block were read.
    fn data(&mut self, mut rest: Rest) -> Result<Option<Found>, AubError> {
        let chunk = match rest.what {
            What::Commands(_) => MAX_COMMANDS,
            What::Registers => 4,
            _ => CHUNK,
        };
        let wanted = rest.bytes.min(chunk as u64);
        if wanted == 0 {
            return Ok(None);
        }
        self.buffer.clear();
        let available = self.append(wanted as usize / 4)? as u64;
        if available < wanted {
            let head = self.position - available - rest.position;
            return Err(AubError::Cut {
                position: rest.position,
                block: AubTraceBlock::NAME,
                needed: head + rest.bytes,
                available: head + available,
            });
        }
        let address = rest.address;
        rest.address = address.wrapping_add(wanted);
        rest.bytes -= wanted;
        self.rest = Some(rest);
        let bytes = wanted as usize;
        Ok(Some(match rest.what {
            What::Memory(space) => {
                Found::Memory { space, address: address_in(space, address), start: 0, bytes }
            }
            What::Entries { bytes } => {
                self.entries.clear();
                if bytes == 8 {
                    let pairs = self.buffer.as_chunks().0;
                    self.entries.extend(pairs.iter().map(|&[low, high]| join(low, high)));
                } else {
                    self.entries.extend(self.buffer.iter().map(|&entry| u64::from(entry)));
                }
                Found::Entries(address / bytes)
            }
            What::Registers => Found::Register {
                what: Access::Write,
                offset: address as u32,
                mask: u32::MAX,
                value: self.buffer.first().copied().unwrap_or(0),
            },
            What::Commands(engine) => {
                Found::Commands { engine, address: address_in(Space::Global, address) }
            }
            What::Comment => {
                self.text = text(bytemuck::cast_slice(&self.buffer));
                Found::Comment
            }
        }))
    }

    /// The event of a parsed block, with its data.
    fn event(&self, found: &Found) -> Event<'_> {
        match *found {
            Found::Header(ref header) => Event::Header(header.clone()),
            Found::Memory { space, address, start, bytes } => {
                let data: &[u8] = bytemuck::cast_slice(&self.buffer[start..]);
                Event::Memory { space, address, bytes: &data[..bytes] }
            }
            Found::Entries(first) => Event::GlobalEntries { first, entries: &self.entries },
            Found::Register { ref what, offset, mask, value } => match *what {
                Access::Write => Event::RegisterWrite { offset, mask, value },
                Access::Poll { equal } => Event::RegisterPoll { offset, mask, value, equal },
                Access::Compare => Event::RegisterCompare { offset, mask, value },
            },
            Found::MemoryPoll { space, address, size, mask, value, equal } => {
                Event::MemoryPoll { space, address, size, mask, value, equal }
            }
            Found::Compare { space, address, bytes, equal } => {
                let data: &[u8] =
                    bytemuck::cast_slice(&self.buffer[MemTraceMemoryCompare::DWORDS..]);
                Event::MemoryCompare { space, address, bytes: &data[..bytes], equal }
            }
            Found::Named { why } => {
                let block = self.buffer.first().and_then(|dword| Head::of(*dword)?.kind());
                Event::Named { block: block.unwrap_or("unknown"), why, dwords: &self.buffer }
            }
            Found::Commands { engine, address } => {
                Event::Commands { engine, address, bytes: bytemuck::cast_slice(&self.buffer) }
            }
            Found::Comment => Event::Comment(&self.text),
            Found::Bitmap(bitmap) => Event::Bitmap(bitmap),
            Found::Other { opcode, sub_opcode } => {
                Event::Other { opcode, sub_opcode, dwords: &self.buffer }
            }
        }
    }
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("compression", &self.compression)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

/// An [`Event`] whose data are in the reader's buffers.
enum Found {
    Header(Header),
    Memory { space: Space, address: u64, start: usize, bytes: usize },
    Entries(u64),
    Register { what: Access, offset: u32, mask: u32, value: u32 },
    MemoryPoll { space: Space, address: u64, size: u8, mask: u64, value: u64, equal: bool },
    Compare { space: Space, address: u64, bytes: usize, equal: bool },
    Named { why: Option<&'static str> },
    Commands { engine: EngineId, address: u64 },
    Comment,
    Bitmap(AubDumpBitmap),
    Other { opcode: u8, sub_opcode: u8 },
}

/// What a block does with a register.
enum Access {
    Write,
    Poll { equal: bool },
    Compare,
}

/// The event of a block that the reader does not parse further.
fn other(head: &Head) -> Found {
    match head.kind() {
        Some(_) => Found::Named { why: None },
        None => Found::Other { opcode: head.opcode as u8, sub_opcode: head.sub_opcode as u8 },
    }
}

/// Why the data of a block of a memory trace cannot be used; `None` if they can.
fn unusual(repeat: bool, tiling: Tiling) -> Option<&'static str> {
    match (repeat, tiling) {
        (true, _) => Some("Repeat Memory is set: no source says how the data repeat"),
        (_, Tiling::LINEAR) => None,
        _ => Some("its data are tiled: no source says how addresses and data correspond"),
    }
}

/// The space of an address in a memory trace, or why it cannot be used. Tables for processes are at
/// physical addresses (Intel compute-runtime, aub_mem_dump.cpp: their base addresses are physical).
fn space_of(space: AddressSpace) -> Result<Space, &'static str> {
    match space {
        AddressSpace::GGTT => Ok(Space::Global),
        AddressSpace::LOCAL => Ok(Space::Local),
        AddressSpace::PHYSICAL
        | AddressSpace::PPGTT_PT_ENTRY
        | AddressSpace::PPGTT_PD_ENTRY
        | AddressSpace::PPGTT_PDP_ENTRY
        | AddressSpace::PPGTT_PML4_ENTRY => Ok(Space::Physical),
        AddressSpace::GGTT_ENTRY => {
            Err("it compares entries of the global page table, which are not memory")
        }
        AddressSpace::GGTT_PD_ENTRY => {
            Err("address space 3, directories of the global table: no source says where they are")
        }
        AddressSpace::PPGTT => {
            Err("address space 5, addresses of a process: no source says which process")
        }
        AddressSpace::NONAPERTURE_GGTT => Err(
            "address space 7, global memory outside the aperture: no source says how addresses \
             are translated",
        ),
        AddressSpace::POWER_CONTEXT => {
            Err("address space 11, the power context: no source says where it is")
        }
        _ => Err("an address space from 12 to 15: no source describes them"),
    }
}

/// Parses the head of a classic block that is followed by data.
fn trace_block(position: u64, head: &Head, trace: &AubTraceBlock) -> Result<Rest, AubError> {
    let wrong = |field, value, problem| AubError::Field {
        position,
        block: AubTraceBlock::NAME,
        field,
        value,
        problem,
    };
    let address = join(trace.address_low.get() as u32, trace.address_high.get() as u32);
    let bytes = trace.size_bytes.get();
    if !bytes.is_multiple_of(4) {
        return Err(wrong("Size bytes", bytes, "data are whole dwords"));
    }
    let what = match trace.operation {
        AubTraceBlockOperation::COMMENT => What::Comment,
        AubTraceBlockOperation::DATA_WRITE => match trace.address_space {
            AubTraceBlockAddressSpace::GTT => What::Memory(Space::Global),
            AubTraceBlockAddressSpace::LOCAL => What::Memory(Space::Local),
            AubTraceBlockAddressSpace::NONLOCAL => What::Memory(Space::NonLocal),
            AubTraceBlockAddressSpace::PCI => What::Memory(Space::Pci),
            AubTraceBlockAddressSpace::GTT_ENTRY => {
                let size = if head.dwords == SHORT_TRACE_BLOCK { 4 } else { 8 };
                entry_number(position, AubTraceBlock::NAME, address, bytes, size)?;
                What::Entries { bytes: size }
            }
            other => {
                let problem = "0 GTT, 1 local, 2 non-local, 3 PCI or 4 GTT entries is needed";
                return Err(wrong("Address Space", other.bits(), problem));
            }
        },
        AubTraceBlockOperation::COMMAND_WRITE => {
            if bytes > MAX_COMMANDS as u64 {
                return Err(wrong("Size bytes", bytes, "no ring has more than 2 MiB"));
            }
            match trace.type_of_data.get() {
                2 => What::Commands(EngineId::Render),
                3 => What::Commands(EngineId::Video),
                4 => What::Commands(EngineId::Blitter),
                other => {
                    let problem = "the rings that are known are 2 render, 3 video and 4 blitter";
                    return Err(wrong("Type of Data", other, problem));
                }
            }
        }
        AubTraceBlockOperation::MMIO_WRITE => What::Registers,
        other => {
            let problem = "0 comment, 1 data, 2 commands or 3 registers is needed";
            return Err(wrong("Operation", other.bits(), problem));
        }
    };
    Ok(Rest { position, what, address, bytes })
}

/// The number of the first entry of the global page table that is written.
fn entry_number(
    position: u64,
    block: &'static str,
    address: u64,
    bytes: u64,
    size: u64,
) -> Result<u64, AubError> {
    let wrong = |field, value| AubError::Field {
        position,
        block,
        field,
        value,
        problem: "page table entries are written whole",
    };
    match (address % size, bytes % size) {
        (0, 0) => Ok(address / size),
        (0, _) => Err(wrong("Size bytes", bytes)),
        _ => Err(wrong("Address", address)),
    }
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn address_in(space: Space, address: u64) -> u64 {
    if space == Space::Global { address & ADDRESS_MASK } else { address }
}

/// Text up to its first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The number in `PCI-ID=0x1616 ...`, and what follows.
fn pci_id(text: &str) -> Option<(u32, &str)> {
    let rest = text.strip_prefix("PCI-ID=")?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    let id = match number.strip_prefix("0x").or(number.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    Some((id.ok()?, rest))
}
