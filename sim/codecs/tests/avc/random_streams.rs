//! Random valid streams against FFmpeg.
//!
//! `GENXML_STREAMS` is their number, `AVC_SEED` the seed of a single one, of which all state is
//! printed and which stays in a file. `AVC_FILE` is a stream to take instead.

use super::container::nal_units;
use super::front::{Front, Shown};
use super::generate;
use super::streams::{difference, software_frames};
use crate::support::number;
use genxml_codecs::Frame;

/// Decodes the stream of a seed. Returns what is wrong. `None` without FFmpeg.
fn check(seed: u64) -> Option<Result<(), String>> {
    let units = generate::stream(seed);
    let mut file: Vec<u8> = Vec::new();
    for unit in &units {
        file.extend([0, 0, 0, 1]);
        file.extend(unit);
    }
    if number("AVC_SEED").is_some() {
        let path = std::env::temp_dir().join(format!("avc-{seed}.264"));
        std::fs::write(&path, &file).ok()?;
        println!("{}", path.display());
    }
    check_file(&file, &units, seed)
}

/// Decodes a stream. Returns what is wrong. `None` without FFmpeg.
fn check_file(file: &[u8], units: &[Vec<u8>], seed: u64) -> Option<Result<(), String>> {
    let mut front = Front::default();
    front.short = Some(0);
    front.alternative = seed % 2 == 1;
    front.keep = number("AVC_SEED").is_some() || std::env::var("AVC_FILE").is_ok();
    let refused = front.decode(units).err();
    if front.keep {
        for line in &front.states {
            println!("{line}");
        }
    }
    // Vector code of FFmpeg keeps less bits of intermediate values than the standard allows.
    let options = ["-cpuflags", "0", "-f", "h264"];
    let software = software_frames(file, &front.shown, &options);
    let (software, log) = software?;
    let monochrome = front.monochrome;
    if front.keep {
        print_differences(&front.shown, &software);
    }
    let result = || {
        if let Some(reason) = refused {
            return Err(format!("refused: {reason}"));
        }
        // Only what the decoder says: the output complains of times of frames.
        if let Some(line) = log.lines().find(|line| line.starts_with("[h264")) {
            return Err(format!("ffmpeg says: {line}"));
        }
        if front.short == Some(0) {
            return Err("the short format was not compared".into());
        }
        if front.report.errors > 0 {
            return Err(format!("{:?}", front.report));
        }
        if software.len() != front.shown.len() {
            return Err(format!("{} frames for {}", front.shown.len(), software.len()));
        }
        let wrong = front.shown.iter().zip(&software).enumerate();
        let wrong = wrong.filter(|(_, (got, want))| !equal(&got.frame, want, monochrome));
        match wrong.min_by_key(|(_, (got, _))| got.index) {
            Some((at, (got, want))) => Err(format!(
                "output {at}, decoded {}, kinds {}: {}",
                got.index,
                got.kinds,
                difference(&got.frame, want)
            )),
            None => Ok(()),
        }
    };
    Some(result())
}

/// True if two frames are equal. FFmpeg weights the chroma that monochrome frames do not have.
fn equal(got: &Frame, want: &Frame, monochrome: bool) -> bool {
    match monochrome {
        false => got == want,
        true => {
            got.planes[0] == want.planes[0]
                && got.planes[1..].iter().flat_map(|plane| &plane.data).all(|&c| c == 128)
        }
    }
}

/// The first samples that differ, of each frame.
fn print_differences(shown: &[Shown], software: &[Frame]) {
    for (at, (got, want)) in shown.iter().zip(software).enumerate() {
        for (plane, (got, want)) in got.frame.planes.iter().zip(&want.planes).enumerate() {
            let samples = got.data.iter().zip(&want.data).enumerate();
            for (place, (got_sample, want)) in samples.filter(|(_, (a, b))| a != b).take(12) {
                let (x, y) = (place % got.width, place / got.width);
                println!("output {at} plane {plane} ({x}, {y}): {got_sample} for {want}");
            }
        }
    }
}

/// Oracle: FFmpeg's software decoder.
#[test]
fn random_streams_decode_as_in_ffmpeg() {
    if let Ok(path) = std::env::var("AVC_FILE") {
        let file = std::fs::read(&path).expect("the file of AVC_FILE");
        println!("{:?}", check_file(&file, &nal_units(&file), 0));
        return;
    }
    let seeds = match number("AVC_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("GENXML_STREAMS").unwrap_or(10),
    };
    let mut failed = Vec::new();
    for seed in seeds {
        match check(seed) {
            None => return,
            Some(Ok(())) => {}
            Some(Err(text)) => {
                println!("seed {seed}: {text}");
                failed.push(seed);
            }
        }
    }
    assert!(failed.is_empty(), "{} streams are wrong: {failed:?}", failed.len());
}
