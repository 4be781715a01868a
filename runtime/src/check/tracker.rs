//! The state of one engine of one context, as far as packets have set it.

use super::rules::{Forgets, Plan, Reads, Rules};
use crate::decode::{Kind, Record, Uses};
use genxml_core::bits;
use genxml_core::reflect;
use genxml_core::rule::{Facts, Frame, Role};

/// The recorded state.
#[derive(Debug)]
pub(super) struct Tracker {
    /// For each plan of [`Rules`] (one for each container): the last packet.
    checked: Vec<Checked>,
    /// Number of changes of the recorded state.
    changes: u64,
    /// Number of packets so far, including the current one.
    place: u64,
    /// For each slot of [`Rules`] (one for each container that rules read): the last contents.
    seen: Vec<Seen>,
    /// For each entry of `lasts` in [`Rules`]: the value of `place` at the last packet that
    /// matched; 0 if none has.
    lasts: Vec<u64>,
    /// Indices of the entries of `lasts` that the current packet matches. They take effect at the
    /// next packet, after the structures that the current packet points to were checked.
    pending: Vec<u16>,
    /// State for draws that was set (`defined`) or reported as missing (`missed`): bits of
    /// [`Part`](super::undefined::Part).
    pub defined: u64,
    pub missed: u64,
}

/// The last packet of a type. If this packet had no finding (`right`), values that did not change
/// since then need not be checked again.
#[derive(Debug, Default, Clone)]
struct Checked {
    right: bool,
    dwords: Vec<u32>,
    /// Value of the tracker's `changes` at that time.
    changes: u64,
}

/// The last packet of the same type, if it had no finding and has the same length as the current
/// packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Before<'a> {
    pub dwords: &'a [u32],
    changes: u64,
    /// True if the current packet differs from that packet.
    differs: bool,
}

/// The last contents of a container that rules read.
#[derive(Debug, Default, Clone)]
struct Seen {
    /// Value of the tracker's `changes` when the contents last changed.
    changed: u64,
    dwords: Vec<u32>,
    known: Known,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// No bit is known.
    #[default]
    Nothing,
    /// All bits are known.
    All,
    /// For a masked register: the bits that were written.
    Bits(u32),
}

impl Tracker {
    pub fn new(rules: &Rules) -> Tracker {
        Tracker {
            checked: vec![Checked::default(); rules.plan_count()],
            changes: 0,
            place: 0,
            seen: vec![Seen::default(); rules.slot_count],
            lasts: vec![0; rules.lasts.len()],
            pending: Vec::new(),
            defined: 0,
            missed: 0,
        }
    }

    /// Starts the next packet.
    pub fn next_packet(&mut self) {
        for last in self.pending.drain(..) {
            self.lasts[usize::from(last)] = self.place;
        }
        self.place += 1;
    }

    /// The last packet of this type, if it had no finding and has as many dwords as `dwords`.
    pub fn before(&self, plan: usize, dwords: &[u32]) -> Option<Before<'_>> {
        let last = self
            .checked
            .get(plan)
            .filter(|last| last.right && last.dwords.len() == dwords.len())?;
        let differs = last.dwords != dwords;
        Some(Before { dwords: &last.dwords, changes: last.changes, differs })
    }

    /// Records that a packet of this type was checked, before it takes effect.
    pub fn checked(&mut self, plan: usize, dwords: &[u32], right: bool) {
        let Some(last) = self.checked.get_mut(plan) else { return };
        last.right = right;
        last.changes = self.changes;
        if right {
            last.dwords.clear();
            last.dwords.extend_from_slice(dwords);
        }
    }

    /// The facts at the current packet, before it takes effect.
    pub fn facts<'a>(&'a self, rules: &'a Rules, uses: Option<Uses>) -> Now<'a> {
        Now { rules, tracker: Some(self), uses }
    }

    /// Records the contents of a packet, structure or register as state.
    pub fn latch(&mut self, rules: &Rules, plan: &Plan, record: &Record) {
        for &last in &plan.lasts {
            let condition = rules.lasts[usize::from(last)].condition;
            if condition.is_none_or(|cond| {
                cond.eval(&Frame::new(&record.dwords), &()).is_some_and(|it| it != 0)
            }) {
                self.pending.push(last);
            }
        }
        if let Forgets::Register { start, end } = plan.forgets {
            let offset = bits::get(&record.dwords, start, end) << (start % 32);
            if let Some(slot) = rules.register(offset as u32) {
                self.changes += 1;
                let seen = &mut self.seen[usize::from(slot)];
                (seen.known, seen.changed) = (Known::Nothing, self.changes);
            }
        }
        // Only the first structure of an array is recorded.
        if record.kind == Kind::Struct && record.index.is_some_and(|index| index > 0) {
            return;
        }
        let Some(slot) = plan.slot else { return };
        let seen = &mut self.seen[usize::from(slot)];
        let masked = matches!(plan.container.kind, reflect::Kind::Register { masked: true, .. });
        if !masked && seen.known == Known::All && seen.dwords == record.dwords {
            return;
        }
        self.changes += 1;
        seen.changed = self.changes;
        match record.dwords.first() {
            Some(&written) if masked => seen.write_masked(written),
            _ => {
                seen.dwords.clear();
                seen.dwords.extend_from_slice(&record.dwords);
                seen.known = Known::All;
            }
        }
    }
}

impl Seen {
    /// Records a write to a masked register: bits 31:16 select which of bits 15:0 change.
    fn write_masked(&mut self, written: u32) {
        let enabled = bits::get(&[written], 16, 31) as u32;
        let before = match self.known {
            Known::Nothing => 0,
            Known::All => u32::MAX,
            Known::Bits(bits) => bits,
        };
        let old = self.dwords.first().copied().unwrap_or(0);
        self.dwords.clear();
        self.dwords.push(old & !enabled | written & enabled);
        self.known = Known::Bits(before | enabled);
    }
}

impl Reads {
    /// True if the value of the condition, for the container that starts at bit `base` of the
    /// packet, may differ from its value for the packet `before`.
    pub fn touched(
        &self,
        before: &Before<'_>,
        dwords: &[u32],
        base: u32,
        tracker: &Tracker,
    ) -> bool {
        let slot = |slot: &u16| tracker.seen[usize::from(*slot)].changed > before.changes;
        if self.order || self.slots.iter().any(slot) {
            return true;
        }
        if !before.differs {
            return false;
        }
        let own = |(dword, bits): &(u32, u32)| {
            let at = (base / 32 + dword) as usize;
            let (now, then) =
                (dwords.get(at).copied().unwrap_or(0), before.dwords.get(at).copied().unwrap_or(0));
            (now ^ then) & bits != 0
        };
        self.groups || !base.is_multiple_of(32) || self.own.iter().any(own)
    }
}

/// The facts at one packet.
pub(super) struct Now<'a> {
    pub rules: &'a Rules,
    /// `None` outside the stream of packets: no state is known.
    pub tracker: Option<&'a Tracker>,
    uses: Option<Uses>,
}

impl<'a> Now<'a> {
    /// Facts that are all unknown.
    pub fn nothing(rules: &'a Rules) -> Now<'a> {
        Now { rules, tracker: None, uses: None }
    }
}

impl Facts for Now<'_> {
    fn state(&self, container: u16, first: u32, last: u32) -> Option<&[u32]> {
        let seen = &self.tracker?.seen[usize::from(self.rules.slot(container)?)];
        let known = match seen.known {
            Known::Nothing => false,
            Known::All => true,
            Known::Bits(known) => {
                last < 32 && bits::get(&[known], first, last) == bits::ones(last - first + 1)
            }
        };
        known.then_some(&seen.dwords)
    }

    fn last(&self, index: u16) -> Option<u64> {
        self.tracker?.lasts.get(usize::from(index)).copied()
    }

    fn role(&self, role: Role) -> Option<bool> {
        let uses = self.uses?;
        // If not all messages are known, an unknown message may use the surface in this role.
        match uses.roles.contains(role) {
            true => Some(true),
            false => uses.complete.then_some(false),
        }
    }
}
