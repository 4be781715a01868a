//! What the decoder reports of macroblocks.

use super::container::nal_units;
use super::front::Front;
use crate::support;
use genxml_codecs::avc::{Macroblock, Prediction};
use std::collections::BTreeMap;

/// A macroblock as FFmpeg logs it: quantiser, type, partitions. The last character is `*` for
/// direct macroblocks: FFmpeg logs partitions that it derived, which are not compared.
fn cell(macroblock: &Macroblock, is_b: bool) -> String {
    let lists = [0, 1].map(|list| macroblock.references[list].iter().any(|index| *index >= 0));
    let kind = match macroblock.prediction {
        Prediction::Pcm => 'P',
        Prediction::Intra4x4 | Prediction::Intra8x8 => 'i',
        Prediction::Intra16x16 => 'I',
        Prediction::Inter if macroblock.kind == 0 && macroblock.skipped => 'd',
        Prediction::Inter if macroblock.kind == 0 => 'D',
        Prediction::Inter if macroblock.skipped => 'S',
        Prediction::Inter => match lists {
            [_, false] => '>',
            [false, true] => '<',
            [true, true] => 'X',
        },
    };
    let shape = match (macroblock.is_intra(), macroblock.kind) {
        (true, _) | (_, 1..=3) => ' ',
        (_, 0) => '*',
        (_, 22) => '+',
        (_, kind) if kind % 2 == 0 => '-',
        _ => '|',
    };
    // FFmpeg logs B_8x8 with both lists, even if its blocks use one only.
    let kind = if macroblock.kind == 22 && is_b { 'X' } else { kind };
    format!("{:2}{kind}{shape}", macroblock.qp[0])
}

/// The macroblocks that FFmpeg logs, by frame in output order.
fn logged(data: &[u8], width: usize) -> Option<Vec<Vec<String>>> {
    let input = ["-v", "debug", "-debug", "mb_type+qp"];
    let log = support::ffmpeg(data, &input, &["-f", "null", "-"])?.stderr;
    let log = String::from_utf8_lossy(&log);
    // Frames by decoder: FFmpeg opens a second decoder for the first frames, to find the parameters
    // of the stream.
    let mut decoders: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    for line in log.split(['\n', '\r']) {
        let Some(at) = line.find("[h264 @ ") else { continue };
        let Some((decoder, text)) = line[at..].split_once("] ") else { continue };
        let frames = decoders.entry(decoder).or_default();
        if text.starts_with("New frame, type") {
            frames.push(Vec::new());
        } else if let Some(frame) = frames.last_mut()
            && text.len() == 5 * width
            && text.as_bytes()[1].is_ascii_digit()
        {
            let cells = text.as_bytes().chunks(5);
            frame.extend(cells.map(|cell| String::from_utf8_lossy(&cell[..4]).into_owned()));
        }
    }
    decoders.into_values().max_by_key(Vec::len)
}

/// Oracle: what FFmpeg logs of the macroblocks of progressive streams of the corpus.
#[test]
fn macroblocks_are_those_that_the_software_decoder_logs() {
    let mut compared = BTreeMap::new();
    for stream in support::streams("h264") {
        let small = stream.frames.iter().map(|(width, height, _)| width * height).sum::<usize>();
        // Streams of the professional profiles may have fields, which FFmpeg logs at other times.
        let fields = stream.file.contains("/fr_");
        if stream.class != "exact" || small > 6_000_000 || fields {
            continue;
        }
        let data = std::fs::read(&stream.path).unwrap();
        let mut front = Front::default();
        front.keep = true;
        front.decode(&nal_units(&data)).unwrap();
        let progressive = front.shown.iter().all(|shown| !shown.kinds.contains(['f', 'm']));
        if !progressive || front.shown.is_empty() {
            continue;
        }
        let width = front.shown[0].frame.planes[0].width.div_ceil(16);
        let Some(frames) = logged(&data, width) else { return };
        let frames: Vec<_> = frames.into_iter().filter(|frame| !frame.is_empty()).collect();
        if frames.len() != front.shown.len() {
            continue;
        }
        for (shown, want) in front.shown.iter().zip(&frames) {
            let macroblocks = &front.macroblocks[&shown.index];
            for (at, (macroblock, want)) in macroblocks.iter().zip(want).enumerate() {
                let got = cell(macroblock, shown.kinds.contains('B'));
                let derived = got.ends_with('*') && got[..3] == want[..3];
                let what = format!("{} frame {} macroblock {at}", stream.file, shown.index);
                assert!(derived || got == *want, "{what}: {got} for {want}");
                *compared.entry(got.split_at(2).1.to_owned()).or_insert(0) += 1;
            }
        }
    }
    eprintln!("{compared:?}");
    for kind in ["P ", "i ", "I ", "d*", "D*", "S ", "> ", "< ", "X ", ">+", "X+", ">-", "X|"] {
        assert!(compared.is_empty() || compared.contains_key(kind), "{kind}: {compared:?}");
    }
}
