//! Captures: the submissions of a program to the GPU, and the contents of memory afterwards.
//!
//! A capture is a directory of format `genx-capture-1`: `manifest.json` lists events in order, the
//! data file that it names (`data.bin.zst`) holds the bytes. [`Capture::open`] checks everything
//! that can be checked without a GPU, so that users of a [`Capture`] need not check again: every
//! write lies inside its object and takes its bytes from inside the data file, objects of a
//! submission do not overlap, the batch starts inside an object, and expectations name objects that
//! exist at that point.
//!
//! * [`Capture`], [`Event`]: what was recorded
//! * [`Playback`]: the bytes of every object at each submission
//! * [`Data`]: the decompressed data file
//! * [`Expectation::compare`]: compares memory with what is expected
//! * [`CaptureWriter`]: writes the format

mod compare;
mod data;
mod load;
mod manifest;
mod playback;
mod writer;

pub use compare::{Found, Mismatch};
pub use data::Data;
pub use playback::{ExecMemory, Playback};
pub use writer::{CaptureWriter, WriteObject, nonzero_ranges};

use crate::engine::EngineId;
use crate::submission::{Each, Source, Submission};
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Largest size in bytes of an object, and of the decompressed data file.
pub const MAX_BYTES: u64 = 4 << 30;

/// Largest sum of the bytes of all objects that exist at one time. The limit is high because
/// untouched pages need no memory, and drivers allocate objects of many gigabytes of which they use
/// little (an OpenCL program of hashcat has 19 GiB, with 300 KB of data).
pub const MAX_OBJECTS: u64 = 64 << 30;

/// Largest manifest in bytes.
pub const MAX_MANIFEST: u64 = 256 << 20;

/// Size of a GPU page in bytes. Objects start at a page boundary.
pub const PAGE: u64 = 4096;

/// Why a capture cannot be used. Every variant names the file; those about contents of the manifest
/// also name the line, and the field or column.
#[derive(thiserror::Error)]
pub enum CaptureError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The manifest is not JSON, or a field has another JSON type than the format says.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Json {
        /// The manifest.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the JSON reader says.
        message: String,
    },
    /// A field of the manifest has an invalid value.
    #[error("{}:{line}: {field} = {value}: {problem}", path.display())]
    Field {
        /// The manifest.
        path: PathBuf,
        /// Line of the event (or of the manifest's start), from 1.
        line: usize,
        /// Path of the field, `events[3].objects[0].size`.
        field: String,
        /// Value of the field.
        value: String,
        /// What is wrong with the value, or which values are valid.
        problem: String,
    },
    /// The data file cannot be decompressed or has another size than the manifest says.
    #[error("{}: {problem}", path.display())]
    Data {
        /// The data file.
        path: PathBuf,
        /// What is wrong with the file.
        problem: String,
    },
}

genxml_core::debug_as_display!(CaptureError);

/// A loaded capture.
#[derive(Debug, Clone)]
pub struct Capture {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) device: Device,
    pub(crate) events: Vec<Event>,
    pub(crate) objects: Vec<String>,
    pub(crate) data: Arc<Data>,
}

impl Capture {
    /// The directory that the capture was loaded from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the capture.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The device that the capture is for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The events, in order. Expectations and frames directly follow the submission that they are
    /// about.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The submissions, in order.
    pub fn execs(&self) -> impl Iterator<Item = &Exec> {
        self.events.iter().filter_map(|event| match event {
            Event::Exec(exec) => Some(exec),
            _ => None,
        })
    }

    /// The expectations, in order.
    pub fn expectations(&self) -> impl Iterator<Item = &Expectation> {
        self.events.iter().filter_map(|event| match event {
            Event::Expect(expectation) => Some(expectation),
            _ => None,
        })
    }

    /// Passes every submission to `each`, in order, with memory as it was at that time.
    ///
    /// # Errors
    /// Errors returned by `each`; the first one ends the iteration.
    pub fn submissions(&self, each: &mut Each<'_>) -> io::Result<()> {
        let mut playback = Playback::new(self);
        while let Some(event) = playback.step() {
            if let Event::Exec(exec) = event {
                each(&Submission {
                    name: &format!("{} exec {}", self.name(), exec.seq),
                    number: exec.seq,
                    context: exec.context,
                    engine: exec.engine,
                    memory: &playback.memory(exec),
                    address: exec.batch_address,
                    length: exec.batch_length,
                    global: false,
                    ring: None,
                })?;
            }
        }
        Ok(())
    }

    /// Number of distinct objects. The number in an [`ObjectId`] is less than this.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// The name (or number) of an object in the manifest.
    pub fn object_name(&self, object: ObjectId) -> &str {
        &self.objects[object.0 as usize]
    }

    /// The decompressed data file.
    pub fn data(&self) -> &Arc<Data> {
        &self.data
    }

    /// The bytes of a write. In a large capture they are not in memory, and are copied.
    pub fn bytes(&self, write: &Write) -> Cow<'_, [u8]> {
        self.data.bytes(write.data, write.length)
    }

    /// Applies a write to the bytes of its object, or of the range that is expected.
    ///
    /// # Panics
    /// If the write reaches beyond `bytes`.
    pub fn apply(&self, write: &Write, bytes: &mut [u8]) {
        self.data.read(write.data, &mut bytes[write.offset as usize..][..write.length as usize]);
    }
}

impl Source for &Capture {
    fn submissions(&mut self, each: &mut Each<'_>) -> io::Result<()> {
        Capture::submissions(self, each)
    }

    fn is_from_start(&self) -> bool {
        true
    }
}

/// The GPU that a capture is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// PCI device id.
    pub pci_id: u32,
    /// Generation; 8 is Broadwell.
    pub generation: u32,
}

/// An object of memory, by position in the capture's table of names ([`Capture::object_name`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// An event of a capture.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A batch was submitted.
    Exec(Exec),
    /// Memory is expected to hold these bytes now.
    Expect(Expectation),
    /// An image was displayed.
    Frame(Frame),
    /// An object was freed; a later object with the same name starts with zeros.
    Free(ObjectId),
}

/// One submission of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Exec {
    /// Sequence number; ascending in the capture.
    pub seq: u64,
    /// The hardware context; its state persists from submission to submission.
    pub context: u32,
    /// The engine that executes the batch.
    pub engine: EngineId,
    /// Address of the first dword of the batch, 48 bits, inside one of `objects`.
    pub batch_address: u64,
    /// Length in bytes, 0 if the batch runs to its MI_BATCH_BUFFER_END.
    pub batch_length: u64,
    /// Everything that is mapped during the submission.
    pub objects: Vec<ExecObject>,
}

/// An object as mapped by a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecObject {
    /// The object that is mapped.
    pub object: ObjectId,
    /// GPU address of the object: 48 bits, a multiple of [`PAGE`].
    pub address: u64,
    /// Size of the object in bytes.
    pub size: u64,
    /// Tiling, for information only: commands and surface states define the tiling of each access.
    pub tiling: Tiling,
    /// Bytes from one row to the next if tiled; information only.
    pub stride: u32,
    /// Writes of the program since the last submission that had the object; apply them in order.
    pub writes: Vec<Write>,
}

/// Layout of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tiling {
    /// Row after row.
    Linear,
    /// X-major tiles.
    X,
    /// Y-major tiles.
    Y,
}

/// Bytes to put into an object: `length` bytes of the data file from `data` on go to `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// Offset of the first byte in the object; for an expectation, in its range.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    /// Offset of the first byte in the data file.
    pub data: u64,
}

/// What an object must hold after a submission.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Name of the expectation, which is a valid file name.
    pub name: String,
    /// Sequence number of the submission.
    pub after_exec: u64,
    /// The object that is compared.
    pub object: ObjectId,
    /// Address of the object in that submission, or the last earlier one that had it.
    pub address: u64,
    /// Offset in the object of the first byte that is compared.
    pub offset: u64,
    /// Number of bytes that are compared.
    pub size: u64,
    /// Ranges (offset from `offset`, length) that may hold anything; ascending, disjoint.
    pub ignore: Vec<(u64, u64)>,
    /// How bytes are compared.
    pub compare: Compare,
    /// True if the last byte of each pixel is padding and is not compared: a frame of the same
    /// memory has a format with X instead of alpha (`XR24`), and the X byte is never displayed.
    pub padding: bool,
    /// The expected bytes, written over zeros; offsets count from `offset`.
    pub writes: Vec<Write>,
}

/// How an expectation is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Compare {
    /// Every byte is as expected.
    Exact,
    /// Pixels of four 8-bit channels. A pixel is off if any channel differs by more than
    /// `max_abs_diff`. At most the fraction `outlier_fraction` of the pixels may be off.
    Rgba8 {
        /// Largest difference of a channel that is accepted.
        max_abs_diff: u8,
        /// Fraction of the pixels that may be off, 0 to 1.
        outlier_fraction: f64,
    },
}

/// An image that was displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Number of the frame.
    pub index: u64,
    /// Sequence number of the submission after which the image was displayed.
    pub after_exec: u64,
    /// The object that holds the image.
    pub object: ObjectId,
    /// Offset in bytes of the image in the object.
    pub offset: u64,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Pixel format as DRM names it, `XR24`.
    pub fourcc: String,
    /// Layout of the image.
    pub tiling: Tiling,
}
