//! What a specification holds, one line each: `genx spec list`.

use serde::Serialize;

use crate::model::{Enum, Kind, Spec};

/// An enumeration or container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The manual's name.
    pub name: String,
    /// `instruction`, `struct`, `register` or `enum`.
    pub kind: &'static str,
    /// The file's stem: the unit of the GPU.
    pub unit: String,
    /// Engines that take an instruction; empty for everything else.
    pub engines: Vec<&'static str>,
    /// Size of the fixed part in bits; of an enumeration, of the widest field that uses it.
    pub bits: u32,
    /// The same in dwords, rounded up.
    pub dwords: u32,
    /// A tail of variable length follows.
    pub variable: bool,
    /// How many fields (those of groups counted once) or values.
    pub fields: usize,
    /// Byte offset of a register; from the base of each engine if `per_engine`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// Every engine has the register.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub per_engine: bool,
    /// Number of registers in an array of them; 1 for everything else.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u32,
    /// Only the header is described.
    pub partial: bool,
    /// Volume and page, or the fact's origin.
    pub source: String,
    /// One line of what it is.
    pub doc: String,
}

/// Every container and every named enumeration, in the order of the files.
pub fn list(spec: &Spec) -> Vec<Listed> {
    let unit = |file: usize| spec.files.get(file).map(|file| file.unit.clone()).unwrap_or_default();
    let containers = spec.containers.iter().map(|container| Listed {
        name: container.name.clone(),
        kind: kind(&container.kind),
        unit: unit(container.file),
        engines: match container.kind {
            Kind::Instruction { engines, .. } => engine_names(engines),
            _ => Vec::new(),
        },
        bits: container.bits,
        dwords: container.bits.div_ceil(32),
        variable: container.groups.iter().any(|group| group.count == 0),
        fields: container.fields.len()
            + container.groups.iter().map(|group| group.fields.len()).sum::<usize>(),
        offset: match container.kind {
            Kind::Register { offset, .. } => Some(offset),
            _ => None,
        },
        per_engine: matches!(container.kind, Kind::Register { per_engine: true, .. }),
        count: match container.kind {
            Kind::Register { count, .. } => count,
            _ => 1,
        },
        partial: container.partial,
        source: container.source.clone(),
        doc: container.doc.clone(),
    });
    let enums = spec.enums.iter().filter(|list| !is_inline(spec, list)).map(|list| Listed {
        name: list.name.clone(),
        kind: "enum",
        unit: unit(list.file),
        engines: Vec::new(),
        bits: list.bits,
        dwords: 1,
        variable: false,
        fields: list.values.len(),
        offset: None,
        per_engine: false,
        count: 1,
        partial: false,
        source: list.source.clone(),
        doc: list.doc.clone(),
    });
    containers.chain(enums).collect()
}

/// The list as a table for people, with a line of totals.
pub fn table(listed: &[Listed]) -> String {
    let rows: Vec<[String; 6]> = listed
        .iter()
        .map(|item| {
            let size = match item.kind {
                "enum" => format!("{} bits", item.bits),
                _ if !item.bits.is_multiple_of(32) => format!("{} bits", item.bits),
                _ => format!("{}{} dw", item.dwords, if item.variable { "+" } else { "" }),
            };
            let what = match item.kind {
                "enum" => format!("{} values", item.fields),
                _ if item.partial => format!("{} fields, header only", item.fields),
                _ => format!("{} fields", item.fields),
            };
            let engines = match (item.offset, item.engines.len()) {
                (Some(offset), _) => {
                    let base = if item.per_engine { "base+" } else { "" };
                    let array = if item.count > 1 { format!(" x{}", item.count) } else { String::new() };
                    format!("{base}{offset:#x}{array}")
                }
                (None, 4) => "all".to_owned(),
                _ => item.engines.join("|"),
            };
            [item.name.clone(), item.kind.to_owned(), item.unit.clone(), engines, size, what]
        })
        .collect();
    let mut widths = [0; 6];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for (row, item) in rows.iter().zip(listed) {
        for (cell, width) in row.iter().zip(widths) {
            text.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(&item.source);
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    let count = |kind: &str| listed.iter().filter(|item| item.kind == kind).count();
    text + &format!(
        "{} instructions, {} structs, {} registers, {} enums\n",
        count("instruction"),
        count("struct"),
        count("register"),
        count("enum")
    )
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

/// What a container is, in the schema's word.
pub(crate) fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::Struct { .. } => "struct",
        Kind::Instruction { .. } => "instruction",
        Kind::Register { .. } => "register",
    }
}

/// The engines of a set, as the specification spells them.
pub(crate) fn engine_names(set: u8) -> Vec<&'static str> {
    let all = [(1, "render"), (2, "blitter"), (4, "video"), (8, "video-enhance")];
    all.into_iter().filter(|(bit, _)| set & bit != 0).map(|(_, name)| name).collect()
}

/// True if the values stand inside a field.
pub(crate) fn is_inline(spec: &Spec, list: &Enum) -> bool {
    let file = spec.files.get(list.span.file);
    file.and_then(|file| file.text.get(list.span.range.clone())).is_some_and(|tag| tag.starts_with("<field"))
}
