//! AVC: MFC_AVC_PAK_OBJECT becomes a macroblock of the encoder.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::video::buffer;
use genxml::gen8::mfc::{
    AvcPakInterPrediction, AvcPakIntraPrediction,
    InlineDataDescriptionForMfcAvcPakObject as Inline,
    InlineDataDescriptionForMfcAvcPakObjectIntraMbMode as IntraMode,
    InlineDataDescriptionForMfcAvcPakObjectMbType as Type,
    InlineDataDescriptionForMfcAvcPakObjectMvFormat as Format, MfcAvcPakObject,
};
use genxml::gen8::mfx_avc::MfxAvcSliceState;
use genxml::gen8::mfx_common::MfxIndObjBaseAddrState;
use genxml_codecs::avc::encode::{Coded, Inter, Invalid, Kind, Macroblock, Shape};

/// Position in raster order of a 4x4 block in the order of decoding.
fn raster(block: usize) -> usize {
    block % 2 + block / 4 % 2 * 2 + (block / 2 % 2 + block / 8 * 2) * 4
}

/// The macroblock of a packet.
///
/// # Errors
/// [`Fault::BadPacket`] for fields that contradict each other; [`Fault::Unimplemented`] for what
/// the encoder lacks; [`Fault::Page`] if the motion vectors are not mapped.
pub(super) fn macroblock(
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
    /// Lists of both partitions: bit 0 is list 0, bit 1 list 1. Entry n belongs to MB Types 4 + 2n
    /// (16x8) and 5 + 2n (8x16).
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

/// The fault for a macroblock: its index in the slice and its MB Type. `first` is the column and row
/// of the first macroblock of the slice.
pub(super) fn invalid(
    exec: &Exec<'_>,
    (index, mb_type): (usize, u8),
    first: (usize, usize),
    error: Invalid,
) -> Fault {
    let (field, value) = match error {
        Invalid::InterInIntraSlice => ("Intra MB", 0),
        Invalid::Reference(0, _, index) => ("Reference L0", index as u64),
        Invalid::Reference(_, _, index) => ("Reference L1", index as u64),
        Invalid::Mode(mode) => ("Luma Mode", mode.into()),
        Invalid::Intra8x8 => ("8x8 IDCT Transform Mode", 0),
        Invalid::Quantiser(qp) => ("QP Y", qp.into()),
        Invalid::Position => ("Slice Horizontal Position", first.0 as u64),
        Invalid::ListInPSlice
        | Invalid::NoList(_)
        | Invalid::DirectShape
        | Invalid::Parts(_)
        | Invalid::Syntax => ("MB Type", mb_type.into()),
    };
    exec.bad_field(field, value, format!("macroblock {index} of the slice: {error}"))
}
