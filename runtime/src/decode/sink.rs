//! What takes the records of the decoder.

use super::fields::Unread;
use super::record::Record;
use crate::memory::Memory;
use crate::submission::Submission;
use std::io;

/// Takes records as they are decoded.
pub trait Sink {
    /// A submission starts.
    ///
    /// # Errors
    /// Whatever stops the output; decoding ends.
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        _ = submission;
        Ok(())
    }

    /// The next record.
    ///
    /// # Errors
    /// Whatever stops the output; decoding ends.
    fn record(&mut self, record: &Record) -> io::Result<()>;

    /// The next record, a packet whose fields are not decoded yet. For sinks that cache packets by
    /// their dwords; other sinks let `unread` fill in [`Record::items`].
    ///
    /// # Errors
    /// Whatever stops the output; decoding ends.
    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        unread.items(record);
        self.record(record)
    }

    /// The next record, a structure, with the memory that holds it, for sinks that read what it
    /// points to.
    ///
    /// # Errors
    /// Whatever stops the output; decoding ends.
    fn structure(&mut self, record: &Record, memory: &dyn Memory) -> io::Result<()> {
        _ = memory;
        self.record(record)
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// If what was collected cannot be written.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A function is a sink of records.
impl<F: FnMut(&Record) -> io::Result<()>> Sink for F {
    fn record(&mut self, record: &Record) -> io::Result<()> {
        self(record)
    }
}

/// Counts of what was decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Packets, unknown ones included.
    pub packets: u64,
    /// Packets that are not in the tables.
    pub unknown: u64,
    /// Fields with reserved bits set, values out of range and so on, and packets that are cut
    /// short.
    pub problems: u64,
    /// The limit of dwords was reached and something was left out.
    pub limited: bool,
    /// The output was closed, and the rest was not decoded.
    pub cut: bool,
}

impl Summary {
    /// The summary of a decoding to an output. A closed pipe is not an error: then only
    /// [`cut`](Self::cut) is set.
    ///
    /// # Errors
    /// Those of `result` other than a closed pipe.
    pub fn of_output(result: io::Result<Summary>) -> io::Result<Summary> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Summary { cut: true, ..Summary::default() })
            }
            other => other,
        }
    }

    /// Adds the counts of another decoding.
    pub(super) fn add(&mut self, other: Summary) {
        self.packets += other.packets;
        self.unknown += other.unknown;
        self.problems += other.problems;
        self.limited |= other.limited;
    }
}
