//! MPEG-2: packets become the values that [`genxml_codecs::mpeg2::encode`] takes.

use super::input::{mode, source};
use super::items::{self, Insertion, Item};
use super::output::{self, Segments, Sizes};
use crate::machine::coded::{Codec, CodedPicture, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::video::mpeg2 as decoder;
use crate::video::outputs::Outputs;
use crate::video::status::decoded;
use crate::video::surface::{Arrangement, sizes_420};
use genxml::gen8::mfc::{
    InlineDataDescriptionForMfcMpeg2PakObject as Inline,
    InlineDataDescriptionForMfcMpeg2PakObjectMbType as Type, MfcMpeg2PakObject,
    MfcMpeg2SlicegroupState,
    MfcMpeg2SlicegroupStateSkipConvDisabledMbTypeSkipConversionDisableEncoderOnly as Skips,
    PakStreamOutRecord,
};
use genxml::gen8::mfx_common::{MfxFqmState, MfxPipeModeSelectStandardSelect as Standard};
use genxml_codecs::mpeg2::encode::{Forward, Invalid, Macroblock, Picture, Slice};
use genxml_codecs::mpeg2::{Motion, Parameters, PictureType, Prediction};
use genxml_core::U;

/// Latched state of a slice.
#[derive(Clone, Debug)]
struct Start {
    at: Place,
    slice: Slice,
}

type Items = items::Items<Start, Macroblock>;

/// Adds bytes to the coded data.
pub(super) fn insert(exec: &mut Exec<'_>, insertion: Insertion) -> Result<(), Fault> {
    if insertion.protect {
        let what = "emulation prevention bytes in MPEG-2, which has none";
        return Err(exec.unimplemented(what, "MFX_PAK_INSERT_OBJECT dw1 3"));
    }
    collect(exec)?.insert(insertion);
    Ok(())
}

/// The collected packets. The coded data start at the offset of the first slice group. Offsets of
/// later groups are ignored; their data follow directly.
fn collect<'a>(exec: &'a mut Exec<'_>) -> Result<&'a mut Items, Fault> {
    let group: MfcMpeg2SlicegroupState = exec.state.latched.read(0);
    let offset = group.bitstream_offset_indirect_pak_bse_data_start_address_write.get();
    let items: &mut Items = items::get(exec)?;
    if items.items.is_empty() {
        items.items.push(Item::Offset(offset));
    }
    Ok(items)
}

/// Executes MFC_MPEG2_PAK_OBJECT: adds a macroblock to the slice. The picture is encoded when all
/// its macroblocks are there.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Unimplemented`] for what the
/// encoder lacks.
pub fn object(exec: &mut Exec<'_>, packet: &MfcMpeg2PakObject) -> Result<(), Fault> {
    mode(exec, Standard::MPEG2)?;
    let group: MfcMpeg2SlicegroupState = exec.state.latched.read(0);
    supported(exec, &group, &packet.inline_data)?;
    let inline = &packet.inline_data;
    let parameters = decoder::parameters(exec)?;
    let macroblock = macroblock(exec, inline, &group, &parameters)?;
    let at = exec.at;
    let items = collect(exec)?;
    if inline.first_mb || !items.open {
        let slice = Slice {
            first: (inline.mb_column.get() as usize, inline.mb_row.get() as usize),
            quantiser_scale_code: macroblock.quantiser_scale_code,
            intra: group.intra_slice_flag.then_some(group.intra_slice),
        };
        items.items.push(Item::Slice(Box::new(Start { at, slice }), Vec::new()));
    }
    items.macroblock(macroblock, inline.last_mb);
    Ok(())
}

/// Checks that the encoder has what the packets ask for.
fn supported(
    exec: &Exec<'_>,
    group: &MfcMpeg2SlicegroupState,
    inline: &Inline,
) -> Result<(), Fault> {
    let output =
        group.bitstream_output_flag_compressed_bit_stream_output_disable_flag_encoder_only.bits()
            != 0;
    let missing = [
        (
            group.mb_rate_ctrl_flag_rate_control_counter_enable_encoder_only,
            "rate control",
            "MFC_MPEG2_SLICEGROUP_STATE dw1 31",
        ),
        (output, "encoding without output", "MFC_MPEG2_SLICEGROUP_STATE dw1 18"),
        (
            group.first_slice_hdr_disabled,
            "a first slice header of the driver",
            "MFC_MPEG2_SLICEGROUP_STATE dw1 14",
        ),
        (
            group.slice_group_skip,
            "a slice group of skipped macroblocks",
            "MFC_MPEG2_SLICEGROUP_STATE dw3 8",
        ),
        (
            inline.coefficient_clamp_enable,
            "limits of coefficients (Coefficient Clamp Enable)",
            "MFC_MPEG2_PAK_OBJECT dw4 27",
        ),
        (
            !inline.intra_mb && inline.mb_type == Type::DUAL_PRIME,
            "dual prime prediction of the encoder",
            "MFC_MPEG2_PAK_OBJECT dw1 12:8",
        ),
    ];
    match missing.into_iter().find(|(used, ..)| *used) {
        Some((_, what, page)) => Err(exec.unimplemented(what, page)),
        None => Ok(()),
    }
}

/// The macroblock of a packet.
fn macroblock(
    exec: &Exec<'_>,
    inline: &Inline,
    group: &MfcMpeg2SlicegroupState,
    parameters: &Parameters,
) -> Result<Macroblock, Fault> {
    let skips =
        group.skip_conv_disabled_mb_type_skip_conversion_disable_encoder_only == Skips::ENABLE;
    Ok(Macroblock {
        motion: match inline.intra_mb {
            true => None,
            false => Some(motion(exec, inline, parameters)?),
        },
        field_dct: inline.field_dct,
        quantiser_scale_code: inline.quantizer_scale_code.get() as u8,
        coded: if inline.skip_mb { 0 } else { inline.cbp.get() as u8 },
        skip_conversion: inline.skip_mb || skips && !inline.skip_conversion_disable,
    })
}

fn motion(exec: &Exec<'_>, inline: &Inline, parameters: &Parameters) -> Result<Motion, Fault> {
    let (two, directions) = match inline.mb_type {
        Type::FORWARD_16X16 => (false, [true, false]),
        Type::BACKWARD_16X16 => (false, [false, true]),
        Type::BIDIRECTIONAL_16X16 => (false, [true, true]),
        Type::FORWARD_FIELD => (true, [true, false]),
        Type::BACKWARD_FIELD => (true, [false, true]),
        Type::BIDIRECTIONAL_FIELD => (true, [true, true]),
        other => {
            return Err(exec.bad_field("MB Type", other.bits(), "no inter macroblock has it"));
        }
    };
    let prediction = match (parameters.structure.is_field(), two) {
        (false, false) => Prediction::Frame,
        (true, true) => Prediction::SixteenByEight,
        _ => Prediction::Field,
    };
    // First vectors, then second ones, each forward and backward.
    let select = inline.field_select.get();
    let vector = |number: usize, direction: usize| {
        let vector = &inline.motion_vectors[2 * number + direction];
        [vector.motion_vector_x.get() as i32, vector.motion_vector_y.get() as i32]
    };
    let both = |number: usize| [vector(number, 0), vector(number, 1)];
    let bottom = |number: usize| [0, 1].map(|at| select >> (2 * number + at) & 1 == 1);
    Ok(Motion {
        prediction,
        directions,
        vectors: [both(0), both(1)],
        bottom: [bottom(0), bottom(1)],
        ..Motion::default()
    })
}

/// The matrices of the forward quantiser, which packets have column by column. A matrix that was
/// never sent is the inverse of the decoder's one.
fn forward(exec: &Exec<'_>, parameters: &Parameters) -> Forward {
    let words = |index: usize, matrix: &[u8; 64]| -> [u16; 64] {
        if exec.state.latched.get::<MfxFqmState>(index).is_none() {
            return matrix.map(|weight| (65536 / u32::from(weight.max(1))).min(65535) as u16);
        }
        let state: MfxFqmState = exec.state.latched.read(index);
        std::array::from_fn(|at| state.forward_quantizer_matrix[at % 8 * 8 + at / 8].get() as u16)
    };
    Forward {
        intra: words(0, &parameters.intra_matrix),
        non_intra: words(1, &parameters.non_intra_matrix),
    }
}

/// Encodes the collected picture, if there is one, and writes it.
///
/// # Errors
/// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for state or macroblocks that
/// cannot be encoded; [`Fault::Hang`] if the budget is used up.
pub(super) fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    items::finish(exec, encode)
}

fn encode(exec: &mut Exec<'_>, items: &Items) -> Result<(), Fault> {
    let parameters = decoder::parameters(exec)?;
    let sizes = sizes_420(parameters.width, parameters.height);
    let outputs = Outputs::of_encoder(exec, sizes, Arrangement::Surface)?;
    let (sources, pictures) = decoder::pictures(exec, &parameters, &outputs)?;
    let references = decoder::references(sources, &pictures);
    let source = source(exec, &outputs)?;
    let target = outputs.load(exec)?;
    let forward = forward(exec, &parameters);
    let picture = Picture::new(&parameters, &forward, references, &source, target);
    let mut picture = picture.map_err(|error| {
        let precision = u64::from(parameters.intra_dc_precision);
        exec.bad_field("Intra DC Precision", precision, error.to_string())
    })?;
    let mut segments = Segments::default();
    let mut slices = 0;
    for item in &items.items {
        match item {
            Item::Offset(offset) => segments.start(*offset, picture.position()),
            Item::Insertion(insertion) => picture.insert(&insertion.data, insertion.last_bits),
            Item::Slice(start, macroblocks) => {
                slices += 1;
                let done = picture.slice(&start.slice, macroblocks);
                done.map_err(|(index, error)| {
                    exec.at = start.at;
                    invalid(exec, index, error)
                })?;
            }
        }
    }
    let output = picture.finish();
    segments.write(exec, &output.stream)?;
    output::records(exec, &records(&parameters, items))?;
    outputs.store(exec, Some(&output.frame), Some(&output.frame))?;
    let bytes = output.stream.len() as u64;
    output::publish(
        exec,
        &Sizes {
            bytes,
            slice_bits: output.slice_bits,
            quantisers: output.quantisers,
            ..Sizes::default()
        },
    );
    let picture = CodedPicture {
        at: items.at,
        codec: Codec::Mpeg2,
        kind: match parameters.picture_type {
            PictureType::I => PictureKind::I,
            PictureType::P => PictureKind::P,
            PictureType::B => PictureKind::B,
        },
        structure: parameters.structure,
        slices,
        bytes,
        references: &pictures.addresses,
        before: outputs.before,
        after: outputs.after,
        report: output.report,
        frame: &output.frame,
    };
    decoded(exec, &picture);
    Ok(())
}

/// The records of all macroblocks of a picture (assumptions::ENCODER_RECORDS).
fn records(parameters: &Parameters, items: &Items) -> Vec<PakStreamOutRecord> {
    let mut records = vec![PakStreamOutRecord::new(); parameters.width * parameters.height];
    for item in &items.items {
        let Item::Slice(start, macroblocks) = item else { continue };
        let first = start.slice.first.1 * parameters.width + start.slice.first.0;
        for (record, macroblock) in records.iter_mut().skip(first).zip(macroblocks) {
            record.qp = U::from_bits(macroblock.quantiser_scale_code.into());
            record.intra_mb = macroblock.motion.is_none();
        }
    }
    records
}

/// The fault for macroblock `index` of a slice.
fn invalid(exec: &Exec<'_>, index: usize, error: Invalid) -> Fault {
    let (field, value) = match error {
        Invalid::Quantiser(code) => ("Quantizer Scale Code", code.into()),
        Invalid::FieldDct => ("Field DCT", 1),
        Invalid::Position | Invalid::Prediction | Invalid::Vectors => {
            return exec.bad_field("macroblock of the slice", index as u64, error.to_string());
        }
    };
    exec.bad_field(field, value, format!("macroblock {index} of the slice: {error}"))
}
