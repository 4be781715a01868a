//! The tables of the specification, prepared for decoding: instructions by header, registers by
//! offset, fields in order.

use genxml_core::bits;
use genxml_core::reflect::{
    Container, EngineBase, Enumeration, Field, Group, Kind, RegisterAt, Stored, Type, registers,
};
use std::collections::HashMap;
use std::sync::OnceLock;

use super::condition::{Exists, Test};
use super::effects::Follow;
use super::gen4::commands;
use super::issue::Issue;
use super::plan::{BitPosition, FieldPlan, GroupPlan, Length, Limits, Part, Plan, PlanId, Shape};
use super::steps;
use crate::engine::EngineId;

/// The containers of a generation, ready for a decoder.
#[derive(Debug)]
pub struct Tables {
    plans: Vec<Plan>,
    by_name: HashMap<&'static str, PlanId>,
    /// Plan IDs by the address of the `Container` in this process.
    by_container: HashMap<usize, PlanId>,
    /// The dwords of all registers by byte offset, in order, each once.
    registers: Vec<(u32, RegisterAt, PlanId)>,
    /// For each page of [`PAGE`] bytes: the index in `registers` of the first register at or after
    /// the start of the page. One more entry ends the last page; at most `PAGES` + 1 entries.
    pages: Vec<u32>,
    enums: Vec<EnumPlan>,
    engines: [HeaderIndex; 4],
    /// Engines with registers of their own.
    bases: &'static [EngineBase],
    generation: u32,
    /// The generation of the instructions of kernels, times ten.
    kernels: u32,
}

/// Size in bytes of a page of the register space.
const PAGE: u32 = 256;

/// Largest number of indexed pages: 8 MiB of registers. A register at a higher offset is searched
/// for in the whole list.
const PAGES: usize = (8 << 20) / PAGE as usize;

/// Names of enumeration values below this number are looked up by index, other names by search.
const DENSE: u64 = 1024;

/// An enumeration, and a table of the names of its values below `DENSE`, indexed by value.
#[derive(Debug)]
struct EnumPlan {
    list: &'static Enumeration,
    dense: Vec<Option<&'static str>>,
}

impl EnumPlan {
    fn new(list: &'static Enumeration) -> EnumPlan {
        let values = list.values.iter().map(|(value, _)| *value).filter(|value| *value < DENSE);
        let dense =
            (0..values.max().map_or(0, |last| last + 1)).map(|value| list.name_of(value)).collect();
        EnumPlan { list, dense }
    }

    #[inline]
    fn name_of(&self, value: u64) -> Option<&'static str> {
        match usize::try_from(value).ok().and_then(|value| self.dense.get(value)) {
            Some(name) => *name,
            None => self.list.name_of(value),
        }
    }
}

/// Instructions of one engine by the upper half of their header.
#[derive(Debug)]
struct HeaderIndex {
    /// For each value of header bits 31:16: the index of the first candidate plus one, or 0.
    first: Vec<u32>,
    /// Opcode mask, opcode, plan, and the index of the next candidate plus one, or 0.
    candidates: Vec<(u32, u32, PlanId, u32)>,
}

/// A generation times ten as people write it: `Gen9`, `Gen12.5`.
pub fn generation_name(generation: u32) -> String {
    match generation % 10 {
        0 => format!("Gen{}", generation / 10),
        part => format!("Gen{}.{part}", generation / 10),
    }
}

impl Tables {
    /// Prepares the tables of `containers`, and of the registers that each of `engines` has. If
    /// several containers have the same name, lookups by name find the first. `generation` is the
    /// generation times ten: 80 is Broadwell, 75 Haswell; 0 if it is not known.
    pub fn new(
        containers: &'static [&'static Container],
        engines: &'static [EngineBase],
        generation: u32,
    ) -> Tables {
        Tables::with(containers, engines, (generation, generation), true)
    }

    /// As [`new`](Self::new), for tables whose lists of values are not complete, like those of
    /// Mesa's files: a value without a name is then no issue.
    pub fn with_partial_lists(
        containers: &'static [&'static Container],
        engines: &'static [EngineBase],
        generation: u32,
    ) -> Tables {
        Tables::with(containers, engines, (generation, generation), false)
    }

    /// The tables of Broadwell for dumps of a GPU of another `generation` (times ten), which they
    /// describe only in part. Kernels are disassembled as instructions of that generation. For Gen4
    /// and Gen5 the commands of the streamer are those of these generations, because the lengths of
    /// batch starts differ.
    pub fn gen8_for(generation: u32) -> Tables {
        let (containers, engines) = (crate::gen8::CONTAINERS, crate::gen8::ENGINES);
        Tables::with(containers, engines, (80, generation), true).with_kernels_of(generation)
    }

    /// Prepares tables of `generation`, with the commands that [`commands`] has for the generation
    /// `dump`.
    fn with(
        containers: &'static [&'static Container],
        engines: &'static [EngineBase],
        (generation, dump): (u32, u32),
        complete: bool,
    ) -> Tables {
        let bases = engines;
        let mut builder = Builder {
            plans: Vec::new(),
            known: HashMap::new(),
            enums: Vec::new(),
            lists: HashMap::new(),
            complete,
        };
        let mut by_name = HashMap::new();
        let added: Vec<&'static Container> = commands(dump).collect();
        // Commands of two generations would have the same headers.
        let replaced = |container: &Container| {
            generation != dump && !added.is_empty() && container.name.starts_with("MI_")
        };
        let kept = containers.iter().copied().filter(|container| !replaced(container));
        for (container, is_added) in
            kept.map(|it| (it, false)).chain(added.iter().map(|it| (*it, true)))
        {
            if is_added && by_name.contains_key(container.name) {
                continue;
            }
            let id = builder.plan(container);
            by_name.entry(container.name).or_insert(id);
        }
        // Of two registers at an offset, the description of the register of a single engine is more
        // precise than that of a register of every engine. It is sorted first, and kept.
        let mut registers: Vec<_> = registers(containers, engines)
            .map(|(at, found)| (at, found, builder.plan(found.register)))
            .collect();
        registers.sort_by_key(|(offset, found, _)| (*offset, found.engine.is_some(), found.dword));
        registers.dedup_by_key(|register| register.0);
        let engines = EngineId::ALL.map(|engine| HeaderIndex::new(engine, &builder.plans));
        let by_container =
            builder.known.iter().map(|(container, id)| (container.addr(), *id)).collect();
        let last = registers.last().map_or(0, |register| (register.0 / PAGE) as usize);
        // One more entry, the end of the last page.
        let pages = (0..=last.saturating_add(1).min(PAGES)).map(|page| page as u32 * PAGE);
        let first = |start| registers.partition_point(|register| register.0 < start) as u32;
        let pages = pages.map(first).collect();
        let Builder { plans, enums, .. } = builder;
        Tables {
            plans,
            by_name,
            by_container,
            registers,
            pages,
            enums,
            engines,
            bases,
            generation,
            kernels: generation,
        }
    }

    /// The tables of Broadwell.
    pub fn gen8() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(|| Tables::new(crate::gen8::CONTAINERS, crate::gen8::ENGINES, 80))
    }

    /// The tables of G45, Gen4.5.
    #[cfg(feature = "gen45-tables")]
    pub fn gen45() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(|| Tables::new(crate::gen45::CONTAINERS, &[], 45))
    }

    /// The generation times ten: 80 is Broadwell, 75 Haswell; 0 if it is not known.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The same tables for dumps of a GPU of the generation `kernels`, times ten: kernels are
    /// disassembled as instructions of that generation.
    pub fn with_kernels_of(self, kernels: u32) -> Tables {
        Tables { kernels, ..self }
    }

    /// The generation of the instructions of kernels, times ten; that of the tables unless
    /// [`with_kernels_of`](Self::with_kernels_of) names another one.
    pub fn kernels(&self) -> u32 {
        self.kernels
    }

    /// Byte offset of the registers of the engine with this name (`RCS`), if each engine has its
    /// own.
    pub fn engine_base(&self, engine: &str) -> Option<u32> {
        self.bases.iter().find(|base| base.name == engine).map(|base| base.base)
    }

    /// The instruction of `engine` with this header.
    pub fn instruction(&self, engine: EngineId, header: u32) -> Option<&'static Container> {
        self.find(engine, header).map(|id| self.plan(id).container)
    }

    /// The containers in the order of [`PlanId::index`].
    pub(crate) fn containers(&self) -> impl Iterator<Item = &'static Container> {
        self.plans.iter().map(|plan| plan.container)
    }

    /// The names of all containers, in no order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }

    /// The container with this name.
    pub fn container(&self, name: &str) -> Option<&'static Container> {
        self.named(name).map(|id| self.plan(id).container)
    }

    /// The register that has a dword at this byte offset, and which of its dwords that is.
    pub fn register(&self, offset: u32) -> Option<RegisterAt> {
        self.register_plan(offset).map(|(at, _)| at)
    }

    #[inline]
    pub(super) fn find(&self, engine: EngineId, header: u32) -> Option<PlanId> {
        let index = &self.engines[engine as usize];
        let mut next = index.first[(header >> 16) as usize];
        while next != 0 {
            let (mask, opcode, plan, after) = index.candidates[next as usize - 1];
            if header & mask == opcode {
                return Some(plan);
            }
            next = after;
        }
        None
    }

    #[inline]
    pub(super) fn plan(&self, id: PlanId) -> &Plan {
        &self.plans[id.0 as usize]
    }

    pub(super) fn plan_of(&self, container: &Container) -> Option<PlanId> {
        self.by_container.get(&std::ptr::from_ref(container).addr()).copied()
    }

    pub(super) fn named(&self, name: &str) -> Option<PlanId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn register_plan(&self, offset: u32) -> Option<(RegisterAt, PlanId)> {
        let page = (offset / PAGE) as usize;
        let near = match self.pages.get(page..page + 2) {
            Some(&[first, end]) => &self.registers[first as usize..end as usize],
            _ => &self.registers[..],
        };
        let at = near.binary_search_by_key(&offset, |register| register.0).ok()?;
        let (_, at, id) = near[at];
        Some((at, id))
    }

    /// The name of a value of the enumeration with this index.
    #[inline(always)]
    pub(super) fn value_name(&self, list: u32, value: u64) -> Option<&'static str> {
        self.enums[list as usize].name_of(value)
    }
}

impl HeaderIndex {
    fn new(engine: EngineId, plans: &[Plan]) -> HeaderIndex {
        let mut entries = Vec::new();
        for (number, plan) in plans.iter().enumerate() {
            if let Kind::Instruction { engines, opcode_mask, opcode, .. } = plan.container.kind
                && engines.intersects(engine.set())
            {
                entries.push((opcode_mask, opcode, PlanId(number as u32)));
            }
        }
        select(&mut entries, plans);
        // Each candidate is put in front of its chain. The most specific ones must be found first,
        // so they are added last.
        entries.sort_by_key(|entry| entry.0.count_ones());
        let mut index = HeaderIndex { first: vec![0; 1 << 16], candidates: Vec::new() };
        for (mask, opcode, plan) in entries {
            let (high_mask, high) = ((mask >> 16) as u16, (opcode >> 16) as u16);
            // Count through the bits outside the opcode to visit every header half that matches.
            let mut free = 0u16;
            loop {
                let slot = usize::from(high | free);
                index.candidates.push((mask, opcode, plan, index.first[slot]));
                index.first[slot] = index.candidates.len() as u32;
                free = (free | high_mask).wrapping_add(1) & !high_mask;
                if free == 0 {
                    break;
                }
            }
        }
        index
    }
}

/// Packets with equal opcodes: adds to the mask and the opcode of each the fields of the header
/// whose defaults another one of them does not have. Mesa's 3DPRIMITIVE and 3DPRIMITIVE_EXTENDED
/// differ in one bit below the opcode.
fn select(entries: &mut [(u32, u32, PlanId)], plans: &[Plan]) {
    let mut groups: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for (index, (mask, opcode, _)) in entries.iter().enumerate() {
        groups.entry((*mask, *opcode)).or_default().push(index);
    }
    // The defaults that are not zero: mask and value of each field.
    let defaults = |plan: PlanId| -> Vec<(u32, u32)> {
        let container = plans[plan.0 as usize].container;
        let length = match container.kind {
            Kind::Instruction { length_field, .. } => length_field,
            _ => None,
        };
        let of_header = |field: &&Field| {
            field.end < 32
                && Some((field.start, field.end)) != length
                && field.name != "DWord Length"
        };
        let fields = container.fields.iter().filter(of_header);
        let mask = |field: &Field| (bits::ones(field.end - field.start + 1) as u32) << field.start;
        let value = |field: &Field| Some((field.default? as u32) << field.start);
        let all = fields.filter_map(|field| Some((mask(field), value(field)?)));
        all.filter(|(_, value)| *value != 0).collect()
    };
    for group in groups.into_values().filter(|group| group.len() > 1) {
        let all: Vec<Vec<(u32, u32)>> =
            group.iter().map(|index| defaults(entries[*index].2)).collect();
        for (index, own) in group.iter().zip(&all) {
            let differs = |field: &&(u32, u32)| all.iter().any(|other| !other.contains(field));
            for (mask, value) in own.iter().filter(differs) {
                entries[*index].0 |= mask;
                entries[*index].1 |= value;
            }
        }
    }
}

struct Builder {
    plans: Vec<Plan>,
    known: HashMap<*const Container, PlanId>,
    enums: Vec<EnumPlan>,
    lists: HashMap<*const Enumeration, u32>,
    /// True if the enumerations name every value.
    complete: bool,
}

impl Builder {
    fn plan(&mut self, container: &'static Container) -> PlanId {
        if let Some(&id) = self.known.get(&std::ptr::from_ref(container)) {
            return id;
        }
        let parts = self.parts(container, container.fields, container.groups, true);
        let id = PlanId(self.plans.len() as u32);
        // A partial container describes the dwords up to its last field, whatever its length.
        let covered = container.fields.iter().map(|field| field.end + 1);
        let described = if container.partial { covered.max().unwrap_or(0) } else { container.bits };
        let open = container.groups.iter().any(|group| group.count == 0);
        let steps = steps::steps(&parts, &self.plans);
        self.plans.push(Plan {
            container,
            parts,
            steps,
            follow: Follow::of(container),
            described: (!open).then_some(described.div_ceil(32)),
            length: Length::of(container),
        });
        self.known.insert(container, id);
        id
    }

    /// Prepares fields and groups, in order of their first bits: those of `container` itself if
    /// `own`, otherwise those of one element of a group in it. Leaves out an instruction's opcode
    /// and length.
    fn parts(
        &mut self,
        container: &'static Container,
        fields: &'static [Field],
        groups: &'static [Group],
        own: bool,
    ) -> Vec<Part> {
        let mut parts: Vec<(u32, Part)> = Vec::new();
        for field in fields {
            let hidden = match container.kind {
                Kind::Instruction { opcode_mask, length_field, .. } if own => {
                    let opcode = field.end < 32
                        && (field.start..=field.end).all(|bit| opcode_mask >> bit & 1 != 0);
                    opcode || length_field == Some((field.start, field.end))
                }
                _ => false,
            };
            if !hidden {
                parts.push((field.start, Part::Field(self.field(field, fields))));
            }
        }
        for group in groups {
            let inner = self.parts(container, group.fields, group.groups, false);
            let flat = match &inner[..] {
                [Part::Field(field)] => !matches!(field.shape, Shape::Nested(_)),
                _ => false,
            };
            let steps = steps::steps(&inner, &self.plans);
            let whole = steps::whole(&inner, &self.plans);
            parts.push((
                group.start,
                Part::Group(GroupPlan { group, parts: inner, steps, whole, flat }),
            ));
        }
        parts.sort_by_key(|part| part.0);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    fn field(&mut self, field: &'static Field, all: &'static [Field]) -> FieldPlan {
        let exists = match field.exists_if {
            Some(condition) => Exists::If(Test::new(condition)),
            None => {
                // If fields with a condition share bits with this one, it exists only while no such
                // condition holds.
                let shared = |other: &&Field| other.start <= field.end && other.end >= field.start;
                let others = all.iter().filter(shared).filter_map(|other| other.exists_if);
                let others: Box<[Test]> = others.map(Test::new).collect();
                if others.is_empty() { Exists::Always } else { Exists::Unless(others) }
            }
        };
        let one = |fraction: u32| 1.0 / (1u64 << fraction.min(63)) as f64;
        let width = field.end - field.start + 1;
        let shape = match field.ty {
            Type::Struct(inner) => Shape::Nested(self.plan(inner)),
            ty if width > 64 => Shape::Wide(match ty {
                Type::Reserved => Some(Issue::ReservedSet),
                Type::MustBeZero => Some(Issue::MustBeZero),
                _ => None,
            }),
            Type::Reserved => Shape::Zeros(Issue::ReservedSet),
            Type::MustBeZero => Shape::Zeros(Issue::MustBeZero),
            Type::MustBeOne => Shape::Ones,
            Type::Uint => Shape::Uint(field.stored),
            Type::Int => Shape::Int,
            Type::Bool => Shape::Bool,
            Type::Float if width == 32 => Shape::Single,
            Type::Float if width == 64 => Shape::Double,
            Type::Float => Shape::Uint(Stored::Plain),
            Type::UFixed(fraction) => Shape::UFixed(one(fraction)),
            Type::SFixed(fraction) => Shape::SFixed(one(fraction)),
            Type::Enum(list) if !self.complete || shares_bits(field, all) => {
                Shape::OneEnumOf(self.list(list))
            }
            Type::Enum(list) => Shape::Enum(self.list(list)),
            Type::Address { space, .. } => Shape::Address(space),
        };
        let plain = matches!(exists, Exists::Always) && field.range.is_none();
        let signed = matches!(field.ty, Type::Int | Type::SFixed(_));
        let limits = (!plain).then(|| Box::new(Limits { exists, range: field.range, signed }));
        let Field { name, unit, start, end, .. } = *field;
        FieldPlan {
            field,
            name,
            unit,
            start,
            end,
            place: BitPosition::new(start, end),
            shape,
            limits,
        }
    }

    fn list(&mut self, list: &'static Enumeration) -> u32 {
        *self.lists.entry(list).or_insert_with(|| {
            self.enums.push(EnumPlan::new(list));
            self.enums.len() as u32 - 1
        })
    }
}

/// True if `field` is an enumeration without condition, and another such field has the same bits.
fn shares_bits(field: &Field, all: &[Field]) -> bool {
    let free = |field: &Field| matches!(field.ty, Type::Enum(_)) && field.exists_if.is_none();
    let same = |other: &&Field| (other.start, other.end) == (field.start, field.end);
    free(field) && all.iter().filter(same).filter(|other| free(other)).count() > 1
}
