//! What a file consists of, for messages about files in which no work is found.

use super::Event;
use std::fmt;

/// Numbers of blocks by what they do. Pieces of a classic block count as blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Writes of memory.
    pub writes: u64,
    /// Bytes of memory that are written.
    pub bytes: u64,
    /// Entries of the global page table that are written.
    pub entries: u64,
    /// Writes of registers.
    pub registers: u64,
    /// Commands that are put into rings.
    pub commands: u64,
    /// Waits for a register or memory, and stated values of them.
    pub conditions: u64,
    /// Remarks.
    pub comments: u64,
    /// Other blocks, without the heads of files.
    pub others: u64,
}

impl Contents {
    /// Counts a block.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Header(_) => {}
            Event::Memory { bytes, .. } => {
                self.writes += 1;
                self.bytes += bytes.len() as u64;
            }
            Event::GlobalEntries { entries, .. } => self.entries += entries.len() as u64,
            Event::RegisterWrite { .. } => self.registers += 1,
            Event::Commands { .. } => self.commands += 1,
            Event::RegisterPoll { .. }
            | Event::MemoryPoll { .. }
            | Event::RegisterCompare { .. }
            | Event::MemoryCompare { .. } => self.conditions += 1,
            Event::Comment(_) => self.comments += 1,
            Event::Bitmap(_) | Event::Named { .. } | Event::Other { .. } => self.others += 1,
        }
    }
}

impl fmt::Display for Contents {
    /// Formats the numbers that are not 0: `2 writes of memory (80 bytes), 1 register write`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Contents { writes, bytes, entries, registers, commands, conditions, comments, others } =
            *self;
        let count = |count: u64, one: &str, many: &str| {
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
        };
        let parts = [
            count(writes, "write of memory", "writes of memory")
                .map(|text| format!("{text} ({bytes} bytes)")),
            count(entries, "entry of the global page table", "entries of the global page table"),
            count(registers, "register write", "register writes"),
            count(commands, "block of commands", "blocks of commands"),
            count(conditions, "wait or comparison", "waits or comparisons"),
            count(comments, "comment", "comments"),
            count(others, "other block", "other blocks"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => f.write_str("no blocks"),
            false => f.write_str(&parts.join(", ")),
        }
    }
}
