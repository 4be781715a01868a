//! The sanitizer `uninit`: registers and shared local memory that are read before anything wrote
//! them.
//!
//! The model gives every register the value 0 or an old one. The sanitizer keeps a bit for each
//! byte of the registers of a thread, for each flag bit, and for the accumulators: whether the value
//! depends on something that was not written. Moves and arithmetic pass the bit on. A finding needs
//! a use that matters:
//! * a predicate, except that of `sel`, or the target of a jump;
//! * an address register, an address or a coordinate of a message, the offset of a block;
//! * the data of enabled channels that a message writes to a surface or a render target.
//!
//! The first side of a finding is the register that was not written, the second side the use.
//! Shared local memory is reported when it is read.
//!
//! The payload of a thread is written, and so are responses of messages: memory has values. Headers
//! that are not offsets are not checked, because compilers write only the fields that count. Spills
//! to scratch space, the URB, and threads of MEDIA_OBJECT and similar packets, whose registers other
//! threads can write, are not followed.
//!
//! * [`plan`]: the instructions of a kernel; [`message`]: the payload of messages;
//! * [`rules`]: the rules with their sources.

pub mod message;
pub mod plan;
pub mod rules;

pub use rules::RULES;

use super::finding::{Finding, Side};
use super::sanitizer::Sanitize;
use crate::eu::access::{self, Access, CELLS, Part, Use};
use crate::eu::debug::Location;
use crate::eu::regions::{A0, FILE_BYTES, GRF_BYTES, REGISTER};
use crate::eu::uop::{Op, Opcode, Target, Uop};
use crate::machine::events::{Event, Now};
use crate::machine::fault::{InKernel, Place};
use crate::machine::view::View;
use crate::mem::LocalAccess;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::media::GpgpuWalker;
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use message::{Layouts, Sent};
use plan::{Cells, Code, WORDS};
use rules::Id;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashMap;

/// Byte offsets of the register file from the flags to the end, without `a0` and flags: machine
/// registers, which always have values.
const MACHINE: usize = A0 + 2 * REGISTER;

/// The registers of a thread.
#[derive(Clone, Debug)]
struct Thread {
    /// A bit for each cell: its value depends on something that was not written.
    unwritten: [u64; WORDS],
    /// For a cell with such a bit: the number of the cell that was not written, plus 1; 0 if it is
    /// the cell itself. `None` until the thread copies such a value, which most threads never do.
    origin: Option<Box<[u16; CELLS]>>,
    /// Channels of the thread that are enabled without a predicate, as far as `known` has a bit.
    enabled: u32,
    known: u32,
}

impl Thread {
    fn new(payload: usize) -> Thread {
        let mut unwritten = [u64::MAX; WORDS];
        let mut clear = |range: std::ops::Range<usize>| {
            let mut cell = range.start;
            while cell < range.end {
                let count = (64 - cell % 64).min(range.end - cell);
                unwritten[cell / 64] &= !(u64::MAX >> (64 - count) << (cell % 64));
                cell += count;
            }
        };
        clear(0..payload.min(GRF_BYTES));
        clear(GRF_BYTES..A0);
        clear(MACHINE..FILE_BYTES);
        Thread { unwritten, origin: None, enabled: 0, known: 0 }
    }

    #[inline(always)]
    fn any(&self, cells: &Cells) -> bool {
        cells.iter().any(|(word, bits)| self.unwritten[usize::from(*word)] & bits != 0)
    }

    /// The cell that was not written and that the part depends on.
    fn origin(&self, part: Part) -> Option<usize> {
        let cell = part.cells().find(|cell| self.unwritten[cell / 64] >> (cell % 64) & 1 == 1)?;
        let origin = self.origin.as_ref().map_or(0, |origin| usize::from(origin[cell]));
        Some(origin.checked_sub(1).unwrap_or(cell))
    }

    fn set(&mut self, part: Part, origin: Option<usize>) {
        for cell in part.cells() {
            match origin {
                None => self.unwritten[cell / 64] &= !(1 << (cell % 64)),
                Some(origin) => {
                    self.unwritten[cell / 64] |= 1 << (cell % 64);
                    let list = self.origin.get_or_insert_with(|| Box::new([0; CELLS]));
                    list[cell] = origin as u16 + 1;
                }
            }
        }
    }
}

/// What distinguishes findings: rule, packet, kernel and instruction.
type Key = (Id, u64, u64, u64, u32);

/// The sanitizer.
#[derive(Debug, Default)]
pub struct Uninit {
    /// The packet, if its threads are checked.
    packet: Option<Place>,
    codes: FxHashMap<u64, Code>,
    /// Kernels that ran in this packet.
    current: FxHashSet<u64>,
    threads: FxHashMap<u32, Thread>,
    layouts: Layouts,
    /// A bit for each byte of shared local memory that the group wrote.
    local: Vec<bool>,
    access: Access,
    reports: Reports,
}

#[derive(Debug, Default)]
struct Reports {
    findings: Vec<Finding>,
    known: HashMap<Key, usize>,
}

impl Sanitize for Uninit {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Packet { at, .. } => {
                let checked = [GpgpuWalker::NAME, ThreeDPrimitive::NAME].contains(&at.packet);
                self.packet = checked.then_some(*at);
                self.threads.clear();
                self.current.clear();
            }
            _ if self.packet.is_none() => {}
            Event::Group { .. } => self.local.clear(),
            Event::Thread { thread, payload, .. } => {
                self.threads.insert(*thread, Thread::new(payload.len()));
            }
            Event::ThreadEnd { thread, .. } => {
                self.threads.remove(thread);
            }
            Event::Instruction { kernel, thread, ip, mask, registers, view } => {
                if self.current.insert(*kernel) {
                    self.decode(*kernel, *view);
                }
                self.instruction(*kernel, *thread, *ip, *mask, registers);
            }
            Event::LocalAccesses { at, thread, list } => self.local(at, *thread, list),
            _ => {}
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.reports.findings
    }

    fn wants_accesses(&self) -> bool {
        true
    }

    fn wants_instructions(&self) -> bool {
        true
    }
}

/// Calls `work` for each channel of a mask.
fn each(mask: u32, mut work: impl FnMut(usize)) {
    let mut rest = mask;
    while rest != 0 {
        work(rest.trailing_zeros() as usize);
        rest &= rest - 1;
    }
}

impl Uninit {
    /// Decodes a kernel, if it is new or has changed.
    #[cold]
    fn decode(&mut self, kernel: u64, view: &dyn View) {
        let read = |address: u64, out: &mut [u8]| view.read(address, out);
        if !self.codes.get(&kernel).is_some_and(|code| code.is_current(read)) {
            self.codes.insert(kernel, Code::new(kernel, read));
        }
    }

    fn instruction(&mut self, kernel: u64, number: u32, ip: u32, mask: u32, file: &[u8]) {
        let Uninit { packet, codes, threads, layouts, access, reports, .. } = self;
        let (Some(packet), Some(thread)) = (packet, threads.get_mut(&number)) else { return };
        let Some((u, plan)) = codes.get(&kernel).and_then(|code| code.at(ip)) else { return };
        let at = Place { thread: Some(InKernel { kernel, ip }), ..*packet };
        let mut report = |id, origin, what: &str| reports.add(id, &at, number, origin, what);
        let first = u32::from(u.first);
        if !plan.predicate.is_empty() && u.op != Op::Isa(Opcode::Sel) && thread.any(&plan.predicate)
        {
            let enabled = match (u.no_mask, thread.known >> first & u.lanes) {
                (true, _) => u.lanes,
                (false, known) => thread.enabled >> first & known | mask,
            };
            each(enabled & u.lanes, |channel| {
                for part in access::predicate(u, channel) {
                    if let Some(origin) = thread.origin(part) {
                        report(Id::Control, origin, "uses it as a predicate");
                    }
                }
            });
        }
        if plan.flow {
            thread.known = 0;
        } else if u.predicate.is_none() && !u.no_mask {
            let lanes = u.lanes << first;
            thread.enabled = thread.enabled & !lanes | mask << first & lanes;
            thread.known |= lanes;
        }
        if u.send.is_some() {
            send(thread, u, mask, file, (access, layouts), &mut report);
            return;
        }
        if !plan.dynamic && !thread.any(&plan.reads) {
            if mask == u.lanes {
                for (word, bits) in &plan.writes {
                    thread.unwritten[usize::from(*word)] &= !bits;
                }
            } else if thread.any(&plan.writes) {
                each(mask, |channel| {
                    access.reads.clear();
                    access.writes.clear();
                    access::channel(u, channel, file, access);
                    access.writes.iter().for_each(|part| thread.set(*part, None));
                });
            }
            return;
        }
        slow(thread, u, mask, file, access, &mut report);
    }

    /// Reads and writes of shared local memory.
    fn local(&mut self, at: &Place, thread: u32, list: &[LocalAccess]) {
        for access in list {
            let range = access.offset as usize..access.offset as usize + access.bytes as usize;
            if self.local.len() < range.end {
                self.local.resize(range.end, false);
            }
            let bytes = &mut self.local[range.clone()];
            if access.write {
                bytes.fill(true);
            } else if let Some(n) = bytes.iter().position(|written| !written) {
                self.reports.local(at, thread, (range.start + n) as u64);
            }
        }
    }
}

/// Passes the bits on, channel by channel.
fn slow(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    file: &[u8],
    access: &mut Access,
    report: &mut impl FnMut(Id, usize, &str),
) {
    // All channels read before the first one writes.
    let mut results = Vec::new();
    each(mask, |channel| {
        access.reads.clear();
        access.writes.clear();
        access::channel(u, channel, file, access);
        let mut found = None;
        for read in &access.reads {
            let Some(origin) = thread.origin(read.part) else { continue };
            match read.purpose {
                Use::Address => report(Id::Address, origin, "uses it as a register address"),
                _ if u.dst.target == Target::Ip => {
                    report(Id::Control, origin, "uses it as the target of a jump");
                }
                _ => found = found.or(Some(origin)),
            }
        }
        results.extend(access.writes.iter().map(|part| (*part, found)));
    });
    // A flag or accumulator can have several results; then one of them counts.
    for (part, origin) in results {
        thread.set(part, origin);
    }
}

/// Checks the payload of a message, and marks its response as written.
fn send(
    thread: &mut Thread,
    u: &Uop,
    mask: u32,
    file: &[u8],
    (access, layouts): (&mut Access, &mut Layouts),
    report: &mut impl FnMut(Id, usize, &str),
) {
    if mask == 0 {
        return;
    }
    access.reads.clear();
    access.writes.clear();
    access::channel(u, 0, file, access);
    for read in &access.reads {
        if let Some(origin) = thread.origin(read.part) {
            report(Id::Address, origin, "uses it as a message descriptor or register address");
        }
    }
    let Some(sent) = access::packet(u, file).and_then(|packet| Sent::new(u, &packet, layouts))
    else {
        return;
    };
    let sampler = u.send.is_some_and(|send| send.function == SharedFunction::Sampler);
    let mut check = |id, part| {
        if let Some(origin) = thread.origin(part) {
            let what = match id {
                Id::Address if sampler => "sends it as a coordinate",
                Id::Address => "sends it as an address",
                _ => "sends it as data",
            };
            report(id, origin, what);
        }
    };
    sent.common(&mut check);
    each(mask, |channel| sent.channel(channel, &mut check));
    let (first, end) = sent.response;
    for at in (first..end).step_by(REGISTER) {
        thread.set(Part::File(at as u16, REGISTER as u8), None);
    }
}

impl Reports {
    #[cold]
    fn add(&mut self, id: Id, at: &Place, thread: u32, origin: usize, what: &str) {
        let Some(eu) = at.thread else { return };
        let key = (id, at.batch, at.address, eu.kernel, eu.ip);
        if let Some(&index) = self.known.get(&key) {
            self.findings[index].count += 1;
            return;
        }
        let side = |action, ip| Side {
            action,
            at: Place { thread: Some(InKernel { ip, ..eu }), ..*at },
            thread: Some(thread),
            address: 0,
            bytes: 0,
        };
        let first = side(format!("{} was not written", name(origin)), 0);
        let second = side(what.to_owned(), eu.ip);
        self.known.insert(key, self.findings.len());
        self.findings.push(Finding { rule: id.rule(), first, second, count: 1 });
    }

    #[cold]
    fn local(&mut self, at: &Place, thread: u32, offset: u64) {
        let Some(eu) = at.thread else { return };
        let key = (Id::Local, at.batch, at.address, eu.kernel, eu.ip);
        if let Some(&index) = self.known.get(&key) {
            self.findings[index].count += 1;
            return;
        }
        let side = |action: &str, at, thread| Side {
            action: action.to_owned(),
            at,
            thread,
            address: offset,
            bytes: 1,
        };
        let first =
            side("was not written in shared local memory", Place { thread: None, ..*at }, None);
        let second = side("read in shared local memory", *at, Some(thread));
        self.known.insert(key, self.findings.len());
        self.findings.push(Finding { rule: Id::Local.rule(), first, second, count: 1 });
    }
}

/// The name of the register of a cell.
fn name(cell: usize) -> String {
    match access::part_of(cell) {
        Part::File(at, size) => Location::File(at).name(size.into()),
        Part::Accumulator(at, size) => Location::Accumulator(at).name(size.into()),
        Part::Flag(bit) => format!("bit {} of f{}.{}", bit % 16, bit / 32, bit / 16 % 2),
        Part::Extension(number, channel) => format!("channel {channel} of mme{number}"),
    }
}
