//! AUB files: recordings for GPU simulators, written by drivers and their tools. They contain
//! writes to memory, page tables and registers in order, and the commands that start the engines.
//!
//! There are two kinds: the *classic* one writes memory through the global page table and puts
//! commands into a ring; the *memory trace* writes physical memory, page tables, context images and
//! registers, as a kernel driver does. Mesa's intel_dump_gpu writes memory traces, and so does
//! Intel's OpenCL and Level Zero runtime (aub_stream). [`Reader`] reads both kinds, plain or
//! compressed by xz, gzip or zstd, as a stream of [`Event`]s.
//!
//! ```no_run
//! use genxml::aub::{Event, Reader};
//!
//! let mut reader = Reader::open("saxpy.aub.xz")?;
//! while let Some(block) = reader.next_block()? {
//!     if let Event::RegisterWrite { offset, value, .. } = block.event {
//!         println!("{:#x}: register {offset:#x} = {value:#x}", block.position);
//!     }
//! }
//! # Ok::<(), genxml::aub::AubError>(())
//! ```
//!
//! [`submissions`] passes the work of the engines to a decoder, with memory as it was at that time.
//! [`Writer`] writes blocks, and [`Recorder`] whole submissions. [`from_capture`] writes a capture
//! as an AUB file, and [`to_capture`] converts in the other direction.
//!
//! Facts: gen8_facts 1.5; Mesa's tools/aub_read.c and aub_write.c; Intel's compute-runtime,
//! aub_services.h and aub_mem_dump.h.

mod capture;
mod contents;
mod error_state;
mod image;
mod input;
mod kinds;
mod notes;
mod play;
mod reader;
mod recorder;
mod ring;
mod submissions;
mod tables;
mod view;
mod writer;

pub use capture::{from_capture, to_capture};
pub use contents::Contents;
pub use error_state::{Recorded, from_error_state, to_error_state};
pub use image::{MAX_MEMORY, Translation, mapped};
pub(crate) use input::decompress;
pub use input::{Compression, DecompressError, MAX_DICTIONARY, decompressed};
pub use reader::{CHUNK, MAX_COMMANDS, Reader, starts};
pub use recorder::Recorder;
pub use submissions::submissions;
pub(crate) use submissions::submissions_of;
pub use writer::Writer;

use crate::engine::EngineId;
use crate::error_state::Platform;
use crate::gen8::aub::{AubDumpBitmap, MemTraceVersionDevice};
use std::io;
use std::path::PathBuf;

/// A block of a file, or a piece of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<'a> {
    /// Where the block starts, in bytes of the decompressed file.
    pub position: u64,
    /// Contents of the block or piece.
    pub event: Event<'a>,
}

/// The contents of a block. Data are borrowed from the reader until the next block is read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The head of the file.
    Header(Header),
    /// Bytes for memory. Data of a classic block come in pieces of at most [`CHUNK`] bytes, at
    /// ascending addresses.
    Memory {
        /// The address space of `address`.
        space: Space,
        /// Address of the first byte. Global addresses are cut to 48 bits, because files contain
        /// them in canonical (sign-extended) form.
        address: u64,
        /// The bytes to be written.
        bytes: &'a [u8],
    },
    /// Entries of the global page table.
    GlobalEntries {
        /// Number of the first entry, which maps the page at address 4096 * `first`.
        first: u64,
        /// The entries, each as 64 bits. Entries of 4 bytes, in files for GPUs before Gen8, are
        /// extended with zeros.
        entries: &'a [u64],
    },
    /// A register is written.
    RegisterWrite {
        /// Byte offset in the MMIO space.
        offset: u32,
        /// Bits that are written.
        mask: u32,
        /// The value that is written.
        value: u32,
    },
    /// The simulator waits until a register has a value.
    RegisterPoll {
        /// Byte offset in the MMIO space.
        offset: u32,
        /// Bits that are compared.
        mask: u32,
        /// The value that these bits must get, or must not have if `equal` is false.
        value: u32,
        /// True if the simulator waits for `value`, false if it waits for another value.
        equal: bool,
    },
    /// The simulator waits until memory has a value (memory trace).
    MemoryPoll {
        /// The address space of `address`.
        space: Space,
        /// Address of the first byte.
        address: u64,
        /// Number of bytes that are read: 1, 2, 4 or 8.
        size: u8,
        /// Bits that are compared.
        mask: u64,
        /// The value that these bits must get, or must not have if `equal` is false.
        value: u64,
        /// True if the simulator waits for `value`, false if it waits for another value.
        equal: bool,
    },
    /// The file states the value of a register (memory trace).
    RegisterCompare {
        /// Byte offset in the MMIO space.
        offset: u32,
        /// Bits that are compared.
        mask: u32,
        /// The value of these bits.
        value: u32,
    },
    /// The file states the contents of memory (memory trace).
    MemoryCompare {
        /// The address space of `address`.
        space: Space,
        /// Address of the first byte.
        address: u64,
        /// The bytes that memory must have, or must not have if `equal` is false.
        bytes: &'a [u8],
        /// True if memory must have `bytes`, false if it must differ from them.
        equal: bool,
    },
    /// Commands put into a ring, to be executed at once (classic).
    Commands {
        /// The engine that executes the commands.
        engine: EngineId,
        /// Global address of the ring's memory.
        address: u64,
        /// The commands.
        bytes: &'a [u8],
    },
    /// A remark of the program. In a classic file, in pieces if it is longer than [`CHUNK`].
    Comment(&'a str),
    /// A request for a picture of a surface (classic).
    Bitmap(AubDumpBitmap),
    /// A block of a documented kind that is neither of the above. It changes neither memory nor
    /// registers, or no source describes its effect.
    Named {
        /// Name of the kind of block in the specification.
        block: &'static str,
        /// Why the reader cannot use the block; `None` if the block has no effect on memory,
        /// registers and engines.
        why: Option<&'static str>,
        /// All dwords of the block.
        dwords: &'a [u32],
    },
    /// A block whose opcode is documented and whose sub-opcode is not.
    Other {
        /// Opcode of the block: 1 in classic files, 0x2e in memory traces.
        opcode: u8,
        /// Sub-opcode of the block.
        sub_opcode: u8,
        /// All dwords of the block.
        dwords: &'a [u32],
    },
}

/// The head of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the file.
    pub kind: Kind,
    /// Version: major and minor in a classic file; the single number of a memory trace, and 0.
    pub version: (u32, u32),
    /// The GPU to simulate (memory trace).
    pub device: Option<MemTraceVersionDevice>,
    /// PCI device id, from the text `PCI-ID=` that Mesa's and IGT's tools write.
    pub pci_id: Option<u32>,
    /// The program that was recorded; empty if the file does not say.
    pub application: String,
}

impl Header {
    /// The GPU as the file names it, for messages: `SKL (device 12)`, `PCI id 0x1912`.
    pub fn gpu(&self) -> String {
        let device = self.device.filter(|device| device.bits() != 0).map(|device| {
            let name = device.name().unwrap_or("another GPU");
            format!("{name} (device {})", device.bits())
        });
        let id = self.pci_id.map(|id| format!("PCI id {id:#06x}"));
        let names: Vec<String> = device.into_iter().chain(id).collect();
        if names.is_empty() { "a GPU without a name".into() } else { names.join(", ") }
    }

    /// The GPU, if the file names one that is known.
    pub fn platform(&self) -> Option<Platform> {
        let named = || {
            let short = self.device?.name()?;
            let (_, kernel) = DEVICES.iter().find(|(known, _)| *known == short)?;
            Platform::of_name(kernel)
        };
        named().or_else(|| self.pci_id.and_then(Platform::of_pci_id))
    }

    /// Whether the file is for a GPU of Gen8 (Broadwell or Cherryview); `None` if it does not say.
    pub fn is_gen8(&self) -> Option<bool> {
        let says = self.pci_id.is_some() || self.device.is_some_and(|device| device.bits() != 0);
        says.then(|| self.platform().is_some_and(|platform| platform.is_described()))
    }
}

/// The kernel's names of the GPUs whose short names AUB files have.
const DEVICES: &[(&str, &str)] = &[
    ("BDW", "BROADWELL"),
    ("CHV", "CHERRYVIEW"),
    ("SKL", "SKYLAKE"),
    ("BXT", "BROXTON"),
    ("KBL", "KABYLAKE"),
    ("GLK", "GEMINILAKE"),
    ("CFL", "COFFEELAKE"),
    ("CNL", "CANNONLAKE"),
    ("ICL", "ICELAKE"),
    ("ICLLP", "ICELAKE"),
    ("EHL", "ELKHARTLAKE"),
    ("TGL", "TIGERLAKE"),
    ("TGLLP", "TIGERLAKE"),
    ("RKL", "ROCKETLAKE"),
    ("DG1", "DG1"),
    ("ADLS", "ALDERLAKE_S"),
    ("ADLP", "ALDERLAKE_P"),
    ("DG2", "DG2"),
    ("MTL", "METEORLAKE"),
];

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Commands to rings, memory through the global page table.
    Classic,
    /// The file has writes of physical memory and of registers.
    MemoryTrace,
}

/// The address space of a memory block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Memory that the global page table (GGTT) maps.
    Global,
    /// Physical memory of the system. In a memory trace, also the page tables of contexts.
    Physical,
    /// Memory of a graphics card, by physical address; Gen8 has none.
    Local,
    /// Memory that is not local (classic); no source documents which memory.
    NonLocal,
    /// The configuration space of the PCI bus (classic).
    Pci,
}

/// Why a file, or the rest of a file, cannot be read.
#[derive(thiserror::Error)]
pub enum AubError {
    /// The file cannot be opened.
    #[error("{}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file is not an AUB file.
    #[error(
        "not an AUB file: it starts with {}; such a file starts with `.. .. 85 e0` or `.. .. 0e f7`",
        Start(start)
    )]
    NotAub {
        /// The first bytes of the file, at most four.
        start: Vec<u8>,
    },
    /// Reading or decompressing failed. If it was decompressing, the inner error of `source` is a
    /// [`DecompressError`].
    #[error("byte {position:#x} of AUB data: the file cannot be read further: {source}")]
    Read {
        /// Bytes of the decompressed file that were read.
        position: u64,
        /// How the file is compressed.
        compression: Compression,
        /// The underlying error.
        source: io::Error,
    },
    /// The file ends inside a block.
    #[error(
        "byte {position:#x}: the file ends inside a {block} block, which needs {needed} bytes and has {available}; everything before it was read. Was the program that wrote it stopped early?"
    )]
    Cut {
        /// Where the block starts.
        position: u64,
        /// Name of the kind of block.
        block: &'static str,
        /// Bytes that it should have, as far as they are known.
        needed: u64,
        /// Bytes of the block that the file has.
        available: u64,
    },
    /// A dword that does not start a block.
    #[error(
        "byte {position:#x}: {header:#010x} does not start an AUB block: the file is damaged, or the block before has a wrong length"
    )]
    Unknown {
        /// Position of the dword in bytes.
        position: u64,
        /// The dword that should start a block.
        header: u32,
    },
    /// A field of a block has an invalid value.
    #[error("byte {position:#x}: {block}: {field} = {value:#x}: {problem}")]
    Field {
        /// Where the block starts.
        position: u64,
        /// Name of the kind of block.
        block: &'static str,
        /// Name of the field.
        field: &'static str,
        /// Value of the field.
        value: u64,
        /// The problem, or the valid values.
        problem: &'static str,
    },
}

genxml_core::debug_as_display!(AubError);

/// Formats the first bytes of a file for `AubError::NotAub`.
struct Start<'a>(&'a [u8]);

impl std::fmt::Display for Start<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing (it is empty)");
        }
        f.write_str("the bytes")?;
        self.0.iter().try_for_each(|byte| write!(f, " {byte:02x}"))
    }
}
