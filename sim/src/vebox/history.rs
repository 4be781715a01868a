//! The STMM surface: measures of motion and noise that the engine keeps from frame to frame.
//!
//! A block of 16x4 pixels has 64 bytes (digests/video.md 12.7). The order of blocks is a choice
//! (assumption `VEBOX_HISTORY_HAS_OWN_ORDER`).

/// Bytes of a block.
const BLOCK: usize = 64;

/// The contents of an STMM surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// Blocks in a row.
    blocks: usize,
    /// The bytes, block after block.
    pub bytes: Vec<u8>,
}

/// What a byte of noise history belongs to: a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Luma.
    Y = 0,
    /// Blue difference.
    U = 1,
    /// Red difference.
    V = 2,
}

impl History {
    /// Bytes of the surface of a frame.
    pub fn size(width: usize, height: usize) -> usize {
        width.div_ceil(16) * height.div_ceil(4) * BLOCK
    }

    /// The surface of a frame of this width. `bytes` has [`size`](Self::size) bytes.
    pub fn new(width: usize, bytes: Vec<u8>) -> History {
        History { blocks: width.div_ceil(16), bytes }
    }

    /// The byte for a pixel in row `row` of its block.
    fn index(&self, x: usize, y: usize, row: usize) -> usize {
        (y / 4 * self.blocks + x / 16) * BLOCK + row * 16 + x % 16 / 4 * 4
    }

    /// The motion measure of the pair of pixels that starts at column `x`.
    pub fn motion(&mut self, x: usize, y: usize) -> &mut u8 {
        let index = self.index(x, y, y % 4) + x % 4 / 2;
        &mut self.bytes[index]
    }

    /// The noise history of the 4x4 pixels at (`x`, `y`).
    pub fn noise(&mut self, channel: Channel, x: usize, y: usize) -> &mut u8 {
        let index = self.index(x, y, channel as usize) + 2;
        &mut self.bytes[index]
    }
}

#[cfg(test)]
mod tests {
    use super::{Channel, History};

    /// Each measure has a byte of its own.
    #[test]
    fn bytes_are_distinct() {
        let (width, height) = (36, 10);
        let bytes = vec![0; History::size(width, height)];
        let mut history = History::new(width, bytes);
        for y in 0..height {
            for x in (0..width).step_by(2) {
                *history.motion(x, y) += 1;
            }
        }
        for y in (0..height).step_by(4) {
            for x in (0..width).step_by(4) {
                for channel in [Channel::Y, Channel::U, Channel::V] {
                    *history.noise(channel, x, y) += 1;
                }
            }
        }
        assert!(history.bytes.iter().all(|count| *count <= 1));
        let used: usize = history.bytes.iter().map(|count| usize::from(*count)).sum();
        assert_eq!(used, height * width / 2 + 3 * height.div_ceil(4) * width.div_ceil(4));
    }
}
