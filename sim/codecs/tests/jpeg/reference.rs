//! FFmpeg's software decoder, and the limits of the difference to it.

use genxml_codecs::Frame;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Whether FFmpeg is installed. Prints a line if it is not.
pub fn installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        let run = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).status();
        let installed = run.is_ok_and(|status| status.success());
        if !installed {
            eprintln!("skipped: no ffmpeg to compare with");
        }
        installed
    })
}

/// The planes of the first picture in a file, one after the other.
pub fn decode(path: &Path) -> Vec<u8> {
    let output = Command::new("ffmpeg")
        .args(["-v", "error", "-nostdin", "-threads", "1", "-f", "jpeg_pipe", "-i"])
        .arg(path)
        .args(["-frames:v", "1", "-autoscale", "0", "-f", "rawvideo", "-"])
        .output()
        .expect("ffmpeg runs");
    assert!(
        output.status.success(),
        "{}: {}",
        path.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
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
