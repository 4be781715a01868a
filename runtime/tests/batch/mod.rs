//! Batches and heaps: what is put in comes out where it was said to be, and what is wrong is said.

mod chain;
mod follow;
mod heap;
mod jump;
mod packets;
mod reloc;
mod stage;
mod submit;

use genxml::batch::Buffer;

/// The dwords of a buffer.
fn dwords(buffer: &Buffer) -> Vec<u32> {
    buffer.bytes().as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}
