//! Headers of sequences and pictures (clauses 6 and 7, annex J), as values.

use genxml_codecs::bits::BitReader;
use genxml_codecs::vc1::{Alternative, Intensity, Overlap, PictureType, VectorMode};

/// The sequence header and the entry point header, or STRUCT_C.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// 0 simple, 1 main, 3 advanced.
    pub profile: u32,
    pub width: usize,
    pub height: usize,
    pub postproc: bool,
    pub pulldown: bool,
    pub interlace: bool,
    pub frame_counter: bool,
    pub interpolation: bool,
    pub segmented: bool,
    pub leaky_buckets: u32,
    pub pan_scan: bool,
    pub reference_distance: bool,
    pub loop_filter: bool,
    pub fast_chroma: bool,
    pub extended_mv: bool,
    pub extended_dmv: bool,
    pub dquant: u32,
    pub variable_transform: bool,
    pub overlap: bool,
    pub quantizer: u32,
    pub multires: bool,
    pub sync_marker: bool,
    pub range_reduction: bool,
    pub max_b: u32,
}

impl Sequence {
    /// STRUCT_C of simple and main profile (annex J.1).
    pub fn main(bytes: &[u8], (width, height): (usize, usize)) -> Self {
        let mut bits = BitReader::new(bytes, 0);
        let profile = bits.read(2);
        bits.skip(10);
        let mut sequence = Sequence { profile, width, height, ..Sequence::default() };
        sequence.loop_filter = bits.flag();
        bits.skip(1);
        sequence.multires = bits.flag();
        bits.skip(1);
        sequence.fast_chroma = bits.flag();
        sequence.extended_mv = bits.flag();
        sequence.dquant = bits.read(2);
        sequence.variable_transform = bits.flag();
        bits.skip(1);
        sequence.overlap = bits.flag();
        sequence.sync_marker = bits.flag();
        sequence.range_reduction = bits.flag();
        sequence.max_b = bits.read(3);
        sequence.quantizer = bits.read(2);
        sequence.interpolation = bits.flag();
        sequence
    }

    /// A sequence header of advanced profile (6.1).
    pub fn advanced(bytes: &[u8]) -> Self {
        let mut bits = BitReader::new(bytes, 0);
        let mut sequence = Sequence { profile: bits.read(2), ..Sequence::default() };
        bits.skip(3 + 2 + 3 + 5);
        sequence.postproc = bits.flag();
        sequence.width = (bits.read(12) as usize + 1) * 2;
        sequence.height = (bits.read(12) as usize + 1) * 2;
        sequence.pulldown = bits.flag();
        sequence.interlace = bits.flag();
        sequence.frame_counter = bits.flag();
        sequence.interpolation = bits.flag();
        bits.skip(1);
        sequence.segmented = bits.flag();
        if bits.flag() {
            bits.skip(28);
            if bits.flag() && bits.read(4) == 15 {
                bits.skip(16);
            }
            if bits.flag() {
                let exact = bits.flag();
                bits.skip(if exact { 16 } else { 12 });
            }
            if bits.flag() {
                bits.skip(24);
            }
        }
        if bits.flag() {
            sequence.leaky_buckets = bits.read(5);
        }
        sequence
    }

    /// An entry point header (6.2).
    pub fn entry_point(&mut self, bytes: &[u8]) {
        let mut bits = BitReader::new(bytes, 2);
        self.pan_scan = bits.flag();
        self.reference_distance = bits.flag();
        self.loop_filter = bits.flag();
        self.fast_chroma = bits.flag();
        self.extended_mv = bits.flag();
        self.dquant = bits.read(2);
        self.variable_transform = bits.flag();
        self.overlap = bits.flag();
        self.quantizer = bits.read(2);
        bits.skip(8 * self.leaky_buckets as usize);
        if bits.flag() {
            self.width = (bits.read(12) as usize + 1) * 2;
            self.height = (bits.read(12) as usize + 1) * 2;
        }
        self.extended_dmv = self.extended_mv && bits.flag();
    }

    pub fn is_advanced(&self) -> bool {
        self.profile == 3
    }

    /// Columns and rows of macroblocks of a frame, or of a field.
    pub fn size_in_mbs(&self, field: bool) -> (usize, usize) {
        let rows = if field { 32 } else { 16 };
        (self.width.div_ceil(16), self.height.div_ceil(rows))
    }
}

/// FCM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fcm {
    #[default]
    Progressive,
    Frame,
    Field,
}

/// A flag per macroblock: in the slice if `raw`, else here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plane {
    pub raw: bool,
    pub bits: Vec<bool>,
}

/// A picture header.
#[derive(Clone, Debug, Default)]
pub struct Header {
    pub fcm: Fcm,
    pub kind: PictureType,
    pub skipped: bool,
    /// FPTYPE of field pictures.
    pub field_types: u32,
    pub second_field: bool,
    pub top_first: bool,
    pub rounding: bool,
    pub distance: u32,
    /// Index of BFRACTION in its table.
    pub fraction: u32,
    pub reduced: bool,
    /// PQINDEX.
    pub index: u32,
    pub half: bool,
    pub uniform: bool,
    pub mv_range: u32,
    pub dmv_range: u32,
    pub mode: VectorMode,
    /// Intensity compensation: of the top and the bottom field; both equal in frames.
    pub intensity: [Option<Intensity>; 2],
    pub two_references: bool,
    pub far_reference: bool,
    pub four_vectors: bool,
    pub mv_type: Option<Plane>,
    pub skip: Option<Plane>,
    pub direct: Option<Plane>,
    pub forward: Option<Plane>,
    pub overlap_flags: Option<Plane>,
    pub ac_prediction: Option<Plane>,
    pub field_transform: Option<Plane>,
    pub mv_table: u32,
    pub cbp_table: u32,
    pub mode_table: u32,
    pub four_mv_table: u32,
    pub two_mv_table: u32,
    pub alternative: Alternative,
    pub alternative_quantizer: u32,
    pub picture_transform: bool,
    pub transform: u32,
    pub chroma_set: u32,
    pub luma_set: u32,
    pub dc_table: bool,
    pub conditional_overlap: Overlap,
}

/// PQUANT of an index with the implicit quantiser.
pub const IMPLICIT: [u32; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
    24, 25, 27, 29, 31,
];

impl Header {
    pub fn pquant(&self, sequence: &Sequence) -> u32 {
        if sequence.quantizer == 0 { IMPLICIT[self.index as usize] } else { self.index }
    }

    pub fn intra(&self) -> bool {
        matches!(self.kind, PictureType::I | PictureType::Bi)
    }
}

/// MVMODE by the number of zeros before its code's one, with PQUANT above 12 and otherwise (tables
/// 45, 46).
pub const MODES: [[VectorMode; 4]; 2] = [
    [VectorMode::OneHalfBilinear, VectorMode::One, VectorMode::OneHalf, VectorMode::Mixed],
    [VectorMode::One, VectorMode::Mixed, VectorMode::OneHalf, VectorMode::OneHalfBilinear],
];

/// BFRACTION as the driver scales it (in 1/256).
pub const FRACTIONS: [u8; 21] = [
    128, 85, 170, 64, 192, 51, 102, 153, 204, 43, 215, 37, 74, 111, 148, 185, 222, 32, 96, 160, 224,
];
