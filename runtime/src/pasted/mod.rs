//! Text pasted from bug reports, and other texts that describe batches.
//!
//! People copy dumps of hangs through mail programs, web pages, terminals and logs. [`repair`]
//! undoes what these programs do to a text, if this is unambiguous, and remembers where each
//! character comes from. [`batches`] reads texts that are not dumps of a kernel: batches that Mesa
//! prints, hex dumps, lists of dwords. [`encoded`] decodes files in base64.
//!
//! [`look`] decides from the first bytes of a text whether it needs a repair at all. A clean dump
//! is read without one.

mod base64;
mod batches;
mod hex_dump;
mod look;
mod mesa_batch;
mod position;
mod repair;
mod wrap;

pub use batches::{Batch, Batches, Pieces};
pub use hex_dump::Piece;
pub use look::{Look, look};
pub use position::Problem;
pub use repair::{Repaired, repair};

use crate::engine::EngineId;

/// Reads a text that describes batches: `INTEL_DEBUG=bat` of Mesa. `None` if it is another text.
pub fn batches(text: &str) -> Option<Result<Batches, Problem>> {
    mesa_batch::is_like(text).then(|| mesa_batch::read(text))
}

/// The memory of a hex dump or of a list of dwords: the address of the first byte and the bytes, in
/// pieces. `None` if the text is not one.
pub fn memory(text: &str) -> Option<Result<Vec<Piece>, Problem>> {
    hex_dump::read(text)
}

/// The bytes that a text of base64 stands for. `None` if the text is not base64.
pub fn encoded(text: &str) -> Option<Vec<u8>> {
    base64::read(text)
}

/// Memory as one batch for each piece, at `base` plus the address of the piece.
pub fn memory_as_batches(pieces: Vec<Piece>, engine: EngineId, base: u64) -> Batches {
    let batch = |(address, bytes): Piece| {
        let address = base.wrapping_add(address) & crate::memory::VA_MASK;
        let length = bytes.len() as u64;
        let memory = Pieces::one(address, bytes);
        let name = format!("dwords at {address:#x}");
        Batch { name, context: 0, engine, address, length, memory }
    };
    Batches(pieces.into_iter().map(batch).collect())
}

/// The first line of a text that is not empty, as a [`Problem`] that says what was expected.
pub fn unknown(text: &str) -> Problem {
    let mut lines = text.lines().enumerate();
    let found = lines.find(|(_, line)| !line.trim().is_empty());
    let (index, line) = found.unwrap_or_default();
    let shown: String = line.trim().chars().take(60).collect();
    let column = line.len() - line.trim_start().len();
    let what = format!(
        "`{shown}` begins no error state, device coredump, Mesa batch, hex dump, list of dwords or \
         base64"
    );
    Problem::new(index as u64 + 1, column as u64 + 1, what)
}
