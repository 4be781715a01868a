//! Colour transparency: a range of colours selects the pixels that are written.

use super::depth::Depth;
use genxml::gen8::blitter::BlitTransparencyMode;

/// A range of colours, and how pixels are compared with it (BR00 Transparency Range Mode, 2d p.44,
/// 45).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// If true, the pixels of the destination are compared, and pixels inside the range are
    /// written. If false, the pixels of the source are compared (or of the pattern, if the command
    /// has no source), and pixels outside the range are written.
    pub by_destination: bool,
    /// Bits of each channel, alpha last; 0 if a channel is not compared.
    channels: [u32; 4],
    /// Bounds of each channel; both are inside the range.
    low: [u32; 4],
    high: [u32; 4],
}

impl Key {
    /// The key of a packet; `None` if its mode does not compare pixels.
    pub fn new(mode: BlitTransparencyMode, low: u32, high: u32, depth: Depth) -> Option<Self> {
        let (by_destination, alpha) = match mode {
            BlitTransparencyMode::SOURCE_COLOR => (false, 0),
            BlitTransparencyMode::SOURCE_AND_ALPHA => (false, depth.alpha()),
            BlitTransparencyMode::DEST_AND_ALPHA => (true, depth.alpha()),
            BlitTransparencyMode::DEST_COLOR => (true, 0),
            _ => return None,
        };
        let [red, green, blue] = depth.colors();
        let channels = [red, green, blue, alpha];
        let (low, high) = (channels.map(|bits| low & bits), channels.map(|bits| high & bits));
        Some(Key { by_destination, channels, low, high })
    }

    /// Clears the bytes of `mask` for pixels that are not written. `pixels` are the pixels to
    /// compare.
    pub(super) fn apply(&self, depth: Depth, pixels: &[u8], mask: &mut [u8]) {
        match depth.bytes() {
            1 => self.each::<1>(pixels, mask),
            2 => self.each::<2>(pixels, mask),
            _ => self.each::<4>(pixels, mask),
        }
    }

    fn each<const SIZE: usize>(&self, pixels: &[u8], mask: &mut [u8]) {
        let (pixels, _) = pixels.as_chunks::<SIZE>();
        let (masks, _) = mask.as_chunks_mut::<SIZE>();
        for (pixel, mask) in pixels.iter().zip(masks) {
            let mut value = [0; 4];
            value[..SIZE].copy_from_slice(pixel);
            let value = u32::from_le_bytes(value);
            let mut inside = true;
            for channel in 0..4 {
                let part = value & self.channels[channel];
                inside &= (self.low[channel] <= part) & (part <= self.high[channel]);
            }
            let keep = 0u8.wrapping_sub(u8::from(inside == self.by_destination));
            for byte in mask {
                *byte &= keep;
            }
        }
    }
}
