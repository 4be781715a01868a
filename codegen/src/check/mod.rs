//! What must hold of a whole specification. SCHEMA.md lists the codes.
//!
//! Reading order: `names` (what there is, and only once), `register` (places of registers), `field`
//! (each field by itself), `layout` (fields among each other), `variant` (alternatives),
//! `condition` (comparisons), `instruction` (opcodes and lengths), `latch` (latched state). Files of Mesa's, which do not
//! say where they come from, are only checked for what would break a reader: names and circles.

mod condition;
mod field;
mod instruction;
mod latch;
mod layout;
mod names;
mod register;
mod variant;

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::model::{Container, Field, Group, Span, Spec};
use crate::xml;

/// Everything wrong with a specification; empty if it can be emitted.
pub fn check(spec: &Spec) -> Vec<Diagnostic> {
    check_except(spec, &HashSet::new())
}

/// As [`check`], but leaves out the layout of containers (by index) of which parts could not be
/// read.
pub fn check_except(spec: &Spec, broken: &HashSet<usize>) -> Vec<Diagnostic> {
    let mut check = Check { spec, found: Vec::new() };
    names::check(&mut check);
    register::check(&mut check);
    for (index, container) in spec.containers.iter().enumerate() {
        if spec.files.get(container.file).is_some_and(|file| file.foreign) {
            continue;
        }
        for_each_scope(container, &mut |scope| {
            for field in scope.fields {
                field::check(&mut check, container, field);
            }
        });
        for view in &container.views {
            field::check(&mut check, container, &view.field);
        }
        if !broken.contains(&index) {
            layout::check(&mut check, container);
            variant::check(&mut check, container);
            condition::check(&mut check, container);
            instruction::check(&mut check, container);
            latch::check(&mut check, container);
        }
    }
    instruction::opcodes(&mut check, broken);
    check.found
}

/// A check under way.
pub(crate) struct Check<'a> {
    spec: &'a Spec,
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// The place of an attribute's value in an element, or of its tag.
    fn place(&self, tag: &Span, attribute: &str) -> Span {
        match self.spec.files.get(tag.file) {
            Some(file) => xml::attribute_span(&file.text, tag, attribute),
            None => tag.clone(),
        }
    }
}

/// Fields and groups that share bits: a container's own, or those of one group's element.
#[derive(Clone, Copy)]
struct Scope<'a> {
    fields: &'a [Field],
    groups: &'a [Group],
    /// Size in bits.
    bits: u32,
    /// The element that they stand in.
    span: &'a Span,
    /// None for the container itself.
    group: Option<&'a Group>,
}

/// Calls `f` with the container's own scope and that of each group, groups in groups too.
fn for_each_scope<'a>(container: &'a Container, f: &mut dyn FnMut(Scope<'a>)) {
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

/// Bits as people write them: `dw1 15:0`, `dw2 63:6` across dwords.
pub(crate) fn bits_text(start: u32, end: u32) -> String {
    let (dword, low) = (start / 32, start % 32);
    let high = end - dword * 32;
    if high == low { format!("dw{dword} {low}") } else { format!("dw{dword} {high}:{low}") }
}
