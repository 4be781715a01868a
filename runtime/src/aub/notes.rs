//! Notes about parts of a file that were left out.

use crate::submission::Note;

/// Largest number of stored notes; further ones are only counted.
const MAX_NOTES: usize = 64;

/// Collects the notes of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    notes: Vec<(u64, String)>,
    more: u64,
    counts: Vec<Count>,
    end: Option<String>,
}

/// Parts that were left out for the same reason.
#[derive(Clone, Debug)]
struct Count {
    position: u64,
    why: &'static str,
    count: u64,
    blocks: u64,
}

impl Notes {
    /// Adds a note about the block at a position of the file. Does nothing if a stored note has the
    /// same text.
    pub fn add(&mut self, position: u64, text: String) {
        if self.notes.iter().any(|note| note.1 == text) {
            return;
        }
        if self.notes.len() < MAX_NOTES {
            self.notes.push((position, text));
        } else {
            self.more += 1;
        }
    }

    /// Adds `count` to the number of parts that are left out for the reason `why`; does nothing if
    /// `count` is 0.
    pub fn count(&mut self, position: u64, why: &'static str, count: u64) {
        if count == 0 {
            return;
        }
        match self.counts.iter_mut().find(|known| known.why == why) {
            Some(known) => {
                known.count += count;
                known.blocks += 1;
            }
            None => self.counts.push(Count { position, why, count, blocks: 1 }),
        }
    }

    /// Records that the file ends early; the text has the position.
    pub fn end(&mut self, text: String) {
        self.end = Some(text);
    }

    /// The notes in the order of the file.
    pub fn list(self) -> Vec<Note> {
        let counted =
            self.counts.iter().map(|Count { position, why, count, blocks }| match blocks {
                1 => (*position, format!("{count} {why}")),
                _ => (*position, format!("{count} {why} (in {blocks} blocks from here on)")),
            });
        let mut placed: Vec<(u64, String)> = self.notes.iter().cloned().chain(counted).collect();
        placed.sort_by_key(|note| note.0);
        let at = |position| format!("byte {position:#x}");
        let mut list: Vec<Note> = placed
            .into_iter()
            .map(|(position, text)| Note { position: at(position), text, cut: false })
            .collect();
        let more = (self.more > 0).then(|| format!("and {} notes more", self.more));
        list.extend(more.map(Note::new));
        list.extend(self.end.map(|text| Note { cut: true, ..Note::new(text) }));
        list
    }
}
