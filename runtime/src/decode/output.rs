//! The output of a walk: passes records to the sink, counts them, and limits the number of decoded
//! dwords.

use super::fields::Unread;
use super::record::{Kind, Record};
use super::sink::{Sink, Summary};
use crate::memory::Memory;
use std::fmt;
use std::io;

/// The sink of a walk, and the counts of what was emitted so far.
pub(super) struct Output<'a> {
    sink: &'a mut dyn Sink,
    summary: Summary,
    max_dwords: u64,
    /// Dwords that may still be decoded.
    budget: u64,
    /// Records for reuse, with their allocations.
    spare: Vec<Record>,
}

impl<'a> Output<'a> {
    /// An output that stops the walk after `max_dwords`.
    pub fn new(sink: &'a mut dyn Sink, max_dwords: u64) -> Output<'a> {
        let summary = Summary::default();
        Output { sink, summary, max_dwords, budget: max_dwords, spare: Vec::new() }
    }

    /// Counts of what was emitted.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// An empty record. The caller returns it with [`reuse`](Self::reuse).
    pub fn new_record(
        &mut self,
        kind: Kind,
        depth: u32,
        address: u64,
        name: &'static str,
    ) -> Record {
        let mut record = self.spare.pop().unwrap_or_default();
        record.reset(kind, depth, address, name);
        record
    }

    /// Takes a record back for reuse.
    pub fn reuse(&mut self, record: Record) {
        self.spare.push(record);
    }

    /// Dwords that may still be decoded.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Subtracts dwords from the budget.
    pub fn spend(&mut self, dwords: u64) {
        self.budget = self.budget.saturating_sub(dwords);
    }

    /// True if the budget is used up. It then also emits a note.
    pub fn is_exhausted(&mut self, depth: u32, at: u64) -> io::Result<bool> {
        if self.budget > 0 {
            return Ok(false);
        }
        self.summary.limited = true;
        let dwords = self.max_dwords;
        self.note(depth, at, format_args!("stopped: {dwords} dwords were decoded"))?;
        Ok(true)
    }

    /// Counts a packet, and subtracts its dwords from the budget.
    pub fn count_packet(&mut self, dwords: u64) {
        self.summary.packets += 1;
        self.spend(dwords);
    }

    /// Counts problems.
    pub fn count_problems(&mut self, problems: u64) {
        self.summary.problems += problems;
    }

    /// Emits a record.
    pub fn record(&mut self, record: &Record) -> io::Result<()> {
        self.sink.record(record)
    }

    /// Emits and counts a packet that the tables do not have.
    pub fn unknown(&mut self, record: &Record) -> io::Result<()> {
        self.summary.unknown += 1;
        self.sink.record(record)
    }

    /// Emits a packet whose fields are not decoded yet, and counts its problems.
    pub fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        self.sink.packet(record, unread)?;
        self.summary.problems += record.problems;
        Ok(())
    }

    /// Emits a structure, with the memory that holds it, and counts the problems of its fields.
    pub fn structure(&mut self, record: &Record, memory: &dyn Memory) -> io::Result<()> {
        self.count_items(record);
        self.sink.structure(record, memory)
    }

    /// Counts the fields of a record that have an issue.
    pub fn count_items(&mut self, record: &Record) {
        self.summary.problems +=
            record.items.iter().filter(|item| item.issue.is_some()).count() as u64;
    }

    /// Emits a remark as a record of its own.
    pub fn note(&mut self, depth: u32, address: u64, text: fmt::Arguments<'_>) -> io::Result<()> {
        let mut record = self.new_record(Kind::Note, depth, address, "");
        _ = fmt::write(&mut record.note, text);
        let result = self.sink.record(&record);
        self.reuse(record);
        result
    }
}
