//! JPEG: files of the corpus, random files, and the transform.

mod corpus;
mod damage;
mod front;
mod random;
mod reference;
mod tables;
mod transform;

/// Decodes a file. Returns the number of frames.
#[allow(dead_code, reason = "the benchmark uses it")]
pub fn play(file: &[u8]) -> usize {
    front::read(file).map_or(0, |picture| {
        picture.decode(file);
        1
    })
}
