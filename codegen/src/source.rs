//! Files of a specification, and spans of their text.

use std::ops::Range;

/// A file of the specification.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path as shown in diagnostics.
    pub path: String,
    /// Name of the unit: the file's stem.
    pub unit: String,
    /// The feature of the generating crate that the unit's types need (`feature`); none: they are
    /// always there.
    pub feature: Option<String>,
    /// Pipelines that the unit's instructions need unless they say otherwise (`pipeline`), as in
    /// [`Kind::Instruction`](crate::model::Kind::Instruction).
    pub pipelines: u8,
    /// The whole text.
    pub text: String,
    /// No element has a `source`, here or in another file of the specification: a file of Mesa's,
    /// in which gaps and overlaps are allowed.
    pub foreign: bool,
}

/// A part of a file: bytes `range` of the specification's file number `file`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    /// Index of the file.
    pub file: usize,
    /// Byte range.
    pub range: Range<usize>,
}
