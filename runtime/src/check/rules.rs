//! The rules of a generation, prepared for each container, with the list of containers whose values
//! must be recorded for them.

use super::fields;
use super::undefined::{self, Part};
use crate::decode::{Issue, PlanId, Tables};
use genxml_core::Packed;
use genxml_core::bits;
use genxml_core::reflect::{Container, Field, Group, Kind, Type, View};
use genxml_core::rule::{Base, Cond, Last, Rule, Severity};
use genxml_eu::validate;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The rules of the validator of instructions. The message of each is its condition in words.
static OF_INSTRUCTIONS: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let as_rule = |rule: &'static validate::Rule| Rule {
        id: rule.id,
        severity: rule.severity,
        // The validator finds the violations.
        require: Cond::Number(1),
        text: rule.text,
        message: rule.text,
        source: rule.source,
    };
    validate::rules().map(as_rule).collect()
});

/// The rules of a generation.
#[derive(Debug)]
pub struct Rules {
    tables: &'static Tables,
    plans: Vec<Plan>,
    containers: &'static [&'static Container],
    pub(super) lasts: Vec<&'static Last>,
    /// For every container, its slot: the index under which a tracker records the container's last
    /// contents. `None` if no rule reads the container.
    slots: Vec<Option<u16>>,
    pub(super) slot_count: usize,
    /// The containers that describe instructions of kernels and their messages.
    kernels: &'static [&'static Container],
    /// Plans by the address of their container, for those that describe instructions.
    instructions: HashMap<usize, usize>,
    /// The fields of instructions and messages.
    kernel_tables: Tables,
    /// Severities of the rules about single fields, in their order; `None` if a rule is off.
    of_fields: [Option<Severity>; fields::RULES.len()],
    /// Severity of the rule about undefined state; `None` if it is off.
    of_draws: Option<Severity>,
    /// Severities of the validator's rules, as in `of_fields`; empty without the validator.
    of_instructions: Vec<Option<Severity>>,
    /// Rules that the program added, each with its container.
    added: Vec<(&'static Container, &'static Rule)>,
}

/// How one container is checked and recorded.
#[derive(Debug)]
pub(super) struct Plan {
    pub container: &'static Container,
    /// Rules of the container.
    pub rules: Vec<RuleReads>,
    /// Indices in `Rules::lasts` of the searches that its packets may match.
    pub lasts: Vec<u16>,
    pub slot: Option<u16>,
    pub forgets: Forgets,
    /// Structures inside the container that have rules, or contain structures with rules.
    pub inside: Vec<Inside>,
    /// The state for draws that the packet sets, and that it needs.
    pub part: Part,
}

/// A rule with the values that it reads.
#[derive(Debug)]
pub(super) struct RuleReads {
    pub rule: &'static Rule,
    /// Severity of the rule; `None` if it is off.
    pub severity: Option<Severity>,
    pub reads: Reads,
}

/// The values that a condition reads.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Dwords of the container itself: the index, and a mask of the bits that are read.
    pub own: Vec<(u32, u32)>,
    /// True if the condition reads elements of groups in the container.
    pub groups: bool,
    /// Slots of the other containers that the condition reads.
    pub slots: Vec<u16>,
    /// True if the condition reads something that may differ for every packet: the order of
    /// packets, or the use of a surface by kernels.
    pub order: bool,
}

impl Reads {
    fn of(cond: &Cond, slots: &[Option<u16>]) -> Reads {
        let mut reads = Reads::default();
        reads.add(cond, slots);
        reads
    }

    fn add(&mut self, cond: &Cond, slots: &[Option<u16>]) {
        match cond {
            Cond::Number(_) | Cond::Index => {}
            Cond::Last(_) | Cond::Role(_) => self.order = true,
            Cond::Field(field) => match field.base {
                Base::Own(_) => {
                    for dword in field.start / 32..=field.end / 32 {
                        let (first, last) =
                            (field.start.max(32 * dword), field.end.min(32 * dword + 31));
                        let mut bits = [0];
                        bits::put(&mut bits, first % 32, last % 32, bits::ones(last - first + 1));
                        self.own.push((dword, bits[0]));
                    }
                }
                Base::State(container) => self.state(container, slots),
            },
            Cond::Not(inner) | Cond::In(inner, _) | Cond::Bits(inner, _) => self.add(inner, slots),
            Cond::Binary(_, left, right) => {
                self.add(left, slots);
                self.add(right, slots);
            }
            Cond::Over(_, group, body) => {
                match group.base {
                    Base::Own(_) => self.groups = true,
                    Base::State(container) => self.state(container, slots),
                }
                self.add(body, slots);
            }
        }
    }

    fn state(&mut self, container: u16, slots: &[Option<u16>]) {
        // A container without a slot is never recorded, so it is always unknown.
        if let Some(Some(slot)) = slots.get(usize::from(container)) {
            self.slots.push(*slot);
        }
    }
}

/// A structure inside a container, in a field or a view, or a group with such structures in its
/// elements.
#[derive(Debug)]
pub(super) enum Inside {
    /// The field, and the index of the plan of its type.
    Struct { field: &'static Field, plan: usize },
    /// A group with structures in its elements.
    Group { group: &'static Group, parts: Vec<Inside> },
    /// The view, and the index of the plan of its type.
    View { view: &'static View, plan: usize },
}

/// The register whose value is unknown after a packet, because the loaded value is not in the dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forgets {
    Nothing,
    /// The register at the offset in this field.
    Register {
        start: u32,
        end: u32,
    },
}

/// A severity that replaces the one of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The rule is off.
    Allow,
    /// A violation is a warning.
    Warn,
    /// A violation is an error.
    Deny,
}

/// No rule has this id.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule `{0}`")]
pub struct UnknownRule(pub String);

genxml_core::debug_as_display!(UnknownRule);

impl Rules {
    /// The rules of Broadwell.
    pub fn gen8() -> Rules {
        let kernels = genxml_eu::gen8::CONTAINERS;
        let of_instructions = OF_INSTRUCTIONS.iter().map(|rule| Some(rule.severity)).collect();
        let rules =
            Rules::new(Tables::gen8(), crate::gen8::CONTAINERS, crate::gen8::LASTS, kernels);
        Rules { of_instructions, ..rules }
    }

    /// The rules of G45.
    #[cfg(feature = "gen45-tables")]
    pub fn gen45() -> Rules {
        Rules::new(Tables::gen45(), crate::gen45::CONTAINERS, crate::gen45::LASTS, &[])
    }

    /// The rules of `containers`, from which `tables` were made, and the rules of `kernels`, which
    /// describe instructions and messages. `lasts` are the searches for earlier packets in these
    /// rules. The rules of the validator of instructions are not included, because it supports only
    /// Broadwell.
    pub fn new(
        tables: &'static Tables,
        containers: &'static [&'static Container],
        lasts: &'static [Last],
        kernels: &'static [&'static Container],
    ) -> Rules {
        let mut slots = vec![None; containers.len()];
        let mut slot_count = 0;
        for rule in containers.iter().flat_map(|container| container.rules) {
            states(&rule.require, &mut |container| {
                if let Some(slot @ None) = slots.get_mut(usize::from(container)) {
                    *slot = Some(slot_count);
                    slot_count += 1;
                }
            });
        }
        let index: HashMap<usize, usize> = containers
            .iter()
            .enumerate()
            .map(|(index, container)| (address(container), index))
            .collect();
        let places: HashMap<usize, usize> = tables
            .containers()
            .enumerate()
            .map(|(plan, container)| (address(container), plan))
            .collect();
        // Draws of Gen4, G45 and Gen5 need other packets.
        let g45 = (40..60).contains(&tables.generation());
        let plans = tables.containers().map(|container| {
            let index = index.get(&address(container));
            let is_it = |last: &&(usize, &Last)| index == Some(&usize::from(last.1.packet));
            Plan {
                container,
                rules: known(container, &slots),
                lasts: lasts
                    .iter()
                    .enumerate()
                    .filter(|last| is_it(&last))
                    .map(|last| last.0 as u16)
                    .collect(),
                slot: index.and_then(|index| slots[*index]),
                forgets: forgets(container),
                inside: Interest { places: &places, added: &HashSet::new() }.inside(container),
                part: match container.kind {
                    Kind::Instruction { .. } => Part::of(container.name, g45),
                    _ => Part::default(),
                },
            }
        });
        let mut plans: Vec<Plan> = plans.collect();
        let first = plans.len();
        let instructions: HashMap<usize, usize> = kernels
            .iter()
            .enumerate()
            .map(|(index, container)| (address(container), first + index))
            .collect();
        plans.extend(kernels.iter().map(|container| Plan {
            container,
            rules: known(container, &[]),
            lasts: Vec::new(),
            slot: None,
            forgets: Forgets::Nothing,
            inside: Interest { places: &instructions, added: &HashSet::new() }.inside(container),
            part: Part::default(),
        }));
        Rules {
            tables,
            plans,
            containers,
            lasts: lasts.iter().collect(),
            slots,
            slot_count: slot_count.into(),
            kernels,
            instructions,
            kernel_tables: Tables::new(kernels, &[], 80),
            of_fields: fields::RULES.each_ref().map(|rule| Some(rule.severity)),
            of_draws: Some(undefined::RULE[0].severity),
            of_instructions: Vec::new(),
            added: Vec::new(),
        }
    }

    /// The rule about state that draws use and that nothing has set: `STATE-UNDEFINED`.
    pub fn of_draws() -> &'static [Rule] {
        &undefined::RULE
    }

    /// The rule about undefined state, unless it is off.
    pub(super) fn of_undefined(&self) -> Option<(&'static Rule, Severity)> {
        self.of_draws.map(|severity| (&undefined::RULE[0], severity))
    }

    /// The rules about single fields, which hold for every container: `FIELD-RANGE` and so on.
    pub fn of_fields() -> &'static [Rule] {
        &fields::RULES
    }

    /// Every rule of the specification with its container, in order. Then the rules that the program
    /// added. Then the rules of the validator of instructions ([`genxml_eu::validate`]) that the
    /// specification does not have, with the container that is common to all instructions. The rules
    /// about single fields and undefined state are not included.
    pub fn all(&self) -> impl Iterator<Item = (&'static Container, &'static Rule)> {
        let header = genxml_eu::gen8::eu::EuInstructionHeader::INFO;
        let more = OF_INSTRUCTIONS.iter().take(self.of_instructions.len());
        let more = more.filter(|rule| self.specified().all(|(_, other)| other.id != rule.id));
        self.specified().chain(self.added()).chain(more.map(move |rule| (header, rule)))
    }

    /// The rules that the program added with [`add`](Self::add) or [`read`](Self::read), each with
    /// its container, in the order in which they were added.
    pub fn added(&self) -> impl Iterator<Item = (&'static Container, &'static Rule)> {
        self.added.iter().copied()
    }

    /// The rules of the specification.
    fn specified(&self) -> impl Iterator<Item = (&'static Container, &'static Rule)> {
        let all = self.containers.iter().chain(self.kernels);
        all.flat_map(|container| container.rules.iter().map(|rule| (*container, rule)))
    }

    /// The rule of `all` with this id, and its container.
    pub fn find(&self, id: &str) -> Option<(&'static Container, &'static Rule)> {
        self.all().find(|(_, rule)| rule.id == id)
    }

    /// Changes the severity of the rule with this id. If the id ends with `*`, changes all rules
    /// whose ids start with the text before it. A later call replaces the level of an earlier one,
    /// also [`Level::Allow`].
    ///
    /// # Errors
    /// If there is no such rule.
    pub fn set(&mut self, id: &str, level: Level) -> Result<(), UnknownRule> {
        let means = |rule: &Rule| match id.strip_suffix('*') {
            Some(start) => rule.id.starts_with(start),
            None => rule.id == id,
        };
        if !self
            .all()
            .map(|(_, rule)| rule)
            .chain(&fields::RULES)
            .chain(&undefined::RULE)
            .any(means)
        {
            return Err(UnknownRule(id.to_owned()));
        }
        let of_fields = fields::RULES.iter().zip(&mut self.of_fields);
        let of_instructions = OF_INSTRUCTIONS.iter().zip(&mut self.of_instructions);
        let of_draws = undefined::RULE.iter().zip([&mut self.of_draws]);
        let others = of_fields.chain(of_instructions).chain(of_draws);
        let in_plans = self.plans.iter_mut().flat_map(|plan| &mut plan.rules);
        let in_plans = in_plans.map(|known| (known.rule, &mut known.severity));
        for (_, severity) in others.chain(in_plans).filter(|(rule, _)| means(rule)) {
            *severity = match level {
                Level::Allow => None,
                Level::Warn => Some(Severity::Warning),
                Level::Deny => Some(Severity::Error),
            };
        }
        Ok(())
    }

    /// Number of plans, except those of the containers that describe kernels. It is one more than
    /// the largest [`PlanId::index`].
    pub(super) fn plan_count(&self) -> usize {
        self.plans.len() - self.kernels.len()
    }

    /// The containers that describe packets, structures and registers.
    pub(super) fn containers(&self) -> &'static [&'static Container] {
        self.containers
    }

    /// The containers that describe instructions of kernels and their messages.
    pub(super) fn kernels(&self) -> &'static [&'static Container] {
        self.kernels
    }

    /// Adds a rule of `container`. `lasts` are its searches for earlier packets; their indices in
    /// the condition count from the number of searches before.
    pub(super) fn put(
        &mut self,
        container: &'static Container,
        rule: &'static Rule,
        lasts: &[&'static Last],
    ) {
        for last in lasts {
            let index = self.lasts.len() as u16;
            self.lasts.push(last);
            let packet = self.containers.get(usize::from(last.packet));
            for plan in self.plans.iter_mut().filter(|plan| Some(&plan.container) == packet) {
                plan.lasts.push(index);
            }
        }
        states(&rule.require, &mut |state| {
            if let Some(slot @ None) = self.slots.get_mut(usize::from(state)) {
                *slot = Some(self.slot_count as u16);
                let found = self.containers.get(usize::from(state));
                for plan in self.plans.iter_mut().filter(|plan| Some(&plan.container) == found) {
                    plan.slot = *slot;
                }
                self.slot_count += 1;
            }
        });
        for plan in self.plans.iter_mut().filter(|plan| plan.container == container) {
            let reads = Reads::of(&rule.require, &self.slots);
            plan.rules.push(RuleReads { rule, severity: Some(rule.severity), reads });
        }
        self.added.push((container, rule));
    }

    /// Finds the structures with rules inside all containers again, after rules were added.
    pub(super) fn find_inside(&mut self) {
        let first = self.plan_count();
        let places = self.plans[..first].iter().enumerate();
        let places = places.map(|(plan, it)| (address(it.container), plan)).collect();
        let added = self.added.iter().map(|(container, _)| address(container)).collect();
        for (index, plan) in self.plans.iter_mut().enumerate() {
            let places = if index < first { &places } else { &self.instructions };
            plan.inside = Interest { places, added: &added }.inside(plan.container);
        }
    }

    pub(super) fn tables(&self) -> &'static Tables {
        self.tables
    }

    pub(super) fn plan(&self, id: PlanId) -> &Plan {
        &self.plans[id.index()]
    }

    pub(super) fn inner(&self, plan: usize) -> &Plan {
        &self.plans[plan]
    }

    /// The plan for an instruction that this container describes.
    pub(super) fn instruction(&self, container: &'static Container) -> Option<&Plan> {
        self.instructions.get(&address(container)).map(|plan| &self.plans[*plan])
    }

    /// The rule that an issue of a field violates, unless it is off.
    pub(super) fn of_issue(&self, issue: Issue) -> Option<(&'static Rule, Severity)> {
        let index = fields::index(issue);
        self.of_fields[index].map(|severity| (&fields::RULES[index], severity))
    }

    /// True if the validator checks kernels.
    pub(super) fn validates(&self) -> bool {
        !self.of_instructions.is_empty()
    }

    /// A rule of the validator, unless it is off.
    pub(super) fn of_validator(&self, id: &str) -> Option<(&'static Rule, Severity)> {
        let index = OF_INSTRUCTIONS.iter().position(|rule| rule.id == id)?;
        self.of_instructions
            .get(index)
            .copied()
            .flatten()
            .map(|severity| (&OF_INSTRUCTIONS[index], severity))
    }

    pub(super) fn kernel_tables(&self) -> &Tables {
        &self.kernel_tables
    }

    pub(super) fn slot(&self, container: u16) -> Option<u16> {
        self.slots.get(usize::from(container)).copied().flatten()
    }

    /// The slot of the register at this offset.
    pub(super) fn register(&self, offset: u32) -> Option<u16> {
        self.tables.register_plan(offset).and_then(|(_, plan)| self.plan(plan).slot)
    }

    /// The name of the packet that the search `lasts[index]` looks for; `?` if it is unknown.
    pub(super) fn last_name(&self, index: u16) -> &'static str {
        let last = self.lasts.get(usize::from(index));
        last.and_then(|last| self.containers.get(usize::from(last.packet)))
            .map_or("?", |packet| packet.name)
    }
}

/// The rules of a container, with the values that they read.
fn known(container: &'static Container, slots: &[Option<u16>]) -> Vec<RuleReads> {
    let known = |rule: &'static Rule| RuleReads {
        rule,
        severity: Some(rule.severity),
        reads: Reads::of(&rule.require, slots),
    };
    container.rules.iter().map(known).collect()
}

/// Calls `each` with every other container that a condition reads.
fn states(cond: &Cond, each: &mut dyn FnMut(u16)) {
    let mut base = |base: Base| {
        if let Base::State(container) = base {
            each(container);
        }
    };
    match cond {
        Cond::Number(_) | Cond::Last(_) | Cond::Index | Cond::Role(_) => {}
        Cond::Field(field) => base(field.base),
        Cond::Not(inner) | Cond::In(inner, _) | Cond::Bits(inner, _) => states(inner, each),
        Cond::Binary(_, left, right) => {
            states(left, each);
            states(right, each);
        }
        Cond::Over(_, group, body) => {
            base(group.base);
            states(body, each);
        }
    }
}

/// The address of a container, which identifies it; a number, so that threads can share rules.
fn address(container: &'static Container) -> usize {
    std::ptr::from_ref(container).addr()
}

/// Finds the structures with rules inside containers.
#[derive(Clone, Copy)]
struct Interest<'a> {
    /// Plans by the address of their container.
    places: &'a HashMap<usize, usize>,
    /// Addresses of the containers with added rules.
    added: &'a HashSet<usize>,
}

impl Interest<'_> {
    /// The fields, groups and views of a container that hold structures with rules.
    fn inside(self, container: &'static Container) -> Vec<Inside> {
        let mut parts = self.members(container.fields, container.groups);
        for view in container.views {
            let Type::Struct(inner) = view.ty else { continue };
            if let Some(plan) = self.places.get(&address(inner)) {
                parts.push(Inside::View { view, plan: *plan });
            }
        }
        parts
    }

    /// The plan of a structure, if it has rules or contains structures with rules.
    fn of_interest(self, inner: &'static Container) -> Option<usize> {
        let plan = *self.places.get(&address(inner))?;
        // A structure with views counts too: a view describes bits that no field describes.
        let more = !inner.rules.is_empty()
            || !inner.views.is_empty()
            || self.added.contains(&address(inner));
        (more || !self.inside(inner).is_empty()).then_some(plan)
    }

    fn members(self, fields: &'static [Field], groups: &'static [Group]) -> Vec<Inside> {
        let mut parts = Vec::new();
        for field in fields {
            let Type::Struct(inner) = field.ty else { continue };
            if let Some(plan) = self.of_interest(inner) {
                parts.push(Inside::Struct { field, plan });
            }
        }
        for group in groups {
            let inner = self.members(group.fields, group.groups);
            if !inner.is_empty() {
                parts.push(Inside::Group { group, parts: inner });
            }
        }
        parts
    }
}

/// Registers that are loaded from memory or from other registers are unknown afterwards.
fn forgets(container: &Container) -> Forgets {
    let field = match container.name {
        "MI_LOAD_REGISTER_MEM" => "Register Address",
        "MI_LOAD_REGISTER_REG" => "Destination Register Address",
        _ => return Forgets::Nothing,
    };
    match (container.kind, container.fields.iter().find(|other| other.name == field)) {
        (Kind::Instruction { .. }, Some(field)) => {
            Forgets::Register { start: field.start, end: field.end }
        }
        _ => Forgets::Nothing,
    }
}
