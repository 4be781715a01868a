//! The packets around a violation: the offending packet with its dwords, the packets before it, and
//! the next packet.

use crate::decode::Record;
use genxml_core::members::Level;
use genxml_core::reflect::Container;
use std::sync::Arc;

/// Number of packets stored before the offending one.
const BEFORE: usize = 3;

/// The packets around a violation.
#[derive(Debug, Clone)]
pub struct Quote {
    /// Up to three packets before `packet`, in order.
    pub before: Vec<Line>,
    /// The packet that violates the rule, or that points to the violating structure.
    pub packet: Line,
    /// The dwords of `packet`, as far as they are in memory.
    pub dwords: Vec<u32>,
    /// The container of `packet`; `None` if the packet is not in the tables.
    pub container: Option<&'static Container>,
    /// The packet after `packet`, if there is one.
    pub after: Option<Line>,
}

impl Quote {
    /// Paths and values, as text, of the offending packet's fields that are not zero.
    pub fn fields(&self) -> Vec<(String, String)> {
        let mut out = Vec::new();
        if let Some(container) = self.container {
            crate::diff::values(Level::of(container, &self.dwords), &mut String::new(), &mut out);
        }
        out
    }
}

/// A quoted packet, without its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    /// GPU address.
    pub address: u64,
    /// First dword of the packet.
    pub header: u32,
    /// Name of the packet.
    pub name: &'static str,
    /// Length in dwords.
    pub length: u32,
}

impl Line {
    fn of(record: &Record) -> Line {
        let header = record.dwords.first().copied().unwrap_or(0);
        Line { address: record.address, header, name: record.name, length: record.length }
    }
}

/// The last packets of a submission.
#[derive(Debug, Default)]
pub(super) struct Last {
    /// A ring of lines; the newest has the number `count - 1`.
    lines: [Line; BEFORE + 1],
    count: usize,
    dwords: Vec<u32>,
    container: Option<&'static Container>,
}

impl Last {
    /// Forgets all packets, because another submission begins.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a packet as the newest one.
    pub fn packet(&mut self, record: &Record, container: Option<&'static Container>) {
        self.lines[self.count % (BEFORE + 1)] = Line::of(record);
        self.count += 1;
        self.dwords.clear();
        self.dwords.extend_from_slice(&record.dwords);
        self.container = container;
    }

    /// The newest packet, the packets before it, and `after`, the next packet. `None` before the
    /// first packet.
    pub fn quote(&self, after: Option<&Record>) -> Option<Arc<Quote>> {
        let newest = self.count.checked_sub(1)?;
        let line = |at: usize| self.lines[at % (BEFORE + 1)];
        Some(Arc::new(Quote {
            before: (newest.saturating_sub(BEFORE)..newest).map(line).collect(),
            packet: line(newest),
            dwords: self.dwords.clone(),
            container: self.container,
            after: after.map(Line::of),
        }))
    }
}
