//! Slices of the corpus with random damage.

use super::container::nal_units;
use super::front::Front;
use crate::support;

/// Streams with both entropy codes, MBAFF, fields, direct modes, and several slices.
const STREAMS: [&str; 7] = [
    "FRExt2_Panasonic",
    "HPCAMAPALQ",
    "CI_MW_D",
    "freh5",
    "test_cif_I_CABAC",
    "x264_mbaff_bff",
    "x264_mono",
];

/// Damages the data of a slice after its first bytes, where the header is.
fn damage(random: &mut fastrand::Rng, unit: &mut Vec<u8>) {
    let first = 16.min(unit.len());
    match random.u8(0..4) {
        0 => unit.truncate(random.usize(first..=unit.len())),
        1 => {
            let from = random.usize(first..=unit.len());
            unit[from..].iter_mut().take(20).for_each(|byte| *byte = random.u8(..));
        }
        _ => {
            for _ in 0..random.usize(1..6) {
                let at = random.usize(first..=unit.len());
                if let Some(byte) = unit.get_mut(at) {
                    *byte ^= 1 << random.u8(0..8);
                }
            }
        }
    }
}

/// A failure is a panic, or a stream that does not end.
#[test]
fn damaged_slices_end() {
    let more: usize = std::env::var("GENXML_MUTATIONS_VIDEO")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1);
    let mut random = fastrand::Rng::with_seed(6);
    let mut streams = support::streams("h264");
    streams.retain(|stream| STREAMS.iter().any(|name| stream.file.contains(name)));
    let mut errors = 0;
    for stream in &streams {
        let file = std::fs::read(&stream.path).unwrap_or_default();
        let mut units = nal_units(&file);
        units.truncate(12);
        for _ in 0..12 * more {
            let mut units = units.clone();
            for unit in &mut units {
                let is_slice = unit.first().is_some_and(|kind| [1, 5].contains(&(kind & 31)));
                if is_slice && random.bool() {
                    damage(&mut random, unit);
                }
            }
            let mut front = Front::default();
            // The front end may refuse the stream, but not fail.
            let refused = front.decode(&units).err();
            assert!(refused.is_none(), "{}: {refused:?}", stream.file);
            errors += front.report.errors;
        }
    }
    // Not all damage is an error of the syntax, but some is.
    assert!(streams.is_empty() || errors > 100, "{errors} errors");
}
