//! Reads blocks one by one.

use super::input::{Compression, decompress};
use super::{AubError, Block, Event, Header, Kind, Space};
use crate::engine::EngineId;
use crate::gen8::aub::{
    AubDumpBitmap, AubHeader, AubTraceBlock, AubTraceBlockAddressSpace, AubTraceBlockOperation,
    MemTraceMemoryPoll, MemTraceMemoryWrite, MemTraceMemoryWriteAddressSpace, MemTraceRegisterPoll,
    MemTraceRegisterPollRegisterSize, MemTraceRegisterPollRegisterSpace, MemTraceRegisterWrite,
    MemTraceVersion,
};
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

/// The kind of data in a classic block.
#[derive(Clone, Copy)]
enum What {
    Memory(Space),
    Entries { bytes: u64 },
    Registers,
    Commands(EngineId),
    Comment,
}

/// The fields of a block's first dword, which all kinds of blocks share.
struct Head {
    opcode: u64,
    sub_opcode: u64,
    /// Dwords of the block, without the data of classic trace blocks.
    dwords: usize,
}

/// Opcodes, type and sub-opcodes of blocks, taken from the specification's defaults.
const CLASSIC: u64 = AubHeader::new().opcode.get();
const MEMORY_TRACE: u64 = MemTraceVersion::new().opcode.get();
const BLOCK_TYPE: u64 = AubHeader::new().type_.get();
const HEADER: u64 = AubHeader::new().sub_opcode.get();
const TRACE_BLOCK: u64 = AubTraceBlock::new().sub_opcode.get();
const BITMAP: u64 = AubDumpBitmap::new().sub_opcode.get();
const VERSION: u64 = MemTraceVersion::new().sub_opcode.get();
const MEMORY_WRITE: u64 = MemTraceMemoryWrite::new().sub_opcode.get();
const REGISTER_WRITE: u64 = MemTraceRegisterWrite::new().sub_opcode.get();
const REGISTER_POLL: u64 = MemTraceRegisterPoll::new().sub_opcode.get();
const MEMORY_POLL: u64 = MemTraceMemoryPoll::new().sub_opcode.get();

/// Dwords of a trace block's head before Gen8, which lacks Address high.
const SHORT_TRACE_BLOCK: usize = AubTraceBlock::DWORDS - 1;

impl Head {
    fn of(dword: u32) -> Option<Head> {
        let head = MemTraceMemoryPoll::unpack_lossy(&[dword]);
        let (opcode, length) = (head.opcode.get(), head.length.get() as usize);
        let bias = match opcode {
            CLASSIC => 2,
            MEMORY_TRACE => 1,
            _ => return None,
        };
        let sub_opcode = head.sub_opcode.get();
        (head.type_.get() == BLOCK_TYPE).then_some(Head {
            opcode,
            sub_opcode,
            dwords: length + bias,
        })
    }

    fn name(&self) -> &'static str {
        match (self.opcode, self.sub_opcode) {
            (CLASSIC, HEADER) => AubHeader::NAME,
            (CLASSIC, TRACE_BLOCK) => AubTraceBlock::NAME,
            (CLASSIC, BITMAP) => AubDumpBitmap::NAME,
            (MEMORY_TRACE, VERSION) => MemTraceVersion::NAME,
            (MEMORY_TRACE, MEMORY_WRITE) => MemTraceMemoryWrite::NAME,
            (MEMORY_TRACE, REGISTER_WRITE) => MemTraceRegisterWrite::NAME,
            (MEMORY_TRACE, REGISTER_POLL) => MemTraceRegisterPoll::NAME,
            (MEMORY_TRACE, MEMORY_POLL) => MemTraceMemoryPoll::NAME,
            _ => "unknown",
        }
    }
}

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
        match self.read() {
            Ok(None) => Ok(None),
            Err(error) => Err(error),
            Ok(Some((position, found))) => {
                self.done = false;
                Ok(Some(Block { position, event: self.event(found) }))
            }
        }
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
            let block = head.name();
            let needed = head.dwords as u64 * 4;
            let available = 4 + self.append(head.dwords.saturating_sub(1))? as u64;
            if available < needed {
                return Err(AubError::Cut { position, block, needed, available });
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
        let block = head.name();
        let wrong =
            |field, value, problem| AubError::Field { position, block, field, value, problem };
        Ok(Some(match (head.opcode, head.sub_opcode) {
            (CLASSIC, HEADER) => {
                let header = AubHeader::unpack_lossy(&self.fixed(position, head)?);
                let comment = bytemuck::cast_slice::<u32, u8>(&self.buffer[AubHeader::DWORDS..]);
                let comment = &comment[..comment.len().min(header.comment_length.get() as usize)];
                let name = header.application_name.map(|character| character.get() as u8);
                Found::Header(Header {
                    kind: Kind::Classic,
                    version: (header.major.get() as u32, header.minor.get() as u32),
                    device: None,
                    pci_id: pci_id(&text(comment)).map(|(id, _)| id),
                    application: text(&name),
                })
            }
            (CLASSIC, BITMAP) => {
                Found::Bitmap(AubDumpBitmap::unpack_lossy(&self.fixed(position, head)?))
            }
            (CLASSIC, TRACE_BLOCK) => {
                if self.buffer.len() == SHORT_TRACE_BLOCK {
                    self.buffer.push(0);
                }
                let trace = AubTraceBlock::unpack_lossy(&self.fixed(position, head)?);
                self.rest = Some(trace_block(position, head, &trace)?);
                return Ok(None);
            }
            (MEMORY_TRACE, VERSION) => {
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
            (MEMORY_TRACE, MEMORY_WRITE) => self.memory_write(position, head)?,
            (MEMORY_TRACE, REGISTER_WRITE | REGISTER_POLL) => {
                // Both kinds of blocks have the same fields.
                let register = MemTraceRegisterPoll::unpack_lossy(&self.fixed(position, head)?);
                if register.register_space != MemTraceRegisterPollRegisterSpace::MMIO {
                    let problem = "only the MMIO space, 0, is known";
                    return Err(wrong("Register Space", register.register_space.bits(), problem));
                }
                if register.register_size != MemTraceRegisterPollRegisterSize::DWORD {
                    let problem = "only dwords, 2, are known";
                    return Err(wrong("Register Size", register.register_size.bits(), problem));
                }
                Found::Register {
                    poll: head.sub_opcode == REGISTER_POLL,
                    offset: register.register_offset.get() as u32,
                    mask: register.mask_low.get() as u32,
                    value: register.value.get() as u32,
                }
            }
            (MEMORY_TRACE, MEMORY_POLL) => Found::MemoryPoll,
            (opcode, sub_opcode) => {
                Found::Other { opcode: opcode as u8, sub_opcode: sub_opcode as u8 }
            }
        }))
    }

    /// Parses a block of a memory trace that writes memory.
    fn memory_write(&mut self, position: u64, head: &Head) -> Result<Found, AubError> {
        let block = head.name();
        let wrong =
            |field, value, problem| AubError::Field { position, block, field, value, problem };
        let write = MemTraceMemoryWrite::unpack_lossy(&self.fixed(position, head)?);
        let (address, size) = (write.address.get(), write.size_bytes.get());
        let data = self.buffer.len() - MemTraceMemoryWrite::DWORDS;
        if size > data as u64 * 4 {
            return Err(wrong("Size bytes", size, "there are fewer in the block, by its Length"));
        }
        let space = match write.address_space {
            MemTraceMemoryWriteAddressSpace::GGTT => Space::Global,
            MemTraceMemoryWriteAddressSpace::LOCAL => Space::Local,
            MemTraceMemoryWriteAddressSpace::PHYSICAL => Space::Physical,
            MemTraceMemoryWriteAddressSpace::GGTT_ENTRY => {
                let first = entry_number(position, block, address, size, 8)?;
                let bytes = &self.buffer[MemTraceMemoryWrite::DWORDS..][..size as usize / 4];
                self.entries.clear();
                self.entries.extend(bytes.as_chunks().0.iter().map(|&[low, high]| join(low, high)));
                return Ok(Found::Entries(first));
            }
            other => {
                let problem = "0 GGTT, 1 local, 2 physical or 4 GGTT entries is needed";
                return Err(wrong("Address Space", other.bits(), problem));
            }
        };
        Ok(Found::Memory {
            space,
            address: address_in(space, address),
            start: MemTraceMemoryWrite::DWORDS,
            bytes: size as usize,
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
                poll: false,
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
    fn event(&self, found: Found) -> Event<'_> {
        match found {
            Found::Header(header) => Event::Header(header),
            Found::Memory { space, address, start, bytes } => {
                let data: &[u8] = bytemuck::cast_slice(&self.buffer[start..]);
                Event::Memory { space, address, bytes: &data[..bytes] }
            }
            Found::Entries(first) => Event::GlobalEntries { first, entries: &self.entries },
            Found::Register { poll: false, offset, mask, value } => {
                Event::RegisterWrite { offset, mask, value }
            }
            Found::Register { poll: true, offset, mask, value } => {
                Event::RegisterPoll { offset, mask, value }
            }
            Found::MemoryPoll => Event::MemoryPoll { dwords: &self.buffer },
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
    Register { poll: bool, offset: u32, mask: u32, value: u32 },
    MemoryPoll,
    Commands { engine: EngineId, address: u64 },
    Comment,
    Bitmap(AubDumpBitmap),
    Other { opcode: u8, sub_opcode: u8 },
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
