//! AVC: packets become the values that [`genxml_codecs::avc::encode`] takes.

use super::avc_macroblock::{invalid, macroblock};
use super::input::{mode, source};
use super::items::{self, Insertion, Item};
use super::output::{self, Segments, Sizes};
use crate::assumptions::{AVC_DIRECT_MOTION_IS_DERIVED, AVC_ROUNDING};
use crate::machine::coded::{Codec, CodedPicture, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::video::avc as decoder;
use crate::video::buffer;
use crate::video::outputs::Outputs;
use crate::video::status::decoded;
use crate::video::surface::{Arrangement, sizes_420};
use genxml::gen8::mfc::{MfcAvcPakObject, PakStreamOutRecord};
use genxml::gen8::mfx_avc::{
    MfxAvcImgState, MfxAvcImgStateMinimumFrameSizeUnits as Units, MfxAvcSliceState,
};
use genxml::gen8::mfx_common::{MfxFqmState, MfxPipeModeSelectStandardSelect as Standard};
use genxml_codecs::avc::encode::{
    Forward, Insertion as Bytes, Macroblock, Picture, Record, Rounding, Settings,
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
    mode(exec, Standard::AVC)?;
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
    items::finish(exec, encode)
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
    let segments = code(exec, &mut picture, items, &image)?;
    // A picture that no other refers to may have no output. Observers see what decoders show.
    let unwritten = outputs.before.is_none() && outputs.after.is_none();
    let observed = unwritten && exec.listener.is_some();
    let output = picture.finish(avc::Outputs {
        unfiltered: outputs.before.is_some() || unwritten && !observed,
        filtered: outputs.after.is_some() || observed,
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

/// Encodes slices and inserts the data between them.
fn code(
    exec: &mut Exec<'_>,
    picture: &mut Picture<'_>,
    items: &Items,
    image: &MfxAvcImgState,
) -> Result<Segments, Fault> {
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
                    let mb_type = start.types[index];
                    invalid(exec, (index, mb_type), start.slice.first, error)
                })?;
                picture.pad(minimum(&start.state, image));
            }
        }
    }
    Ok(segments)
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
