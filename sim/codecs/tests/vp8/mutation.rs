//! Damaged data and parameters.

use super::generator::Generator;
use crate::support;
use fastrand::Rng;
use genxml_codecs::vp8::{self, Data, Error, FilterType, Parameters, Quantiser, Start};
use genxml_codecs::{Frame, Plane};

/// Parameters without regard to ranges, for a picture of a few macroblocks.
fn random_parameters(random: &mut Rng) -> Parameters {
    let mut parameters = Parameters {
        width: random.usize(1..6),
        height: random.usize(1..6),
        key_frame: random.bool(),
        bilinear: random.bool(),
        full_pixel_chroma: random.bool(),
        filter_type: if random.bool() { FilterType::Simple } else { FilterType::Normal },
        filter_levels: [(); 4].map(|()| random.u8(..)),
        sharpness: random.u8(..),
        filter_deltas: random.bool(),
        reference_deltas: [(); 4].map(|()| random.i8(..)),
        mode_deltas: [(); 4].map(|()| random.i8(..)),
        segmentation: random.bool(),
        update_segments: random.bool(),
        segments_in: random.bool(),
        segments_out: random.bool(),
        quantisers: [(); 4].map(|()| Quantiser {
            y1: [random.u16(..), random.u16(..)],
            y2: [random.u16(..), random.u16(..)],
            uv: [random.u16(..), random.u16(..)],
        }),
        skipping: random.bool(),
        golden_sign_bias: random.bool(),
        alternate_sign_bias: random.bool(),
        ..Parameters::default()
    };
    let probabilities = &mut parameters.probabilities;
    probabilities.segments = [(); 3].map(|()| random.u8(..));
    probabilities.skip = random.u8(..);
    probabilities.intra = random.u8(..);
    probabilities.last = random.u8(..);
    probabilities.golden = random.u8(..);
    probabilities.luma_modes = [(); 4].map(|()| random.u8(..));
    probabilities.chroma_modes = [(); 3].map(|()| random.u8(..));
    for probability in probabilities.vectors.as_flattened_mut() {
        *probability = random.u8(..);
    }
    let coefficients = probabilities.coefficients.as_flattened_mut().as_flattened_mut();
    for probability in coefficients.as_flattened_mut() {
        *probability = random.u8(..);
    }
    parameters
}

fn random_frame(random: &mut Rng) -> Frame {
    let size = (random.usize(..120), random.usize(..120));
    let mut frame = Frame::new(size.0, size.1, (2, 2), random.u8(..));
    if random.u8(..4) == 0 {
        frame.planes[random.usize(..3)] = Plane::new(random.usize(..60), random.usize(..60), 1);
    }
    frame
}

/// Flips bits, cuts, or replaces bytes.
fn damage(random: &mut Rng, data: &mut Vec<u8>) {
    for _ in 0..random.u32(..8) {
        if !data.is_empty() {
            let at = random.usize(..data.len());
            match random.u8(..4) {
                0 => data.truncate(at),
                1 => data[at] = random.u8(..),
                _ => data[at] ^= 1 << random.u8(..8),
            }
        }
    }
}

/// Each macroblock is either decoded or concealed, whatever the data are.
#[test]
fn damaged_pictures_end() {
    let mut random = Rng::with_seed(7);
    let count = support::number("GENXML_MUTATIONS").unwrap_or(3600);
    // Twelve pictures for each stream.
    for seed in 0..count.div_ceil(12) {
        let mut generator = Generator::new(seed);
        for _ in 0..4 {
            let mut front = generator.front.clone();
            let (mut data, ..) = generator.next();
            for _ in 0..3 {
                damage(&mut random, &mut data);
                let Some(picture) = front.parse(&data) else { continue };
                let parameters = &picture.parameters;
                // Damaged sizes may be large.
                if parameters.width * parameters.height > 200 {
                    break;
                }
                let (_, report) = front.decode(&picture).expect("valid parameters");
                let macroblocks = (parameters.width * parameters.height) as u32;
                assert_eq!(report.macroblocks + report.concealed, macroblocks);
                assert!(report.concealed == 0 || report.errors > 0, "{report:?}");
            }
        }
    }
}

/// Random parameters, random data, references and targets of any size.
#[test]
fn random_parameters_decode() {
    let mut random = Rng::with_seed(8);
    for _ in 0..support::number("GENXML_MUTATIONS").unwrap_or(1500) {
        let parameters = random_parameters(&mut random);
        let partitions: Vec<Vec<u8>> = (0..1 << random.u32(..4))
            .map(|_| (0..random.usize(..400)).map(|_| random.u8(..)).collect())
            .collect();
        let partitions: Vec<&[u8]> = partitions.iter().map(Vec::as_slice).collect();
        let modes: Vec<u8> = (0..random.usize(..400)).map(|_| random.u8(..)).collect();
        let start = Start { range: random.u8(..), value: random.u8(..), count: random.u8(..) };
        let data = Data { start, modes: &modes, coefficients: &partitions };
        let references = [(); 3].map(|()| random.bool().then(|| random_frame(&mut random)));
        let references = references.each_ref().map(Option::as_ref);
        let mut target = random_frame(&mut random);
        let mut segments: Vec<u8> = (0..25).map(|_| random.u8(..)).collect();
        let report = vp8::decode(&parameters, &data, references, &mut target, &mut segments)
            .expect("valid sizes");
        let macroblocks = (parameters.width * parameters.height) as u32;
        assert_eq!(report.macroblocks + report.concealed, macroblocks);
    }
}

/// Without data, nothing is decoded and the target stays as it is.
#[test]
fn missing_data_leaves_the_target() {
    let parameters = Parameters { width: 3, height: 2, key_frame: true, ..Parameters::default() };
    let data = Data { start: Start::default(), modes: &[], coefficients: &[&[]] };
    let mut target = Frame::new(48, 32, (2, 2), 77);
    // The window of eight bits is all that there is.
    let report = vp8::decode(&parameters, &data, [None; 3], &mut target, &mut []);
    let report = report.expect("valid parameters");
    assert_eq!(report.macroblocks + report.concealed, 6);
    assert!(report.concealed >= 2 && report.errors > 0, "{report:?}");
    let last = |plane: &Plane| plane.data.last().copied();
    assert_eq!(target.planes.each_ref().map(last), [Some(77); 3]);
}

#[test]
fn wrong_sizes_are_reported() {
    let parameters =
        Parameters { width: 2, height: 2, segmentation: true, ..Parameters::default() };
    let data = Data { start: Start::default(), modes: &[0; 9], coefficients: &[&[0; 9]] };
    let decode = |parameters: &Parameters, data: &Data, target: &mut Frame, segments: &mut [u8]| {
        vp8::decode(parameters, data, [None; 3], target, segments).err()
    };
    let mut target = Frame::new(32, 32, (2, 2), 0);
    let none = Parameters { width: 0, ..parameters.clone() };
    let size = Error::Size { width: 0, height: 2 };
    assert_eq!(decode(&none, &data, &mut target, &mut [0; 4]), Some(size));
    let three = Data { coefficients: &[&[][..]; 3], ..data };
    assert_eq!(decode(&parameters, &three, &mut target, &mut [0; 4]), Some(Error::Partitions(3)));
    let segments = Error::Segments { entries: 3, macroblocks: 4 };
    assert_eq!(decode(&parameters, &data, &mut target, &mut [0; 3]), Some(segments));
    assert_eq!(decode(&parameters, &data, &mut target, &mut [0; 4]), None);
    target.planes[1].data.truncate(9);
    let samples = Error::Samples { samples: 9, size: 256 };
    assert_eq!(decode(&parameters, &data, &mut target, &mut [0; 4]), Some(samples));
}
