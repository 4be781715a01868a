//! Searches for values for which a rule holds, and for which it does not hold. The search changes
//! the container's own fields and a stub of the tracked state. If the container is a packet, the
//! values are then put into a batch, for which the checker must give the same result.

use super::findings;
use genxml::core::bits;
use genxml::core::reflect::{Container, Engines, Kind, Op};
use genxml::core::rule::{Base, Cond, Facts, Frame, Role, Roles, Rule};
use genxml::engine::EngineId;
use genxml_testkit::Random;
use std::collections::BTreeMap;

/// Number of elements that are tried in variable groups.
const ELEMENTS: u32 = 6;
/// Attempts for each of the two results.
const STEPS: usize = 200_000;
/// Attempts before the search restarts at zero.
const RESTART: usize = 2048;

/// Something that a condition reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Bits of the container.
    Own(u32, u32),
    /// Bits of the last container of this index.
    State(u16, u32, u32),
    /// An entry of `LASTS`.
    Last(u16),
    /// Whether the surface is used in the role with this index in `ROLES`.
    Role(usize),
}

const ROLES: [Role; 10] = [
    Role::Sampled,
    Role::RenderTarget,
    Role::Typed,
    Role::Untyped,
    Role::Scattered,
    Role::Block,
    Role::Media,
    Role::Atomic,
    Role::Read,
    Role::Written,
];

/// The dwords of a container, and the tracked state before it. No value of the state is unknown.
#[derive(Clone)]
pub struct World {
    own: Vec<u32>,
    states: BTreeMap<u16, Vec<u32>>,
    lasts: BTreeMap<u16, u64>,
    roles: [bool; ROLES.len()],
    looks_at_roles: bool,
}

impl Facts for World {
    fn state(&self, container: u16, _: u32, _: u32) -> Option<&[u32]> {
        self.states.get(&container).map(Vec::as_slice)
    }

    fn last(&self, index: u16) -> Option<u64> {
        self.lasts.get(&index).copied()
    }

    fn role(&self, role: Role) -> Option<bool> {
        let used = ROLES.iter().zip(self.roles).filter(|(_, used)| *used);
        Some(Roles::of(&used.map(|(role, _)| *role).collect::<Vec<_>>()).contains(role))
    }
}

impl World {
    fn get(&self, place: Place) -> u64 {
        match place {
            Place::Own(start, end) => bits::get(&self.own, start, end),
            Place::State(container, start, end) => bits::get(&self.states[&container], start, end),
            Place::Last(index) => self.lasts[&index],
            Place::Role(role) => self.roles[role].into(),
        }
    }

    fn set(&mut self, place: Place, value: u64) {
        match place {
            Place::Own(start, end) => replace(&mut self.own, start, end, value),
            Place::State(container, start, end) => {
                replace(
                    self.states.get_mut(&container).expect("it was collected"),
                    start,
                    end,
                    value,
                );
            }
            Place::Last(index) => _ = self.lasts.insert(index, value),
            Place::Role(role) => self.roles[role] = value & 1 != 0,
        }
    }
}

/// Replaces the bits `start` to `end` by `value`.
pub fn replace(words: &mut [u32], start: u32, end: u32, value: u64) {
    for bit in start..=end {
        let (word, mask) = (&mut words[bit as usize / 32], 1 << (bit % 32));
        *word = if value >> (bit - start) & 1 != 0 { *word | mask } else { *word & !mask };
    }
}

/// Collects the places that the condition reads, and the numbers that it compares with. `at` has
/// the container (`None` for the rule's own) and the first bit of each enclosing element, innermost
/// last.
fn collect(
    cond: &Cond,
    at: &[(Option<u16>, u32)],
    places: &mut Vec<Place>,
    numbers: &mut Vec<u64>,
) {
    let place = |(container, base): (Option<u16>, u32), start: u32, end: u32| match container {
        None => Place::Own(base + start, base + end),
        Some(container) => Place::State(container, base + start, base + end),
    };
    let base = |base: Base| match base {
        Base::State(container) => (Some(container), 0),
        Base::Own(outward) => at[at.len() - 1 - usize::from(outward)],
    };
    match cond {
        Cond::Number(number) => numbers.push(*number),
        Cond::Index => {}
        Cond::Last(index) => places.push(Place::Last(*index)),
        Cond::Role(role) => {
            places.extend(ROLES.iter().position(|other| other == role).map(Place::Role))
        }
        Cond::Field(field) => places.push(place(base(field.base), field.start, field.end)),
        Cond::Not(inner) => collect(inner, at, places, numbers),
        Cond::Bits(inner, list) => {
            numbers.extend(list.bits.iter().map(|value| value.0));
            collect(inner, at, places, numbers);
        }
        Cond::In(inner, set) => {
            numbers.extend(set.iter().flat_map(|range| [range.0, range.1]));
            collect(inner, at, places, numbers);
        }
        Cond::Binary(_, left, right) => {
            collect(left, at, places, numbers);
            collect(right, at, places, numbers);
        }
        Cond::Over(_, group, body) => {
            let (container, start) = base(group.base);
            let count = if group.count == 0 { ELEMENTS } else { group.count };
            for index in 0..count {
                let element = (container, start + group.start + index * group.bits);
                let at: Vec<_> = at.iter().copied().chain([element]).collect();
                collect(body, &at, places, numbers);
            }
            // A sum or count over elements without fields needs the container all the same.
            if let Some(container) = container {
                places.push(Place::State(container, group.start, group.start));
            }
        }
    }
}

/// Collects the bits of the condition's own container, which starts at `base`, and the numbers that
/// it compares with. Returns false if the condition reads anything else.
pub fn own(cond: &Cond, base: u32, ranges: &mut Vec<(u32, u32)>, numbers: &mut Vec<u64>) -> bool {
    let mut places = Vec::new();
    collect(cond, &[(None, base)], &mut places, numbers);
    places.into_iter().all(|place| match place {
        Place::Own(start, end) => {
            ranges.push((start, end));
            true
        }
        _ => false,
    })
}

/// Number of dwords of a container with all the elements that are tried.
fn dwords(container: &Container, most: u32) -> usize {
    let tails = container.groups.iter().filter(|group| group.count == 0);
    let tail: u32 = tails.map(|group| group.bits * ELEMENTS / 32).sum();
    (container.dwords() + tail as usize).max(most as usize)
}

/// Values for which the rule holds, and values for which it does not hold. Each is `None` if the
/// search finds no such values.
pub fn both_ways(container: &Container, rule: &Rule) -> (Option<World>, Option<World>) {
    let (mut places, mut numbers) = (Vec::new(), vec![0, 1, u64::MAX]);
    collect(&rule.require, &[(None, 0)], &mut places, &mut numbers);
    numbers.sort_unstable();
    numbers.dedup();
    places.sort_unstable();
    places.dedup();
    let mut world = World {
        own: Vec::new(),
        states: BTreeMap::new(),
        lasts: BTreeMap::new(),
        roles: [false; ROLES.len()],
        looks_at_roles: places.iter().any(|place| matches!(place, Place::Role(_))),
    };
    let mut most = 0;
    for place in &places {
        match *place {
            Place::Own(_, end) => most = most.max(end / 32 + 1),
            Place::State(index, _, end) => {
                let container = genxml::gen8::CONTAINERS[usize::from(index)];
                let length = dwords(container, end / 32 + 1);
                let state = world.states.entry(index).or_default();
                state.resize(state.len().max(length), 0);
            }
            Place::Last(index) => _ = world.lasts.insert(index, 0),
            Place::Role(_) => {}
        }
    }
    world.own = vec![0; dwords(container, most)];
    let search = |want| {
        let mut world = world.clone();
        reached(&rule.require, want, &places, &numbers, &mut world).then_some(world)
    };
    (search(true), search(false))
}

/// The packet with these dwords, and with its opcode and length set. For a register, the command
/// that writes it.
fn as_packet(container: &Container, dwords: &[u32]) -> Option<Vec<u32>> {
    let mut out = dwords.to_vec();
    match container.kind {
        Kind::Struct { .. } => return None,
        Kind::Register { offset, per_engine, masked, .. } => {
            // The register of the render engine.
            let offset = if per_engine { offset + 0x2000 } else { offset };
            let enable = if masked { 0xffff_0000 } else { 0 };
            out = vec![0x1100_0001, offset, dwords[0] | enable];
        }
        Kind::Instruction { opcode, opcode_mask, length_field, bias, .. } => {
            out[0] = out[0] & !opcode_mask | opcode;
            if let Some((start, end)) = length_field {
                replace(&mut out, start, end, (dwords.len() as u64).checked_sub(bias.into())?);
            }
        }
    }
    Some(out)
}

/// Whether the checker finds the rule violated for the packet in this world. `None` if the packet
/// cannot be put into a batch, or means something else there.
fn in_a_batch(container: &Container, rule: &Rule, world: &World, broken: bool) -> Option<bool> {
    // Other tests check roles of kernels and the order of earlier packets.
    if !world.lasts.is_empty() || world.looks_at_roles {
        return None;
    }
    let engines = |container: &Container| match container.kind {
        Kind::Instruction { engines, .. } => engines,
        Kind::Register { per_engine: true, .. } => Engines::RENDER,
        _ => Engines::ALL,
    };
    let mut packets = Vec::new();
    let mut before = Vec::new();
    for (index, dwords) in &world.states {
        let state = genxml::gen8::CONTAINERS[usize::from(*index)];
        before.push(state);
        packets.push(as_packet(state, dwords)?);
    }
    let own = as_packet(container, &world.own)
        .filter(|_| !matches!(container.kind, Kind::Register { .. }))?;
    let all = || before.iter().copied().chain([container]);
    let engine = EngineId::ALL
        .into_iter()
        .find(|engine| all().all(|one| engines(one).intersects(engine.set())))?;
    // The rule may read the opcode and the length.
    let mut real = world.clone();
    real.own.clone_from(&own);
    let packet = |state: &Container, dwords: &Vec<u32>| match state.kind {
        Kind::Register { .. } => dwords[2..].to_vec(),
        _ => dwords.clone(),
    };
    for ((dwords, state), packed) in real.states.values_mut().zip(&before).zip(&packets) {
        *dwords = packet(state, packed);
    }
    let same =
        rule.require.eval(&Frame::new(&real.own), &real).map(|value| value == 0) == Some(broken);
    packets.push(own);
    let at = 0x10000 + 4 * packets[..packets.len() - 1].concat().len() as u64;
    let found = findings(engine, &packets);
    let fires = found.iter().any(|finding| finding.rule == rule && finding.packet.1 == at);
    same.then_some(fires)
}

/// Changes values at random until the condition has the wanted result. Changes that increase
/// [`distance`] are undone. After every `RESTART` attempts all values are set to zero again.
fn reached(cond: &Cond, want: bool, places: &[Place], numbers: &[u64], world: &mut World) -> bool {
    let mut random = Random::new(7);
    let mut best = u64::MAX;
    for step in 0..STEPS {
        if step % RESTART == 0 {
            places.iter().for_each(|place| world.set(*place, 0));
            best = u64::MAX;
        }
        let mut before = Vec::new();
        for _ in 0..=random.index(3).min(places.len()) {
            let Some(&place) = places.get(random.index(places.len().max(1))) else { continue };
            let number = numbers[random.index(numbers.len())];
            // Multiply by a factor, because some conditions divide a field to read a part of it.
            let factor = numbers[random.index(numbers.len())];
            let value = match (place, random.below(9)) {
                (Place::Last(_), _) => random.below(4),
                (_, 0) => random.bits(),
                (_, 1) => number.wrapping_add(1),
                (_, 2) => number.wrapping_sub(1),
                (_, 3 | 4) => world.get(place) ^ number.wrapping_mul(factor),
                // The value of another field, because many rules compare two fields.
                (_, 5) => world.get(places[random.index(places.len())]),
                _ => number,
            };
            before.push((place, world.get(place)));
            world.set(place, value);
        }
        let frame = Frame::new(&world.own);
        let now = distance(cond, want, &frame, world);
        if now == 0 {
            return cond.eval(&frame, world).map(|value| value != 0) == Some(want);
        }
        if now > best {
            before.into_iter().rev().for_each(|(place, value)| world.set(place, value));
        } else {
            best = now;
        }
    }
    false
}

/// The least number of comparisons that must change for the condition to have the wanted result.
pub fn distance(cond: &Cond, want: bool, frame: &Frame<'_>, facts: &impl Facts) -> u64 {
    let both =
        |left, right| (distance(left, want, frame, facts), distance(right, want, frame, facts));
    match cond {
        Cond::Not(inner) => distance(inner, !want, frame, facts),
        Cond::Binary(op @ (Op::And | Op::Or), left, right) => {
            match (both(left, right), want == (*op == Op::And)) {
                ((left, right), true) => left + right,
                ((left, right), false) => left.min(right),
            }
        }
        other => u64::from(other.eval(frame, facts).map(|value| value != 0) != Some(want)),
    }
}

/// A rule that cannot be violated is useless, and a rule that cannot be satisfied is wrong. For
/// packets, the checker must give the same result.
#[test]
fn every_rule_can_be_kept_and_broken() {
    let all = genxml::gen8::CONTAINERS.iter().chain(genxml::eu::gen8::CONTAINERS);
    let (mut wrong, mut tried, mut in_batches) = (Vec::new(), 0, 0);
    for container in all {
        for rule in container.rules {
            let (kept, broken) = both_ways(container, rule);
            tried += 1;
            let (Some(kept), Some(broken)) = (&kept, &broken) else {
                let (kept, broken) = (kept.is_some(), broken.is_some());
                wrong.push(format!("{}: kept {kept}, broken {broken}: {}", rule.id, rule.text));
                continue;
            };
            for (world, breaks) in [(kept, false), (broken, true)] {
                if let Some(fires) = in_a_batch(container, rule, world, breaks) {
                    in_batches += 1;
                    if fires != breaks {
                        wrong.push(format!(
                            "{}: in a batch it fires: {fires}: {}",
                            rule.id, rule.text
                        ));
                    }
                }
            }
        }
    }
    println!("{tried} rules, {in_batches} times in a batch");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 450, "{tried}");
    assert!(in_batches > 550, "{in_batches}");
}
