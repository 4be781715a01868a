//! XML as a tree in which every element and attribute has its span, and attributes as serde structs.
//!
//! A struct of `Option<At>` members *is* the list of attributes that an element may have: serde
//! passes the names of its members to [`attributes`], which reports every other attribute.

use quick_xml::XmlVersion;
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use serde::Deserialize;
use serde::de::value::Error as SerdeError;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use crate::suggest;
use std::ops::Range;

/// Maximum nesting depth of elements. Groups in groups need four levels.
const DEPTH: usize = 32;

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    /// Index of the file, as its reader numbers them.
    pub file: usize,
    /// Byte range.
    pub range: Range<usize>,
}

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file is not well-formed XML.
    Malformed,
    /// An attribute is unknown for its element.
    Attribute,
}

/// A problem with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// The position.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// The opening tag of the element that is not closed, for text that cannot be read.
    pub inside: Option<Span>,
    /// Advice.
    pub hint: Option<String>,
}

impl Problem {
    fn hint(self, hint: impl Into<String>) -> Problem {
        Problem { hint: Some(hint.into()), ..self }
    }
}

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    /// Tag name.
    pub name: String,
    /// The opening tag, from `<` to `>`.
    pub span: Span,
    /// The name in the opening tag.
    pub name_span: Span,
    /// Attributes in the order of the text.
    pub attributes: Vec<Attribute>,
    /// Elements directly inside the element.
    pub children: Vec<Element>,
    /// The text directly inside the element, trimmed.
    pub text: String,
    /// The first piece of this text.
    pub text_span: Option<Span>,
}

/// An attribute.
#[derive(Debug)]
pub struct Attribute {
    /// Name.
    pub name: String,
    /// Value, with entities replaced.
    pub value: String,
    /// The name in the opening tag.
    pub name_span: Span,
    /// The value between the quotes.
    pub value_span: Span,
}

impl Element {
    /// The attribute that `at` refers to.
    pub fn at(&self, at: At) -> &Attribute {
        &self.attributes[at.0]
    }

    /// The value of an attribute; empty if it is missing.
    pub fn text_of(&self, at: Option<At>) -> String {
        at.map(|at| self.at(at).value.trim().to_owned()).unwrap_or_default()
    }
}

impl Attribute {
    /// The position in `text`, the file's text, of the byte `offset` of the value. An entity such as
    /// `&amp;` counts as the character that it stands for.
    pub fn position(&self, text: &str, offset: usize) -> usize {
        let Range { start, end } = self.value_span.range;
        let mut raw = text.get(start..end).unwrap_or_default();
        let mut before = offset;
        while before > 0
            && let Some(first) = raw.chars().next()
        {
            let entity = raw.find(';').filter(|_| first == '&').map(|end| &raw[..=end]);
            let (length, stands_for) = match entity.map(quick_xml::escape::unescape) {
                Some(Ok(character)) => (entity.map_or(1, str::len), character.len()),
                _ if raw.starts_with("\r\n") => (2, 1),
                _ => (first.len_utf8(), first.len_utf8()),
            };
            raw = &raw[length..];
            before = before.saturating_sub(stands_for);
        }
        end - raw.len()
    }
}

/// The span of `part`, which is a slice of `text`.
fn span_in(file: usize, text: &str, part: &str) -> Span {
    let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    if start <= text.len() && start + part.len() <= text.len() {
        Span { file, range: start..start + part.len() }
    } else {
        // `part` is a copy. That does not occur: quick-xml does not copy text that is in memory.
        Span { file, range: 0..0 }
    }
}

/// Parses `text` and returns its root element. Reports malformed parts; skips comments and
/// processing instructions. `start` is advice on how a file starts, for a file without an element.
pub fn parse(file: usize, text: &str, start: &str, problems: &mut Vec<Problem>) -> Option<Element> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root: Option<Element> = None;
    loop {
        let before = reader.buffer_position() as usize;
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(error) => {
                let at = (reader.error_position() as usize).min(text.len());
                let end = text[floor(text, at)..]
                    .chars()
                    .next()
                    .map_or(at, |c| floor(text, at) + c.len_utf8());
                let mut problem = malformed(file, at..end, error.to_string());
                if let Some(parent) = open.last() {
                    problem.inside = Some(parent.span.clone());
                }
                problems.push(problem);
                return None;
            }
        };
        let after = (reader.buffer_position() as usize).min(text.len());
        match event {
            Event::Start(tag) | Event::Empty(tag) if open.len() >= DEPTH => {
                let span = span_in(file, text, tag_text(&tag));
                problems.push(malformed(
                    file,
                    span.range,
                    format!("elements nest deeper than {DEPTH}"),
                ));
                return None;
            }
            Event::Start(tag) => {
                open.push(element(file, text, before..after, &tag, problems));
            }
            Event::Empty(tag) => {
                let element = element(file, text, before..after, &tag, problems);
                close(element, &mut open, &mut root, problems);
            }
            Event::End(_) => {
                if let Some(element) = open.pop() {
                    close(element, &mut open, &mut root, problems);
                }
            }
            Event::Text(piece) => {
                add_text(file, before..after, &piece.xml10_content(), &mut open, problems)
            }
            Event::CData(piece) => {
                add_text(file, before..after, &piece.xml10_content(), &mut open, problems)
            }
            Event::GeneralRef(reference) => {
                let resolved = match reference.resolve_char_ref() {
                    Ok(Some(character)) => Some(character.to_string()),
                    Ok(None) => quick_xml::escape::resolve_xml_entity(&reference.xml10_content())
                        .map(str::to_owned),
                    Err(_) => None,
                };
                match resolved {
                    Some(piece) => add_text(file, before..after, &piece, &mut open, problems),
                    None => problems.push(malformed(file, before..after, "unknown entity".into())),
                }
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    if let Some(element) = open.pop() {
        let message = format!("the element `{}` is never closed", element.name);
        problems.push(malformed(file, element.span.range, message));
        return None;
    }
    if root.is_none() {
        problems.push(malformed(file, 0..0, "the file has no element".into()).hint(start));
    }
    root
}

fn malformed(file: usize, range: Range<usize>, message: String) -> Problem {
    Problem {
        kind: ProblemKind::Malformed,
        span: Span { file, range },
        message: format!("malformed XML: {message}"),
        inside: None,
        hint: None,
    }
}

/// The problem of a `&` in an attribute that does not start an entity.
fn bad_entity(file: usize, value: &Span, text: &str, error: &str) -> Problem {
    let bare = text.match_indices('&').map(|(at, _)| at).find(|at| {
        let name: String =
            text[at + 1..].chars().take_while(|c| c.is_alphanumeric() || *c == '#').collect();
        name.is_empty() || !text[at + 1 + name.len()..].starts_with(';')
    });
    match bare {
        Some(at) => {
            let start = value.range.start + at;
            malformed(file, start..start + 1, "a bare `&` in an attribute".to_owned())
                .hint("in XML, & is written &amp; (and && is &amp;&amp;), < is written &lt;")
        }
        None => malformed(file, value.range.clone(), error.to_owned()),
    }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn tag_text<'a>(tag: &'a BytesStart<'_>) -> &'a str {
    tag
}

fn add_text(
    file: usize,
    range: Range<usize>,
    piece: &str,
    open: &mut [Element],
    problems: &mut Vec<Problem>,
) {
    match open.last_mut() {
        Some(element) => {
            if !piece.trim().is_empty() && element.text_span.is_none() {
                // If the piece is the raw text, the span excludes the white space around it.
                let lead = piece.len() - piece.trim_start().len();
                let exact = range.len() == piece.len();
                let start = if exact { range.start + lead } else { range.start };
                let end = if exact { start + piece.trim().len() } else { range.end };
                element.text_span = Some(Span { file, range: start..end });
            }
            element.text.push_str(piece);
        }
        None if piece.trim().trim_start_matches('\u{feff}').is_empty() => {}
        None => problems.push(malformed(file, range, "text outside the root element".into())),
    }
}

fn close(
    mut element: Element,
    open: &mut [Element],
    root: &mut Option<Element>,
    problems: &mut Vec<Problem>,
) {
    element.text = element.text.split_whitespace().collect::<Vec<_>>().join(" ");
    match open.last_mut() {
        Some(parent) => parent.children.push(element),
        None if root.is_none() => *root = Some(element),
        None => problems.push(malformed(
            element.span.file,
            element.span.range,
            "a second root element".into(),
        )),
    }
}

fn element(
    file: usize,
    text: &str,
    range: Range<usize>,
    tag: &BytesStart<'_>,
    problems: &mut Vec<Problem>,
) -> Element {
    let name_range = range.start + 1..range.start + 1 + tag.name().as_ref().len();
    let mut attributes = Vec::new();
    // `tag` borrows from `text`, but its lifetime in this function does not show that. So
    // positions are computed: the content starts after the `<`.
    let content = range.start + 1;
    let base = tag_text(tag).as_ptr() as usize;
    let place = |part: &str| {
        let start = content + (part.as_ptr() as usize).wrapping_sub(base);
        let end = start.wrapping_add(part.len());
        Span {
            file,
            range: if start <= end && end <= text.len() { start..end } else { range.clone() },
        }
    };
    for attribute in tag.attributes() {
        match attribute {
            Ok(attribute) => {
                let value_span = place(&attribute.value);
                let value = match attribute.normalized_value(XmlVersion::Implicit1_0) {
                    Ok(value) => value.into_owned(),
                    Err(error) => {
                        problems.push(bad_entity(
                            file,
                            &value_span,
                            &attribute.value,
                            &error.to_string(),
                        ));
                        continue;
                    }
                };
                let key: &str = attribute.key.as_ref();
                attributes.push(Attribute {
                    name: key.to_owned(),
                    value,
                    name_span: place(key),
                    value_span,
                });
            }
            Err(AttrError::Duplicated(again, _)) => {
                // `again` counts from the start of the tag's name.
                let start = (content + again).min(range.end);
                let name: String = text[floor(text, start)..]
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '-')
                    .collect();
                let message = format!("the attribute `{name}` is given twice");
                problems.push(malformed(file, start..start + name.len(), message));
            }
            Err(error) => problems.push(malformed(file, range.clone(), error.to_string())),
        }
    }
    Element {
        name: tag.name().as_ref().to_owned(),
        span: Span { file, range: range.clone() },
        name_span: Span { file, range: name_range },
        attributes,
        ..Element::default()
    }
}

/// The span of an attribute's value in an opening tag; the span of the whole tag if the attribute
/// is missing.
pub fn attribute_span(text: &str, tag: &Span, name: &str) -> Span {
    let Some(source) = text.get(tag.range.clone()) else { return tag.clone() };
    let mut ignored = Vec::new();
    let mut reader = Reader::from_str(source);
    let (Ok(Event::Start(start)) | Ok(Event::Empty(start))) = reader.read_event() else {
        return tag.clone();
    };
    let element = element(tag.file, source, 0..source.len(), &start, &mut ignored);
    match element.attributes.iter().find(|attribute| attribute.name == name) {
        Some(found) => Span {
            file: tag.file,
            range: found.value_span.range.start + tag.range.start
                ..found.value_span.range.end + tag.range.start,
        },
        None => tag.clone(),
    }
}

/// Index of an attribute in its element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct At(usize);

/// The attributes of a `rule`, in specifications and in files of rules.
#[derive(Debug, Deserialize, Default)]
#[serde(default)]
#[allow(missing_docs)]
pub struct RuleAttributes {
    pub id: Option<At>,
    pub severity: Option<At>,
    pub require: Option<At>,
    pub message: Option<At>,
    pub source: Option<At>,
    #[serde(rename = "doc")]
    _doc: Option<At>,
}

/// Reads the attributes of `element` as the struct `T`, whose members are of type `Option<At>`.
/// Reports unknown attributes.
pub fn attributes<'a, T: Deserialize<'a> + Default>(
    element: &'a Element,
    problems: &mut Vec<Problem>,
) -> T {
    T::deserialize(AttributeReader { element, problems, known: &[], next: 0 }).unwrap_or_default()
}

struct AttributeReader<'a, 'p> {
    element: &'a Element,
    problems: &'p mut Vec<Problem>,
    known: &'static [&'static str],
    next: usize,
}

impl<'de> Deserializer<'de> for AttributeReader<'de, '_> {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_map(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SerdeError> {
        self.known = fields;
        visitor.visit_map(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for AttributeReader<'de, '_> {
    type Error = SerdeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, SerdeError> {
        while let Some(attribute) = self.element.attributes.get(self.next) {
            if let Some(name) = self.known.iter().find(|name| **name == attribute.name) {
                return seed
                    .deserialize(serde::de::value::BorrowedStrDeserializer::new(name))
                    .map(Some);
            }
            let message = format!("<{}> has no attribute `{}`", self.element.name, attribute.name);
            let hint = suggest::hint(&attribute.name, self.known.iter().copied())
                .unwrap_or_else(|| format!("it may have: {}", self.known.join(", ")));
            self.problems.push(Problem {
                kind: ProblemKind::Attribute,
                span: attribute.name_span.clone(),
                message,
                inside: None,
                hint: Some(hint),
            });
            self.next += 1;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, SerdeError> {
        self.next += 1;
        seed.deserialize(Position(self.next - 1))
    }
}

/// A deserializer of an index to an [`At`] or an `Option<At>`.
struct Position(usize);

impl<'de> Deserializer<'de> for Position {
    type Error = SerdeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_u64(self.0 as u64)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SerdeError> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
