//! The interface for consumers of the decoder's records.

use super::fields::Unread;
use super::record::Record;
use crate::memory::Memory;
use crate::submission::Submission;
use std::io;

/// A consumer of records, called as they are decoded.
pub trait Sink {
    /// Called when a submission starts.
    ///
    /// # Errors
    /// Any error of the output; decoding ends.
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        _ = submission;
        Ok(())
    }

    /// Called with the next record.
    ///
    /// # Errors
    /// Any error of the output; decoding ends.
    fn record(&mut self, record: &Record) -> io::Result<()>;

    /// Called with the next record if it is a packet; its fields are not decoded yet. Sinks that
    /// cache packets by their dwords implement this method. By default `unread` fills in
    /// [`Record::items`], and [`record`](Self::record) is called.
    ///
    /// # Errors
    /// Any error of the output; decoding ends.
    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        unread.items(record);
        self.record(record)
    }

    /// Called with the next record if it is a structure, and with the memory that holds it. Sinks
    /// that read the structure's targets implement this method. By default,
    /// [`record`](Self::record) is called.
    ///
    /// # Errors
    /// Any error of the output; decoding ends.
    fn structure(&mut self, record: &Record, memory: &dyn Memory) -> io::Result<()> {
        _ = memory;
        self.record(record)
    }

    /// Called after the last record.
    ///
    /// # Errors
    /// If buffered output cannot be written.
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
    /// Fields with an issue (reserved bits set, a value out of range and so on), and packets,
    /// structures and data that are cut short.
    pub problems: u64,
    /// True if the limit of dwords was reached, so that a part was not decoded.
    pub limited: bool,
    /// True if the output was closed, so that the rest was not decoded.
    pub cut: bool,
}

impl Summary {
    /// The summary of a decoding to an output. A closed pipe is not an error: the summary then has
    /// only [`cut`](Self::cut) set.
    ///
    /// # Errors
    /// Any error in `result` except a closed pipe.
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
