//! Sequence and picture parameter sets (H.264 7.3.2.1, 7.3.2.2).

use genxml_codecs::bits::BitReader;

/// Table 7-3, in scan order: intra, inter.
const DEFAULT_4X4: [[u8; 16]; 2] = [
    [6, 13, 13, 20, 20, 20, 28, 28, 28, 28, 32, 32, 32, 37, 37, 42],
    [10, 14, 14, 20, 20, 20, 24, 24, 24, 24, 27, 27, 27, 30, 30, 34],
];

/// Table 7-4, in scan order: intra, inter.
const DEFAULT_8X8: [[u8; 64]; 2] = [
    [
        6, 10, 10, 13, 11, 13, 16, 16, 16, 16, 18, 18, 18, 18, 18, 23, 23, 23, 23, 23, 23, 25, 25,
        25, 25, 25, 25, 25, 27, 27, 27, 27, 27, 27, 27, 27, 29, 29, 29, 29, 29, 29, 29, 31, 31, 31,
        31, 31, 31, 33, 33, 33, 33, 33, 36, 36, 36, 36, 38, 38, 38, 40, 40, 42,
    ],
    [
        9, 13, 13, 15, 13, 15, 17, 17, 17, 17, 19, 19, 19, 19, 19, 21, 21, 21, 21, 21, 21, 22, 22,
        22, 22, 22, 22, 22, 24, 24, 24, 24, 24, 24, 24, 24, 25, 25, 25, 25, 25, 25, 25, 27, 27, 27,
        27, 27, 27, 28, 28, 28, 28, 28, 30, 30, 30, 30, 32, 32, 32, 33, 33, 35,
    ],
];

/// Scaling matrices in scan order: 4x4 intra Y, Cb, Cr, inter Y, Cb, Cr; 8x8 intra, inter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaling {
    pub small: [[u8; 16]; 6],
    pub large: [[u8; 64]; 2],
}

impl Scaling {
    pub const FLAT: Scaling = Scaling { small: [[16; 16]; 6], large: [[16; 64]; 2] };

    /// Table 7-2: what stands for the first list of each kind that is not sent, by rule A.
    const DEFAULT: Scaling = Scaling {
        small: [
            DEFAULT_4X4[0],
            DEFAULT_4X4[0],
            DEFAULT_4X4[0],
            DEFAULT_4X4[1],
            DEFAULT_4X4[1],
            DEFAULT_4X4[1],
        ],
        large: DEFAULT_8X8,
    };

    /// Reads the lists, of which `large` are of 8x8 (7.3.2.1.1.1). `fallback` stands for lists 0,
    /// 3, 6 and 7 if they are absent; the list of the same size before stands for the others.
    fn read(bits: &mut BitReader, large: usize, fallback: &Scaling) -> Option<Scaling> {
        let mut lists = fallback.clone();
        for index in 0..6 {
            let absent =
                if index % 3 == 0 { fallback.small[index] } else { lists.small[index - 1] };
            lists.small[index] = read_list(bits, absent, Self::DEFAULT.small[index])?;
        }
        for (index, list) in lists.large.iter_mut().enumerate().take(large) {
            *list = read_list(bits, fallback.large[index], DEFAULT_8X8[index])?;
        }
        Some(lists)
    }
}

fn read_list<const N: usize>(
    bits: &mut BitReader,
    absent: [u8; N],
    default: [u8; N],
) -> Option<[u8; N]> {
    if !bits.flag() {
        return Some(absent);
    }
    let mut list = [0; N];
    let (mut last, mut next) = (8u8, 8u8);
    for (at, element) in list.iter_mut().enumerate() {
        if next != 0 {
            next = last.wrapping_add(bits.se()? as u8);
            if at == 0 && next == 0 {
                return Some(default);
            }
        }
        if next != 0 {
            last = next;
        }
        *element = last;
    }
    Some(list)
}

/// A sequence parameter set: names of 7.4.2.1.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sps {
    pub id: u32,
    pub profile_idc: u32,
    pub chroma_format_idc: u32,
    pub bit_depth: [u32; 2],
    pub lossless: bool,
    /// None if the set has no matrices.
    pub scaling: Option<Scaling>,
    pub log2_max_frame_num: u32,
    pub poc_type: u32,
    pub log2_max_poc_lsb: u32,
    pub delta_pic_order_always_zero: bool,
    pub offset_for_non_ref_pic: i32,
    pub offset_for_top_to_bottom_field: i32,
    pub offsets_for_ref_frame: Vec<i32>,
    pub max_num_ref_frames: u32,
    pub gaps_allowed: bool,
    pub width_mbs: usize,
    pub height_map_units: usize,
    pub frame_mbs_only: bool,
    pub mbaff: bool,
    pub direct_8x8_inference: bool,
    /// Left, right, top, bottom in luma samples of the frame.
    pub crop: [usize; 4],
}

impl Sps {
    /// Height of a frame in macroblocks.
    pub fn height_mbs(&self) -> usize {
        self.height_map_units * if self.frame_mbs_only { 1 } else { 2 }
    }

    pub fn parse(rbsp: &[u8]) -> Option<Sps> {
        let bits = &mut BitReader::new(rbsp, 8);
        let profile_idc = bits.read(8);
        // The constraints and the level do not change the decoding.
        bits.skip(16);
        let id = bits.ue()?;
        let (mut chroma_format_idc, mut bit_depth, mut lossless, mut scaling) =
            (1, [8, 8], false, None);
        if matches!(
            profile_idc,
            100 | 110 | 122 | 244 | 44 | 83 | 86 | 118 | 128 | 138 | 139 | 134 | 135
        ) {
            chroma_format_idc = bits.ue()?;
            if chroma_format_idc == 3 {
                bits.flag();
            }
            bit_depth = [bits.ue()?.checked_add(8)?, bits.ue()?.checked_add(8)?];
            lossless = bits.flag();
            if bits.flag() {
                let large = if chroma_format_idc == 3 { 6 } else { 2 };
                scaling = Some(Scaling::read(bits, large.min(2), &Scaling::DEFAULT)?);
            }
        }
        let log2_max_frame_num = bits.ue()? + 4;
        let poc_type = bits.ue()?;
        let mut sps = Sps {
            id,
            profile_idc,
            chroma_format_idc,
            bit_depth,
            lossless,
            scaling,
            log2_max_frame_num,
            poc_type,
            log2_max_poc_lsb: 4,
            delta_pic_order_always_zero: false,
            offset_for_non_ref_pic: 0,
            offset_for_top_to_bottom_field: 0,
            offsets_for_ref_frame: Vec::new(),
            max_num_ref_frames: 0,
            gaps_allowed: false,
            width_mbs: 0,
            height_map_units: 0,
            frame_mbs_only: true,
            mbaff: false,
            direct_8x8_inference: false,
            crop: [0; 4],
        };
        sps.rest(bits)?;
        Some(sps)
    }

    fn rest(&mut self, bits: &mut BitReader) -> Option<()> {
        match self.poc_type {
            0 => self.log2_max_poc_lsb = bits.ue()? + 4,
            1 => {
                self.delta_pic_order_always_zero = bits.flag();
                self.offset_for_non_ref_pic = bits.se()?;
                self.offset_for_top_to_bottom_field = bits.se()?;
                for _ in 0..bits.ue()?.min(255) {
                    self.offsets_for_ref_frame.push(bits.se()?);
                }
            }
            _ => {}
        }
        self.max_num_ref_frames = bits.ue()?;
        self.gaps_allowed = bits.flag();
        self.width_mbs = bits.ue()? as usize + 1;
        self.height_map_units = bits.ue()? as usize + 1;
        self.frame_mbs_only = bits.flag();
        self.mbaff = !self.frame_mbs_only && bits.flag();
        self.direct_8x8_inference = bits.flag();
        if bits.flag() {
            let across = if matches!(self.chroma_format_idc, 1 | 2) { 2 } else { 1 };
            let down = if self.chroma_format_idc == 1 { 2 } else { 1 };
            let fields = if self.frame_mbs_only { 1 } else { 2 };
            for (edge, unit) in [across, across, down * fields, down * fields].iter().enumerate() {
                self.crop[edge] = bits.ue()? as usize * unit;
            }
        }
        // The usability information after this is not needed: frames are sorted without limit.
        Some(())
    }
}

/// A picture parameter set: names of 7.4.2.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pps {
    pub id: u32,
    pub sps: u32,
    pub cabac: bool,
    pub bottom_field_pic_order: bool,
    pub slice_groups: u32,
    pub num_ref_idx: [u32; 2],
    pub weighted_pred: bool,
    pub weighted_bipred_idc: u32,
    pub pic_init_qp: i32,
    pub chroma_qp_offset: [i32; 2],
    pub deblocking_control: bool,
    pub constrained_intra_pred: bool,
    pub redundant_pic_cnt: bool,
    pub transform_8x8: bool,
    pub scaling: Scaling,
}

impl Pps {
    /// `rbsp` ends with its last byte that is not zero. `sps` finds the set with an identifier.
    pub fn parse(rbsp: &[u8], sps: impl Fn(u32) -> Option<Sps>) -> Option<Pps> {
        let bits = &mut BitReader::new(rbsp, 8);
        let (id, sps_id) = (bits.ue()?, bits.ue()?);
        let sps = sps(sps_id)?;
        let mut pps = Pps {
            id,
            sps: sps_id,
            cabac: bits.flag(),
            bottom_field_pic_order: bits.flag(),
            slice_groups: bits.ue()? + 1,
            num_ref_idx: [0; 2],
            weighted_pred: false,
            weighted_bipred_idc: 0,
            pic_init_qp: 0,
            chroma_qp_offset: [0; 2],
            deblocking_control: false,
            constrained_intra_pred: false,
            redundant_pic_cnt: false,
            transform_8x8: false,
            scaling: sps.scaling.clone().unwrap_or(Scaling::FLAT),
        };
        if pps.slice_groups > 1 {
            return Some(pps);
        }
        pps.num_ref_idx = [bits.ue()? + 1, bits.ue()? + 1];
        pps.weighted_pred = bits.flag();
        pps.weighted_bipred_idc = bits.read(2);
        pps.pic_init_qp = 26 + bits.se()?;
        bits.se()?;
        pps.chroma_qp_offset = [bits.se()?; 2];
        pps.deblocking_control = bits.flag();
        pps.constrained_intra_pred = bits.flag();
        pps.redundant_pic_cnt = bits.flag();
        let stop =
            rbsp.last().map_or(0, |last| 8 * rbsp.len() - 1 - last.trailing_zeros() as usize);
        if bits.position() < stop {
            pps.transform_8x8 = bits.flag();
            if bits.flag() {
                let large = match (pps.transform_8x8, sps.chroma_format_idc) {
                    (false, _) => 0,
                    _ => 2,
                };
                let fallback = sps.scaling.as_ref().unwrap_or(&Scaling::DEFAULT);
                pps.scaling = Scaling::read(bits, large, fallback)?;
            }
            pps.chroma_qp_offset[1] = bits.se()?;
        }
        Some(pps)
    }
}
