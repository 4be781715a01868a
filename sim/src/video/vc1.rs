//! VC-1: packets become the values that [`genxml_codecs::vc1`] takes.

use super::outputs::Outputs;
use super::status::{decoded, mode};
use super::surface::{Arrangement, sizes_420};
use super::{buffer, slices};
use crate::machine::coded::{Codec, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfd::{
    MfdVc1BsdObject, MfdVc1LongPicState, MfdVc1LongPicStateFrameCodingMode as Rows,
    MfdVc1LongPicStateUnifiedMvMode as Vectors, MfdVc1LongPicStateVc1Profile as Profile,
};
use genxml::gen8::mfx_common::{
    MfxBspBufBaseAddrState, MfxPipeModeSelectStandardSelect as Standard, MfxSurfaceState,
};
use genxml::gen8::mfx_vc1::{MfxVc1DirectmodeState, MfxVc1PredPipeState};
use genxml_codecs::Report;
use genxml_codecs::vc1::{
    self, Alternative, Coding, Compensation, Input, Intensity, MOTION_BYTES, Overlap, Parameters,
    PictureType, RangeReduction, Raw, Slice, VectorMode,
};
use genxml_core::U;

/// A picture and its slices.
type Picture = slices::Picture<Parameters, Slice>;

/// Decodes the picture whose slices were collected, if there is one, and writes it.
///
/// # Errors
/// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for parameters that the decoder
/// does not support.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    slices::finish(exec, decode)
}

/// Executes MFD_VC1_BSD_OBJECT: reads the coded data of a slice. The picture is decoded when all
/// its slices are there.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Page`] if the data are not
/// mapped.
pub fn object(exec: &mut Exec<'_>, packet: &MfdVc1BsdObject) -> Result<(), Fault> {
    mode(exec, Standard::VC1)?;
    let skipped = packet.first_mb_byte_offset_of_slice_data_or_slice_header.get();
    let length = packet.indirect_bsd_data_length.get();
    let offset = packet.indirect_bsd_data_start_address.get();
    let data = buffer::coded_data(exec, offset + skipped, length.saturating_sub(skipped))?;
    let slice = Slice {
        bit_offset: packet.first_mb_bit_offset.get() as usize,
        first_row: packet.slice_start_vertical_position.get() as usize,
        end_row: packet.next_slice_vertical_position.get() as usize,
    };
    slices::add(exec, (slice, data), |exec| {
        let parameters = parameters(exec)?;
        let fields = if parameters.coding.is_field() { 2 } else { 1 };
        let sizes = sizes_420(parameters.width_in_mbs, fields * parameters.height_in_mbs);
        Ok((parameters, Outputs::resolve(exec, sizes, Arrangement::Surface)?))
    })
}

/// The picture's parameters from latched packets.
fn parameters(exec: &Exec<'_>) -> Result<Parameters, Fault> {
    let latched = &exec.state.latched;
    let state: MfdVc1LongPicState = latched.read(0);
    let surface: MfxSurfaceState = latched.read(0);
    let coding = match state.frame_coding_mode {
        Rows::INTERLACED_FRAME_PICTURE => Coding::InterlacedFrame,
        Rows::FIELD_PICTURE_WITH_TOP_FIELD_FIRST => Coding::TopFieldFirst,
        Rows::FIELD_PICTURE_WITH_BOTTOM_FIELD_FIRST => Coding::BottomFieldFirst,
        _ => Coding::Progressive,
    };
    let value = state.picure_type.bits();
    let picture = match value {
        // i965 passes on FPTYPE, which has the types of both fields.
        kind if coding.is_field() => PictureType::of_field(kind as u8, state.second_field),
        0 => PictureType::I,
        1 | 4 => PictureType::P,
        2 => PictureType::B,
        3 => PictureType::Bi,
        kind => return Err(exec.bad_field("Picture Type", kind, "there is no such type")),
    };
    let prediction: MfxVc1PredPipeState = latched.read(0);
    let replication = prediction.reference_frame_boundary_replication_mode.get();
    let (forward, backward) = compensations(&prediction);
    let byte = |value: u64| value as u8;
    Ok(Parameters {
        width_in_mbs: state.picture_width_in_mbs.get() as usize,
        height_in_mbs: state.picture_height_in_mbs.get() as usize,
        width: surface.width.get() as usize,
        height: surface.height.get() as usize,
        advanced: state.vc1_profile == Profile::ADVANCED_PROFILE,
        picture,
        coding,
        second_field: state.second_field,
        quantizer: byte(state.pq_value.get()),
        half_step: state.half_qp,
        uniform: state.pq_uniform,
        implicit: state.implicit_quantizer,
        alternative: match state.alternative_pq_configuration.get() {
            0 => Alternative::None,
            1 => Alternative::Edges(byte(state.alternative_pq_edge_mask.get())),
            2 => Alternative::Each,
            _ => Alternative::Choice,
        },
        alternative_quantizer: byte(state.alternative_pq_value.get()),
        b_scale: byte(state.b_scale_factor.get()),
        forward_distance: byte(state.forward_reference_distance.get()),
        backward_distance: byte(state.backward_reference_distance.get()),
        vector_mode: match state.unified_mv_mode {
            Vectors::MIXED_MV => VectorMode::Mixed,
            Vectors::_1_MV_HALF_PEL => VectorMode::OneHalf,
            Vectors::_1_MV_HALF_PEL_BILINEAR => VectorMode::OneHalfBilinear,
            _ => VectorMode::One,
        },
        four_vectors: state.four_mv_switch.bits() != 0,
        fast_chroma: state.fast_uv_motion_compensation.bits() != 0,
        rounding: state.interpolation_rounder_control,
        bottom_reference: state.reference_field_picture_polarity.bits() != 0,
        two_references: state.number_of_references.bits() != 0,
        mv_range: byte(state.extended_mv_range.get()),
        dmv_range: byte(state.extended_dmv_range.get()),
        mv_table: byte(state.mv_table.get()),
        cbp_table: byte(state.coded_block_pattern_table.get()),
        mode_table: byte(state.mb_mode_table.get()),
        four_mv_table: byte(state._4_mv_block_pattern_table.get()),
        two_mv_table: byte(state._2_mv_block_pattern_table.get()),
        picture_transform: state.mb_transform_type,
        transform: byte(state.picture_level_transform_type.bits()),
        luma_set: byte(state.picture_level_transform_luma_ac_coding_set_index.get()),
        chroma_set: byte(state.picture_level_transform_chroma_ac_coding_set_index.get()),
        dc_table: state.intra_transform_dc_table.bits() != 0,
        overlap: state.overlap_smoothing_enable,
        conditional_overlap: match state.condover.get() {
            0 | 1 => Overlap::None,
            2 => Overlap::All,
            _ => Overlap::Flagged,
        },
        loop_filter: state.loop_filter_enable,
        range_reduction: match (state.range_reduction_enable, state.range_reduction_scale) {
            (false, _) => RangeReduction::None,
            (true, false) => RangeReduction::Down,
            (true, true) => RangeReduction::Up,
        },
        forward,
        backward,
        interlaced: [0, 1, 2, 3].map(|reference| replication >> reference & 1 != 0),
        bitplanes: state.bitplane_buffer_present,
        bitplane_pitch: state.bitplane_buffer_pitch.get() as usize,
        raw: Raw {
            forward: state.forwardmb_raw,
            mv_type: state.mvtypemb_raw,
            skip: state.skipmb_raw,
            direct: state.directmb_raw,
            overlap: state.overflags_raw,
            ac_prediction: state.acpred_raw,
            field_transform: state.fieldtx_raw,
        },
        motion_present: state.dmv_surface_valid,
    })
}

/// The intensity compensation of the forward reference, then of the backward reference. In each
/// enable field, bit 0 is for the top field and bit 1 for the bottom field.
fn compensations(state: &MfxVc1PredPipeState) -> (Compensation, Compensation) {
    let pair = |enabled: U<2>, scales: [U<6>; 2], shifts: [U<6>; 2]| {
        [0, 1].map(|field| {
            (enabled.get() >> field & 1 != 0).then(|| Intensity {
                scale: scales[field].get() as u8,
                shift: shifts[field].get() as u8,
            })
        })
    };
    (
        Compensation {
            single: pair(
                state.vin_intensitycomp_single_fwden,
                [state.lum_scale1_single_fwd, state.lum_scale2_single_fwd],
                [state.lum_shift1_single_fwd, state.lum_shift2_single_fwd],
            ),
            double: pair(
                state.vin_intensitycomp_double_fwden,
                [state.lum_scale1_double_fwd, state.lum_scale2_double_fwd],
                [state.lum_shift1_double_fwd, state.lum_shift2_double_fwd],
            ),
        },
        Compensation {
            single: pair(
                state.vin_intensitycomp_single_bwden,
                [state.lum_scale1_single_bwd, state.lum_scale2_single_bwd],
                [state.lum_shift1_single_bwd, state.lum_shift2_single_bwd],
            ),
            double: pair(
                state.vin_intensitycomp_double_bwden,
                [state.lum_scale1_double_bwd, state.lum_scale2_double_bwd],
                [state.lum_shift1_double_bwd, state.lum_shift2_double_bwd],
            ),
        },
    )
}

/// Decodes the slices and writes the picture and its motion.
fn decode(exec: &mut Exec<'_>, picture: Picture) -> Result<(), Fault> {
    let slices::Picture { parameters, outputs, slices, .. } = &picture;
    let macroblocks = parameters.width_in_mbs * parameters.height_in_mbs;
    let (used, kind) = match parameters.picture {
        PictureType::I => ([false, false], PictureKind::I),
        PictureType::Bi => ([false, false], PictureKind::Bi),
        PictureType::P => ([true, false], PictureKind::P),
        PictureType::B => ([true, true], PictureKind::B),
    };
    let pictures = outputs.references(exec, |index| index < 4 && used[index % 2])?;
    let direct: MfxVc1DirectmodeState = exec.state.latched.read(0);
    let buffers: MfxBspBufBaseAddrState = exec.state.latched.read(0);
    let length = macroblocks * MOTION_BYTES;
    let mut motion = Vec::new();
    if kind == PictureKind::B && parameters.motion_present {
        let address = direct.direct_mv_read_buffer_address.get();
        motion = buffer::read(exec, address, length, "Direct MV Read Buffer")?;
    }
    let mut bitplanes = Vec::new();
    if parameters.bitplanes {
        let address = buffers.bitplane_read_buffer_address.get();
        let length = parameters.bitplane_pitch * parameters.height_in_mbs;
        bitplanes = buffer::read(exec, address, length, "Bitplane Read Buffer")?;
    }
    let keeps = matches!(kind, PictureKind::I | PictureKind::P);
    let mut own = vec![0; if keeps { length } else { 0 }];
    let mut decoder = vc1::Picture::new(parameters.clone()).map_err(|error| {
        let (field, value) = match error {
            vc1::Error::Size(width, _) => ("Picture Width In MBs", width as u64),
            vc1::Error::Quantizer(value) => ("PQ Value", value.into()),
            vc1::Error::Table(name, value) => (name, value.into()),
        };
        exec.bad_field(field, value, error.to_string())
    })?;
    let mut target = outputs.load(exec)?;
    let mut report = Report::default();
    for (slice, data) in slices {
        let input = Input {
            data,
            bitplanes: &bitplanes,
            references: [0, 1, 2, 3].map(|index| pictures.get(index)),
            motion: &motion,
        };
        report.add(decoder.slice(slice, &input, &mut target, &mut own));
    }
    outputs.store(exec, Some(&target), Some(&target))?;
    let address = direct.direct_mv_write_buffer_address.get();
    if keeps && address != 0 {
        buffer::write(exec, address, &own, "Direct MV Write Buffer")?;
    }
    let what = (Codec::Vc1, kind, decoder.structure());
    decoded(exec, &picture.coded(what, &pictures, report, &target));
    Ok(())
}
