//! Generated streams against the software decoder.

use super::generate::{self, Features, Stream};
use super::headers::{Fcm, Sequence};
use super::player::Player;
use crate::support;
use genxml_codecs::{Frame, Report};
use std::rc::Rc;

/// Decodes a generated stream.
fn decode(stream: &Stream) -> (Vec<Rc<Frame>>, Report) {
    let mut player = Player::new(stream.sequence.clone());
    for frame in &stream.frames {
        player.packet(frame);
    }
    player.finish()
}

/// The frames of the software decoder, one after the other, or `None` if it is not installed.
fn software(stream: &Stream) -> Option<Vec<u8>> {
    let (data, format) = stream.file();
    // Without vector instructions: those of the transforms have intermediate values of 16 bits.
    Some(support::software(&data, &["-cpuflags", "0", "-f", format])?.0)
}

/// A frame cut to the size of the sequence.
fn cropped(frame: &Frame, sequence: &Sequence) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, plane) in frame.planes.iter().enumerate() {
        let shift = usize::from(index > 0);
        let (width, height) = (sequence.width >> shift, sequence.height >> shift);
        for row in plane.data.chunks_exact(plane.width).take(height) {
            out.extend(&row[..width]);
        }
    }
    out
}

/// Where two frames differ first, and how often.
fn difference(got: &[u8], want: &[u8], width: usize, luma: usize) -> Option<String> {
    let mut wrong = got.iter().zip(want).enumerate().filter(|(_, (a, b))| a != b);
    let (at, (a, b)) = wrong.next()?;
    let (plane, at, width) = match at {
        at if at < luma => ("Y", at, width),
        at if at < luma * 5 / 4 => ("Cb", at - luma, width / 2),
        at => ("Cr", at - luma * 5 / 4, width / 2),
    };
    let count = wrong.count() + 1;
    let (x, y) = (at % width, at / width);
    Some(format!("{count} samples differ, first {plane} at {x}, {y}: {a}, expected {b}"))
}

/// Compares generated streams with the software decoder; `GENXML_STREAMS` overrides their number.
fn compare(features: Features, default: u64) {
    // Random bits may be an intra macroblock where none can be.
    let mut invalid = 0;
    for seed in 0..support::number("GENXML_STREAMS").unwrap_or(default) {
        let mut random = fastrand::Rng::with_seed(seed);
        let stream = generate::stream(features, 6, &mut random);
        let sequence = &stream.sequence;
        let (frames, report) = decode(&stream);
        let Some(want) = software(&stream) else { return };
        let context = format!("seed {seed} of {features:?}: {sequence:?}");
        if features.b && report.errors > 0 {
            invalid += 1;
            assert!(invalid <= 2 + seed / 3, "{context}: {report:?}");
            continue;
        }
        assert_eq!(report.errors, 0, "{context}: {report:?}");
        let luma = sequence.width * sequence.height;
        let size = luma * 3 / 2;
        assert_eq!(want.len() / size, frames.len(), "{context}: {:#?}", stream.pictures);
        for (index, (frame, want)) in frames.iter().zip(want.chunks_exact(size)).enumerate() {
            let mut got = cropped(frame, sequence);
            if features.reduced {
                // The software decoder doubles the range of its output.
                let double = |sample: u8| (i32::from(sample) * 2 - 128).clamp(0, 255) as u8;
                got.iter_mut().for_each(|sample| *sample = double(*sample));
            }
            // The software decoder rounds backward chroma vectors of B pictures away from zero.
            let compared = if features.fast_chroma && features.b { luma } else { size };
            let wrong = difference(&got[..compared], &want[..compared], sequence.width, luma);
            if let Some(wrong) = wrong {
                panic!("{context}: frame {index} of {:#?}: {wrong}", stream.pictures);
            }
        }
    }
}

const PROGRESSIVE: &[Fcm] = &[Fcm::Progressive];

/// Oracle: ffmpeg's software decoder.
#[test]
fn simple_profile_agrees_with_software() {
    compare(Features::new(0, PROGRESSIVE, false), 1);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn main_profile_agrees_with_software() {
    let features = Features::new(1, PROGRESSIVE, false);
    compare(features, 2);
    compare(Features { fast_chroma: true, ..features }, 1);
    compare(Features { reduced: true, ..features }, 1);
    let features = Features::new(1, PROGRESSIVE, true);
    compare(features, 2);
    compare(Features { fast_chroma: true, ..features }, 1);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn advanced_profile_agrees_with_software() {
    let features = Features::new(3, PROGRESSIVE, false);
    compare(features, 2);
    compare(Features { fast_chroma: true, ..features }, 1);
    compare(Features::new(3, PROGRESSIVE, true), 2);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn interlaced_frames_agree_with_software() {
    compare(Features::new(3, &[Fcm::Frame], false), 1);
    compare(Features::new(3, &[Fcm::Frame], true), 1);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn fields_agree_with_software() {
    let features = Features::new(3, &[Fcm::Field], false);
    compare(features, 1);
    compare(Features { fast_chroma: true, ..features }, 1);
    compare(Features::new(3, &[Fcm::Field], true), 2);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn mixed_frames_and_fields_agree_with_software() {
    const ALL: &[Fcm] = &[Fcm::Progressive, Fcm::Frame, Fcm::Field];
    compare(Features::new(3, ALL, false), 1);
    compare(Features::new(3, ALL, true), 1);
}
