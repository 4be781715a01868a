//! The streams of the corpus.

use super::{front, software};
use crate::support;

/// Limits of the class `near` (tools/check_video.py of the corpus).
const LARGEST: u8 = 16;
const MEAN: f64 = 0.6;
const PSNR: f64 = 42.0;

/// Oracle: FFmpeg's software decoder, whose frames have the sums of the corpus. Its inverse
/// transform is not ours: differences stay within the limits, and within 1 in intra pictures.
#[test]
fn streams_of_the_corpus_are_near_the_software_decoder() {
    for stream in support::streams("mpeg2").iter().filter(|stream| stream.class != "refused") {
        let data = std::fs::read(&stream.path).unwrap();
        let sequence = front::parse(&data);
        let outputs = sequence.frames.iter().filter(|frame| frame.output.is_some()).count();
        assert_eq!(outputs, stream.frames.len(), "{}", stream.file);
        let software = software::decode(&data, &[]);
        let size = software::frame_bytes(sequence.size);
        let mut worst = (0, 0.0, 99.0f64, 0);
        let report = sequence.decode(&data, |coded, frame| {
            let (Some(output), Some(software)) = (coded.output, &software) else {
                return;
            };
            let (width, height, _) = stream.frames[output];
            assert_eq!(sequence.size, (width, height), "{}", stream.file);
            let found = software::compare(&sequence, frame, &software[output * size..][..size]);
            worst.0 = worst.0.max(found.largest);
            worst.1 = found.mean().max(worst.1);
            worst.2 = worst.2.min(found.psnr());
            if coded.is_intra() {
                worst.3 = worst.3.max(found.largest);
            }
            let what = format!("{} frame {output}: {found:?}", stream.file);
            assert!(found.largest <= if coded.is_intra() { 1 } else { LARGEST }, "{what}");
            assert!(found.mean() <= MEAN && found.psnr() >= PSNR, "{what}");
        });
        assert_eq!((report.errors, report.concealed), (0, 0), "{}", stream.file);
        let (largest, mean, psnr, intra) = worst;
        eprintln!(
            "{}: {outputs} frames, largest {largest} (intra {intra}), mean {mean:.3}, \
             PSNR {psnr:.1}, {report:?}",
            stream.file
        );
    }
}
