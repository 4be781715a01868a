//! Damaged slices and odd parameters: decoding ends, and writes only what it may.

use super::{front, generated};
use crate::support;
use fastrand::Rng;
use genxml_codecs::Frame;
use genxml_codecs::mpeg2::{
    Error, Parameters, Picture, PictureType, Reference, References, Slice, Structure,
};

/// Changes some parameters to any value of their fields in the packet.
fn change(random: &mut Rng, parameters: &mut Parameters) {
    for _ in 0..random.u8(0..4) {
        match random.u8(0..12) {
            0 => parameters.f_codes = [(); 2].map(|()| [(); 2].map(|()| random.u8(0..16))),
            1 => parameters.structure = structure(random),
            2 => {
                parameters.picture_type =
                    [PictureType::I, PictureType::P, PictureType::B][random.usize(0..3)];
            }
            3 => parameters.intra_dc_precision = random.u8(0..4),
            4 => parameters.frame_pred_frame_dct = random.bool(),
            5 => parameters.concealment_vectors = random.bool(),
            6 => parameters.intra_vlc_format = random.bool(),
            7 => parameters.width = random.usize(1..=12),
            8 => parameters.height = random.usize(1..=12),
            9 => parameters.conceal = random.bool(),
            10 => parameters.intra_matrix = [random.u8(..); 64],
            _ => parameters.top_field_first = random.bool(),
        }
    }
}

fn structure(random: &mut Rng) -> Structure {
    [Structure::Frame, Structure::Top, Structure::Bottom][random.usize(0..3)]
}

/// A damaged copy of a slice's bytes.
fn damage(random: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if !bytes.is_empty() {
        for _ in 0..random.u8(0..4) {
            let at = random.usize(0..bytes.len());
            bytes[at] ^= 1 << random.u8(0..8);
        }
        if random.u8(0..4) == 0 {
            bytes.truncate(random.usize(0..=bytes.len()));
        }
        if random.u8(0..16) == 0 {
            bytes.fill_with(|| random.u8(..));
        }
    }
    bytes
}

/// A frame of any size, some of them without planes or samples.
fn any_frame(random: &mut Rng) -> Frame {
    let (width, height) = (random.usize(0..200), random.usize(0..120));
    let mut frame = Frame::new(width, height, (2, 2), random.u8(..));
    match random.u8(0..12) {
        0 => frame.planes[random.usize(0..3)] = Default::default(),
        1 => frame.planes[random.usize(0..3)].data.truncate(random.usize(0..100)),
        _ => {}
    }
    frame
}

#[test]
fn damaged_slices_decode_without_panic() {
    let count = support::number("GENXML_MUTATIONS").unwrap_or(3000);
    let mut random = Rng::with_seed(11);
    let mut stream = (Vec::new(), Vec::new());
    let (mut errors, mut macroblocks) = (0, 0u64);
    for round in 0..count {
        if round % 100 == 0 {
            let bytes = generated::generate(1000 + round).bytes;
            let frames = front::parse(&bytes).frames;
            stream = (bytes, frames.into_iter().flat_map(|frame| frame.pictures).collect());
        }
        let (bytes, pictures) = &stream;
        let coded: &front::CodedPicture = &pictures[random.usize(0..pictures.len())];
        let mut parameters = coded.parameters.clone();
        change(&mut random, &mut parameters);
        let mut target = any_frame(&mut random);
        let before = target.clone();
        let frames = [any_frame(&mut random), any_frame(&mut random)];
        let references = References {
            forward: [
                Reference::Frame(&frames[0]),
                [Reference::Missing, Reference::Target, Reference::Frame(&frames[1])]
                    [random.usize(0..3)],
            ],
            backward: [Reference::Frame(&frames[1]); 2],
        };
        let (width, height, field) =
            (16 * parameters.width, 16 * parameters.height, parameters.structure);
        let mut picture = Picture::new(parameters).unwrap();
        for (slice, range) in &coded.slices {
            let bytes = damage(&mut random, &bytes[range.clone()]);
            let mut slice = *slice;
            match random.u8(0..20) {
                0 => slice.row = random.usize(..),
                1 => slice.bit_offset = random.usize(..),
                2 => slice.quantiser_scale_code = random.u8(..),
                3 => slice.bit_offset += random.usize(0..20),
                _ => {}
            }
            picture.slice(&slice, &bytes, &references, &mut target);
        }
        let report = picture.finish(&references, &mut target);
        errors += report.errors;
        macroblocks += u64::from(report.macroblocks);
        for (index, (plane, before)) in target.planes.iter().zip(&before.planes).enumerate() {
            assert_eq!((plane.width, plane.height), (before.width, before.height));
            let shift = u32::from(index > 0);
            for (at, (after, before)) in plane.data.iter().zip(&before.data).enumerate() {
                let (x, y) = (at % plane.width, at / plane.width);
                let inside = x < width >> shift
                    && y < (height >> shift).next_multiple_of(16 >> shift << 1)
                    && (field != Structure::Top || y % 2 == 0)
                    && (field != Structure::Bottom || y % 2 == 1);
                assert!(inside || after == before, "plane {index} column {x} row {y}");
            }
        }
    }
    // Both damaged and whole macroblocks must occur.
    assert!(
        u64::from(errors) >= count / 6 && macroblocks >= count,
        "{errors} errors, {macroblocks} macroblocks"
    );
}

/// The stream of a seed, and its frames with slice data that ends at the slice, or at the end of
/// the stream.
fn decode(seed: u64, whole: bool) -> Vec<Frame> {
    let bytes = generated::generate(seed).bytes;
    let mut sequence = front::parse(&bytes);
    if whole {
        for picture in sequence.frames.iter_mut().flat_map(|frame| &mut frame.pictures) {
            for (_, range) in &mut picture.slices {
                range.end = bytes.len();
            }
        }
    }
    let mut frames = Vec::new();
    let report = sequence.decode(&bytes, |_, frame| frames.push(frame.clone()));
    assert_eq!(report.errors, 0);
    frames
}

/// Oracle: the same slices with data that ends after them.
#[test]
fn slices_end_at_the_next_start_code() {
    for seed in 0..10 {
        assert!(decode(seed, true) == decode(seed, false), "stream {seed}");
    }
}

/// Oracle: copies of rows of the reference and of the target.
#[test]
fn missing_slices_are_copied_from_the_forward_reference_if_wanted() {
    for seed in 0..20 {
        let bytes = generated::generate(seed).bytes;
        let sequence = front::parse(&bytes);
        let coded = &sequence.frames[1].pictures[0];
        let mut parameters = coded.parameters.clone();
        let (width, height) = (16 * parameters.width, 16 * parameters.height);
        let mut random = Rng::with_seed(seed);
        let mut forward = Frame::new(width, height, (2, 2), 0);
        for plane in &mut forward.planes {
            plane.data.fill_with(|| random.u8(..));
        }
        let references =
            References { forward: [Reference::Frame(&forward); 2], ..References::default() };
        for conceal in [false, true] {
            parameters.conceal = conceal;
            let mut target = Frame::new(width, height, (2, 2), 77);
            let picture = Picture::new(parameters.clone()).unwrap();
            let report = picture.finish(&references, &mut target);
            let step = parameters.structure.step();
            let all = parameters.width * parameters.height / step;
            assert_eq!(report.concealed as usize, if conceal { all } else { 0 });
            for (plane, from) in target.planes.iter().zip(&forward.planes) {
                for (y, row) in plane.data.chunks_exact(plane.width).enumerate() {
                    let own = step == 1 || (parameters.structure == Structure::Top) == (y % 2 == 0);
                    let want = match conceal && own {
                        true => from.data[y * plane.width..][..plane.width].to_vec(),
                        false => vec![77; plane.width],
                    };
                    assert_eq!(row, want, "row {y}");
                }
            }
        }
    }
}

#[test]
fn impossible_parameters_are_errors() {
    let bytes = generated::generate(0).bytes;
    let parameters = front::parse(&bytes).frames[0].pictures[0].parameters.clone();
    let error = |change: &dyn Fn(&mut Parameters)| {
        let mut parameters = parameters.clone();
        change(&mut parameters);
        Picture::new(parameters).unwrap_err()
    };
    assert_eq!(error(&|parameters| parameters.width = 0), Error::Size(0, parameters.height));
    assert_eq!(error(&|parameters| parameters.height = 257), Error::Size(parameters.width, 257));
    let error = error(&|parameters| parameters.intra_dc_precision = 4);
    assert_eq!(error.to_string(), "intra_dc_precision 4: it must be 0 to 3 (8 to 11 bits)");
    let slice = Slice { row: usize::MAX, quantiser_scale_code: 1, bit_offset: 0 };
    let mut picture = Picture::new(parameters.clone()).unwrap();
    let mut target = Frame::default();
    picture.slice(&slice, &[], &References::default(), &mut target);
    assert_eq!(picture.finish(&References::default(), &mut target).errors, 1);
}
