//! Blocks: forward transform, quantiser, and their code (7.2).

use crate::bits::BitWriter;
use crate::idct;
use crate::mpeg2::Parameters;
use crate::mpeg2::codes::{self, DC_SIZES, END, ESCAPE, LEVEL_COUNT, LEVELS, RUN_COUNT};
use crate::mpeg2::tables::ALTERNATE;
use crate::zigzag::ZIGZAG_8X8;

/// Largest level that an escape code holds.
const MOST: i32 = 2047;

/// The matrices of the forward quantiser in raster order: 65536 divided by the weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// Of intra blocks.
    pub intra: [u16; 64],
    /// Of other blocks.
    pub non_intra: [u16; 64],
}

/// The levels of a block in coding order.
pub type Levels = [i16; 64];

/// How the blocks of a picture are coded.
#[derive(Clone, Debug)]
pub struct BlockWriter {
    scan: &'static [u8; 64],
    forward: Forward,
    /// Table of the coefficients of intra blocks.
    intra_table: usize,
    /// Bits of the intra DC coefficient beyond eight.
    dc_precision: u32,
}

impl BlockWriter {
    pub fn new(parameters: &Parameters, forward: &Forward) -> Self {
        BlockWriter {
            scan: if parameters.alternate_scan { &ALTERNATE } else { &ZIGZAG_8X8 },
            forward: forward.clone(),
            intra_table: usize::from(parameters.intra_vlc_format),
            dc_precision: parameters.intra_dc_precision.into(),
        }
    }

    /// The levels of a block of samples, or of differences. Intra levels round to the nearest one;
    /// others are truncated toward zero.
    pub fn quantise(&self, samples: &[i16; 64], intra: bool, quantiser_scale: i32) -> Levels {
        let coefficients = idct::forward(samples);
        let matrix = if intra { &self.forward.intra } else { &self.forward.non_intra };
        let scale = quantiser_scale as u64 * 65536;
        let half = if intra { scale / 2 } else { 0 };
        let mut levels: Levels = std::array::from_fn(|at| {
            let at = usize::from(self.scan[at]);
            let coefficient = coefficients[at].round() as i32;
            let product = u64::from(coefficient.unsigned_abs()) * 16 * u64::from(matrix[at]);
            let level = ((product + half) / scale).min(MOST as u64) as i16;
            if coefficient < 0 { -level } else { level }
        });
        if intra {
            let most = (256 << self.dc_precision) - 1;
            let step = f64::from(8 >> self.dc_precision);
            levels[0] = ((coefficients[0] / step).round() as i32).clamp(0, most) as i16;
        }
        levels
    }

    /// Writes an intra block. `dc` is the predictor of its first coefficient.
    pub fn write_intra(
        &self,
        writer: &mut BitWriter,
        (luma, dc): (bool, &mut i32),
        levels: &Levels,
    ) {
        let difference = i32::from(levels[0]) - *dc;
        *dc = levels[0].into();
        let size = 32 - difference.unsigned_abs().leading_zeros();
        codes::put(writer, DC_SIZES[usize::from(!luma)][size.min(11) as usize]);
        let bits = if difference < 0 { difference - 1 } else { difference };
        writer.put(bits as u32, size);
        self.write_rest(writer, levels, 1, self.intra_table);
    }

    /// Writes a block that is not intra. Some level differs from 0.
    pub fn write_non_intra(&self, writer: &mut BitWriter, levels: &Levels) {
        let mut first = 0;
        // The code of run 0 and level 1 is shorter at the start of a block.
        if levels[0].unsigned_abs() == 1 {
            writer.put(1, 1);
            writer.put(u32::from(levels[0] < 0), 1);
            first = 1;
        }
        self.write_rest(writer, levels, first, 0);
    }

    fn write_rest(&self, writer: &mut BitWriter, levels: &Levels, first: usize, table: usize) {
        let mut run = 0;
        for &level in &levels[first..] {
            if level == 0 {
                run += 1;
                continue;
            }
            let magnitude = usize::from(level.unsigned_abs());
            let code = match run < RUN_COUNT && magnitude < LEVEL_COUNT {
                true => LEVELS[table][run][magnitude],
                false => (0, 0),
            };
            if code.0 > 0 {
                codes::put(writer, code);
                writer.put(u32::from(level < 0), 1);
            } else {
                codes::put(writer, ESCAPE);
                writer.put(run as u32, 6);
                writer.put(i32::from(level) as u32, 12);
            }
            run = 0;
        }
        codes::put(writer, END[table]);
    }
}
