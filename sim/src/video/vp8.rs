//! VP8: packets become the values that [`genxml_codecs::vp8`] takes.

use super::buffer;
use super::outputs::Outputs;
use super::status::{decoded, mode};
use super::surface::{Arrangement, sizes_420};
use crate::machine::coded::{Codec, CodedPicture, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfd::MfdVp8BsdObject;
use genxml::gen8::mfx_common::MfxPipeModeSelectStandardSelect as Standard;
use genxml::gen8::mfx_vp8::{
    MfxVp8PicState, MfxVp8PicStateDblkFilterType as Filter, MfxVp8PicStateMcFilterSelect as Motion,
};
use genxml_codecs::Structure;
use genxml_codecs::vp8::{
    self, CoefficientProbabilities, Data, FilterType, Parameters, Probabilities, Quantiser, Start,
};
use genxml_core::U;

/// Macroblocks whose segments fit a byte of the segment map: two bits each. Only the engine reads
/// the map, so its layout is free; this one fits the smallest buffer that drivers allocate
/// (digests/video.md 5.3).
const SEGMENTS_PER_BYTE: usize = 4;
/// Name of the segment map.
const SEGMENTS: &str = "Segmentation ID Stream";

/// Executes MFD_VP8_BSD_OBJECT: decodes a frame and writes it.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Page`] if a buffer is not
/// mapped.
pub fn object(exec: &mut Exec<'_>, packet: &MfdVp8BsdObject) -> Result<(), Fault> {
    mode(exec, Standard::VP8)?;
    let state: MfxVp8PicState = exec.state.latched.read(0);
    let parameters = parameters(exec, &state)?;
    let [first, rest @ ..] = &partitions(packet);
    let modes = buffer::coded_data(exec, first.0, first.1)?;
    let mut coefficients = Vec::new();
    for (offset, length) in &rest[..1 << packet.coded_num_of_coeff_token_partitions.get()] {
        coefficients.push(buffer::coded_data(exec, *offset, *length)?);
    }
    let coefficients: Vec<&[u8]> = coefficients.iter().map(Vec::as_slice).collect();
    let start = Start {
        range: packet.partition0_cpbac_entropy_range.get() as u8,
        value: packet.partition0_cpbac_entropy_value.get() as u8,
        count: packet.partition0_cpbac_entropy_count.get() as u8,
    };
    let data = Data { start, modes: &modes, coefficients: &coefficients };
    let (width, height) = (parameters.width, parameters.height);
    let outputs = Outputs::resolve(exec, sizes_420(width, height), Arrangement::Surface)?;
    let references = outputs.references(exec, |index| index < 3 && !parameters.key_frame)?;
    let frames = [0, 1, 2].map(|index| references.get(index));
    let mut segments = segments(exec, &state, width * height)?;
    let mut frame = outputs.load(exec)?;
    let picture = vp8::reconstruct(&parameters, &data, frames, &mut frame, &mut segments);
    let wrong = |exec: &Exec<'_>, error: vp8::Error| {
        exec.bad_field("Frame Width", width as u64, error.to_string())
    };
    let picture = picture.map_err(|error| wrong(exec, error))?;
    outputs.store(exec, Some(&frame), None)?;
    picture.filter(&mut frame).map_err(|error| wrong(exec, error))?;
    outputs.store(exec, None, Some(&frame))?;
    store_segments(exec, &state, &segments)?;
    let coded = CodedPicture {
        at: exec.at,
        codec: Codec::Vp8,
        kind: if parameters.key_frame { PictureKind::I } else { PictureKind::P },
        structure: Structure::Frame,
        slices: 1,
        bytes: (modes.len() + coefficients.iter().map(|data| data.len()).sum::<usize>()) as u64,
        references: &references.addresses,
        before: outputs.before,
        after: outputs.after,
        report: picture.report,
        frame: &frame,
    };
    decoded(exec, &coded);
    Ok(())
}

/// Offset and length of each partition: that of modes and vectors, then those of coefficients.
fn partitions(packet: &MfdVp8BsdObject) -> [(u64, u64); 9] {
    macro_rules! partition {
        ($offset:ident, $length:ident) => {
            (packet.$offset.get(), packet.$length.get())
        };
    }
    [
        partition!(indirect_partition0_data_start_offset, indirect_partition0_data_length),
        partition!(indirect_partition1_data_start_offset, indirect_partition1_data_length),
        partition!(indirect_partition2_data_start_offset, indirect_partition2_data_length),
        partition!(indirect_partition3_data_start_offset, indirect_partition3_data_length),
        partition!(indirect_partition4_data_start_offset, indirect_partition4_data_length),
        partition!(indirect_partition5_data_start_offset, indirect_partition5_data_length),
        partition!(indirect_partition6_data_start_offset, indirect_partition6_data_length),
        partition!(indirect_partition7_data_start_offset, indirect_partition7_data_length),
        partition!(indirect_partition8_data_start_offset, indirect_partition8_data_length),
    ]
}

/// Reads the segment of each macroblock from the segment map. All segments are 0 if the packet does
/// not set Segmentation ID Stream-In Enable.
fn segments(
    exec: &mut Exec<'_>,
    state: &MfxVp8PicState,
    macroblocks: usize,
) -> Result<Vec<u8>, Fault> {
    let mut segments = vec![0; macroblocks];
    if state.segmentation_id_stream_in_enable {
        let address = state.segmentation_id_stream_address.get();
        let length = macroblocks.div_ceil(SEGMENTS_PER_BYTE);
        let bytes = buffer::read(exec, address, length, SEGMENTS)?;
        for (index, segment) in segments.iter_mut().enumerate() {
            let shift = 2 * (index % SEGMENTS_PER_BYTE);
            *segment = bytes[index / SEGMENTS_PER_BYTE] >> shift & 3;
        }
    }
    Ok(segments)
}

/// Writes the segments to the segment map, if the picture does that.
fn store_segments(
    exec: &mut Exec<'_>,
    state: &MfxVp8PicState,
    segments: &[u8],
) -> Result<(), Fault> {
    if !state.segmentation_id_stream_out_enable {
        return Ok(());
    }
    let byte = |four: &[u8]| four.iter().rev().fold(0, |byte, segment| byte << 2 | segment & 3);
    let bytes: Vec<u8> = segments.chunks(SEGMENTS_PER_BYTE).map(byte).collect();
    buffer::write(exec, state.segmentation_id_stream_address.get(), &bytes, SEGMENTS)
}

/// The picture's parameters from MFX_VP8_PIC_STATE and the probabilities in memory.
fn parameters(exec: &mut Exec<'_>, state: &MfxVp8PicState) -> Result<Parameters, Fault> {
    let delta = |value: genxml_core::S<7>| value.get() as i8;
    let level = |value: U<6>| value.get() as u8;
    Ok(Parameters {
        width: state.frame_width.get() as usize,
        height: state.frame_height.get() as usize,
        key_frame: state.key_frame,
        bilinear: state.mc_filter_select == Motion::BILINEAR,
        full_pixel_chroma: state.chroma_full_pixel_mc_filter_mode,
        filter_type: match state.dblk_filter_type {
            Filter::SIMPLE => FilterType::Simple,
            _ => FilterType::Normal,
        },
        filter_levels: [
            level(state.dblk_filter_level_for_segment0),
            level(state.dblk_filter_level_for_segment1),
            level(state.dblk_filter_level_for_segment2),
            level(state.dblk_filter_level_for_segment3),
        ],
        sharpness: state.deblock_sharpness_level.get() as u8,
        filter_deltas: state.mode_reference_loop_filter_delta_enable,
        reference_deltas: [
            delta(state.ref_lfdelta0),
            delta(state.ref_lfdelta1),
            delta(state.ref_lfdelta2),
            delta(state.ref_lfdelta3),
        ],
        mode_deltas: [
            delta(state.mode_lfdelta0),
            delta(state.mode_lfdelta1),
            delta(state.mode_lfdelta2),
            delta(state.mode_lfdelta3),
        ],
        segmentation: state.segment_enable,
        update_segments: state.update_mb_segment_map,
        segments_in: state.segmentation_id_stream_in_enable,
        segments_out: state.segmentation_id_stream_out_enable,
        quantisers: quantisers(state),
        skipping: state.mb_no_coeff_skip,
        golden_sign_bias: state.golden_ref_picture_mv_sign_bias,
        alternate_sign_bias: state.alternate_ref_pic_mv_sign_bias,
        probabilities: probabilities(exec, state)?,
    })
}

/// The quantisers of the four segments.
fn quantisers(state: &MfxVp8PicState) -> [Quantiser; 4] {
    macro_rules! quantiser {
        ($y1_dc:ident $y1_ac:ident $y2_dc:ident $y2_ac:ident $uv_dc:ident $uv_ac:ident) => {
            Quantiser {
                y1: [state.$y1_dc.get() as u16, state.$y1_ac.get() as u16],
                y2: [state.$y2_dc.get() as u16, state.$y2_ac.get() as u16],
                uv: [state.$uv_dc.get() as u16, state.$uv_ac.get() as u16],
            }
        };
    }
    [
        quantiser!(quantizer_value_0_y1dc quantizer_value_0_y1ac quantizer_value_0_y2dc
            quantizer_value_0_y2ac quantizer_value_0_uvdc quantizer_value_0_uvac),
        quantiser!(quantizer_value_1_y1dc quantizer_value_1_y1ac quantizer_value_1_y2dc
            quantizer_value_1_y2ac quantizer_value_1_uvdc quantizer_value_1_uvac),
        quantiser!(quantizer_value_2_y1dc quantizer_value_2_y1ac quantizer_value_2_y2dc
            quantizer_value_2_y2ac quantizer_value_2_uvdc quantizer_value_2_uvac),
        quantiser!(quantizer_value_3_y1dc quantizer_value_3_y1ac quantizer_value_3_y2dc
            quantizer_value_3_y2ac quantizer_value_3_uvdc quantizer_value_3_uvac),
    ]
}

/// The probabilities: those of the packet, and those of coefficients from memory.
fn probabilities(exec: &mut Exec<'_>, state: &MfxVp8PicState) -> Result<Probabilities, Fault> {
    let address = state.coeff_probability_stream_in_address.get();
    let length = size_of::<CoefficientProbabilities>();
    let bytes = buffer::read(exec, address, length, "CoeffProbability Stream-In")?;
    let byte = |value: U<8>| value.get() as u8;
    Ok(Probabilities {
        segments: [
            byte(state.mbsegment_idtree_probs_0),
            byte(state.mbsegment_idtree_probs_1),
            byte(state.mbsegment_idtree_probs_2),
        ],
        skip: byte(state.mbno_coeff_skip_false_prob),
        intra: byte(state.intra_mbprob),
        last: byte(state.inter_pred_from_last_ref_prob),
        golden: byte(state.inter_pred_from_gref_ref_prob),
        luma_modes: [
            byte(state.ymode_prob_0),
            byte(state.ymode_prob_1),
            byte(state.ymode_prob_2),
            byte(state.ymode_prob_3),
        ],
        chroma_modes: [
            byte(state.uvmode_prob_0),
            byte(state.uvmode_prob_1),
            byte(state.uvmode_prob_2),
        ],
        vectors: [state.mvupdate_probs_0.map(byte), state.mvupdate_probs_1.map(byte)],
        coefficients: bytemuck::pod_read_unaligned(&bytes),
    })
}
