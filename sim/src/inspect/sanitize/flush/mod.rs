//! The sanitizer `flush`: data that passes from one cache to another without the flush or the
//! invalidation that it needs.
//!
//! The model has no caches. For each line of 64 bytes, the sanitizer records the latest write to
//! each byte, with the cache that it went through. It also records which caches have read the line,
//! and when. It reports a read
//! * if the data is still in another cache that was not flushed after the write ([`rules`] has a
//!   rule for each such cache);
//! * if the cache of the reader may still hold an older copy of the line: it read the line before
//!   the written data became visible in memory, and was not invalidated after that read.
//!
//! It also reports a write over data that is still in another cache: when that cache is flushed,
//! its older data replaces the newer one.
//!
//! Lines are identified by physical address. So aliases, contexts and engines count: each engine
//! has its own caches.
//!
//! * [`caches`]: through which cache each client accesses memory, and when it was flushed;
//! * [`lines`]: the lines;
//! * [`rules`]: the rules with their sources.
//!
//! What the kernel does at the boundaries of a submission is assumed: see
//! [`caches::Caches::begin`] and [`caches::Caches::end`].

pub mod caches;
pub mod lines;
pub mod rules;

pub use rules::RULES;

use super::finding::{Finding, Rule, Side};
use super::sanitizer::Sanitize;
use crate::machine::events::{Event, Now};
use crate::machine::fault::{InKernel, Place};
use crate::mem::{Access, Client};
use caches::{Caches, Holder, Path, Time};
use genxml::core::Fixed as _;
use genxml::engine::EngineId;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::mi::PipeControl;
use lines::{Fill, LINE, Lines, Write};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// Index in [`Flush::authors`] of the packet or instruction that made an access.
type Author = u32;

/// What distinguishes places: engine, addresses of packet and batch, kernel and instruction.
type Key = (EngineId, u64, u64, Option<(u64, u32)>);

/// The sanitizer.
#[derive(Debug, Default)]
pub struct Flush {
    caches: Caches,
    lines: Lines,
    /// The packets and instructions that made accesses.
    authors: Vec<Place>,
    /// Numbers of the places.
    numbers: FxHashMap<Key, Author>,
    /// The place of the latest access.
    latest: Option<(Key, Author)>,
    /// The latest message to the render cache of the current draw, and its thread. The pipeline
    /// executes the writes of a thread when the thread has ended, so writes to several targets are
    /// all attributed to the last message.
    rendering: Option<(InKernel, u32)>,
    /// The latest read: number of the line, path, and the time after it.
    latest_read: Option<(u64, Path, Time)>,
    findings: Vec<Finding>,
    /// Index of a finding by rule, first side and second side.
    known: HashMap<(&'static str, Author, Author), usize>,
}

impl Sanitize for Flush {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        match event {
            Event::Accesses { at, thread, list, .. } => {
                for access in *list {
                    match self.rendering.filter(|_| access.client == Client::RenderTarget) {
                        Some((message, thread)) => {
                            let at = Place { thread: Some(message), ..*at };
                            self.access(access, &at, Some(thread));
                        }
                        None => self.access(access, at, *thread),
                    }
                }
            }
            Event::Message { kernel, thread, ip, function, .. }
                if *function == SharedFunction::DataPortRender =>
            {
                self.rendering = Some((InKernel { kernel: *kernel, ip: *ip }, *thread));
            }
            Event::Draw(_) => self.rendering = None,
            Event::Flush { cache, invalidates } => {
                self.caches.command(now.engine, *cache, *invalidates);
            }
            Event::Packet { at, dwords, .. }
                if at.packet == PipeControl::NAME
                    && PipeControl::read_lossy(dwords).command_streamer_stall_enable =>
            {
                self.caches.stalled(now.engine);
            }
            Event::Submission { .. } => self.caches.begin(now.engine),
            Event::SubmissionEnd => {
                let idle = self.caches.end(now.engine);
                if idle {
                    self.lines.clear();
                }
            }
            _ => {}
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn wants_accesses(&self) -> bool {
        true
    }
}

impl Flush {
    /// Checks and records an access, line by line.
    fn access(&mut self, access: &Access, at: &Place, thread: Option<u32>) {
        let path = Path::new(at.engine, Holder::of(access.client));
        let end = access.physical + u64::from(access.bytes);
        let mut physical = access.physical;
        while physical < end {
            let next = (physical / LINE + 1) * LINE;
            let piece = Piece {
                physical,
                address: access.address + (physical - access.physical),
                bytes: next.min(end) - physical,
                path,
                thread,
            };
            match access.write {
                true => self.write(&piece, at),
                false => self.read(&piece, at),
            }
            physical = next;
        }
    }

    fn read(&mut self, piece: &Piece, at: &Place) {
        let mask = lines::mask(piece.physical, piece.bytes);
        let (path, caches) = (piece.path, &mut self.caches);
        // Consecutive reads are often in the same line. If the line has no writes and nothing has
        // happened since the latest read, this read gives the same result and is skipped.
        let number = piece.physical / LINE;
        if self.latest_read == Some((number, path, caches.now())) {
            return;
        }
        let line = self.lines.line(piece.physical);
        let filled = line.fills.iter_mut().find(|fill| fill.path == path);
        let filled = match filled {
            Some(fill) if caches.holds(path, fill.time) => Some(fill.time),
            Some(fill) => {
                fill.time = caches.tick();
                None
            }
            None if path.holder().keeps_lines() => {
                line.fills.push(Fill { time: caches.tick(), path });
                None
            }
            None => None,
        };
        let mut broken: Option<(&'static Rule, Write)> = None;
        for write in line.writes.iter().filter(|write| write.mask & mask != 0) {
            if write.path == path {
                continue;
            }
            let rule = match (caches.visible(write.path, write.time), filled) {
                (None, _) => rules::not_flushed(write.path.holder()),
                (Some(visible), Some(filled)) if filled < visible => {
                    rules::not_invalidated(path.holder())
                }
                _ => continue,
            };
            broken = Some((rule, *write));
        }
        let plain = line.writes.is_empty();
        self.latest_read = plain.then(|| (number, path, self.caches.now()));
        if let Some((rule, write)) = broken {
            self.report(rule, &write, mask, piece, "read", at);
        }
    }

    fn write(&mut self, piece: &Piece, at: &Place) {
        let mask = lines::mask(piece.physical, piece.bytes);
        let author = self.author(at);
        let (path, caches) = (piece.path, &mut self.caches);
        let time = caches.tick();
        let line = self.lines.line(piece.physical);
        let address = piece.address.wrapping_sub(piece.physical % LINE);
        let thread = piece.thread;
        // Most writes continue those of the same instruction.
        if let [only] = &mut line.writes[..]
            && (only.path, only.author) == (path, author)
            && caches.visible(path, only.time).is_none()
        {
            if only.mask & !mask == 0 {
                (only.thread, only.address) = (thread, address);
            }
            only.mask |= mask;
            only.time = time;
            return;
        }
        let mut broken: Option<Write> = None;
        for write in line.writes.iter_mut().filter(|write| write.mask & mask != 0) {
            if write.path != path && caches.visible(write.path, write.time).is_none() {
                broken = Some(*write);
            }
            write.mask &= !mask;
        }
        line.writes.retain(|write| write.mask != 0);
        // Neighbours that wait for the same flush need one record.
        match line.writes.last_mut() {
            Some(last)
                if (last.path, last.author) == (path, author)
                    && caches.visible(path, last.time).is_none() =>
            {
                last.mask |= mask;
                last.time = time;
            }
            _ => line.writes.push(Write { mask, address, time, author, thread, path }),
        }
        if let Some(write) = broken {
            self.report(rules::overwritten(), &write, mask, piece, "written", at);
        }
    }

    /// The number of a place.
    #[inline]
    fn author(&mut self, at: &Place) -> Author {
        let thread = at.thread.map(|thread| (thread.kernel, thread.ip));
        let key = (at.engine, at.address, at.batch, thread);
        match self.latest {
            Some((known, author)) if known == key => author,
            _ => self.look_up(key, at),
        }
    }

    fn look_up(&mut self, key: Key, at: &Place) -> Author {
        let authors = &mut self.authors;
        let author = *self.numbers.entry(key).or_insert_with(|| {
            authors.push(*at);
            authors.len() as Author - 1
        });
        self.latest = Some((key, author));
        author
    }

    #[cold]
    fn report(
        &mut self,
        rule: &'static Rule,
        write: &Write,
        mask: u64,
        piece: &Piece,
        verb: &str,
        at: &Place,
    ) {
        let second = self.author(at);
        if let Some(&index) = self.known.get(&(rule.id, write.author, second)) {
            self.findings[index].count += 1;
            return;
        }
        let both = write.mask & mask;
        let first = Side {
            action: format!("written through {}", write.path.holder().name()),
            at: self.authors[write.author as usize],
            thread: write.thread,
            address: write.address + u64::from(both.trailing_zeros()),
            bytes: both.count_ones().into(),
        };
        let second_side = Side {
            action: format!("{verb} through {}", piece.path.holder().name()),
            at: *at,
            thread: piece.thread,
            address: piece.address,
            bytes: piece.bytes,
        };
        self.known.insert((rule.id, write.author, second), self.findings.len());
        self.findings.push(Finding { rule, first, second: second_side, count: 1 });
    }
}

/// The part of an access that is in one line.
struct Piece {
    physical: u64,
    address: u64,
    bytes: u64,
    path: Path,
    thread: Option<u32>,
}
