//! The registers of responses.

use super::decide::{Decision, MOST};
use super::geometry::Vector;
use super::search::Best;
use genxml::eu::gen8::eu_vme::{
    VmeImeStreamRecord, VmeImeStreamRecordMv8x8, VmeImeStreamRecordMv8x16,
    VmeImeStreamRecordMv16x8, VmeResponse, VmeResponseInterMbMode, VmeResponseMv,
};
use genxml_core::{S, U};

/// A value in a field; larger values are cut to its largest value.
pub fn field<const BITS: u32>(value: u32) -> U<BITS> {
    U::from_bits(u64::from(value).min((1 << BITS) - 1))
}

fn component(value: i16) -> S<16> {
    S::from_bits(u64::from(value as u16))
}

/// The type of an inter macroblock (digests/video.md 8.7): the shape and the references of its
/// partitions.
fn inter_type(decision: &Decision) -> u32 {
    let [first, second, third, _] = decision.directions.map(u32::from);
    let pair = |first: u32, second: u32| match (first, second) {
        (0, 0) => 0x04,
        (1, 1) => 0x06,
        (0, 1) => 0x08,
        (1, 0) => 0x0a,
        (0, _) => 0x0c,
        (1, _) => 0x0e,
        (_, 0) => 0x10,
        (_, 1) => 0x12,
        _ => 0x14,
    };
    match decision.mode {
        0 => 1 + first,
        1 => pair(first, third),
        2 => pair(first, second) + 1,
        _ => 0x16,
    }
}

/// Two bits for each 8x8 block.
fn pairs(values: [u8; 4]) -> u32 {
    (0..4).map(|quad| u32::from(values[quad]) << (2 * quad)).sum()
}

/// Sets the fields of an inter prediction.
pub fn set_inter(response: &mut VmeResponse, decision: &Decision) {
    response.inter_mb_mode = VmeResponseInterMbMode::from_bits(decision.mode.into());
    response.inter_mb_type = field(inter_type(decision));
    response.mv_quantity = field(decision.count());
    response.inter_distortion = field(decision.distortion);
    response.sub_mb_shapes = field(pairs(decision.shapes));
    // assumptions::DIRECTIONS_OF_16X8_ARE_IN_THE_FIRST_TWO_BLOCKS
    let [first, _, third, _] = decision.directions;
    response.sub_mb_prediction_modes = field(pairs(match decision.mode {
        1 => [first, third, first, third],
        _ => decision.directions,
    }));
    for (block, vectors) in decision.vectors.iter().enumerate() {
        for (reference, Vector { x, y }) in vectors.iter().enumerate() {
            response.mv[2 * block + reference] =
                VmeResponseMv { mv_x: component(*x), mv_y: component(*y) };
        }
        response.block_distortion[block] = field(decision.parts[block].into());
    }
}

/// The record of a search: the best vectors of the partitions down to 8x8.
pub fn stream_out(best: &Best) -> VmeImeStreamRecord {
    let distortion = |part: usize| field(u32::from(best.distortion[part]).min(MOST));
    let [x, y] = [0, 1].map(|d| {
        move |part: usize| {
            let Vector { x, y } = best.vector[part];
            component(if d == 0 { x } else { y })
        }
    });
    VmeImeStreamRecord {
        distortion_16x16: distortion(0),
        distortion_16x8: [1, 2].map(distortion),
        distortion_8x16: [3, 4].map(distortion),
        distortion_8x8: [5, 6, 7, 8].map(distortion),
        mv_16x16_x: x(0),
        mv_16x16_y: y(0),
        mv_16x8: [1, 2]
            .map(|part| VmeImeStreamRecordMv16x8 { mv_16x8_x: x(part), mv_16x8_y: y(part) }),
        mv_8x16: [3, 4]
            .map(|part| VmeImeStreamRecordMv8x16 { mv_8x16_x: x(part), mv_8x16_y: y(part) }),
        mv_8x8: [5, 6, 7, 8]
            .map(|part| VmeImeStreamRecordMv8x8 { mv_8x8_x: x(part), mv_8x8_y: y(part) }),
    }
}
