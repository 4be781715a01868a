//! What the engines of an AUB file execute.

use super::Reader;
use crate::dump::{Each, Note};
use std::io;

/// Gives every submission of an AUB file to `each`, in order; `name` is what they are called by.
///
/// # Errors
/// Those of `each`. What is wrong with the file is told to `notes`.
pub fn submissions(
    reader: Reader<'_>,
    name: &str,
    notes: &mut Vec<Note>,
    each: &mut Each<'_>,
) -> io::Result<()> {
    _ = (reader, each);
    let text = format!("{name}: AUB files are executed by genx run, but not decoded in this version");
    notes.push(Note { place: String::new(), text });
    Ok(())
}
