//! Batches and heaps: their contents are at the expected positions, and errors are reported.

mod chain;
mod follow;
mod heap;
mod jump;
mod kernels;
mod packets;
mod reloc;
mod stage;
mod submit;

use genxml::batch::Buffer;

/// The dwords of a buffer.
fn dwords(buffer: &Buffer) -> Vec<u32> {
    buffer.bytes().as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}
