//! The sanitizer `race`: two threads access the same bytes in one GPGPU_WALKER or 3DPRIMITIVE
//! without order, and one of them writes.
//!
//! The model runs threads one after the other, so that it always gives one of the possible results.
//! Hardware can give another one.
//!
//! * [`order`]: which accesses come before others: threads, barriers, fences and atomics;
//! * [`shadow`]: who accessed which bytes;
//! * [`rules`]: the rules with their sources.
//!
//! Accesses in the same packet are compared: those of the data ports and the sampler, and writes
//! to render targets. Hardware orders writes to render targets and depth buffers among each other.
//! Different packets are the matter of the sanitizer [`flush`](super::flush). The scratch space of a
//! thread is its own. Threads of MEDIA_OBJECT and similar packets are not compared: scoreboards,
//! messages and parents order them.

pub mod order;
pub mod rules;
pub mod shadow;

pub use rules::RULES;

use super::finding::{Finding, Side};
use super::sanitizer::Sanitize;
use crate::machine::events::{Event, Now};
use crate::machine::fault::Place;
use crate::mem::{Access, Client, LocalAccess};
use crate::unit::dataport::is_atomic;
use genxml::core::Fixed as _;
use genxml::eu::instruction::SharedFunction;
use genxml::gen8::media::GpgpuWalker;
use genxml::gen8::messages::{
    DataPort0MessageDescriptor, DataPort0MessageDescriptorLegacyDapDcMessage,
    DataPort1MessageDescriptor, MtDp0,
};
use genxml::gen8::render3d_fetch::ThreeDPrimitive;
use genxml::gen8::state::StateBaseAddress;
use genxml::gen8::thread_payloads::GpgpuThreadPayloadHeader;
use order::{Order, Stamp};
use rustc_hash::FxHashMap;
use shadow::{Cell, Newest, Number, Shadow};
use std::collections::HashMap;
use std::ops::Range;

/// How an access touches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Read,
    Write,
    /// An atomic operation: a read and a write.
    Atomic,
    /// A write to a render target.
    Output,
}

impl Kind {
    const fn words(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "written",
            Kind::Atomic => "changed by an atomic operation",
            Kind::Output => "written as render target",
        }
    }
}

/// The message that a thread sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Message {
    #[default]
    Ordinary,
    Atomic,
}

/// A position in the program: packet, batch, kernel and instruction.
type Position = (u64, u64, Option<(u64, u32)>);

/// Two sides that break a rule: rule, first and second author.
type Pair = (&'static str, u32, u32);

/// The sanitizer.
#[derive(Debug, Default)]
pub struct Race {
    /// True during a packet whose threads are compared.
    on: bool,
    general: u64,
    order: Order,
    message: Message,
    /// Scratch space of the running threads, by their number.
    scratch: FxHashMap<u32, Range<u64>>,
    memory: Shadow,
    local: Shadow,
    /// The accesses of the packet.
    stamps: Vec<Stamp>,
    /// Positions in the program.
    authors: Vec<Place>,
    numbers: FxHashMap<Position, u32>,
    findings: Vec<Finding>,
    known: HashMap<Pair, usize>,
}

impl Sanitize for Race {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        match event {
            Event::Packet { at, dwords, .. } => self.packet(at, dwords),
            _ if !self.on => {}
            Event::Group { .. } => {
                self.local.clear();
                self.order.begin_group();
            }
            Event::GroupEnd { .. } => self.order.end_group(),
            Event::Thread { thread, payload, .. } => {
                self.order.begin(*thread);
                self.scratch.insert(*thread, scratch(self.general, payload));
            }
            Event::ThreadEnd { thread, .. } => self.order.end(*thread),
            Event::Barrier { thread, complete } => self.order.report(*thread, *complete),
            Event::Message { thread, function, descriptor, .. } => {
                self.message(*thread, *function, *descriptor);
            }
            Event::Accesses { at, thread, channel: None, list } => {
                self.accesses(at, *thread, list);
            }
            Event::LocalAccesses { at, thread, list } => self.local_accesses(at, *thread, list),
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

/// The scratch space of a thread, from the first register of its payload. Payloads of all stages
/// have these fields at the same position.
fn scratch(general: u64, payload: &[u8]) -> Range<u64> {
    let Some(bytes) = payload.first_chunk::<{ 4 * GpgpuThreadPayloadHeader::DWORDS }>() else {
        return 0..0;
    };
    let dwords: [u32; GpgpuThreadPayloadHeader::DWORDS] = bytemuck::pod_read_unaligned(bytes);
    let header = GpgpuThreadPayloadHeader::unpack_lossy(&dwords);
    let offset = header.scratch_space_pointer.get();
    if offset == 0 {
        return 0..0;
    }
    let first = general.wrapping_add(offset);
    first..first.saturating_add(1024 << header.per_thread_scratch_space.get())
}

impl Race {
    fn packet(&mut self, at: &Place, dwords: &[u32]) {
        if self.on {
            self.order.clear();
            self.memory.clear();
            self.local.clear();
            self.stamps.clear();
            self.scratch.clear();
        }
        self.on = [GpgpuWalker::NAME, ThreeDPrimitive::NAME].contains(&at.packet);
        if at.packet == StateBaseAddress::NAME {
            let bases = StateBaseAddress::read_lossy(dwords);
            if bases.general_state_base_address_modify_enable {
                self.general = bases.general_state_base_address.get();
            }
        }
    }

    fn message(&mut self, thread: u32, function: SharedFunction, descriptor: u32) {
        self.message = Message::Ordinary;
        match function {
            SharedFunction::DataPort0 => {
                let descriptor = DataPort0MessageDescriptor::unpack_lossy(&[descriptor]);
                let scratch = descriptor.legacy_dap_dc_message
                    == DataPort0MessageDescriptorLegacyDapDcMessage::SCRATCH_BLOCK;
                if !scratch && descriptor.message_type == MtDp0::MT0_MEMFENCE {
                    self.order.fence(thread);
                }
            }
            SharedFunction::DataPort1 => {
                let kind = DataPort1MessageDescriptor::unpack_lossy(&[descriptor]).message_type;
                if is_atomic(kind) {
                    self.message = Message::Atomic;
                }
            }
            _ => {}
        }
    }

    fn accesses(&mut self, at: &Place, thread: Option<u32>, list: &[Access]) {
        let Some(stamp) = self.order.stamp(thread) else { return };
        let own = thread.and_then(|thread| self.scratch.get(&thread)).cloned().unwrap_or(0..0);
        let mut number = 0;
        for access in list {
            let kind = match (access.client, access.write) {
                (Client::RenderTarget, true) if thread.is_none() => Kind::Output,
                (Client::Data, _) if self.message == Message::Atomic && thread.is_some() => {
                    Kind::Atomic
                }
                (Client::Data, true) if thread.is_some() => Kind::Write,
                (Client::Data | Client::Constants | Client::Sampler, false) if thread.is_some() => {
                    Kind::Read
                }
                _ => continue,
            };
            if own.contains(&access.address) {
                continue;
            }
            if number == 0 {
                number = self.number(stamp, at);
            }
            // The read of an atomic operation stands for both.
            if let (Kind::Atomic, Some(thread)) = (kind, thread) {
                if access.write {
                    continue;
                }
                self.order.atomic(thread, access.physical);
            }
            let mut memory = std::mem::take(&mut self.memory);
            memory.each(
                access.physical,
                access.address,
                access.bytes.into(),
                |address, bytes, cell| {
                    self.touch(cell, kind, number, false, address, bytes);
                },
            );
            self.memory = memory;
        }
    }

    fn local_accesses(&mut self, at: &Place, thread: u32, list: &[LocalAccess]) {
        let Some(stamp) = self.order.stamp(Some(thread)) else { return };
        let number = self.number(stamp, at);
        let mut local = std::mem::take(&mut self.local);
        for access in list {
            let kind = match (self.message, access.write) {
                (Message::Atomic, true) => continue,
                (Message::Atomic, false) => Kind::Atomic,
                (Message::Ordinary, true) => Kind::Write,
                (Message::Ordinary, false) => Kind::Read,
            };
            local.each(access.offset, access.offset, access.bytes.into(), |offset, bytes, cell| {
                self.touch(cell, kind, number, true, offset, bytes);
            });
        }
        self.local = local;
    }

    /// Adds an access to the list.
    fn number(&mut self, stamp: Stamp, at: &Place) -> Number {
        let authors = &mut self.authors;
        let key = (at.address, at.batch, at.thread.map(|thread| (thread.kernel, thread.ip)));
        let author = *self.numbers.entry(key).or_insert_with(|| {
            authors.push(*at);
            authors.len() as u32 - 1
        });
        self.stamps.push(Stamp { author, ..stamp });
        self.stamps.len() as Number
    }

    /// Compares an access with those of the cell, and adds it to the cell.
    #[inline]
    fn touch(
        &mut self,
        cell: &mut Cell,
        kind: Kind,
        number: Number,
        local: bool,
        address: u64,
        bytes: u64,
    ) {
        let none = Newest::default();
        let Cell { write, output, reads, atomics } = *cell;
        // Most cells have only accesses that cannot break a rule together with this one.
        let quiet = match kind {
            Kind::Read => write | output | atomics.0[0] == 0,
            Kind::Write => write | output | reads.0[0] | atomics.0[0] == 0,
            Kind::Atomic => write | output | reads.0[0] == 0,
            Kind::Output => write | reads.0[0] | atomics.0[0] == 0,
        };
        let others = match kind {
            Kind::Read => {
                cell.reads.add(number, &self.stamps);
                [
                    (Kind::Write, Newest([write, 0, 0])),
                    (Kind::Output, Newest([output, 0, 0])),
                    (Kind::Read, none),
                    (Kind::Atomic, atomics),
                ]
            }
            Kind::Write => {
                *cell = Cell { write: number, output, ..Cell::default() };
                [
                    (Kind::Write, Newest([write, 0, 0])),
                    (Kind::Output, Newest([output, 0, 0])),
                    (Kind::Read, reads),
                    (Kind::Atomic, atomics),
                ]
            }
            Kind::Atomic => {
                cell.atomics.add(number, &self.stamps);
                [
                    (Kind::Write, Newest([write, 0, 0])),
                    (Kind::Output, Newest([output, 0, 0])),
                    (Kind::Read, reads),
                    (Kind::Atomic, none),
                ]
            }
            Kind::Output => {
                cell.output = number;
                [
                    (Kind::Write, Newest([write, 0, 0])),
                    (Kind::Output, none),
                    (Kind::Read, reads),
                    (Kind::Atomic, atomics),
                ]
            }
        };
        if quiet {
            return;
        }
        for (other, newest) in others {
            for first in newest.0 {
                if first != 0 && first != number {
                    self.compare((other, first), (kind, number), local, address, bytes);
                }
            }
        }
    }

    /// Reports two accesses if they are not in order.
    #[cold]
    fn compare(
        &mut self,
        (first_kind, first): (Kind, Number),
        (kind, second): (Kind, Number),
        local: bool,
        address: u64,
        bytes: u64,
    ) {
        let of = |number| shadow::stamp(&self.stamps, number).copied();
        let (Some(first), Some(second)) = (of(first), of(second)) else { return };
        if first.thread == second.thread || self.order.before(&first, &second) {
            return;
        }
        let kinds = [first_kind, kind];
        let rule = if kinds.contains(&Kind::Output) {
            rules::render_target()
        } else if kinds.contains(&Kind::Atomic) {
            rules::atomic()
        } else if local {
            rules::local()
        } else {
            rules::memory()
        };
        let pair = (rule.id, first.author, second.author);
        match self.known.get(&pair) {
            Some(&index) => self.findings[index].count += 1,
            None => {
                let side = |kind: Kind, stamp: Stamp| Side {
                    action: match local {
                        true => format!("{} in shared local memory", kind.words()),
                        false => kind.words().to_owned(),
                    },
                    at: self.authors[stamp.author as usize],
                    thread: Some(self.order.number(stamp.thread)),
                    address,
                    bytes,
                };
                let (first, second) = (side(first_kind, first), side(kind, second));
                self.known.insert(pair, self.findings.len());
                self.findings.push(Finding { rule, first, second, count: 1 });
            }
        }
    }
}
