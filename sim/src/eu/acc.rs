//! Accumulators: two registers whose elements have more bits than those of a general register, and
//! the extensions that the division macros store with their intermediate results.
//!
//! An integer element has 33 bits for words and 64 bits for dwords and qwords, in two's complement
//! for signed and unsigned types (004:2634-2819). A float element has the bits of its type. A read
//! of integers returns all bits of an element if the last write was of integers of the same size.
//! Any other read returns only the bytes that fit the register.

use super::regions::ACC_FILE;
use super::soft::Extension;
use super::uop::{MAX_CHANNELS, Type};
use crate::assumptions::ACCUMULATOR_WORD_BITS;

/// Maximum number of elements of the two registers, reached when the elements are words.
const ELEMENTS: usize = ACC_FILE / 2;

/// `acc0` and `acc1`, and the extensions that are addressed as `acc2` to `acc9`.
#[derive(Clone)]
pub struct Accumulators {
    /// The element of s bytes at byte b is `elements[b / s]`. Floats are stored as bit patterns.
    elements: [i64; ELEMENTS],
    /// Size of an element in bytes.
    size: usize,
    /// True if the elements are complete integers, false if they are bit patterns.
    whole: bool,
    /// `mme0` to `mme7`: for each channel, the part of a result that does not fit the destination
    /// register. The format of these values in hardware is unknown; this one is the model's own.
    extensions: [[Extension; MAX_CHANNELS]; 8],
    /// True if an element or an extension was written since the last reset.
    touched: bool,
}

impl Default for Accumulators {
    fn default() -> Self {
        Accumulators {
            elements: [0; ELEMENTS],
            size: 4,
            whole: false,
            extensions: [[Extension { scale: 0, tail: 0 }; MAX_CHANNELS]; 8],
            touched: false,
        }
    }
}

impl Accumulators {
    /// Clears everything, for a new thread. Clearing is costly and most threads do not write
    /// accumulators, so this does nothing if nothing was written.
    pub fn reset(&mut self) {
        if self.touched {
            *self = Accumulators::default();
        }
    }

    /// The integer of type `ty` at byte `offset`. If the last write was of integers of the same
    /// size and `offset` is a multiple of this size, the result includes the element's extra bits.
    /// Otherwise the integer is read from the bytes of the registers.
    pub fn integer(&self, offset: usize, ty: Type) -> i128 {
        let size = ty.size();
        if self.whole && size == self.size && offset.is_multiple_of(size) {
            let value = self.elements[offset / size % (ACC_FILE / size)];
            // A qword has no extra bit for the sign.
            return if ty == Type::Uq { i128::from(value as u64) } else { i128::from(value) };
        }
        super::convert::integer(ty, self.bits(offset, size))
    }

    /// The bit pattern of the element of `size` bytes at byte `offset`.
    pub fn bits(&self, offset: usize, size: usize) -> u64 {
        if size == self.size && offset.is_multiple_of(size) {
            return self.elements[offset / size % (ACC_FILE / size)] as u64
                & u64::MAX >> (64 - 8 * size);
        }
        let bytes = self.bytes();
        (0..size).fold(0, |bits, n| bits | u64::from(bytes[(offset + n) % ACC_FILE]) << (8 * n))
    }

    /// Replaces the element of `size` bytes at byte `offset` by an integer. Bits of `value` that
    /// the element cannot hold are lost.
    pub fn set_integer(&mut self, offset: usize, size: usize, value: i128) {
        let unused = if size.max(2) == 2 { 64 - ACCUMULATOR_WORD_BITS } else { 0 };
        self.set(offset, size, true, (value as i64) << unused >> unused);
    }

    /// Replaces the element of `size` bytes at byte `offset` by a bit pattern.
    pub fn set_bits(&mut self, offset: usize, size: usize, bits: u64) {
        self.set(offset, size, false, bits as i64);
    }

    fn set(&mut self, offset: usize, size: usize, whole: bool, value: i64) {
        // An accumulator has no byte elements: a byte is stored as a word.
        let size = size.max(2);
        if size != self.size || whole != self.whole {
            let bytes = self.bytes();
            (self.size, self.whole) = (size, whole);
            for (element, bytes) in self.elements.iter_mut().zip(bytes.chunks_exact(size)) {
                let mut low = [0; 8];
                low[..size].copy_from_slice(bytes);
                // The extra bits of the old elements are lost: they become copies of the sign bit.
                let shift = 64 - 8 * size;
                *element = i64::from_le_bytes(low) << shift >> shift;
            }
        }
        self.elements[offset / size % (ACC_FILE / size)] = value;
        self.touched = true;
    }

    /// The bytes of the two registers, without extra bits.
    fn bytes(&self) -> [u8; ACC_FILE] {
        let mut bytes = [0; ACC_FILE];
        for (out, element) in bytes.chunks_exact_mut(self.size).zip(&self.elements) {
            out.copy_from_slice(&element.to_le_bytes()[..self.size]);
        }
        bytes
    }

    /// The extension of `channel` in `mme<selector>`. The default extension if `selector` is not
    /// below 8: then the operand has no extension.
    pub fn extension(&self, selector: u8, channel: usize) -> Extension {
        self.extensions
            .get(usize::from(selector))
            .map_or(Extension::default(), |channels| channels[channel])
    }

    /// Replaces the extension of `channel` in `mme<selector>`. Does nothing if `selector` is not
    /// below 8.
    pub fn set_extension(&mut self, selector: u8, channel: usize, extension: Extension) {
        if let Some(channels) = self.extensions.get_mut(usize::from(selector)) {
            channels[channel] = extension;
            self.touched = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: 004:2634-2819, the table of accumulator precision: 64 bits for dwords, 33 for words
    /// with bit 32 as the sign.
    #[test]
    fn elements_hold_more_than_their_type() {
        let mut acc = Accumulators::default();
        acc.set_integer(0, 4, 0x1_ffff_fffe);
        assert_eq!(acc.integer(0, Type::D), 0x1_ffff_fffe);
        assert_eq!(acc.bits(0, 2), 0xfffe);
        assert_eq!(acc.bits(2, 2), 0xffff);
        acc.set_integer(0, 4, (1 << 64) + 5);
        assert_eq!(acc.integer(0, Type::D), 5, "the 65th bit is gone");
        acc.set_integer(2, 2, 5);
        assert_eq!(acc.integer(0, Type::W), 5, "a word splits the dwords into words");
        assert_eq!(acc.bits(0, 4), 0x0005_0005);
        acc.set_integer(4, 2, 0xffff_ffff);
        assert_eq!(acc.integer(4, Type::W), 0xffff_ffff);
        acc.set_integer(4, 2, 0x1_0000_0000);
        assert_eq!(acc.integer(4, Type::W), -0x1_0000_0000, "bit 32 is the sign");
    }

    #[test]
    fn floats_are_patterns() {
        let mut acc = Accumulators::default();
        acc.set_bits(4, 4, 0xbf80_0000);
        assert_eq!(acc.bits(4, 4), 0xbf80_0000);
        assert_eq!(acc.integer(4, Type::D), i128::from(0xbf80_0000u32 as i32));
        assert_eq!(acc.integer(4, Type::Ud), 0xbf80_0000);
    }
}
