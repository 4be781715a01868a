//! What every check uses: the specification, the problems found, and scopes of fields.

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

    /// The span of an attribute's value in an element, or of its tag.
    pub fn place(&self, tag: &Span, attribute: &str) -> Span {
        match self.spec.files.get(tag.file) {
            Some(file) => xml::attribute_span(&file.text, tag, attribute),
            None => tag.clone(),
        }
    }
}

/// Fields and groups that share bits: a container's own, or those of one group's element.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub fields: &'a [Field],
    pub groups: &'a [Group],
    /// Size in bits.
    pub bits: u32,
    /// The element that contains them.
    pub span: &'a Span,
    /// None for the container itself.
    pub group: Option<&'a Group>,
}

/// Calls `f` with the container's own scope and that of each group, groups in groups too.
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
