//! The checks of a whole specification. SCHEMA.md lists the codes.
//!
//! Reading order: `names` (names are unique and references resolve), `register` (offsets of
//! registers), `field` (each field by itself), `layout` (gaps and overlaps), `variant`
//! (alternatives), `condition` (comparisons), `instruction` (opcodes and lengths), `latch` (latched
//! state).
//!
//! Mesa's files, which have no `source` attributes, are checked only for problems that would break
//! a reader: names, and structures that contain themselves.

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

/// Returns all problems of a specification. If there is no error, Rust code can be generated.
pub fn check(spec: &Spec) -> Vec<Diagnostic> {
    check_except(spec, &HashSet::new())
}

/// Does the same as [`check`], but checks only names, register offsets and single fields of the
/// `broken` containers (by index), because parts of them are unreadable.
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
