//! Accumulators: two registers of elements that hold more bits than a general register's.
//!
//! An integer element keeps what an addition or a multiplication of its type can give (33 bits for words, 64 for
//! dwords, 004:2634-2819), a float element its type. A read with the element size of the last write sees the full
//! element; any other read sees the bytes that fit the register.

use super::regions::ACC_FILE;

/// `acc0` and `acc1`.
#[derive(Clone)]
pub struct Accumulators {
    /// One element per byte offset that a write has used; element at byte b of size s is `wide[b / s]`.
    wide: [i128; ACC_FILE / 2],
    /// Size of an element in bytes.
    size: usize,
}

impl Default for Accumulators {
    fn default() -> Self {
        Accumulators { wide: [0; ACC_FILE / 2], size: 4 }
    }
}

impl Accumulators {
    /// The element of `size` bytes at byte `offset`, with its extra bits if it was written with that size, else its
    /// own bytes, not extended. Bytes work as words.
    pub fn get(&self, offset: usize, size: usize) -> Element {
        if size == self.size && offset.is_multiple_of(size) {
            Element::Wide(self.wide[offset / size])
        } else {
            let bytes = self.bytes();
            let mut element = [0; 8];
            for (n, byte) in element.iter_mut().enumerate().take(size) {
                *byte = bytes[(offset + n) % ACC_FILE];
            }
            Element::Bits(u64::from_le_bytes(element))
        }
    }

    /// Replaces the element of `size` bytes at byte `offset`.
    pub fn set(&mut self, offset: usize, size: usize, value: i128) {
        let size = size.max(2);
        if size != self.size {
            let bytes = self.bytes();
            self.size = size;
            for (element, bytes) in self.wide.iter_mut().zip(bytes.chunks_exact(size)) {
                let mut low = [0; 16];
                low[..size].copy_from_slice(bytes);
                // The extra bits of what was there under another type are lost; the sign is as good as any.
                let shift = 128 - 8 * size;
                *element = i128::from_le_bytes(low) << shift >> shift;
            }
        }
        self.wide[offset / size % (ACC_FILE / size)] = value;
    }

    /// What fits the two registers.
    fn bytes(&self) -> [u8; ACC_FILE] {
        let mut bytes = [0; ACC_FILE];
        for (out, element) in bytes.chunks_exact_mut(self.size).zip(&self.wide) {
            out.copy_from_slice(&element.to_le_bytes()[..self.size]);
        }
        bytes
    }
}

/// What a read of an accumulator gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// The whole element.
    Wide(i128),
    /// Its bit pattern only.
    Bits(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: 004:2754-2760, a sum of two dwords that is longer than a dword stays whole.
    #[test]
    fn sums_keep_their_carry() {
        let mut acc = Accumulators::default();
        acc.set(0, 4, 0x1_ffff_fffe);
        assert_eq!(acc.get(0, 4), Element::Wide(0x1_ffff_fffe));
        assert_eq!(acc.get(0, 2), Element::Bits(0xfffe));
        assert_eq!(acc.get(2, 2), Element::Bits(0xffff));
        acc.set(2, 2, 5);
        assert_eq!(acc.get(0, 2), Element::Wide(-2), "seen as words from now on");
        assert_eq!(acc.get(0, 4), Element::Bits(0x0005_fffe));
    }
}
