//! Damaged slices and parameters of all kinds.

use crate::support;
use genxml_codecs::avc::{
    Concealment, Entry, MOTION_BYTES, Matrices, Outputs, Parameters, Picture, References, Slice,
    SliceKind, Substitute, Weight,
};
use genxml_codecs::{Frame, Structure};

fn structure(random: &mut fastrand::Rng) -> Structure {
    match random.u8(0..4) {
        0 => Structure::Top,
        1 => Structure::Bottom,
        _ => Structure::Frame,
    }
}

fn parameters(random: &mut fastrand::Rng) -> Parameters {
    let mut matrices = Matrices::default();
    if random.bool() {
        matrices.intra_8x8 = std::array::from_fn(|_| random.u8(..));
        matrices.inter_4x4[0] = std::array::from_fn(|_| random.u8(..));
    }
    let extreme = random.u8(0..8) == 0;
    let mut count = || if extreme { random.i32(..) } else { random.i32(-20..20) };
    let counts = std::array::from_fn(|_| [count(), count()]);
    let count = [count(), count()];
    Parameters {
        width: random.usize(1..5),
        height: 2 * random.usize(1..4),
        structure: structure(random),
        monochrome: random.u8(0..8) == 0,
        cabac: random.bool(),
        mbaff: random.bool(),
        frame_mbs_only: random.bool(),
        direct_8x8_inference: random.bool(),
        transform_8x8: random.bool(),
        constrained_intra: random.bool(),
        weighted_prediction: random.bool(),
        weighted_biprediction: random.u8(0..4),
        chroma_qp_offsets: [random.i8(-12..=12), random.i8(..)],
        non_reference: random.u8(0..4) == 0,
        matrices,
        picture_ids: random.bool().then(|| std::array::from_fn(|_| random.u16(0..4))),
        counts,
        count,
    }
}

fn slice(random: &mut fastrand::Rng, parameters: &Parameters) -> Slice {
    let mut entry = || Entry {
        present: random.bool(),
        long_term: random.bool(),
        store: random.u8(0..16),
        bottom: random.bool(),
    };
    let lists: [[Entry; 32]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| entry()));
    let extreme = random.u8(0..8) == 0;
    let mut value = |small: i16| {
        if extreme { random.i16(..) } else { random.i16(-small..small) }
    };
    let mut weight = || Weight { weight: value(128), offset: value(128) };
    let weights =
        std::array::from_fn(|_| std::array::from_fn(|_| std::array::from_fn(|_| weight())));
    let substitute = [
        Concealment::Off,
        Concealment::Intra,
        Concealment::Inter(Substitute::First),
        Concealment::Inter(Substitute::Closest),
        Concealment::Inter(Substitute::LongTerm),
        Concealment::Inter(Substitute::Picture(lists[0][0])),
    ];
    Slice {
        unescaped: random.bool(),
        concealment: substitute[random.usize(0..substitute.len())],
        kind: [SliceKind::P, SliceKind::B, SliceKind::I][random.usize(0..3)],
        first: match random.u8(0..4) {
            0 => (random.usize(..), random.usize(..)),
            1 => (random.usize(0..parameters.width), random.usize(0..parameters.height)),
            _ => (0, 0),
        },
        reference_counts: [random.u8(0..40), random.u8(0..40)],
        lists,
        weights,
        weight_denominators: [random.u8(..), random.u8(0..8)],
        direct_spatial: random.bool(),
        cabac_init: random.u8(0..4),
        qp: if extreme { random.u8(..) } else { random.u8(0..52) },
        deblocking: random.u8(0..4),
        deblocking_offsets: [random.i8(..), random.i8(-6..=6)],
        data_offset: if extreme { random.usize(..) } else { random.usize(0..20) },
    }
}

/// Random parameters and data. A failure is a panic.
#[test]
fn random_slices_end() {
    let count = support::number("GENXML_MUTATIONS").unwrap_or(1500);
    let mut random = fastrand::Rng::with_seed(5);
    let mut decoded = 0;
    for _ in 0..count {
        let parameters = parameters(&mut random);
        let (width, height) = (16 * parameters.width, 16 * parameters.height);
        let mut target = Frame::new(width, height, (2, 2), 60);
        if parameters.monochrome && random.bool() {
            target.planes[1] = Default::default();
        }
        // References have another size only if the engine is misused.
        let other = if random.u8(0..8) == 0 { 8 } else { width };
        let mut reference = Frame::new(other, height, (2, 2), 0);
        reference.planes[0].data.fill_with(|| random.u8(..));
        let motion: Vec<u8> = (0..MOTION_BYTES * parameters.width * parameters.height)
            .map(|at| if at % MOTION_BYTES == 0 { random.u8(0..4) } else { random.u8(..) })
            .collect();
        let mut references = References::default();
        for store in 0..16 {
            if random.u8(0..4) > 0 {
                references.frames[store] = Some(&reference);
                let length = if random.bool() { motion.len() } else { motion.len() / 2 + 7 };
                references.motion[store] = &motion[..length];
            }
        }
        let mut picture = match Picture::new(&parameters, references, target, Vec::new()) {
            Ok(picture) => picture,
            Err(error) => panic!("{error}"),
        };
        for _ in 0..random.usize(1..4) {
            let slice = slice(&mut random, &parameters);
            let ones = random.u8(0..3);
            let data: Vec<u8> = (0..random.usize(0..600))
                .map(|_| match ones {
                    0 => random.u8(..),
                    1 => random.u8(..) | random.u8(..),
                    _ => random.u8(..) & random.u8(..),
                })
                .collect();
            picture.slice(&slice, &data);
        }
        let output = picture.finish(Outputs { unfiltered: random.bool(), filtered: true });
        let size = parameters.width * parameters.height / parameters.structure.step();
        assert_eq!((output.report.macroblocks + output.report.concealed) as usize, size);
        decoded += output.report.macroblocks;
    }
    // Random data decode to some macroblocks.
    assert!(u64::from(decoded) >= count / 2, "{decoded}");
}

/// Oracle: the documented errors.
#[test]
fn wrong_sizes_are_refused() {
    let new = |width, height, structure, target: (usize, usize)| {
        let parameters = Parameters { width, height, structure, ..Parameters::default() };
        let frame = Frame::new(target.0, target.1, (2, 2), 0);
        Picture::new(&parameters, References::default(), frame, Vec::new()).map(|_| ())
    };
    assert!(new(2, 3, Structure::Frame, (32, 48)).is_ok());
    assert!(new(2, 3, Structure::Top, (32, 48)).is_err());
    assert!(new(0, 2, Structure::Frame, (0, 32)).is_err());
    assert!(new(257, 1, Structure::Frame, (257 * 16, 16)).is_err());
    assert!(new(2, 2, Structure::Frame, (32, 16)).is_err());
    assert!(new(2, 2, Structure::Bottom, (32, 32)).is_ok());
}
