//! The decoder of VC-1.

mod bitplane;
mod generate;
mod headers;
mod matroska;
mod parse;
mod player;
mod write;

use crate::support;
use generate::{Features, Stream};
use genxml_codecs::{Frame, Report};
use headers::{Fcm, Sequence};
use player::Player;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::rc::Rc;

/// Oracle: the software decoder's frames of the corpus.
#[test]
fn streams_of_the_corpus_decode_exactly() {
    for stream in support::streams("vc1") {
        let file = matroska::read(&std::fs::read(&stream.path).unwrap());
        let mut player = Player::of_codec_data(&file.codec, file.size);
        for frame in &file.frames {
            player.packet(frame);
        }
        let (frames, report) = player.finish();
        assert_eq!((report.errors, report.concealed), (0, 0), "{}", stream.file);
        assert_eq!(frames.len(), stream.frames.len(), "{}", stream.file);
        for (index, (frame, (width, height, want))) in frames.iter().zip(&stream.frames).enumerate()
        {
            let md5 = support::md5(frame, (*width, *height), (2, 2));
            assert_eq!(&md5, want, "{}: frame {index}", stream.file);
        }
    }
}

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
    let format = if format == "rcv" { "vc1test" } else { "vc1" };
    if let Some(folder) = std::env::var_os("VC1_KEEP") {
        std::fs::write(std::path::Path::new(&folder).join("stream"), &data).unwrap();
    }
    let mut child = Command::new("ffmpeg")
        // Without vector instructions: those of the transforms have intermediate values of 16 bits.
        .args(["-v", "error", "-cpuflags", "0", "-threads", "1", "-f", format, "-i", "-"])
        .args(["-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(&data);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    if !output.stderr.is_empty() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Some(output.stdout)
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

/// Compares generated streams with the software decoder.
fn compare(name: &str, features: Features, default: usize) {
    let count = std::env::var("GENXML_STREAMS").ok().and_then(|n| n.parse().ok());
    let first = std::env::var("VC1_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    // Random bits may be an intra macroblock where none can be.
    let mut invalid = 0;
    for seed in first..first + count.unwrap_or(default) {
        let mut random = fastrand::Rng::with_seed(seed as u64);
        let stream = generate::stream(features, 6, &mut random);
        let (frames, report) = decode(&stream);
        let Some(want) = software(&stream) else {
            eprintln!("skipped: no software decoder to compare {name} with");
            return;
        };
        let size = stream.sequence.width * stream.sequence.height * 3 / 2;
        let context = format!("{name} {seed}: {:?}", stream.sequence);
        if features.b && report.errors > 0 {
            invalid += 1;
            assert!(invalid <= 2 + (seed - first) / 3, "{context}: {report:?}");
            continue;
        }
        assert_eq!(report.errors, 0, "{context}: {report:?}");
        assert_eq!(want.len() / size, frames.len(), "{context}: {:#?}", stream.pictures);
        for (index, (frame, want)) in frames.iter().zip(want.chunks_exact(size)).enumerate() {
            let got = cropped(frame, &stream.sequence);
            if let Some(at) = got.iter().zip(want).position(|(a, b)| a != b) {
                let (width, luma) = (stream.sequence.width, size * 2 / 3);
                let place = if at < luma {
                    format!("luma {},{}", at % width, at / width)
                } else {
                    let at = (at - luma) % (luma / 4);
                    format!("chroma {},{}", at % (width / 2), at / (width / 2))
                };
                if std::env::var_os("VC1_KEEP").is_some() {
                    for (at, (a, b)) in
                        got.iter().zip(want).enumerate().filter(|(_, (a, b))| a != b)
                    {
                        eprintln!("DIFF {at} {},{}: {a} {b}", at % width, at / width);
                    }
                }
                let wrong = got.iter().zip(want).filter(|(a, b)| a != b).count();
                panic!(
                    "{context}: frame {index} of {:#?}: {wrong} samples differ, first {place}",
                    stream.pictures
                );
            }
        }
    }
}

const PROGRESSIVE: &[Fcm] = &[Fcm::Progressive];

/// Oracle: ffmpeg's software decoder.
#[test]
fn simple_profile_agrees_with_software() {
    compare("simple", Features { profile: 0, fcm: PROGRESSIVE, b: false }, 4);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn main_profile_agrees_with_software() {
    compare("main", Features { profile: 1, fcm: PROGRESSIVE, b: false }, 5);
    compare("main B", Features { profile: 1, fcm: PROGRESSIVE, b: true }, 5);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn advanced_profile_agrees_with_software() {
    compare("advanced", Features { profile: 3, fcm: PROGRESSIVE, b: false }, 5);
    compare("advanced B", Features { profile: 3, fcm: PROGRESSIVE, b: true }, 5);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn interlaced_frames_agree_with_software() {
    compare("frames", Features { profile: 3, fcm: &[Fcm::Frame], b: false }, 5);
    compare("frames B", Features { profile: 3, fcm: &[Fcm::Frame], b: true }, 5);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn fields_agree_with_software() {
    compare("fields", Features { profile: 3, fcm: &[Fcm::Field], b: false }, 5);
    compare("fields B", Features { profile: 3, fcm: &[Fcm::Field], b: true }, 5);
}

/// Oracle: ffmpeg's software decoder.
#[test]
fn mixed_frames_and_fields_agree_with_software() {
    const ALL: &[Fcm] = &[Fcm::Progressive, Fcm::Frame, Fcm::Field];
    compare("mixed", Features { profile: 3, fcm: ALL, b: false }, 5);
    compare("mixed B", Features { profile: 3, fcm: ALL, b: true }, 5);
}
