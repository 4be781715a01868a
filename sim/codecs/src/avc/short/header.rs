//! The syntax of slice headers (7.3.3).

use super::stream::{HeaderError, Stream};
use crate::Structure;
use crate::avc::{Parameters, Slice, SliceKind, Weight};
use crate::bits::BitReader;

/// Maximum number of modifications of a list: one for each entry (7.4.3.1).
const MOST_MODIFICATIONS: usize = 32;

/// Maximum number of memory management operations that are read.
const MOST_OPERATIONS: usize = 66;

/// A modification of a reference list (7.4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modification {
    /// The picture number decreases by this.
    Minus(u32),
    /// The picture number increases by this.
    Plus(u32),
    /// A long-term picture number.
    LongTerm(u32),
    /// The index of the reference in another view decreases by this (H.7.4.3.1.1).
    ViewMinus(u32),
    /// The index of the reference in another view increases by this.
    ViewPlus(u32),
}

/// A header.
pub(super) struct Header {
    /// All but the lists.
    pub slice: Slice,
    /// `frame_num`.
    pub frame_number: u16,
    /// Modifications of the lists.
    pub modifications: [Vec<Modification>; 2],
    /// The slice is one of a dependent view, which has references in other views.
    pub dependent: bool,
}

/// The bits of a header.
struct Reader<'a>(BitReader<'a>);

impl Reader<'_> {
    fn unsigned(&mut self) -> Result<u32, HeaderError> {
        self.0.ue().ok_or(HeaderError::End)
    }

    /// An unsigned value of at most `most`.
    fn up_to(&mut self, name: &'static str, most: u32) -> Result<u32, HeaderError> {
        match self.unsigned()? {
            value if value <= most => Ok(value),
            value => Err(HeaderError::Range(name, value.into())),
        }
    }

    /// A signed value of at most `most` in magnitude.
    fn within(&mut self, name: &'static str, most: i32) -> Result<i32, HeaderError> {
        match self.0.se().ok_or(HeaderError::End)? {
            value if value.unsigned_abs() <= most.unsigned_abs() => Ok(value),
            value => Err(HeaderError::Range(name, value.into())),
        }
    }

    fn flag(&mut self) -> bool {
        self.0.flag()
    }
}

impl Header {
    /// Reads the header at byte `start` of a NAL unit without emulation prevention bytes.
    pub fn read(
        stream: &Stream,
        parameters: &Parameters,
        data: &[u8],
        start: usize,
    ) -> Result<Header, HeaderError> {
        let Some(&unit) = data.first() else { return Err(HeaderError::End) };
        let (reference, kind) = (unit >> 5 & 3 != 0, unit & 0x1f);
        // nal_unit_header_mvc_extension (H.7.3.1.1): svc_extension_flag, non_idr_flag.
        let extension = data.get(1).copied().unwrap_or(0);
        let dependent = kind == 20 && extension & 0x80 == 0;
        if !(matches!(kind, 1 | 5) || dependent) {
            return Err(HeaderError::UnitType(kind));
        }
        let idr = if dependent { extension & 0x40 == 0 } else { kind == 5 };
        let bits = &mut Reader(BitReader::new(data, start.saturating_mul(8)));
        let first = bits.up_to("first_mb_in_slice", 0xffff)? as usize;
        let slice_type = bits.up_to("slice_type", 9)?;
        let kind = match slice_type % 5 {
            0 => SliceKind::P,
            1 => SliceKind::B,
            2 => SliceKind::I,
            _ => return Err(HeaderError::Range("slice_type", slice_type.into())),
        };
        bits.up_to("pic_parameter_set_id", 255)?;
        let frame_number = bits.0.read(stream.frame_number_bits.min(16).into()) as u16;
        let field = !parameters.frame_mbs_only && bits.flag();
        let structure = match field {
            false => Structure::Frame,
            true if bits.flag() => Structure::Bottom,
            true => Structure::Top,
        };
        if structure != parameters.structure {
            return Err(HeaderError::Structure);
        }
        if idr {
            bits.up_to("idr_pic_id", 0xffff)?;
        }
        order(stream, field, bits)?;
        if stream.redundant_pictures {
            bits.up_to("redundant_pic_cnt", 127)?;
        }
        let (column, row) = (first % parameters.width.max(1), first / parameters.width.max(1));
        let pairs = parameters.mbaff && !field;
        let mut slice = Slice {
            kind,
            first: (column, if pairs { 2 * row } else { row }),
            direct_spatial: kind == SliceKind::B && bits.flag(),
            ..Slice::default()
        };
        let lists = reference_counts(stream, field, bits, &mut slice)?;
        let mut modifications = [Vec::new(), Vec::new()];
        for list in &mut modifications[..lists] {
            *list = read_modifications(dependent, bits)?;
        }
        if explicit_weights(parameters, kind) {
            weights(parameters, bits, &mut slice)?;
        }
        if reference {
            marking(idr, bits)?;
        }
        if parameters.cabac && kind != SliceKind::I {
            slice.cabac_init = bits.up_to("cabac_init_idc", 2)? as u8;
        }
        let qp = i32::from(stream.initial_qp) + 26 + bits.within("slice_qp_delta", 77)?;
        slice.qp = u8::try_from(qp)
            .ok()
            .filter(|&qp| qp <= 51)
            .ok_or(HeaderError::Range("slice_qp_delta", qp.into()))?;
        if stream.deblocking_control {
            slice.deblocking = bits.up_to("disable_deblocking_filter_idc", 2)? as u8;
            if slice.deblocking != 1 {
                let alpha = bits.within("slice_alpha_c0_offset_div2", 6)? as i8;
                slice.deblocking_offsets = [alpha, bits.within("slice_beta_offset_div2", 6)? as i8];
            }
        }
        slice.data_offset = bits.0.position();
        match slice.data_offset.div_ceil(8) <= data.len() {
            true => Ok(Header { slice, frame_number, modifications, dependent }),
            false => Err(HeaderError::End),
        }
    }
}

/// Syntax elements of the picture order count. The packets state the counts themselves.
fn order(stream: &Stream, field: bool, bits: &mut Reader<'_>) -> Result<(), HeaderError> {
    let both = stream.order_of_bottom_field && !field;
    let deltas = match stream.order_type {
        0 => {
            bits.0.skip(stream.order_bits.min(16).into());
            usize::from(both)
        }
        1 if !stream.order_delta_always_zero => 1 + usize::from(both),
        _ => 0,
    };
    for _ in 0..deltas {
        bits.0.se().ok_or(HeaderError::End)?;
    }
    Ok(())
}

/// Sets the numbers of references. Returns the number of lists.
fn reference_counts(
    stream: &Stream,
    field: bool,
    bits: &mut Reader<'_>,
    slice: &mut Slice,
) -> Result<usize, HeaderError> {
    let lists = match slice.kind {
        SliceKind::I => return Ok(0),
        SliceKind::P => 1,
        SliceKind::B => 2,
    };
    let most = if field { 32 } else { 16 };
    let stated = bits.flag();
    for list in 0..lists {
        let name = ["num_ref_idx_l0_active_minus1", "num_ref_idx_l1_active_minus1"][list];
        slice.reference_counts[list] = match stated {
            true => bits.up_to(name, most - 1)? as u8 + 1,
            false => stream.reference_counts[list].min(most as u8),
        };
    }
    Ok(lists)
}

/// 7.3.3.1, and H.7.3.3.1.1 for a dependent view.
fn read_modifications(
    dependent: bool,
    bits: &mut Reader<'_>,
) -> Result<Vec<Modification>, HeaderError> {
    let mut modifications = Vec::new();
    if !bits.flag() {
        return Ok(modifications);
    }
    loop {
        let most = if dependent { 5 } else { 3 };
        let kind = bits.up_to("modification_of_pic_nums_idc", most)?;
        if kind == 3 {
            return Ok(modifications);
        }
        if modifications.len() == MOST_MODIFICATIONS {
            return Err(HeaderError::Range("modification_of_pic_nums_idc", kind.into()));
        }
        let operand = bits.up_to("abs_diff_pic_num_minus1", 0x1_ffff)?;
        modifications.push(match kind {
            0 => Modification::Minus(operand + 1),
            1 => Modification::Plus(operand + 1),
            2 => Modification::LongTerm(operand),
            4 => Modification::ViewMinus(operand + 1),
            _ => Modification::ViewPlus(operand + 1),
        });
    }
}

/// True if the header has a table of weights.
fn explicit_weights(parameters: &Parameters, kind: SliceKind) -> bool {
    match kind {
        SliceKind::I => false,
        SliceKind::P => parameters.weighted_prediction,
        SliceKind::B => parameters.weighted_biprediction == 1,
    }
}

/// 7.3.3.2.
fn weights(
    parameters: &Parameters,
    bits: &mut Reader<'_>,
    slice: &mut Slice,
) -> Result<(), HeaderError> {
    slice.weight_denominators[0] = bits.up_to("luma_log2_weight_denom", 7)? as u8;
    if !parameters.monochrome {
        slice.weight_denominators[1] = bits.up_to("chroma_log2_weight_denom", 7)? as u8;
    }
    let neutral =
        |plane: usize| Weight { weight: 1 << slice.weight_denominators[plane.min(1)], offset: 0 };
    let neutral = [neutral(0), neutral(1), neutral(2)];
    for list in 0..2 {
        for entry in 0..usize::from(slice.reference_counts[list]) {
            let weights = &mut slice.weights[list][entry];
            *weights = neutral;
            let (luma, chroma) = weights.split_at_mut(1);
            if bits.flag() {
                weight(bits, &mut luma[0])?;
            }
            if !parameters.monochrome && bits.flag() {
                weight(bits, &mut chroma[0])?;
                weight(bits, &mut chroma[1])?;
            }
        }
    }
    Ok(())
}

fn weight(bits: &mut Reader<'_>, weight: &mut Weight) -> Result<(), HeaderError> {
    weight.weight = bits.within("weight of a reference", 128)? as i16;
    weight.offset = bits.within("offset of a reference", 128)? as i16;
    Ok(())
}

/// 7.3.3.3. The application applies the operations, so they are only skipped.
fn marking(idr: bool, bits: &mut Reader<'_>) -> Result<(), HeaderError> {
    if idr {
        bits.0.skip(2);
        return Ok(());
    }
    if !bits.flag() {
        return Ok(());
    }
    for _ in 0..MOST_OPERATIONS {
        let operands = match bits.up_to("memory_management_control_operation", 6)? {
            0 => return Ok(()),
            3 => 2,
            5 => 0,
            _ => 1,
        };
        for _ in 0..operands {
            bits.unsigned()?;
        }
    }
    Err(HeaderError::Range("number of memory management operations", MOST_OPERATIONS as i64 + 1))
}
