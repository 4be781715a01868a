//! Slices of the corpus with random damage, and random streams with random parameters.

use super::container::nal_units;
use super::front::{Front, Job};
use super::generate;
use crate::support;
use genxml_codecs::Structure;
use genxml_codecs::avc::{Concealment, Entry, Parameters, Slice, SliceKind, Substitute, Weight};

/// Streams with both entropy codes, MBAFF, fields, direct modes, and several slices.
const STREAMS: [&str; 7] = [
    "FRExt2_Panasonic",
    "HPCAMAPALQ",
    "CI_MW_D",
    "freh5",
    "test_cif_I_CABAC",
    "x264_mbaff_bff",
    "x264_mono",
];

/// Damages the data of a slice after its first bytes, where the header is.
fn damage(random: &mut fastrand::Rng, unit: &mut Vec<u8>) {
    let first = 16.min(unit.len());
    match random.u8(0..4) {
        0 => unit.truncate(random.usize(first..=unit.len())),
        1 => {
            let from = random.usize(first..=unit.len());
            unit[from..].iter_mut().take(20).for_each(|byte| *byte = random.u8(..));
        }
        _ => {
            for _ in 0..random.usize(1..6) {
                let at = random.usize(first..=unit.len());
                if let Some(byte) = unit.get_mut(at) {
                    *byte ^= 1 << random.u8(0..8);
                }
            }
        }
    }
}

/// A failure is a panic, or a stream that does not end.
#[test]
fn damaged_slices_end() {
    let mut random = fastrand::Rng::with_seed(6);
    let mut streams = support::streams("h264");
    streams.retain(|stream| STREAMS.iter().any(|name| stream.file.contains(name)));
    // Each copy of a stream has about six damaged slices.
    let copies = support::number("GENXML_MUTATIONS").unwrap_or(504).div_ceil(6 * 7);
    let mut errors = 0;
    for stream in &streams {
        let file = std::fs::read(&stream.path).unwrap_or_default();
        let mut units = nal_units(&file);
        units.truncate(12);
        for _ in 0..copies {
            let mut units = units.clone();
            for unit in &mut units {
                let is_slice = unit.first().is_some_and(|kind| [1, 5].contains(&(kind & 31)));
                if is_slice && random.bool() {
                    damage(&mut random, unit);
                }
            }
            let mut front = Front::default();
            // The front end may refuse the stream, but not fail.
            let refused = front.decode(&units).err();
            assert!(refused.is_none(), "{}: {refused:?}", stream.file);
            errors += front.report.errors;
        }
    }
    // Not all damage is an error of the syntax, but some is.
    assert!(streams.is_empty() || u64::from(errors) >= 5 * copies, "{errors} errors");
}

/// Any number: small, extreme or of any bits.
fn any(random: &mut fastrand::Rng) -> i32 {
    match random.u8(0..4) {
        0 => random.i32(-2..3),
        1 => [i32::MIN, i32::MAX, -128, 127][random.usize(0..4)],
        _ => random.i32(..),
    }
}

fn change_slice(random: &mut fastrand::Rng, slice: &mut Slice) {
    match random.u8(0..12) {
        0 => slice.kind = [SliceKind::P, SliceKind::B, SliceKind::I][random.usize(0..3)],
        1 => slice.first = (random.usize(0..9), random.usize(0..9)),
        2 => slice.first = (any(random) as usize, any(random) as usize),
        3 => slice.reference_counts = [random.u8(..), random.u8(..)],
        4 => {
            for entry in slice.lists.iter_mut().flatten() {
                *entry = Entry {
                    present: random.u8(0..4) > 0,
                    long_term: random.bool(),
                    store: random.u8(..),
                    bottom: random.bool(),
                };
            }
        }
        5 => {
            for weight in slice.weights.iter_mut().flatten().flatten() {
                *weight = Weight { weight: any(random) as i16, offset: any(random) as i16 };
            }
        }
        6 => slice.weight_denominators = [random.u8(..), random.u8(..)],
        7 => (slice.cabac_init, slice.qp) = (random.u8(..), random.u8(..)),
        8 => {
            slice.deblocking = random.u8(..);
            slice.deblocking_offsets = [random.i8(..), random.i8(..)];
        }
        9 => slice.data_offset = any(random) as usize,
        10 => {
            let of = [Substitute::First, Substitute::Closest, Substitute::LongTerm];
            slice.concealment = Concealment::Inter(of[random.usize(0..of.len())]);
        }
        _ => slice.direct_spatial = !slice.direct_spatial,
    }
}

fn change_picture(random: &mut fastrand::Rng, picture: &mut Parameters) {
    let flags = [
        &mut picture.monochrome,
        &mut picture.cabac,
        &mut picture.mbaff,
        &mut picture.frame_mbs_only,
        &mut picture.direct_8x8_inference,
        &mut picture.transform_8x8,
        &mut picture.constrained_intra,
        &mut picture.weighted_prediction,
        &mut picture.non_reference,
    ];
    match random.u8(0..10) {
        0..=3 => {
            let at = random.usize(0..flags.len());
            for (index, flag) in flags.into_iter().enumerate() {
                *flag ^= index == at;
            }
        }
        4 => {
            picture.structure =
                [Structure::Frame, Structure::Top, Structure::Bottom][random.usize(0..3)];
        }
        5 => picture.weighted_biprediction = random.u8(..),
        6 => picture.chroma_qp_offsets = [random.i8(..), random.i8(..)],
        7 => {
            picture.counts = picture.counts.map(|count| count.map(|_| any(random)));
            picture.count = picture.count.map(|_| any(random));
        }
        8 => {
            let matrices = &mut picture.matrices;
            matrices.intra_8x8.fill(random.u8(..));
            matrices.inter_4x4 = matrices.inter_4x4.map(|list| list.map(|_| random.u8(..)));
        }
        _ => (picture.width, picture.height) = (random.usize(0..9), any(random) as usize),
    }
}

/// A failure is a panic, or a stream that does not end.
#[test]
fn random_parameters_end() {
    let mut errors = 0;
    // Each stream has about ten pictures.
    let streams = support::number("GENXML_MUTATIONS").unwrap_or(1500).div_ceil(10);
    for seed in 0..streams {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut front = Front::default();
        let mut units = generate::stream(seed);
        for unit in units.iter_mut().filter(|unit| [1, 5].contains(&(unit[0] & 31))) {
            if random.u8(0..4) == 0 {
                damage(&mut random, unit);
            }
        }
        front.damage = Some(Box::new(move |job: &mut Job| {
            for _ in 0..random.usize(0..3) {
                change_picture(&mut random, &mut job.parameters);
            }
            for (slice, _) in &mut job.slices {
                for _ in 0..random.usize(0..4) {
                    change_slice(&mut random, slice);
                }
            }
        }));
        assert_eq!(front.decode(&units), Ok(()), "seed {seed}");
        errors += front.report.errors;
    }
    assert!(u64::from(errors) >= streams / 2, "{errors} errors");
}
