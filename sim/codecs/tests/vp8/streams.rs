//! The streams of the corpus.

use super::container;
use super::front::{Front, OUTSIDE};
use crate::support;
use genxml_codecs::Frame;

/// Oracle: the frames of FFmpeg's software decoder, all of them equal.
#[test]
fn streams_decode_to_the_expected_frames() {
    let mut wrong = Vec::new();
    for (index, stream) in support::streams("vp8").into_iter().enumerate() {
        let file = std::fs::read(&stream.path).expect("a readable stream");
        // Surfaces are wider and higher than the picture, except every third.
        let mut front = Front::new((32 * (index % 3), 48 * (index % 3)));
        let mut frames = stream.frames.iter();
        for (number, data) in container::frames(&file).into_iter().enumerate() {
            let Some(picture) = front.parse(&data) else {
                wrong.push(format!("{}: no header in frame {number}", stream.file));
                break;
            };
            let (frame, report) = front.decode(&picture).expect("valid parameters");
            let parameters = &picture.parameters;
            if number == 0 {
                assert_outside_untouched(&frame, (parameters.width, parameters.height));
            }
            let macroblocks = parameters.width * parameters.height;
            if report.macroblocks as usize != macroblocks || report.errors + report.concealed > 0 {
                wrong.push(format!("{}: frame {number}: {report:?}", stream.file));
                break;
            }
            if !picture.visible {
                continue;
            }
            let Some(&(width, height, ref md5)) = frames.next() else {
                wrong.push(format!("{}: frame {number} is one too many", stream.file));
                break;
            };
            if front.size != (width, height)
                || support::md5(&frame, (width, height), (2, 2)) != *md5
            {
                wrong.push(format!("{}: frame {number} differs", stream.file));
                break;
            }
        }
        if wrong.is_empty() && frames.next().is_some() {
            wrong.push(format!("{}: frames are missing", stream.file));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Samples of a surface outside the macroblocks keep their value.
fn assert_outside_untouched(frame: &Frame, (width, height): (usize, usize)) {
    for (plane, size) in frame.planes.iter().zip([16, 8, 8]) {
        for (y, row) in plane.data.chunks_exact(plane.width).enumerate() {
            let from = if y < size * height { size * width } else { 0 };
            assert!(row[from..].iter().all(|&sample| sample == OUTSIDE), "row {y}");
        }
    }
}
