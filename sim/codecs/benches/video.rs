//! Frames and coded bytes per second of each decoder, for streams of the corpus, and macroblocks per
//! second of the AVC encoder. `cargo bench -p genxml-codecs -p genxml-sim --bench video` also
//! measures the encoders and video enhancement by packets (sim/benches/video). Without the corpus,
//! it prints a line and measures the encoders only. Items are frames or macroblocks; bytes are those
//! of the file.
//!
//! After the measurements a table compares with FFmpeg's software decoder on one thread, if it is
//! installed. Arguments select codecs by name there, too.
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
use std::process::Command;
use std::sync::LazyLock;
use std::time::Instant;
use support::Stream;

/// A decoder: takes a file and returns its number of frames.
type Play = fn(&[u8]) -> usize;

/// The codecs: name, folder of the corpus, decoder.
const CODECS: [(&str, &str, Play); 5] = [
    ("avc", "h264", avc::play),
    ("jpeg", "jpeg", jpeg::play),
    ("mpeg2", "mpeg2", mpeg2::play),
    ("vc1", "vc1", vc1::play),
    ("vp8", "vp8", vp8::play),
];

fn main() {
    divan::main();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--bench") {
        compare(&arguments);
    }
}

/// Samples of a stream that is decoded again and again, at least.
const SAMPLES: usize = 30_000_000;
/// Number of compared streams of each codec: the largest ones.
const COMPARED: usize = 5;

/// Prints frames and megabytes per second beside those of FFmpeg's software decoder.
fn compare(arguments: &[String]) {
    let filters: Vec<&String> =
        arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let mut head = true;
    for (name, folder, play) in CODECS {
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        let samples = |stream: &Named| {
            stream.0.frames.iter().map(|(width, height, _)| width * height).sum::<usize>()
        };
        let mut streams = streams(folder);
        streams.sort_by_key(|stream| std::cmp::Reverse(samples(stream)));
        for stream in streams.into_iter().take(COMPARED) {
            let copies = SAMPLES.div_ceil(samples(&stream));
            let Some(theirs) = software(&stream, copies) else { return };
            let file = std::fs::read(&stream.0.path).expect("a file of the corpus");
            let start = seconds();
            let frames: usize = (0..copies).map(|_| play(divan::black_box(&file))).sum();
            let time = seconds() - start;
            let ours = frames as f64 / time;
            if std::mem::take(&mut head) {
                println!("codec  frames/s      MB/s  FFmpeg frames/s  times slower  stream");
            }
            println!(
                "{name:6} {ours:8.1} {:9.2} {theirs:16.1} {:13.1}  {stream}",
                (copies * file.len()) as f64 / time / 1e6,
                theirs / ours
            );
        }
    }
}

/// Processor time of this thread where the system has it, else the time of day.
fn seconds() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// Frames per second of processor time of FFmpeg with one thread, for `copies` of a file one after
/// the other. `None` if it is not installed.
fn software(stream: &Named, copies: usize) -> Option<f64> {
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-threads", "1", "-benchmark"]);
    let path = &stream.0.path;
    // FFmpeg does not start elementary streams again. They can be joined.
    let ends = |ends: &[&str]| path.extension().is_some_and(|end| ends.iter().any(|it| end == *it));
    let is_plain = !ends(&["mkv", "ivf", "webm", "jpg"]);
    let joined = std::env::temp_dir().join(format!("genxml_bench_{}", std::process::id()));
    if ends(&["jpg"]) {
        command.args(["-loop", "1", "-f", "image2", "-i"]).arg(path);
        command.args(["-frames:v", &copies.to_string()]);
    } else if is_plain {
        std::fs::write(&joined, std::fs::read(path).ok()?.repeat(copies)).ok()?;
        command.arg("-i").arg(&joined);
    } else {
        command.args(["-stream_loop", &(copies - 1).to_string(), "-i"]).arg(path);
    }
    let output = command.args(["-threads", "1", "-fps_mode", "passthrough", "-f", "null", "-"]);
    let output = output.output().ok();
    if is_plain {
        std::fs::remove_file(&joined).ok()?;
    }
    let log = output?.stderr;
    let log = String::from_utf8_lossy(&log);
    let number = |name: &str| -> Option<f64> {
        let (_, rest) = log.rsplit_once(name)?;
        let end = rest.trim_start().split(|c: char| !c.is_ascii_digit() && c != '.');
        end.into_iter().next()?.parse().ok()
    };
    Some(number("frame=")? / (number("utime=")? + number("stime=")?).max(1e-3))
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

/// Macroblocks per second of the AVC encoder: an intra picture and two predicted ones.
#[divan::bench(args = ["CAVLC", "CABAC"])]
fn avc_encode(bencher: Bencher, code: &str) {
    use genxml_codecs::avc::{Entry, Outputs, Parameters, References, Slice, SliceKind, encode};
    let (width, height) = (22, 18);
    let parameters = Parameters { width, height, cabac: code == "CABAC", ..Parameters::default() };
    let mut random = fastrand::Rng::with_seed(1);
    let mut source = genxml_codecs::Frame::new(16 * width, 16 * height, (2, 2), 0);
    for plane in &mut source.planes {
        let row = plane.width;
        for (at, sample) in plane.data.iter_mut().enumerate() {
            *sample = ((at % row + at / row) % 200) as u8 + random.u8(0..30);
        }
    }
    let settings = encode::Settings {
        rounding: encode::Rounding { intra: 65536 / 3, inter: 65536 / 6 },
        derive_direct: false,
    };
    let count = width * height;
    let run = || {
        let mut last: Option<genxml_codecs::Frame> = None;
        for kind in [SliceKind::I, SliceKind::P, SliceKind::P] {
            let mut slice = Slice { kind, qp: 28, ..Slice::default() };
            slice.reference_counts[0] = u8::from(kind == SliceKind::P);
            slice.lists[0][0] = Entry { present: true, ..Entry::default() };
            let macroblocks: Vec<encode::Macroblock> = (0..count)
                .map(|at| encode::Macroblock {
                    kind: match (kind, at % 4) {
                        (SliceKind::I, 0..2) => encode::Kind::Intra4x4([2; 16], 0),
                        (SliceKind::I, _) => encode::Kind::Intra16x16(2, 0),
                        _ => encode::Kind::Inter(Box::new(encode::Inter {
                            vectors: [[[at as i16 % 7, at as i16 % 5]; 16], [[0; 2]; 16]],
                            ..encode::Inter::default()
                        })),
                    },
                    qp: 28,
                    transform_8x8: false,
                    coded: encode::Coded::ALL,
                    skip_conversion: true,
                    direct_conversion: true,
                    limit: 32767,
                })
                .collect();
            let mut references = References::default();
            references.frames[0] = last.as_ref();
            let target = genxml_codecs::Frame::new(16 * width, 16 * height, (2, 2), 0);
            let forward = encode::Forward::default();
            let picture = encode::Picture::new(
                &parameters,
                &forward,
                references,
                &source,
                target,
                Vec::new(),
            );
            let mut picture = picture.expect("a picture that can be encoded");
            picture.slice(&slice, &settings, &macroblocks).expect("macroblocks that are valid");
            let output = picture.finish(Outputs { unfiltered: false, filtered: true });
            divan::black_box(&output.stream);
            last = output.picture.filtered;
        }
    };
    bencher.counter(ItemsCount::new(3 * count)).bench_local(run);
}
