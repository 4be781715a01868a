//! The specification text for the code generator, with the source position of each part.

use super::attributes::{Container, Hidden, Member, Value};
use super::types::Others;
use genxml_codegen::Diagnostic;
use genxml_codegen::diagnostic::Code;
use proc_macro2::Span;
use std::fmt::Write;
use std::ops::Range;
use syn::Error;

/// A specification of one packet, as two files.
pub struct Document {
    /// The packet.
    pub text: String,
    /// The types that the macro sees only by name.
    pub others: String,
    /// Ranges of the packet's text with their source positions. Inner ranges come before the ranges
    /// that contain them.
    places: Vec<(Range<usize>, Span)>,
}

/// Attributes of fields that only this macro uses, so they are not copied to the text.
const OWN: &[&str] = &["dword", "bits", "nested"];

impl Document {
    pub fn new(container: &Container, members: &[Member], others: &Others) -> Self {
        // The attribute `source` makes gaps and overlaps errors.
        let text = "<genxml name=\"-\" gen=\"0\" source=\"derive\"><import name=\"others.xml\"/>"
            .to_owned();
        let mut this = Document { text, others: String::new(), places: Vec::new() };
        this.container(container, members);
        this.text.push_str("</genxml>");
        this.others = "<genxml name=\"-\" gen=\"0\">".to_owned();
        for at in 0..others.enums.len() {
            this.others.push_str(&format!("<enum name=\"E{at}\"/>"));
        }
        for at in 0..others.structs.len() {
            let ty = format!("S{at}");
            let of = |member: &&Member| member.shape.ty == ty;
            let bits = members.iter().find(of).map_or(32, |member| {
                (member.bits.1 - member.bits.0 + 1) / member.shape.count.unwrap_or(1).max(1)
            });
            this.others
                .push_str(&format!("<struct name=\"{ty}\" size=\"{bits}\" partial=\"true\"/>"));
        }
        this.others.push_str("</genxml>");
        this
    }

    /// Converts a diagnostic to an error at its source position.
    pub fn error(&self, problem: &Diagnostic) -> Error {
        let mut message = problem.message.replace("bits of the container in", "bits of");
        // The generator's hints are for authors of specification files.
        let hint = match problem.code {
            Code::Gap => Some(
                "add `zero = \"dw1 31:16\"` to `#[packet(...)]` for bits that must be zero, or `reserved = ...` for bits that \
                 may hold anything",
            ),
            Code::Overlap => Some("each bit belongs to one field"),
            _ => problem.hint.as_deref(),
        };
        if let Some(hint) = hint {
            message.push_str("\nhelp: ");
            message.push_str(hint);
        }
        let span = problem.span.as_ref().filter(|span| span.file == 0);
        Error::new(span.map_or_else(Span::call_site, |span| self.place(&span.range)), message)
    }

    /// The source position of the smallest recorded range that contains `range`.
    fn place(&self, range: &Range<usize>) -> Span {
        let holds = |(place, _): &&(Range<usize>, Span)| {
            place.start <= range.start && range.end <= place.end
        };
        let smallest = self.places.iter().filter(holds).min_by_key(|(place, _)| place.len());
        smallest.map_or_else(Span::call_site, |(_, span)| *span)
    }

    fn container(&mut self, container: &Container, members: &[Member]) {
        let opcode = container.hidden.iter().any(|hidden| hidden.kind == "opcode");
        let length = container.hidden.iter().any(|hidden| hidden.kind == "dword_length");
        let kind = match container.get("register") {
            Some(_) => "register",
            None if opcode => "instruction",
            None => "struct",
        };
        let start = self.text.len();
        self.text.push_str(&format!("<{kind}"));
        for value in &container.values {
            let name = if value.name == "register" { "num" } else { &value.name };
            self.value(&Value { name: name.into(), ..value.clone() });
        }
        if length && container.get("bias").is_none() {
            self.text.push_str(" bias=\"2\"");
        }
        self.text.push('>');
        self.places.push((start..self.text.len(), container.span));
        container.hidden.iter().for_each(|hidden| self.hidden(hidden));
        members.iter().for_each(|member| self.member(member));
        self.text.push_str(&format!("</{kind}>"));
    }

    fn hidden(&mut self, hidden: &Hidden) {
        let start = self.text.len();
        let get = |name: &str| hidden.values.iter().find(|value| value.name == name);
        let (name, ty, more) = match hidden.kind.as_str() {
            "opcode" => ("Opcode", "uint", " opcode=\"true\""),
            "dword_length" => ("DWord Length", "uint", ""),
            "one" => ("Reserved", "mbo", ""),
            "zero" => ("Reserved", "mbz", ""),
            _ => ("Reserved", "reserved", ""),
        };
        self.text.push_str(&format!("<field name=\"{name}\" type=\"{ty}\"{more}"));
        match get("dword") {
            Some(dword) => self.value(dword),
            None => self.text.push_str(" dword=\"0\""),
        }
        get("bits").into_iter().for_each(|bits| self.value(bits));
        if let Some(value) = get("value") {
            self.value(&Value { name: "default".into(), ..value.clone() });
        }
        self.text.push_str("/>");
        self.places.push((start..self.text.len(), hidden.span));
    }

    fn member(&mut self, member: &Member) {
        let (start, end) = member.bits;
        let from = self.text.len();
        let Some(count) = member.shape.count else {
            self.field(member, start, end);
            self.places.push((from..self.text.len(), member.attribute));
            return;
        };
        let width = (end - start + 1) / count.max(1);
        let name = member.values.iter().find(|value| value.name == "name");
        self.text.push_str("<group");
        name.into_iter().for_each(|name| self.value(name));
        let at = self.text.len();
        let _ = write!(self.text, " count=\"{count}\" start=\"{start}\" size=\"{width}\"");
        self.places.push((at..self.text.len(), member.bits_span));
        self.text.push('>');
        self.field(member, 0, width - 1);
        self.text.push_str("</group>");
        self.places.push((from..self.text.len(), member.attribute));
    }

    fn field(&mut self, member: &Member, start: u32, end: u32) {
        let _ = write!(self.text, "<field type=\"{}\"", member.shape.ty);
        let at = self.text.len();
        let _ = write!(self.text, " start=\"{start}\" end=\"{end}\"");
        self.places.push((at..self.text.len(), member.bits_span));
        for (name, value) in &member.shape.more {
            let at = self.text.len();
            let _ = write!(self.text, " {name}=\"{value}\"");
            self.places.push((at..self.text.len(), member.attribute));
        }
        for value in member.values.iter().filter(|value| !OWN.contains(&value.name.as_str())) {
            self.value(value);
        }
        self.text.push_str("/>");
    }

    fn value(&mut self, value: &Value) {
        let start = self.text.len();
        let _ = write!(self.text, " {}=\"", value.name);
        for c in value.text.chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '"' => self.text.push_str("&quot;"),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
        self.places.push((start..self.text.len(), value.span));
    }
}
