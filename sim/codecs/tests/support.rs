//! Streams of the corpus with the expected frames.

use genxml_codecs::Frame;
use md5::{Digest, Md5};
use std::path::PathBuf;

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
