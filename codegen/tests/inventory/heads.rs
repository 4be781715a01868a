//! The default dwords that the manual prints before the table of each structure.

use std::path::Path;

use genxml_codegen::model::{Container, Spec};

use crate::inventory::layout;

/// The lines of volume 2d, if the folder of the manuals exists.
pub fn volume(shared: &Path) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(shared.join("seeds")).ok()?;
    let mut files = entries.flatten().map(|entry| entry.path());
    let file = files.find(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("002_"))
    })?;
    Some(std::fs::read_to_string(file).ok()?.lines().map(str::to_owned).collect())
}

/// The default dwords of the table that starts at `line`; empty if the text does not have them.
pub fn words(volume: &[String], line: usize) -> Vec<u32> {
    let head = volume.iter().skip(line.saturating_sub(1)).take(14);
    let text = head
        .map(String::as_str)
        .find(|text| text.starts_with("Default Value:"))
        .unwrap_or_default();
    let hex = text.split("0x").skip(1).filter_map(|rest| rest.get(..8));
    hex.filter_map(|digits| u32::from_str_radix(digits, 16).ok()).collect()
}

/// Contradictions between the default dwords and the defaults of fields: a default that differs
/// from bits that are set, and set bits that are in no default. Zero bits are not compared, because
/// the manual may print a default only in the text after these dwords.
pub fn compare(spec: &Spec, container: &Container, words: &[u32]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut left = words.to_vec();
    for place in
        layout::places(container, 1).iter().filter(|place| place.end < 32 * words.len() as u32)
    {
        let (Some(field), true) = (place.field, place.end - place.start < 64) else { continue };
        let Some(default) = layout::default(spec, field) else { continue };
        let printed = extract(words, place.start, place.end);
        if printed != 0 && printed != default {
            problems.push(format!("{}\t{default:#x}, at the head {printed:#x}", place.name));
        }
        for bit in (place.start..=place.end).filter(|bit| default >> (bit - place.start) & 1 == 1) {
            left[bit as usize / 32] &= !(1 << (bit % 32));
        }
    }
    for (dword, bits) in left.iter().enumerate().filter(|(_, bits)| **bits != 0) {
        problems
            .push(format!("dword {dword}: {bits:#010x} at the head are the default of no field"));
    }
    problems
}

fn extract(words: &[u32], start: u32, end: u32) -> u64 {
    let bit = |bit: u32| u64::from(words[bit as usize / 32] >> (bit % 32) & 1);
    (start..=end).fold(0, |all, at| all | bit(at) << (at - start))
}
