//! Reading batches: an iterator over typed packets for each engine, and bytes as dwords.
//!
//! ```
//! use genxml::gen8::{RenderPacket, mi::PipeControl};
//! use genxml::read;
//!
//! // A dump: a flush, two dwords that are not a command, the end.
//! let mut dump = Vec::new();
//! let flush = PipeControl { dc_flush_enable: true, ..Default::default() };
//! for dword in flush.pack() {
//!     dump.extend_from_slice(&dword.to_le_bytes());
//! }
//! dump.extend_from_slice(&0x7fff_0000u32.to_le_bytes());
//! dump.extend_from_slice(&0u32.to_le_bytes());
//! dump.extend_from_slice(&0x0500_0000u32.to_le_bytes());
//!
//! let dwords = read::dwords(&dump)?;
//! let mut lines = Vec::new();
//! for item in RenderPacket::iter(&dwords) {
//!     match item {
//!         Ok(item) => match item.packet {
//!             RenderPacket::PipeControl(flush) => {
//!                 lines.push(format!("+{:#x} flushes data: {}", item.offset(), flush.unpack()?.dc_flush_enable));
//!             }
//!             RenderPacket::MiBatchBufferEnd(_) => break,
//!             other => lines.push(other.info().name.to_string()),
//!         },
//!         Err(error) => lines.push(error.to_string()),
//!     }
//! }
//! assert_eq!(lines, [
//!     "+0x0 flushes data: true",
//!     "batch +0x18: no instruction of this engine starts with 0x7fff0000; 2 dwords skipped",
//! ]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each variant holds a [`Lazy`]: nothing is decoded before `unpack` (every bit is checked) or
//! `unpack_lossy` (as hardware reads it). With [`Packets::strict`] the iterator itself checks every
//! bit. Dwords that are not a packet give a [`ReadError`] with their position and the number of
//! dwords skipped. Jumps are not followed; the decoder ([`decode`](crate::decode)) follows them.

use alloc::borrow::Cow;
pub use genxml_core::read::{Codec, EnginePacket, Item, Lazy, Packets, ReadError, Untyped};

/// Bytes that are not a whole number of dwords.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} bytes are not whole dwords: after {} whole dwords, {} {} left",
    bytes / 4,
    bytes % 4,
    if bytes % 4 == 1 { "byte is" } else { "bytes are" }
)]
pub struct NotDwords {
    /// Number of bytes.
    pub bytes: usize,
}

genxml_core::debug_as_display!(NotDwords);

/// Little-endian bytes, aligned in memory or not, as dwords: borrowed if they are aligned on a
/// little-endian machine, otherwise copied.
///
/// # Errors
/// [`NotDwords`] if their number is not a multiple of four.
pub fn dwords(bytes: &[u8]) -> Result<Cow<'_, [u32]>, NotDwords> {
    let (chunks, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(NotDwords { bytes: bytes.len() });
    }
    match bytemuck::try_cast_slice(bytes) {
        Ok(dwords) if cfg!(target_endian = "little") => Ok(Cow::Borrowed(dwords)),
        _ => Ok(Cow::Owned(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect())),
    }
}
