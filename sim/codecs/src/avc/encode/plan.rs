//! All syntax elements of a macroblock, before they are written.

use crate::avc::syntax::Levels;

/// The coefficients of a macroblock after quantisation, in coding order.
#[derive(Clone, Debug)]
pub(super) struct Residual {
    /// 4x4 luma blocks in the order of decoding. With the 8x8 transform, block `4 * b` holds all of
    /// 8x8 block `b`.
    pub luma: [Levels; 16],
    /// DC coefficients of `Intra_16x16`.
    pub luma_dc: Levels,
    /// DC coefficients of Cb and Cr.
    pub chroma_dc: [Levels; 2],
    /// AC coefficients of the blocks of Cb, then of Cr.
    pub chroma: [Levels; 8],
}

impl Residual {
    fn new() -> Self {
        Residual {
            luma: [(); 16].map(|()| Levels::new()),
            luma_dc: Levels::new(),
            chroma_dc: [(); 2].map(|()| Levels::new()),
            chroma: [(); 8].map(|()| Levels::new()),
        }
    }

    /// Removes all coefficients.
    pub fn clear(&mut self) {
        self.luma_dc.count = 0;
        for levels in self.luma.iter_mut().chain(&mut self.chroma).chain(&mut self.chroma_dc) {
            levels.count = 0;
        }
    }

    /// `coded_block_pattern`. `whole`: of `Intra_16x16`.
    pub fn pattern(&self, whole: bool) -> u8 {
        let any = |levels: &[Levels]| levels.iter().any(|levels| levels.count > 0);
        let luma = match whole {
            true => 15 * u8::from(any(&self.luma)),
            false => self
                .luma
                .chunks_exact(4)
                .enumerate()
                .fold(0, |pattern, (block, levels)| pattern | u8::from(any(levels)) << block),
        };
        let chroma = match (any(&self.chroma), any(&self.chroma_dc)) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        };
        luma | chroma << 4
    }
}

/// All syntax elements of a macroblock.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// `mb_type` as in [`crate::avc::syntax::Entropy::macroblock_type`].
    pub number: u8,
    /// `sub_mb_type` of the 8x8 blocks.
    pub sub_types: [u8; 4],
    /// Reference indices of the 8x8 blocks in lists 0 and 1.
    pub references: [[i8; 4]; 2],
    /// Vectors of the 4x4 blocks in lists 0 and 1.
    pub vectors: [[[i16; 2]; 16]; 2],
    /// Direct blocks take their motion from the macroblocks around and other pictures, not from
    /// `references` and `vectors`.
    pub derive: bool,
    /// Intra modes of the 4x4 blocks in raster order.
    pub modes: [u8; 16],
    /// `intra_chroma_pred_mode`.
    pub chroma_mode: u8,
    /// `coded_block_pattern`.
    pub pattern: u8,
    /// `transform_size_8x8_flag`.
    pub transform_8x8: bool,
    /// `mb_qp_delta`.
    pub delta: i32,
    /// The coefficients.
    pub residual: Residual,
    /// Samples of `I_PCM`.
    pub samples: [u8; 384],
}

impl Plan {
    pub fn new() -> Self {
        Plan {
            number: 0,
            sub_types: [0; 4],
            references: [[-1; 4]; 2],
            vectors: [[[0; 2]; 16]; 2],
            derive: false,
            modes: [2; 16],
            chroma_mode: 0,
            pattern: 0,
            transform_8x8: false,
            delta: 0,
            residual: Residual::new(),
            samples: [0; 384],
        }
    }
}
