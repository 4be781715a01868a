//! What the engines of an AUB file execute.

use super::Reader;
use super::image::Image;
use super::notes::Notes;
use super::play::{Commands, Started, play, used};
use super::view::View;
use crate::submission::{Each, Note, Submission};
use std::io;

/// Gives every submission of an AUB file to `each`, in order; `name` is what they are called by.
///
/// A file is read as a stream: memory is needed for the pages that it writes, once each. A context
/// has the number of the page of its image in the global space, so it is the same as long as its
/// image is; what runs without an image, from rings that registers name and in classic files, is of
/// context 0.
///
/// Engines take no time: memory is as the file wrote it by then, and what an engine would have
/// written is not there.
///
/// # Errors
/// Those of `each`. What is wrong with the file is told to `notes`.
pub fn submissions(
    mut reader: Reader<'_>,
    name: &str,
    notes: &mut Vec<Note>,
    each: &mut Each<'_>,
) -> io::Result<()> {
    let mut left_out = Notes::default();
    let mut number = 0;
    let result =
        play(&mut reader, &mut Image::default(), &mut left_out, &mut |image, _, started| {
            let text = format!("{name} exec {number} at byte {:#x}", started.position);
            let memory = View::new(image, started.translation);
            each(&submission(&text, number, started, &memory))?;
            number += 1;
            Ok(())
        });
    notes.extend(left_out.list());
    result
}

/// What was started, as a submission.
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
