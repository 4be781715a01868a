//! Files of a specification, and spans of their text.

pub use genxml_syntax::xml::Span;

/// A file of the specification.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Path, as diagnostics print it.
    pub path: String,
    /// Name of the unit: the file name without suffix.
    pub unit: String,
    /// The feature of the generating crate that enables the unit's types (`feature`); `None` if
    /// they are always enabled.
    pub feature: Option<String>,
    /// Pipelines of the unit's instructions without their own attribute (`pipeline`), as in
    /// [`Kind::Instruction`](crate::model::Kind::Instruction).
    pub pipelines: u8,
    /// The whole text.
    pub text: String,
    /// True if the file is read by Mesa's rules, which allow gaps and overlaps.
    pub foreign: bool,
}
