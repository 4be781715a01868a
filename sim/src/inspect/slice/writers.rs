//! Who wrote ranges of memory: compares their bytes after each packet.

use super::clock::Clock;
use crate::inspect::history::Kind;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::place::Place;
use crate::mem::{Memory, PAGE};

/// A change of a range of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// What changed it.
    pub kind: Kind,
    /// Number of the submission, from 1 on. For the host, the submission that follows.
    pub submission: u64,
    /// The caller's number of the submission.
    pub label: Option<u64>,
    /// Number of the packet in the run, from 1 on; `None` for the host.
    pub packet: Option<u64>,
    /// The packet; `None` for the host.
    pub at: Option<Place>,
    /// Number of the draw, from 1 on.
    pub draw: Option<u64>,
    /// The bytes before; `None` if the memory did not exist, or if nothing ran before.
    pub old: Option<Vec<u8>>,
    /// The bytes after.
    pub new: Vec<u8>,
}

/// A range of memory, by physical addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// Physical address and number of bytes of each piece, in order.
    pub pieces: Vec<(u64, usize)>,
}

impl Span {
    /// `bytes` bytes from graphics address `address` on. `None` if a part is not mapped.
    pub fn new(address: u64, bytes: u64, translate: &dyn Fn(u64) -> Option<u64>) -> Option<Span> {
        let (mut at, mut left, mut pieces) = (address, bytes, Vec::new());
        while left > 0 {
            let here = left.min(PAGE - at % PAGE);
            pieces.push((translate(at)?, usize::try_from(here).ok()?));
            (at, left) = (at.wrapping_add(here), left - here);
        }
        Some(Span { pieces })
    }

    /// `bytes` contiguous bytes from a physical address on.
    pub fn physical(physical: u64, bytes: usize) -> Span {
        Span { pieces: vec![(physical, bytes)] }
    }

    /// True if the range has one of `bytes` bytes from a physical address on.
    pub fn overlaps(&self, physical: u64, bytes: u64) -> bool {
        self.pieces.iter().any(|(first, length)| {
            *first < physical.saturating_add(bytes)
                && physical < first.saturating_add(*length as u64)
        })
    }

    fn read(&self, memory: &Memory) -> Option<Vec<u8>> {
        let mut bytes = vec![0; self.pieces.iter().map(|(_, length)| length).sum()];
        let mut rest = &mut bytes[..];
        for (physical, length) in &self.pieces {
            let (piece, after) = rest.split_at_mut(*length);
            memory.read_physical(*physical, piece)?;
            rest = after;
        }
        Some(bytes)
    }
}

/// A range that is watched.
#[derive(Clone, Debug)]
struct Watched {
    span: Span,
    now: Option<Vec<u8>>,
    seen: bool,
    changes: Vec<Change>,
}

/// Records all changes of ranges of memory.
#[derive(Debug)]
pub struct Writers {
    clock: Clock,
    label: Option<u64>,
    /// Packets from this number on do not count.
    until: Option<u64>,
    /// The draw that is being executed.
    draw: Option<u64>,
    ranges: Vec<Watched>,
}

impl Writers {
    /// Watches ranges up to packet number `until`, which does not count.
    pub fn new(spans: impl IntoIterator<Item = Span>, until: Option<u64>) -> Writers {
        let watched = |span| Watched { span, now: None, seen: false, changes: Vec::new() };
        Writers {
            clock: Clock::default(),
            label: None,
            until,
            draw: None,
            ranges: spans.into_iter().map(watched).collect(),
        }
    }

    /// The number that the caller gives to the following submissions.
    pub fn label(&mut self, label: u64) {
        self.label = Some(label);
    }

    /// True if later packets do not count.
    pub fn is_done(&self) -> bool {
        self.until.is_some_and(|until| self.clock.packets + 1 >= until)
    }

    /// The changes of each range, in order.
    pub fn finish(self) -> Vec<Vec<Change>> {
        self.ranges.into_iter().map(|range| range.changes).collect()
    }

    /// Compares memory, for changes by the host after the last submission.
    pub fn look(&mut self, memory: &Memory) {
        if !self.is_done() {
            self.compare(None, memory);
        }
    }

    fn compare(&mut self, after: Option<Place>, memory: &Memory) {
        let draw = self.draw.take();
        for range in &mut self.ranges {
            let new = range.span.read(memory);
            let first = !std::mem::replace(&mut range.seen, true);
            if new == range.now && !first {
                continue;
            }
            let old = std::mem::replace(&mut range.now, new.clone());
            let Some(new) = new else { continue };
            range.changes.push(Change {
                kind: match (draw, after) {
                    (Some(_), _) => Kind::Draw,
                    (None, Some(at)) if !first => Kind::of(at.packet, at.engine, true),
                    _ => Kind::Host,
                },
                submission: match after {
                    Some(_) => self.clock.submissions,
                    None => self.clock.submissions + 1,
                },
                label: self.label,
                packet: after.map(|_| self.clock.packets),
                at: after,
                draw,
                old,
                new,
            });
        }
    }
}

impl Observer for Writers {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        // The host can write after the last packet that counts, before a new submission.
        let is_over = self.until.is_some_and(|until| self.clock.packets >= until);
        let is_done = self.is_done();
        self.clock.event(event);
        match event {
            Event::Draw(_) => self.draw = Some(self.clock.draws),
            Event::Memory { after: None, memory } if !is_over => self.compare(None, memory),
            Event::Memory { after, memory } if !is_done => self.compare(*after, memory),
            _ => {}
        }
    }
}
