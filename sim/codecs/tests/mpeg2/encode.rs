//! Random macroblocks in random streams, encoded.
//!
//! The generator makes streams with all kinds of headers. The slices of their pictures are replaced:
//! the encoder encodes random macroblocks, a slice for each row.

use super::{front, generated, software};
use crate::support;
use genxml_codecs::Frame;
use genxml_codecs::mpeg2::encode::{Forward, Macroblock, Picture, Slice};
use genxml_codecs::mpeg2::{Motion, Parameters, PictureType, Prediction, References, Structure};

/// The motion of a random macroblock. Vectors are in the picture.
fn motion(random: &mut fastrand::Rng, parameters: &Parameters, (x, y): (usize, usize)) -> Motion {
    let frame = parameters.structure == Structure::Frame;
    let mut motion = Motion {
        prediction: match (frame, random.bool()) {
            (true, true) if !parameters.frame_pred_frame_dct => Prediction::Field,
            (true, _) => Prediction::Frame,
            (false, true) => Prediction::SixteenByEight,
            (false, false) => Prediction::Field,
        },
        ..Motion::default()
    };
    motion.directions = match parameters.picture_type {
        PictureType::B => [[true, false], [false, true], [true, true]][random.usize(0..3)],
        _ => [true, false],
    };
    let still = random.u8(0..3) == 0;
    let (width, height) = (16 * parameters.width as i32, 16 * parameters.height as i32);
    let (x, y) = (16 * x as i32, 16 * y as i32);
    for direction in 0..2 {
        for number in 0..2 {
            let half = 8 * number as i32;
            let (line, lines, rows) = match (motion.prediction, frame) {
                (Prediction::Frame, _) => (y, height, 16),
                (Prediction::Field, true) => (y / 2, height / 2, 8),
                (Prediction::SixteenByEight, _) => (y + half, height / 2, 8),
                _ => (y, height / 2, 16),
            };
            let low = [-2 * x, -2 * line];
            let high = [2 * (width - 16 - x), 2 * (lines - rows - line)];
            for at in 0..2 {
                let code = parameters.f_codes[direction][at].min(9);
                let halve = i32::from(motion.prediction == Prediction::Field && frame && at == 1);
                let limit = (16 << (code - 1)) >> halve;
                let range = low[at].max(-limit)..=high[at].min(limit - 1);
                let value = if still { 0 } else { random.i32(range) };
                motion.vectors[number][direction][at] = value;
            }
            motion.bottom[number][direction] = random.bool();
        }
    }
    motion
}

/// Encodes the slices of a picture. Returns their bytes and the frame.
fn encode(
    random: &mut fastrand::Rng,
    parameters: &Parameters,
    references: References<'_>,
    target: Frame,
) -> (Vec<u8>, Frame) {
    let noise = [0, 3, 40, 255][random.usize(0..4)];
    let slopes = [random.f32() * 8.0, random.f32() * 8.0];
    let mut source = target.clone();
    for plane in &mut source.planes {
        let width = plane.width;
        for (at, sample) in plane.data.iter_mut().enumerate() {
            let slope = slopes[0] * (at % width) as f32 + slopes[1] * (at / width) as f32;
            *sample = (slope as i32 % 256 + random.i32(-noise..=noise)).clamp(0, 255) as u8;
        }
    }
    let inverse = |entry: u8| (65536 / u32::from(entry)).min(65535) as u16;
    let forward = Forward {
        intra: parameters.intra_matrix.map(inverse),
        non_intra: parameters.non_intra_matrix.map(inverse),
    };
    let mut picture = Picture::new(parameters, &forward, references, &source, target).unwrap();
    let choice = parameters.structure == Structure::Frame && !parameters.frame_pred_frame_dct;
    let empty = random.u8(0..4);
    let rows = parameters.height / if parameters.structure == Structure::Frame { 1 } else { 2 };
    for row in 0..rows {
        let code = random.u8(1..=31);
        let mut last = None;
        let macroblocks: Vec<Macroblock> = (0..parameters.width)
            .map(|column| {
                let intra = parameters.picture_type == PictureType::I || random.u8(0..6) == 0;
                let chosen = match (last, random.u8(0..3)) {
                    // As the one before, so that some are skipped in B pictures.
                    (Some(Motion { vectors: [[[0, 0], [0, 0]], _], .. }), 0) => last,
                    _ if intra => None,
                    _ => Some(motion(random, parameters, (column, row))),
                };
                last = chosen;
                Macroblock {
                    motion: chosen,
                    field_dct: choice && random.bool(),
                    quantiser_scale_code: if random.bool() { code } else { random.u8(1..=31) },
                    coded: if random.u8(0..4) < empty { 0 } else { random.u8(0..64) },
                    skip_conversion: random.u8(0..4) > 0,
                }
            })
            .collect();
        let slice = Slice {
            first: (0, row),
            quantiser_scale_code: code,
            intra: random.bool().then(|| random.bool()),
        };
        if let Err((at, error)) = picture.slice(&slice, &macroblocks) {
            panic!("macroblock {at} of row {row}: {error}: {:?}", macroblocks[at]);
        }
    }
    let output = picture.finish();
    assert_eq!((output.report.errors, output.report.concealed), (0, 0));
    assert_eq!(output.report.macroblocks as usize, parameters.width * rows);
    (output.stream, output.frame)
}

/// Oracles: FFmpeg's software decoder with the transform that is the nearest to the exact one, within
/// a difference of 1 for each frame; and the project's decoder, which must show the frames that the
/// encoder has reconstructed.
#[test]
fn encoded_macroblocks_decode_as_they_were_reconstructed() {
    for seed in 0..support::number("GENXML_STREAMS").unwrap_or(10) {
        let bytes = generated::generate(seed).bytes;
        let sequence = front::parse(&bytes);
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut stream, mut done) = (Vec::new(), 0);
        let mut frames: Vec<Frame> = Vec::new();
        let (mut older, mut newer): (Option<Frame>, Option<Frame>) = (None, None);
        for coded in &sequence.frames {
            let first = &coded.pictures[0].parameters;
            let mut target = Frame::new(16 * first.width, 16 * first.height, (2, 2), 128);
            for (number, picture) in coded.pictures.iter().enumerate() {
                let references = coded.references(number, older.as_ref(), newer.as_ref());
                let begin = picture.slices.iter().map(|(_, range)| range.start).min().unwrap();
                let end = picture.slices.iter().map(|(_, range)| range.end).max().unwrap();
                // From the start code on.
                let begin = bytes[..begin].windows(3).rposition(|code| code == [0, 0, 1]).unwrap();
                stream.extend(&bytes[done..begin]);
                let (slices, frame) = encode(&mut random, &picture.parameters, references, target);
                stream.extend(slices);
                target = frame;
                done = end;
            }
            frames.push(target.clone());
            if !coded.is_b() {
                older = newer.replace(target);
            }
        }
        stream.extend(&bytes[done..]);
        let sequence = front::parse(&stream);
        let mut shown = frames.iter();
        let report = sequence.decode(&stream, |_, frame| {
            assert!(shown.next() == Some(frame), "stream {seed}: another frame");
        });
        assert_eq!((report.errors, report.concealed), (0, 0), "stream {seed}");
        let options = ["-cpuflags", "0", "-flags", "bitexact", "-idct", "faani", "-f", "mpegvideo"];
        let Some((software, log)) = support::software(&stream, &options) else { continue };
        assert!(log.trim().is_empty(), "stream {seed}: {log}");
        let size = software::frame_bytes(sequence.size);
        assert_eq!(software.len(), size * sequence.frames.len(), "stream {seed}");
        sequence.decode(&stream, |coded, frame| {
            let Some(output) = coded.output else { return };
            let bytes = &software[output * size..][..size];
            let found = software::compare(&sequence, frame, bytes);
            // The second field may predict from the first one, which was not replaced.
            let allowed = coded.pictures.len() as u8;
            assert!(found.largest <= allowed, "stream {seed}: frame {output}: {found:?}");
            software::replace(frame, bytes);
        });
    }
}
