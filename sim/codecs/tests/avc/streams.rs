//! The streams of the corpus.
//!
//! `AVC_STREAM=text` selects the streams whose names have the text. For a wrong frame the table
//! shows where it differs from FFmpeg's, if `ffmpeg` is installed.

use super::container::nal_units;
use super::front::{Front, Shown};
use crate::support::{self, Stream};
use genxml_codecs::Frame;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Frames of FFmpeg's software decoder in output order, in the sizes of `like`, and the errors that
/// it logs. `options` come before the input. `None` without FFmpeg.
pub fn software_frames(
    stream: &[u8],
    like: &[Shown],
    options: &[&str],
) -> Option<(Vec<Frame>, String)> {
    let (data, log) = support::software(stream, options)?;
    let mut data = &data[..];
    let mut frames = Vec::new();
    let mut sizes = like.iter().map(|shown| &shown.frame);
    while let Some(size) = sizes.next().or(like.last().map(|shown| &shown.frame)) {
        let mut frame = size.clone();
        let length: usize = frame.planes.iter().map(|plane| plane.data.len()).sum();
        if data.len() < length || length == 0 {
            break;
        }
        for plane in &mut frame.planes {
            let (now, rest) = data.split_at(plane.data.len());
            plane.data.copy_from_slice(now);
            data = rest;
        }
        frames.push(frame);
    }
    Some((frames, log))
}

/// Where two frames differ: number and position of macroblocks, and which rows and planes.
pub fn difference(got: &Frame, want: &Frame) -> String {
    let mut blocks = BTreeSet::new();
    let mut rows = [false; 2];
    let mut samples = [0; 3];
    for (index, (got, want)) in got.planes.iter().zip(&want.planes).enumerate() {
        if (got.width, got.height) != (want.width, want.height) {
            return format!("{} x {} for {} x {}", got.width, got.height, want.width, want.height);
        }
        let size = if index == 0 { 16 } else { 8 };
        for (at, _) in got.data.iter().zip(&want.data).enumerate().filter(|(_, (a, b))| a != b) {
            let (x, y) = (at % got.width, at / got.width);
            blocks.insert((y / size, x / size));
            rows[y % 2] = true;
            samples[index] += 1;
        }
    }
    let Some((y, x)) = blocks.first() else { return "equal".into() };
    let total = want.planes[0].width.div_ceil(16) * want.planes[0].height.div_ceil(16);
    let rows = match rows {
        [true, false] => ", even rows only",
        [false, true] => ", odd rows only",
        _ => "",
    };
    format!(
        "{} of {total} macroblocks, first at column {x} row {y}{rows}, samples {samples:?}",
        blocks.len()
    )
}

/// Decodes a stream. Returns a line for the table, and whether all is as expected.
fn check(stream: &Stream) -> (bool, String) {
    let Ok(file) = std::fs::read(&stream.path) else {
        return (false, "cannot be read".into());
    };
    let mut front = Front::default();
    let started = Instant::now();
    let refused = front.decode(&nal_units(&file)).err();
    let time = started.elapsed().as_millis();
    match (stream.class.as_str(), refused) {
        ("refused", Some(reason)) => return (true, format!("refused: {reason}")),
        ("refused", None) => return (false, "should be refused".into()),
        (_, Some(reason)) => return (false, format!("refused: {reason}")),
        _ => {}
    }
    let wrong: Vec<usize> = (0..front.shown.len().max(stream.frames.len()))
        .filter(|&at| match (front.shown.get(at), stream.frames.get(at)) {
            (Some(shown), Some((width, height, md5))) => {
                let luma = &shown.frame.planes[0];
                let size = (luma.width, luma.height);
                size != (*width, *height) || support::md5(&shown.frame, size, (2, 2)) != *md5
            }
            _ => true,
        })
        .collect();
    let counts = format!("{} of {} frames", front.shown.len(), stream.frames.len());
    let report = format!("{:?}, {time} ms", front.report);
    if stream.class == "robust" {
        return (true, format!("ends: {counts}, {} differ, {report}", wrong.len()));
    }
    if wrong.is_empty() && front.report.errors == 0 {
        return (true, format!("{counts}, {report}"));
    }
    let software = software_frames(&file, &front.shown, &[]).unwrap_or_default().0;
    let shown = |&at: &usize| Some((at, front.shown.get(at)?));
    let first = wrong.iter().filter_map(shown).min_by_key(|(_, shown)| shown.index);
    let first = first.map_or(String::new(), |(at, shown)| {
        let place = match software.get(at) {
            Some(want) => difference(&shown.frame, want),
            None => "no frame of ffmpeg".into(),
        };
        format!(
            "first in decoding order: output {at}, decoded {}, count {}, kinds {}: {place}",
            shown.index, shown.count, shown.kinds
        )
    });
    (false, format!("{counts}, {} wrong; {first}; {report}", wrong.len()))
}

/// Oracle: FFmpeg's software decoder, frames.tsv of the corpus.
#[test]
fn streams_of_the_corpus_decode_exactly() {
    let filter = std::env::var("AVC_STREAM").unwrap_or_default();
    let mut failed = Vec::new();
    for stream in support::streams("h264").iter().filter(|s| s.file.contains(&filter)) {
        let (right, text) = check(stream);
        let verdict = if right { "ok   " } else { "WRONG" };
        println!("{verdict} {} [{}]: {text}", stream.file, stream.tags);
        if !right {
            failed.push(stream.file.clone());
        }
    }
    assert!(failed.is_empty(), "{} streams are wrong: {failed:?}", failed.len());
}

/// What FFmpeg logs of each slice, in the form of [`Front::log`]. `None` without FFmpeg.
fn software_log(stream: &[u8]) -> Option<Vec<String>> {
    let options = ["-v", "debug", "-debug", "pict", "-f", "h264"];
    let run = support::ffmpeg(stream, &options, &["-f", "null", "-"])?;
    let text = String::from_utf8_lossy(&run.stderr);
    // Each decoder has an address; one of them decodes only the start, to find the format.
    let mut decoders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        let Some((decoder, line)) = line.split_once("] slice:") else { continue };
        let words: Vec<&str> = line.split_whitespace().collect();
        let starts = ["frame:", "poc:", "ref:", "qp:"];
        let find = |start: &str| words.iter().find(|word| word.starts_with(start)).copied();
        let found: Option<Vec<&str>> = starts.iter().map(|start| find(start)).collect();
        let counts = |text: &str| -> String {
            let fields = text.trim_start_matches("poc:").split('/').map(|count| {
                // IDR pictures start at 65536; an absent field has the largest number.
                match count.parse::<i64>() {
                    Ok(0x7FFF_FFFF) => "-".into(),
                    Ok(count) => (count - if count > 32768 { 65536 } else { 0 }).to_string(),
                    Err(_) => "?".into(),
                }
            });
            fields.collect::<Vec<String>>().join("/")
        };
        if let Some(found) = found {
            let kind = words[3].chars().next().unwrap_or('?');
            let counts = counts(found[1]);
            // The log has a length also for a list that the slice lacks.
            let lengths = match (kind, found[2].split_once('/')) {
                ('I', _) => "ref:0/0".into(),
                ('P', Some((first, _))) => format!("{first}/0"),
                _ => found[2].to_string(),
            };
            let line = format!(
                "{} {} {kind} {} poc:{counts} {lengths} {}",
                words[1], words[2], found[0], found[3]
            );
            decoders.entry(decoder.into()).or_default().push(line);
        }
    }
    decoders.into_values().max_by_key(Vec::len)
}

/// Oracle: FFmpeg's log of slices. A few streams, or those that `AVC_STREAM` selects.
#[test]
fn slices_have_the_headers_and_counts_of_the_log() {
    let filter = std::env::var("AVC_STREAM").unwrap_or_default();
    let few = ["MR1_BT_A", "FRExt2_Pana", "HPCAMAPALQ", "vd_1d", "x264_mbaff_bff"];
    for stream in support::streams("h264") {
        let selected = match filter.as_str() {
            "" => few.iter().any(|part| stream.file.contains(part)),
            filter => stream.file.contains(filter),
        };
        if !selected || stream.class != "exact" {
            continue;
        }
        let file = std::fs::read(&stream.path).unwrap_or_default();
        let Some(want) = software_log(&file) else { return };
        let mut front = Front::default();
        front.short = Some(0);
        assert_eq!(front.decode(&nal_units(&file)), Ok(()), "{}", stream.file);
        for (at, (got, want)) in front.log.iter().zip(&want).enumerate() {
            assert_eq!(got, want, "{}: slice {at}", stream.file);
        }
        assert_eq!(front.log.len(), want.len(), "{}: slices", stream.file);
        assert!(front.short > Some(0), "{}: the short format was not compared", stream.file);
    }
}
