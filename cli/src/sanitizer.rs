//! The value of --sanitize.

use genxml_sim::inspect::sanitize::{self, Unknown};

/// Checks the name of a sanitizer.
///
/// # Errors
/// [`Unknown`] if there is no sanitizer of this name.
pub fn name(word: &str) -> Result<&'static str, Unknown> {
    sanitize::row(word).map(|row| row.name)
}
