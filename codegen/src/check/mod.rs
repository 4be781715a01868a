//! The checks of a whole specification. SCHEMA.md lists the codes.
//!
//! Reading order: `names` (everything has one unique name), `register` (offsets of registers),
//! `field` (each field by itself), `layout` (fields among each other), `variant` (alternatives),
//! `condition` (comparisons), `instruction` (opcodes and lengths), `latch` (latched state). Files
//! of Mesa's, which do not say where they come from, are only checked for what would break a
//! reader: names and circles.

mod condition;
mod context;
mod field;
mod instruction;
mod latch;
mod layout;
mod names;
mod register;
mod variant;

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::model::Spec;
use context::{Check, for_each_scope};

/// All problems of a specification; empty if it can be emitted.
pub fn check(spec: &Spec) -> Vec<Diagnostic> {
    check_except(spec, &HashSet::new())
}

/// As [`check`], without the layout of `broken` containers (by index), which have unreadable parts.
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
