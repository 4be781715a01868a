//! Coefficients of a block: variable length decoding (7.2), inverse scan (7.3) and inverse
//! quantisation (7.4).

use super::idct;
use super::parameters::{Error, Parameters};
use super::tables::{ALTERNATE, NONLINEAR_QUANTISER_SCALE};
use super::vlc::{self, Coefficients};
use crate::bits::BitReader;
use crate::zigzag::ZIGZAG_8X8;

/// The coefficients of a block as the inverse transform takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Coefficients in raster order, each in -2048..=2047.
    coefficients: [i16; 64],
    /// A bit for each row that may have a coefficient other than zero, bit 0 the first row.
    rows: u8,
    /// Coefficients other than the first one may differ from zero.
    has_ac: bool,
}

impl Block {
    /// All coefficients are zero.
    pub const ZERO: Block = Block { coefficients: [0; 64], rows: 0, has_ac: false };

    /// The coefficients in raster order.
    pub fn coefficients(&self) -> &[i16; 64] {
        &self.coefficients
    }

    /// The samples or differences of the block, in raster order (annex A).
    pub(super) fn transform(&self) -> [i16; 64] {
        if self.has_ac {
            idct::inverse(&self.coefficients, self.rows)
        } else {
            [idct::flat(self.coefficients[0]); 64]
        }
    }

    /// Sets all coefficients to zero.
    pub fn clear(&mut self) {
        self.coefficients = [0; 64];
        self.rows = 0;
        self.has_ac = false;
    }

    /// Saturates and stores the coefficient at position `at` in raster order (7.4.3); returns the
    /// stored value. Only the last six bits of `at` count.
    #[inline]
    pub fn set(&mut self, at: usize, value: i32) -> i32 {
        let value = value.clamp(-2048, 2047);
        let at = at % 64;
        self.coefficients[at] = value as i16;
        self.rows |= 1 << (at / 8);
        self.has_ac |= at != 0;
        value
    }

    /// Makes the sum of the coefficients odd by changing the last bit of the last one (7.4.4).
    /// `sum` is the sum without the last one's change, of which only the last bit matters.
    fn control_mismatch(&mut self, sum: i32) {
        if sum & 1 == 0 {
            self.set(63, i32::from(self.coefficients[63] ^ 1));
        }
    }
}

/// What the blocks of a picture have in common.
#[derive(Clone, Debug)]
pub(super) struct BlockRules {
    scan: &'static [u8; 64],
    /// In raster order: intra, non-intra.
    matrices: [[u8; 64]; 2],
    intra_table: &'static Coefficients,
    /// Factor of the intra DC coefficient.
    dc_factor: i32,
    /// The predictor of DC coefficients at the start of a slice.
    dc_reset: i32,
    mismatch_control: bool,
    nonlinear: bool,
    /// The quantiser scale, if it does not depend on the code.
    fixed_scale: Option<i32>,
}

impl BlockRules {
    pub(super) fn new(parameters: &Parameters) -> Result<Self, Error> {
        if parameters.intra_dc_precision > 3 {
            return Err(Error::DcPrecision(parameters.intra_dc_precision));
        }
        Ok(BlockRules {
            scan: if parameters.alternate_scan { &ALTERNATE } else { &ZIGZAG_8X8 },
            matrices: [parameters.intra_matrix, parameters.non_intra_matrix],
            intra_table: if parameters.intra_vlc_format { &vlc::ONE } else { &vlc::ZERO },
            dc_factor: 8 >> parameters.intra_dc_precision,
            // Table 7-2.
            dc_reset: 1 << (7 + parameters.intra_dc_precision),
            mismatch_control: parameters.mismatch_control,
            nonlinear: parameters.nonlinear_quantiser,
            fixed_scale: None,
        })
    }

    /// Rules that leave out inverse quantisation: blocks hold the levels in raster order. The first
    /// level of an intra block is relative to the middle of the range.
    pub(super) fn levels(parameters: &Parameters) -> Result<Self, Error> {
        Ok(BlockRules {
            // With weight 8 and scale 2, the formula of 7.4.2.3 gives the level itself.
            matrices: [[8; 64]; 2],
            fixed_scale: Some(2),
            dc_factor: 1,
            dc_reset: 0,
            mismatch_control: false,
            ..BlockRules::new(parameters)?
        })
    }

    /// quantiser_scale of a quantiser_scale_code (7.4.2.2).
    pub(super) fn quantiser_scale(&self, code: u8) -> i32 {
        let code = code & 31;
        match self.fixed_scale {
            Some(scale) => scale,
            None if self.nonlinear => NONLINEAR_QUANTISER_SCALE[usize::from(code)].into(),
            None => 2 * i32::from(code),
        }
    }

    /// The predictor of DC coefficients at the start of a slice.
    pub(super) fn dc_reset(&self) -> i32 {
        self.dc_reset
    }

    /// Reads an intra block. `dc` is the predictor of its first coefficient (7.2.1).
    pub(super) fn read_intra(
        &self,
        reader: &mut BitReader,
        (luma, dc): (bool, &mut i32),
        quantiser_scale: i32,
        block: &mut Block,
    ) -> Option<()> {
        let sizes = if luma { &vlc::DC_LUMA } else { &vlc::DC_CHROMA };
        let size = u32::from(sizes.read(reader)?);
        if size > 0 {
            let bits = reader.read(size) as i32;
            let half = 1 << (size - 1);
            let difference = if bits >= half { bits } else { bits + 1 - 2 * half };
            // Differences that leave the range occur in damaged data only.
            *dc = (*dc + difference).clamp(-(1 << 15), 1 << 15);
        }
        block.clear();
        let first = block.set(0, *dc * self.dc_factor);
        self.read_rest::<true>(reader, (1, first), quantiser_scale, block)
    }

    /// Reads a block that is not intra.
    pub(super) fn read_non_intra(
        &self,
        reader: &mut BitReader,
        quantiser_scale: i32,
        block: &mut Block,
    ) -> Option<()> {
        block.clear();
        let (mut at, mut sum) = (0, 0);
        // No end of block is possible here, and "1" is run 0 and level 1 (table B.14, note 2).
        let bits = reader.peek(2);
        if bits & 2 != 0 {
            reader.skip(2);
            let level = if bits & 1 != 0 { -1 } else { 1 };
            sum = block.set(0, self.dequantise::<false>(0, level, quantiser_scale));
            at = 1;
        }
        self.read_rest::<false>(reader, (at, sum), quantiser_scale, block)
    }

    /// Reads coefficients from number `at` of the scan on to the end of the block. `sum` is the sum
    /// of those before.
    fn read_rest<const INTRA: bool>(
        &self,
        reader: &mut BitReader,
        (mut at, mut sum): (usize, i32),
        quantiser_scale: i32,
        block: &mut Block,
    ) -> Option<()> {
        let table = if INTRA { self.intra_table } else { &vlc::ZERO };
        loop {
            let bits = reader.peek(32);
            let code = table.find(bits >> 16);
            let length = u32::from(code.length);
            let (run, level) = match code.run {
                _ if length == 0 => return None,
                vlc::END => {
                    reader.skip(length as usize);
                    break;
                }
                vlc::ESCAPE => {
                    // Six bits of run, twelve of level in two's complement (table B.16).
                    let rest = bits << length;
                    reader.skip(length as usize + 18);
                    (rest >> 26, (rest << 6) as i32 >> 20)
                }
                run => {
                    let negative = bits << length & 1 << 31 != 0;
                    reader.skip(length as usize + 1);
                    let level = i32::from(code.level);
                    (run.into(), if negative { -level } else { level })
                }
            };
            at += run as usize;
            let position = usize::from(*self.scan.get(at)?);
            sum += block.set(position, self.dequantise::<INTRA>(position, level, quantiser_scale));
            at += 1;
        }
        if self.mismatch_control {
            block.control_mismatch(sum);
        }
        Some(())
    }

    /// Inverse quantisation of a coefficient (7.4.2.3). The division truncates.
    #[inline]
    fn dequantise<const INTRA: bool>(&self, at: usize, level: i32, quantiser_scale: i32) -> i32 {
        let weight = i32::from(self.matrices[usize::from(!INTRA)][at % 64]);
        let twice = if INTRA { 2 * level } else { 2 * level + level.signum() };
        twice * weight * quantiser_scale / 32
    }
}
