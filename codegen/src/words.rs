//! The schema's words for engines, pipelines, kinds of containers and positions.

use crate::model::{Enum, Kind, Spec};

/// Engines by name, as bits of `genxml_core::reflect::Engines`. Files of newer generations use
/// `compute` for work that Gen8 does on the render engine.
pub(crate) const ENGINES: &[(&str, u8)] = &[
    ("render", 1),
    ("blitter", 2),
    ("video", 4),
    ("video-enhance", 8),
    ("compute", 1),
    ("copy", 2),
];

/// Pipelines of the render engine by name, as bits of `genxml_core::reflect::Pipelines`.
pub(crate) const PIPELINES: &[(&str, u8)] = &[("3d", 1), ("media", 2), ("gpgpu", 4)];

/// The pipelines of an instruction that does not name any: all.
pub(crate) const ALL_PIPELINES: u8 = 7;

/// The schema's word for a kind of container.
pub(crate) fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Struct { .. } => "struct",
        Kind::Instruction { .. } => "instruction",
        Kind::Register { .. } => "register",
    }
}

/// The names of the engines in a set.
pub(crate) fn engine_names(set: u8) -> Vec<&'static str> {
    let all = [(1, "render"), (2, "blitter"), (4, "video"), (8, "video-enhance")];
    all.into_iter().filter(|(bit, _)| set & bit != 0).map(|(_, name)| name).collect()
}

/// The names of the pipelines in a set.
pub(crate) fn pipeline_names(set: u8) -> Vec<&'static str> {
    PIPELINES.iter().filter(|(_, bit)| set & bit != 0).map(|(name, _)| *name).collect()
}

/// True if the enumeration is inside a field.
pub(crate) fn is_inline(spec: &Spec, list: &Enum) -> bool {
    let file = spec.files.get(list.span.file);
    file.and_then(|file| file.text.get(list.span.range.clone()))
        .is_some_and(|tag| tag.starts_with("<field"))
}

/// Formats a bit range: `dw1 15:0`; `dw2 63:6` if it extends into the next dword.
pub(crate) fn bits_text(start: u32, end: u32) -> String {
    let (dword, low) = (start / 32, start % 32);
    let high = end - dword * 32;
    if high == low { format!("dw{dword} {low}") } else { format!("dw{dword} {high}:{low}") }
}
