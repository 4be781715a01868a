//! The contents of a specification, one line each: `genx spec list`.

use serde::Serialize;

use crate::model::{Kind, Spec};
use crate::words::{ALL_PIPELINES, engine_names, is_inline, kind, pipeline_names};

/// An enumeration or container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The manual's name.
    pub name: String,
    /// `instruction`, `struct`, `register` or `enum`.
    pub kind: &'static str,
    /// The unit of the GPU: the name of the file without suffix. `class` in JSON.
    #[serde(rename = "class")]
    pub unit: String,
    /// Engines that accept the instruction; empty for everything else. `engine` in JSON.
    #[serde(rename = "engine")]
    pub engines: Vec<&'static str>,
    /// Pipelines that accept the instruction. Empty if all accept it, and for everything else.
    /// `pipeline` in JSON.
    #[serde(rename = "pipeline", skip_serializing_if = "Vec::is_empty")]
    pub pipelines: Vec<&'static str>,
    /// Size of the fixed part in bits. For an enumeration, the width of the widest field with this
    /// type.
    pub bits: u32,
    /// `bits` in dwords, rounded up; 1 for an enumeration.
    pub dwords: u32,
    /// True if a tail of variable length follows the fixed part.
    pub variable: bool,
    /// Number of fields, or of an enumeration's values. Each field of a group counts once; fields
    /// of groups inside groups do not count.
    pub fields: usize,
    /// Byte offset of a register; from the base of each engine if `per_engine`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// True if every engine has the register.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub per_engine: bool,
    /// Number of registers in an array of them; 1 for everything else.
    #[serde(skip_serializing_if = "is_one")]
    pub count: u32,
    /// True if the specification describes only the header.
    pub partial: bool,
    /// Volume and page, or the fact's origin.
    pub source: String,
    /// One line of documentation.
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
        pipelines: match container.kind {
            Kind::Instruction { pipelines, .. } if pipelines != ALL_PIPELINES => {
                pipeline_names(pipelines)
            }
            _ => Vec::new(),
        },
        bits: container.bits,
        dwords: container.bits.div_ceil(32),
        variable: container.is_variable(),
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
        pipelines: Vec::new(),
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

/// Conditions for listed items. The default keeps everything.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Part of the name, in any case. With `*` (any characters) or `?` (one character), a pattern
    /// for the whole name.
    pub name: Option<String>,
    /// `instruction`, `struct`, `register` or `enum`.
    pub kind: Option<String>,
    /// The start of the unit's name.
    pub unit: Option<String>,
    /// An engine that accepts the instruction.
    pub engine: Option<String>,
}

impl Filter {
    /// True if the item passes the filter.
    pub fn keeps(&self, item: &Listed) -> bool {
        let name = |pattern: &String| {
            let (pattern, name) = (pattern.to_lowercase(), item.name.to_lowercase());
            match pattern.contains(['*', '?']) {
                true => {
                    matches(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
                }
                false => name.contains(&pattern),
            }
        };
        self.name.as_ref().is_none_or(name)
            && self.kind.as_ref().is_none_or(|kind| kind == item.kind)
            && self.unit.as_ref().is_none_or(|unit| item.unit.starts_with(unit.as_str()))
            && self.engine.as_ref().is_none_or(|engine| item.engines.contains(&engine.as_str()))
    }
}

/// Compares a name with a pattern. After a mismatch, only the last `*` has to match more.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, n) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Maximum width of the column of names. A longer name moves the rest of its line to the right.
const NAMES: usize = 44;

/// Formats the list as a table: headings, one line for each item, and totals.
pub fn table(listed: &[&Listed]) -> String {
    let headings = ["name", "kind", "size", "fields", "where", "unit", "source"].map(str::to_owned);
    let rows = listed.iter().map(|item| {
        let size = match item.kind {
            "enum" => format!("{} bits", item.bits),
            _ if !item.bits.is_multiple_of(32) => format!("{} bits", item.bits),
            _ => format!("{}{} dw", item.dwords, if item.variable { "+" } else { "" }),
        };
        let partial = if item.partial { " of more" } else { "" };
        let engines = match (item.offset, item.engines.len()) {
            (Some(offset), _) => {
                let base = if item.per_engine { "base+" } else { "" };
                let array =
                    if item.count > 1 { format!(" x{}", item.count) } else { String::new() };
                format!("{base}{offset:#x}{array}")
            }
            (None, 4) => "all".to_owned(),
            _ => item.engines.join("|"),
        };
        let fields = format!("{}{partial}", item.fields);
        [
            item.name.clone(),
            item.kind.to_owned(),
            size,
            fields,
            engines,
            item.unit.clone(),
            item.source.clone(),
        ]
    });
    let rows: Vec<[String; 7]> = [headings].into_iter().chain(rows).collect();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut widths: [usize; 7] = std::array::from_fn(width);
    widths[0] = widths[0].min(NAMES);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            text.push_str(&format!("{cell:width$}  "));
        }
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
