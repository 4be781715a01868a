//! The decoder of MPEG-2.

mod corpus;
mod encode;
mod encoder;
mod front;
mod generated;
mod mutations;
mod software;
mod transform;

/// Decodes a file. Returns the number of frames.
#[allow(dead_code, reason = "the benchmark uses it")]
pub fn play(file: &[u8]) -> usize {
    let sequence = front::parse(file);
    let mut count = 0;
    sequence.decode(file, |_, _| count += 1);
    count
}
