//! Colour space conversion: a matrix with offsets.

use super::number::{clip, fixed, rounded};
use genxml::gen8::vebox_states::VeboxCscState;

/// The settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csc {
    /// Rows of the matrix, 10 bits of fraction.
    pub matrix: [[i32; 3]; 3],
    /// Added to the input, in units of 12 bits.
    pub before: [i32; 3],
    /// Added to the output, in units of 12 bits.
    pub after: [i32; 3],
}

impl Csc {
    /// The settings of a state; `None` if it is disabled. Its offsets have units of 10 bits.
    pub fn new(state: &VeboxCscState) -> Option<Csc> {
        let row = |first: f64, second: f64, third: f64| {
            [first, second, third].map(|coefficient| fixed(coefficient, 10))
        };
        let offsets =
            |first: i64, second: i64, third: i64| [first, second, third].map(|o| o as i32 * 4);
        state.transform_enable.then(|| Csc {
            matrix: [
                row(state.c0.get(), state.c1.get(), state.c2.get()),
                row(state.c3.get(), state.c4.get(), state.c5.get()),
                row(state.c6.get(), state.c7.get(), state.c8.get()),
            ],
            before: offsets(
                state.offset_in_1.get(),
                state.offset_in_2.get(),
                state.offset_in_3.get(),
            ),
            after: offsets(
                state.offset_out_1.get(),
                state.offset_out_2.get(),
                state.offset_out_3.get(),
            ),
        })
    }

    /// The result for a pixel.
    #[inline]
    pub fn pixel(&self, pixel: [u16; 3]) -> [u16; 3] {
        let shifted: [i32; 3] = std::array::from_fn(|at| i32::from(pixel[at]) + self.before[at]);
        std::array::from_fn(|at| {
            let [first, second, third] = self.matrix[at];
            let sum = first * shifted[0] + second * shifted[1] + third * shifted[2];
            clip(rounded(sum, 10) + self.after[at])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Csc;

    /// Oracle: the definition in floating point, with matrices of BT.601 in both directions.
    #[test]
    fn matrices() {
        let to_rgb = Csc {
            matrix: [[1192, 0, 1634], [1192, -401, -833], [1192, 2066, 0]],
            before: [-256, -2048, -2048],
            after: [0; 3],
        };
        let from_rgb = Csc {
            matrix: [[263, 516, 100], [-152, -298, 450], [450, -377, -73]],
            before: [0; 3],
            after: [256, 2048, 2048],
        };
        for csc in [to_rgb, from_rgb] {
            for seed in 0..4096_u32 {
                let mixed = seed.wrapping_mul(2_654_435_761);
                let pixel = [mixed, mixed >> 9, mixed >> 20].map(|value| (value & 0xfff) as u16);
                let got = csc.pixel(pixel);
                for (row, (matrix, after)) in csc.matrix.iter().zip(csc.after).enumerate() {
                    let product = |at: usize| {
                        f64::from(i32::from(pixel[at]) + csc.before[at]) * f64::from(matrix[at])
                    };
                    let want = (product(0) + product(1) + product(2)) / 1024.0 + f64::from(after);
                    let want = want.clamp(0.0, 4095.0);
                    assert!((f64::from(got[row]) - want).abs() <= 0.5, "{pixel:?} {got:?} {want}");
                }
            }
        }
    }
}
