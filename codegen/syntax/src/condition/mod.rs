//! Conditions: from text to a [`Cond`] whose names are resolved. The grammar is in SCHEMA.md.
//!
//! `parse` reads the text, `resolve` resolves its names. The names are those of a specification,
//! which the caller supplies as [`Names`].
//!
//! * [`parse()`]: the condition of a field, rule or view
//! * [`set`]: the values of a set of an enumeration

mod cond;
mod error;
mod names;
mod parse;
mod resolve;

pub use cond::{Base, Cond, FieldRef, GroupRef};
pub use error::{ConditionError, ErrorKind};
pub use names::{Field, Group, Members, Names, Type};
pub use resolve::{Place, Scope};

use error::Result;

/// Parses a condition and resolves its names.
///
/// # Errors
/// If the text is malformed, if a name does not exist, or if a part of the condition has the wrong
/// kind, such as a group instead of a field.
pub fn parse<'a, N: Names<'a>>(
    text: &str,
    names: N,
    scope: Scope<'a, N>,
) -> Result<Cond<N::Container, N::List>> {
    resolve::cond(parse::tree(text)?, names, scope)
}

/// Parses the values of a set of the enumeration `list`: values, ranges and other sets, separated
/// by spaces or commas. Returns ascending ranges (first, last) that do not touch.
///
/// # Errors
/// As [`parse()`].
pub fn set<'a, N: Names<'a>>(text: &str, names: N, list: N::List) -> Result<Vec<(u64, u64)>> {
    resolve::set(parse::words(text)?, names, list)
}
