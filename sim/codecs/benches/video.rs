//! Frames and coded bytes per second of each decoder, for streams of the corpus:
//! `cargo bench -p genxml-codecs --bench video`. Without the corpus, it prints a line and measures
//! nothing. Items are frames; bytes are those of the file.
//!
//! Each codec takes the front end of its tests, so a run has the work of the application, too:
//! headers, and frames that are made anew.

#[allow(dead_code, unused_imports, reason = "a benchmark takes the front end only")]
#[path = "../tests/avc/mod.rs"]
mod avc;
#[allow(dead_code, unused_imports, reason = "a benchmark takes the front end only")]
#[path = "../tests/bits.rs"]
mod bits;
#[allow(dead_code, unused_imports, reason = "a benchmark takes the front end only")]
#[path = "../tests/jpeg/mod.rs"]
mod jpeg;
#[allow(dead_code, unused_imports, reason = "a benchmark takes the front end only")]
#[path = "../tests/matroska.rs"]
mod matroska;
#[allow(dead_code, unused_imports, reason = "a benchmark takes the front end only")]
#[path = "../tests/mpeg2/mod.rs"]
mod mpeg2;
#[allow(dead_code, unused_imports, reason = "a benchmark takes the front end only")]
#[path = "../tests/support.rs"]
mod support;
#[allow(dead_code, unused_imports, reason = "a benchmark takes the front end only")]
#[path = "../tests/vc1/mod.rs"]
mod vc1;
#[allow(dead_code, unused_imports, reason = "a benchmark takes the front end only")]
#[path = "../tests/vp8/mod.rs"]
mod vp8;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use std::fmt;
use support::Stream;

fn main() {
    divan::main();
}

/// A stream, shown by its name.
struct Named(Stream);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.path.file_name().unwrap_or_default().to_string_lossy().as_ref())
    }
}

/// The streams of a codec that decode without an error and are large enough to measure.
fn streams(codec: &str) -> Vec<Named> {
    let large = |stream: &Stream| {
        stream.frames.iter().map(|(width, height, _)| width * height).sum::<usize>() > 50_000
    };
    support::streams(codec)
        .into_iter()
        .filter(|stream| matches!(stream.class.as_str(), "exact" | "near") && large(stream))
        .map(Named)
        .collect()
}

/// Measures `decode`, which returns the number of frames of a file.
fn run(bencher: Bencher, stream: &Named, decode: impl Fn(&[u8]) -> usize) {
    let file = std::fs::read(&stream.0.path).expect("a file of the corpus");
    bencher
        .counter(ItemsCount::new(decode(&file)))
        .counter(BytesCount::new(file.len()))
        .bench_local(|| decode(divan::black_box(&file)));
}

#[divan::bench(name = "avc", args = streams("h264"))]
fn avc_streams(bencher: Bencher, stream: &Named) {
    run(bencher, stream, avc::play);
}

#[divan::bench(name = "jpeg", args = streams("jpeg"))]
fn jpeg_streams(bencher: Bencher, stream: &Named) {
    run(bencher, stream, jpeg::play);
}

#[divan::bench(name = "mpeg2", args = streams("mpeg2"))]
fn mpeg2_streams(bencher: Bencher, stream: &Named) {
    run(bencher, stream, mpeg2::play);
}

#[divan::bench(name = "vc1", args = streams("vc1"))]
fn vc1_streams(bencher: Bencher, stream: &Named) {
    run(bencher, stream, vc1::play);
}

#[divan::bench(name = "vp8", args = streams("vp8"))]
fn vp8_streams(bencher: Bencher, stream: &Named) {
    run(bencher, stream, vp8::play);
}
