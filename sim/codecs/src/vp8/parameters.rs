//! What the packets state about a picture, its bytes, and the errors in them.

use std::fmt;

/// Probabilities of coefficients by kind of block (luma without DC, second-order luma, chroma, luma
/// with DC), band, context and node of the tree of tokens (RFC 6386 13.3).
pub type CoefficientProbabilities = [[[[u8; 11]; 3]; 8]; 4];

/// What a picture's packets state. "Macroblock" is 16 x 16 samples of luma.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Macroblocks in a row, 1..=256.
    pub width: usize,
    /// Rows of macroblocks, 1..=256.
    pub height: usize,
    /// The frame refers to no other (RFC 6386 9.1).
    pub key_frame: bool,
    /// Interpolation takes two samples instead of six (versions 1 to 3; RFC 6386 5).
    pub bilinear: bool,
    /// Chroma vectors are rounded down to whole samples (version 3; RFC 6386 5).
    pub full_pixel_chroma: bool,
    /// The kind of the loop filter (filter_type; RFC 6386 9.6).
    pub filter_type: FilterType,
    /// Levels of the loop filter of the segments, 0..=63. Only the first counts without
    /// segmentation.
    pub filter_levels: [u8; 4],
    /// Sharpness of the loop filter, 0..=7 (sharpness_level).
    pub sharpness: u8,
    /// Reference and mode change the level (loop_filter_adj_enable).
    pub filter_deltas: bool,
    /// Changes of the level for intra, last, golden and alternate reference, -63..=63.
    pub reference_deltas: [i8; 4],
    /// Changes of the level for modes, -63..=63: B_PRED, zero vector, other vector, split.
    pub mode_deltas: [i8; 4],
    /// Macroblocks belong to segments (segmentation_enabled; RFC 6386 9.3).
    pub segmentation: bool,
    /// Each macroblock states its segment (update_mb_segmentation_map).
    pub update_segments: bool,
    /// If macroblocks do not state their segment, it comes from the segment map. Without this bit
    /// it is 0.
    pub segments_in: bool,
    /// Segments of this picture are stored in the segment map.
    pub segments_out: bool,
    /// The quantisers of the segments. Only the first counts without segmentation.
    pub quantisers: [Quantiser; 4],
    /// Macroblocks state whether they lack coefficients (mb_no_coeff_skip; RFC 6386 9.11).
    pub skipping: bool,
    /// Vectors to the golden frame have the opposite sign (sign_bias_golden; RFC 6386 9.7).
    pub golden_sign_bias: bool,
    /// Vectors to the alternate frame have the opposite sign (sign_bias_alternate).
    pub alternate_sign_bias: bool,
    /// Probabilities of all syntax elements.
    pub probabilities: Probabilities,
}

/// The kind of the loop filter (RFC 6386 9.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FilterType {
    /// Changes up to three samples on each side, in all planes (RFC 6386 15.3).
    #[default]
    Normal,
    /// Changes one sample on each side, in the luma plane (RFC 6386 15.2).
    Simple,
}

/// The factors of coefficients, not indices of them (RFC 6386 9.6, 14.1). The first of each pair is
/// that of the DC coefficient, the second that of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quantiser {
    /// Luma, 4..=284.
    pub y1: [u16; 2],
    /// Second-order luma, 8..=440.
    pub y2: [u16; 2],
    /// Chroma, 4..=284.
    pub uv: [u16; 2],
}

/// Probabilities that a bit is zero, in units of 1/256.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probabilities {
    /// Tree of segments (mb_segment_tree_probs; RFC 6386 9.3).
    pub segments: [u8; 3],
    /// A macroblock has coefficients (prob_skip_false).
    pub skip: u8,
    /// A macroblock is intra (prob_intra).
    pub intra: u8,
    /// An inter macroblock refers to the last frame (prob_last).
    pub last: u8,
    /// It refers to the golden frame if not to the last one (prob_gf).
    pub golden: u8,
    /// Tree of luma modes in inter frames (intra_16x16_prob). Key frames have constant ones.
    pub luma_modes: [u8; 4],
    /// Tree of chroma modes in inter frames (intra_chroma_prob).
    pub chroma_modes: [u8; 3],
    /// Components of motion vectors: rows, then columns (RFC 6386 17.2).
    pub vectors: [[u8; 19]; 2],
    /// Tokens of coefficients.
    pub coefficients: CoefficientProbabilities,
}

/// State of the entropy decoder after the frame header (RFC 6386 7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Start {
    /// The range, 128..=255. Smaller values are taken as 128.
    pub range: u8,
    /// The eight bits that are compared with the split of the range.
    pub value: u8,
    /// Number of bits of the first byte of [`Data::modes`], from the most significant one on, that
    /// are in `value` already; 0..=7.
    pub count: u8,
}

/// The bytes of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Data<'a> {
    /// State of the decoder of `modes`.
    pub start: Start,
    /// The first partition from the byte on that `start` refers to.
    pub modes: &'a [u8],
    /// The partitions of coefficients: 1, 2, 4 or 8. Row y of macroblocks is in partition y modulo
    /// their number.
    pub coefficients: &'a [&'a [u8]],
}

/// Parameters or buffers that do not describe a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// The picture has no macroblocks, or too many.
    Size {
        /// Macroblocks in a row.
        width: usize,
        /// Rows of macroblocks.
        height: usize,
    },
    /// The number of partitions of coefficients is not 1, 2, 4 or 8.
    Partitions(usize),
    /// The segment map has fewer entries than the picture has macroblocks.
    Segments {
        /// Entries of the map.
        entries: usize,
        /// Macroblocks of the picture.
        macroblocks: usize,
    },
    /// A plane has fewer samples than its size states.
    Samples {
        /// Samples of the plane.
        samples: usize,
        /// Width times height.
        size: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Size { width, height } => {
                write!(f, "VP8 picture of {width} x {height} macroblocks: use 1 to 256 each")
            }
            Error::Partitions(count) => {
                write!(f, "{count} VP8 partitions of coefficients: use 1, 2, 4 or 8")
            }
            Error::Segments { entries, macroblocks } => write!(
                f,
                "VP8 segment map of {entries} entries: use one for each of the {macroblocks} \
                 macroblocks"
            ),
            Error::Samples { samples, size } => {
                write!(f, "plane of {samples} samples: use width times height, {size}")
            }
        }
    }
}

impl std::error::Error for Error {}
