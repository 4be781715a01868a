//! How to open a dump, and why it cannot be opened.

use crate::capture::CaptureError;
use crate::engine::EngineId;
use crate::pasted::Problem;
use std::io;
use std::path::PathBuf;

/// How to read a file: properties that the file itself does not contain.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// Set if the file holds only the dwords of a batch, as bytes or as a hex dump: their engine,
    /// and the GPU address of the first dword.
    pub raw: Option<(EngineId, u64)>,
    /// Engine and address of the commands in a hex dump without `raw`; the render engine at 0 if
    /// not set.
    pub text: Option<(EngineId, u64)>,
}

/// Why a dump cannot be opened.
#[derive(thiserror::Error)]
pub enum DumpError {
    /// The file cannot be read or decompressed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A directory that is not a capture, or a damaged capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// A file of an unknown kind.
    #[error(
        "{}: {what}; an AUB file, an error state of i915 or a device coredump of xe, each plain or \
         compressed (gzip, xz, zstd) or pasted as text, a batch that Mesa prints \
         (INTEL_DEBUG=bat), a hex dump, or a capture directory can be read; for plain dwords use \
         --raw --engine E",
        path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
        /// A description of the contents.
        what: String,
    },
    /// A text that is damaged at a position, and cannot be repaired.
    #[error(
        "{}: line {}, column {}: {}",
        path.display(), problem.line, problem.column, problem.text
    )]
    Text {
        /// The file.
        path: PathBuf,
        /// What is damaged, and where.
        problem: Problem,
    },
}

genxml_core::debug_as_display!(DumpError);
