//! What must hold of a whole specification.
use crate::diagnostic::Diagnostic;
use crate::model::Spec;
use std::collections::HashSet;
/// Everything wrong.
pub fn check(spec: &Spec) -> Vec<Diagnostic> {
    check_except(spec, &HashSet::new())
}
/// As check.
pub fn check_except(_spec: &Spec, _broken: &HashSet<usize>) -> Vec<Diagnostic> {
    Vec::new()
}
