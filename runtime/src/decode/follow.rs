//! Emits the targets of pointers in packets: interface descriptors, kernels, binding tables,
//! surfaces, samplers, constants.
//!
//! For any address field whose `target` names a structure, one structure is emitted. If the number
//! of structures is stored elsewhere, this module has code for it.
//!
//! The counts in interface descriptors are hints for prefetching on Gen8: a kernel may use more
//! surfaces, and a count of zero is common. So the decoder emits the binding table entries and the
//! samplers that the kernel's messages use. It also emits the other binding table entries that are
//! not zero, up to the hint or the last used entry. If some messages are unknown (the kernel
//! computes descriptors, or is not in the dump), it emits all entries and samplers up to the hint.
//! If then the hint is zero, it emits binding table entries up to the first that looks invalid.

use super::effects::{Follow, Sets, is_target};
use super::fields::Fields;
use super::kernel::{self, MAX_SAMPLERS, Used};
use super::options::Options;
use super::output::Output;
use super::plan::{FieldPlan, Part, Plan, PlanId};
use super::record::{Kind, Record, Uses, Value};
use super::seen::Seen;
use super::sink::Sink;
use super::state::State;
use super::tables::{Tables, generation_name};
use crate::memory::Memory;
use genxml_core::address::SpaceKind;
use genxml_core::reflect::{self, Type};
use genxml_eu::Generation;
use std::fmt;
use std::io;
use std::rc::Rc;

/// Largest number of interface descriptors in one load: the limit of the field (2a p.487).
const MAX_DESCRIPTORS: u64 = 64;
/// Largest number of emitted binding table entries if their number is unknown.
const MAX_GUESSED: u32 = 32;
/// The structure whose length depends on the number of render targets.
pub(super) const BLEND_STATE: &str = "BLEND_STATE";
/// Names of the structure with a sampler's border colour: the manual's and Mesa's.
const BORDER_COLOR: [&str; 2] = ["SAMPLER_INDIRECT_STATE", "SAMPLER_BORDER_COLOR_STATE"];
/// Largest depth of structures that point to structures.
const MAX_NESTING: u32 = 6;

/// True if a sampler uses its border colour for coordinates outside the surface.
fn has_border(sampler: &Record) -> bool {
    sampler.items.iter().any(|item| match item.value {
        Value::Enum { name: Some(name) } => name.contains("_BORDER"),
        _ => false,
    })
}

/// Emits what packets point to.
pub(super) struct Follower<'a> {
    pub tables: &'a Tables,
    pub options: &'a Options,
    pub memory: &'a dyn Memory,
    pub state: &'a mut State,
    pub out: Output<'a>,
    pub seen: Seen,
    /// Index of the binding table entry whose target is being emitted, and how kernels use that
    /// target. For a sampler: the entry of the surface that a message uses together with it.
    entry: Option<(u32, Uses)>,
    /// Binding table index and uses of the surface that was emitted last.
    surface_entry: Option<(u32, Uses)>,
}

impl<'a> Follower<'a> {
    /// A follower that has emitted nothing yet.
    pub fn new(
        tables: &'a Tables,
        options: &'a Options,
        memory: &'a dyn Memory,
        state: &'a mut State,
        sink: &'a mut dyn Sink,
    ) -> Follower<'a> {
        Follower {
            tables,
            options,
            memory,
            state,
            out: Output::new(sink, options.max_dwords),
            seen: Seen::new(options.every_draw),
            entry: None,
            surface_entry: None,
        }
    }

    /// Memory through the global page table if `global`, otherwise through the context's page
    /// tables. A dump with only one address space has the same memory for both.
    pub fn space(&self, global: bool) -> &'a dyn Memory {
        match global {
            true => self.memory.global().unwrap_or(self.memory),
            false => self.memory,
        }
    }

    /// Emits a remark as a record of its own.
    pub fn note(&mut self, depth: u32, address: u64, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.out.note(depth, address, text)
    }
}

impl Follower<'_> {
    /// Emits what the packet in `record` points to.
    pub fn follow(
        &mut self,
        record: &Record,
        id: PlanId,
        follow: Follow,
        depth: u32,
    ) -> io::Result<()> {
        let tables = self.tables;
        let plan = tables.plan(id);
        let container = plan.container;
        match follow {
            Follow::DrawState(Sets::Array(_))
            | Follow::Targets
            | Follow::Stage(_)
            | Follow::CodedState(_)
            | Follow::BlendState => self.targets(plan, record, depth + 1, 0),
            Follow::Nothing
            | Follow::BatchStart
            | Follow::BatchEnd
            | Follow::BaseAddresses
            | Follow::Blit
            | Follow::DrawState(_) => Ok(()),
            Follow::BindingTable(stage) => self.unused_surfaces(stage, depth + 1),
            Follow::SamplerTable(stage) => self.unused_sampler(stage, depth + 1),
            Follow::Draw => self.draw(record, container, depth + 1),
            Follow::LoadRegisterImm => self.load_immediate(record, container, depth + 1),
            Follow::MoveRegister => self.move_register(record, container, depth + 1),
            Follow::Math => self.math(record, container, depth + 1),
            Follow::Constants => self.push_constants(record, container, depth + 1),
            Follow::Gather => self.gathered(record, container, depth + 1),
            Follow::LocatedData | Follow::CodedData => {
                self.located_data(record, container, depth + 1)
            }
            Follow::Scratch => self.scratch(record, container, depth + 1),
            Follow::Surfaces(shown) => self.surfaces(shown, record, container, depth + 1),
            Follow::InterfaceDescriptorLoad => {
                let bytes =
                    record.stored(container, "Interface Descriptor Total Length").unwrap_or(0);
                let start =
                    self.resolve(record, container, "Interface Descriptor Data Start Address");
                let Some(descriptor) = tables.named("INTERFACE_DESCRIPTOR_DATA") else {
                    return Ok(());
                };
                let size = u64::from(tables.plan(descriptor).container.bits / 8).max(1);
                let count = (bytes / size).min(MAX_DESCRIPTORS);
                for index in 0..count {
                    match start {
                        Some(start) => {
                            let at = start + index * size;
                            self.structure(
                                descriptor,
                                at,
                                (count > 1).then_some(index as u32),
                                depth + 1,
                                0,
                            )?;
                        }
                        None => return self.no_base(depth + 1, SpaceKind::DynamicState),
                    }
                }
                Ok(())
            }
        }
    }

    /// The GPU address in the field `name`; `None` if there is no such address field or its base is
    /// unknown.
    fn resolve(&self, record: &Record, container: &reflect::Container, name: &str) -> Option<u64> {
        let field = container.fields.iter().find(|field| field.name == name)?;
        let Type::Address { space, .. } = field.ty else { return None };
        self.state.bases.absolute(space, record.address_of(container, name)?)
    }

    pub fn no_base(&mut self, depth: u32, space: SpaceKind) -> io::Result<()> {
        self.note(
            depth,
            0,
            format_args!("not followed: no STATE_BASE_ADDRESS has set the {} base", space.name()),
        )
    }

    /// Emits the structure at `at` with what it points to.
    pub fn structure(
        &mut self,
        id: PlanId,
        at: u64,
        index: Option<u32>,
        depth: u32,
        nesting: u32,
    ) -> io::Result<()> {
        let bits = self.tables.plan(id).container.bits;
        self.dwords(id, at, bits.div_ceil(32), index, depth, nesting)
    }

    /// Emits the structure at `at` with only the first `elements` elements of its array.
    pub fn part(&mut self, id: PlanId, at: u64, elements: u32, depth: u32) -> io::Result<()> {
        let container = self.tables.plan(id).container;
        let end = container.groups.first().map(|group| {
            // The count of an array without a fixed size is 0.
            let most = if group.count == 0 { u32::MAX } else { group.count };
            group.start + elements.min(most) * group.bits
        });
        self.dwords(id, at, end.unwrap_or(container.bits).div_ceil(32), None, depth, 1)
    }

    /// Emits the first dwords of a structure with what they point to.
    fn dwords(
        &mut self,
        id: PlanId,
        at: u64,
        needed: u32,
        index: Option<u32>,
        depth: u32,
        nesting: u32,
    ) -> io::Result<()> {
        let tables = self.tables;
        let plan = tables.plan(id);
        let mut record = self.out.new_record(Kind::Struct, depth, at, plan.container.name);
        record.index = index;
        record.plan = Some(id);
        record.uses = self.entry.map(|(_, uses)| uses);
        let needed = needed as usize;
        record.length = needed as u32;
        let there = self.memory.dwords(at, needed, &mut record.dwords);
        self.out.spend(needed as u64);
        if there == 0 {
            let name = plan.container.name;
            self.note(depth, at, format_args!("{name} at {at:#x}: nothing is mapped there"))?;
        } else {
            if there < needed {
                record.note = format!("cut short: {there} of {needed} dwords are in memory");
                self.out.count_problems(1);
            }
            let Record { dwords, items, .. } = &mut record;
            Fields { tables, bases: &self.state.bases, dwords, items }.all(plan);
            self.out.structure(&record, self.memory)?;
            if plan.container.name == "RENDER_SURFACE_STATE" {
                self.surface_entry = self.entry;
            }
            if nesting < MAX_NESTING && there == needed && self.out.budget() > 0 {
                if plan.container.name == "INTERFACE_DESCRIPTOR_DATA" {
                    self.descriptor(plan, &record, depth + 1, nesting + 1)?;
                } else {
                    self.targets(plan, &record, depth + 1, nesting + 1)?;
                }
            }
        }
        self.out.reuse(record);
        Ok(())
    }

    /// Follows the address fields that have a target and are in use, except those in nested
    /// structures and groups.
    fn targets(
        &mut self,
        plan: &Plan,
        record: &Record,
        depth: u32,
        nesting: u32,
    ) -> io::Result<()> {
        let container = plan.container;
        // The pointers of a disabled stage are not used.
        if ["Enable", "Function Enable"]
            .iter()
            .any(|name| record.stored(container, name) == Some(0))
        {
            return Ok(());
        }
        for part in &plan.parts {
            let Part::Field(part @ FieldPlan { field, .. }) = part else { continue };
            if !part.exists(&record.dwords, 0) || !is_target(field) {
                continue;
            }
            let Type::Address { space, target, .. } = field.ty else { continue };
            let valid =
                |other: &&reflect::Field| other.name.strip_suffix(" Valid") == Some(field.name);
            if container
                .fields
                .iter()
                .find(valid)
                .is_some_and(|it| record.stored(container, it.name) == Some(0))
            {
                continue;
            }
            if let (SpaceKind::Instruction, Follow::Stage(stage)) = (space, plan.follow)
                && !self.state.stages[stage].runs(field.name)
            {
                continue;
            }
            let Some(value) = record.address_of(container, field.name) else { continue };
            let Some(at) = self.state.bases.absolute(space, value) else {
                if value != 0 {
                    self.no_base(depth, space)?;
                }
                continue;
            };
            // Drivers write zero for an unused pointer, and map nothing there. The pointer to the
            // border colour is unused unless the sampler uses its border.
            let none = self.memory.tail(at).is_empty()
                || BORDER_COLOR.contains(&target) && !has_border(record);
            if value == 0 && none {
                continue;
            }
            // Units of Gen4 keep the pointer of an earlier state if they have no samplers.
            if target == "SAMPLER_STATE" && record.stored(container, "Sampler Count") == Some(0) {
                continue;
            }
            if space == SpaceKind::Instruction {
                self.kernel(at, depth)?;
            } else if let Some(id) = self.tables.named(target) {
                if target == BLEND_STATE {
                    self.part(id, at, 1, depth)?;
                    continue;
                }
                self.structure(id, at, None, depth, nesting)?;
            }
        }
        Ok(())
    }

    /// Emits kernel, surfaces and samplers of an interface descriptor.
    fn descriptor(
        &mut self,
        plan: &Plan,
        record: &Record,
        depth: u32,
        nesting: u32,
    ) -> io::Result<()> {
        let container = plan.container;
        let used = match self.resolve(record, container, "Kernel Start Pointer") {
            Some(at) => self.kernel(at, depth)?,
            None => {
                self.no_base(depth, SpaceKind::Instruction)?;
                Rc::default()
            }
        };
        self.begin_surfaces();
        let hint = record.stored(container, "Binding Table Entry Count").unwrap_or(0) as u32;
        let table = record.address_of(container, "Binding Table Pointer");
        match table.and_then(|pointer| self.table_at(pointer)) {
            Some(at) => self.binding_table(at, hint, &used, depth, nesting)?,
            None => self.no_base(depth, SpaceKind::SurfaceState)?,
        }
        // The count is in units of four.
        let hint = 4 * record.stored(container, "Sampler Count").unwrap_or(0).min(4) as u32;
        let samplers = used.samplers_or(hint);
        if samplers == 0 {
            return Ok(());
        }
        let at = self.resolve(record, container, "Sampler State Pointer");
        self.sampler_table(at, samplers, &used, depth, nesting)
    }

    /// Emits sampler `n` of the table at `at` if bit `n` of `samplers` is set. If a message uses
    /// both the sampler and the last surface, the record of the sampler has the uses of that
    /// surface.
    pub fn sampler_table(
        &mut self,
        at: Option<u64>,
        samplers: u16,
        used: &Used,
        depth: u32,
        nesting: u32,
    ) -> io::Result<()> {
        let Some(at) = at else { return self.no_base(depth, SpaceKind::DynamicState) };
        let Some(id) = self.tables.named("SAMPLER_STATE") else { return Ok(()) };
        let size = u64::from(self.tables.plan(id).container.bits / 8);
        for index in (0..MAX_SAMPLERS).filter(|index| samplers >> index & 1 != 0) {
            let meets = |&(entry, _): &(u32, _)| used.meet(entry, index);
            self.entry = self.surface_entry.filter(meets);
            let shown =
                self.structure(id, at + u64::from(index) * size, Some(index), depth, nesting);
            self.entry = None;
            shown?;
        }
        Ok(())
    }

    pub fn binding_table(
        &mut self,
        at: u64,
        hint: u32,
        used: &Used,
        depth: u32,
        nesting: u32,
    ) -> io::Result<()> {
        let Some(id) = self.tables.named("BINDING_TABLE_STATE") else { return Ok(()) };
        let container = self.tables.plan(id).container;
        let guess = !used.complete && hint == 0;
        let end = if guess { MAX_GUESSED } else { hint.max(used.surfaces_end()) };
        let mut dwords = Vec::new();
        let there = self.memory.dwords(at, end as usize, &mut dwords) as u32;
        for index in 0..there {
            let entry = std::slice::from_ref(&dwords[index as usize]);
            let needed = used.surface(index);
            if !needed && guess && !self.looks_like_entry(container, entry) {
                break;
            }
            if needed || entry[0] != 0 || !used.complete && index < hint {
                self.entry = Some((index, used.uses(index)));
                let shown =
                    self.structure(id, at + 4 * u64::from(index), Some(index), depth, nesting);
                self.entry = None;
                shown?;
            }
        }
        if there < end && (0..end).any(|index| index >= there && used.surface(index)) {
            self.note(
                depth,
                at,
                format_args!(
                    "binding table at {at:#x}: entries that the kernel uses are not mapped"
                ),
            )?;
        }
        Ok(())
    }

    /// Emits the surface states of a binding table with entries of 16 bits, which the resource
    /// streamer wrote: those that the kernel uses. If not all uses of the kernel are known, also
    /// emits the others before `hint` that are not zero.
    pub fn hardware_table(
        &mut self,
        at: u64,
        hint: u32,
        used: &Used,
        depth: u32,
    ) -> io::Result<()> {
        let named = |name| self.tables.named(name);
        let (Some(entry), Some(surface)) =
            (named("HW Generated BINDING_TABLE_STATE"), named("RENDER_SURFACE_STATE"))
        else {
            return Ok(());
        };
        let entry = self.tables.plan(entry).container;
        let Some(field) = entry.fields.iter().find(|field| field.name == "Surface State Pointer")
        else {
            return Ok(());
        };
        let end = hint.max(used.surfaces_end());
        let mut dwords = Vec::new();
        self.memory.dwords(at, (end * entry.bits).div_ceil(32) as usize, &mut dwords);
        let there = 32 * dwords.len() as u32 / entry.bits;
        for index in 0..end.min(there) {
            let start = index * entry.bits;
            let stored = genxml_core::bits::get(&dwords, start + field.start, start + field.end);
            if !used.surface(index) && (used.complete || index >= hint || stored == 0) {
                continue;
            }
            let offset = field.stored.decode(stored);
            let Some(target) = self.state.bases.absolute(SpaceKind::SurfaceState, offset) else {
                return self.no_base(depth, SpaceKind::SurfaceState);
            };
            self.entry = Some((index, used.uses(index)));
            let shown = self.structure(surface, target, Some(index), depth, 1);
            self.entry = None;
            shown?;
        }
        if there < used.surfaces_end() {
            let text = "entries that the kernel uses are not mapped";
            self.note(depth, at, format_args!("binding table at {at:#x}: {text}"))?;
        }
        Ok(())
    }

    /// True if the entry is not zero, has no reserved bit set, and its target is in memory.
    fn looks_like_entry(&self, container: &reflect::Container, entry: &[u32]) -> bool {
        let clean = container.fields.iter().all(|field| {
            !matches!(field.ty, Type::MustBeZero | Type::Reserved)
                || genxml_core::bits::get(entry, field.start, field.end) == 0
        });
        let base = self.state.bases.absolute(SpaceKind::SurfaceState, entry[0].into());
        clean && entry[0] != 0 && base.is_some_and(|at| !self.memory.tail(at).is_empty())
    }

    /// Starts a new table of surfaces: later samplers do not belong to surfaces of earlier tables.
    pub fn begin_surfaces(&mut self) {
        self.surface_entry = None;
    }

    /// Emits the kernel at `at`, or only a remark if it was emitted before. Returns the surfaces
    /// and samplers that it uses.
    fn kernel(&mut self, at: u64, depth: u32) -> io::Result<Rc<Used>> {
        if let Some(used) = self.seen.kernel(at) {
            self.note(depth, at, format_args!("kernel at {at:#x}: shown before"))?;
            return Ok(used);
        }
        if self.memory.tail(at).is_empty() {
            self.note(depth, at, format_args!("kernel at {at:#x}: nothing is mapped there"))?;
            return Ok(Rc::default());
        }
        let generation = self.tables.kernels();
        let Some(instructions) = Generation::of(generation) else {
            let name = generation_name(generation);
            let text = "instructions of this generation cannot be disassembled";
            self.note(depth, at, format_args!("kernel at {at:#x}: {name}: {text}"))?;
            self.seen.add_kernel(at, Rc::default());
            return Ok(Rc::default());
        };
        let mut record = self.out.new_record(Kind::Kernel, depth, at, "kernel");
        let used = Rc::new(kernel::read(
            instructions,
            self.memory,
            at,
            self.out.budget().saturating_mul(4),
            &mut record,
            self.options.kernels,
        ));
        if record.dwords.is_empty() {
            self.note(depth, at, format_args!("kernel at {at:#x}: there is no instruction"))?;
        } else {
            self.seen.add_kernel(at, Rc::clone(&used));
            self.out.spend(record.dwords.len() as u64);
            self.out.record(&record)?;
        }
        self.out.reuse(record);
        Ok(used)
    }

    /// Returns the surfaces and samplers that the kernel at `at` uses. Emits the kernel if it was
    /// not emitted before.
    pub fn kernel_used(&mut self, at: u64, depth: u32) -> io::Result<Rc<Used>> {
        match self.seen.kernel(at) {
            Some(used) => Ok(used),
            None => self.kernel(at, depth),
        }
    }

    /// Emits `length` bytes at `at` as plain dwords, at most `max_data` bytes. Emits
    /// nothing if option `data` is not set or `length` is 0 or `None`.
    pub fn data(
        &mut self,
        name: &'static str,
        index: Option<u32>,
        at: Option<u64>,
        length: Option<u64>,
        depth: u32,
    ) -> io::Result<()> {
        let length = length.unwrap_or(0);
        if length == 0 || !self.options.data {
            return Ok(());
        }
        let Some(at) = at else {
            return self.note(
                depth,
                0,
                format_args!("{name}: not followed, its base address is not known"),
            );
        };
        let mut record = self.out.new_record(Kind::Data, depth, at, name);
        record.index = index;
        let limit = u64::from(self.options.max_data);
        let want = length.min(limit).div_ceil(4);
        let there = self.memory.dwords(at, want as usize, &mut record.dwords) as u64;
        record.length = there as u32;
        self.out.spend(there);
        if there == 0 && want > 0 {
            self.out.reuse(record);
            return self.note(
                depth,
                at,
                format_args!("{name} at {at:#x}: nothing is mapped there"),
            );
        }
        if there < want {
            record.note = format!("{there} of {want} dwords are in memory");
            self.out.count_problems(1);
        } else if length > limit {
            record.note = format!("the first {limit} of {length} bytes");
        }
        self.out.record(&record)?;
        self.out.reuse(record);
        Ok(())
    }
}
