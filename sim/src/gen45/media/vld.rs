//! VLD mode: the front end decodes slices of MPEG-2 up to the coefficients. Threads get
//! macroblocks, and do inverse quantisation, inverse transform and prediction. Clauses in this
//! module are of ISO/IEC 13818-2.

use crate::assumptions::{G45_VLD_FIRST_FIELD, G45_VLD_INDEX_OF_FIELD_DCT};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;
use genxml::gen45::media::VldState;
use genxml::gen45::media_vld::{
    VldBlockPayload, VldMacroblockPayload, VldMacroblockPayloadMotionVector, VldSliceInlineData,
};
use genxml_codecs::mpeg2::{
    Macroblock, Motion, Parameters, Picture, PictureType, Prediction, Slice, Structure,
};
use genxml_core::{S, U};

/// Maximum number of macroblock columns of a slice. VLD_STATE does not contain the size of the
/// picture. A slice ends where its data end.
const COLUMNS: usize = 128;

/// The macroblocks of a slice: for each the offset of its interface descriptor, and the data of its
/// thread.
///
/// # Errors
/// [`Fault::BadPacket`] for parameters that no picture has, and for a slice without its two dwords;
/// [`Fault::Hang`] if the budget is used up.
pub fn macroblocks(
    exec: &mut Exec<'_>,
    state: &VldState,
    inline: &[u32],
    data: &[u8],
) -> Result<Vec<(u64, Vec<u8>)>, Fault> {
    let Ok(inline) = <[u32; VldSliceInlineData::DWORDS]>::try_from(inline) else {
        let why = "a slice has two dwords of inline data";
        return Err(exec.bad_field("DWord Length", inline.len() as u64 + 2, why));
    };
    let inline = VldSliceInlineData::unpack_lossy(&inline);
    let slice = Slice {
        row: inline.slice_vertical_position.get() as usize,
        quantiser_scale_code: inline.quantizer_scale_code.get() as u8,
        bit_offset: inline.first_macroblock_bit_offset.get() as usize,
    };
    let parameters = parameters(exec, state, slice.row)?;
    let mut picture = Picture::levels(parameters).map_err(|error| {
        let row = inline.slice_vertical_position.get();
        exec.bad_field("Slice Vertical Position", row, error.to_string())
    })?;
    let mut macroblocks = Vec::new();
    picture.parse(&slice, data, |parameters, position, macroblock| {
        let index = remap(state, index(parameters.structure, macroblock));
        macroblocks.push((index, payload(state, parameters, position, macroblock)));
    });
    exec.spend(256 * watchdog::PIXEL * macroblocks.len() as u64)?;
    Ok(macroblocks)
}

/// The parameters of a picture that has row `row`.
fn parameters(exec: &Exec<'_>, state: &VldState, row: usize) -> Result<Parameters, Fault> {
    let picture_type = match state.picture_coding_type.get() {
        1 => PictureType::I,
        2 => PictureType::P,
        3 => PictureType::B,
        other => {
            let why = "it is none of 1 (I), 2 (P) and 3 (B)";
            return Err(exec.bad_field("Picture Coding Type", other, why));
        }
    };
    let structure = match state.picture_structure.get() {
        1 => Structure::Top,
        2 => Structure::Bottom,
        3 => Structure::Frame,
        other => {
            let why = "it is none of 1 (top field), 2 (bottom field) and 3 (frame)";
            return Err(exec.bad_field("Picture Structure", other, why));
        }
    };
    let code = |code: U<4>| code.get() as u8;
    Ok(Parameters {
        width: COLUMNS,
        height: (row + 1) * structure.step(),
        picture_type,
        structure,
        f_codes: [
            [code(state.f_code_0_0), code(state.f_code_0_1)],
            [code(state.f_code_1_0), code(state.f_code_1_1)],
        ],
        intra_dc_precision: state.intra_dc_precision.get() as u8,
        top_field_first: state.top_field_first,
        frame_pred_frame_dct: state.frame_predict_frame_dct,
        concealment_vectors: state.concealment_motion_vectors,
        nonlinear_quantiser: state.quantizer_scale_type,
        intra_vlc_format: state.intra_vlc_format,
        alternate_scan: state.scan_order,
        mismatch_control: false,
        conceal: false,
        intra_matrix: [0; 64],
        non_intra_matrix: [0; 64],
    })
}

/// The kind of a macroblock: an index into the table of VLD_STATE (facts: intel-vaapi-driver
/// i965_media_mpeg2.c).
fn index(structure: Structure, macroblock: &Macroblock) -> usize {
    let Motion { prediction, directions: [forward, backward], .. } = macroblock.motion;
    let directions = [0, 1, 4, 6][usize::from(forward) + 2 * usize::from(backward)];
    let kind = match prediction {
        _ if macroblock.intra => 0,
        Prediction::DualPrime => 3,
        Prediction::Frame => directions,
        // In a field picture, field prediction has the indices of frame prediction.
        Prediction::Field if structure.is_field() => directions,
        Prediction::Field | Prediction::SixteenByEight => directions + 1,
    };
    kind + if macroblock.field_dct { G45_VLD_INDEX_OF_FIELD_DCT } else { 0 }
}

/// The offset of the interface descriptor of a kind of macroblock.
fn remap(state: &VldState, index: usize) -> u64 {
    let table = [
        state.descriptor_remap_index_0,
        state.descriptor_remap_index_1,
        state.descriptor_remap_index_2,
        state.descriptor_remap_index_3,
        state.descriptor_remap_index_4,
        state.descriptor_remap_index_5,
        state.descriptor_remap_index_6,
        state.descriptor_remap_index_7,
        state.descriptor_remap_index_8,
        state.descriptor_remap_index_9,
        state.descriptor_remap_index_10,
        state.descriptor_remap_index_11,
        state.descriptor_remap_index_12,
        state.descriptor_remap_index_13,
        state.descriptor_remap_index_14,
        state.descriptor_remap_index_15,
    ];
    table[index % table.len()].get()
}

/// The data of a macroblock's thread: its parameters, then the levels of its coded blocks.
fn payload(
    state: &VldState,
    parameters: &Parameters,
    (column, row): (usize, usize),
    macroblock: &Macroblock,
) -> Vec<u8> {
    let (vectors, bottom) = vectors(parameters.structure, &macroblock.motion);
    let [forward, backward] = macroblock.motion.directions;
    let header = VldMacroblockPayload {
        macroblock_intra: macroblock.intra,
        macroblock_motion_forward: forward && !macroblock.intra,
        macroblock_motion_backward: backward && !macroblock.intra,
        field_dct: macroblock.field_dct,
        motion_type: U::from_bits(match macroblock.motion.prediction {
            Prediction::Field => 1,
            Prediction::Frame | Prediction::SixteenByEight => 2,
            Prediction::DualPrime => 3,
        }),
        first_field: G45_VLD_FIRST_FIELD,
        motion_vertical_field_select: bottom,
        quantizer_scale_code: U::from_bits(macroblock.quantiser_scale_code.into()),
        quantizer_scale_type: state.quantizer_scale_type,
        coded_block_pattern: U::from_bits(macroblock.pattern.into()),
        intra_dc_precision: state.intra_dc_precision,
        picture_structure: state.picture_structure,
        horizontal_origin: U::from_bits(16 * column as u64),
        vertical_origin: U::from_bits(16 * row as u64),
        motion_vector: vectors.map(|[horizontal, vertical]| VldMacroblockPayloadMotionVector {
            horizontal: S::from_bits(horizontal as u64 & 0xffff),
            vertical: S::from_bits(vertical as u64 & 0xffff),
        }),
    };
    let mut data = bytemuck::cast_slice::<u32, u8>(&header.pack()).to_vec();
    let coded = |number: usize| macroblock.pattern & 32 >> number != 0;
    for number in (0..macroblock.blocks.len()).filter(|number| coded(*number)) {
        let levels = macroblock.blocks[number].coefficients();
        let block =
            VldBlockPayload { level: levels.map(|level| S::from_bits(u64::from(level as u16))) };
        data.extend_from_slice(bytemuck::cast_slice::<u32, u8>(&block.pack()));
    }
    data
}

/// Vectors and field selects: first forward, first backward, second forward, second backward. For
/// dual prime, the forward ones are those into fields of the same parity, and the backward ones
/// those into fields of the other parity (assumptions::G45_VLD_DUAL_PRIME).
fn vectors(structure: Structure, motion: &Motion) -> ([[i32; 2]; 4], [bool; 4]) {
    let ([first, second], [first_bottom, second_bottom]) = (motion.vectors, motion.bottom);
    if motion.prediction != Prediction::DualPrime {
        let bottom = [first_bottom[0], first_bottom[1], second_bottom[0], second_bottom[1]];
        return ([first[0], first[1], second[0], second[1]], bottom);
    }
    let [opposite, second_opposite] = motion.opposite;
    let bottom = structure == Structure::Bottom;
    ([first[0], opposite, first[0], second_opposite], [bottom, !bottom, !bottom, bottom])
}
