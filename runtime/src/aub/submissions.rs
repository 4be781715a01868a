//! The work of the engines of an AUB file, as submissions.

use super::Reader;
use super::image::Image;
use super::notes::Notes;
use super::play::{Commands, Started, play, used};
use super::view::View;
use crate::submission::{Each, Note, Submission};
use std::io;

/// Passes every submission of an AUB file to `each`, in order; their names begin with `name`.
///
/// The file is read as a stream, so memory is needed only for the pages that it writes. The number
/// of a context is the page number of its image in the global space. Work without an image (rings
/// set by registers, and classic files) has context 0.
///
/// Engines are not simulated: memory has only the writes of the file so far, not those of engines.
///
/// # Errors
/// Errors returned by `each`. Problems of the file go to `notes`.
pub fn submissions(
    mut reader: Reader<'_>,
    name: &str,
    notes: &mut Vec<Note>,
    each: &mut Each<'_>,
) -> io::Result<()> {
    submissions_of(&mut reader, name, notes, each)
}

/// [`submissions`], with a reader that the caller keeps.
pub(crate) fn submissions_of(
    reader: &mut Reader<'_>,
    name: &str,
    notes: &mut Vec<Note>,
    each: &mut Each<'_>,
) -> io::Result<()> {
    let mut left_out = Notes::default();
    let mut number = 0;
    let result = play(reader, &mut Image::default(), &mut left_out, &mut |image, _, started| {
        let text = format!("{name} exec {number} at byte {:#x}", started.position);
        let memory = View::new(image, started.translation);
        each(&submission(&text, number, started, &memory))?;
        number += 1;
        Ok(())
    });
    notes.extend(left_out.list());
    result
}

/// Started work as a submission.
pub(super) fn submission<'a>(
    name: &'a str,
    number: u64,
    started: &Started,
    memory: &'a View<'_>,
) -> Submission<'a> {
    let (address, length, ring) = match started.commands {
        Commands::Ring(ring) => (ring.start + ring.head, used(&ring), Some(ring)),
        Commands::Row { address, length } => (address, length, None),
    };
    let Started { context, engine, .. } = *started;
    Submission { name, number, context, engine, memory, address, length, global: true, ring }
}
