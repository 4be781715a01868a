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
#[cfg(test)]
mod tests;

pub use rules::RULES;

use super::finding::{Finding, Rule, Side};
use super::sanitizer::Sanitize;
use crate::machine::events::{Event, Now};
use crate::machine::fault::{InKernel, Place};
use crate::mem::lines::{LINE, LINES, mask};
use crate::mem::{self, Access, Client, PAGE};
use caches::{Caches, Holder, Path};
use genxml::core::Fixed as _;
use genxml::engine::EngineId;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::mi::PipeControl;
use lines::{Pages, Write};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Index in [`Flush::authors`] of the packet or instruction that made an access.
type Author = u32;

/// Author and path of an access.
type Origin = (Author, Path);

/// What distinguishes places: engine, addresses of packet and batch, kernel and instruction.
type Key = (EngineId, u64, u64, Option<(u64, u32)>);

/// The sanitizer.
#[derive(Debug, Default)]
pub struct Flush {
    caches: Caches,
    pages: Pages,
    /// The packets and instructions that made accesses.
    authors: Vec<Place>,
    /// Numbers of the places.
    numbers: FxHashMap<Key, Author>,
    /// The place of the latest access.
    latest: Option<(Key, Author)>,
    /// The latest message to the render cache of the current draw, and its thread. The pipeline
    /// executes the writes of a thread when the thread has ended, so writes to several targets are
    /// all attributed to the last message. If writes of several threads are joined, they are
    /// attributed to the last message of these threads, also if they ran different kernels.
    rendering: Option<(InKernel, u32)>,
    /// True if accesses are left out and writes of several threads are joined.
    joins: bool,
    /// Set when a submission starts or ends. True if accesses can be left out from now on: all
    /// caches are empty, and no other submission is being executed.
    starts: Option<bool>,
    findings: Vec<Finding>,
    /// Index of a finding by rule and both sides.
    known: HashMap<(&'static str, [Origin; 2]), usize>,
}

impl Sanitize for Flush {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        match event {
            Event::Accesses { at, thread, list, .. } => {
                for access in *list {
                    let (at, thread) = match (access.client, self.rendering) {
                        (Client::RenderTarget, Some((message, thread))) => {
                            let thread = (!self.joins).then_some(thread);
                            (Place { thread: Some(message), ..*at }, thread)
                        }
                        // No message writes them.
                        (Client::Depth, _) => (Place { thread: None, ..*at }, None),
                        _ => (*at, *thread),
                    };
                    self.access(access, &at, thread);
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
            Event::Submission { .. } => self.starts = Some(self.caches.begin(now.engine)),
            Event::SubmissionEnd => {
                let idle = self.caches.end(now.engine);
                if idle {
                    self.pages.clear();
                    self.starts = Some(false);
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

    fn update_lines(&mut self, lines: &mem::Lines) {
        let changes = self.caches.take_changes();
        if let Some(alone) = self.starts.take() {
            lines.enable(alone);
            self.joins = alone;
            return;
        }
        if changes.is_empty() {
            return;
        }
        for client in Client::ALL {
            let holder = Holder::of(client);
            if changes.invalidated(holder) {
                lines.invalidated(client);
            }
            if changes.flushed(holder) {
                lines.flushed(client);
            }
        }
    }
}

impl Flush {
    /// Checks and records an access, page by page.
    fn access(&mut self, access: &Access, at: &Place, thread: Option<u32>) {
        let path = Path::new(at.engine, Holder::of(access.client));
        let author = if access.write { self.author(at) } else { 0 };
        let end = access.physical + u64::from(access.bytes);
        let mut physical = access.physical;
        while physical < end {
            let next = ((physical / PAGE + 1) * PAGE).min(end);
            let address = access.address + (physical - access.physical);
            let piece = Piece { physical, address, bytes: next - physical, path, thread };
            match access.write {
                true => self.write(&piece, author, at),
                false => self.read(&piece, at),
            }
            physical = next;
        }
    }

    fn read(&mut self, piece: &Piece, at: &Place) {
        let (path, caches) = (piece.path, &mut self.caches);
        let (first, last) = (piece.physical / LINE, (piece.physical + piece.bytes - 1) / LINE);
        let page = self.pages.page(piece.physical);
        let lines = lines_from_to(first, last);
        let mut written = page.has_parts;
        page.whole.iter().for_each(|(of, _)| written |= of);
        // The lines that may be older in the cache of the reader than in memory.
        let mut fills = [None; LINES];
        if path.holder().keeps_lines() {
            let times = page.fills(path);
            for line in lines.clone() {
                match times[line] {
                    0 => times[line] = caches.tick(),
                    time if !caches.holds(path, time) => times[line] = caches.tick(),
                    time => fills[line] = Some(time),
                }
            }
        }
        let mut broken = SmallVec::<[_; 1]>::new();
        for line in lines.filter(|line| written >> line & 1 == 1) {
            let mask = piece.mask(line);
            for (bytes, write) in page.writes(line).filter(|(bytes, _)| bytes & mask != 0) {
                if write.path == path {
                    continue;
                }
                let rule = match (caches.visible(write.path, write.time), fills[line]) {
                    (None, _) => rules::not_flushed(write.path.holder()),
                    (Some(visible), Some(filled)) if filled < visible => {
                        rules::not_invalidated(path.holder())
                    }
                    _ => continue,
                };
                broken.push(Broken { rule, line, bytes: bytes & mask, write: *write });
            }
        }
        for broken in &broken {
            self.report(broken, piece, "read", at);
        }
    }

    /// Checks and records a write. `author` is the number of `at`.
    fn write(&mut self, piece: &Piece, author: Author, at: &Place) {
        let (path, caches) = (piece.path, &mut self.caches);
        let time = caches.tick();
        let address = piece.address.wrapping_sub(piece.physical % PAGE);
        let write = Write { address, time, author, thread: piece.thread, path };
        let waits = |other: &Write| caches.visible(other.path, other.time).is_none();
        let joins = |other: &Write| other.continues(&write) && waits(other);
        let page = self.pages.page(piece.physical);
        let mut broken = SmallVec::<[Broken; 1]>::new();
        let mut whole = 0;
        let (first, last) = (piece.physical / LINE, (piece.physical + piece.bytes - 1) / LINE);
        let is_simple = page.has_parts == 0 && page.whole.iter().all(|(_, other)| joins(other));
        for line in lines_from_to(first, last) {
            let mask = piece.mask(line);
            if !is_simple {
                let overwritten = page.writes(line).filter(|(bytes, _)| bytes & mask != 0);
                let lost = overwritten.filter(|(_, other)| other.path != path && waits(other));
                let rule = rules::overwritten();
                broken.extend(lost.map(|(bytes, write)| Broken {
                    rule,
                    line,
                    bytes: bytes & mask,
                    write: *write,
                }));
            }
            match mask {
                u64::MAX => whole |= 1 << line,
                _ => page.replace_bytes(line, mask, write, joins),
            }
        }
        if whole != 0 {
            page.replace_lines(whole, write, joins);
        }
        for broken in &broken {
            self.report(broken, piece, "written", at);
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
    fn report(&mut self, broken: &Broken, piece: &Piece, verb: &str, at: &Place) {
        let Broken { rule, line, bytes, write } = broken;
        let second = self.author(at);
        let key = (rule.id, [(write.author, write.path), (second, piece.path)]);
        if let Some(&index) = self.known.get(&key) {
            self.findings[index].count += 1;
            return;
        }
        let within = LINE * *line as u64;
        let first = Side {
            action: format!("written through {}", write.path.holder().name()),
            at: self.authors[write.author as usize],
            thread: write.thread,
            address: write.address + within + u64::from(bytes.trailing_zeros()),
            bytes: bytes.count_ones().into(),
        };
        let mask = piece.mask(*line);
        let page = piece.address.wrapping_sub(piece.physical % PAGE);
        let second_side = Side {
            action: format!("{verb} through {}", piece.path.holder().name()),
            at: *at,
            thread: piece.thread,
            address: page + within + u64::from(mask.trailing_zeros()),
            bytes: mask.count_ones().into(),
        };
        self.known.insert(key, self.findings.len());
        self.findings.push(Finding { rule, first, second: second_side, count: 1 });
    }
}

/// A write that an access conflicts with.
struct Broken {
    rule: &'static Rule,
    /// Number of the line in its page.
    line: usize,
    /// The bytes of the line that both access, a bit for each.
    bytes: u64,
    write: Write,
}

/// The part of an access that is in one page.
struct Piece {
    physical: u64,
    address: u64,
    bytes: u64,
    path: Path,
    thread: Option<u32>,
}

impl Piece {
    /// The bytes of a line of the page that are accessed, a bit for each.
    #[inline]
    fn mask(&self, line: usize) -> u64 {
        let start = self.physical % PAGE;
        let from = start.max(LINE * line as u64);
        let to = (start + self.bytes).min(LINE * (line as u64 + 1));
        mask(from, to.saturating_sub(from))
    }
}

/// The numbers in their page of the lines `first` to `last`. Both are in the same page.
#[inline]
fn lines_from_to(first: u64, last: u64) -> std::ops::RangeInclusive<usize> {
    (first % LINES as u64) as usize..=(last % LINES as u64) as usize
}
