//! Elements and attributes of the specification, and their problems as diagnostics.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use genxml_syntax::xml::{self, Problem, ProblemKind};
use serde::Deserialize;

pub(crate) use genxml_syntax::xml::{At, Attribute, Element, RuleAttributes};

/// Parses `text` and returns its root element. Reports malformed parts; skips comments and
/// processing instructions.
pub(crate) fn parse(file: usize, text: &str, problems: &mut Vec<Diagnostic>) -> Option<Element> {
    let mut found = Vec::new();
    let start = "a specification starts with <genxml name=\"BDW\" gen=\"8\">";
    let root = xml::parse(file, text, start, &mut found);
    problems.extend(found.into_iter().map(diagnostic));
    root
}

/// Reads the attributes of `element` as the struct `T`, whose members are of type `Option<At>`.
/// Reports unknown attributes.
pub(crate) fn attributes<'a, T: Deserialize<'a> + Default>(
    element: &'a Element,
    problems: &mut Vec<Diagnostic>,
) -> T {
    let mut found = Vec::new();
    let attributes = xml::attributes(element, &mut found);
    problems.extend(found.into_iter().map(diagnostic));
    attributes
}

/// The span of an attribute's value in an opening tag; the span of the whole tag if the attribute
/// is missing.
pub(crate) fn attribute_span(text: &str, tag: &Span, name: &str) -> Span {
    xml::attribute_span(text, tag, name)
}

fn diagnostic(problem: Problem) -> Diagnostic {
    let Problem { kind, span, message, inside, hint } = problem;
    let (code, label) = match kind {
        ProblemKind::Malformed => (Code::Xml, ""),
        ProblemKind::Attribute => (Code::Attribute, "unknown attribute"),
    };
    let found = Diagnostic::new(code, span, message).label(label).maybe_hint(hint);
    match inside {
        Some(element) => found.also(element, "inside this element"),
        None => found,
    }
}
