//! Function 1 of sample_8x8: each pixel becomes a weighted sum of the pixels around it
//! (2d p.390-394).

use super::source::{MOST_KERNEL, Numbers};
use crate::assumptions::{CONVOLUTION_TABLES_HAVE_ROWS, CONVOLUTION_TURNS_ITS_KERNEL};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::media_states::{
    SamplerState8x8Convolve, SamplerState8x8ConvolveSizeOfTheCoefficient as CoefficientSize,
};

/// Distance of the rows of coefficients in the state.
const STRIDE: usize = 16;
/// Fraction bits of coefficients.
const FRACTION_BITS: u32 = 12;

/// A resolved SAMPLER_STATE_8x8_CONVOLVE.
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    /// Width and height of the kernel.
    pub size: [usize; 2],
    /// Weights of pixels in 1/4096, by row and column.
    weights: [[i16; MOST_KERNEL]; MOST_KERNEL],
    /// How many bits the sum is shifted right.
    shift: u32,
}

impl Convolution {
    /// Number of dwords of the state that have fields. The rest is reserved.
    pub const DWORDS: usize = 144;

    /// Resolves the state.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] names a field with an invalid value.
    pub fn resolve(exec: &Exec<'_>, state: &SamplerState8x8Convolve) -> Result<Convolution, Fault> {
        let bad = |field, value, why: &'static str| Err(exec.bad_field(field, value, why));
        let [width, height] = [state.width.get(), state.height.get()];
        if width < 2 {
            return bad("WIDTH", width, "a kernel of sample_8x8 has 2 to 15 columns");
        }
        if height < 2 {
            return bad("HEIGHT", height, "a kernel of sample_8x8 has 2 to 15 rows");
        }
        let shift = state.scale_down_value.get();
        if shift > 10 {
            return bad("Scale down value", shift, "sums are shifted by 0 to 10 bits");
        }
        let [width, height] = [width as usize, height as usize];
        // 8-bit coefficients are the upper halves of the stored ones.
        let stored = match state.size_of_the_coefficient {
            CoefficientSize::_8BIT => 0xff00,
            _ => 0xffff,
        };
        let weight = |row: usize, column: usize| {
            let [row, column] = match CONVOLUTION_TURNS_ITS_KERNEL {
                true => [height - 1 - row, width - 1 - column],
                false => [row, column],
            };
            let at = match CONVOLUTION_TABLES_HAVE_ROWS {
                true => STRIDE * row + column,
                false => STRIDE * column + row,
            };
            (state.filter_coefficient[at].bits() & stored) as i16
        };
        let mut weights = [[0; MOST_KERNEL]; MOST_KERNEL];
        for (row, weights) in weights[..height].iter_mut().enumerate() {
            for (column, value) in weights[..width].iter_mut().enumerate() {
                *value = weight(row, column);
            }
        }
        Ok(Convolution { size: [width, height], weights, shift: shift as u32 })
    }

    /// The result for the pixel in column `x` of row `y` of a block. `numbers` begin at the first
    /// pixel of the kernel of the block's first pixel.
    #[inline]
    pub fn result(&self, numbers: &Numbers, x: usize, y: usize) -> i16 {
        let [width, height] = self.size;
        let rows = self.weights[..height].iter().zip(&numbers[y..y + height]);
        let sum: i64 = rows
            .flat_map(|(weights, numbers)| weights[..width].iter().zip(&numbers[x..x + width]))
            .map(|(&weight, &number)| i64::from(weight) * i64::from(number))
            .sum();
        let scaled = sum >> FRACTION_BITS >> self.shift;
        scaled.clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }
}
