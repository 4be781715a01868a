//! Ternary raster operations: all 256 functions of a pattern bit, a source bit and a destination
//! bit.
//!
//! Bit `P * 4 + S * 2 + D` of the code is the result (gen8_facts 13; the 2D driver's rop.h).

/// A raster operation, ready to be applied to many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rop {
    code: u8,
    /// Each bit of the code, extended to a byte of ones or zeros.
    rows: [u8; 8],
}

impl Rop {
    /// The operation with this code.
    pub const fn new(code: u8) -> Self {
        let mut rows = [0; 8];
        let mut bit = 0;
        while bit < 8 {
            rows[bit] = if code >> bit & 1 != 0 { 0xff } else { 0 };
            bit += 1;
        }
        Rop { code, rows }
    }

    /// The result is the source.
    pub const SOURCE_COPY: Rop = Rop::new(0xcc);

    /// The code of the operation.
    pub const fn code(self) -> u8 {
        self.code
    }

    /// True if the result depends on the pattern.
    pub const fn uses_pattern(self) -> bool {
        (self.code >> 4 ^ self.code) & 0x0f != 0
    }

    /// True if the result depends on the source.
    pub const fn uses_source(self) -> bool {
        (self.code >> 2 ^ self.code) & 0x33 != 0
    }

    /// True if the result depends on the destination.
    pub const fn uses_destination(self) -> bool {
        (self.code >> 1 ^ self.code) & 0x55 != 0
    }

    /// Applies the operation to eight bits at once.
    #[inline(always)]
    pub const fn apply(self, pattern: u8, source: u8, destination: u8) -> u8 {
        let r = &self.rows;
        let without_pattern =
            mux(source, mux(destination, r[3], r[2]), mux(destination, r[1], r[0]));
        let with_pattern = mux(source, mux(destination, r[7], r[6]), mux(destination, r[5], r[4]));
        mux(pattern, with_pattern, without_pattern)
    }

    /// Applies the operation to a row of bytes. `row` holds the source and receives the result.
    /// Where `mask` has zeros, `row` receives the destination's bits. All slices have the same
    /// length.
    pub(super) fn apply_row(
        self,
        row: &mut [u8],
        pattern: &[u8],
        destination: &[u8],
        mask: Option<&[u8]>,
    ) {
        let operands = row.iter_mut().zip(pattern).zip(destination);
        match mask {
            None => {
                for ((to, &pattern), &destination) in operands {
                    *to = self.apply(pattern, *to, destination);
                }
            }
            Some(mask) => {
                for (((to, &pattern), &destination), &mask) in operands.zip(mask) {
                    *to = mux(mask, self.apply(pattern, *to, destination), destination);
                }
            }
        }
    }
}

/// Selects bits of `one` where `select` is set, and bits of `zero` elsewhere.
#[inline(always)]
const fn mux(select: u8, one: u8, zero: u8) -> u8 {
    zero ^ (select & (one ^ zero))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: the definition, bit by bit.
    #[test]
    fn every_code_on_every_combination() {
        for code in 0..=255 {
            let rop = Rop::new(code);
            let mut depends = [false; 3];
            for index in 0..8u8 {
                let [p, s, d] = [index >> 2 & 1, index >> 1 & 1, index & 1];
                assert_eq!(
                    rop.apply(p * 0xff, s * 0xff, d * 0xff),
                    (code >> index & 1) * 0xff,
                    "{code:#x} {index}"
                );
                for (operand, bit) in [4, 2, 1].into_iter().enumerate() {
                    depends[operand] |= code >> index & 1 != code >> (index ^ bit) & 1;
                }
            }
            assert_eq!(
                depends,
                [rop.uses_pattern(), rop.uses_source(), rop.uses_destination()],
                "{code:#x}"
            );
        }
    }

    /// Oracle: the operations' names (the 2D driver's rop.h).
    #[test]
    fn well_known_codes() {
        let (p, s, d) = (0b1111_0000, 0b1100_1100, 0b1010_1010);
        for (code, result) in [
            (0xf0, p),
            (0xcc, s),
            (0xaa, d),
            (0x5a, p ^ d),
            (0x66, s ^ d),
            (0x88, s & d),
            (0xee, s | d),
            (0x55, !d),
            (0x00, 0),
            (0xff, 0xff),
        ] {
            assert_eq!(Rop::new(code).apply(p, s, d), result, "{code:#x}");
        }
    }
}
