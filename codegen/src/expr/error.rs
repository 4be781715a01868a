//! Errors in conditions.

use std::ops::Range;

use crate::diagnostic::Code;

/// An error in a condition, with its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprError {
    /// [`Code::Expression`], [`Code::ExpressionName`] or [`Code::ExpressionKind`].
    pub code: Code,
    /// Byte range in the condition's text.
    pub range: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// Advice.
    pub hint: Option<String>,
}

impl ExprError {
    pub(super) fn new(
        code: Code,
        range: Range<usize>,
        message: impl Into<String>,
        hint: Option<String>,
    ) -> Box<Self> {
        Box::new(Self { code, range, message: message.into(), hint })
    }

    pub(super) fn syntax(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Self::new(Code::Expression, range, message, None)
    }

    pub(super) fn kind(range: Range<usize>, message: impl Into<String>) -> Box<Self> {
        Self::new(Code::ExpressionKind, range, message, None)
    }

    pub(super) fn hint(mut self: Box<Self>, hint: impl Into<Option<String>>) -> Box<Self> {
        self.hint = hint.into();
        self
    }
}

/// A parsed condition or part of one, or the error.
pub(super) type Result<T> = std::result::Result<T, Box<ExprError>>;
