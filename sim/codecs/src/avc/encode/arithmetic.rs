//! The arithmetic encoder of CABAC (9.3.4.2).

use crate::avc::cabac::{NEXT, STATES, initial_states};
use crate::avc::cabac_tables::LPS_RANGE;

/// The arithmetic encoder with its contexts.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    /// Whole bytes.
    bytes: Vec<u8>,
    /// codILow: ten bits, then bits that are not in `bytes` yet.
    low: u32,
    /// codIRange.
    range: u32,
    /// Number of bits above codILow, less 8.
    queue: i32,
    /// Bytes of 0xff that become 0 if a carry comes.
    outstanding: usize,
    states: [u8; STATES],
    /// Number of bins so far.
    pub bins: u64,
}

impl Encoder {
    /// `set`: [`crate::avc::Slice::cabac_set`]. `qp`: luma quantiser of the slice (9.3.1.1).
    pub fn new(set: usize, qp: u8) -> Self {
        Encoder {
            bytes: Vec::new(),
            low: 0,
            range: 510,
            // The first bit of codILow is not written.
            queue: -9,
            outstanding: 0,
            states: initial_states(set, qp),
            bins: 0,
        }
    }

    /// Number of bits so far.
    pub fn position(&self) -> usize {
        let whole = 8 * (self.bytes.len() + self.outstanding);
        whole.saturating_add_signed((self.queue + 8) as isize)
    }

    /// Shifts `count` bits out of codILow.
    #[inline]
    fn shift(&mut self, count: u32) {
        self.low <<= count;
        self.queue += count as i32;
        if self.queue >= 0 {
            self.byte();
        }
    }

    fn byte(&mut self) {
        let out = self.low >> (self.queue + 10);
        self.low &= (0x400 << self.queue) - 1;
        self.queue -= 8;
        if out & 0xff == 0xff {
            self.outstanding += 1;
            return;
        }
        let carry = out >> 8 != 0;
        if carry && let Some(last) = self.bytes.last_mut() {
            *last = last.wrapping_add(1);
        }
        let middle = if carry { 0 } else { 0xff };
        self.bytes.extend(std::iter::repeat_n(middle, std::mem::take(&mut self.outstanding)));
        self.bytes.push(out as u8);
    }

    /// Encodes a bin with context `context` (9.3.4.2).
    #[inline]
    pub fn bin(&mut self, context: usize, bin: bool) {
        self.bins += 1;
        let state = &mut self.states[context % STATES];
        let at = usize::from(*state & 127);
        let less = u32::from(LPS_RANGE[at / 2][(self.range >> 6 & 3) as usize]);
        self.range -= less;
        if (at % 2 == 1) == bin {
            *state = NEXT[0][at];
        } else {
            *state = NEXT[1][at];
            self.low += self.range;
            self.range = less;
        }
        let count = self.range.leading_zeros() - 23;
        self.range <<= count;
        self.shift(count);
    }

    /// Encodes a bin without context (9.3.4.4).
    #[inline]
    pub fn bypass(&mut self, bin: bool) {
        self.bins += 1;
        // The sum is formed in the units of the shifted codILow.
        self.low <<= 1;
        if bin {
            self.low += self.range;
        }
        self.queue += 1;
        if self.queue >= 0 {
            self.byte();
        }
    }

    /// Encodes the bin before the end of a slice or `I_PCM` samples (9.3.4.5). After a 1, all bits
    /// are written; the last one is the stop bit.
    pub fn terminate(&mut self, bin: bool) {
        self.bins += 1;
        self.range -= 2;
        if !bin {
            let count = self.range.leading_zeros() - 23;
            self.range <<= count;
            self.shift(count);
            return;
        }
        self.low += self.range;
        self.shift(7);
        // Two bits and the stop bit.
        self.low = (self.low | 0x80) & !0x7f;
        self.shift(3);
        if self.queue > -8 {
            self.shift((-self.queue) as u32);
        }
        self.bytes.extend(std::iter::repeat_n(0xff, std::mem::take(&mut self.outstanding)));
    }

    /// Writes bytes after a terminating bin of 1, then starts again (9.3.1.2).
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        (self.low, self.range, self.queue) = (0, 510, -9);
    }

    /// The bytes, after a terminating bin of 1.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Encoder;
    use crate::avc::cabac::Arithmetic;
    use crate::avc::cabac_tables::CONTEXTS;

    /// Oracle: the decoder, which has the figures of the standard as its oracle.
    #[test]
    fn encoded_bins_are_decoded() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            let (set, qp) = (random.usize(0..4), random.u8(0..=51));
            let few = random.usize(1..=CONTEXTS);
            let likely = random.u8(1..16);
            let steps: Vec<(u8, usize, bool)> = (0..random.usize(0..3000))
                .map(|_| {
                    let kind = [0, 0, 0, 0, 1, 1, 2, 3][random.usize(0..8)];
                    (kind, random.usize(0..few), random.u8(0..16) < likely)
                })
                .collect();
            let mut encoder = Encoder::new(set, qp);
            for &(kind, context, bin) in &steps {
                match kind {
                    0 => encoder.bin(context, bin),
                    1 => encoder.bypass(bin),
                    2 => encoder.terminate(false),
                    _ if context % 64 == 0 => {
                        encoder.terminate(true);
                        encoder.raw(&[context as u8, 0xff, 7]);
                    }
                    _ => {}
                }
            }
            encoder.terminate(true);
            let bytes = encoder.into_bytes();
            let mut decoder = Arithmetic::new(&bytes, 0, set, qp);
            for (kind, context, bin) in steps {
                match kind {
                    0 => assert_eq!(decoder.bin(context), bin),
                    1 => assert_eq!(decoder.bypass(), bin),
                    2 => assert!(!decoder.terminate()),
                    _ if context % 64 == 0 => {
                        assert!(decoder.terminate());
                        let mut raw = [0; 3];
                        assert_eq!(decoder.raw(&mut raw), Some(()));
                        assert_eq!(raw, [context as u8, 0xff, 7]);
                    }
                    _ => {}
                }
            }
            assert!(decoder.terminate());
            assert!(!decoder.overrun());
        }
    }
}
