//! The bits that encoders of tests write. Codecs add their codes in further `impl` blocks.

/// Bits, the most significant bit of each byte first.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    pub bytes: Vec<u8>,
    /// Bits of the last byte that are not used.
    free: u32,
}

impl BitWriter {
    /// Writes the `count` low bits of `value`.
    pub fn put(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            self.flag(value >> bit & 1 != 0);
        }
    }

    /// Writes one bit.
    pub fn flag(&mut self, flag: bool) {
        if self.free == 0 {
            self.bytes.push(0);
            self.free = 8;
        }
        self.free -= 1;
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(flag) << self.free;
        }
    }

    /// Fills the last byte with `flag`.
    pub fn align(&mut self, flag: bool) {
        while self.free > 0 {
            self.flag(flag);
        }
    }
}
