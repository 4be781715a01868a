//! FFmpeg's software decoder, and the limits of the difference to it.

use crate::support;
use genxml_codecs::Frame;

/// The planes of the picture in a file, one after the other. `None` if FFmpeg is not installed.
pub fn decode(file: &[u8]) -> Option<Vec<u8>> {
    Some(support::software(file, &["-f", "jpeg_pipe"])?.0)
}

/// Checks a frame against bytes of the reference: the largest and the mean difference and the
/// ratio of signal to noise, with the limits that apply to the driver on the model.
pub fn compare(name: &str, frame: &Frame, want: &[u8]) {
    let got: Vec<u8> = frame.planes.iter().flat_map(|plane| plane.data.iter().copied()).collect();
    assert_eq!(got.len(), want.len(), "{name}: number of samples");
    let (mut largest, mut sum, mut squares) = (0, 0, 0);
    for difference in got.iter().zip(want).map(|(got, want)| u64::from(got.abs_diff(*want))) {
        largest = largest.max(difference);
        sum += difference;
        squares += difference * difference;
    }
    let mean = sum as f64 / got.len() as f64;
    let psnr = match squares {
        0 => f64::INFINITY,
        _ => 10.0 * (255.0 * 255.0 * got.len() as f64 / squares as f64).log10(),
    };
    let text = format!("{name}: largest {largest}, mean {mean:.3}, PSNR {psnr:.1}");
    println!("{text}");
    assert!(largest <= 4 && mean <= 0.6 && psnr >= 48.0, "{text}");
}
