//! The decoder of H.264.

mod concealment;
mod container;
mod dpb;
mod encode;
mod encode_invalid;
mod front;
mod generate;
mod headers;
mod mutations;
mod order;
mod random_slices;
mod random_streams;
mod records;
mod short;
mod slice;
mod streams;

/// Decodes a file. Returns the number of frames.
#[allow(dead_code, reason = "the benchmark uses it")]
pub fn play(file: &[u8]) -> usize {
    let mut front = front::Front::default();
    match front.decode(&container::nal_units(file)) {
        Ok(()) => front.shown.len(),
        Err(_) => 0,
    }
}
