//! VC-1: packets become the values that [`genxml_codecs::vc1`] takes.

use super::bitstream;
use super::outputs::Outputs;
use super::status::{decoded, mode};
use super::surface::{Arrangement, sizes_420};
use crate::machine::coded::{Codec, CodedPicture, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::machine::slots::UnitState;
use genxml::gen8::mfd::{
    MfdVc1BsdObject, MfdVc1LongPicState, MfdVc1LongPicStateFrameCodingMode as Rows,
    MfdVc1LongPicStateUnifiedMvMode as Vectors, MfdVc1LongPicStateVc1Profile as Profile,
};
use genxml::gen8::mfx_common::{
    MfxBspBufBaseAddrState, MfxPipeModeSelectStandardSelect as Standard, MfxSurfaceState,
};
use genxml::gen8::mfx_vc1::{MfxVc1DirectmodeState, MfxVc1PredPipeState};
use genxml_codecs::vc1::{
    self, Alternative, Coding, Compensation, Input, Intensity, MOTION_BYTES, Overlap, Parameters,
    PictureType, RangeReduction, Raw, Slice, VectorMode,
};
use genxml_codecs::{Report, Structure};
use genxml_core::U;

/// A picture and its slices.
#[derive(Clone, Debug)]
struct Picture {
    /// The packet of the last slice.
    at: Place,
    parameters: Parameters,
    outputs: Outputs,
    slices: Vec<(Slice, Vec<u8>)>,
}

/// The picture whose slices are being collected.
#[derive(Clone, Debug, Default)]
struct Open(Option<Box<Picture>>);

impl UnitState for Open {}

/// Decodes the picture whose slices were collected, if there is one, and writes it. A fault names
/// the packet of the last slice.
///
/// # Errors
/// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for a size or state that the
/// decoder does not have.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    let Some(picture) = exec.state.slots.get_mut::<Open>().0.take() else { return Ok(()) };
    let at = std::mem::replace(&mut exec.at, picture.at);
    picture.finish(exec)?;
    exec.at = at;
    Ok(())
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
    let data = bitstream::read(exec, offset + skipped, length.saturating_sub(skipped))?;
    let slice = Slice {
        bit_offset: packet.first_mb_bit_offset.get() as usize,
        first_row: packet.slice_start_vertical_position.get() as usize,
        end_row: packet.next_slice_vertical_position.get() as usize,
    };
    if exec.state.slots.get_mut::<Open>().0.is_none() {
        let parameters = parameters(exec)?;
        let fields = if parameters.coding.is_field() { 2 } else { 1 };
        let sizes = sizes_420(parameters.width_in_mbs, fields * parameters.height_in_mbs);
        let outputs = Outputs::resolve(exec, sizes, Arrangement::Surface)?;
        let picture = Picture { at: exec.at, parameters, outputs, slices: Vec::new() };
        exec.state.slots.get_mut::<Open>().0 = Some(Box::new(picture));
    }
    if let Some(picture) = &mut exec.state.slots.get_mut::<Open>().0 {
        picture.at = exec.at;
        picture.slices.push((slice, data));
    }
    Ok(())
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

/// The intensity compensations of the forward and the backward reference. Bit 0 of an enable is for
/// the top field, bit 1 for the bottom field.
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

impl Picture {
    /// Decodes the slices and writes the picture and its motion.
    ///
    /// # Errors
    /// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for parameters that the
    /// decoder does not have.
    fn finish(self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let Picture { at, parameters, outputs, slices } = self;
        let macroblocks = parameters.width_in_mbs * parameters.height_in_mbs;
        exec.spend(256 * macroblocks as u64)?;
        let used = match parameters.picture {
            PictureType::I | PictureType::Bi => [false, false],
            PictureType::P => [true, false],
            PictureType::B => [true, true],
        };
        let pictures = outputs.references(exec, |index| index < 4 && used[index % 2])?;
        let bidirectional = parameters.picture == PictureType::B;
        let direct: MfxVc1DirectmodeState = exec.state.latched.read(0);
        let buffers: MfxBspBufBaseAddrState = exec.state.latched.read(0);
        let mut motion = Vec::new();
        if bidirectional && parameters.motion_present {
            motion.resize(macroblocks * MOTION_BYTES, 0);
            let read = exec.vm.read(direct.direct_mv_read_buffer_address.get(), &mut motion);
            read.map_err(|fault| exec.page(fault, "Direct MV Read Buffer"))?;
        }
        let mut bitplanes = Vec::new();
        if parameters.bitplanes {
            bitplanes.resize(parameters.bitplane_pitch * parameters.height_in_mbs, 0);
            let read = exec.vm.read(buffers.bitplane_read_buffer_address.get(), &mut bitplanes);
            read.map_err(|fault| exec.page(fault, "Bitplane Read Buffer"))?;
        }
        let keeps = matches!(parameters.picture, PictureType::I | PictureType::P);
        let mut own = vec![0; if keeps { macroblocks * MOTION_BYTES } else { 0 }];
        let (kind, structure) = (parameters.picture, structure(&parameters));
        let quantizer = u64::from(parameters.quantizer);
        let mut picture = vc1::Picture::new(parameters)
            .map_err(|error| exec.bad_field("PQ Value", quantizer, error.to_string()))?;
        let mut target = outputs.load(exec)?;
        let mut report = Report::default();
        for (slice, data) in &slices {
            let input = Input {
                data,
                bitplanes: &bitplanes,
                references: [0, 1, 2, 3].map(|index| pictures.get(index)),
                motion: &motion,
            };
            report.add(picture.slice(slice, &input, &mut target, &mut own));
        }
        outputs.store(exec, Some(&target), Some(&target))?;
        let address = direct.direct_mv_write_buffer_address.get();
        if keeps && address != 0 {
            let write = exec.vm.write(address, &own);
            write.map_err(|fault| exec.page(fault, "Direct MV Write Buffer"))?;
        }
        let coded = CodedPicture {
            at,
            codec: Codec::Vc1,
            kind: match kind {
                PictureType::I => PictureKind::I,
                PictureType::P => PictureKind::P,
                PictureType::B => PictureKind::B,
                PictureType::Bi => PictureKind::Bi,
            },
            structure,
            slices: slices.len() as u32,
            bytes: slices.iter().map(|(_, data)| data.len() as u64).sum(),
            references: &pictures.addresses,
            before: outputs.before,
            after: outputs.after,
            report,
            frame: &target,
        };
        decoded(exec, &coded);
        Ok(())
    }
}

/// The rows that a picture has.
fn structure(parameters: &Parameters) -> Structure {
    match (parameters.coding, parameters.second_field) {
        (Coding::TopFieldFirst, false) | (Coding::BottomFieldFirst, true) => Structure::Top,
        (Coding::TopFieldFirst, true) | (Coding::BottomFieldFirst, false) => Structure::Bottom,
        _ => Structure::Frame,
    }
}
