//! Which ranges of memory a decoded dump reaches.

use crate::decode::{Record, Sink, Unread, Value};
use crate::memory::Memory;
use crate::submission::Submission;
use std::io;

/// A range of memory that may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: u64,
    end: u64,
    /// Position in the list that the caller gave.
    index: usize,
    reached: bool,
}

/// A sink that passes every record to another one, and notes which ranges of memory hold a record
/// or the target of an address.
pub struct Reached<'a> {
    inner: &'a mut dyn Sink,
    /// In order of their starts.
    spans: Vec<Span>,
    /// Length of the longest range.
    longest: u64,
}

impl<'a> Reached<'a> {
    /// A sink for ranges, each with its first address and the address after its end.
    pub fn new(spans: &[(u64, u64)], inner: &'a mut dyn Sink) -> Reached<'a> {
        let mut spans: Vec<Span> = spans
            .iter()
            .enumerate()
            .map(|(index, (start, end))| Span { start: *start, end: *end, index, reached: false })
            .collect();
        spans.sort_by_key(|span| span.start);
        let longest = spans.iter().map(|span| span.end - span.start.min(span.end)).max();
        Reached { inner, spans, longest: longest.unwrap_or(0) }
    }

    /// The indices of the ranges that nothing has reached, in order.
    pub fn unreached(&self) -> Vec<usize> {
        let mut left: Vec<usize> =
            self.spans.iter().filter(|span| !span.reached).map(|span| span.index).collect();
        left.sort_unstable();
        left
    }

    fn mark(&mut self, address: u64) {
        let end = self.spans.partition_point(|span| span.start <= address);
        let first = address.saturating_sub(self.longest);
        for span in self.spans[..end].iter_mut().rev() {
            if span.start < first {
                break;
            }
            span.reached |= address < span.end;
        }
    }

    fn mark_record(&mut self, record: &Record) {
        self.mark(record.address);
        for item in &record.items {
            if let Value::Address { absolute: Some(address), .. } = item.value {
                self.mark(address);
            }
        }
    }
}

impl Sink for Reached<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.mark(submission.address);
        self.inner.section(submission)
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.mark_record(record);
        self.inner.record(record)
    }

    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        self.inner.packet(record, unread)?;
        unread.items(record);
        self.mark_record(record);
        Ok(())
    }

    fn structure(&mut self, record: &Record, memory: &dyn Memory) -> io::Result<()> {
        self.mark_record(record);
        self.inner.structure(record, memory)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.inner.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_ranges() {
        let mut nothing = |_: &Record| Ok(());
        let spans = [(0x3000, 0x4000), (0x1000, 0x2000), (0x1800, 0x1900), (0x3000, 0x3000)];
        let mut reached = Reached::new(&spans, &mut nothing);
        reached.mark(0x1fff);
        reached.mark(0x2000);
        assert_eq!(reached.unreached(), [0, 2, 3]);
        reached.mark(0x1850);
        reached.record(&Record { address: 0x3000, ..Record::default() }).unwrap();
        assert_eq!(reached.unreached(), [3]);
    }
}
