//! Functions 3 to 5 of sample_8x8: minimum and maximum of the pixels under a mask, erosion and
//! dilation (2d p.395).

use super::source::{Bits, MOST_KERNEL, Numbers};
use crate::eu::operands::Channels as Ones;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::media_states::SamplerState8x8ErodeDilateMinmaxfilter as State;

/// A resolved SAMPLER_STATE_8x8_ERODE_DILATE_MINMAXFILTER.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mask {
    /// Width and height.
    pub size: [usize; 2],
    /// The pixels of the mask, by row. Bit n is column n. Bits beyond the size are 0.
    rows: [u16; MOST_KERNEL],
}

impl Mask {
    /// Resolves the state.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] names a field with an invalid value.
    pub fn resolve(exec: &Exec<'_>, state: &State) -> Result<Mask, Fault> {
        let [width, height] = [state.width_of_the_kernel.get(), state.height_of_the_kernel.get()];
        if width < 2 {
            let why = "a mask of sample_8x8 has 2 to 15 columns";
            return Err(exec.bad_field("Width Of The Kernel", width, why));
        }
        if height < 2 {
            let why = "a mask of sample_8x8 has 2 to 15 rows";
            return Err(exec.bad_field("Height Of The Kernel", height, why));
        }
        let mut rows = [
            state._16bit_mask_for_row0_15_0,
            state._16bit_mask_for_row1_15_0,
            state._16bit_mask_for_row2_15_0,
            state._16bit_mask_for_row3_15_0,
            state._16bit_mask_for_row4_15_0,
            state._16bit_mask_for_row5_15_0,
            state._16bit_mask_for_row6_15_0,
            state._16bit_mask_for_row7_15_0,
            state._16bit_mask_for_row8_15_0,
            state._16bit_mask_for_row9_15_0,
            state._16bit_mask_for_row10_15_0,
            state._16bit_mask_for_row11_15_0,
            state._16bit_mask_for_row12_15_0,
            state._16bit_mask_for_row13_15_0,
            state._16bit_mask_for_row14_15_0,
        ]
        .map(|row| (row.get() & ((1 << width) - 1)) as u16);
        rows[height as usize..].fill(0);
        Ok(Mask { size: [width as usize, height as usize], rows })
    }

    /// Row `y` of an eroded block: bit n is set if all pixels under the mask at column n are set.
    /// The rows begin at the first pixel of the mask of the block's first pixel.
    pub fn eroded(&self, rows: &Bits, y: usize) -> u64 {
        self.bits(rows, y).fold(u128::MAX, |all, bits| all & bits) as u64
    }

    /// Row `y` of a dilated block: bit n is set if any pixel under the mask at column n is set.
    pub fn dilated(&self, rows: &Bits, y: usize) -> u64 {
        self.bits(rows, y).fold(0, |any, bits| any | bits) as u64
    }

    /// A row of pixels for each bit that is set in the mask. Bit n of the row is the pixel under
    /// that bit of the mask if the mask is at column n.
    fn bits<'m>(&'m self, rows: &'m Bits, y: usize) -> impl Iterator<Item = u128> + 'm {
        self.rows.iter().enumerate().flat_map(move |(row, &mask)| {
            Ones(mask.into()).map(move |column| rows[y + row] >> column)
        })
    }

    /// The smallest and the largest number under the mask at the pixel in column `x` of row `y` of
    /// a block; the bounds in reverse order if the mask is empty.
    pub fn extremes(
        &self,
        numbers: &Numbers,
        x: usize,
        y: usize,
        [low, high]: [i32; 2],
    ) -> [i32; 2] {
        let (mut least, mut most) = (high, low);
        for (row, &mask) in self.rows.iter().enumerate() {
            for column in Ones(mask.into()) {
                let number = numbers[y + row][x + column];
                least = least.min(number);
                most = most.max(number);
            }
        }
        [least, most]
    }
}
