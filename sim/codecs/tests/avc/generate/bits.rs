//! Bits of NAL units, and the two entropy codes in the direction of the encoder.

use super::tables::{INITIAL, LPS_NEXT, LPS_RANGE};
use crate::bits::BitWriter;

impl BitWriter {
    /// Exp-Golomb code (9.1).
    pub fn ue(&mut self, value: u32) {
        let length = (value + 1).ilog2();
        self.put(0, length);
        self.put(value + 1, length + 1);
    }

    /// Signed Exp-Golomb code (9.1.1).
    pub fn se(&mut self, value: i32) {
        self.ue(if value > 0 { 2 * value as u32 - 1 } else { 2 * value.unsigned_abs() });
    }

    /// Ends with the stop bit (7.3.2.11) and returns the NAL unit with emulation prevention bytes.
    /// `header` is its first byte.
    pub fn unit(mut self, header: u8) -> Vec<u8> {
        self.flag(true);
        self.unit_without_stop(header)
    }

    /// As [`BitWriter::unit`] if the stop bit is already written.
    pub fn unit_without_stop(self, header: u8) -> Vec<u8> {
        let mut out = vec![header];
        let mut zeros = 0;
        for byte in self.bytes {
            if zeros >= 2 && byte <= 3 {
                out.push(3);
                zeros = 0;
            }
            zeros = if byte == 0 { zeros + 1 } else { 0 };
            out.push(byte);
        }
        out
    }
}

/// The arithmetic encoder (9.3.4.2).
pub struct Cabac {
    pub out: BitWriter,
    low: u32,
    range: u32,
    outstanding: u32,
    first: bool,
    /// pStateIdx and valMPS.
    states: Vec<(u8, bool)>,
}

impl Cabac {
    /// `column` is 0 for I slices, 1 + `cabac_init_idc` for others.
    pub fn new(out: BitWriter, column: usize, qp: i32) -> Self {
        let states = INITIAL[column].iter().map(|&[m, n]| {
            let state = ((i32::from(m) * qp) >> 4) + i32::from(n);
            let state = state.clamp(1, 126);
            if state <= 63 { (63 - state as u8, false) } else { (state as u8 - 64, true) }
        });
        let states = states.collect();
        Cabac { out, low: 0, range: 510, outstanding: 0, first: true, states }
    }

    /// Starts again after the samples of I_PCM; the contexts stay.
    pub fn restart(&mut self) {
        (self.low, self.range, self.outstanding, self.first) = (0, 510, 0, true);
    }

    fn put(&mut self, bit: bool) {
        if self.first {
            self.first = false;
        } else {
            self.out.flag(bit);
        }
        for _ in 0..std::mem::take(&mut self.outstanding) {
            self.out.flag(!bit);
        }
    }

    fn renormalise(&mut self) {
        while self.range < 256 {
            self.shift();
            self.range *= 2;
        }
    }

    fn shift(&mut self) {
        if self.low < 256 {
            self.put(false);
        } else if self.low >= 512 {
            self.low -= 512;
            self.put(true);
        } else {
            self.low -= 256;
            self.outstanding += 1;
        }
        self.low *= 2;
    }

    pub fn bin(&mut self, context: usize, bin: bool) {
        let (state, probable) = self.states[context];
        let lps = u32::from(LPS_RANGE[usize::from(state)][(self.range >> 6 & 3) as usize]);
        self.range -= lps;
        if bin == probable {
            self.states[context].0 = if state < 62 { state + 1 } else { state };
        } else {
            self.low += self.range;
            self.range = lps;
            self.states[context] = (LPS_NEXT[usize::from(state)], probable ^ (state == 0));
        }
        self.renormalise();
    }

    pub fn bypass(&mut self, bin: bool) {
        self.low *= 2;
        if bin {
            self.low += self.range;
        }
        if self.low >= 1024 {
            self.put(true);
            self.low -= 1024;
        } else if self.low < 512 {
            self.put(false);
        } else {
            self.low -= 512;
            self.outstanding += 1;
        }
    }

    /// The bin of end_of_slice_flag and of I_PCM. After a 1 the last bit written is a 1, which is
    /// the stop bit at the end of a slice.
    pub fn terminate(&mut self, bin: bool) {
        self.range -= 2;
        if bin {
            self.low += self.range;
            self.range = 2;
            self.renormalise();
            self.put(self.low >> 9 & 1 != 0);
            self.out.put(self.low >> 7 & 3 | 1, 2);
        } else {
            self.renormalise();
        }
    }

    /// Exp-Golomb code of order `order` in bypass bins (9.3.2.3).
    pub fn exp_golomb(&mut self, mut value: u32, mut order: u32) {
        while value >= 1 << order {
            self.bypass(true);
            value -= 1 << order;
            order += 1;
        }
        self.bypass(false);
        for bit in (0..order).rev() {
            self.bypass(value >> bit & 1 != 0);
        }
    }
}
