//! Parses conditions: the text of `exists-if` to an [`Expr`], the text of `require` to a [`Cond`].
//! The grammar is in SCHEMA.md.
//!
//! `parse` reads the text, `resolve` resolves its names, `text` formats a condition, `error` has
//! the error type.

mod error;
mod parse;
mod resolve;
mod text;

use crate::model::{Cond, Enum, Expr, Spec};
pub use error::ExprError;
use error::Result;
pub use resolve::Scope;
pub use text::{display, display_with, symbol};

/// Parses the condition of a field and resolves its names.
pub fn parse(text: &str, scope: Scope<'_>) -> Result<Expr> {
    resolve::small(parse::tree(text)?, scope)
}

/// Parses the condition of a rule of the container with this index and resolves its names.
pub fn parse_rule(text: &str, spec: &Spec, container: usize) -> Result<Cond> {
    resolve::rule(parse::tree(text)?, spec, container)
}

/// Parses the condition of a view of the container with this index and resolves its names.
pub fn parse_view(text: &str, spec: &Spec, container: usize) -> Result<Cond> {
    resolve::view(parse::tree(text)?, spec, container)
}

/// Parses the values of a `<set>` of an enumeration: values, ranges and earlier sets, separated by
/// spaces or commas.
pub fn parse_set(text: &str, list: &Enum) -> Result<Vec<(u64, u64)>> {
    resolve::set(parse::words(text)?, list)
}
