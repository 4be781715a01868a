//! The arithmetic decoder of CABAC (9.3.1.2, 9.3.3.2).

use super::cabac_tables::{CONTEXTS, INITIAL, LPS_NEXT, LPS_RANGE};

/// States of the contexts, padded so that an index of nine bits is inside. A state is
/// 2 * pStateIdx + valMPS.
pub(super) const STATES: usize = 512;

/// Next states after the more probable and the less probable symbol.
pub(super) static NEXT: [[u8; 128]; 2] = next_states();

const fn next_states() -> [[u8; 128]; 2] {
    let mut next = [[0; 128]; 2];
    let mut state = 0;
    while state < 64 {
        let more = if state < 62 { state + 1 } else { state } as u8;
        let less = LPS_NEXT[state];
        let mut symbol = 0;
        while symbol < 2 {
            let at = 2 * state + symbol;
            next[0][at] = 2 * more + symbol as u8;
            // In state 0 the symbols change their roles.
            let symbol_after = if state == 0 { 1 - symbol } else { symbol } as u8;
            next[1][at] = 2 * less + symbol_after;
            symbol += 1;
        }
        state += 1;
    }
    next
}

/// The states of the contexts at the start of a slice (9.3.1.1). Parameters as for
/// [`Arithmetic::new`].
pub(super) fn initial_states(set: usize, qp: u8) -> [u8; STATES] {
    let mut states = [0; STATES];
    let qp = i32::from(qp.min(51));
    let initial: &[[i8; 2]; CONTEXTS] = &INITIAL[set.min(3)];
    for (state, [m, n]) in states.iter_mut().zip(initial) {
        let value = (((i32::from(*m) * qp) >> 4) + i32::from(*n)).clamp(1, 126);
        *state = if value <= 63 { 2 * (63 - value) } else { 2 * (value - 64) + 1 } as u8;
    }
    states
}

/// The arithmetic decoder with its contexts.
#[derive(Clone, Debug)]
pub(super) struct Arithmetic<'a> {
    data: &'a [u8],
    /// Next byte to load.
    next: usize,
    /// codIOffset, followed by `spare` bits of the data.
    offset: u64,
    /// Bits below codIOffset.
    spare: i32,
    /// codIRange.
    range: u32,
    states: [u8; STATES],
}

impl<'a> Arithmetic<'a> {
    /// A decoder at byte `start`. `set`: [`super::Slice::cabac_set`]. `qp`: luma quantiser of the
    /// slice (9.3.1.1).
    pub fn new(data: &'a [u8], start: usize, set: usize, qp: u8) -> Self {
        let states = initial_states(set, qp);
        let mut decoder = Arithmetic { data, next: 0, offset: 0, spare: 0, range: 0, states };
        decoder.restart(start);
        decoder
    }

    /// Starts at byte `start` and keeps the contexts (9.3.1.2).
    fn restart(&mut self, start: usize) {
        self.next = start;
        self.offset = 0;
        self.spare = -9;
        self.range = 510;
        self.refill();
    }

    /// Loads four bytes. Bytes after the end read as 0.
    #[inline]
    fn refill(&mut self) {
        let word = match self.data.get(self.next..).and_then(|rest| rest.first_chunk::<4>()) {
            Some(&bytes) => u32::from_be_bytes(bytes),
            None => self.tail(),
        };
        self.offset = self.offset << 32 | u64::from(word);
        self.spare += 32;
        self.next = self.next.saturating_add(4);
    }

    #[cold]
    fn tail(&self) -> u32 {
        (0..4).fold(0, |word, at| {
            word << 8 | u32::from(self.data.get(self.next + at).copied().unwrap_or(0))
        })
    }

    /// Bits that were read, as the standard counts them.
    fn position(&self) -> usize {
        (8 * self.next).saturating_add_signed(-self.spare as isize)
    }

    /// True if bits after the end of the data were read. The last bins of a slice do not need all
    /// of the nine bits of codIOffset, but the standard reads them.
    pub fn overrun(&self) -> bool {
        self.position() > 8 * self.data.len()
    }

    /// Decodes a bin with context `context` (9.3.3.2.1).
    #[inline(always)]
    pub fn bin(&mut self, context: usize) -> bool {
        let state = &mut self.states[context % STATES];
        let at = usize::from(*state & 127);
        let less = u32::from(LPS_RANGE[at / 2][(self.range >> 6 & 3) as usize]);
        let more = self.range - less;
        let scaled = u64::from(more) << self.spare;
        let likely = self.offset < scaled;
        if likely {
            *state = NEXT[0][at];
            // At most one bit is missing.
            let shift = (more < 256) as u32;
            self.range = more << shift;
            self.spare -= shift as i32;
        } else {
            *state = NEXT[1][at];
            self.offset -= scaled;
            let shift = less.leading_zeros() - 23;
            self.range = less << shift;
            self.spare -= shift as i32;
        }
        if self.spare < 8 {
            self.refill();
        }
        (at % 2 == 1) == likely
    }

    /// Decodes a bin without context (9.3.3.2.3).
    #[inline(always)]
    pub fn bypass(&mut self) -> bool {
        self.spare -= 1;
        let scaled = u64::from(self.range) << self.spare;
        let bin = self.offset >= scaled;
        if bin {
            self.offset -= scaled;
        }
        if self.spare < 8 {
            self.refill();
        }
        bin
    }

    /// Decodes the bin before the end of a slice or `I_PCM` samples (9.3.3.2.4).
    #[inline]
    pub fn terminate(&mut self) -> bool {
        self.range -= 2;
        if self.offset >= u64::from(self.range) << self.spare {
            return true;
        }
        let shift = (self.range < 256) as u32;
        self.range <<= shift;
        self.spare -= shift as i32;
        if self.spare < 8 {
            self.refill();
        }
        false
    }

    /// Reads `out.len()` bytes after a terminating bin, then starts again (9.3.1.2).
    pub fn raw(&mut self, out: &mut [u8]) -> Option<()> {
        let start = self.position().div_ceil(8);
        let end = start.checked_add(out.len())?;
        out.copy_from_slice(self.data.get(start..end)?);
        self.restart(end);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Arithmetic, CONTEXTS, INITIAL, LPS_NEXT, LPS_RANGE};

    /// The decoder as the figures of 9.3.3.2 draw it: bit by bit.
    struct Plain<'a> {
        data: &'a [u8],
        position: usize,
        range: u32,
        offset: u32,
        states: [(u8, bool); CONTEXTS],
    }

    impl Plain<'_> {
        fn bit(&mut self) -> u32 {
            let byte = self.data.get(self.position / 8).copied().unwrap_or(0);
            self.position += 1;
            u32::from(byte >> (7 - (self.position - 1) % 8) & 1)
        }

        fn start(&mut self) {
            self.range = 510;
            self.offset = (0..9).fold(0, |offset, _| offset << 1 | self.bit());
        }

        fn renormalise(&mut self) {
            while self.range < 256 {
                self.range <<= 1;
                self.offset = self.offset << 1 | self.bit();
            }
        }

        fn bin(&mut self, context: usize) -> bool {
            let (state, symbol) = self.states[context];
            let less = LPS_RANGE[usize::from(state)][(self.range >> 6 & 3) as usize];
            self.range -= u32::from(less);
            let bin = if self.offset >= self.range {
                self.offset -= self.range;
                self.range = u32::from(less);
                let after = if state == 0 { !symbol } else { symbol };
                self.states[context] = (LPS_NEXT[usize::from(state)], after);
                !symbol
            } else {
                self.states[context].0 = if state < 62 { state + 1 } else { state };
                symbol
            };
            self.renormalise();
            bin
        }

        fn bypass(&mut self) -> bool {
            self.offset = self.offset << 1 | self.bit();
            let bin = self.offset >= self.range;
            if bin {
                self.offset -= self.range;
            }
            bin
        }

        fn terminate(&mut self) -> bool {
            self.range -= 2;
            if self.offset >= self.range {
                return true;
            }
            self.renormalise();
            false
        }
    }

    /// Oracle: the decoder of the standard's figures, on random data. After a terminating bin, the
    /// raw bytes start where the standard's position is (9.3.1.2).
    #[test]
    fn bins_are_those_of_the_figures() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let mut data: Vec<u8> = (0..random.usize(20..400)).map(|_| random.u8(..)).collect();
            // codIOffset must not start with 510 or 511.
            data[0] &= 0x7f;
            let (set, qp) = (random.usize(0..4), random.u8(0..=51));
            let mut fast = Arithmetic::new(&data, 0, set, qp);
            let states = INITIAL[set].map(|[m, n]| {
                let value = ((i32::from(m) * i32::from(qp)) >> 4) + i32::from(n);
                match value.clamp(1, 126) as u8 {
                    value @ 0..=63 => (63 - value, false),
                    value => (value - 64, true),
                }
            });
            let mut plain = Plain { data: &data, position: 0, range: 0, offset: 0, states };
            plain.start();
            while !fast.overrun() {
                assert_eq!(fast.position(), plain.position);
                match random.u8(0..20) {
                    0..16 => {
                        let context = random.usize(0..CONTEXTS);
                        assert_eq!(fast.bin(context), plain.bin(context));
                    }
                    16..19 => assert_eq!(fast.bypass(), plain.bypass()),
                    _ => {
                        let end = fast.terminate();
                        assert_eq!(end, plain.terminate());
                        let mut bytes = [0; 5];
                        let start = plain.position.div_ceil(8);
                        if end && fast.raw(&mut bytes).is_some() {
                            assert_eq!(bytes, data[start..start + 5]);
                            plain.position = 8 * (start + 5);
                            plain.start();
                            if plain.offset >= 510 {
                                break;
                            }
                        } else if end {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Oracle: table 9-45, states in which all ranges are those of the last one.
    #[test]
    fn ranges_fall_with_the_state() {
        for column in 0..4 {
            let ranges = LPS_RANGE.map(|row| row[column]);
            assert!(ranges.is_sorted_by(|before, after| before >= after));
        }
        assert_eq!(LPS_RANGE[0], [128, 176, 208, 240]);
        assert_eq!(LPS_RANGE[62], [6, 7, 8, 9]);
        assert_eq!(LPS_RANGE[63], [2; 4]);
        assert!(LPS_NEXT.iter().enumerate().take(63).all(|(at, &next)| usize::from(next) <= at));
    }
}
