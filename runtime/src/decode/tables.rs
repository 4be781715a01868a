//! Description tables prepared for decoding: instructions by header, registers by offset, fields in order.

use genxml_core::address::SpaceKind;
use genxml_core::reflect::{Container, EngineBase, Expr, Field, Group, Kind, RegisterAt, Type, registers};
use std::collections::HashMap;
use std::sync::OnceLock;

use super::draw::STAGES;
use crate::engine::EngineId;

/// The containers of a generation, ready for a decoder.
#[derive(Debug)]
pub struct Tables {
    plans: Vec<Plan>,
    by_name: HashMap<&'static str, PlanId>,
    /// By the address of the container, as the builder has it.
    by_container: HashMap<usize, PlanId>,
    /// By byte offset, in order, each dword once.
    registers: Vec<(u32, RegisterAt, PlanId)>,
    engines: [HeaderIndex; 4],
}

/// Index into [`Tables::plans`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlanId(u32);

/// A container with its fields and groups in the order of their bits and all that can be known before decoding.
#[derive(Debug)]
pub(super) struct Plan {
    pub container: &'static Container,
    pub parts: Vec<Part>,
    pub follow: Follow,
}

/// A field or group of a plan.
#[derive(Debug)]
pub(super) enum Part {
    Field(FieldPlan),
    Group(GroupPlan),
}

#[derive(Debug)]
pub(super) struct FieldPlan {
    pub field: &'static Field,
    pub nested: Option<PlanId>,
    /// Opcode and length: fixed by the packet's name, told in its header line.
    pub hidden: bool,
    /// Conditions of the alternatives that stand in the same bits; this field, which has none, exists unless one holds.
    pub unless: Vec<&'static Expr>,
}

#[derive(Debug)]
pub(super) struct GroupPlan {
    pub group: &'static Group,
    pub parts: Vec<Part>,
    /// The group is an array of one field: no level of nesting.
    pub flat: bool,
}

/// What to do behind a packet besides following the addresses that have a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follow {
    Nothing,
    /// Some field has a target, or points to instructions.
    Targets,
    BatchStart,
    BatchEnd,
    BaseAddresses,
    InterfaceDescriptorLoad,
    CurbeLoad,
    IndirectData,
    LoadRegisterImm,
    /// A stage of the 3D pipeline; its kernels are followed as targets.
    Stage(usize),
    /// Where a stage's binding table is: looked at with the draw that uses it.
    BindingTable(usize),
    /// Where a stage's samplers are.
    SamplerTable(usize),
    /// Where blending is: its length is known with the draw.
    BlendState,
    Draw,
}

impl Follow {
    fn of(container: &Container) -> Follow {
        for (prefix, follow) in [
            ("3DSTATE_BINDING_TABLE_POINTERS_", Follow::BindingTable as fn(usize) -> Follow),
            ("3DSTATE_SAMPLER_STATE_POINTERS_", Follow::SamplerTable),
            ("3DSTATE_", Follow::Stage),
        ] {
            let stage = container.name.strip_prefix(prefix);
            if let Some(stage) = stage.and_then(|stage| STAGES.iter().position(|name| *name == stage)) {
                return follow(stage);
            }
        }
        match container.name {
            "3DPRIMITIVE" => Follow::Draw,
            "3DSTATE_BLEND_STATE_POINTERS" => Follow::BlendState,
            "MI_BATCH_BUFFER_START" => Follow::BatchStart,
            "MI_BATCH_BUFFER_END" => Follow::BatchEnd,
            "STATE_BASE_ADDRESS" | "MFX_IND_OBJ_BASE_ADDR_STATE" => Follow::BaseAddresses,
            "MEDIA_INTERFACE_DESCRIPTOR_LOAD" => Follow::InterfaceDescriptorLoad,
            "MEDIA_CURBE_LOAD" => Follow::CurbeLoad,
            "GPGPU_WALKER" | "MEDIA_OBJECT" | "MEDIA_OBJECT_PRT" | "MEDIA_OBJECT_WALKER" => {
                Follow::IndirectData
            }
            "MI_LOAD_REGISTER_IMM" => Follow::LoadRegisterImm,
            _ if container.fields.iter().any(is_target) => Follow::Targets,
            _ => Follow::Nothing,
        }
    }
}

/// True if a decoder should look where the field points to.
pub(super) fn is_target(field: &Field) -> bool {
    match field.ty {
        Type::Address { space, target, .. } => !target.is_empty() || space == SpaceKind::Instruction,
        _ => false,
    }
}

/// Instructions of one engine by the upper half of their header.
#[derive(Debug)]
struct HeaderIndex {
    /// For header bits 31:16 the first candidate plus one, 0 for none.
    first: Vec<u32>,
    /// Candidates: mask, opcode, plan, next candidate plus one.
    candidates: Vec<(u32, u32, PlanId, u32)>,
}

impl PlanId {
    /// As an index.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl Tables {
    /// Prepares the tables of `containers`, and of the registers that each of `engines` has. Where names repeat, the
    /// first counts.
    pub fn new(containers: &'static [&'static Container], engines: &'static [EngineBase]) -> Tables {
        let mut builder = Builder { plans: Vec::new(), known: HashMap::new() };
        let mut by_name = HashMap::new();
        for container in containers {
            let id = builder.plan(container);
            by_name.entry(container.name).or_insert(id);
        }
        // The closer description of one engine's register goes first.
        let mut registers: Vec<_> = registers(containers, engines)
            .map(|(at, found)| (at, found, builder.plan(found.register)))
            .collect();
        registers.sort_by_key(|(offset, found, _)| (*offset, found.engine.is_some(), found.dword));
        registers.dedup_by_key(|register| register.0);
        let engines = EngineId::ALL.map(|engine| HeaderIndex::new(engine, &builder.plans));
        let by_container = builder.known.iter().map(|(container, id)| (container.addr(), *id)).collect();
        Tables { plans: builder.plans, by_name, by_container, registers, engines }
    }

    /// The tables of Broadwell.
    pub fn gen8() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(|| Tables::new(crate::gen8::CONTAINERS, crate::gen8::ENGINES))
    }

    /// The instruction of `engine` with this header.
    pub fn instruction(&self, engine: EngineId, header: u32) -> Option<&'static Container> {
        self.find(engine, header).map(|id| self.plan(id).container)
    }

    /// The containers in the order of [`PlanId::index`].
    pub(crate) fn containers(&self) -> impl Iterator<Item = &'static Container> {
        self.plans.iter().map(|plan| plan.container)
    }

    /// The container with this name.
    pub fn container(&self, name: &str) -> Option<&'static Container> {
        self.named(name).map(|id| self.plan(id).container)
    }

    /// What the register space has at this offset.
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
        let at = self.registers.binary_search_by_key(&offset, |register| register.0).ok()?;
        let (_, at, id) = self.registers[at];
        Some((at, id))
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
        // Candidates go in front of the chain, so the most specific come last here.
        entries.sort_by_key(|entry| entry.0.count_ones());
        let mut index = HeaderIndex { first: vec![0; 1 << 16], candidates: Vec::new() };
        for (mask, opcode, plan) in entries {
            let (high_mask, high) = ((mask >> 16) as u16, (opcode >> 16) as u16);
            // All values of the upper half that agree with the opcode: count through the bits that are free.
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

struct Builder {
    plans: Vec<Plan>,
    known: HashMap<*const Container, PlanId>,
}

impl Builder {
    fn plan(&mut self, container: &'static Container) -> PlanId {
        if let Some(&id) = self.known.get(&std::ptr::from_ref(container)) {
            return id;
        }
        let parts = self.parts(container, container.fields, container.groups, true);
        let id = PlanId(self.plans.len() as u32);
        self.plans.push(Plan { container, parts, follow: Follow::of(container) });
        self.known.insert(container, id);
        id
    }

    /// Those of the container itself (`own`), or of the elements of a group in it.
    fn parts(
        &mut self,
        container: &'static Container,
        fields: &'static [Field],
        groups: &'static [Group],
        own: bool,
    ) -> Vec<Part> {
        let mut parts: Vec<(u32, Part)> = Vec::new();
        for field in fields {
            let nested = match field.ty {
                Type::Struct(inner) => Some(self.plan(inner)),
                _ => None,
            };
            let hidden = match container.kind {
                Kind::Instruction { opcode_mask, length_field, .. } if own => {
                    let opcode =
                        field.end < 32 && (field.start..=field.end).all(|bit| opcode_mask >> bit & 1 != 0);
                    opcode || length_field == Some((field.start, field.end))
                }
                _ => false,
            };
            let unless = if field.exists_if.is_none() {
                let shared = |other: &&Field| other.start <= field.end && other.end >= field.start;
                fields.iter().filter(shared).filter_map(|other| other.exists_if).collect()
            } else {
                Vec::new()
            };
            parts.push((field.start, Part::Field(FieldPlan { field, nested, hidden, unless })));
        }
        for group in groups {
            let inner = self.parts(container, group.fields, group.groups, false);
            let flat = inner.len() == 1 && matches!(inner[0], Part::Field(FieldPlan { nested: None, .. }));
            parts.push((group.start, Part::Group(GroupPlan { group, parts: inner, flat })));
        }
        parts.sort_by_key(|part| part.0);
        parts.into_iter().map(|(_, part)| part).collect()
    }
}
