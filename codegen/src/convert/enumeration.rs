//! Reads enumerations with their values and sets, and engines.

use serde::Deserialize;

use super::attribute::{check_content, doc, flag, number_below, required};
use super::condition::placed;
use crate::diagnostic::Diagnostic;
use crate::expr;
use crate::model::{EngineBase, Enum, EnumValue, ValueSet};
use crate::xml::{self, At, Element};

#[derive(Deserialize, Default)]
#[serde(default)]
struct EngineAttributes {
    name: Option<At>,
    base: Option<At>,
    source: Option<At>,
    doc: Option<At>,
}

/// Reads an `engine` element.
pub(crate) fn engine(element: &Element, problems: &mut Vec<Diagnostic>) -> EngineBase {
    let a: EngineAttributes = xml::attributes(element, problems);
    check_content(element, &["doc"], problems);
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
    _value: Option<At>, // Mesa's tools allow it and ignore it
}

/// Reads an `enum` element.
pub(crate) fn named_enum(element: &Element, file: usize, problems: &mut Vec<Diagnostic>) -> Enum {
    let attributes: EnumAttributes = xml::attributes(element, problems);
    check_content(element, &["value", "set", "doc"], problems);
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

/// Reads the named sets of an enumeration after its values. A set may name earlier sets.
pub(crate) fn sets(element: &Element, list: &mut Enum, problems: &mut Vec<Diagnostic>) {
    for child in element.children.iter().filter(|child| child.name == "set") {
        let attributes: SetAttributes = xml::attributes(child, problems);
        check_content(child, &["doc"], problems);
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
    _dont_use: Option<At>, // Mesa's headers omit such a value; here it is read like others
}

/// Reads the values inside an enumeration or field.
pub(crate) fn values(element: &Element, problems: &mut Vec<Diagnostic>) -> Vec<EnumValue> {
    let mut values = Vec::new();
    for child in element.children.iter().filter(|child| child.name == "value") {
        let attributes: ValueAttributes = xml::attributes(child, problems);
        check_content(child, &["doc"], problems);
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
