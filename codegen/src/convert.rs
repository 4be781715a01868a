//! Elements to the model's enumerations, containers, groups and rules. Fields are in
//! [`crate::field`].

use serde::Deserialize;

use crate::diagnostic::{Code, Diagnostic};
use crate::expr::{self, ExprError, Scope};
use crate::load::Names;
use crate::model::{
    Access, Cond, Container, EngineBase, Enum, EnumValue, Expr, Field, Group, Kind, Latch, Rule,
    Severity as RuleSeverity, Span, Spec, ValueSet, View,
};
use crate::suggest;
use crate::value::BITS_LIMIT;
use crate::xml::{self, At, Attribute, Element};

/// The attribute if it is there and says something; reports it otherwise.
pub(crate) fn required(
    element: &Element,
    at: Option<At>,
    name: &str,
    problems: &mut Vec<Diagnostic>,
) -> Option<At> {
    if let Some(at) = at.filter(|at| !element.at(*at).value.trim().is_empty()) {
        return Some(at);
    }
    let message = format!("<{}> needs the attribute `{name}`", element.name);
    problems.push(Diagnostic::new(Code::Missing, element.span.clone(), message).label(match at {
        Some(_) => format!("`{name}` is empty"),
        None => format!("no `{name}`"),
    }));
    None
}

/// Reports an element that may not stand inside `parent`.
pub(crate) fn unknown_element(
    element: &Element,
    parent: &Element,
    known: &[&str],
    problems: &mut Vec<Diagnostic>,
) {
    let message = format!("<{}> cannot stand inside <{}>", element.name, parent.name);
    let hint = suggest::hint(&element.name, known.iter().copied()).unwrap_or_else(|| match known {
        [] => format!("<{}> has no elements inside", parent.name),
        _ => format!("<{}> may hold: {}", parent.name, known.join(", ")),
    });
    problems.push(
        Diagnostic::new(Code::Element, element.name_span.clone(), message)
            .label("unexpected element")
            .hint(hint),
    );
}

/// Reports text inside an element that holds only elements.
pub(crate) fn no_text(element: &Element, problems: &mut Vec<Diagnostic>) {
    if let Some(span) = &element.text_span {
        let message = format!("text inside <{}>, which holds only elements", element.name);
        problems.push(
            Diagnostic::new(Code::Text, span.clone(), message)
                .hint("documentation goes into a `doc` attribute or a <doc> element"),
        );
    }
}

/// The text of the `doc` attribute, or of the <doc> child.
pub(crate) fn doc(element: &Element, at: Option<At>) -> String {
    match at {
        Some(at) => element.at(at).value.split_whitespace().collect::<Vec<_>>().join(" "),
        None => {
            let child = element.children.iter().find(|child| child.name == "doc");
            child.map(|child| child.text.clone()).unwrap_or_default()
        }
    }
}

/// A number below `limit`.
pub(crate) fn number_below(
    attribute: &Attribute,
    limit: u64,
    problems: &mut Vec<Diagnostic>,
) -> Option<u64> {
    let text = attribute.value.trim();
    let report = |message: String| {
        Diagnostic::new(Code::Number, attribute.value_span.clone(), message)
            .hint("numbers are decimal, 0x hexadecimal or 0b binary")
    };
    match expr::number(text) {
        Some(value) if value < limit => Some(value),
        Some(value) => {
            problems
                .push(report(format!("`{}` is {value}, which is out of range", attribute.name)));
            None
        }
        None => {
            problems.push(report(format!("`{}` is not a number: `{text}`", attribute.name)));
            None
        }
    }
}

/// `true` or `false`; absent is false.
pub(crate) fn flag(element: &Element, at: Option<At>, problems: &mut Vec<Diagnostic>) -> bool {
    match at.map(|at| element.at(at)) {
        None => false,
        Some(attribute) => word(
            attribute,
            &[("true", true), ("false", false), ("1", true), ("0", false)],
            problems,
        )
        .unwrap_or(false),
    }
}

/// One of the words.
pub(crate) fn word<T: Copy>(
    attribute: &Attribute,
    words: &[(&str, T)],
    problems: &mut Vec<Diagnostic>,
) -> Option<T> {
    let text = attribute.value.trim();
    let found = words.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    if found.is_none() {
        let message = format!("`{}` cannot be `{text}`", attribute.name);
        let hint = suggest::hint(text, words.iter().map(|(name, _)| *name)).unwrap_or_else(|| {
            let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
            format!("it may be: {}", names.join(", "))
        });
        problems
            .push(Diagnostic::new(Code::Value, attribute.value_span.clone(), message).hint(hint));
    }
    found
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct EngineAttributes {
    name: Option<At>,
    base: Option<At>,
    source: Option<At>,
    doc: Option<At>,
}

/// An engine of the root.
pub(crate) fn engine(element: &Element, problems: &mut Vec<Diagnostic>) -> EngineBase {
    let a: EngineAttributes = xml::attributes(element, problems);
    no_text(element, problems);
    for child in element.children.iter().filter(|child| child.name != "doc") {
        unknown_element(child, element, &["doc"], problems);
    }
    let base = required(element, a.base, "base", problems);
    EngineBase {
        name: element.text_of(a.name),
        base: base.and_then(|at| number_below(element.at(at), 1 << 32, problems)).unwrap_or(0)
            as u32,
        doc: doc(element, a.doc),
        source: element.text_of(a.source),
        span: element.span.clone(),
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct EnumAttributes {
    name: Option<At>,
    prefix: Option<At>,
    source: Option<At>,
    doc: Option<At>,
    #[serde(rename = "value")]
    _value: Option<At>, // Mesa's tools allow it and read nothing of it
}

/// A named enumeration of the root.
pub(crate) fn named_enum(element: &Element, file: usize, problems: &mut Vec<Diagnostic>) -> Enum {
    let attributes: EnumAttributes = xml::attributes(element, problems);
    no_text(element, problems);
    for child in element
        .children
        .iter()
        .filter(|child| !matches!(child.name.as_str(), "value" | "set" | "doc"))
    {
        unknown_element(child, element, &["value", "set", "doc"], problems);
    }
    let mut list = Enum {
        name: element.text_of(attributes.name),
        file,
        prefix: element.text_of(attributes.prefix),
        bits: 1,
        values: values(element, problems),
        sets: Vec::new(),
        doc: doc(element, attributes.doc),
        source: element.text_of(attributes.source),
        span: element.span.clone(),
    };
    sets(element, &mut list, problems);
    list
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SetAttributes {
    name: Option<At>,
    values: Option<At>,
    doc: Option<At>,
    #[serde(rename = "source")]
    _source: Option<At>,
}

/// The named sets of an enumeration, whose values are known. A set may name those before it.
pub(crate) fn sets(element: &Element, list: &mut Enum, problems: &mut Vec<Diagnostic>) {
    for child in element.children.iter().filter(|child| child.name == "set") {
        let attributes: SetAttributes = xml::attributes(child, problems);
        no_text(child, problems);
        for inner in child.children.iter().filter(|inner| inner.name != "doc") {
            unknown_element(inner, child, &["doc"], problems);
        }
        let name = required(child, attributes.name, "name", problems);
        let values = required(child, attributes.values, "values", problems);
        let (Some(_), Some(values)) = (name, values) else { continue };
        let attribute = child.at(values);
        match expr::parse_set(&attribute.value, list) {
            Ok(ranges) => list.sets.push(ValueSet {
                name: child.text_of(name),
                ranges,
                doc: doc(child, attributes.doc),
                span: child.span.clone(),
            }),
            Err(error) => problems.push(placed(*error, &attribute.value, &attribute.value_span)),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ValueAttributes {
    name: Option<At>,
    value: Option<At>,
    expansion: Option<At>,
    bits: Option<At>,
    alias: Option<At>,
    doc: Option<At>,
    #[serde(rename = "source")]
    _source: Option<At>,
    #[serde(rename = "dont_use")]
    _dont_use: Option<At>, // a value that Mesa's headers leave out; it is named all the same
}

/// The values inside an enumeration or field.
pub(crate) fn values(element: &Element, problems: &mut Vec<Diagnostic>) -> Vec<EnumValue> {
    let mut values = Vec::new();
    for child in element.children.iter().filter(|child| child.name == "value") {
        let attributes: ValueAttributes = xml::attributes(child, problems);
        no_text(child, problems);
        for inner in child.children.iter().filter(|inner| inner.name != "doc") {
            unknown_element(inner, child, &["doc"], problems);
        }
        let name = required(child, attributes.name, "name", problems);
        let value = required(child, attributes.value, "value", problems);
        let number = value.and_then(|at| number_below(child.at(at), u64::MAX, problems));
        let expansion =
            attributes.expansion.and_then(|at| number_below(child.at(at), u64::MAX, problems));
        let bits = attributes.bits.and_then(|at| number_below(child.at(at), 1 << 16, problems));
        if let (Some(_), Some(value)) = (name, number) {
            values.push(EnumValue {
                name: child.text_of(name),
                value,
                expansion,
                bits,
                alias: flag(child, attributes.alias, problems),
                doc: doc(child, attributes.doc),
                span: child.span.clone(),
            });
        }
    }
    values
}

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

#[derive(Deserialize, Default)]
#[serde(default)]
struct RuleAttributes {
    id: Option<At>,
    severity: Option<At>,
    require: Option<At>,
    message: Option<At>,
    source: Option<At>,
    #[serde(rename = "doc")]
    _doc: Option<At>,
}

/// What all kinds of containers share.
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

/// Engines by name, as bits of `genxml_core::reflect::Engines`. Newer files say `compute` for what
/// Gen8 does on render.
const ENGINES: &[(&str, u8)] = &[
    ("render", 1),
    ("blitter", 2),
    ("video", 4),
    ("video-enhance", 8),
    ("compute", 1),
    ("copy", 2),
];

/// Pipelines of the render engine by name, as bits of `genxml_core::reflect::Pipelines`.
pub(crate) const PIPELINES: &[(&str, u8)] = &[("3d", 1), ("media", 2), ("gpgpu", 4)];

/// Of an instruction that does not say which pipelines it needs: it is taken in all.
pub(crate) const ALL_PIPELINES: u8 = 7;

/// Words joined by vertical bars, as a set of bits.
pub(crate) fn words(
    attribute: &Attribute,
    words: &[(&str, u8)],
    problems: &mut Vec<Diagnostic>,
) -> u8 {
    let mut set = 0;
    let mut at = attribute.value_span.range.start;
    for value in attribute.value.split('|') {
        let range = at..at + value.len();
        at = range.end + 1;
        let part = Attribute {
            name: attribute.name.clone(),
            value: value.to_owned(),
            name_span: attribute.name_span.clone(),
            value_span: Span { file: attribute.value_span.file, range },
        };
        set |= word(&part, words, problems).unwrap_or(0);
    }
    set
}

/// `true`, or the name of a field in brackets; `false` is none.
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

/// The text and place of a condition that is not parsed yet.
pub(crate) type Pending = Option<(String, Span)>;

/// Reads one container.
pub(crate) struct Converter<'a> {
    /// Types by name.
    pub names: &'a Names,
    /// Enumerations so far; those inside fields are added.
    pub enums: &'a mut Vec<Enum>,
    pub problems: &'a mut Vec<Diagnostic>,
    /// The file says nowhere where it comes from: Mesa's.
    pub foreign: bool,
    /// What the file says of pipelines.
    pub pipelines: u8,
    pub file: usize,
    /// Name of the container.
    pub container: String,
    /// Index that the container will have.
    pub index: usize,
    /// Rules so far, of all containers.
    pub pending: &'a mut Vec<PendingRule>,
    /// Conditions of views so far, of all containers.
    pub pending_views: &'a mut Vec<PendingView>,
    /// Names of fields that could not be read: conditions that name them are not to blame.
    pub lost: Vec<String>,
}

impl Converter<'_> {
    /// A struct, instruction or register.
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

    /// Size of the fixed part.
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
        let end_of_groups = groups.iter().map(end_of_group).max().unwrap_or(0);
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

    /// Fields and groups inside an element; `depth` groups are around.
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
            let message = format!("{count} elements of {bits} bits are out of range");
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

    /// Parses the conditions of fields, now that all fields are known, and sorts the fields.
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

    /// Reads the views; their conditions name fields of nested structures, so they wait as those of
    /// rules do.
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

    /// Reads the rules; their conditions may name any container, so they wait until all are known.
    fn rules(&mut self, element: &Element) {
        for child in element.children.iter().filter(|child| child.name == "rule") {
            let a: RuleAttributes = xml::attributes(child, self.problems);
            no_text(child, self.problems);
            for inner in child.children.iter().filter(|inner| inner.name != "doc") {
                unknown_element(inner, child, &["doc"], self.problems);
            }
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

/// A rule whose condition is not parsed yet.
pub(crate) struct PendingRule {
    /// Index of its container.
    pub container: usize,
    rule: Rule,
    condition: (String, Span),
    /// Fields of its container that could not be read.
    lost: Vec<String>,
}

impl PendingRule {
    /// Parses the condition, now that every container is known.
    pub fn resolve(self, spec: &Spec, problems: &mut Vec<Diagnostic>) -> Option<Rule> {
        let (text, span) = &self.condition;
        let require = reported(
            expr::parse_rule(text, spec, self.container),
            text,
            span,
            &self.lost,
            problems,
        )?;
        Some(Rule { require, ..self.rule })
    }
}

/// A view whose condition is not parsed yet.
pub(crate) struct PendingView {
    /// Index of its container.
    pub container: usize,
    /// Index among the container's views.
    pub view: usize,
    condition: (String, Span),
    /// Fields of its container that could not be read.
    lost: Vec<String>,
}

impl PendingView {
    /// Parses the condition, now that every container is known.
    pub fn resolve(&self, spec: &Spec, problems: &mut Vec<Diagnostic>) -> Option<Cond> {
        let (text, span) = &self.condition;
        reported(expr::parse_view(text, spec, self.container), text, span, &self.lost, problems)
    }
}

/// Parses a condition; a problem is placed inside the attribute's value.
fn condition(
    text: &str,
    span: &Span,
    scope: Scope<'_>,
    lost: &[String],
    problems: &mut Vec<Diagnostic>,
) -> Option<Expr> {
    reported(expr::parse(text, scope), text, span, lost, problems)
}

fn reported<T>(
    parsed: Result<T, Box<ExprError>>,
    text: &str,
    span: &Span,
    lost: &[String],
    problems: &mut Vec<Diagnostic>,
) -> Option<T> {
    match parsed {
        Ok(expr) => Some(expr),
        Err(error)
            if error.code == Code::ExpressionName
                && lost.iter().any(|name| text.contains(name)) =>
        {
            None
        }
        Err(error) => {
            problems.push(placed(*error, text, span));
            None
        }
    }
}

/// The problem inside the attribute's value. With entities (`&amp;`) in it, the raw text is longer
/// than the condition: all of it is underlined.
fn placed(error: ExprError, text: &str, span: &Span) -> Diagnostic {
    let place = match span.range.len() == text.len() {
        true => span.range.start + error.range.start..span.range.start + error.range.end,
        false => span.range.clone(),
    };
    Diagnostic::new(error.code, Span { file: span.file, range: place }, error.message)
        .maybe_hint(error.hint)
}

/// First bit after a group; of a variable one, its start.
pub(crate) fn end_of_group(group: &Group) -> u32 {
    group.start + group.count * group.bits
}

/// The name of the field that holds the packet's length.
fn is_length(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case("DWord Length")
}

fn mark_length(fields: &mut [Field]) {
    if let Some(field) = fields.iter_mut().find(|field| is_length(&field.name) && field.end < 32) {
        field.length = true;
    }
}

/// Mesa's files mark no opcode bits: there they are what has a default in the upper half of the
/// first dword.
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
