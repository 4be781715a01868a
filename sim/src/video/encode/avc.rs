//! AVC: packets become the values that [`genxml_codecs::avc::encode`] takes.

use super::items::{self, Insertion, Item};
use super::output::{self, Segments, Sizes};
use super::source;
use crate::assumptions::{AVC_DIRECT_MOTION_IS_DERIVED, AVC_ROUNDING};
use crate::machine::coded::{Codec, CodedPicture, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::video::avc as decoder;
use crate::video::outputs::Outputs;
use crate::video::status::decoded;
use crate::video::surface::{Arrangement, sizes_420};
use crate::video::{buffer, encode};
use genxml::gen8::mfc::{
    AvcPakInterPrediction, AvcPakIntraPrediction,
    InlineDataDescriptionForMfcAvcPakObject as Inline,
    InlineDataDescriptionForMfcAvcPakObjectIntraMbMode as IntraMode,
    InlineDataDescriptionForMfcAvcPakObjectMbType as Type,
    InlineDataDescriptionForMfcAvcPakObjectMvFormat as Format, MfcAvcPakObject, PakStreamOutRecord,
};
use genxml::gen8::mfx_avc::{
    MfxAvcImgState, MfxAvcImgStateMinimumFrameSizeUnits as Units, MfxAvcSliceState,
};
use genxml::gen8::mfx_common::{
    MfxFqmState, MfxIndObjBaseAddrState, MfxPipeModeSelectStandardSelect as Standard,
};
use genxml_codecs::avc::encode::Record;
use genxml_codecs::avc::encode::{
    Coded, Forward, Insertion as Bytes, Inter, Invalid, Kind, Macroblock, Picture, Rounding,
    Settings, Shape,
};
use genxml_codecs::avc::{self, Entry, References, Slice, SliceKind};
use genxml_core::U;

/// What is kept of the state of a slice.
#[derive(Clone, Debug)]
struct Start {
    at: Place,
    /// The packet, to find where the next slice starts.
    state: MfxAvcSliceState,
    slice: Slice,
    settings: Settings,
    /// MB Type of the macroblocks.
    types: Vec<u8>,
}

type Items = items::Items<Start, Macroblock>;

/// Adds bytes to the coded data.
pub(super) fn insert(exec: &mut Exec<'_>, insertion: Insertion) -> Result<(), Fault> {
    collect(exec)?.insert(insertion);
    Ok(())
}

/// The collected packets. Adds the offset of the coded data where it changes.
fn collect<'a>(exec: &'a mut Exec<'_>) -> Result<&'a mut Items, Fault> {
    let state: MfxAvcSliceState = exec.state.latched.read(0);
    let image: MfxAvcImgState = exec.state.latched.read(0);
    let offset = state.indirect_pak_bse_data_start_address.get();
    let items: &mut Items = items::get(exec)?;
    let newest = items.items.iter().rev().find_map(|item| match item {
        Item::Offset(offset) => Some(*offset),
        _ => None,
    });
    if newest.is_none() || image.load_bitstream_pointer_per_slice && newest != Some(offset) {
        items.items.push(Item::Offset(offset));
        items.open = false;
    }
    Ok(items)
}

/// Executes MFC_AVC_PAK_OBJECT: adds a macroblock to the slice. The picture is encoded when all its
/// macroblocks are there.
///
/// # Errors
/// [`Fault::BadPacket`] for state that contradicts itself; [`Fault::Unimplemented`] for what the
/// encoder lacks; [`Fault::Page`] if the motion vectors are not mapped.
pub fn object(exec: &mut Exec<'_>, packet: &MfcAvcPakObject) -> Result<(), Fault> {
    encode::mode(exec, Standard::AVC)?;
    let state: MfxAvcSliceState = exec.state.latched.read(0);
    let image: MfxAvcImgState = exec.state.latched.read(0);
    let macroblock = macroblock(exec, packet, &state)?;
    let at = exec.at;
    let items = collect(exec)?;
    let same = match items.items.last() {
        Some(Item::Slice(start, _)) => items.open && start.state == state,
        _ => false,
    };
    if !same {
        supported(exec, &state, &image)?;
        let slice = decoder::slice(exec);
        let start = Start { at, state, slice, settings: settings(&state), types: Vec::new() };
        collect(exec)?.items.push(Item::Slice(Box::new(start), Vec::new()));
    }
    let items = collect(exec)?;
    if let Some(Item::Slice(start, _)) = items.items.last_mut() {
        start.types.push(packet.inline_data.mb_type.bits() as u8);
    }
    items.macroblock(macroblock, packet.inline_data.last_mb);
    Ok(())
}

/// Checks that the encoder has what the states of a picture and a slice ask for.
fn supported(
    exec: &Exec<'_>,
    state: &MfxAvcSliceState,
    image: &MfxAvcImgState,
) -> Result<(), Fault> {
    let missing = [
        (state.rate_control_counter_enable, "rate control", "MFX_AVC_SLICE_STATE dw6 31"),
        (image.slice_stats_stream_out_enable, "statistics of slices", "MFX_AVC_IMG_STATE dw11 31"),
        (image.mbaff_mode, "encoding of MBAFF frames", "MFX_AVC_IMG_STATE dw4 1"),
        (
            image.mb_level_rate_control && image.non_first_pass,
            "quantisers of an earlier pass (MB Level Rate Control)",
            "MFX_AVC_IMG_STATE dw5 9",
        ),
        (
            minimum(state, image) > 0 && image.entropy_coding_sync_enable.bits() == 0,
            "padding of CAVLC to Minimum Frame Size",
            "MFX_AVC_IMG_STATE dw4 31:16",
        ),
    ];
    match missing.into_iter().find(|(used, ..)| *used) {
        Some((_, what, page)) => Err(exec.unimplemented(what, page)),
        None => Ok(()),
    }
}

/// The least size of the coded picture in bytes, to which its last slice is padded; 0 for none
/// (`THE_LAST_SLICE_IS_PADDED_TO_THE_MINIMUM`).
fn minimum(state: &MfxAvcSliceState, image: &MfxAvcImgState) -> usize {
    if !state.cabac_zero_word_insertion_enable || !state.last_slice_group {
        return 0;
    }
    let unit = match image.minimum_frame_size_units {
        Units::COMPATIBILITY_MODE => 2,
        Units::_16_BYTES => 16,
        Units::_4KB => 4096,
        _ => 16384,
    };
    unit * image.minimum_frame_size.get() as usize
}

fn settings(state: &MfxAvcSliceState) -> Settings {
    let sixteenths = |n: u64| (n as u32 + 1) * (65536 / 16);
    Settings {
        rounding: Rounding {
            intra: match state.round_intra_enable {
                true => sixteenths(state.round_intra.bits()),
                false => AVC_ROUNDING[0],
            },
            inter: match state.round_inter_enable {
                true => sixteenths(state.round_inter.bits()),
                false => AVC_ROUNDING[1],
            },
        },
        derive_direct: AVC_DIRECT_MOTION_IS_DERIVED,
    }
}

/// Position in raster order of a 4x4 block in the order of decoding.
fn raster(block: usize) -> usize {
    block % 2 + block / 4 % 2 * 2 + (block / 2 % 2 + block / 8 * 2) * 4
}

/// The macroblock of a packet.
fn macroblock(
    exec: &mut Exec<'_>,
    packet: &MfcAvcPakObject,
    state: &MfxAvcSliceState,
) -> Result<Macroblock, Fault> {
    let inline = &packet.inline_data;
    if inline.coefficient_clamp_enable {
        let what = "limits of coefficients (Coefficient Clamp Enable)";
        return Err(exec.unimplemented(what, "MFC_AVC_PAK_OBJECT dw6 27"));
    }
    let data = inline.prediction.map(|dword| dword.get() as u32);
    let kind = match inline.intra_mb {
        true => intra(exec, inline, &AvcPakIntraPrediction::unpack_lossy(&data))?,
        false => {
            let prediction = AvcPakInterPrediction::unpack_lossy(&data);
            let mut inter = partitions(exec, inline, &prediction)?;
            inter.vectors = vectors(exec, packet)?;
            Kind::Inter(Box::new(inter))
        }
    };
    Ok(Macroblock {
        kind,
        qp: inline.qp_y.get() as u8,
        transform_8x8: inline.transform_8x8,
        coded: coded(inline),
        skip_conversion: !inline.skip_conversion_disable && !state.mb_type_skip_conversion_disable,
        direct_conversion: !state.mb_type_direct_conversion_disable,
        limit: u32::from(u16::MAX >> 1),
    })
}

/// The blocks that may have coefficients. The first block has the highest bit of a mask.
fn coded(inline: &Inline) -> Coded {
    let reversed = |mask: u64, bits: u32| mask.reverse_bits() >> (64 - bits);
    let luma = match inline.transform_8x8 {
        true => {
            let blocks = reversed(inline.cbp_y.get(), 4);
            (0..4).fold(0, |mask, block| mask | ((blocks >> block & 1) * 15) << (4 * block))
        }
        false => reversed(inline.cbp_y.get(), 16),
    };
    let dc = [inline.cbp_dc_y, inline.cbp_dc_cb, inline.cbp_dc_cr];
    Coded {
        luma: luma as u16,
        chroma: [inline.cbp_cb, inline.cbp_cr].map(|mask| reversed(mask.get(), 4) as u8),
        dc: dc.iter().rev().fold(0, |mask, &flag| mask << 1 | u8::from(flag)),
    }
}

fn intra(
    exec: &Exec<'_>,
    inline: &Inline,
    prediction: &AvcPakIntraPrediction,
) -> Result<Kind, Fault> {
    let chroma = prediction.chroma_mode.get() as u8;
    let modes = prediction.luma_mode.map(|mode| mode.get() as u8);
    // In the extended form each 4x4 block has the mode.
    let eight = |block: usize| modes[if inline.extended_form { 4 * block } else { block }];
    Ok(match inline.mb_type.bits() {
        0 if inline.intra_mb_mode == IntraMode::INTRA_PCM => Kind::Pcm,
        0 if inline.intra_mb_mode == IntraMode::INTRA_8X8 => {
            Kind::Intra8x8(std::array::from_fn(eight), chroma)
        }
        0 => {
            let mut raster_modes = [0; 16];
            for (block, mode) in modes.into_iter().enumerate() {
                raster_modes[raster(block)] = mode;
            }
            Kind::Intra4x4(raster_modes, chroma)
        }
        1..=24 => Kind::Intra16x16(modes[0], chroma),
        _ if inline.mb_type == Type::INTRA_PCM => Kind::Pcm,
        other => return Err(exec.bad_field("MB Type", other, "no intra macroblock has it")),
    })
}

/// The partitions and references of an inter macroblock.
fn partitions(
    exec: &Exec<'_>,
    inline: &Inline,
    prediction: &AvcPakInterPrediction,
) -> Result<Inter, Fault> {
    /// Lists of the first and the second partition, for two types each from 4 on: 16x8, 8x16.
    const PAIRS: [[u8; 2]; 9] =
        [[1, 1], [2, 2], [1, 2], [2, 1], [1, 3], [2, 3], [3, 1], [3, 2], [3, 3]];
    let number = inline.mb_type.bits();
    let modes = prediction.sub_mb_prediction_mode.map(|mode| mode.bits() as u8 + 1);
    let (shape, lists) = match number {
        1..=3 => (Shape::Whole, [number as u8; 4]),
        4..=21 => {
            let [first, second] = PAIRS[(number as usize - 4) / 2];
            match number % 2 {
                0 => (Shape::Wide, [first, first, second, second]),
                _ => (Shape::Tall, [first, second, first, second]),
            }
        }
        // A skipped macroblock needs no type.
        _ if inline.mb_type == Type::INTER_8X8 || inline.skip_mb => (Shape::Quarters, modes),
        _ => return Err(exec.bad_field("MB Type", number, "no inter macroblock has it")),
    };
    if lists.iter().any(|lists| *lists > 3) {
        let why = "it is neither L0 nor L1 nor Bi";
        return Err(exec.bad_field("Sub MB Prediction Mode", 3, why));
    }
    let picks = [prediction.reference_l0, prediction.reference_l1];
    let mut references = [[-1; 4]; 2];
    for (list, references) in references.iter_mut().enumerate() {
        for (block, reference) in references.iter_mut().enumerate() {
            let pick = match (inline.extended_form, shape) {
                (true, _) | (_, Shape::Quarters) => block,
                (false, Shape::Whole) => 0,
                (false, Shape::Wide) => block / 2,
                (false, Shape::Tall) => block % 2,
            };
            if lists[block] >> list & 1 == 1 {
                *reference = picks[list][pick].get().min(127) as i8;
            }
        }
    }
    let quarters = shape == Shape::Quarters;
    Ok(Inter {
        shape,
        skip: inline.skip_mb,
        direct: if quarters { inline.direct_8x8_pattern.get() as u8 } else { 0 },
        lists,
        parts: match quarters {
            true => prediction.sub_mb_shape.map(|shape| shape.bits() as u8),
            false => [0; 4],
        },
        references,
        vectors: Default::default(),
    })
}

/// Reads the motion vectors of a macroblock: a pair, of list 0 and list 1, for each block.
fn vectors(exec: &mut Exec<'_>, packet: &MfcAvcPakObject) -> Result<[[[i16; 2]; 16]; 2], Fault> {
    let mut vectors = [[[0; 2]; 16]; 2];
    let blocks = match packet.inline_data.mv_format {
        Format::NO_MOTION_VECTORS => return Ok(vectors),
        Format::_8_MOTION_VECTORS => 4,
        Format::_32_MOTION_VECTORS => 16,
        other => {
            let why = "a macroblock has 0, 8 or 32 motion vectors";
            return Err(exec.bad_field("MV Format", other.bits(), why));
        }
    };
    let length = packet.indirect_pak_mv_data_length.get();
    if length < 8 * blocks {
        let why = format!("MV Format says {} bytes", 8 * blocks);
        return Err(exec.bad_field("Indirect PAK-MV Data Length", length, why));
    }
    let state: MfxIndObjBaseAddrState = exec.state.latched.read(0);
    let base = state.mfx_indirect_mv_object_address.get();
    let address = base.wrapping_add(packet.indirect_pak_mv_data_start_address_offset.get());
    let data = buffer::read(exec, address, 8 * blocks as usize, "motion vectors")?;
    for (index, components) in data.chunks_exact(4).enumerate() {
        let [x, y] = [0, 2].map(|at| i16::from_le_bytes([components[at], components[at + 1]]));
        let (block, list) = (index / 2, index % 2);
        match blocks {
            4 => (4 * block..4 * block + 4).for_each(|at| vectors[list][raster(at)] = [x, y]),
            _ => vectors[list][raster(block)] = [x, y],
        }
    }
    Ok(vectors)
}

/// The matrices of the forward quantiser. A matrix that was never sent is flat. Packets have them
/// column by column.
fn forward(exec: &Exec<'_>) -> Forward {
    let words = |index: usize| -> Option<[u16; 64]> {
        exec.state.latched.get::<MfxFqmState>(index)?;
        let state: MfxFqmState = exec.state.latched.read(index);
        Some(state.forward_quantizer_matrix.map(|word| word.get() as u16))
    };
    let three = |words: [u16; 64]| -> [[u16; 16]; 3] {
        std::array::from_fn(|plane| {
            std::array::from_fn(|at| words[16 * plane + at % 4 * 4 + at / 4])
        })
    };
    let eight =
        |words: [u16; 64]| -> [u16; 64] { std::array::from_fn(|at| words[at % 8 * 8 + at / 8]) };
    let flat = Forward::default();
    Forward {
        intra_4x4: words(0).map_or(flat.intra_4x4, three),
        inter_4x4: words(1).map_or(flat.inter_4x4, three),
        intra_8x8: words(2).map_or(flat.intra_8x8, eight),
        inter_8x8: words(3).map_or(flat.inter_8x8, eight),
    }
}

/// Encodes the collected picture, if there is one, and writes it.
///
/// # Errors
/// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for state or macroblocks that
/// cannot be encoded; [`Fault::Hang`] if the budget is used up.
pub(super) fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    let Some(items) = items::take::<Start, Macroblock>(exec) else { return Ok(()) };
    let at = std::mem::replace(&mut exec.at, items.at);
    encode(exec, &items)?;
    exec.at = at;
    Ok(())
}

fn encode(exec: &mut Exec<'_>, items: &Items) -> Result<(), Fault> {
    let parameters = decoder::parameters(exec)?;
    if parameters.monochrome {
        let what = "encoding of monochrome pictures";
        return Err(exec.unimplemented(what, "MFX_AVC_IMG_STATE dw4 11:10"));
    }
    let sizes = sizes_420(parameters.width, parameters.height);
    let outputs = Outputs::of_encoder(exec, sizes, Arrangement::Surface)?;
    let slices = || {
        items.items.iter().filter_map(|item| match item {
            Item::Slice(start, _) => Some(&**start),
            _ => None,
        })
    };
    let used = |store: usize| {
        let names = |entry: &Entry| entry.present && usize::from(entry.store) == store;
        slices().any(|start| start.slice.lists.iter().flatten().any(names))
    };
    let frames = outputs.references(exec, used)?;
    let own = decoder::written_motion(exec, &parameters)?;
    let references = References {
        frames: std::array::from_fn(|store| frames.get(store)),
        motion: Default::default(),
    };
    let image: MfxAvcImgState = exec.state.latched.read(0);
    let source = source(exec, &outputs)?;
    let target = outputs.load(exec)?;
    let (address, motion) = own.unzip();
    let motion = motion.unwrap_or_default();
    let mut picture =
        Picture::new(&parameters, &forward(exec), references, &source, target, motion).map_err(
            |error| exec.bad_field("Frame Height", parameters.height as u64, error.to_string()),
        )?;
    let mut segments = Segments::default();
    for item in &items.items {
        match item {
            Item::Offset(offset) => segments.start(*offset, picture.position()),
            Item::Insertion(insertion) => picture.insert(&Bytes {
                data: &insertion.data,
                last_bits: insertion.last_bits,
                protect: insertion.protect,
                unprotected: insertion.unprotected,
            }),
            Item::Slice(start, macroblocks) => {
                let done = picture.slice(&start.slice, &start.settings, macroblocks);
                done.map_err(|(index, error)| {
                    exec.at = start.at;
                    invalid(exec, index, error)
                })?;
                picture.pad(minimum(&start.state, &image));
            }
        }
    }
    let output = picture.finish(avc::Outputs {
        unfiltered: outputs.before.is_some(),
        filtered: outputs.after.is_some(),
    });
    segments.write(exec, &output.stream)?;
    let records = records(&parameters, slices(), &output.records);
    output::records(exec, &records)?;
    let decoded_picture = &output.picture;
    let (before, after) = (&decoded_picture.unfiltered, &decoded_picture.filtered);
    outputs.store(exec, before.as_ref(), after.as_ref())?;
    if let Some(address) = address {
        buffer::write(exec, address, &decoded_picture.motion, decoder::MOTION_WRITTEN)?;
    }
    let bytes = output.stream.len() as u64;
    output::publish(
        exec,
        &Sizes {
            bytes,
            slice_bits: output.sizes.slice_bits,
            bins: output.sizes.bins,
            padding: output.sizes.padding,
            last_slice: [output.sizes.last_slice.div_ceil(8), output.sizes.last_slice],
            quantisers: output.records.iter().map(|record| u64::from(record.qp)).sum(),
        },
    );
    let any = |kind| slices().any(|start| start.slice.kind == kind);
    let kind = match () {
        () if any(SliceKind::B) => PictureKind::B,
        () if any(SliceKind::P) => PictureKind::P,
        () => PictureKind::I,
    };
    if let Some(frame) = after.as_ref().or(before.as_ref()) {
        let picture = CodedPicture {
            at: items.at,
            codec: Codec::Avc,
            kind,
            structure: parameters.structure,
            slices: slices().count() as u32,
            bytes,
            references: &frames.addresses,
            before: outputs.before,
            after: outputs.after,
            report: decoded_picture.report,
            frame,
        };
        decoded(exec, &picture);
    }
    Ok(())
}

/// The records of all macroblocks of a picture (assumptions::ENCODER_RECORDS).
fn records<'a>(
    parameters: &avc::Parameters,
    slices: impl Iterator<Item = &'a Start>,
    encoded: &[Record],
) -> Vec<PakStreamOutRecord> {
    let mut encoded = encoded.iter();
    let mut records = vec![PakStreamOutRecord::new(); parameters.width * parameters.height];
    for start in slices {
        let first = start.slice.first.1 * parameters.width + start.slice.first.0;
        for (index, &mb_type) in start.types.iter().enumerate() {
            let Some(found) = encoded.next() else { continue };
            let Some(record) = records.get_mut(first + index) else { continue };
            *record = PakStreamOutRecord {
                qp: U::from_bits(found.qp.into()),
                mb_bits: U::from_bits(found.bits.min(0x1fff).into()),
                cbp: U::from_bits(found.pattern.into()),
                intra_mb: found.intra,
                mb_type: U::from_bits(mb_type.into()),
                ..PakStreamOutRecord::new()
            };
        }
    }
    records
}

/// The fault for macroblock `index` of a slice.
fn invalid(exec: &Exec<'_>, index: usize, error: Invalid) -> Fault {
    let (field, value) = match error {
        Invalid::InterInIntraSlice => ("Intra MB", 0),
        Invalid::ListInPSlice | Invalid::Syntax => ("MB Type", 0),
        Invalid::NoList(_) => ("Sub MB Prediction Mode", 0),
        Invalid::DirectShape => ("Direct 8x8 Pattern", 0),
        Invalid::Reference(0, _, index) => ("Reference L0", index.into()),
        Invalid::Reference(_, _, index) => ("Reference L1", index.into()),
        Invalid::Parts(_) => ("Sub MB Shape", 0),
        Invalid::Mode(mode) => ("Luma Mode", mode.into()),
        Invalid::Intra8x8 => ("8x8 IDCT Transform Mode", 0),
        Invalid::Quantiser(qp) => ("QP Y", qp.into()),
        Invalid::Position => ("Slice Horizontal Position", 0),
    };
    let value: i64 = value;
    exec.bad_field(field, value as u64, format!("macroblock {index} of the slice: {error}"))
}
