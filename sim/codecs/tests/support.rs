//! What the tests of all codecs need: streams of the corpus with the expected frames, the software
//! decoder, and settings in environment variables.

use genxml_codecs::Frame;
use md5::{Digest, Md5};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A stream of the corpus (`video/README.md` there).
pub struct Stream {
    /// File below `video/`.
    pub file: String,
    pub path: PathBuf,
    /// `exact`, `near`, `robust` or `refused`.
    pub class: String,
    /// Features that the stream uses.
    pub tags: String,
    /// Width, height, and MD5 of the frame in the software decoder's planar format, in output
    /// order.
    pub frames: Vec<(usize, usize, String)>,
}

/// The streams in folder `codec` of the corpus. Prints a line and returns none if the corpus is
/// not there.
pub fn streams(codec: &str) -> Vec<Stream> {
    let Some(corpus) = genxml_testkit::corpus::folder() else {
        return Vec::new();
    };
    let folder = corpus.join("video");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let rows = |text: &str| -> Vec<Vec<String>> {
        text.lines().skip(1).map(|line| line.split('\t').map(String::from).collect()).collect()
    };
    let frames = rows(&read("frames.tsv"));
    rows(&read("expected.tsv"))
        .into_iter()
        .filter(|row| row[0].split('/').next() == Some(codec))
        .map(|row| Stream {
            path: folder.join(&row[0]),
            class: row[1].clone(),
            tags: row.get(6).cloned().unwrap_or_default(),
            frames: frames
                .iter()
                .filter(|frame| frame[0] == row[0])
                .filter_map(|frame| {
                    let (width, height) = frame[2].split_once('x')?;
                    Some((width.parse().ok()?, height.parse().ok()?, frame[3].clone()))
                })
                .collect(),
            file: row[0].clone(),
        })
        .collect()
}

/// The MD5 of a frame's planes, cut to `width` x `height` luma samples. `across` and `down` are the
/// luma samples of a chroma sample.
pub fn md5(
    frame: &Frame,
    (width, height): (usize, usize),
    (across, down): (usize, usize),
) -> String {
    let mut hash = Md5::new();
    for (index, plane) in frame.planes.iter().enumerate().filter(|(_, plane)| plane.width > 0) {
        let (width, height) = match index {
            0 => (width, height),
            _ => (width.div_ceil(across), height.div_ceil(down)),
        };
        for row in plane.data.chunks_exact(plane.width).take(height) {
            hash.update(&row[..width]);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The number in an environment variable. `GENXML_STREAMS` is the number of random streams of a
/// test, `GENXML_MUTATIONS` the number of its damaged slices or pictures.
///
/// # Panics
///
/// If the variable is set to anything but a number.
pub fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}: `{text}` is not a number")))
}

/// Runs FFmpeg with `data` as its input. `input` are options before the input, `output` those after
/// it. `None`, with a line on stderr, if FFmpeg is not installed.
pub fn ffmpeg(data: &[u8], input: &[&str], output: &[&str]) -> Option<Output> {
    let child = Command::new("ffmpeg")
        .args(["-v", "error", "-threads", "1"])
        .args(input)
        .args(["-i", "-"])
        .args(output)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            eprintln!("skipped: not compared with FFmpeg: {error}");
            return None;
        }
    };
    let pipe = child.stdin.take();
    std::thread::scope(|scope| {
        // FFmpeg may end before it has read all.
        scope.spawn(move || pipe.map(|mut pipe| pipe.write_all(data)));
        Some(child.wait_with_output().expect("the output of FFmpeg"))
    })
}

/// The planar frames of FFmpeg's software decoder, one after the other, and what it logs. `input`
/// are options before the input. `None`, with a line on stderr, if FFmpeg is not installed.
pub fn software(data: &[u8], input: &[&str]) -> Option<(Vec<u8>, String)> {
    let options = ["-map", "0:v:0", "-fps_mode", "passthrough", "-autoscale", "0"];
    let format = ["-f", "rawvideo", "-"];
    let output = ffmpeg(data, input, &[&options[..], &format].concat())?;
    Some((output.stdout, String::from_utf8_lossy(&output.stderr).into_owned()))
}
