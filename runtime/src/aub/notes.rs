//! What was left out of a file, and where.

use crate::submission::Note;

/// Notes of one kind each that are kept; how many more there are is counted.
const MAX_NOTES: usize = 64;

/// The notes of a file, being collected.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    notes: Vec<(u64, String)>,
    more: u64,
    counts: Vec<Count>,
    end: Option<String>,
}

/// Things of one kind that were left out.
#[derive(Clone, Debug)]
struct Count {
    position: u64,
    why: &'static str,
    count: u64,
    blocks: u64,
}

impl Notes {
    /// Adds a note about the block at a byte of the file.
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

    /// Adds `count` to the things that are left out for a reason; nothing if it is 0.
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

    /// The file ends early; the text says where.
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
        let place = |position| format!("byte {position:#x}");
        let mut list: Vec<Note> = placed
            .into_iter()
            .map(|(position, text)| Note { place: place(position), text })
            .collect();
        let more = (self.more > 0).then(|| format!("and {} notes more", self.more));
        let rest = more.into_iter().chain(self.end);
        list.extend(rest.map(|text| Note { place: String::new(), text }));
        list
    }
}
