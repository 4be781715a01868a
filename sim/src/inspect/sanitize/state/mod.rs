//! The sanitizer `state`: draws that rely on state which no packet of their context set, on values
//! that the manual reserves, or on a stale pointer.
//!
//! * [`uses`] lists what a 3DPRIMITIVE, a GPGPU_WALKER or a media object uses: packets, pointers,
//!   and structures in memory. [`kernels`] finds the surfaces and samplers of a kernel.
//! * [`setters`] records the newest packet that set each piece of state, for each context.
//! * [`targets`] finds the memory of vertex, index and constant buffers, when they are set and when
//!   they are read.
//! * [`values`] finds reserved values in structures.
//!
//! `genx check` has rules about packets and about structures that a dump contains. This sanitizer
//! checks what draws read when they run: also state that commands have written, and only the state
//! that a draw uses.
//!
//! A context of the model starts without state. On hardware, a context of Linux starts with the
//! state of the kernel's null batch. So a draw with a finding is not undefined there, but it uses
//! the values that the kernel happens to set. If a context is loaded from an image that hardware
//! saved, all its state counts as set.
//!
//! The first side of a finding is the packet that set or cleared the state, or the draw if there is
//! no such packet. The second side is the draw.

pub mod kernels;
pub mod rules;
pub mod setters;
pub mod targets;
pub mod uses;
pub mod values;

pub use rules::RULES;

use super::finding::{Finding, Side};
use super::sanitizer::Sanitize;
use crate::inspect::dispatch;
use crate::inspect::objects::Objects;
use crate::machine::drawing::{Drawing, Primitive};
use crate::machine::events::{Event, Now};
use crate::machine::fault::Place;
use crate::machine::registers::mmio_base;
use crate::machine::state::State;
use crate::machine::view::View;
use crate::mem::Va;
use crate::render::constant_buffers::BUFFERS;
use genxml::core::Fixed as _;
use genxml::core::latch::Latch as _;
use genxml::engine::EngineId;
use genxml::gen8::RenderPacket;
use genxml::gen8::engine_registers::MiPredicateResult;
use genxml::gen8::media::GpgpuWalker;
use genxml::gen8::mi::PipelineSelectPipelineSelection as Pipeline;
use genxml::gen8::render3d_fetch::{ThreeDPrimitive, VertexBufferState};
use genxml::gen8::state::StateBaseAddress;
use kernels::Kernels;
use rules::Id;
use rustc_hash::FxHashSet;
use setters::{Base, Key, Setter, Setters};
use std::collections::{BTreeMap, HashMap};
use targets::Target;
use uses::{Buffers, Structure, Use, Uses};
use values::Reserved;

/// What distinguishes findings: rule, context, the state, the packet that set it, and the first bit
/// of a field or the number of a buffer.
type Known = (Id, u32, Key, Option<(u64, u64)>, u32);

/// The sanitizer.
#[derive(Debug, Default)]
pub struct UsedState {
    setters: Setters,
    kernels: Kernels,
    objects: Objects,
    /// Context of the latest packet of the render engine.
    context: u32,
    /// Dwords of structures without reserved values, by the name of the structure.
    clean: BTreeMap<&'static str, FxHashSet<Vec<u32>>>,
    findings: Vec<Finding>,
    known: HashMap<Known, usize>,
}

/// Maximum number of structures of a name in [`UsedState::clean`].
const CLEAN: usize = 1 << 14;

impl Sanitize for UsedState {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        if now.engine != EngineId::Render {
            return;
        }
        match event {
            Event::Objects(list) => self.objects.replace(list),
            Event::Submission { .. } => self.kernels.clear(),
            Event::Packet { at, context, dwords, view } => {
                self.context = *context;
                self.packet(at, dwords, *view);
            }
            Event::Draw(drawing) => match drawing.packet {
                Primitive::Gen8(packet) => self.draw(drawing, packet),
                #[cfg(feature = "gen45")]
                Primitive::Gen45(_) => {}
            },
            _ => {}
        }
    }

    fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl UsedState {
    fn draw(&mut self, drawing: &Drawing<'_>, packet: &ThreeDPrimitive) {
        let uses = uses::of_draw(drawing, packet, &mut self.kernels);
        let Uses { packets, structures, .. } = uses;
        self.pipeline(&drawing.at, drawing.state, Pipeline::_3D);
        self.check(&drawing.at, drawing, &packets, &structures);
    }

    fn packet(&mut self, at: &Place, dwords: &[u32], view: &dyn View) {
        self.setters.begin(self.context, view.state());
        self.record(at, dwords, view);
        let Some((index, own_constants)) = dispatch::descriptor(at.packet, dwords) else { return };
        let walker = at.packet == "GPGPU_WALKER";
        if walker && GpgpuWalker::read_lossy(dwords).predicate_enable {
            let offset = mmio_base(at.engine) + MiPredicateResult::OFFSET;
            let register = view.state().registers.read(offset);
            if !MiPredicateResult::unpack_lossy(&[register]).result {
                return;
            }
        }
        let uses = uses::of_media(view, index, own_constants, &mut self.kernels);
        let Uses { packets, structures, .. } = uses;
        let pipeline = if walker { Pipeline::GPGPU } else { Pipeline::MEDIA };
        self.pipeline(at, view.state(), pipeline);
        self.check(at, view, &packets, &structures);
    }

    /// Records what a packet sets.
    fn record(&mut self, at: &Place, dwords: &[u32], view: &dyn View) {
        let Ok((packet, _)) = RenderPacket::parse(dwords) else { return };
        let (context, state) = (self.context, view.state());
        let setters = &mut self.setters;
        let objects = &self.objects;
        let points = |setters: &mut Setters, key, addresses: [Option<u64>; BUFFERS]| {
            let buffers = addresses.map(|address| Target::at(objects, view, address?));
            let setter = Setter { at: *at, bases: state.base, target: None, buffers };
            setters.set(context, key, setter);
        };
        let set = |setters: &mut Setters, key| points(setters, key, [None; BUFFERS]);
        match &packet {
            RenderPacket::ThreeDStateVertexBuffers(buffers) => {
                for buffer in buffers.unpack_lossy().vertex_buffer_state.iter() {
                    let entry = buffer.vertex_buffer_index.get() as usize;
                    let key = Key::Slot(usize::from(VertexBufferState::SLOTS.first) + entry);
                    // The buffer keeps its address, so the packet that set it does not change.
                    if !buffer.address_modify_enable && setters.get(context, key).is_some() {
                        continue;
                    }
                    let address = buffer.buffer_starting_address.va48();
                    points(setters, key, [Some(address), None, None, None]);
                }
            }
            RenderPacket::StateBaseAddress(_) => {
                let packet = StateBaseAddress::read_lossy(dwords);
                for (base, modified) in [
                    (Base::Dynamic, packet.dynamic_state_base_address_modify_enable),
                    (Base::Surface, packet.surface_state_base_address_modify_enable),
                    (Base::Instruction, packet.instruction_base_address_modify_enable),
                    (Base::Indirect, packet.indirect_object_base_address_modify_enable),
                ] {
                    if modified {
                        set(setters, Key::Base(base));
                    }
                }
            }
            RenderPacket::PipelineSelect(_) => set(setters, Key::Pipeline),
            RenderPacket::MediaVfeState(_) => set(setters, Key::FrontEnd),
            RenderPacket::MediaInterfaceDescriptorLoad(_) => set(setters, Key::Descriptors),
            RenderPacket::MediaCurbeLoad(_) => set(setters, Key::Constants),
            RenderPacket::PipeControl(packet) => {
                if packet.unpack_lossy().generic_media_state_clear {
                    setters.clear(context, *at);
                }
            }
            packet => {
                if let Some(slots) = packet.latch() {
                    let entry = slots.entry(dwords);
                    if entry < usize::from(slots.entries) {
                        let key = Key::Slot(usize::from(slots.first) + entry);
                        points(setters, key, targets::of_packet(state, packet));
                    }
                }
            }
        }
    }

    /// Checks that a draw runs in the selected pipeline.
    fn pipeline(&mut self, at: &Place, state: &State, needed: Pipeline) {
        let setter = self.setters.get(self.context, Key::Pipeline).map(|setter| setter.at);
        if state.pipeline == needed || setter.is_none() && state.pipeline == Pipeline::_3D {
            return;
        }
        let name = |pipeline: Pipeline| pipeline.name().unwrap_or("unknown");
        let first = match setter {
            Some(_) => format!("selects the pipeline {}", name(state.pipeline)),
            None => {
                format!("runs in the pipeline {}, no packet selected one", name(state.pipeline))
            }
        };
        let second = format!("needs the pipeline {}", name(needed));
        self.report(Id::Pipeline, Key::Pipeline, setter, 0, at, (first, second), (0, 0));
    }

    fn check(&mut self, at: &Place, view: &dyn View, packets: &[Use], structures: &[Structure]) {
        // The target of a wrong pointer is not checked: the pointer has the finding already.
        let mut wrong = Vec::new();
        for used in packets {
            if !self.used(at, view, used) {
                wrong.push(used.key);
            }
        }
        for structure in structures.iter().filter(|structure| !wrong.contains(&structure.key)) {
            let setter = self.setters.get(self.context, structure.key).map(|setter| setter.at);
            // Draws read the same structures again and again.
            let clean = self.clean.entry(structure.container.name).or_default();
            if clean.contains(&structure.dwords) {
                continue;
            }
            let mut found = Vec::new();
            values::reserved(structure.container, &structure.dwords, &mut |it| found.push(it));
            if found.is_empty() && clean.len() < CLEAN {
                clean.insert(structure.dwords.clone());
            }
            for reserved in found {
                self.reserved(at, setter, structure, reserved);
            }
        }
    }

    /// Checks a packet and its pointer. Returns false if the target of the pointer must not be
    /// checked.
    fn used(&mut self, at: &Place, view: &dyn View, used: &Use) -> bool {
        let Use { key, packet, source, why, .. } = *used;
        let setter = self.setters.get(self.context, key).copied();
        let author = setter.map(|setter| setter.at);
        let latched = matches!(key, Key::Slot(_));
        // The values of a base address and of the selected pipeline do not show whether a packet
        // set them before the first packet that was seen.
        let unknown =
            matches!(key, Key::Base(_) | Key::Pipeline) && !self.setters.is_whole(self.context);
        let set = used.set || unknown || view.state().restored || setter.is_some() && !latched;
        let entry = used.entry.map_or(String::new(), |entry| format!(" of entry {entry}"));
        let uses = format!("uses {packet}{entry}: {why} ({source})");
        if !set {
            let (id, first, author) = match self.setters.cleared(self.context, key) {
                Some(at) => (Id::Lost, format!("clears the state of {packet}"), Some(at)),
                None => (Id::Unset, format!("no packet of the context is {packet}{entry}"), None),
            };
            self.report(id, key, author, 0, at, (first, uses), (0, 0));
            return false;
        }
        if used.invalid {
            let first = "sets the pointer without its valid bit".to_owned();
            self.report(Id::Invalid, key, author, 0, at, (first, uses), (0, 0));
            return false;
        }
        if let (Some(buffers), Some(setter)) = (used.buffers, setter) {
            self.buffers(at, view, used, &buffers, &setter);
        }
        let (Some((base, offset)), Some(setter)) = (used.pointer, setter) else { return true };
        let (old, new) = (base.of(&setter.bases), base.of(&view.state().base));
        let address = new.wrapping_add(offset);
        if old != new {
            let by = self.setters.get(self.context, Key::Base(base)).map(|setter| setter.at);
            let by = by.map_or(String::new(), |at| format!(" ({at})"));
            let first =
                format!("sets the offset {offset:#x} from {}, then {}", base.name(), Va(old));
            let second = format!("{uses}; the base is {}{by}", Va(new));
            self.report(Id::StaleBase, key, author, 0, at, (first, second), (0, 0));
            return false;
        }
        // The memory of buffers is compared already.
        if used.buffers.is_some() {
            return true;
        }
        let Some(physical) = view.physical(address) else { return true };
        let Some(setter) = self.setters.get(self.context, key) else { return true };
        match setter.target {
            Some((known, before)) if known == address && before != physical => {
                setter.target = Some((address, physical));
                let first = format!("sets the pointer to {}", Va(address));
                self.report(Id::StaleMemory, key, author, 0, at, (first, uses), (0, 0));
            }
            Some(_) => {}
            None => setter.target = Some((address, physical)),
        }
        true
    }

    /// Checks that the memory of buffers is what it was when their packet was executed.
    fn buffers(
        &mut self,
        at: &Place,
        view: &dyn View,
        used: &Use,
        buffers: &Buffers,
        setter: &Setter,
    ) {
        for (number, address) in buffers.addresses.iter().enumerate() {
            let (Some(address), Some(before)) = (address, setter.buffers[number]) else { continue };
            // The address of a constant buffer can depend on a base, which has its own rule.
            if *address != before.address {
                continue;
            }
            let now = Target::at(&self.objects, view, *address);
            if now == Some(before) {
                continue;
            }
            let Use { packet, source, why, .. } = used;
            let entry = match (used.entry, buffers.rule) {
                (Some(entry), _) => format!(" of entry {entry}"),
                (None, Id::StaleConstants) => format!(" with buffer {number}"),
                (None, _) => String::new(),
            };
            let first = format!("sets the address {}, in {before}", Va(*address));
            let memory = match now {
                Some(now) if now.object.is_some() && now.object == before.object => {
                    "another object of this size has the address now".to_owned()
                }
                Some(now) => format!("the address is in {now} now"),
                None => "no memory of the submission has the address now".to_owned(),
            };
            let second = format!("uses {packet}{entry}: {why} ({source}); {memory}");
            let (rule, bit) = (buffers.rule, number as u32);
            self.report(rule, used.key, Some(setter.at), bit, at, (first, second), (0, 0));
        }
    }

    fn reserved(
        &mut self,
        at: &Place,
        setter: Option<Place>,
        structure: &Structure,
        reserved: Reserved,
    ) {
        let Reserved { field, bits: (start, end), value, named } = reserved;
        let container = structure.container;
        let (dword, low, high) = (start / 32, start % 32, start % 32 + (end - start));
        let position = match high == low {
            true => format!("dw{dword} {low}"),
            false => format!("dw{dword} {high}:{low}"),
        };
        let second = match named {
            true => format!("reads {}: {field} ({position}) is {value}", container.name),
            false => format!("reads {}: {position} is {value:#x}", container.name),
        };
        let second = format!("{second} ({})", container.source);
        let id = if named { Id::ReservedValue } else { Id::ReservedBits };
        let first = format!("locates {}", container.name);
        let bytes = 4 * structure.dwords.len() as u64;
        let sides = (first, second);
        self.report(id, structure.key, setter, start + 1, at, sides, (structure.address, bytes));
    }

    #[expect(clippy::too_many_arguments, reason = "a finding has as many parts")]
    fn report(
        &mut self,
        id: Id,
        key: Key,
        setter: Option<Place>,
        bit: u32,
        at: &Place,
        (first, second): (String, String),
        (address, bytes): (u64, u64),
    ) {
        let author = setter.map(|at| (at.batch, at.address));
        let known = (id, self.context, key, author, bit);
        if let Some(&index) = self.known.get(&known) {
            self.findings[index].count += 1;
            return;
        }
        self.known.insert(known, self.findings.len());
        let first =
            Side { action: first, at: setter.unwrap_or(*at), thread: None, address: 0, bytes: 0 };
        let second = Side { action: second, at: *at, thread: None, address, bytes };
        self.findings.push(Finding { rule: id.rule(), first, second, count: 1 });
    }
}
