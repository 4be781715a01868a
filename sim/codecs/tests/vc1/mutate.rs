//! Damaged slices and parameters.

use super::generate::{self, Features};
use super::headers::Fcm;
use super::player::{Call, Player};
use crate::support;
use fastrand::Rng;
use genxml_codecs::Frame;
use genxml_codecs::vc1::{
    Alternative, Coding, Compensation, Input, Intensity, Overlap, Parameters, Picture, PictureType,
    RangeReduction, Raw, VectorMode,
};

/// The pictures of some generated streams.
fn calls() -> Vec<Call> {
    const ALL: &[Fcm] = &[Fcm::Progressive, Fcm::Frame, Fcm::Field];
    let mut calls = Vec::new();
    for (seed, profile) in [0, 1, 3, 3, 3].into_iter().enumerate() {
        let fcm = if profile == 3 { ALL } else { &ALL[..1] };
        let features = Features::new(profile, fcm, profile > 0);
        let stream = generate::stream(features, 6, &mut Rng::with_seed(900 + seed as u64));
        let mut player = Player::new(stream.sequence.clone());
        player.calls = Some(Vec::new());
        stream.frames.iter().for_each(|frame| player.packet(frame));
        calls.extend(player.calls.take().unwrap());
    }
    calls
}

fn choice<T: Copy>(random: &mut Rng, values: &[T]) -> T {
    values[random.usize(0..values.len())]
}

/// Changes a field, in its range or beyond.
fn change(p: &mut Parameters, random: &mut Rng) {
    let byte = random.u8(0..9);
    let flag = random.bool();
    match random.u8(0..36) {
        0 => p.width_in_mbs = random.usize(0..9),
        1 => p.height_in_mbs = random.usize(0..9),
        2 => p.width = random.usize(0..200),
        3 => p.height = random.usize(0..200),
        4 => p.advanced = flag,
        5 => {
            let types = [PictureType::I, PictureType::P, PictureType::B, PictureType::Bi];
            p.picture = choice(random, &types);
        }
        6 => {
            p.coding = choice(
                random,
                &[
                    Coding::Progressive,
                    Coding::InterlacedFrame,
                    Coding::TopFieldFirst,
                    Coding::BottomFieldFirst,
                ],
            );
        }
        7 => p.second_field = flag,
        8 => p.quantizer = random.u8(0..40),
        9 => p.half_step = flag,
        10 => p.uniform = flag,
        11 => p.implicit = flag,
        12 => {
            let edges = Alternative::Edges(random.u8(..));
            let all = [Alternative::None, edges, Alternative::Each, Alternative::Choice];
            p.alternative = choice(random, &all);
        }
        13 => p.alternative_quantizer = random.u8(0..40),
        14 => p.b_scale = random.u8(..),
        15 => p.forward_distance = random.u8(..),
        16 => p.backward_distance = random.u8(..),
        17 => {
            let modes = [
                VectorMode::Mixed,
                VectorMode::One,
                VectorMode::OneHalf,
                VectorMode::OneHalfBilinear,
            ];
            p.vector_mode = choice(random, &modes);
        }
        18 => p.four_vectors = flag,
        19 => p.fast_chroma = flag,
        20 => p.bottom_reference = flag,
        21 => p.two_references = flag,
        22 => (p.mv_range, p.dmv_range) = (byte % 4, random.u8(0..5)),
        23 => p.mv_table = byte,
        24 => p.cbp_table = byte,
        25 => p.mode_table = byte,
        26 => p.four_mv_table = byte / 2,
        27 => p.two_mv_table = byte / 2,
        28 => (p.picture_transform, p.transform) = (flag, byte / 2),
        29 => (p.luma_set, p.chroma_set) = (byte / 3, random.u8(0..4)),
        30 => {
            p.overlap = flag;
            p.conditional_overlap =
                choice(random, &[Overlap::None, Overlap::All, Overlap::Flagged]);
        }
        31 => p.loop_filter = flag,
        32 => {
            let ranges = [RangeReduction::None, RangeReduction::Down, RangeReduction::Up];
            p.range_reduction = choice(random, &ranges);
        }
        33 => {
            let any = Some(Intensity { scale: random.u8(..), shift: random.u8(..) });
            p.forward = Compensation { single: [any, None], double: [None, any] };
        }
        34 => p.bitplane_pitch = choice(random, &[0, 1, 3, usize::MAX]),
        _ => {
            p.raw = Raw {
                forward: random.bool(),
                mv_type: random.bool(),
                skip: random.bool(),
                direct: random.bool(),
                overlap: random.bool(),
                ac_prediction: random.bool(),
                field_transform: random.bool(),
            };
        }
    }
}

/// Damaged input ends a slice; it neither panics nor reads outside of the data.
#[test]
fn damage_is_survived() {
    let count = support::number("GENXML_MUTATIONS").unwrap_or(2000) as usize;
    let calls = calls();
    let mut random = Rng::with_seed(7);
    let mut damaged = 0;
    for round in 0..count {
        let call = &calls[round % calls.len()];
        let mut parameters = call.parameters.clone();
        (0..random.usize(0..4)).for_each(|_| change(&mut parameters, &mut random));
        let Ok(mut picture) = Picture::new(parameters.clone()) else {
            continue;
        };
        let (slice, data) = &call.slices[random.usize(0..call.slices.len())];
        let mut slice = *slice;
        let mut data = data.clone();
        for _ in 0..random.usize(0..6) {
            let at = random.usize(0..data.len());
            data[at] ^= 1 << random.u8(0..8);
        }
        if random.bool() {
            data.truncate(random.usize(0..data.len().min(400)));
        }
        if random.u8(0..4) == 0 {
            slice.first_row = random.usize(0..6);
            slice.end_row = choice(&mut random, &[0, 2, 5, usize::MAX]);
            slice.bit_offset = choice(&mut random, &[0, 7, 9, usize::MAX]);
        }
        let mut references = call.references.each_ref().map(Option::as_deref);
        if random.u8(0..8) == 0 {
            references[random.usize(0..4)] = None;
        }
        let input = Input {
            data: &data,
            bitplanes: &call.bitplanes[..random.usize(0..=call.bitplanes.len())],
            references,
            motion: &call.motion[..random.usize(0..=call.motion.len())],
        };
        let (width, height) = if random.u8(0..8) == 0 {
            (random.usize(0..40), random.usize(0..40))
        } else {
            (parameters.width_in_mbs * 16, parameters.height_in_mbs * 32)
        };
        let mut target = Frame::new(width, height, (2, 2), 7);
        let mut motion_out = vec![0; random.usize(0..2000)];
        let report = picture.slice(&slice, &input, &mut target, &mut motion_out);
        damaged += report.errors;
    }
    assert!(damaged as usize >= count / 20, "{damaged} damaged slices");
}

/// Without any data, the macroblocks are those of the forward reference. Without a reference, what
/// the target holds stays.
#[test]
fn nothing_decoded_is_copied_from_the_reference() {
    for call in calls() {
        let mut picture = Picture::new(call.parameters.clone()).unwrap();
        let (width, height) =
            (picture.parameters().width_in_mbs, picture.parameters().height_in_mbs);
        let target = Frame::new(width * 16, height * 32, (2, 2), 7);
        let reference = Frame::new(width * 16, height * 32, (2, 2), 99);
        let slice = genxml_codecs::vc1::Slice { bit_offset: 0, first_row: 0, end_row: height };
        for references in [[None; 4], [Some(&reference); 4]] {
            let mut found = target.clone();
            let input = Input { bitplanes: &call.bitplanes, references, ..Input::default() };
            let report = picture.slice(&slice, &input, &mut found, &mut []);
            assert_eq!((report.macroblocks + report.concealed) as usize, width * height);
            if report.macroblocks > 0 {
                continue;
            }
            // The target has twice the rows of a frame, so that it has the rows of a field.
            let samples = found.planes.iter().flat_map(|plane| &plane.data);
            let copied = samples.filter(|sample| **sample == 99).count();
            let all = if references[0].is_some() { 384 * width * height } else { 0 };
            assert_eq!(copied, all, "{:?}", call.parameters);
            assert!(copied > 0 || found == target);
        }
    }
}
