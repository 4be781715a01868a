//! Errors in conditions.

use std::ops::Range;

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is malformed.
    Syntax,
    /// A field, value, container or function does not exist.
    Name,
    /// A part of the condition has the wrong kind, such as a group instead of a field.
    Kind,
}

/// An error in a condition, with its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionError {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// Byte range in the condition's text.
    pub range: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// Advice.
    pub hint: Option<String>,
}

impl ConditionError {
    pub(super) fn new(
        kind: ErrorKind,
        range: Range<usize>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Box<Self> {
        Box::new(Self { kind, range, message: message.into(), hint })
    }

    pub(super) fn syntax(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Self::new(ErrorKind::Syntax, range, message, None)
    }

    pub(super) fn kind(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Self::new(ErrorKind::Kind, range, message, None)
    }

    pub(super) fn hint(mut self: Box<Self>, hint: impl Into<Option<String>>) -> Box<Self> {
        self.hint = hint.into();
        self
    }
}

/// A parsed condition or part of one, or the error.
pub(super) type Result<T> = std::result::Result<T, Box<ConditionError>>;
