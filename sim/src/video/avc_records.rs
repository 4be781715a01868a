//! Records of decoded AVC macroblocks (Stream-Out Enable), for applications that encode the picture
//! again (assumptions::AVC_RECORDS).

use super::buffer;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfc::AvcPakIntraPrediction;
use genxml::gen8::mfd::{
    AvcStreamOutInterPrediction, AvcStreamOutInterPredictionReferenceL0 as Reference0,
    AvcStreamOutInterPredictionReferenceL1 as Reference1,
    AvcStreamOutInterPredictionSubMbPredictionMode as Lists,
    AvcStreamOutInterPredictionSubMbShape as Parts, AvcStreamOutRecord,
    AvcStreamOutRecordInterMbMode as InterMode, AvcStreamOutRecordIntraMbMode as IntraMode,
    AvcStreamOutRecordMotionVectors as Vector,
};
use genxml::gen8::mfx_common::{MfxPipeBufAddrState, MfxPipeModeSelect};
use genxml_codecs::Structure;
use genxml_codecs::avc::intra::{ABOVE, ABOVE_RIGHT, CORNER, LEFT_LOWER, LEFT_UPPER};
use genxml_codecs::avc::{Macroblock, Parameters, Prediction};
use genxml_core::{S, U};

/// Bytes of a record.
const RECORD: usize = 64;
/// MB Type of macroblocks with four 8x8 blocks.
const EIGHT_BY_EIGHT: u8 = 22;

/// Writes the records of a picture in raster order, if MFX_PIPE_MODE_SELECT enables it and the
/// buffer has an address.
///
/// # Errors
/// [`Fault::Page`] if the buffer is not mapped.
pub fn write(
    exec: &mut Exec<'_>,
    parameters: &Parameters,
    macroblocks: &[Macroblock],
) -> Result<(), Fault> {
    let mode: MfxPipeModeSelect = exec.state.latched.read(0);
    let buffers: MfxPipeBufAddrState = exec.state.latched.read(0);
    let address = buffers.stream_out_data_destination_address.get();
    if !mode.stream_out_enable || address == 0 {
        return Ok(());
    }
    let mut data = Vec::with_capacity(RECORD * macroblocks.len());
    for (index, macroblock) in macroblocks.iter().enumerate() {
        let position = (index % parameters.width, index / parameters.width);
        let record = record(parameters, position, macroblock);
        data.extend(record.pack().into_iter().flat_map(u32::to_le_bytes));
    }
    buffer::write(exec, address, &data, "Stream-Out Data Destination")
}

/// The record of the macroblock at a column and row.
fn record(
    parameters: &Parameters,
    (column, row): (usize, usize),
    macroblock: &Macroblock,
) -> AvcStreamOutRecord {
    let place = AvcStreamOutRecord {
        mb_column: U::from_bits(column as u64),
        mb_row: U::from_bits(row as u64),
        ..AvcStreamOutRecord::new()
    };
    if !macroblock.decoded {
        return AvcStreamOutRecord { concealed: true, ..place };
    }
    let bottom = match macroblock.field {
        true => row % 2 == 1,
        false => parameters.structure == Structure::Bottom,
    };
    let common = AvcStreamOutRecord {
        field_mb: macroblock.field || parameters.structure.is_field(),
        field_polarity: bottom,
        transform_8x8: macroblock.transform_8x8,
        last_mb: macroblock.last,
        coefficients: U::from_bits(macroblock.levels.min(511).into()),
        qp_y: U::from_bits(macroblock.qp[0].into()),
        ..coded(macroblock, place)
    };
    match macroblock.is_intra() {
        true => intra(parameters, macroblock, common),
        false => inter(macroblock, common),
    }
}

/// Sets the blocks with coefficients. The first block has the highest bit of a mask.
fn coded(macroblock: &Macroblock, record: AvcStreamOutRecord) -> AvcStreamOutRecord {
    let dc = |component: u8| macroblock.dc >> component & 1 == 1;
    // 4x4 blocks in the order of decoding.
    let luma = |block: usize| macroblock.coefficients >> raster(block) & 1 == 1;
    let mask = |count: usize, coded: &dyn Fn(usize) -> bool| {
        U::<16>::from_bits((0..count).fold(0, |mask, block| mask << 1 | u64::from(coded(block))))
    };
    let chroma = |first: usize| {
        let coded = |block: usize| macroblock.counts[first + block] > 0;
        U::from_bits(mask(4, &coded).get())
    };
    AvcStreamOutRecord {
        cbp_dc_y: dc(0),
        cbp_dc_cb: dc(1),
        cbp_dc_cr: dc(2),
        cbp_y: match macroblock.transform_8x8 {
            true => mask(4, &|block| luma(4 * block)),
            false => mask(16, &luma),
        },
        cbp_cb: chroma(16),
        cbp_cr: chroma(20),
        ..record
    }
}

/// Position in raster order of a 4x4 block in the order of decoding.
fn raster(block: usize) -> usize {
    block % 2 + block / 4 % 2 * 2 + (block / 2 % 2 + block / 8 * 2) * 4
}

fn intra(
    parameters: &Parameters,
    macroblock: &Macroblock,
    record: AvcStreamOutRecord,
) -> AvcStreamOutRecord {
    let (intra_mb_mode, modes) = match macroblock.prediction {
        Prediction::Intra16x16 => {
            // Table 7-11: the mode is the type minus 1, modulo 4.
            (IntraMode::INTRA_16X16, [macroblock.kind.wrapping_sub(1) % 4; 16])
        }
        Prediction::Intra8x8 => {
            let mode = |block: usize| match block {
                0..4 => macroblock.modes[raster(4 * block)],
                _ => 0,
            };
            (IntraMode::INTRA_8X8, std::array::from_fn(mode))
        }
        Prediction::Pcm => (IntraMode::INTRA_PCM, [0; 16]),
        Prediction::Intra4x4 | Prediction::Inter => {
            (IntraMode::INTRA_4X4, std::array::from_fn(|block| macroblock.modes[raster(block)]))
        }
    };
    let available = |flag: u8| macroblock.available & flag != 0;
    let prediction = AvcPakIntraPrediction {
        luma_mode: modes.map(|mode| U::from_bits(mode.into())),
        available_f: parameters.mbaff && available(LEFT_UPPER),
        available_a: available(LEFT_UPPER),
        available_e: available(LEFT_LOWER),
        available_b: available(ABOVE),
        available_c: available(ABOVE_RIGHT),
        available_d: available(CORNER),
        chroma_mode: U::from_bits(macroblock.chroma_mode.into()),
    };
    AvcStreamOutRecord {
        intra_mb: true,
        mb_type: U::from_bits(macroblock.kind.into()),
        intra_mb_mode,
        prediction: prediction.pack().map(|dword| U::from_bits(dword.into())),
        ..record
    }
}

fn inter(macroblock: &Macroblock, record: AvcStreamOutRecord) -> AvcStreamOutRecord {
    // B_Skip and B_Direct_16x16 have four 8x8 blocks.
    let direct = macroblock.kind == 0;
    let kind = if direct { EIGHT_BY_EIGHT } else { macroblock.kind };
    let used = |list: usize, block: usize| macroblock.references[list][block] >= 0;
    let lists = |block: usize| match (used(0, block), used(1, block)) {
        (true, true) => Lists::BI,
        (false, true) => Lists::L1,
        _ => Lists::L0,
    };
    let store = |list: usize, block: usize| match used(list, block) {
        true => U::from_bits(macroblock.pictures[list][block].max(0) as u64 >> 1),
        false => U::from_bits(0),
    };
    let parts = if direct { [3; 4] } else { macroblock.parts };
    let prediction = AvcStreamOutInterPrediction {
        sub_mb_prediction_mode: std::array::from_fn(lists),
        sub_mb_shape: parts.map(|part| Parts::from_bits(part.into())),
        reference_l0: std::array::from_fn(|block| Reference0 {
            is_frame_store: used(0, block),
            frame_store: store(0, block),
        }),
        reference_l1: std::array::from_fn(|block| Reference1 {
            is_frame_store: used(1, block),
            frame_store: store(1, block),
        }),
    };
    let vector = |index: usize| {
        let (block, list) = (index / 2, index % 2);
        let [x, y] = macroblock.vectors[list][raster(4 * block)];
        let component = |value: i16| S::from_bits(u64::from(value as u16));
        Vector { motion_vector_x: component(x), motion_vector_y: component(y) }
    };
    AvcStreamOutRecord {
        mb_type: U::from_bits(kind.into()),
        skip_mb: macroblock.skipped,
        inter_mb_mode: match kind {
            1..=3 => InterMode::INTER_16X16,
            EIGHT_BY_EIGHT => InterMode::INTER_8X8,
            kind if kind % 2 == 0 => InterMode::INTER_16X8,
            _ => InterMode::INTER_8X16,
        },
        prediction: prediction.pack().map(|dword| U::from_bits(dword.into())),
        motion_vectors: std::array::from_fn(vector),
        ..record
    }
}
