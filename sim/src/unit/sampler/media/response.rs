//! Responses of the media messages: blocks of pixels with 16 or 8 bits in each channel
//! (intel-graphics-compiler documentation/visa/instructions/AVS.md, video.md 11.3).

use super::picture::{BLUE, RED};
use crate::eu::regions::{REGISTER, Registers};
use genxml::eu::gen8::eu_payloads::{
    SamplerMessageHeader, SamplerMessageHeaderOutputFormatControl as Format,
};

/// Largest number of columns of a block.
pub const COLUMNS: usize = 16;
/// Largest number of rows of a block.
pub const ROWS: usize = 8;
/// Largest number of pixels of a block.
const PIXELS: usize = COLUMNS * ROWS;

/// Extent of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Number of columns.
    pub columns: usize,
    /// Number of rows.
    pub rows: usize,
}

impl Shape {
    /// The number of a pixel, in the order of rows.
    #[inline(always)]
    pub fn pixel(self, column: usize, row: usize) -> usize {
        row * self.columns + column
    }

    /// Number of pixels.
    pub fn pixels(self) -> usize {
        self.columns * self.rows
    }
}

/// The channels of the pixels of a block, in the order of rows. The unit is 1/65536; 1.0 of 8 bits
/// is 0xFF00.
#[derive(Clone, Copy, Debug)]
pub struct Block([[u16; PIXELS]; 4]);

impl Default for Block {
    fn default() -> Block {
        Block([[0; PIXELS]; 4])
    }
}

impl Block {
    /// Sets a channel of a pixel.
    #[inline(always)]
    pub fn set(&mut self, channel: usize, pixel: usize, value: u16) {
        self.0[channel][pixel] = value;
    }

    /// Sets a channel of all pixels.
    pub fn fill(&mut self, channel: usize, value: u16) {
        self.0[channel].fill(value);
    }
}

/// Which pixels and channels a response has, and how they are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    shape: Shape,
    /// Mask of the channels that are returned.
    pub channels: u8,
    /// Bytes of a channel: 2 or 1.
    bytes: usize,
    /// True if red and blue are returned of every second pixel only.
    halves: bool,
}

/// Number of pixels after which the next channel follows.
const PART: usize = 64;

impl Response {
    /// The response that the header of a message asks for.
    pub fn new(header: &SamplerMessageHeader, shape: Shape) -> Response {
        let absent = [
            header.red_write_channel_mask,
            header.green_write_channel_mask,
            header.blue_write_channel_mask,
            header.alpha_write_channel_mask,
        ];
        let format = header.output_format_control;
        Response {
            shape,
            channels: (0..4).fold(0, |mask, n| mask | u8::from(!absent[n]) << n),
            bytes: if matches!(format, Format::_16_BIT_FULL | Format::_16_BIT_DOWNSAMPLED) {
                2
            } else {
                1
            },
            halves: matches!(format, Format::_16_BIT_DOWNSAMPLED | Format::_8_BIT_DOWNSAMPLED),
        }
    }

    /// Number of registers.
    pub fn registers(&self) -> usize {
        let size: usize = (0..self.parts()).flat_map(|_| 0..4).map(|n| self.size(n)).sum();
        size.div_ceil(REGISTER)
    }

    /// Number of groups of 64 pixels.
    fn parts(&self) -> usize {
        self.shape.pixels().div_ceil(PART)
    }

    fn has(&self, channel: usize) -> bool {
        self.channels >> channel & 1 == 1
    }

    /// Distance between returned pixels of a channel.
    fn step(&self, channel: usize) -> usize {
        if self.halves && (channel == RED || channel == BLUE) { 2 } else { 1 }
    }

    /// Number of bytes of a channel in each part. Channels that the header masks have none. But if
    /// red and blue have half the pixels with 8 bits, and only one of them is masked, there is room
    /// for both.
    fn size(&self, channel: usize) -> usize {
        let room = self.bytes == 1 && self.step(channel) == 2 && (self.has(RED) || self.has(BLUE));
        match self.has(channel) || room {
            true => self.shape.pixels().min(PART) / self.step(channel) * self.bytes,
            false => 0,
        }
    }

    /// Writes the response to the registers from byte `to` on. The rest of the last register is not
    /// written.
    pub fn write(&self, registers: &mut Registers, to: usize, block: &Block) {
        let grf = registers.grf_mut();
        let mut at = to;
        for part in 0..self.parts() {
            for channel in 0..4 {
                let size = self.size(channel);
                if self.has(channel) {
                    let end = self.shape.pixels().min((part + 1) * PART);
                    let values =
                        block.0[channel][part * PART..end].iter().step_by(self.step(channel));
                    for (bytes, value) in
                        grf[at..at + size].chunks_exact_mut(self.bytes).zip(values)
                    {
                        match bytes {
                            [byte] => *byte = ((u32::from(*value) + 0x80) >> 8).min(0xff) as u8,
                            word => word.copy_from_slice(&value.to_le_bytes()),
                        }
                    }
                }
                at += size;
            }
        }
    }
}
