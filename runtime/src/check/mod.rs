//! The rules engine: checks dumps against the restrictions of the manual.
//!
//! The specification's `rule` elements are conditions over the fields of a packet or structure, and
//! over earlier packets. The decoder walks the dump. Every packet, register write and structure is
//! checked against the rules of its container and then recorded, separately for each context and
//! engine. Values that were never seen are unknown, and a rule is violated only if its condition is
//! known to be false ([`genxml_core::rule`]).
//!
//! Single fields are checked too: ranges, bits that must be zero or one, reserved bits and values
//! without a name ([`Rules::of_fields`]). If the dump has a context from its beginning, a draw is a
//! finding if it uses state that nothing has set ([`Rules::of_draws`]).
//!
//! Kernels that packets point to are checked too: the fields of each instruction, the descriptor of
//! its message if that is in the instruction, and everything that the validator
//! [`genxml_eu::validate`] checks. A restriction that both the specification and the validator
//! contain has one id and is reported once.
//! Contents of registers (message headers and payloads, computed descriptors) are not checked.
//!
//! ```no_run
//! use genxml::check;
//! use genxml::dump::{Dump, How};
//! let mut dump = Dump::open("some/capture".as_ref(), &How::default())?;
//! let rules = check::Rules::gen8();
//! let summary = check::dump(&mut dump, &rules, &mut |finding| println!("{finding}"));
//! assert_eq!(summary.errors, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Rules`]: the rules of a generation, with the severity of each; [`Rules::add`] and
//!   [`Rules::read`] add rules of your own
//! * [`dump()`], [`memory`], [`only_batch`], [`raw`], [`kernel`]: a complete check in one call
//! * [`Finding`]: a violation: its position, the values that cause it, and the packets around the
//!   position

mod added;
mod fields;
mod file;
mod finding;
mod names;
mod operand;
mod operands;
mod quote;
mod rules;
mod tracker;
mod undefined;
mod watch;

pub use added::{NewRule, RuleError, RulePart};
pub use file::{FileError, FileProblem};
pub use finding::{Finding, InKernel, Validated};
pub use operand::Operand;
pub use quote::{Line, Quote};
pub use rules::{Level, Rules, UnknownRule};
pub(crate) use watch::Watch;

use crate::decode::{
    self, Contexts, Decoder, Issue, Item, Kind, Options, PlanId, Record, Sink, State, Unread,
    items_at,
};
use crate::engine::EngineId;
use crate::memory::{Memory, bytes_of};
use crate::submission::{Source, Submission};
use finding::Position;
use genxml_core::Packed;
use genxml_core::reflect::Container;
use genxml_core::rule::{Frame, Rule, Severity};
use quote::Last;
use rules::{Inside, Plan, Reads, RuleReads};
use std::collections::{HashMap, HashSet};
use std::io;
use tracker::{Before, Now, Tracker};
use undefined::Part;

/// Counts of the checked packets and kernels, and of the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Packets, unknown ones included.
    pub packets: u64,
    /// Packets that are not in the tables; they are not checked.
    pub unknown: u64,
    /// Kernels that were checked; kernels with the same address and contents are checked once.
    pub kernels: u64,
    /// Instructions of these kernels.
    pub instructions: u64,
    /// Kernels without an end of thread; they are not checked, because they may be other data.
    pub unfinished: u64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity workaround.
    pub workarounds: u64,
    /// True if the limit of dwords was reached, so that a part was not checked.
    pub limited: bool,
}

impl Summary {
    fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Workaround => self.workarounds += 1,
        }
    }
}

/// Checks every submission of a dump; `each` gets the findings in order.
pub fn dump(dump: &mut dyn Source, rules: &Rules, each: &mut dyn FnMut(&Finding)) -> Summary {
    let mut checker = Checker::new(rules, each);
    checker.seen.from_start = dump.is_from_start();
    let mut contexts = Contexts::default();
    // The checker is a sink that never fails.
    _ = dump.submissions(&mut |submission| {
        checker.submission(&mut contexts, submission);
        Ok(())
    });
    checker.end()
}

/// Checks the batch of `length` bytes at `address` with everything that it points to in `memory`;
/// earlier state is unknown.
pub fn memory(
    engine: EngineId,
    memory: &dyn Memory,
    address: u64,
    length: u64,
    rules: &Rules,
    each: &mut dyn FnMut(&Finding),
) -> Summary {
    Checker::new(rules, each).only(engine, memory, address, length)
}

/// Checks a batch that is the only one of its context, as [`memory`] does. State that a draw uses
/// and nothing has set is a finding too.
pub fn only_batch(
    engine: EngineId,
    memory: &dyn Memory,
    address: u64,
    length: u64,
    rules: &Rules,
    each: &mut dyn FnMut(&Finding),
) -> Summary {
    Checker::new(rules, each).from_start().only(engine, memory, address, length)
}

/// Checks dwords at `address`, without other memory or earlier state.
pub fn raw(
    engine: EngineId,
    address: u64,
    dwords: &[u32],
    rules: &Rules,
    each: &mut dyn FnMut(&Finding),
) -> Summary {
    let bytes = bytes_of(dwords);
    memory(engine, &(address, &bytes[..]), address, bytes.len() as u64, rules, each)
}

/// Checks all instructions in the bytes of a kernel at `address`.
pub fn kernel(
    address: u64,
    bytes: &[u8],
    rules: &Rules,
    each: &mut dyn FnMut(&Finding),
) -> Summary {
    let mut checker = Checker::new(rules, each);
    checker.begin(None, 0, EngineId::Render, address);
    checker.seen.position.packet = ("kernel", address);
    checker.kernel(address, bytes);
    checker.end()
}

/// A violation that was reported: the rule, the address, and for a single field its first bit.
type Reported = (usize, u64, u32);

/// Checks the records of a decoder. Findings at a packet are reported when the next packet comes,
/// so that the next packet can be quoted; [`Sink::finish`] reports the rest.
pub struct Checker<'a> {
    rules: &'a Rules,
    each: &'a mut dyn FnMut(&Finding),
    seen: Seen,
}

/// The data that a checker has recorded so far.
struct Seen {
    trackers: HashMap<(u32, EngineId), Tracker>,
    /// The position in the current batch. The tracker of the batch's context is `current`.
    position: Position,
    context: u32,
    current: Tracker,
    /// True if the checker gets contexts from their beginning.
    from_start: bool,
    /// Violations that were reported in this submission. A structure is checked for every pointer
    /// to it, but each of its violations is reported once.
    reported: HashSet<Reported>,
    /// Kernels that were checked: address and contents.
    kernels: HashSet<(u64, Box<[u32]>)>,
    summary: Summary,
    /// Findings at the current packet.
    found: Vec<Finding>,
    last: Last,
}

impl Seen {
    fn new(rules: &Rules) -> Seen {
        Seen {
            trackers: HashMap::new(),
            position: Position::new(EngineId::Render),
            context: 0,
            current: Tracker::new(rules),
            from_start: false,
            reported: HashSet::new(),
            kernels: HashSet::new(),
            summary: Summary::default(),
            found: Vec::new(),
            last: Last::default(),
        }
    }
}

impl<'a> Checker<'a> {
    /// A checker that has seen nothing yet; `each` gets the findings.
    pub fn new(rules: &'a Rules, each: &'a mut dyn FnMut(&Finding)) -> Self {
        Checker { rules, each, seen: Seen::new(rules) }
    }

    /// Declares that the checker gets every context from its beginning. State that a draw uses and
    /// nothing has set is then a finding too.
    #[must_use]
    pub fn from_start(mut self) -> Self {
        self.seen.from_start = true;
        self
    }

    /// Starts a submission: the records that follow belong to it.
    pub fn begin(&mut self, submission: Option<u64>, context: u32, engine: EngineId, batch: u64) {
        self.report(None);
        let seen = &mut self.seen;
        let next = seen.trackers.remove(&(context, engine));
        let before = (seen.context, seen.position.engine);
        if (context, engine) != before {
            let next = next.unwrap_or_else(|| Tracker::new(self.rules));
            seen.trackers.insert(before, std::mem::replace(&mut seen.current, next));
        }
        seen.context = context;
        seen.position = Position { submission, batch, ..Position::new(engine) };
        seen.reported.clear();
        seen.last.clear();
    }

    /// Reports the findings at the current packet; `after` is the next packet, if there is one.
    fn report(&mut self, after: Option<&Record>) {
        if self.seen.found.is_empty() {
            return;
        }
        let quote = self.seen.last.quote(after);
        for mut finding in self.seen.found.drain(..) {
            finding.quote.clone_from(&quote);
            (self.each)(&finding);
        }
    }

    /// Reports the findings at the last packet and returns the counts.
    fn end(mut self) -> Summary {
        self.report(None);
        self.seen.summary
    }

    /// The counts so far.
    pub fn summary(&self) -> Summary {
        self.seen.summary
    }

    /// Checks a submission; `contexts` is the state after earlier ones. Findings at its last packet
    /// are reported when the next submission begins, or by `Sink::finish`.
    pub fn submission(&mut self, contexts: &mut Contexts, submission: &Submission<'_>) {
        let Submission { number, context, engine, address, .. } = *submission;
        self.begin(Some(number), context, engine, address);
        let decoder = self.decoder();
        if let Ok(summary) = decoder.submission(contexts.of(submission), submission, self) {
            self.count(&summary);
        }
    }

    fn decoder(&self) -> Decoder<'a> {
        // `every_draw`: rules relate what a draw uses to state that was set since the draw before.
        let options =
            Options { kernels: false, data: false, every_draw: true, ..Options::default() };
        Decoder::new(self.rules.tables(), options)
    }

    fn count(&mut self, summary: &decode::Summary) {
        self.seen.summary.packets += summary.packets;
        self.seen.summary.unknown += summary.unknown;
        self.seen.summary.limited |= summary.limited;
    }

    fn batch(&mut self, state: &mut State, memory: &dyn Memory, length: u64) {
        let decoder = self.decoder();
        let (engine, address) = (self.seen.position.engine, self.seen.position.batch);
        // The checker is a sink that never fails.
        if let Ok(summary) = decoder.batch(state, engine, memory, address, length, self) {
            self.count(&summary);
        }
    }

    /// Checks the batch of `length` bytes at `address`, and nothing after it.
    fn only(mut self, engine: EngineId, memory: &dyn Memory, address: u64, length: u64) -> Summary {
        self.begin(None, 0, engine, address);
        self.batch(&mut State::default(), memory, length);
        self.end()
    }

    /// Checks every instruction, in its 16-byte form, and its message if the instruction holds the
    /// descriptor. Adds the findings of the validator, in order of the instructions.
    fn kernel(&mut self, address: u64, bytes: &[u8]) {
        self.seen.summary.kernels += 1;
        let found =
            if self.rules.validates() { genxml_eu::validate::kernel(bytes) } else { Vec::new() };
        let mut found = found.iter().peekable();
        for native in genxml_eu::natives(bytes) {
            self.seen.summary.instructions += 1;
            // `natives` skips instructions without a 16-byte form: these are the findings about those
            // that come before this one.
            while let Some(finding) = found.next_if(|finding| finding.position < native.position) {
                self.validated(address, bytes, finding, &[]);
            }
            let container = native.container();
            let plan = container.and_then(|container| self.rules.instruction(container));
            let reported =
                plan.map(|plan| self.native(address, bytes, &native, plan)).unwrap_or_default();
            while let Some(finding) = found.next_if(|finding| finding.position == native.position) {
                self.validated(address, bytes, finding, &reported);
            }
        }
        found.for_each(|finding| self.validated(address, bytes, finding, &[]));
    }

    /// Checks the fields of an instruction and its message; returns the ids of the violated rules.
    fn native(
        &mut self,
        address: u64,
        bytes: &[u8],
        native: &genxml_eu::native::Native,
        plan: &Plan,
    ) -> Vec<&'static str> {
        let message = plan.container.fields.iter().find(|field| field.name == "Message");
        let before = self.seen.found.len();
        let seen = &mut self.seen;
        let mut pass = Pass {
            message: message.map(|field| field.start),
            fields: Vec::new(),
            blamed: Vec::new(),
            rules: self.rules,
            dwords: &native.dwords,
            address: address + native.position,
            kernel: Some((address, bytes)),
            inside: Vec::new(),
            position: &seen.position,
            facts: Now::nothing(self.rules),
            before: None,
            once: false,
            reported: &mut seen.reported,
            summary: &mut seen.summary,
            found: &mut seen.found,
        };
        pass.container(plan, 0, None);
        pass.finish();
        self.seen.found[before..].iter().map(|finding| finding.rule.id).collect()
    }

    /// Adds a finding of the validator, unless a rule of the specification with the same id was
    /// violated. The finding that an instruction cannot be decoded is dropped if the instruction
    /// violates any rule of the specification.
    fn validated(
        &mut self,
        kernel: u64,
        bytes: &[u8],
        found: &genxml_eu::validate::Finding,
        reported: &[&'static str],
    ) {
        let Some((rule, severity)) = self.rules.of_validator(found.rule.id) else { return };
        if reported.contains(&rule.id) || (rule.id == "EU-DECODE" && !reported.is_empty()) {
            return;
        }
        let container =
            found.instruction.map(|instruction| genxml_eu::native::container(instruction.opcode));
        let finding = Finding {
            rule,
            severity,
            container: container.unwrap_or(genxml_eu::gen8::eu::EuInstructionHeader::INFO),
            submission: self.seen.position.submission,
            engine: self.seen.position.engine,
            address: kernel + found.position,
            index: None,
            batch: self.seen.position.batch,
            packet: self.seen.position.packet,
            operands: Vec::new(),
            issue: None,
            instruction: Some(InKernel::new(kernel, bytes, found.position)),
            validated: Some(Validated {
                values: format!("{}{}", found.place, found.values),
                hint: found.rule.hint,
            }),
            quote: None,
        };
        self.seen.summary.count(severity);
        self.seen.found.push(finding);
    }

    /// Records which state the packet sets, and checks that the state that it needs is set.
    fn defined(&mut self, plan: &Plan, record: &Record) {
        let Part { sets, needs } = plan.part;
        let seen = &mut self.seen;
        let missing = needs & !seen.current.defined;
        seen.current.defined |= sets;
        if missing & !seen.current.missed == 0 || !seen.from_start {
            return;
        }
        seen.current.missed |= missing;
        let Some((rule, severity)) = self.rules.of_undefined() else { return };
        let never =
            |name| Operand { name: format!("last({name})"), value: Some(0), text: Some("never") };
        seen.summary.count(severity);
        seen.found.push(Finding {
            rule,
            severity,
            container: plan.container,
            submission: seen.position.submission,
            engine: seen.position.engine,
            address: record.address,
            index: None,
            batch: seen.position.batch,
            packet: seen.position.packet,
            operands: undefined::names(missing).map(never).collect(),
            issue: None,
            instruction: None,
            validated: None,
            quote: None,
        });
    }

    /// Starts a packet.
    fn next_packet(&mut self, record: &Record) {
        self.report(Some(record));
        let container = record.plan.map(|plan| self.rules.plan(plan).container);
        self.seen.last.packet(record, container);
        self.seen.current.next_packet();
        self.seen.position.packet = (record.name, record.address);
    }

    /// Checks the contents of a record, then stores them as state. `sound` means that the fields of
    /// a packet have no issue and that the last packet with the same container had no finding. Then
    /// only rules that read values changed since that packet are checked.
    fn contents(&mut self, record: &Record, plan: PlanId, packet: bool, sound: bool) {
        let index = plan.index();
        let plan = self.rules.plan(plan);
        if packet && plan.part != Part::default() {
            self.defined(plan, record);
        }
        let seen = &mut self.seen;
        let before = seen.found.len();
        let mut pass = Pass {
            message: None,
            fields: Vec::new(),
            blamed: Vec::new(),
            rules: self.rules,
            dwords: &record.dwords,
            address: record.address,
            kernel: None,
            inside: Vec::new(),
            position: &seen.position,
            facts: seen.current.facts(self.rules, record.uses),
            before: if sound { seen.current.before(index, &record.dwords) } else { None },
            once: !packet,
            reported: &mut seen.reported,
            summary: &mut seen.summary,
            found: &mut seen.found,
        };
        pass.note_items(plan.container, &record.items, record.index);
        pass.container(plan, 0, record.index);
        pass.finish();
        let right = seen.found.len() == before;
        if packet {
            seen.current.checked(index, &record.dwords, right && record.problems == 0);
        }
        seen.current.latch(self.rules, plan, record);
    }
}

impl Sink for Checker<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        let Submission { number, context, engine, address, .. } = *submission;
        self.begin(Some(number), context, engine, address);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let packet = match record.kind {
            Kind::Packet | Kind::Partial | Kind::Unknown => true,
            Kind::Struct | Kind::Register => false,
            Kind::Kernel => {
                match self.seen.kernels.insert((record.address, record.dwords.as_slice().into())) {
                    true if record.whole => {
                        let dwords = record.dwords.iter();
                        let bytes: Vec<u8> = dwords.flat_map(|dword| dword.to_le_bytes()).collect();
                        self.kernel(record.address, &bytes);
                    }
                    true => self.seen.summary.unfinished += 1,
                    false => {}
                }
                return Ok(());
            }
            Kind::Data | Kind::Row | Kind::Note => return Ok(()),
        };
        if packet {
            self.next_packet(record);
        }
        // Only registers of the engine that runs the batch are checked. For a register of several
        // dwords, or an array of registers, only the first dword is checked.
        if let Some(at) = record.register {
            let other = at.engine.is_some_and(|engine| {
                engine.name.to_ascii_lowercase().parse() != Ok(self.seen.position.engine)
            });
            if other || at.dword != 0 || at.index.unwrap_or(0) != 0 {
                return Ok(());
            }
        }
        let Some(plan) = record.plan else { return Ok(()) };
        self.contents(record, plan, packet, false);
        Ok(())
    }

    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        self.next_packet(record);
        let Some(plan) = record.plan else { return Ok(()) };
        let before = self.seen.current.before(plan.index(), &record.dwords);
        let sound = before.is_some_and(|before| unread.sound(record, before.dwords));
        if !sound {
            unread.items(record);
        }
        self.contents(record, plan, true, sound);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.report(None);
        Ok(())
    }
}

/// A violation inside a record, before the record's address and packet are added.
struct Found {
    rule: &'static Rule,
    severity: Severity,
    container: &'static Container,
    /// First bit of the container in the record; for a single field the first bit of the field.
    base: u32,
    index: Option<u32>,
    operands: Vec<Operand>,
    issue: Option<Issue>,
}

/// The check of one record or instruction.
struct Pass<'a> {
    /// Issues of single fields, with their bits in the record.
    fields: Vec<((u32, u32), Found)>,
    /// For an instruction: the first bit of its message.
    message: Option<u32>,
    /// Bits of the fields that violated rules read.
    blamed: Vec<(u32, u32)>,
    rules: &'a Rules,
    dwords: &'a [u32],
    address: u64,
    /// For an instruction: its kernel.
    kernel: Option<(u64, &'a [u8])>,
    /// For an instruction: the fields that hold the current structure. A view of the whole
    /// structure is not included.
    inside: Vec<&'static str>,
    position: &'a Position,
    facts: Now<'a>,
    /// For a packet of which only the changes are checked: the last packet with the same container.
    before: Option<Before<'a>>,
    /// True if the same violation is reported only once in a submission.
    once: bool,
    reported: &'a mut HashSet<Reported>,
    summary: &'a mut Summary,
    found: &'a mut Vec<Finding>,
}

impl Pass<'_> {
    /// Checks the container that starts at this bit of the record, and the structures inside it.
    fn container(&mut self, plan: &Plan, base: u32, index: Option<u32>) {
        let frame = Frame::inside(self.dwords, base);
        for RuleReads { rule, severity, reads } in &plan.rules {
            let Some(severity) = *severity else { continue };
            if !self.touched(reads, base) || !rule.require.violated(&frame, &self.facts) {
                continue;
            }
            let (operands, bits) = operands::operands(rule, &frame, &self.facts, &self.inside);
            self.blamed.extend(bits.iter().map(|(start, end)| (base + start, base + end)));
            self.found(Found {
                rule,
                severity,
                container: plan.container,
                base,
                index,
                operands,
                issue: None,
            });
        }
        self.parts(plan.container, &plan.inside, base);
    }

    /// True if the result of a rule that reads these values may differ from its result for the last
    /// packet with the same container.
    #[inline]
    fn touched(&self, reads: &Reads, base: u32) -> bool {
        match (&self.before, self.facts.tracker) {
            (Some(before), Some(tracker)) => reads.touched(before, self.dwords, base, tracker),
            _ => true,
        }
    }

    /// Checks the message or an operand of an instruction against the rules of its description. For
    /// a message it also collects the issues of single fields. For operands it does not, because
    /// encoders differ in their unused bits.
    fn described(&mut self, plan: &Plan, base: u32) {
        if self.message == Some(base) {
            let mut items = Vec::new();
            items_at(self.rules.kernel_tables(), plan.container, self.dwords, base, &mut items);
            items.iter_mut().for_each(fields::of_message);
            self.note_items(plan.container, &items, None);
        }
        self.container(plan, base, None);
    }

    /// Collects the issues of single fields; [`finish`](Self::finish) reports them after the rules
    /// were checked.
    fn note_items(&mut self, container: &'static Container, items: &[Item], index: Option<u32>) {
        for (at, item) in items.iter().enumerate() {
            let Some(issue) = item.issue else { continue };
            let Some((rule, severity)) = self.rules.of_issue(issue) else { continue };
            let operands = vec![fields::operand(items, at, &self.inside)];
            let (base, issue) = (item.start, Some(issue));
            let found = Found { rule, severity, container, base, index, operands, issue };
            self.fields.push(((item.start, item.end), found));
        }
    }

    /// Reports the issues of single fields, except those in fields that a violated rule reads. An
    /// issue that two descriptions of the same bits have is reported once.
    fn finish(mut self) {
        let mut reported: Vec<((u32, u32), usize)> = Vec::new();
        for (bits, found) in std::mem::take(&mut self.fields) {
            let rule = std::ptr::from_ref(found.rule).addr();
            if !self.blamed.contains(&bits) && !reported.contains(&(bits, rule)) {
                reported.push((bits, rule));
                self.found(found);
            }
        }
    }

    /// Reports a violation.
    fn found(&mut self, found: Found) {
        let Found { rule, severity, container, base, index, operands, issue } = found;
        let dword = match (self.kernel, issue) {
            (Some(_), _) | (_, Some(_)) => 0,
            (None, None) => base / 32,
        };
        let finding = Finding {
            rule,
            severity,
            container,
            submission: self.position.submission,
            engine: self.position.engine,
            address: self.address + 4 * u64::from(dword),
            index,
            batch: self.position.batch,
            packet: self.position.packet,
            operands,
            issue,
            instruction: self.kernel.map(|(kernel, bytes)| {
                InKernel::new(kernel, bytes, self.address.wrapping_sub(kernel))
            }),
            validated: None,
            quote: None,
        };
        let bit = if issue.is_some() { base } else { 0 };
        if self.once
            && !self.reported.insert((std::ptr::from_ref(rule).addr(), finding.address, bit))
        {
            return;
        }
        self.summary.count(severity);
        self.found.push(finding);
    }

    fn parts(&mut self, container: &'static Container, parts: &[Inside], base: u32) {
        let dwords = self.dwords;
        let total = 32 * dwords.len() as u64;
        for part in parts {
            match part {
                Inside::Struct { field, plan } => {
                    let there = u64::from(base) + u64::from(field.end) < total;
                    if there
                        && field.exists_if.is_none_or(|condition| condition.holds(dwords, base))
                    {
                        self.held(field.name, *plan, base + field.start);
                    }
                }
                Inside::View { view, plan } => {
                    let there = u64::from(base) + u64::from(view.end) < total;
                    if !there || !view.exists(&Frame::inside(dwords, base)) {
                        continue;
                    }
                    match (view.start, view.end + 1) == (0, container.bits) {
                        true => self.described(self.rules.inner(*plan), base),
                        false => self.view(view.name, *plan, base + view.start),
                    }
                }
                Inside::Group { group, parts } => {
                    let start = base + group.start;
                    let room = total
                        .saturating_sub(start.into())
                        .checked_div(group.bits.into())
                        .unwrap_or(0) as u32;
                    let count = if group.count == 0 { room } else { group.count.min(room) };
                    for index in 0..count {
                        self.element(container, parts, start + index * group.bits, index);
                    }
                }
            }
        }
    }

    /// Checks a part of an instruction that has a description of its own.
    fn view(&mut self, name: &'static str, plan: usize, base: u32) {
        self.inside.push(name);
        self.described(self.rules.inner(plan), base);
        self.inside.pop();
    }

    /// Checks a structure in a field.
    fn held(&mut self, field: &'static str, plan: usize, base: u32) {
        if self.kernel.is_some() {
            self.inside.push(field);
        }
        self.container(self.rules.inner(plan), base, None);
        if self.kernel.is_some() {
            self.inside.pop();
        }
    }

    /// Checks an element of a group. If the element is one structure, findings in the structure get
    /// the element's index.
    fn element(&mut self, container: &'static Container, parts: &[Inside], base: u32, index: u32) {
        match parts {
            [Inside::Struct { field, plan }] => {
                if field.exists_if.is_none_or(|condition| condition.holds(self.dwords, base)) {
                    self.container(self.rules.inner(*plan), base + field.start, Some(index));
                }
            }
            parts => self.parts(container, parts, base),
        }
    }
}
