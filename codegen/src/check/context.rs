//! The data that all checks share: the specification, the problems found so far, and scopes of
//! fields.

use crate::diagnostic::Diagnostic;
use crate::model::{Container, Field, Group, Span, Spec};
use crate::xml;

/// The state of the checks.
pub(super) struct Check<'a> {
    pub spec: &'a Spec,
    pub found: Vec<Diagnostic>,
}

impl Check<'_> {
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// The span of an attribute's value; the span of the opening tag if the attribute is missing.
    pub fn place(&self, tag: &Span, attribute: &str) -> Span {
        match self.spec.files.get(tag.file) {
            Some(file) => xml::attribute_span(&file.text, tag, attribute),
            None => tag.clone(),
        }
    }
}

/// The fields and groups of one bit range: a whole container, or one element of a group.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub fields: &'a [Field],
    pub groups: &'a [Group],
    /// Size in bits.
    pub bits: u32,
    /// The opening tag of the container or group.
    pub span: &'a Span,
    /// The group; `None` for the container itself.
    pub group: Option<&'a Group>,
}

/// Calls `f` with the scope of the container, then with that of each group, nested groups included.
pub(super) fn for_each_scope<'a>(container: &'a Container, f: &mut dyn FnMut(Scope<'a>)) {
    fn visit<'a>(groups: &'a [Group], f: &mut dyn FnMut(Scope<'a>)) {
        for group in groups {
            f(Scope {
                fields: &group.fields,
                groups: &group.groups,
                bits: group.bits,
                span: &group.span,
                group: Some(group),
            });
            visit(&group.groups, f);
        }
    }
    f(Scope {
        fields: &container.fields,
        groups: &container.groups,
        bits: container.bits,
        span: &container.span,
        group: None,
    });
    visit(&container.groups, f);
}
