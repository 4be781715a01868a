//! AVC (H.264): packets become the values that [`genxml_codecs::avc`] takes.

use super::outputs::Outputs;
use super::status::{decoded, mode};
use super::surface::{Arrangement, sizes_420};
use super::{avc_concealment, avc_records, avc_short, buffer, slices};
use crate::machine::coded::{Codec, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfd::{
    InlineDataDescriptionForMfdAvcBsdObjectEmulationPreventionBytePresent as Escapes,
    MfdAvcBsdObject, MfdAvcPicidState,
};
use genxml::gen8::mfx_avc::{
    MfxAvcDirectmodeState, MfxAvcImgState, MfxAvcImgStateChromaFormatIdc as Chroma,
    MfxAvcImgStateImageStructure as Image, MfxAvcRefIdxState, MfxAvcSliceState,
    MfxAvcSliceStateDirectPredictionType as Direct, MfxAvcSliceStateSliceType as Kind,
    MfxAvcWeightoffsetState,
};
use genxml::gen8::mfx_common::{
    MfxPipeModeSelectDecoderShortFormatMode as Format, MfxPipeModeSelectStandardSelect as Standard,
};
use genxml_codecs::Structure;
use genxml_codecs::avc::{
    self, Entry, MOTION_BYTES, Matrices, Parameters, References, Slice, SliceKind, Weight,
};

/// Name of the buffer for the motion of the picture.
pub const MOTION_WRITTEN: &str = "Direct MV Buffer (Write)";

/// A picture and its slices.
type Picture = slices::Picture<Parameters, Slice>;

/// Decodes the picture whose slices were collected, if there is one, and writes it.
///
/// # Errors
/// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for a size that the decoder does
/// not support.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    slices::finish(exec, decode)
}

/// Executes MFD_AVC_BSD_OBJECT: reads the coded data of a slice. The picture is decoded when all
/// its slices are there.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Unimplemented`] for slices of
/// other views in the short format; [`Fault::Page`] if the data are not mapped.
pub fn object(exec: &mut Exec<'_>, packet: &MfdAvcBsdObject) -> Result<(), Fault> {
    let format = mode(exec, Standard::AVC)?.decoder_short_format_mode;
    let length = packet.indirect_bsd_data_length.get();
    let data = buffer::coded_data(exec, packet.indirect_bsd_data_start_address.get(), length)?;
    let inline = &packet.inline_data;
    let mut slice = match format {
        Format::LONG_FORMAT_DRIVER_INTERFACE => {
            let bytes = inline.first_mb_byte_offset_of_slice_data_or_slice_header.get();
            let bits = inline.first_macroblock_mb_bit_offset.get();
            Slice { data_offset: (8 * bytes + bits) as usize, ..slice(exec) }
        }
        _ => avc_short::slice(exec, &parameters(exec)?, inline, &data)?,
    };
    slice.unescaped = inline.emulation_prevention_byte_present == Escapes::NOT_REMOVED;
    slice.concealment = avc_concealment::resolve(slice.kind, slice.direct_spatial, inline);
    slices::add(exec, (slice, data), |exec| {
        let parameters = parameters(exec)?;
        let sizes = sizes_420(parameters.width, parameters.height);
        Ok((parameters, Outputs::resolve(exec, sizes, Arrangement::Surface)?))
    })
}

/// The picture's parameters from latched packets.
///
/// # Errors
/// [`Fault::BadPacket`] for a format or structure that the decoder does not support.
pub fn parameters(exec: &Exec<'_>) -> Result<Parameters, Fault> {
    let latched = &exec.state.latched;
    let image: MfxAvcImgState = latched.read(0);
    let direct: MfxAvcDirectmodeState = latched.read(0);
    let ids: MfdAvcPicidState = latched.read(0);
    if !matches!(image.chroma_format_idc, Chroma::MONOCHROME_PICTURE | Chroma::_4_2_0_PICTURE) {
        let value = image.chroma_format_idc.bits();
        return Err(exec.bad_field(
            "Chroma Format IDC",
            value,
            "the decoder supports only 4:0:0 and 4:2:0",
        ));
    }
    let structure = match image.image_structure {
        Image::FRAME_PICTURE => Structure::Frame,
        Image::TOP_FIELD_PICTURE => Structure::Top,
        Image::BOTTOM_FIELD_PICTURE => Structure::Bottom,
        other => {
            let why = "it is neither a frame nor a field";
            return Err(exec.bad_field("Image Structure", other.bits(), why));
        }
    };
    let counts = direct.poc_list.map(|count| count.get() as i32);
    Ok(Parameters {
        width: image.frame_width.get() as usize,
        height: image.frame_height.get() as usize,
        structure,
        monochrome: image.chroma_format_idc == Chroma::MONOCHROME_PICTURE,
        cabac: image.entropy_coding_sync_enable.bits() != 0,
        mbaff: image.mbaff_mode,
        frame_mbs_only: image.frame_mb_only,
        direct_8x8_inference: image.direct_8x8_inference,
        transform_8x8: image._8x8_idct_transform_mode,
        constrained_intra: image.constrained_intra_prediction,
        weighted_prediction: image.weighted_prediction_enable,
        weighted_biprediction: image.weighted_bi_prediction_idc.bits() as u8,
        chroma_qp_offsets: [
            image.first_chroma_qp_offset.get() as i8,
            image.second_chroma_qp_offset.get() as i8,
        ],
        non_reference: image.non_reference_picture,
        matrices: matrices(exec),
        picture_ids: (!ids.picture_id_remapping_disable)
            .then(|| ids.picture_idlist.map(|id| id.get() as u16)),
        counts: std::array::from_fn(|store| [counts[2 * store], counts[2 * store + 1]]),
        count: [counts[32], counts[33]],
    })
}

/// The scaling matrices. A matrix that was never sent is flat.
fn matrices(exec: &Exec<'_>) -> Matrices {
    let three = |bytes: [u8; 64]| -> [[u8; 16]; 3] {
        std::array::from_fn(|plane| std::array::from_fn(|at| bytes[16 * plane + at]))
    };
    let flat = Matrices::default();
    Matrices {
        intra_4x4: buffer::matrix(exec, 0).map_or(flat.intra_4x4, three),
        inter_4x4: buffer::matrix(exec, 1).map_or(flat.inter_4x4, three),
        intra_8x8: buffer::matrix(exec, 2).unwrap_or(flat.intra_8x8),
        inter_8x8: buffer::matrix(exec, 3).unwrap_or(flat.inter_8x8),
    }
}

/// A slice's parameters from latched packets: all but the position of its data and its concealment.
pub fn slice(exec: &Exec<'_>) -> Slice {
    let latched = &exec.state.latched;
    let state: MfxAvcSliceState = latched.read(0);
    let lists = [0, 1].map(|list| {
        let state: MfxAvcRefIdxState = latched.read(list);
        state.reference_list_entry.map(|entry| Entry {
            present: !entry.non_existing,
            long_term: entry.long_term,
            store: entry.frame_store_index.get() as u8,
            bottom: entry.bottom_field,
        })
    });
    let weights = [0, 1].map(|list| {
        let state: MfxAvcWeightoffsetState = latched.read(list);
        let weight = |at: usize| Weight {
            weight: state.weight_offset[at].weight.get() as i16,
            offset: state.weight_offset[at].offset.get() as i16,
        };
        std::array::from_fn(|entry| std::array::from_fn(|plane| weight(3 * entry + plane)))
    });
    let kind = match state.slice_type {
        Kind::P_SLICE => SliceKind::P,
        Kind::B_SLICE => SliceKind::B,
        _ => SliceKind::I,
    };
    Slice {
        kind,
        first: (
            state.slice_horizontal_position.get() as usize,
            state.slice_vertical_position.get() as usize,
        ),
        reference_counts: [
            state.number_of_reference_pictures_in_inter_prediction_list_0.get() as u8,
            state.number_of_reference_pictures_in_inter_prediction_list_1.get() as u8,
        ],
        lists,
        weights,
        weight_denominators: [
            state.log2_weight_denominator_luma.get() as u8,
            state.log2_weight_denominator_chroma.get() as u8,
        ],
        direct_spatial: state.direct_prediction_type == Direct::SPATIAL,
        cabac_init: state.cabac_init_idc.get() as u8,
        qp: state.slice_quantization_parameter.get() as u8,
        deblocking: state.disable_deblocking_filter_indicator.get() as u8,
        deblocking_offsets: [
            state.slice_alpha_c0_offset_div2.get() as i8,
            state.slice_beta_offset_div2.get() as i8,
        ],
        ..Slice::default()
    }
}

/// The motion of the colocated pictures, by frame store. Empty for the other stores.
fn colocated_motion(exec: &mut Exec<'_>, picture: &Picture) -> Result<[Vec<u8>; 16], Fault> {
    let direct: MfxAvcDirectmodeState = exec.state.latched.read(0);
    let mut motion: [Vec<u8>; 16] = Default::default();
    for (slice, _) in &picture.slices {
        let store = usize::from(slice.lists[1][0].store);
        let address = direct.direct_mv_buffer[store].get();
        if slice.kind == SliceKind::B && address != 0 && motion[store].is_empty() {
            let name = format!("Direct MV Buffer {store}");
            motion[store] = buffer::read(exec, address, motion_bytes(&picture.parameters), name)?;
        }
    }
    Ok(motion)
}

/// Address of the buffer for the motion of the picture, if it is written, and what it holds: a
/// field leaves the motion of the other field as it is.
///
/// # Errors
/// [`Fault::Page`] if the buffer is not mapped.
pub fn written_motion(
    exec: &mut Exec<'_>,
    parameters: &Parameters,
) -> Result<Option<(u64, Vec<u8>)>, Fault> {
    let direct: MfxAvcDirectmodeState = exec.state.latched.read(0);
    let address = direct.direct_mv_buffer_write_address.get();
    if address == 0 || parameters.non_reference {
        return Ok(None);
    }
    let motion = match parameters.structure.is_field() {
        true => buffer::read(exec, address, motion_bytes(parameters), MOTION_WRITTEN)?,
        false => Vec::new(),
    };
    Ok(Some((address, motion)))
}

/// Bytes of the motion of a frame.
fn motion_bytes(parameters: &Parameters) -> usize {
    parameters.width * parameters.height * MOTION_BYTES
}

/// Decodes the slices, filters the picture and writes it and its motion.
fn decode(exec: &mut Exec<'_>, picture: Picture) -> Result<(), Fault> {
    let slices::Picture { parameters, outputs, slices, .. } = &picture;
    let used = |store: usize| {
        let names = |entry: &Entry| entry.present && usize::from(entry.store) == store;
        slices.iter().any(|(slice, _)| slice.lists.iter().flatten().any(names))
    };
    let frames = outputs.references(exec, used)?;
    let motion = colocated_motion(exec, &picture)?;
    let (own, own_motion) = written_motion(exec, parameters)?.unzip();
    let references = References {
        frames: std::array::from_fn(|store| frames.get(store)),
        motion: std::array::from_fn(|store| motion[store].as_slice()),
    };
    let target = outputs.load(exec)?;
    let mut decoder =
        avc::Picture::new(parameters, references, target, own_motion.unwrap_or_default()).map_err(
            |error| exec.bad_field("Frame Height", parameters.height as u64, error.to_string()),
        )?;
    for (slice, data) in slices {
        decoder.slice(slice, data);
    }
    let output = decoder.finish(avc::Outputs {
        unfiltered: outputs.before.is_some(),
        filtered: outputs.after.is_some(),
    });
    outputs.store(exec, output.unfiltered.as_ref(), output.filtered.as_ref())?;
    avc_records::write(exec, parameters, &output.macroblocks)?;
    if let Some(address) = own {
        buffer::write(exec, address, &output.motion, MOTION_WRITTEN)?;
    }
    let any = |kind| slices.iter().any(|(slice, _)| slice.kind == kind);
    let kind = match () {
        () if any(SliceKind::B) => PictureKind::B,
        () if any(SliceKind::P) => PictureKind::P,
        () => PictureKind::I,
    };
    if let Some(frame) = output.filtered.as_ref().or(output.unfiltered.as_ref()) {
        let what = (Codec::Avc, kind, parameters.structure);
        decoded(exec, &picture.coded(what, &frames, output.report, frame));
    }
    Ok(())
}
