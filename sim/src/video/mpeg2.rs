//! MPEG-2: packets become the values that [`genxml_codecs::mpeg2`] takes.

use super::outputs::{self, Outputs};
use super::status::{decoded, mode};
use super::surface::{Arrangement, sizes_420};
use super::{buffer, slices};
use crate::machine::coded::{Codec, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::slots::UnitState;
use genxml::gen8::mfd::MfdMpeg2BsdObject;
use genxml::gen8::mfx_common::{MfxPipeBufAddrState, MfxPipeModeSelectStandardSelect as Standard};
use genxml::gen8::mfx_mpeg2::{
    MfxMpeg2PicState, MfxMpeg2PicStateIntraVlcFormat as IntraVlc,
    MfxMpeg2PicStatePictureCodingType as Kind, MfxMpeg2PicStatePictureStructure as Rows,
    MfxMpeg2PicStateQuantizerScaleType as Scale, MfxMpeg2PicStateScanOrder as Scan,
};
use genxml_codecs::mpeg2::{
    self, Parameters, PictureType, Reference, References, Slice, Structure, tables,
};

/// A picture and its slices.
type Picture = slices::Picture<Parameters, Slice>;

/// The newest picture, if it was a field: its address and its rows.
#[derive(Clone, Copy, Debug, Default)]
struct LastField(Option<(u64, Structure)>);

impl UnitState for LastField {}

/// Decodes the picture whose slices were collected, if there is one, and writes it.
///
/// # Errors
/// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for parameters that the decoder
/// does not support.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    slices::finish(exec, decode)
}

/// Executes MFD_MPEG2_BSD_OBJECT: reads the coded data of a slice. The picture is decoded when all
/// its slices are there. Its column is ignored: the data contain it, as the address increment of
/// the first macroblock (digests/video.md 3.4).
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Page`] if the data are not
/// mapped.
pub fn object(exec: &mut Exec<'_>, packet: &MfdMpeg2BsdObject) -> Result<(), Fault> {
    mode(exec, Standard::MPEG2)?;
    let length = packet.indirect_bsd_data_length.get();
    let data = buffer::coded_data(exec, packet.indirect_bsd_data_start_address.get(), length)?;
    let inline = &packet.inline_data;
    let slice = Slice {
        row: inline.slice_vertical_position.get() as usize,
        quantiser_scale_code: inline.quantizer_scale_code.get() as u8,
        bit_offset: inline.first_macroblock_bit_offset.get() as usize,
    };
    slices::add(exec, (slice, data), |exec| {
        let parameters = parameters(exec)?;
        let sizes = sizes_420(parameters.width, parameters.height);
        Ok((parameters, Outputs::resolve(exec, sizes, Arrangement::Surface)?))
    })
}

/// The picture's parameters from latched packets.
///
/// # Errors
/// [`Fault::BadPacket`] for a type or structure that does not exist.
pub fn parameters(exec: &Exec<'_>) -> Result<Parameters, Fault> {
    let state: MfxMpeg2PicState = exec.state.latched.read(0);
    let picture_type = match state.picture_coding_type {
        Kind::MPEG_I_PICTURE => PictureType::I,
        Kind::MPEG_P_PICTURE => PictureType::P,
        Kind::MPEG_B_PICTURE => PictureType::B,
        other => {
            let why = "it is none of 1 (I), 2 (P) and 3 (B)";
            return Err(exec.bad_field("Picture Coding Type", other.bits(), why));
        }
    };
    let structure = match state.picture_structure {
        Rows::MPEG_TOP_FIELD => Structure::Top,
        Rows::MPEG_BOTTOM_FIELD => Structure::Bottom,
        Rows::MPEG_FRAME => Structure::Frame,
        other => {
            let why = "it is none of 1 (top field), 2 (bottom field) and 3 (frame)";
            return Err(exec.bad_field("Picture Structure", other.bits(), why));
        }
    };
    let code = |code: genxml_core::U<4>| code.get() as u8;
    Ok(Parameters {
        width: state.frame_width_in_mbs.get() as usize,
        height: state.frame_height_in_mbs.get() as usize,
        picture_type,
        structure,
        f_codes: [
            [code(state.f_code_0_0), code(state.f_code_0_1)],
            [code(state.f_code_1_0), code(state.f_code_1_1)],
        ],
        intra_dc_precision: state.intra_dc_precision.get() as u8,
        top_field_first: state.top_field_first,
        frame_pred_frame_dct: state.frame_prediction_frame_dct,
        concealment_vectors: state.concealment_mv,
        nonlinear_quantiser: state.quantizer_scale_type == Scale::MPEG_QSCALE_NONLINEAR,
        intra_vlc_format: state.intra_vlc_format == IntraVlc::TABLE_B_15,
        alternate_scan: state.scan_order == Scan::MPEG_ALTERNATE_VERTICAL_SCAN,
        mismatch_control: !state.disable_mismatch && !state.mismatch_control_disable,
        conceal: !state.slice_concealment_disable,
        intra_matrix: buffer::matrix(exec, 0).unwrap_or(tables::DEFAULT_INTRA_MATRIX),
        non_intra_matrix: buffer::matrix(exec, 1).unwrap_or(tables::DEFAULT_NON_INTRA_MATRIX),
    })
}

/// Height of the frame in macroblocks. Frames of interlaced sequences have an even number of rows
/// of macroblocks (ISO/IEC 13818-2 6.3.3), but i965 states the number of visible ones and sends the
/// slice of the invisible row all the same (assumptions::MPEG2_ROWS_BELOW_THE_PICTURE).
fn height(parameters: &Parameters, outputs: &Outputs, slices: &[(Slice, Vec<u8>)]) -> usize {
    let rows = slices.iter().map(|(slice, _)| slice.row + 1).max().unwrap_or(0);
    let wanted = (rows * parameters.structure.step()).next_multiple_of(parameters.structure.step());
    let room = outputs.layout.luma_rows().map_or(parameters.height, |rows| rows / 16);
    parameters.height.max(wanted.min(room).min(parameters.height.next_multiple_of(2)))
}

/// Where a field of a reference comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A picture of MFX_PIPE_BUF_ADDR_STATE.
    Picture(usize),
    /// The frame that is being decoded.
    Target,
}

/// Sources by direction (forward, backward), then by field (top, bottom). Frames and top fields
/// come from pictures 0 and 1, bottom fields from pictures 2 and 3 (digests/video.md 3.3). i965
/// does not set pictures 2 and 3 if the application calls the frame progressive
/// (assumptions::MPEG2_BOTTOM_FIELDS_LEFT_OUT).
fn sources(exec: &mut Exec<'_>, parameters: &Parameters, outputs: &Outputs) -> [[Source; 2]; 2] {
    let buffers: MfxPipeBufAddrState = exec.state.latched.read(0);
    let addresses = buffers.reference_picture.map(|address| address.get());
    let own = outputs.before.or(outputs.after).unwrap_or_default();
    let structure = parameters.structure;
    let LastField(last) = exec.state.slots.get_mut::<LastField>();
    let second = structure.is_field() && *last == Some((own, structure.opposite()));
    *last = structure.is_field().then_some((own, structure));
    let predicted = parameters.picture_type == PictureType::P;
    let source = |index: usize, instead: Source| match addresses[index] {
        0 => instead,
        address if structure.is_field() && address == own => Source::Target,
        _ => Source::Picture(index),
    };
    let own_frame = second && predicted && structure == Structure::Top;
    let instead = match () {
        () if own_frame => Source::Target,
        () if predicted => source(1, Source::Picture(1)),
        () => source(0, Source::Picture(0)),
    };
    [
        [source(0, Source::Picture(0)), source(2, instead)],
        [source(1, Source::Picture(1)), source(3, source(1, Source::Picture(1)))],
    ]
}

/// Sources by direction, then by field, and the pictures that they name.
///
/// # Errors
/// [`Fault::Page`] if a picture is not mapped.
pub fn pictures(
    exec: &mut Exec<'_>,
    parameters: &Parameters,
    outputs: &Outputs,
) -> Result<([[Source; 2]; 2], outputs::References), Fault> {
    let used = match parameters.picture_type {
        PictureType::I => [false, false],
        PictureType::P => [true, false],
        PictureType::B => [true, true],
    };
    let sources = sources(exec, parameters, outputs);
    let pictures = outputs.references(exec, |index| {
        let directions = sources.iter().zip(used).filter(|(_, used)| *used);
        directions.flat_map(|(sources, _)| sources).any(|source| *source == Source::Picture(index))
    })?;
    Ok((sources, pictures))
}

/// The references of a picture, from the results of [`pictures`].
pub fn references(sources: [[Source; 2]; 2], pictures: &outputs::References) -> References<'_> {
    let reference = |source: Source| match source {
        Source::Target => Reference::Target,
        Source::Picture(index) => match pictures.get(index) {
            Some(frame) => Reference::Frame(frame),
            None => Reference::Missing,
        },
    };
    let [forward, backward] = sources.map(|fields| fields.map(reference));
    References { forward, backward }
}

/// The type of a picture, for observers.
pub fn kind(parameters: &Parameters) -> PictureKind {
    match parameters.picture_type {
        PictureType::I => PictureKind::I,
        PictureType::P => PictureKind::P,
        PictureType::B => PictureKind::B,
    }
}

/// Starts the decoder of a picture.
///
/// # Errors
/// [`Fault::BadPacket`] for parameters that the decoder does not support.
pub fn start(exec: &Exec<'_>, parameters: &Parameters) -> Result<mpeg2::Picture, Fault> {
    mpeg2::Picture::new(parameters.clone()).map_err(|error| {
        let precision = u64::from(parameters.intra_dc_precision);
        exec.bad_field("Intra DC Precision", precision, error.to_string())
    })
}

/// Decodes the slices and writes the picture.
fn decode(exec: &mut Exec<'_>, mut picture: Picture) -> Result<(), Fault> {
    let parameters = &mut picture.parameters;
    parameters.height = height(parameters, &picture.outputs, &picture.slices);
    picture.outputs.sizes = sizes_420(parameters.width, parameters.height);
    let slices::Picture { parameters, outputs, slices, .. } = &picture;
    let kind = kind(parameters);
    let (sources, pictures) = pictures(exec, parameters, outputs)?;
    let references = references(sources, &pictures);
    let mut decoder = start(exec, parameters)?;
    let mut target = outputs.load(exec)?;
    for (slice, data) in slices {
        decoder.slice(slice, data, &references, &mut target);
    }
    let report = decoder.finish(&references, &mut target);
    outputs.store(exec, Some(&target), Some(&target))?;
    let what = (Codec::Mpeg2, kind, parameters.structure);
    decoded(exec, &picture.coded(what, &pictures, report, &target));
    Ok(())
}
