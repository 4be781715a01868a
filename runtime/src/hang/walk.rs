//! The walk from the start of an engine's work to the command that it was executing.

use super::{Hang, Header, Location, Quoted, RingPosition, Semaphore, Violation};
use crate::check::{Checker, Finding, Rules};
use crate::decode::{Contexts, Decoder, Options, Record, Sink, Tables, TextWriter};
use crate::error_state::{Engine, ErrorState, field_of};
use crate::memory::Memory;
use crate::submission::{Each, Ring, Submission};
use genxml_core::rule::Severity;
use std::collections::VecDeque;
use std::io;
use std::sync::OnceLock;

/// A function that calls its argument with each submission of a file, one by one.
pub(super) type Submissions<'a> = dyn FnMut(&mut Each<'_>) -> io::Result<()> + 'a;

/// Number of commands quoted before the one that the engine was executing, and after it.
const BEFORE: usize = 5;
const AFTER: usize = 3;

/// The generation that the rules describe, times ten.
const RULES_OF: u32 = 80;

/// Fills in the positions of head and tail in the ring.
pub(super) fn ring(tables: &Tables, state: &ErrorState, engine: &Engine, hang: &mut Hang) {
    let (Some(at), Some(id)) = (state.ring(engine), engine.id()) else { return };
    let view = state.memory(&engine.name);
    let Some(memory) = view.global() else { return };
    let distance = |offset: u64| (offset + at.ring.size - at.from) % at.ring.size;
    let (head, tail) = (distance(at.ring.head), at.length);
    let mut head_at = None;
    let mut last = None;
    let mut done = 0;
    while done < at.length {
        let offset = (at.from + done) % at.ring.size;
        let mut dwords = Vec::with_capacity(1);
        if memory.dwords(at.ring.start + offset, 1, &mut dwords) == 0 {
            break;
        }
        let container = tables.instruction(id, dwords[0]);
        let length = 4 * container.map_or(1, |container| container.packet_dwords(dwords[0]) as u64);
        let name = container.map_or("unknown command", |container| container.name);
        last = Some((at.ring.start + offset, name));
        if (done..done + length).contains(&head) {
            head_at = last;
        }
        done += length;
    }
    hang.head = engine.value("HEAD").map(|value| {
        let wraps = field_of("HEAD", "HEAD_WRAP_COUNT", value).unwrap_or(0);
        RingPosition { offset: at.ring.head, wraps, command: head_at }
    });
    let last = last.filter(|_| tail > 0);
    hang.tail = engine.value("TAIL").map(|_| RingPosition {
        offset: at.ring.tail,
        wraps: 0,
        command: last,
    });
}

/// Decodes the engine's submissions up to the command that ACTHD points into. Fills in that command
/// and its neighbours, the first violation, and the semaphore.
pub(super) fn batches(
    tables: &Tables,
    state: &ErrorState,
    engine: &Engine,
    hang: &mut Hang,
    submissions: &mut Submissions<'_>,
) {
    let Some(id) = engine.id() else { return };
    let mut acthd = hang.acthd.map(|acthd| acthd & !3);
    let mut in_batch = true;
    // In the ring ACTHD is not an address but the value of the head register, with its count of
    // wraps.
    let head = engine.value("HEAD").filter(|head| *head != 0 && Some(*head & !3) == acthd);
    if let (Some(_), Some(at)) = (head, state.ring(engine)) {
        let name = format!("{} ring", engine.name);
        hang.location = Location::Buffer(name, at.ring.start, at.ring.head);
        acthd = Some(at.ring.start + at.ring.head);
        in_batch = false;
    } else if let Some(acthd) = acthd {
        let holds =
            |buffer: &&crate::error_state::Buffer| (buffer.address..buffer.end()).contains(&acthd);
        let own = || state.buffers_of(&engine.name).filter(holds);
        let others = state.buffers.iter().filter(holds);
        // A batch is preferred to the ring: both may have the same address in different page
        // tables.
        let best = own()
            .find(|buffer| !buffer.kind.is_global())
            .or_else(|| own().next())
            .or(others.into_iter().next());
        if let Some(buffer) = best {
            let name =
                format!("{} {}", buffer.engine.as_deref().unwrap_or("global"), buffer.kind.name());
            hang.location = Location::Buffer(name, buffer.address, acthd - buffer.address);
            in_batch = !buffer.kind.is_global();
        }
    }
    // Built once: there are many rules, and they are the same for every hang.
    static RULES: OnceLock<Rules> = OnceLock::new();
    let rules = RULES.get_or_init(Rules::gen8);
    let mut violation = None;
    let checked = tables.generation() == RULES_OF
        && state.platform().is_none_or(|platform| platform.generation == RULES_OF);
    hang.checked = checked;
    let mut each = |finding: &Finding| {
        if violation.is_none() && finding.severity == Severity::Error {
            violation = Some(Violation {
                rule: finding.rule.id,
                packet: finding.packet,
                text: finding.to_string(),
            });
        }
    };
    let mut finder = Finder {
        checker: checked.then(|| Checker::new(rules, &mut each)),
        acthd,
        in_batch,
        ring: None,
        before: VecDeque::new(),
        command: None,
        after: Vec::new(),
    };
    let mut contexts = Contexts::default();
    let options = Options { kernels: false, every_draw: true, ..Options::default() };
    let decoder = Decoder::new(tables, options);
    // The finder stops the walk with an error; this is not a failure.
    _ = submissions(&mut |submission: &Submission<'_>| {
        finder.ring = submission.ring;
        finder.before.clear();
        finder.section(submission)?;
        decoder.submission(contexts.of(submission), submission, &mut finder).map(|_| ())?;
        match finder.command {
            Some(_) => Err(enough()),
            None => Ok(()),
        }
    });
    let Finder { before, command, after, .. } = finder;
    (hang.before, hang.command, hang.after) = (before.into(), command, after);
    // Without the command it is unknown which violations came before it.
    hang.violation = violation.filter(|_| hang.command.is_some() || acthd.is_none());
    if hang.command.is_none() {
        hang.before.clear();
    }
    hang.ipehr = engine.value("IPEHR").map(|ipehr| {
        let value = ipehr as u32;
        let name = tables.instruction(id, value).map(|container| container.name);
        let quoted = hang.command.iter().chain(hang.before.iter().rev());
        let back = quoted.into_iter().position(|quoted| quoted.header == value);
        Header { value, name, back }
    });
    let waits = hang.command.iter().chain(hang.before.iter().rev().take(1));
    let running = hang.ipehr.and_then(|ipehr| ipehr.name) == Some("MI_SEMAPHORE_WAIT");
    let mut semaphore = waits
        .filter_map(|quoted| quoted.semaphore)
        .next()
        .filter(|_| running || hang.ipehr.is_none());
    if semaphore.is_none() {
        semaphore = hang.command.as_ref().and_then(|quoted| quoted.semaphore);
    }
    if let Some(mut wait) = semaphore {
        let view = state.memory(&engine.name);
        let memory: &dyn Memory = if wait.global { view.global().unwrap_or(&view) } else { &view };
        let mut dwords = Vec::new();
        memory.dwords(wait.address, 1, &mut dwords);
        wait.value = dwords.first().copied();
        hang.semaphore = Some(wait);
    }
}

fn enough() -> io::Error {
    io::Error::other("the command is found")
}

/// Checks records up to the command that ACTHD points into, and quotes the commands around it.
struct Finder<'a> {
    /// `None` if the rules are not those of the GPU.
    checker: Option<Checker<'a>>,
    acthd: Option<u64>,
    /// True if `acthd` is in a batch, not in the ring.
    in_batch: bool,
    /// The ring that holds the commands of depth 0.
    ring: Option<Ring>,
    before: VecDeque<Quoted>,
    command: Option<Quoted>,
    after: Vec<Quoted>,
}

impl Sink for Finder<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.checker.as_mut().map_or(Ok(()), |checker| checker.section(submission))
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let packet = record.kind.is_packet();
        if self.command.is_some() {
            if packet {
                self.after.push(quote(record, true));
                if self.after.len() >= AFTER {
                    return Err(enough());
                }
            }
            return Ok(());
        }
        if let Some(checker) = &mut self.checker {
            checker.record(record)?;
        }
        if !packet {
            return Ok(());
        }
        let of_ring = |ring: Ring| (ring.start..ring.start + ring.size).contains(&record.address);
        let in_ring = record.depth == 0 && self.ring.is_some_and(of_ring);
        let length = 4 * u64::from(record.length.max(1));
        let here = self
            .acthd
            .is_some_and(|acthd| (record.address..record.address + length).contains(&acthd));
        if here && in_ring != self.in_batch {
            self.command = Some(quote(record, false));
        } else {
            if self.before.len() == BEFORE {
                self.before.pop_front();
            }
            self.before.push_back(quote(record, true));
        }
        Ok(())
    }
}

/// Quotes a command. `text` has the decoder's lines, or is empty if `short`.
fn quote(record: &Record, short: bool) -> Quoted {
    let mut text = Vec::new();
    if !short {
        let options = Options { headers: false, ..Options::default() };
        let mut writer = TextWriter::new(&mut text, &options);
        // Writing to a vector cannot fail.
        _ = writer.record(record).and_then(|()| writer.finish());
    }
    let text = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
    Quoted {
        address: record.address,
        header: record.dwords.first().copied().unwrap_or(0),
        name: record.name,
        depth: record.depth,
        text,
        semaphore: semaphore(record),
    }
}

fn semaphore(record: &Record) -> Option<Semaphore> {
    use crate::decode::Value;
    if record.name != "MI_SEMAPHORE_WAIT" {
        return None;
    }
    let Value::Address { value, .. } = record.item("Semaphore Address")?.value else { return None };
    let Value::Enum { name: Some(compare) } = record.item("Compare Operation")?.value else {
        return None;
    };
    Some(Semaphore {
        address: value & crate::memory::VA_MASK,
        global: record.item("Memory Type")?.stored == 1,
        compare,
        data: record.item("Semaphore Data Dword")?.stored as u32,
        value: None,
    })
}

impl Semaphore {
    /// True if memory satisfies the comparison; `None` if the file does not have the memory, or if
    /// the comparison is reserved.
    pub fn holds(&self) -> Option<bool> {
        let memory = self.value?;
        Some(match self.compare {
            "SAD_GREATER_THAN_SDD" => memory > self.data,
            "SAD_GREATER_THAN_OR_EQUAL_SDD" => memory >= self.data,
            "SAD_LESS_THAN_SDD" => memory < self.data,
            "SAD_LESS_THAN_OR_EQUAL_SDD" => memory <= self.data,
            "SAD_EQUAL_SDD" => memory == self.data,
            "SAD_NOT_EQUAL_SDD" => memory != self.data,
            _ => return None,
        })
    }
}
