//! What the registers of the messages say, as plain values.

use super::costs::{Costs, mode, reference_factor, u4u4};
use super::decide::Rules;
use super::distortion::Transform;
use super::geometry::{BLOCKS, Vector};
use super::intra::{Chroma, Intra};
use super::refine::Refinement;
use super::search::Best;
use super::skip::Skip;
use genxml::eu::gen8::eu_vme::{
    CreSicMessagePayload, VmeImeMessagePayload, VmeImeStreamRecord, VmeUniversalMessagePayload,
    VmeUniversalMessagePayloadInterSad as InterSad, VmeUniversalMessagePayloadIntraSad as IntraSad,
    VmeUniversalMessagePayloadMbTypeRemap as Remap,
    VmeUniversalMessagePayloadSearchControl as Control, VmeUniversalMessagePayloadSkipType as Type,
    VmeUniversalMessagePayloadSourceSize as Size, VmeUniversalMessagePayloadSubPelMode as SubPel,
};
use genxml_codecs::avc::intra::{ABOVE, ABOVE_RIGHT, CORNER, LEFT};
use genxml_core::S;

/// A message that the model does not execute: the field, its value, and what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// A function that no source describes well enough.
    Missing(&'static str),
    /// A field with a value that is not allowed.
    Bad(&'static str, u64),
}

fn vector(x: S<16>, y: S<16>) -> Vector {
    Vector { x: x.get() as i16, y: y.get() as i16 }
}

/// Refuses functions of the universal registers that the model does not have. Dispatch ID and
/// Disable Field Cache Allocation change no results.
pub fn check(universal: &VmeUniversalMessagePayload) -> Result<(), Refused> {
    let references = &universal.block_reference;
    let same = references.iter().all(|reference| *reference == references[0]);
    for (missing, what) in [
        (universal.source_size != Size::_16X16, "a Source Size other than 16x16"),
        (universal.mb_type_remap != Remap::NONE, "MB Type Remap"),
        (universal.inter_chroma_mode, "Inter Chroma Mode"),
        (universal.weighted_sad_haar, "Weighted SAD Haar"),
        (universal.weighted_sad_control.get() != 0, "Weighted SAD Control"),
        (universal.search_control == Control::DUAL_RECORD, "Search Control = Dual Record"),
        (universal.dual_search_path_option, "Dual Search Path Option"),
        (universal.quit_inter_enable, "Quit Inter Enable"),
        (universal.early_success_enable, "Early Success Enable"),
        (universal.partition_candidate_enable, "Partition Candidate Enable"),
        (universal.bidirectional_mix_disable, "Bidirectional Mix Disable"),
        (universal.repartition_enable, "Repartition Enable"),
        (universal.fbr_pruning_enable, "FBR Pruning Enable"),
        (universal.intra_corner_swap, "Intra Corner Swap"),
        (!same, "a different Block Reference ID in each 8x8 block"),
    ] {
        if missing {
            return Err(Refused::Missing(what));
        }
    }
    for (name, valid, value) in [
        (
            "Search Control",
            universal.search_control.name().is_some(),
            universal.search_control.bits(),
        ),
        ("Sub Pel Mode", universal.sub_pel_mode.name().is_some(), universal.sub_pel_mode.bits()),
        ("Inter SAD", universal.inter_sad.name().is_some(), universal.inter_sad.bits()),
        ("Intra SAD", universal.intra_sad.name().is_some(), universal.intra_sad.bits()),
    ] {
        if !valid {
            return Err(Refused::Bad(name, value));
        }
    }
    Ok(())
}

/// The costs.
pub fn costs(universal: &VmeUniversalMessagePayload) -> Costs {
    let cost = |bits: genxml_core::U<8>| u4u4(bits.get() as u8);
    let linear = universal.reference_id_cost_mode;
    let block = &universal.block_reference[0];
    Costs {
        mode: universal.mode_cost.map(cost),
        references: [block.block_reference_0_id, block.block_reference_1_id].map(|id| {
            let factor = reference_factor(id.get() as u32, linear);
            factor * cost(universal.mode_cost[mode::REFERENCE])
        }),
        vector: universal.mv_cost.map(cost),
        scale: universal.mv_cost_scale_factor.bits() as u32,
        centres: std::array::from_fn(|quad| {
            [0, 1].map(|reference| {
                let centre = &universal.cost_centre[2 * quad + reference];
                vector(centre.cost_centre_x, centre.cost_centre_y)
            })
        }),
    }
}

/// What the decision for a shape may choose.
pub fn rules(universal: &VmeUniversalMessagePayload) -> Rules {
    Rules {
        disabled: universal.shape_disable_mask.get() as u8,
        vectors: universal.max_number_of_mvs.get() as u32,
        no_mix: universal.unidirectional_mix_disable,
    }
}

/// How distortions of inter predictions are computed.
pub fn inter(universal: &VmeUniversalMessagePayload) -> Transform {
    match universal.inter_sad {
        InterSad::HAAR => Transform::Haar { ac_only: universal.ac_only_haar },
        _ => Transform::Plain,
    }
}

/// How vectors are refined.
pub fn refinement(universal: &VmeUniversalMessagePayload) -> Refinement {
    let mode = universal.sub_pel_mode;
    Refinement {
        half: mode != SubPel::INTEGER,
        quarter: mode == SubPel::QUARTER,
        bilinear: universal.bilinear_enable,
        bidirectional: !universal.bme_disable,
        no_bidirectional: universal.bidirectional_shape_mask.get() as u8,
        weight: universal.bidirectional_weight.get() as u8,
        vectors: universal.max_number_of_mvs.get() as u32,
        transform: inter(universal),
    }
}

/// The steps of the search path.
pub fn steps(message: &VmeImeMessagePayload) -> [[i8; 2]; 56] {
    message.search_path.map(|step| [step.search_path_x, step.search_path_y].map(|n| n.get() as i8))
}

/// The vectors and distortions in a record of an earlier search.
pub fn stream_in(record: &VmeImeStreamRecord) -> Best {
    let mut best = Best::default();
    let mut set = |part: usize, distortion: u64, vector: Vector| {
        best.distortion[part] = distortion as u16;
        best.vector[part] = vector;
    };
    set(0, record.distortion_16x16.get(), vector(record.mv_16x16_x, record.mv_16x16_y));
    for n in 0..2 {
        let (wide, high) = (&record.mv_16x8[n], &record.mv_8x16[n]);
        set(1 + n, record.distortion_16x8[n].get(), vector(wide.mv_16x8_x, wide.mv_16x8_y));
        set(3 + n, record.distortion_8x16[n].get(), vector(high.mv_8x16_x, high.mv_8x16_y));
    }
    for n in 0..4 {
        let known = &record.mv_8x8[n];
        set(5 + n, record.distortion_8x8[n].get(), vector(known.mv_8x8_x, known.mv_8x8_y));
    }
    best
}

/// The skip check of a message; `None` if it is disabled.
pub fn skip(
    universal: &VmeUniversalMessagePayload,
    message: &CreSicMessagePayload,
) -> Option<Skip> {
    universal.skip_mode_enable.then(|| Skip {
        quads: universal.skip_type == Type::_8X8,
        centres: std::array::from_fn(|pair| {
            [0, 1].map(|reference| {
                let centre = &message.skip_centre[2 * pair + reference];
                vector(centre.skip_centre_x, centre.skip_centre_y)
            })
        }),
        enabled: universal.skip_centre_enable_mask.get() as u8,
        group: match (universal.block_based_skip_enable, universal.t8x8_flag_for_inter_enable) {
            (false, _) => BLOCKS,
            (true, true) => BLOCKS / 4,
            (true, false) => 1,
        },
        success: u4u4(universal.skip_success.get() as u8),
        adds_mode: universal.non_skip_mode_added,
        adds_vectors: universal.non_skip_zero_mv_added,
        thresholds: universal.forward_transform_skip_check_enable.then(|| {
            let small = [
                universal.transform_threshold_1,
                universal.transform_threshold_2,
                universal.transform_threshold_3,
                universal.transform_threshold_4,
                universal.transform_threshold_5,
                universal.transform_threshold_6,
            ];
            std::array::from_fn(|n| match n {
                0 => universal.transform_threshold_dc.get() as u32,
                _ => small[n - 1].get() as u32,
            })
        }),
        transform_8x8: universal.t8x8_flag_for_inter_enable,
    })
}

/// Neighbours of the macroblock that are available.
fn available(universal: &VmeUniversalMessagePayload) -> u8 {
    let structure = universal.mb_intra_structure.get();
    [(0x60, LEFT), (0x10, ABOVE), (0x08, ABOVE_RIGHT), (0x04, CORNER)]
        .into_iter()
        .filter(|(mask, _)| structure & mask == *mask)
        .map(|(_, flag)| flag)
        .sum()
}

/// The luma intra check of a message.
pub fn intra(universal: &VmeUniversalMessagePayload, message: &CreSicMessagePayload) -> Intra {
    let mut above = [0; 24];
    for (out, pixel) in
        above.iter_mut().zip(message.above_luma.iter().chain(&message.above_right_luma))
    {
        *out = pixel.get() as u8;
    }
    let byte = |bits: genxml_core::U<8>| u32::from(bits.get() as u8);
    Intra {
        available: available(universal),
        left: message.left_luma.map(|pixel| pixel.get() as u8),
        above,
        corner: message.corner_luma.get() as u8,
        disabled: universal.intra_shape_disable_mask.get() as u8,
        disabled_modes: [
            message.intra_16x16_mode_mask.get() as u16,
            message.intra_8x8_mode_mask.get() as u16,
            message.intra_4x4_mode_mask.get() as u16,
        ],
        penalties: [message.penalty_16x16, message.penalty_8x8, message.penalty_4x4].map(byte),
        left_modes: message.left_mode.map(|mode| mode.get() as u8),
        above_modes: message.above_mode.map(|mode| mode.get() as u8),
        transform: match universal.intra_sad {
            IntraSad::HAAR => Transform::Haar { ac_only: universal.ac_only_haar },
            _ => Transform::Plain,
        },
    }
}

/// The chroma intra check of a message.
pub fn chroma(universal: &VmeUniversalMessagePayload, message: &CreSicMessagePayload) -> Chroma {
    let (left, above) = (&message.left_chroma, &message.above_chroma);
    Chroma {
        available: available(universal),
        neighbours: [
            (
                left.map(|pair| pair.left_cb.get() as u8),
                above.map(|pair| pair.above_cb.get() as u8),
                message.corner_cb.get() as u8,
            ),
            (
                left.map(|pair| pair.left_cr.get() as u8),
                above.map(|pair| pair.above_cr.get() as u8),
                message.corner_cr.get() as u8,
            ),
        ],
        disabled: message.intra_chroma_mode_mask.get() as u8,
    }
}
