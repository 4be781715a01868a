//! Reads attributes of an element, and checks its content.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::xml::{At, Attribute, Element};
use genxml_syntax::number::number;
use genxml_syntax::suggest;

/// Returns the attribute. Reports a problem if it is missing or empty.
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

/// Reports an element that is not allowed inside `parent`.
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

/// Reports text inside an element, and elements other than the `known` ones.
pub(crate) fn check_content(element: &Element, known: &[&str], problems: &mut Vec<Diagnostic>) {
    no_text(element, problems);
    for child in element.children.iter().filter(|child| !known.contains(&child.name.as_str())) {
        unknown_element(child, element, known, problems);
    }
}

/// The text of the `doc` attribute, or of the `<doc>` child.
pub(crate) fn doc(element: &Element, at: Option<At>) -> String {
    match at {
        Some(at) => element.at(at).value.split_whitespace().collect::<Vec<_>>().join(" "),
        None => {
            let child = element.children.iter().find(|child| child.name == "doc");
            child.map(|child| child.text.clone()).unwrap_or_default()
        }
    }
}

/// Parses a number below `limit`; reports a problem otherwise.
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
    match number(text) {
        Some(value) if value < limit => Some(value),
        Some(value) => {
            let name = &attribute.name;
            problems.push(report(format!("`{name}` is {value}, but must be less than {limit}")));
            None
        }
        None => {
            problems.push(report(format!("`{}` is not a number: `{text}`", attribute.name)));
            None
        }
    }
}

/// Parses `true`, `1`, `false` or `0`. A missing or wrong attribute is false.
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

/// Returns the value that `words` gives for the attribute's text. Reports a text that is not among
/// `words`.
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

/// Parses words joined by vertical bars, and returns their bits combined. Reports unknown words.
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
