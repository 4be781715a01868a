//! AVC (H.264): packets become the values that [`genxml_codecs::avc`] takes.

use super::bitstream;
use super::outputs::Outputs;
use super::status::{decoded, mode};
use super::surface::{Arrangement, sizes_420};
use crate::machine::coded::{Codec, CodedPicture, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::machine::slots::UnitState;
use genxml::gen8::mfd::{MfdAvcBsdObject, MfdAvcPicidState};
use genxml::gen8::mfx_avc::{
    MfxAvcDirectmodeState, MfxAvcImgState, MfxAvcImgStateChromaFormatIdc as Chroma,
    MfxAvcImgStateImageStructure as Image, MfxAvcRefIdxState, MfxAvcSliceState,
    MfxAvcSliceStateDirectPredictionType as Direct, MfxAvcSliceStateSliceType as Kind,
    MfxAvcWeightoffsetState,
};
use genxml::gen8::mfx_common::{
    MfxPipeModeSelectDecoderShortFormatMode as Format, MfxPipeModeSelectStandardSelect as Standard,
    MfxQmState,
};
use genxml_codecs::avc::{
    self, Entry, MOTION_BYTES, Matrices, Parameters, References, Slice, SliceKind, Weight,
};
use genxml_codecs::{Frame, Structure};

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

/// Executes MFD_AVC_BSD_OBJECT: reads the coded data of a slice. The picture is decoded when all
/// its slices are there.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Unimplemented`] for the short
/// format of slices; [`Fault::Page`] if the data are not mapped.
pub fn object(exec: &mut Exec<'_>, packet: &MfdAvcBsdObject) -> Result<(), Fault> {
    if mode(exec, Standard::AVC)?.decoder_short_format_mode == Format::SHORT_FORMAT_DRIVER_INTERFACE
    {
        let what = "slices whose headers the engine reads (Decoder Short Format Mode)";
        return Err(exec.unimplemented(what, "MFX_PIPE_MODE_SELECT dw1 17"));
    }
    let length = packet.indirect_bsd_data_length.get();
    let data = bitstream::read(exec, packet.indirect_bsd_data_start_address.get(), length)?;
    let inline = &packet.inline_data;
    let offset = 8 * inline.first_mb_byte_offset_of_slice_data_or_slice_header.get()
        + inline.first_macroblock_mb_bit_offset.get();
    let slice = slice(exec, offset as usize);
    if exec.state.slots.get_mut::<Open>().0.is_none() {
        let parameters = parameters(exec)?;
        let sizes = sizes_420(parameters.width, parameters.height);
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
    let image: MfxAvcImgState = latched.read(0);
    let direct: MfxAvcDirectmodeState = latched.read(0);
    let ids: MfdAvcPicidState = latched.read(0);
    if !matches!(image.chroma_format_idc, Chroma::MONOCHROME_PICTURE | Chroma::_4_2_0_PICTURE) {
        let value = image.chroma_format_idc.bits();
        return Err(exec.bad_field("Chroma Format IDC", value, "the decoder has 4:0:0 and 4:2:0"));
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
    let matrix = |index: usize| -> Option<[u8; 64]> {
        exec.state.latched.get::<MfxQmState>(index)?;
        let state: MfxQmState = exec.state.latched.read(index);
        let dwords = state.forward_quantizer_matrix.map(|entries| entries.get() as u32);
        Some(bytemuck::must_cast(dwords.map(u32::to_le_bytes)))
    };
    let three = |bytes: [u8; 64]| -> [[u8; 16]; 3] {
        std::array::from_fn(|plane| std::array::from_fn(|at| bytes[16 * plane + at]))
    };
    let flat = Matrices::default();
    Matrices {
        intra_4x4: matrix(0).map_or(flat.intra_4x4, three),
        inter_4x4: matrix(1).map_or(flat.inter_4x4, three),
        intra_8x8: matrix(2).unwrap_or(flat.intra_8x8),
        inter_8x8: matrix(3).unwrap_or(flat.inter_8x8),
    }
}

/// A slice's parameters from latched packets; `data_offset` is that of the BSD object, in bits.
fn slice(exec: &Exec<'_>, data_offset: usize) -> Slice {
    let latched = &exec.state.latched;
    let state: MfxAvcSliceState = latched.read(0);
    let lists = [0, 1].map(|list| {
        let state: MfxAvcRefIdxState = latched.read(list);
        state.reference_list_entry.map(|entry| Entry::from_byte(entry.get() as u8))
    });
    let weights = [0, 1].map(|list| {
        let state: MfxAvcWeightoffsetState = latched.read(list);
        let weight = |at: usize| {
            let [weight, offset]: [i16; 2] =
                bytemuck::must_cast(state.weight_offset[at].get() as u32);
            Weight { weight, offset }
        };
        std::array::from_fn(|entry| std::array::from_fn(|plane| weight(3 * entry + plane)))
    });
    Slice {
        kind: match state.slice_type {
            Kind::P_SLICE => SliceKind::P,
            Kind::B_SLICE => SliceKind::B,
            _ => SliceKind::I,
        },
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
        data_offset,
    }
}

impl Picture {
    /// Decodes the slices, filters the picture and writes it and its motion.
    ///
    /// # Errors
    /// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for a size that the decoder
    /// does not have.
    fn finish(self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let Picture { parameters, outputs, slices, .. } = &self;
        exec.spend(256 * (parameters.width * parameters.height) as u64)?;
        let used = |store: usize| {
            let entries = |slice: &Slice| slice.lists.into_iter().flatten();
            slices.iter().any(|(slice, _)| {
                entries(slice).any(|entry| entry.present && usize::from(entry.store) == store)
            })
        };
        let frames = outputs.references(exec, used)?;
        let direct: MfxAvcDirectmodeState = exec.state.latched.read(0);
        let bytes = parameters.width * parameters.height * MOTION_BYTES;
        let colocated = slices.iter().filter(|(slice, _)| slice.kind == SliceKind::B);
        let colocated: Vec<usize> =
            colocated.map(|(slice, _)| usize::from(slice.lists[1][0].store)).collect();
        let mut motion: [Vec<u8>; 16] = Default::default();
        for (store, motion) in motion.iter_mut().enumerate() {
            let address = direct.direct_mv_buffer[store].get();
            if colocated.contains(&store) && address != 0 {
                motion.resize(bytes, 0);
                let read = exec.vm.read(address, motion);
                read.map_err(|fault| exec.page(fault, format!("Direct MV Buffer {store}")))?;
            }
        }
        let own = direct.direct_mv_buffer_write_address.get();
        let mut written = Vec::new();
        if own != 0 && !parameters.non_reference && parameters.structure.is_field() {
            written.resize(bytes, 0);
            let read = exec.vm.read(own, &mut written);
            read.map_err(|fault| exec.page(fault, "Direct MV Buffer (Write)"))?;
        }
        let references = References {
            frames: std::array::from_fn(|store| frames.get(store)),
            motion: std::array::from_fn(|store| motion[store].as_slice()),
        };
        let target = outputs.load(exec)?;
        let mut picture = match avc::Picture::new(parameters, references, target, written) {
            Ok(picture) => picture,
            Err(error) => {
                let (field, value) = ("Frame Width", parameters.width as u64);
                return Err(exec.bad_field(field, value, error.to_string()));
            }
        };
        for (slice, data) in slices {
            picture.slice(slice, data);
        }
        let output = picture.finish(avc::Outputs {
            unfiltered: outputs.before.is_some(),
            filtered: outputs.after.is_some(),
        });
        outputs.store(exec, output.unfiltered.as_ref(), output.filtered.as_ref())?;
        if own != 0 && !parameters.non_reference {
            let length = output.motion.len().min(bytes);
            let write = exec.vm.write(own, &output.motion[..length]);
            write.map_err(|fault| exec.page(fault, "Direct MV Buffer (Write)"))?;
        }
        let (nothing, output_frame) = (Frame::default(), output.filtered.as_ref());
        let any = |kind| slices.iter().any(|(slice, _)| slice.kind == kind);
        let coded = CodedPicture {
            at: self.at,
            codec: Codec::Avc,
            kind: match () {
                () if any(SliceKind::B) => PictureKind::B,
                () if any(SliceKind::P) => PictureKind::P,
                () => PictureKind::I,
            },
            structure: parameters.structure,
            // i965 sends a slice without data if the first slice is missing (digests/video.md 2.9).
            slices: slices.iter().filter(|(_, data)| !data.is_empty()).count() as u32,
            bytes: slices.iter().map(|(_, data)| data.len() as u64).sum(),
            references: &frames.addresses,
            before: outputs.before,
            after: outputs.after,
            report: output.report,
            frame: output_frame.or(output.unfiltered.as_ref()).unwrap_or(&nothing),
        };
        decoded(exec, &coded);
        Ok(())
    }
}
