//! Checks that offsets lead to structures in heaps.

use super::buffer::{Buffer, Content};
use super::builder::FinishedBatch;
use super::error::BatchError;
use super::fields::{self, Found};
use super::heap::KERNEL;
use super::needs::{Names, Stage, Stages, Target};
use super::reloc::va;
use super::submission::{Submission, disjoint};
use crate::engine::{Engine, EngineId};
use crate::gen8::mi::{
    MiBatchBufferEnd, MiBatchBufferStart, MiBatchBufferStartSecondLevelBatchBuffer as Level,
};
use crate::gen8::state::StateBaseAddress;
use crate::gen8::{BlitterPacket, RenderPacket, VideoEnhancePacket, VideoPacket};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use genxml_core::address::SpaceKind;
use genxml_core::opcodes::unknown_length;
use genxml_core::reflect::Container;
use genxml_core::{Fixed, Packed};
use genxml_eu::needs::Needs;

/// The spaces whose bases STATE_BASE_ADDRESS sets.
const SPACES: [SpaceKind; 5] = [
    SpaceKind::GeneralState,
    SpaceKind::SurfaceState,
    SpaceKind::DynamicState,
    SpaceKind::IndirectObject,
    SpaceKind::Instruction,
];

/// Pointers that may also lead to structures of other names: the target of the pointer, and the
/// prefix of the other names.
const KINDS: [(&str, &str); 3] = [
    // Media samplers (AVS, convolve, erode and so on) are in the same tables.
    ("SAMPLER_STATE", "SAMPLER_STATE_8x8"),
    ("SAMPLER_INDIRECT_STATE", "SAMPLER_INDIRECT_STATE_BORDER_COLOR"),
    ("RENDER_SURFACE_STATE", "MEDIA_SURFACE_STATE"),
];

/// Base addresses of [`SPACES`]; `None` until one is set.
type Bases = [Option<u64>; SPACES.len()];

fn slot(space: SpaceKind) -> Option<usize> {
    SPACES.iter().position(|one| *one == space)
}

impl<E: Engine> FinishedBatch<E> {
    /// The batch and everything that it points to, checked:
    ///
    /// * no two buffers share addresses;
    /// * everything that packets and state refer to (`reads`, `writes`, jumps, calls) is in the
    ///   submission;
    /// * the bases in STATE_BASE_ADDRESS are in buffers of the submission;
    /// * an offset is used after its base was set (or declared by
    ///   [`assume_base`](super::Batch::assume_base)), and leads to something in the heap at that
    ///   base: a structure of the type that the field requires, or data without a type. If the
    ///   buffer at the base is not a heap, the offset must be inside the buffer. Offset 0 counts as
    ///   an unused pointer; a heap never returns it. Pointers inside state are checked when a
    ///   packet points to the state, with the bases at that packet.
    /// * a kernel in a heap ends its thread, and the state of its stage has what the kernel's
    ///   messages name: entries of the binding table and the sampler table, scratch space, room in
    ///   the URB entry that a vertex or domain shader writes. For stages of the 3D pipeline it is
    ///   the state at a draw. Only messages whose descriptor is in the instruction are checked, and
    ///   only tables in heaps.
    ///
    /// The check reads packets in the order of the command streamer: through jumps, calls and other
    /// batches, as far as they are in the submission. After a predicated jump it reads both
    /// branches. It reads each packet once for each set of bases, and routines once for each call.
    /// [`Submission::new`] skips these checks.
    ///
    /// ```
    /// use genxml::batch::{Batch, BatchError, Heap};
    /// use genxml::core::address::DynamicState;
    /// use genxml::engine::Render;
    /// use genxml::gen8::state::{InterfaceDescriptorData, StateBaseAddress};
    ///
    /// let mut dynamic = Heap::<DynamicState>::new("dynamic", 0x8000, 4096)?;
    /// let load = dynamic.interface_descriptors(&[InterfaceDescriptorData::new()])?;
    /// let mut batch = Batch::<Render>::new("batch", 0x1000, 4096)?.select_gpgpu()?;
    /// batch.emit(&load)?; // without STATE_BASE_ADDRESS
    /// let error = batch.finish()?.submit([dynamic.finish()]).unwrap_err();
    /// assert!(matches!(error, BatchError::NoBase { space: "dynamic-state", .. }));
    /// # Ok::<(), BatchError>(())
    /// ```
    ///
    /// # Errors
    /// [`BatchError::Overlap`], [`BatchError::Missing`], [`BatchError::NoBuffer`],
    /// [`BatchError::NoBase`], [`BatchError::Dangling`], [`BatchError::NoEnd`],
    /// [`BatchError::TooSmall`].
    pub fn submit(
        self,
        others: impl IntoIterator<Item = Buffer>,
    ) -> Result<Submission, BatchError> {
        let submission = Submission::new(self, others);
        disjoint(submission.buffers.iter().map(|buffer| (buffer, buffer.address)))?;
        submission.references()?;
        offsets(&submission)?;
        Ok(submission)
    }
}

/// Checks the packets of the batch in the order of the command streamer, and the state that they
/// point to.
fn offsets(submission: &Submission) -> Result<(), BatchError> {
    let mut checker = Checker {
        submission,
        seen: BTreeSet::new(),
        state: BTreeSet::new(),
        kernels: BTreeMap::new(),
        open: Vec::new(),
    };
    let (bases, stages) = (Bases::default(), Stages::default());
    checker.go(Point { at: submission.batch_address, back: None, bases, stages });
    while let Some(point) = checker.open.pop() {
        checker.packets(point)?;
    }
    Ok(())
}

/// A position of the command streamer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    /// Address of the next packet.
    at: u64,
    /// The return address, in a second-level batch.
    back: Option<u64>,
    bases: Bases,
    stages: Stages,
}

/// A piece of state: its heap, and its entry in the list of the heap's contents.
type State<'a> = (&'a Buffer, &'a Content);

struct Checker<'a> {
    submission: &'a Submission,
    /// Positions that were added to `open`: the start of the batch, targets of jumps, return
    /// addresses, and positions after jumps that may not be taken. Each is checked only once.
    seen: BTreeSet<Point>,
    /// State that was checked: its address, the bases at that time, and the size in bytes of the
    /// scratch space of media threads.
    state: BTreeSet<(u64, Bases, Option<u32>)>,
    /// What kernels need, by address.
    kernels: BTreeMap<u64, Needs>,
    /// Positions that are still to be checked.
    open: Vec<Point>,
}

impl<'a> Checker<'a> {
    /// Adds a position to be checked, if it is in the submission and was not added before. Bases
    /// that the position does not have yet are set to those that the buffer assumes.
    fn go(&mut self, mut point: Point) {
        let Some(buffer) = self.submission.find(point.at) else { return };
        for (space, base) in &buffer.assumed {
            if let Some(slot) = slot(*space) {
                point.bases[slot].get_or_insert(*base);
            }
        }
        if self.seen.insert(point) {
            self.open.push(point);
        }
    }

    /// Checks consecutive packets, to the end of the batch, a jump, or a position in `seen`.
    fn packets(&mut self, point: Point) -> Result<(), BatchError> {
        let Some(buffer) = self.submission.find(point.at) else { return Ok(()) };
        let Point { at: start, back, mut bases, mut stages } = point;
        let mut length = buffer.bytes.len();
        if buffer.address == self.submission.batch_address {
            length = length.min(self.submission.batch_length as usize);
        }
        let words = buffer.bytes[..length].as_chunks().0;
        let mut packet: Vec<u32> = Vec::new();
        let mut at = ((start - buffer.address) / 4) as usize;
        while let Some(header) = words.get(at).copied().map(u32::from_le_bytes) {
            let here = Point { at: buffer.address + 4 * at as u64, back, bases, stages };
            if here.at != start && self.seen.contains(&here) {
                return Ok(());
            }
            let engine = self.submission.engine;
            let Some(container) = find(engine, header) else {
                at += unknown_length(engine.set(), header);
                continue;
            };
            let end = (at + container.packet_dwords(header)).min(words.len());
            packet.clear();
            packet.extend(words[at..end].iter().copied().map(u32::from_le_bytes));
            let at_name = || format!("{} at +{:#x} of {}", container.name, 4 * at, buffer.name);
            if container == StateBaseAddress::INFO {
                self.latch(&StateBaseAddress::read_lossy(&packet), &mut bases, &at_name)?;
            } else {
                self.pointers(container, &packet, &bases, &mut stages, &at_name)?;
            }
            if container.name == "3DPRIMITIVE" {
                let names = Positions { submission: self.submission, position: &at_name };
                stages.draw(&mut |address| self.needs(address), &names)?;
            }
            let next = Point { at: buffer.address + 4 * end as u64, back, bases, stages };
            if container == MiBatchBufferStart::INFO {
                let start = MiBatchBufferStart::read_lossy(&packet);
                let target = va(start.batch_buffer_start_address.get());
                let call =
                    start.second_level_batch_buffer == Level::SECOND_LEVEL_BATCH && back.is_none();
                let back = if call { Some(next.at) } else { back };
                self.go(Point { at: target, back, bases, stages });
                // A routine outside the submission is assumed to return.
                let unknown = call && self.submission.find(target).is_none();
                if start.predication_enable || unknown {
                    self.go(next);
                }
                return Ok(());
            }
            if container == MiBatchBufferEnd::INFO {
                if let Some(at) = back {
                    self.go(Point { at, back: None, bases, stages });
                }
                return Ok(());
            }
            at = end;
        }
        Ok(())
    }

    fn latch(
        &self,
        packet: &StateBaseAddress,
        bases: &mut Bases,
        at_name: &dyn Fn() -> String,
    ) -> Result<(), BatchError> {
        let fields = [
            (
                packet.general_state_base_address_modify_enable,
                packet.general_state_base_address,
                "General State Base Address",
            ),
            (
                packet.surface_state_base_address_modify_enable,
                packet.surface_state_base_address,
                "Surface State Base Address",
            ),
            (
                packet.dynamic_state_base_address_modify_enable,
                packet.dynamic_state_base_address,
                "Dynamic State Base Address",
            ),
            (
                packet.indirect_object_base_address_modify_enable,
                packet.indirect_object_base_address,
                "Indirect Object Base Address",
            ),
            (
                packet.instruction_base_address_modify_enable,
                packet.instruction_base_address,
                "Instruction Base Address",
            ),
        ];
        for (slot, (enabled, base, field)) in fields.into_iter().enumerate() {
            if !enabled {
                continue;
            }
            let address = base.va48();
            // Base 0 is common: for an unused space, or if the offsets are full addresses.
            if address != 0 && self.submission.find(address).is_none() {
                return Err(BatchError::NoBuffer { at: at_name().into(), field, address });
            }
            bases[slot] = Some(address);
        }
        Ok(())
    }

    /// Checks the offsets in a packet, and the state that they lead to.
    fn pointers(
        &mut self,
        container: &'static Container,
        packet: &[u32],
        bases: &Bases,
        stages: &mut Stages,
        at_name: &dyn Fn() -> String,
    ) -> Result<(), BatchError> {
        let mut states = Vec::new();
        let targets = self.offsets(container, packet, bases, at_name, &mut states)?;
        stages.latch(container, packet, &targets);
        let scratch = stages.media_scratch;
        while let Some((heap, content)) = states.pop() {
            if self.state.insert((heap.address + content.offset, *bases, scratch)) {
                self.state_in(heap, content, bases, scratch, &mut states)?;
            }
        }
        Ok(())
    }

    /// Checks the offsets in a piece of state. The state that they lead to is added to `states`.
    fn state_in(
        &mut self,
        heap: &'a Buffer,
        content: &'a Content,
        bases: &Bases,
        scratch: Option<u32>,
        states: &mut Vec<State<'a>>,
    ) -> Result<(), BatchError> {
        let Some(container) = content.container else { return Ok(()) };
        let size = 4 * container.dwords();
        let bytes = &heap.bytes[content.offset as usize..][..content.bytes as usize];
        for (index, element) in bytes.chunks_exact(size.max(4)).enumerate() {
            let at_name = || {
                let offset = content.offset + (index * size) as u64;
                format!("{} at +{offset:#x} of {}", container.name, heap.name)
            };
            let targets = self.offsets(container, &dwords(element), bases, &at_name, states)?;
            if container.name == "INTERFACE_DESCRIPTOR_DATA" {
                let stage = Stage::of_descriptor(&targets, scratch);
                let names = Positions { submission: self.submission, position: &at_name };
                stage.check(&mut |address| self.needs(address), &names)?;
            }
        }
        Ok(())
    }

    /// Checks the offsets in a packet or structure. The state that they lead to is added to
    /// `states`; what kernels depend on is returned.
    fn offsets(
        &mut self,
        container: &'static Container,
        packet: &[u32],
        bases: &Bases,
        at_name: &dyn Fn() -> String,
        states: &mut Vec<State<'a>>,
    ) -> Result<Vec<Target>, BatchError> {
        let mut targets = Vec::new();
        for (found, slot) in offsets_in(container, packet) {
            let base = bases[slot];
            // No table: a heap never returns offset 0.
            if found.value == 0 {
                let heap = base.and_then(|base| self.submission.find(base));
                let none = heap.filter(|heap| heap.contents.is_some());
                targets.extend(none.and_then(|_| table(found.target, 0)));
                continue;
            }
            let Some((heap, content)) = self.pointer(&found, base, at_name)? else { continue };
            // `pointer` has found the base and the content at this address.
            let address = base.unwrap_or_default() + va(found.value);
            let entry = content.container.map_or(0, |container| 4 * container.dwords() as u64);
            let left = heap.address + content.offset + content.bytes - address;
            targets.extend(table(found.target, left.checked_div(entry).unwrap_or(0) as u32));
            if content.what == KERNEL && found.space == SpaceKind::Instruction {
                // The system routine returns to the thread.
                if container.name != "STATE_SIP"
                    && self.needs(address).is_some_and(|needs| !needs.ends)
                {
                    let kernel = kernel_name(heap, address).into();
                    return Err(BatchError::NoEnd { at: at_name().into(), kernel });
                }
                targets.push(Target::Kernel(address));
            }
            states.push((heap, content));
        }
        Ok(targets)
    }

    /// What the kernel at an address of a heap needs.
    fn needs(&mut self, address: u64) -> Option<Needs> {
        if let Some(needs) = self.kernels.get(&address) {
            return Some(*needs);
        }
        let heap = self.submission.find(address)?;
        let at = address - heap.address;
        let contents = heap.contents.as_deref()?;
        let before = contents.partition_point(|content| content.offset <= at);
        let content = contents[..before].last()?;
        let bytes = heap.bytes.get(at as usize..(content.offset + content.bytes) as usize)?;
        let needs = Needs::of(bytes);
        self.kernels.insert(address, needs);
        Some(needs)
    }

    /// Returns the state that an offset leads to, or `None` if the submission does not record it.
    /// A wrong offset is an error, and so is an offset from a base that is not set.
    fn pointer(
        &self,
        found: &Found,
        base: Option<u64>,
        at_name: &dyn Fn() -> String,
    ) -> Result<Option<State<'a>>, BatchError> {
        let base = base.ok_or_else(|| BatchError::NoBase {
            at: at_name().into(),
            field: found.field.name,
            space: found.space.name(),
        })?;
        let offset = va(found.value);
        let Some(heap) = self.submission.find(base) else { return Ok(None) };
        let at = base - heap.address + offset;
        let wrong = |what: String| BatchError::Dangling {
            at: at_name().into(),
            field: found.field.name,
            offset,
            heap: heap.name.clone(),
            found: what.into(),
        };
        let contents = heap.contents.as_deref().unwrap_or_default();
        let there = &contents[..contents.partition_point(|content| content.offset <= at)];
        // An empty array has no contents to compare with.
        if there
            .iter()
            .rev()
            .take_while(|content| content.offset == at)
            .any(|content| content.bytes == 0)
        {
            return Ok(None);
        }
        if at >= heap.bytes.len() as u64 {
            return Err(wrong(format!("it has only {} bytes", heap.bytes.len())));
        }
        // Only heaps record their contents.
        if heap.contents.is_none() {
            return Ok(None);
        }
        match there.last().filter(|content| at < content.offset + content.bytes) {
            None => Err(wrong("nothing was put there".to_string())),
            Some(content) if content.container.is_none() || fits(found.target, content.what) => {
                Ok(Some((heap, content)))
            }
            Some(content) => Err(wrong(format!("{} is there, not {}", content.what, found.target))),
        }
    }
}

/// True if a pointer to `target` may lead to state called `what`.
fn fits(target: &str, what: &str) -> bool {
    let also = |(pointer, start): &(&str, &str)| *pointer == target && what.starts_with(start);
    target.is_empty() || target == what || KINDS.iter().any(also)
}

/// Names for errors about kernels.
struct Positions<'a> {
    submission: &'a Submission,
    position: &'a dyn Fn() -> String,
}

impl Names for Positions<'_> {
    fn position(&self) -> String {
        (self.position)()
    }

    fn kernel(&self, address: u64) -> String {
        self.submission.find(address).map_or_else(String::new, |heap| kernel_name(heap, address))
    }
}

fn kernel_name(heap: &Buffer, address: u64) -> String {
    format!("the kernel at +{:#x} of {}", address - heap.address, heap.name)
}

/// The table of a kernel that a pointer to `target` leads to, with this number of entries.
fn table(target: &str, entries: u32) -> Option<Target> {
    match target {
        "BINDING_TABLE_STATE" => Some(Target::Surfaces(entries)),
        "SAMPLER_STATE" => Some(Target::Samplers(entries)),
        _ => None,
    }
}

/// The fields of a packet or structure that hold an offset from a base of [`SPACES`], each with the
/// index of this base in [`SPACES`].
fn offsets_in(container: &'static Container, dwords: &[u32]) -> Vec<(Found, usize)> {
    let mut all = Vec::new();
    fields::addresses(container, dwords, &mut |found| {
        all.extend(slot(found.space).map(|slot| (found, slot)));
    });
    all
}

fn dwords(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn find(engine: EngineId, header: u32) -> Option<&'static Container> {
    match engine {
        EngineId::Render => RenderPacket::find(header),
        EngineId::Blitter => BlitterPacket::find(header),
        EngineId::Video => VideoPacket::find(header),
        EngineId::VideoEnhance => VideoEnhancePacket::find(header),
    }
}
