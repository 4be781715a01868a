//! Reads structures, instructions and registers, with their groups, views and rules.

use serde::Deserialize;

use super::attribute::{
    check_content, doc, flag, no_text, number_below, required, unknown_element, word, words,
};
use super::condition::{Pending, PendingRule, PendingView, condition};
use super::converter::Converter;
use crate::diagnostic::{Code, Diagnostic};
use crate::expr::Scope;
use crate::model::{
    Access, Cond, Container, Expr, Field, Group, Kind, Latch, Rule, Severity as RuleSeverity, View,
};
use crate::value::BITS_LIMIT;
use crate::words::{ENGINES, PIPELINES};
use crate::xml::{self, At, Attribute, Element};

#[derive(Deserialize, Default)]
#[serde(default)]
struct StructAttributes {
    name: Option<At>,
    length: Option<At>,
    size: Option<At>,
    align: Option<At>,
    latch: Option<At>,
    partial: Option<At>,
    overlap: Option<At>,
    source: Option<At>,
    doc: Option<At>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct InstructionAttributes {
    name: Option<At>,
    bias: Option<At>,
    length: Option<At>,
    engine: Option<At>,
    pipeline: Option<At>,
    latch: Option<At>,
    partial: Option<At>,
    overlap: Option<At>,
    source: Option<At>,
    doc: Option<At>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RegisterAttributes {
    name: Option<At>,
    length: Option<At>,
    num: Option<At>,
    #[serde(rename = "per-engine")]
    per_engine: Option<At>,
    count: Option<At>,
    stride: Option<At>,
    #[serde(rename = "instance-of")]
    instance_of: Option<At>,
    masked: Option<At>,
    access: Option<At>,
    partial: Option<At>,
    overlap: Option<At>,
    source: Option<At>,
    doc: Option<At>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct GroupAttributes {
    name: Option<At>,
    count: Option<At>,
    start: Option<At>,
    dword: Option<At>,
    offset_bits: Option<At>,
    size: Option<At>,
    #[serde(rename = "source")]
    _source: Option<At>,
    #[serde(rename = "doc")]
    _doc: Option<At>,
}

/// Attributes of all kinds of containers.
struct Common {
    length: Option<At>,
    size: Option<At>,
    latch: Option<At>,
    partial: Option<At>,
    overlap: Option<At>,
    source: Option<At>,
    doc: Option<At>,
    kind: Kind,
}

/// Parses `latch`: `true`, `false`, or the name of a field in brackets.
fn latch(attribute: &Attribute, problems: &mut Vec<Diagnostic>) -> Option<Latch> {
    match attribute.value.trim() {
        "true" => Some(Latch { index: None }),
        "false" => None,
        text => match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            Some(name) => Some(Latch { index: Some(name.trim().to_owned()) }),
            None => {
                let message = format!("`latch` cannot be `{text}`");
                let problem = Diagnostic::new(Code::Value, attribute.value_span.clone(), message);
                problems.push(
                    problem.hint("it may be: true, false, or the name of the field that selects the entry, as [Index]"),
                );
                None
            }
        },
    }
}

impl Converter<'_> {
    /// Reads a struct, instruction or register.
    pub fn container(&mut self, element: &Element) -> Container {
        let common = match element.name.as_str() {
            "struct" => self.structure(element),
            "register" => self.register(element),
            _ => self.instruction(element),
        };
        no_text(element, self.problems);
        let (fields, mut groups) = self.members(element, 0);
        let mut fields = self.conditions(fields);
        groups.sort_by_key(|group| group.start);
        if matches!(common.kind, Kind::Instruction { .. }) {
            mark_length(&mut fields);
            mark_opcode(&mut fields);
        }
        self.rules(element);
        let views = self.views(element);
        Container {
            name: self.container.clone(),
            file: self.file,
            bits: self.bits(element, &common, &fields, &groups),
            fields,
            groups,
            views,
            rules: Vec::new(),
            latch: common.latch.and_then(|at| latch(element.at(at), self.problems)),
            partial: self.partial(element, common.partial),
            overlap_allowed: self.foreign || self.overlap(element, common.overlap),
            doc: doc(element, common.doc),
            source: element.text_of(common.source),
            span: element.span.clone(),
            kind: common.kind,
        }
    }

    fn structure(&mut self, element: &Element) -> Common {
        let a: StructAttributes = xml::attributes(element, self.problems);
        required(element, a.name, "name", self.problems);
        let align = a
            .align
            .and_then(|at| number_below(element.at(at), 1 << 32, self.problems))
            .unwrap_or(1);
        Common {
            length: a.length,
            size: a.size,
            latch: a.latch,
            partial: a.partial,
            overlap: a.overlap,
            source: a.source,
            doc: a.doc,
            kind: Kind::Struct { align: align as u32 },
        }
    }

    fn register(&mut self, element: &Element) -> Common {
        let a: RegisterAttributes = xml::attributes(element, self.problems);
        required(element, a.name, "name", self.problems);
        let num = required(element, a.num, "num", self.problems);
        let offset =
            num.and_then(|at| number_below(element.at(at), 1 << 32, self.problems)).unwrap_or(0);
        let access =
            [("rw", Access::ReadWrite), ("ro", Access::ReadOnly), ("wo", Access::WriteOnly)];
        let access = a.access.and_then(|at| word(element.at(at), &access, self.problems));
        let mut number =
            |at: Option<At>| at.and_then(|at| number_below(element.at(at), 1 << 16, self.problems));
        let (count, stride) = (number(a.count), number(a.stride));
        Common {
            length: a.length,
            size: None,
            latch: None,
            partial: a.partial,
            overlap: a.overlap,
            source: a.source,
            doc: a.doc,
            kind: Kind::Register {
                offset: offset as u32,
                per_engine: flag(element, a.per_engine, self.problems),
                count: count.unwrap_or(1) as u32,
                stride: stride.unwrap_or(0) as u32,
                instance_of: element.text_of(a.instance_of),
                masked: flag(element, a.masked, self.problems),
                access: access.unwrap_or(Access::ReadWrite),
            },
        }
    }

    fn instruction(&mut self, element: &Element) -> Common {
        let a: InstructionAttributes = xml::attributes(element, self.problems);
        required(element, a.name, "name", self.problems);
        let engines = a.engine.map_or(15, |at| words(element.at(at), ENGINES, self.problems));
        let pipelines =
            a.pipeline.map_or(self.pipelines, |at| words(element.at(at), PIPELINES, self.problems));
        let bias = a.bias.and_then(|at| number_below(element.at(at), 1 << 16, self.problems));
        let has_length = element.children.iter().any(|child| {
            child.name == "field"
                && child.attributes.iter().any(|a| a.name == "name" && is_length(&a.value))
        });
        if bias.is_none() && a.bias.is_none() && has_length && !self.foreign {
            required(element, None, "bias", self.problems);
        }
        Common {
            length: a.length,
            size: None,
            latch: a.latch,
            partial: a.partial,
            overlap: a.overlap,
            source: a.source,
            doc: a.doc,
            kind: Kind::Instruction { engines, pipelines, bias: bias.unwrap_or(1) as u32 },
        }
    }

    fn partial(&mut self, element: &Element, at: Option<At>) -> bool {
        let words = [("header", true), ("true", true), ("false", false)];
        at.and_then(|at| word(element.at(at), &words, self.problems)).unwrap_or(false)
    }

    fn overlap(&mut self, element: &Element, at: Option<At>) -> bool {
        at.and_then(|at| word(element.at(at), &[("allowed", true)], self.problems)).unwrap_or(false)
    }

    /// Returns the size of the fixed part in bits.
    fn bits(
        &mut self,
        element: &Element,
        common: &Common,
        fields: &[Field],
        groups: &[Group],
    ) -> u32 {
        if let Some(length) = common.length {
            let dwords = number_below(element.at(length), BITS_LIMIT / 32, self.problems);
            return dwords.unwrap_or(0) as u32 * 32;
        }
        if let Some(size) = common.size {
            return number_below(element.at(size), BITS_LIMIT, self.problems).unwrap_or(0) as u32;
        }
        let end_of_fields = fields.iter().map(|field| field.end + 1).max().unwrap_or(0);
        let end_of_groups = groups.iter().map(Group::end).max().unwrap_or(0);
        match common.kind {
            Kind::Register { .. } => 32,
            Kind::Struct { .. } if !self.foreign => {
                let message = format!(
                    "<{}> needs the attribute `length` (dwords) or `size` (bits)",
                    element.name
                );
                self.problems.push(
                    Diagnostic::new(Code::Missing, element.span.clone(), message).label("no size"),
                );
                0
            }
            _ => end_of_fields.max(end_of_groups).div_ceil(32) * 32,
        }
    }

    /// Reads the fields and groups inside an element. `depth` is the number of enclosing groups.
    fn members(&mut self, element: &Element, depth: usize) -> (Vec<(Field, Pending)>, Vec<Group>) {
        let (mut fields, mut groups) = (Vec::new(), Vec::new());
        for child in &element.children {
            match child.name.as_str() {
                "field" => fields.extend(self.field(child)),
                "group" => groups.extend(self.group(child, depth)),
                "doc" => {}
                "rule" | "view" if depth == 0 => {}
                _ => {
                    let known: &[&str] = if depth == 0 {
                        &["field", "group", "view", "rule", "doc"]
                    } else {
                        &["field", "group", "doc"]
                    };
                    unknown_element(child, element, known, self.problems);
                }
            }
        }
        (fields, groups)
    }

    fn group(&mut self, element: &Element, depth: usize) -> Option<Group> {
        let a: GroupAttributes = xml::attributes(element, self.problems);
        no_text(element, self.problems);
        let count = required(element, a.count, "count", self.problems);
        let size = required(element, a.size, "size", self.problems);
        let count = count.and_then(|at| number_below(element.at(at), BITS_LIMIT, self.problems));
        let size = size.and_then(|at| number_below(element.at(at), BITS_LIMIT, self.problems));
        let start = match (a.start, a.dword) {
            (Some(start), None) => number_below(element.at(start), BITS_LIMIT, self.problems),
            (None, Some(dword)) => {
                let dword = number_below(element.at(dword), BITS_LIMIT / 32, self.problems);
                let bit = a
                    .offset_bits
                    .map_or(Some(0), |at| number_below(element.at(at), 1 << 16, self.problems));
                dword.zip(bit).map(|(dword, bit)| dword * 32 + bit)
            }
            (Some(_), Some(dword)) => {
                let message = "a group has `start` or `dword`, not both";
                self.problems.push(Diagnostic::new(
                    Code::Position,
                    element.at(dword).name_span.clone(),
                    message,
                ));
                None
            }
            (None, None) => {
                required(element, None, "dword", self.problems);
                None
            }
        };
        let (fields, mut groups) = self.members(element, depth + 1);
        let fields = self.conditions(fields);
        groups.sort_by_key(|group| group.start);
        let (count, bits, start) = (count?, size?, start?);
        if start + count.max(1) * bits >= BITS_LIMIT {
            let message =
                format!("{count} elements of {bits} bits do not end below bit {BITS_LIMIT}");
            self.problems.push(Diagnostic::new(Code::Number, element.span.clone(), message));
            return None;
        }
        Some(Group {
            name: element.text_of(a.name),
            start: start as u32,
            bits: bits as u32,
            count: count as u32,
            fields,
            groups,
            span: element.span.clone(),
        })
    }

    /// Parses the conditions of fields after all fields have been read, and sorts the fields.
    fn conditions(&mut self, read: Vec<(Field, Pending)>) -> Vec<Field> {
        let (mut fields, pending): (Vec<Field>, Vec<Pending>) = read.into_iter().unzip();
        let parsed: Vec<Option<Expr>> = fields
            .iter()
            .zip(pending)
            .map(|(field, pending)| {
                let (text, span) = pending?;
                let scope =
                    Scope { fields: &fields, enums: self.enums, variant: field.variant.as_ref() };
                condition(&text, &span, scope, &self.lost, self.problems)
            })
            .collect();
        for (field, parsed) in fields.iter_mut().zip(parsed) {
            field.exists_if = parsed;
        }
        fields.sort_by_key(|field| (field.start, field.end));
        fields
    }

    /// Reads the views. Their conditions may name fields of nested structures, which may not have
    /// been read yet. So the conditions are parsed later, like those of rules.
    fn views(&mut self, element: &Element) -> Vec<View> {
        let mut views = Vec::new();
        for child in element.children.iter().filter(|child| child.name == "view") {
            let Some((field, condition)) = self.view(child) else { continue };
            let text = condition.as_ref().map_or("", |(text, _)| text.as_str());
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(condition) = condition {
                self.pending_views.push(PendingView {
                    container: self.index,
                    view: views.len(),
                    condition,
                    lost: self.lost.clone(),
                });
            }
            views.push(View { field, exists_if: None, text });
        }
        views
    }

    /// Reads the rules. Their conditions may name any container, so they are parsed later.
    fn rules(&mut self, element: &Element) {
        for child in element.children.iter().filter(|child| child.name == "rule") {
            let a: xml::RuleAttributes = xml::attributes(child, self.problems);
            check_content(child, &["doc"], self.problems);
            let words = [
                ("error", RuleSeverity::Error),
                ("warning", RuleSeverity::Warning),
                ("workaround", RuleSeverity::Workaround),
            ];
            let severity = match a.severity {
                Some(at) => word(child.at(at), &words, self.problems),
                None => Some(RuleSeverity::Error),
            };
            let id = required(child, a.id, "id", self.problems);
            let message = required(child, a.message, "message", self.problems);
            let require = required(child, a.require, "require", self.problems);
            if let (Some(_), Some(_), Some(severity), Some(require)) =
                (id, message, severity, require)
            {
                let attribute = child.at(require);
                self.pending.push(PendingRule {
                    container: self.index,
                    rule: Rule {
                        id: child.text_of(id),
                        severity,
                        require: Cond::Number(1),
                        text: attribute.value.split_whitespace().collect::<Vec<_>>().join(" "),
                        message: child.text_of(message),
                        source: child.text_of(a.source),
                        span: child.span.clone(),
                    },
                    condition: (attribute.value.clone(), attribute.value_span.clone()),
                    lost: self.lost.clone(),
                });
            }
        }
    }
}

/// True for the name of the field that holds the packet's length.
fn is_length(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("DWord Length")
}

fn mark_length(fields: &mut [Field]) {
    if let Some(field) = fields.iter_mut().find(|field| is_length(&field.name) && field.end < 32) {
        field.length = true;
    }
}

/// If no field of the instruction has the attribute `opcode`, marks as opcode all fields with a
/// default in bits 31:16 of the first dword, except the length. Mesa's tools do the same.
fn mark_opcode(fields: &mut [Field]) {
    if fields.iter().any(|field| field.opcode) {
        return;
    }
    for field in
        fields.iter_mut().filter(|field| field.start >= 16 && field.end < 32 && !field.length)
    {
        field.opcode = field.default.is_some();
    }
}
