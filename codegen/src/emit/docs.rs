//! Generates doc comments: the facts of the XML in one or two lines.

use crate::model::{Access, Container, EngineBase, Enum, Field, Kind, Stored, Type};
use crate::words::{ALL_PIPELINES, pipeline_names};
use proc_macro2::TokenStream;
use quote::quote;

/// Converts `lines` to doc attributes.
pub fn doc(lines: &[String]) -> TokenStream {
    let lines =
        lines.iter().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}

/// `#[doc(alias = ...)]` with the manual's name, if the name in Rust differs and rustdoc allows the
/// alias.
pub fn alias(name: &str, rust: &str) -> Option<TokenStream> {
    let fine = !name.is_empty()
        && name != rust
        && name.trim() == name
        && !name.contains(|c: char| {
            c == '"' || c == '\'' || (c.is_whitespace() && c != ' ') || c.is_control()
        });
    fine.then(|| quote!(#[doc(alias = #name)]))
}

/// Escapes text for Markdown.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        if word.contains("://") {
            out.extend(["`", &word.replace('`', "'"), "`"]);
            continue;
        }
        for c in word.chars() {
            if matches!(c, '[' | ']' | '<' | '>' | '`' | '\\' | '*' | '_')
                && !(c == '_' && inner(word))
            {
                out.push('\\');
            }
            out.push(c);
        }
    }
    out
}

/// True if no underscore starts or ends the word. Markdown then leaves its underscores as they are.
fn inner(word: &str) -> bool {
    !word.starts_with('_') && !word.ends_with('_')
}

/// Joins the parts that are not empty with the separator ` · `.
fn facts(parts: &[String]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// The doc lines of a container.
pub fn container(container: &Container) -> Vec<String> {
    let size = match container.bits {
        32 => "1 dword".to_string(),
        bits if bits % 32 == 0 => format!("{} dwords", bits / 32),
        bits => format!("{bits} bits"),
    };
    let variable = container.is_variable();
    let size = if variable { format!("{size} and more") } else { size };
    let (what, more) = match container.kind {
        Kind::Struct { align: 0 | 1 } => ("structure".to_string(), String::new()),
        Kind::Struct { align } => ("structure".to_string(), format!("aligned to {align} bytes")),
        Kind::Instruction { engines, pipelines, .. } => {
            let names = ["render", "blitter", "video", "video-enhance"];
            let names = names
                .iter()
                .enumerate()
                .filter(|(bit, _)| engines >> bit & 1 == 1)
                .map(|(_, name)| *name);
            let names: Vec<&str> = names.collect();
            let pipelines = match pipelines {
                ALL_PIPELINES => String::new(),
                pipelines => format!("pipeline {}", pipeline_names(pipelines).join(" or ")),
            };
            (
                if names.len() == 4 { "every engine".to_string() } else { names.join(", ") },
                pipelines,
            )
        }
        Kind::Register { offset, per_engine, count, masked, access, .. } => {
            let access = match access {
                Access::ReadWrite => "",
                Access::ReadOnly => ", read only",
                Access::WriteOnly => ", write only",
            };
            let masked = if masked { "bits 31:16 enable writes of 15:0" } else { "" };
            let array =
                if count > 1 { format!("{count} registers") } else { "register".to_string() };
            let base = if per_engine { "base of the engine + " } else { "" };
            (format!("{array} {base}{offset:#x}{access}"), masked.to_string())
        }
    };
    let name = format!("`{}`", container.name.replace('`', "'"));
    vec![
        if container.doc.is_empty() {
            format!("{name}.")
        } else {
            sentence(&escape(&container.doc))
        },
        String::new(),
        facts(&[name, size, what, more, escape(&container.source)]),
    ]
}

/// The doc lines of an engine.
pub fn engine(engine: &EngineBase) -> Vec<String> {
    let doc = if engine.doc.is_empty() { &engine.name } else { &engine.doc };
    let base = format!("registers from {:#x} on", engine.base);
    vec![sentence(&escape(doc)), String::new(), facts(&[base, escape(&engine.source)])]
}

/// Capitalises the first word, unless it is a name, and adds a full stop.
fn sentence(text: &str) -> String {
    let word = text.split([' ', ',', '.', ':', ';']).next().unwrap_or_default();
    let plain = word.chars().all(|c| c.is_ascii_lowercase());
    let text = match text.split_at_checked(1) {
        Some((first, rest)) if plain => format!("{}{rest}", first.to_ascii_uppercase()),
        _ => text.to_string(),
    };
    if text.ends_with(['.', '!', '?', ':']) { text } else { format!("{text}.") }
}

/// The doc lines of a field. `relative`: positions count from the start of an array element.
pub fn field(field: &Field, relative: bool) -> Vec<String> {
    let bits = if relative {
        format!("bits {}:{}", field.end, field.start)
    } else {
        let dword = field.start / 32;
        let (low, high) = (field.start - dword * 32, field.end - dword * 32);
        if low == high { format!("dw{dword} {low}") } else { format!("dw{dword} {high}:{low}") }
    };
    let width = field.end - field.start + 1;
    let signed = matches!(field.ty, Type::Int | Type::SFixed { .. });
    let show = |stored: u64| meant(field, stored, width, signed);
    let default = match (field.default, &field.ty) {
        (None, _) | (_, Type::Enum(_) | Type::Struct(_)) => String::new(),
        (Some(0), Type::Bool) => String::new(),
        (Some(_), Type::Bool) => "default on".to_string(),
        (Some(value), _) => format!("default {}", show(value)),
    };
    let all = (1, u64::MAX >> (64 - width.clamp(1, 64)));
    let range = field.range.filter(|range| !field.nonzero || *range != all);
    let range = range.map_or(String::new(), |(min, max)| format!("{} to {}", show(min), show(max)));
    let target = match &field.ty {
        Type::Address { target, .. } if !target.is_empty() => {
            format!("of `{}`", target.replace('`', "'"))
        }
        _ => String::new(),
    };
    let unit = escape(&field.unit);
    let nonzero = if field.nonzero { "not zero" } else { "" }.to_string();
    let mut lines =
        vec![facts(&[bits, unit, target, default, range, nonzero, escape(&field.source)])];
    if !field.doc.is_empty() {
        lines[0].push('.');
        lines.push(sentence(&escape(&field.doc)));
    }
    if !field.doubt.is_empty() {
        let last = lines.len() - 1;
        if !lines[last].ends_with('.') {
            lines[last].push('.');
        }
        lines.push(format!("Doubtful: {}", sentence(&escape(&field.doubt))));
    }
    lines
}

/// Formats the value that a stored pattern represents, for example the pattern plus one for
/// `minus-one`.
fn meant(field: &Field, stored: u64, width: u32, signed: bool) -> String {
    let mask = u64::MAX >> (64 - width.clamp(1, 64));
    let value = match (&field.ty, field.stored) {
        (Type::Address { .. }, _) => {
            return format!("{:#x}", stored << super::field::address_shift(field));
        }
        (Type::Float, _) if width == 32 => return f32::from_bits(stored as u32).to_string(),
        (Type::Float, _) if width == 64 => return f64::from_bits(stored).to_string(),
        (_, Stored::MinusOne) => i128::from(stored) + 1,
        (_, Stored::Shifted(shift)) => i128::from(stored) << shift.min(63),
        (_, Stored::Log2) => 1i128 << stored.min(100),
        _ if signed && stored & mask > mask >> 1 => {
            i128::from(stored & mask) - i128::from(mask) - 1
        }
        _ => i128::from(stored),
    };
    match field.ty {
        Type::UFixed { frac, .. } | Type::SFixed { frac, .. } => {
            (value as f64 / f64::from(1u32 << frac.min(31))).to_string()
        }
        _ if value > 0xffff => format!("{value:#x}"),
        _ => value.to_string(),
    }
}

/// The doc lines of an enumeration.
pub fn enumeration(e: &Enum) -> Vec<String> {
    let text = if e.doc.is_empty() {
        format!("Values of {}.", escape(&e.name))
    } else {
        sentence(&escape(&e.doc))
    };
    match escape(&e.source) {
        source if source.is_empty() => vec![text],
        source => vec![text, String::new(), format!("`{}` · {source}", e.name.replace('`', "'"))],
    }
}
