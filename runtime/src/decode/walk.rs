//! Walks a batch: packet after packet, through jumps and second-level batches.
//!
//! The walk always ends: a batch never jumps to the same address twice, batches nest up to
//! [`MAX_DEPTH`], and a submission has a budget of dwords. The walk reads only memory that is
//! mapped.

use super::cursor::Cursor;
use super::effects::{Follow, SurfaceUse};
use super::fields::Unread;
use super::follow::Follower;
use super::options::Options;
use super::record::{Kind, Record};
use super::sink::{Sink, Summary};
use super::stage;
use super::state::State;
use super::tables::Tables;
use crate::engine::EngineId;
use crate::memory::{Memory, VA_MASK};
use genxml_core::bits;
use genxml_core::opcodes::unknown_length;
use genxml_core::reflect;
use std::fmt;
use std::io;

/// Largest nesting depth of second-level batches and of batches after a predicated jump. Hardware
/// has two levels.
const MAX_DEPTH: u32 = 8;

/// A walk over batches, packet after packet.
pub(super) struct Walker<'a> {
    /// Emits what packets point to.
    pub follower: Follower<'a>,
    pub engine: EngineId,
}

/// The position where the walk continues after a packet.
pub(super) enum Next<'a> {
    /// At the next packet in memory.
    On,
    /// In the batch that called this one; without a caller, the walk ends.
    Return,
    /// At this address in this memory, without return.
    Jump(u64, &'a dyn Memory),
}

impl<'a> Walker<'a> {
    /// A walk that has decoded nothing yet.
    pub fn new(
        tables: &'a Tables,
        options: &'a Options,
        memory: &'a dyn Memory,
        state: &'a mut State,
        engine: EngineId,
        sink: &'a mut dyn Sink,
    ) -> Walker<'a> {
        Walker { follower: Follower::new(tables, options, memory, state, sink), engine }
    }

    /// Counts of what was decoded.
    pub fn summary(&self) -> Summary {
        self.follower.out.summary()
    }

    /// Decodes one batch, from `start` in `code` to the packet that ends it, or to `end`. The batch
    /// is one nesting level; `depth` is the depth of its records.
    pub fn level(
        &mut self,
        start: u64,
        end: Option<u64>,
        depth: u32,
        code: &'a dyn Memory,
    ) -> io::Result<()> {
        let mut record = self.follower.out.new_record(Kind::Packet, depth, start, "");
        let mut cursor = Cursor::new(start, end, code);
        loop {
            let at = cursor.at();
            if self.follower.out.is_exhausted(depth, at)? {
                break;
            }
            let room = cursor.room();
            if room == 0 {
                let text = "the batch's length ends here, without MI_BATCH_BUFFER_END";
                self.note(depth, at, format_args!("{text}"))?;
                break;
            }
            let Some(tail) = cursor.tail() else {
                let text = "no memory here, the batch goes on without MI_BATCH_BUFFER_END";
                self.note(depth, at, format_args!("{text}"))?;
                break;
            };
            if self.follower.options.headers
                && let Some(length) = self.overview(&mut record, at, tail, room)?
            {
                cursor.advance(length);
                continue;
            }
            let (length, next) = self.packet(&mut record, at, tail, room, depth, cursor.code())?;
            match next {
                Next::On => cursor.advance(length),
                Next::Return => break,
                Next::Jump(target, memory) => {
                    if !cursor.jump(target, memory) {
                        let text = format_args!(
                            "jumps back to {target:#x}, which was decoded before: not followed"
                        );
                        self.note(depth, at, text)?;
                        break;
                    }
                }
            }
        }
        self.follower.out.reuse(record);
        if depth == 0 { self.follower.end_picture(None) } else { Ok(()) }
    }

    /// Decodes the packet at `at` for the overview (option `headers`) from its header alone.
    /// Returns its length in dwords, or `None` if this is not possible: the packet is unknown, goes
    /// beyond `room` dwords, or starts or ends a batch. Reuses the `record` of the previous packet.
    #[inline]
    fn overview(
        &mut self,
        record: &mut Record,
        at: u64,
        tail: &[u8],
        room: u64,
    ) -> io::Result<Option<u64>> {
        let Some(header) = tail.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else {
            return Ok(None);
        };
        let Some(id) = self.follower.tables.find(self.engine, header) else { return Ok(None) };
        let plan = self.follower.tables.plan(id);
        let length = plan.length.dwords(header);
        if length > room || matches!(plan.follow, Follow::BatchStart | Follow::BatchEnd) {
            return Ok(None);
        }
        self.follower.out.count_packet(length);
        record.address = at;
        record.kind = if plan.container.partial { Kind::Partial } else { Kind::Packet };
        record.name = plan.container.name;
        record.plan = Some(id);
        record.length = length as u32;
        record.note.clear();
        match &mut record.dwords[..] {
            [first] => *first = header,
            _ => {
                record.dwords.clear();
                record.dwords.push(header);
            }
        }
        self.follower.out.record(record)?;
        Ok(Some(length))
    }

    /// Decodes the packet at `at` in `code`, and what it points to. `tail` are the contiguous bytes
    /// at `at`; the batch ends after `room` dwords. Returns the length of the packet in dwords, and
    /// where the walk continues.
    pub fn packet(
        &mut self,
        record: &mut Record,
        at: u64,
        tail: &[u8],
        room: u64,
        depth: u32,
        code: &'a dyn Memory,
    ) -> io::Result<(u64, Next<'a>)> {
        record.reset(Kind::Packet, depth, at, "");
        match tail.first_chunk() {
            Some(bytes) => record.dwords.push(u32::from_le_bytes(*bytes)),
            None => _ = code.dwords(at, 1, &mut record.dwords),
        }
        let header = record.dwords[0];
        let found = self.follower.tables.find(self.engine, header);
        let plan = found.map(|id| self.follower.tables.plan(id));
        let length = match plan {
            Some(plan) => plan.length.dwords(header),
            None => unknown_length(self.engine.set(), header) as u64,
        };
        record.length = length as u32;
        self.follower.out.count_packet(length);
        self.follower.end_picture(plan.map(|plan| plan.container.name))?;

        // The overview reads only the dwords that it needs to continue.
        let follow = plan.map_or(Follow::Nothing, |plan| plan.follow);
        if !self.follower.options.headers || follow == Follow::BatchStart {
            let want = length.min(room) as usize;
            if want > 1 {
                let have = tail.len() / 4;
                if have >= want {
                    let bytes = &tail[4..4 * want];
                    record
                        .dwords
                        .extend(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
                } else {
                    record.dwords.truncate(0);
                    code.dwords(at, want, &mut record.dwords);
                }
            }
        }
        let there = if self.follower.options.headers {
            length.min(room)
        } else {
            record.dwords.len() as u64
        };
        if there < length {
            record.note = format!("cut short: {there} of {length} dwords are there");
            self.follower.out.count_problems(1);
        }
        let (Some(id), Some(plan)) = (found, plan) else {
            record.kind = Kind::Unknown;
            record.name = unknown_name(header);
            self.follower.out.unknown(record)?;
            return Ok((length, Next::On));
        };

        let container = plan.container;
        record.name = container.name;
        record.plan = Some(id);
        record.kind = if container.partial { Kind::Partial } else { Kind::Packet };
        if !self.follower.options.headers {
            self.latch(record, container, follow);
            let described = u64::from(container.bits.div_ceil(32));
            let fixed =
                !matches!(container.kind, reflect::Kind::Instruction { variable: true, .. });
            if fixed
                && !container.partial
                && length != described
                && record.note.is_empty()
                && !may_be_shorter(container, header)
            {
                record.note = format!(
                    "the header says {length} dwords, the packet is described with {described}"
                );
            }
        }
        let unread =
            Unread { tables: self.follower.tables, bases: &self.follower.state.bases, plan };
        if self.follower.options.headers {
            self.follower.out.record(record)?;
        } else {
            self.follower.out.packet(record, &unread)?;
            if self.follower.options.follow && follow == Follow::LoadRegisterImm {
                unread.items(record);
            }
        }
        let next = match follow {
            Follow::BatchEnd => Next::Return,
            Follow::BatchStart => self.batch_start(record, container, depth)?,
            _ if self.follower.options.headers || !self.follower.options.follow => Next::On,
            follow => {
                self.follower.follow(record, id, follow, depth)?;
                Next::On
            }
        };
        Ok((length, next))
    }

    /// Applies the state that a packet sets.
    fn latch(&mut self, record: &Record, container: &'static reflect::Container, follow: Follow) {
        let state = &mut *self.follower.state;
        match follow {
            Follow::BaseAddresses => latch_bases(state, record, container),
            Follow::Stage(stage) => state.stages[stage].latch(record, container),
            Follow::BindingTable(stage) => {
                state.stages[stage].latch_binding_table(record, container)
            }
            Follow::SamplerTable(stage) => {
                state.stages[stage].latch_sampler_table(record, container)
            }
            Follow::BlendState
                if record.stored(container, "Blend State Pointer Valid") == Some(1) =>
            {
                state.blend = stage::pointer(record, container);
            }
            Follow::DrawState(sets) => state.draw.set(sets, record, container),
            Follow::CodedState(index) => state.coded.set(index, record, container),
            Follow::CodedData => state.coded.object(record, container),
            Follow::Surfaces(SurfaceUse::Codec) => state.coded.buffers(record, container),
            _ => {}
        }
    }

    fn batch_start(
        &mut self,
        record: &Record,
        container: &reflect::Container,
        depth: u32,
    ) -> io::Result<Next<'a>> {
        let flag = |name| record.stored(container, name) == Some(1);
        let Some(target) = record.address_of(container, "Batch Buffer Start Address") else {
            return Ok(Next::Return);
        };
        let target = target & VA_MASK;
        let second_level = flag("Second Level Batch Buffer");
        let predicated = flag("Predication Enable");
        // The batch continues after a jump that returns, or that may not be taken.
        let not_followed = if second_level || predicated { Next::On } else { Next::Return };
        if !self.follower.options.follow {
            return Ok(not_followed);
        }
        // Bit 8 selects the page table: 0 is the global one.
        let global = record.stored(container, "Address Space Indicator") == Some(0);
        let code = self.follower.space(global);
        if global && code.tail(target).is_empty() {
            let text = format_args!(
                "{target:#x} is an address of the GGTT, which is not there: not followed"
            );
            self.note(depth + 1, target, text)?;
            return Ok(not_followed);
        }
        if flag("Add Offset Enable") {
            self.note(
                depth + 1,
                target,
                format_args!("the BB_OFFSET register is added; decoded without it"),
            )?;
        }
        if second_level {
            if depth < MAX_DEPTH {
                self.level(target, None, depth + 1, code)?;
            } else {
                self.note(
                    depth + 1,
                    target,
                    format_args!("levels are nested too deep: not followed"),
                )?;
            }
            return Ok(Next::On);
        }
        if predicated {
            if depth >= MAX_DEPTH {
                self.note(
                    depth + 1,
                    target,
                    format_args!("levels are nested too deep: not followed"),
                )?;
            } else if self.follower.seen.new_conditional(target) {
                self.note(depth + 1, target, format_args!("jumps only if the predicate holds"))?;
                self.level(target, None, depth + 1, code)?;
            } else {
                let text =
                    format_args!("jumps only if the predicate holds, to what was decoded before");
                self.note(depth + 1, target, text)?;
            }
            return Ok(Next::On);
        }
        Ok(Next::Jump(target, code))
    }

    /// Emits a remark as a record of its own.
    pub fn note(&mut self, depth: u32, address: u64, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.follower.out.note(depth, address, text)
    }
}

/// Stores the bases that STATE_BASE_ADDRESS or MFX_IND_OBJ_BASE_ADDR_STATE sets. STATE_BASE_ADDRESS
/// sets only the bases whose modify enable is set.
fn latch_bases(state: &mut State, record: &Record, container: &reflect::Container) {
    use genxml_core::address::SpaceKind::*;
    for (space, base, enable) in [
        (
            GeneralState,
            "General State Base Address",
            Some("General State Base Address Modify Enable"),
        ),
        (
            SurfaceState,
            "Surface State Base Address",
            Some("Surface State Base Address Modify Enable"),
        ),
        (
            DynamicState,
            "Dynamic State Base Address",
            Some("Dynamic State Base Address Modify Enable"),
        ),
        (
            IndirectObject,
            "Indirect Object Base Address",
            Some("Indirect Object Base Address Modify Enable"),
        ),
        (Instruction, "Instruction Base Address", Some("Instruction Base Address Modify Enable")),
        (MfxBitstream, "MFX Indirect Bitstream Object - Address", None),
        (MfxMv, "MFX Indirect MV Object - Address", None),
        (MfdItCoeff, "MFD Indirect IT-COEFF Object - Address", None),
        (MfdItDblk, "MFD Indirect IT-DBLK Object - Address", None),
        (MfcPakBse, "MFC Indirect PAK-BSE Object - Address", None),
    ] {
        if enable.is_none_or(|enable| record.stored(container, enable) == Some(1))
            && let Some(address) = record.address_of(container, base)
        {
            state.bases.set(space, address);
        }
    }
}

/// True if the manual gives a range for the length field, and the length in `header` is in it.
fn may_be_shorter(container: &reflect::Container, header: u32) -> bool {
    let reflect::Kind::Instruction { length_field: Some((start, end)), .. } = container.kind else {
        return false;
    };
    let field = container.fields.iter().find(|field| (field.start, field.end) == (start, end));
    let stored = bits::get(&[header], start, end);
    field.and_then(|field| field.range).is_some_and(|(min, max)| min <= stored && stored <= max)
}

fn unknown_name(header: u32) -> &'static str {
    match (header >> 29, header >> 27 & 3) {
        (0, _) => "unknown MI command",
        (2, _) => "unknown blitter command",
        (3, 0 | 1) => "unknown common render command",
        (3, 2) => "unknown media command",
        (3, _) => "unknown 3D command",
        _ => "unknown command",
    }
}
