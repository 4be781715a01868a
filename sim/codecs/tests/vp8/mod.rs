//! The decoder of VP8.

mod container;
mod front;
mod generator;
mod mutation;
mod streams;
mod tables;

/// Decodes a file. Returns the number of frames.
#[allow(dead_code, reason = "the benchmark uses it")]
pub fn play(file: &[u8]) -> usize {
    let mut front = front::Front::new((0, 0));
    let mut count = 0;
    for data in container::frames(file) {
        let Some(picture) = front.parse(&data) else { break };
        count += usize::from(front.decode(&picture).is_ok());
    }
    count
}
