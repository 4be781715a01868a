//! Slice headers (H.264 7.3.3).

use super::headers::{Pps, Sps};
use genxml_codecs::Structure;
use genxml_codecs::bits::BitReader;

/// A memory management control operation: its number and up to two operands (7.3.3.3).
pub type Operation = (u32, u32, u32);

/// What a prediction weight table says about a reference: weight and offset of Y, Cb, Cr.
pub type Weights = [(i32, i32); 3];

/// A slice header: names of 7.4.3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub nal_ref_idc: u32,
    pub idr: bool,
    pub first_mb: usize,
    /// 0 P, 1 B, 2 I.
    pub kind: u32,
    pub pps: u32,
    pub frame_num: u32,
    pub structure: Structure,
    pub idr_pic_id: u32,
    pub poc_lsb: u32,
    pub delta_poc_bottom: i32,
    pub delta_poc: [i32; 2],
    pub redundant_pic_cnt: u32,
    pub direct_spatial: bool,
    /// References of list 0 and 1; 0 if the slice has no such list.
    pub num_ref_idx: [usize; 2],
    /// Modifications of the lists: modification_of_pic_nums_idc and its operand.
    pub modifications: [Vec<(u32, u32)>; 2],
    /// The base 2 logarithms of the denominators for luma and chroma, and the weights of list 0
    /// and 1. References without weights have the neutral ones.
    pub weights: Option<([u32; 2], [Vec<Weights>; 2])>,
    pub long_term_reference: bool,
    pub operations: Option<Vec<Operation>>,
    pub cabac_init_idc: u32,
    pub qp: i32,
    pub deblocking_idc: u32,
    pub alpha_offset_div2: i32,
    pub beta_offset_div2: i32,
    /// Position of slice_data() in the NAL unit without emulation prevention bytes, in bits.
    pub data: usize,
}

impl Header {
    /// Parses the header of a slice; `unit` has no emulation prevention bytes. `sets` finds the
    /// parameter sets of a picture parameter set's identifier.
    pub fn parse<'a>(
        unit: &[u8],
        sets: impl Fn(u32) -> Option<(&'a Sps, &'a Pps)>,
    ) -> Option<Header> {
        let bits = &mut BitReader::new(unit, 8);
        let first_mb = bits.ue()? as usize;
        let kind = bits.ue()? % 5;
        let pps_id = bits.ue()?;
        let (sps, pps) = sets(pps_id)?;
        let frame_num = bits.read(sps.log2_max_frame_num);
        let field = !sps.frame_mbs_only && bits.flag();
        let structure = match (field, field && bits.flag()) {
            (false, _) => Structure::Frame,
            (true, false) => Structure::Top,
            (true, true) => Structure::Bottom,
        };
        let idr = unit[0] & 0x1F == 5;
        let mut header = Header {
            nal_ref_idc: u32::from(unit[0] >> 5 & 3),
            idr,
            first_mb,
            kind,
            pps: pps_id,
            frame_num,
            structure,
            idr_pic_id: if idr { bits.ue()? } else { 0 },
            ..Header::default()
        };
        header.order(bits, sps, pps)?;
        header.lists(bits, pps)?;
        let explicit = match kind {
            0 | 3 => pps.weighted_pred,
            1 => pps.weighted_bipred_idc == 1,
            _ => false,
        };
        if explicit {
            header.weight_table(bits, sps.chroma_format_idc)?;
        }
        if header.nal_ref_idc != 0 {
            header.marking(bits)?;
        }
        if pps.cabac && kind != 2 {
            header.cabac_init_idc = bits.ue()?;
        }
        header.qp = pps.pic_init_qp + bits.se()?;
        if pps.deblocking_control {
            header.deblocking_idc = bits.ue()?;
            if header.deblocking_idc != 1 {
                header.alpha_offset_div2 = bits.se()?;
                header.beta_offset_div2 = bits.se()?;
            }
        }
        header.data = bits.position();
        let fits = kind <= 2
            && header.deblocking_idc <= 2
            && header.cabac_init_idc <= 2
            && (0..52).contains(&header.qp)
            && header.num_ref_idx.iter().all(|&count| count <= 32);
        fits.then_some(header)
    }

    fn order(&mut self, bits: &mut BitReader, sps: &Sps, pps: &Pps) -> Option<()> {
        let both = pps.bottom_field_pic_order && !self.structure.is_field();
        if sps.poc_type == 0 {
            self.poc_lsb = bits.read(sps.log2_max_poc_lsb);
            if both {
                self.delta_poc_bottom = bits.se()?;
            }
        }
        if sps.poc_type == 1 && !sps.delta_pic_order_always_zero {
            self.delta_poc[0] = bits.se()?;
            if both {
                self.delta_poc[1] = bits.se()?;
            }
        }
        if pps.redundant_pic_cnt {
            self.redundant_pic_cnt = bits.ue()?;
        }
        Some(())
    }

    fn lists(&mut self, bits: &mut BitReader, pps: &Pps) -> Option<()> {
        let lists = match self.kind {
            0 => 1,
            1 => 2,
            _ => return Some(()),
        };
        self.direct_spatial = self.kind == 1 && bits.flag();
        let sent = bits.flag();
        for list in 0..lists {
            let count = if sent { bits.ue()?.saturating_add(1) } else { pps.num_ref_idx[list] };
            self.num_ref_idx[list] = count.min(33) as usize;
        }
        for list in 0..lists {
            if bits.flag() {
                loop {
                    let kind = bits.ue()?;
                    if kind >= 3 || self.modifications[list].len() > 66 {
                        break;
                    }
                    let operand = bits.ue()?;
                    self.modifications[list].push((kind, operand));
                }
            }
        }
        Some(())
    }

    /// 7.3.3.2.
    fn weight_table(&mut self, bits: &mut BitReader, chroma_format_idc: u32) -> Option<()> {
        let luma = bits.ue()?.min(7);
        let chroma = if chroma_format_idc != 0 { bits.ue()?.min(7) } else { 0 };
        let neutral = [(1 << luma, 0), (1 << chroma, 0), (1 << chroma, 0)];
        let mut lists = [Vec::new(), Vec::new()];
        for (list, out) in lists.iter_mut().enumerate() {
            for _ in 0..self.num_ref_idx[list] {
                let mut weights: Weights = neutral;
                if bits.flag() {
                    weights[0] = (bits.se()?, bits.se()?);
                }
                if chroma_format_idc != 0 && bits.flag() {
                    weights[1] = (bits.se()?, bits.se()?);
                    weights[2] = (bits.se()?, bits.se()?);
                }
                out.push(weights);
            }
        }
        self.weights = Some(([luma, chroma], lists));
        Some(())
    }

    /// 7.3.3.3.
    fn marking(&mut self, bits: &mut BitReader) -> Option<()> {
        if self.idr {
            bits.skip(1);
            self.long_term_reference = bits.flag();
            return Some(());
        }
        if !bits.flag() {
            return Some(());
        }
        let mut operations = Vec::new();
        while operations.len() < 70 {
            let operation = bits.ue()?;
            if operation == 0 {
                break;
            }
            let first = if matches!(operation, 1 | 2 | 3 | 4 | 6) { bits.ue()? } else { 0 };
            let second = if operation == 3 { bits.ue()? } else { 0 };
            operations.push((operation, first, second));
        }
        self.operations = Some(operations);
        Some(())
    }

    /// True if this slice is of another picture than `before` (7.4.1.2.4).
    pub fn starts_picture(&self, before: &Header) -> bool {
        self.frame_num != before.frame_num
            || self.pps != before.pps
            || self.structure != before.structure
            || (self.nal_ref_idc == 0) != (before.nal_ref_idc == 0)
            || self.idr != before.idr
            || self.idr_pic_id != before.idr_pic_id
            || self.poc_lsb != before.poc_lsb
            || self.delta_poc_bottom != before.delta_poc_bottom
            || self.delta_poc != before.delta_poc
    }

    /// True if an operation forgets all references (memory_management_control_operation 5).
    pub fn resets(&self) -> bool {
        self.operations.iter().flatten().any(|operation| operation.0 == 5)
    }
}
