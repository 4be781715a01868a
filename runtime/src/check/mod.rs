//! The rules engine: what the manual forbids, looked for in a dump.
//!
//! The specification's `rule` elements are conditions over the fields of a packet or structure, and
//! over what came before it. The decoder walks the dump; every packet, register write and structure
//! that it meets is checked against the rules of its container and then remembered, for each
//! context and engine by itself. What was never seen is unknown, and a rule is violated only if its
//! condition is known to be false ([`genxml_core::rule`]).
//!
//! Single fields are checked too: ranges, bits that must be zero or one, reserved bits and values
//! without a name ([`Rules::of_fields`]). And of each context that is seen from its beginning,
//! whether a draw uses state that nothing has set ([`Rules::of_draws`]).
//!
//! Kernels that packets lead to are checked too: the fields of each instruction, the descriptor of
//! the message that it sends if that stands in the instruction, and all that the validator
//! [`genxml_eu::validate`] looks at. A restriction that both know has one id and is told once. What
//! is in registers (message headers and payloads, computed descriptors) is not checked.
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
//! * [`Rules`]: the rules of a generation, and how severe each one counts
//! * [`dump()`], [`memory`], [`only_batch`], [`raw`], [`kernel`]: the whole job
//! * [`Finding`]: a violation with its place, the values that make it one, and the packets around
//!   it

mod fields;
mod finding;
mod quote;
mod rules;
mod tracker;
mod undefined;
mod watch;

pub use finding::{Finding, InKernel, Operand, Validated};
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
use finding::Place;
use genxml_core::Packed;
use genxml_core::reflect::Container;
use genxml_core::rule::{Frame, Rule, Severity};
use quote::Last;
use rules::{Inside, Known, Plan, Reads};
use std::collections::{HashMap, HashSet};
use std::io;
use tracker::{Before, Now, Tracker};
use undefined::Part;

/// What was checked and found, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// Packets, unknown ones included.
    pub packets: u64,
    /// Packets that the tables do not know: not checked.
    pub unknown: u64,
    /// Kernels that were checked, each once for the same address and contents.
    pub kernels: u64,
    /// Instructions of these kernels.
    pub instructions: u64,
    /// Kernels without an end of thread: not checked, since they may be something else.
    pub unfinished: u64,
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity workaround.
    pub workarounds: u64,
    /// The limit of dwords was reached and something was left out.
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

/// Checks every submission of a dump; `each` gets what is found, in order.
pub fn dump(dump: &mut dyn Source, rules: &Rules, each: &mut dyn FnMut(&Finding)) -> Summary {
    let mut checker = Checker::new(rules, each);
    checker.seen.from_start = dump.from_start();
    let mut contexts = Contexts::default();
    // The checker is a sink that never fails.
    _ = dump.submissions(&mut |submission| {
        checker.submission(&mut contexts, submission);
        Ok(())
    });
    checker.end()
}

/// Checks the batch of `length` bytes at `address` with what it points to in `memory`; what came
/// before is not known.
pub fn memory(
    engine: EngineId,
    memory: &dyn Memory,
    address: u64,
    length: u64,
    rules: &Rules,
    each: &mut dyn FnMut(&Finding),
) -> Summary {
    let mut checker = Checker::new(rules, each);
    checker.begin(None, 0, engine, address);
    checker.batch(&mut State::default(), memory, length);
    checker.end()
}

/// Checks the only batch that its context runs, as [`memory`] does: what draws use and nothing has
/// set is a finding too.
pub fn only_batch(
    engine: EngineId,
    memory: &dyn Memory,
    address: u64,
    length: u64,
    rules: &Rules,
    each: &mut dyn FnMut(&Finding),
) -> Summary {
    let mut checker = Checker::new(rules, each).from_start();
    checker.begin(None, 0, engine, address);
    checker.batch(&mut State::default(), memory, length);
    checker.end()
}

/// Checks dwords that stand at `address`, of which nothing else is known.
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

/// Checks the instructions of a kernel at `address`, to the last of its bytes.
pub fn kernel(
    address: u64,
    bytes: &[u8],
    rules: &Rules,
    each: &mut dyn FnMut(&Finding),
) -> Summary {
    let mut checker = Checker::new(rules, each);
    checker.begin(None, 0, EngineId::Render, address);
    checker.seen.place.packet = ("kernel", address);
    checker.kernel(address, bytes);
    checker.end()
}

/// A rule, where it is violated, and of a single field its first bit.
type Told = (usize, u64, u32);

/// Checks records as a decoder yields them. What is found at a packet is told with the packet
/// behind it, so that it can be quoted; [`Sink::finish`] tells the rest.
pub struct Checker<'a> {
    rules: &'a Rules,
    each: &'a mut dyn FnMut(&Finding),
    seen: Seen,
}

/// What a checker remembers.
struct Seen {
    trackers: HashMap<(u32, EngineId), Tracker>,
    /// Of the batch under way; the tracker is in `current` meanwhile.
    place: Place,
    context: u32,
    current: Tracker,
    /// Contexts are seen from their beginning.
    from_start: bool,
    /// Structures are met once for every pointer to them: the same violation is told once a
    /// submission.
    told: HashSet<Told>,
    /// Kernels that were checked: address and contents.
    kernels: HashSet<(u64, Box<[u32]>)>,
    summary: Summary,
    /// What was found at the packet at hand.
    found: Vec<Finding>,
    last: Last,
}

impl Seen {
    fn new(rules: &Rules) -> Seen {
        Seen {
            trackers: HashMap::new(),
            place: Place::new(EngineId::Render),
            context: 0,
            current: Tracker::new(rules),
            from_start: false,
            told: HashSet::new(),
            kernels: HashSet::new(),
            summary: Summary::default(),
            found: Vec::new(),
            last: Last::default(),
        }
    }
}

impl<'a> Checker<'a> {
    /// A checker that has seen nothing yet; `each` gets what is found.
    pub fn new(rules: &'a Rules, each: &'a mut dyn FnMut(&Finding)) -> Self {
        Checker { rules, each, seen: Seen::new(rules) }
    }

    /// The same for contexts that it sees from their beginning: what they use and nothing has set
    /// is a finding too.
    #[must_use]
    pub fn from_start(mut self) -> Self {
        self.seen.from_start = true;
        self
    }

    /// The records that follow are of this submission.
    pub fn begin(&mut self, submission: Option<u64>, context: u32, engine: EngineId, batch: u64) {
        self.tell(None);
        let seen = &mut self.seen;
        let next = seen.trackers.remove(&(context, engine));
        let before = (seen.context, seen.place.engine);
        if (context, engine) != before {
            let next = next.unwrap_or_else(|| Tracker::new(self.rules));
            seen.trackers.insert(before, std::mem::replace(&mut seen.current, next));
        }
        seen.context = context;
        seen.place = Place { submission, batch, ..Place::new(engine) };
        seen.told.clear();
        seen.last.clear();
    }

    /// Tells what was found at the packet at hand; `after` comes behind it.
    fn tell(&mut self, after: Option<&Record>) {
        if self.seen.found.is_empty() {
            return;
        }
        let quote = self.seen.last.quote(after);
        for mut finding in self.seen.found.drain(..) {
            finding.quote.clone_from(&quote);
            (self.each)(&finding);
        }
    }

    /// Nothing follows.
    fn end(mut self) -> Summary {
        self.tell(None);
        self.seen.summary
    }

    /// What was found so far.
    pub fn summary(&self) -> Summary {
        self.seen.summary
    }

    /// Checks a submission; `contexts` is the state that earlier ones left. What is found at its
    /// last packet is told with the next one.
    pub fn submission(&mut self, contexts: &mut Contexts, submission: &Submission<'_>) {
        let Submission { number, context, engine, address, .. } = *submission;
        self.begin(Some(number), context, engine, address);
        let decoder = self.decoder();
        if let Ok(summary) = decoder.submission(contexts.of(submission), submission, self) {
            self.count(&summary);
        }
    }

    fn decoder(&self) -> Decoder<'a> {
        // Rules compare what a draw uses with all that was set since the last one.
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
        let (engine, address) = (self.seen.place.engine, self.seen.place.batch);
        // The checker is a sink that never fails.
        if let Ok(summary) = decoder.batch(state, engine, memory, address, length, self) {
            self.count(&summary);
        }
    }

    /// Every instruction by itself, in its 16-byte form, and its message if the descriptor stands
    /// in it; with what the validator finds.
    fn kernel(&mut self, address: u64, bytes: &[u8]) {
        self.seen.summary.kernels += 1;
        let found =
            if self.rules.validates() { genxml_eu::validate::kernel(bytes) } else { Vec::new() };
        let mut found = found.iter().peekable();
        for native in genxml_eu::natives(bytes) {
            self.seen.summary.instructions += 1;
            // What stands between instructions that have a 16-byte form.
            while let Some(finding) = found.next_if(|finding| finding.position < native.position) {
                self.validated(address, bytes, finding, &[]);
            }
            let container = native.container();
            let plan = container.and_then(|container| self.rules.instruction(container));
            let told =
                plan.map(|plan| self.native(address, bytes, &native, plan)).unwrap_or_default();
            while let Some(finding) = found.next_if(|finding| finding.position == native.position) {
                self.validated(address, bytes, finding, &told);
            }
        }
        found.for_each(|finding| self.validated(address, bytes, finding, &[]));
    }

    /// The fields of an instruction and its message; gives the rules that are broken.
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
            place: &seen.place,
            facts: Now::nothing(self.rules),
            before: None,
            once: false,
            told: &mut seen.told,
            summary: &mut seen.summary,
            found: &mut seen.found,
        };
        pass.container(plan, 0, None);
        pass.finish();
        self.seen.found[before..].iter().map(|finding| finding.rule.id).collect()
    }

    /// Tells what the validator found, unless the specification's rule of the same id has. That an
    /// instruction cannot be decoded goes without saying if a rule has said why.
    fn validated(
        &mut self,
        kernel: u64,
        bytes: &[u8],
        found: &genxml_eu::validate::Finding,
        told: &[&'static str],
    ) {
        let Some((rule, severity)) = self.rules.of_validator(found.rule.id) else { return };
        if told.contains(&rule.id) || (rule.id == "EU-DECODE" && !told.is_empty()) {
            return;
        }
        let container =
            found.instruction.map(|instruction| genxml_eu::native::container(instruction.opcode));
        let finding = Finding {
            rule,
            severity,
            container: container.unwrap_or(genxml_eu::gen8::eu::EuInstructionHeader::INFO),
            submission: self.seen.place.submission,
            engine: self.seen.place.engine,
            address: kernel + found.position,
            index: None,
            batch: self.seen.place.batch,
            packet: self.seen.place.packet,
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

    /// What the packet sets, and what it needs that nothing has set.
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
            submission: seen.place.submission,
            engine: seen.place.engine,
            address: record.address,
            index: None,
            batch: seen.place.batch,
            packet: seen.place.packet,
            operands: undefined::names(missing).map(never).collect(),
            issue: None,
            instruction: None,
            validated: None,
            quote: None,
        });
    }

    /// A packet begins.
    fn next_packet(&mut self, record: &Record) {
        self.tell(Some(record));
        let container = record.plan.map(|plan| self.rules.plan(plan).container);
        self.seen.last.packet(record, container);
        self.seen.current.next_packet();
        self.seen.place.packet = (record.name, record.address);
    }

    /// Checks what a record is made of, and remembers it. If the fields of a packet are `sound`,
    /// which they are only if the last one of its kind was right, no more than what has changed
    /// since is looked at.
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
            place: &seen.place,
            facts: seen.current.facts(self.rules, record.uses),
            before: if sound { seen.current.before(index, &record.dwords) } else { None },
            once: !packet,
            told: &mut seen.told,
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
        // Each engine has registers of its own; of long or several ones, the first dword is looked
        // at.
        if let Some(at) = record.register {
            let other = at.engine.is_some_and(|engine| {
                engine.name.to_ascii_lowercase().parse() != Ok(self.seen.place.engine)
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
        self.tell(None);
        Ok(())
    }
}

/// A violation before its place is known.
struct Found {
    rule: &'static Rule,
    severity: Severity,
    container: &'static Container,
    /// First bit of the container in the record, of a single field that of the field.
    base: u32,
    index: Option<u32>,
    operands: Vec<Operand>,
    issue: Option<Issue>,
}

/// The check of one record or instruction.
struct Pass<'a> {
    /// Issues of single fields, with their bits in the record.
    fields: Vec<((u32, u32), Found)>,
    /// Of an instruction: where its message starts.
    message: Option<u32>,
    /// Bits of fields that violated rules looked at.
    blamed: Vec<(u32, u32)>,
    rules: &'a Rules,
    dwords: &'a [u32],
    address: u64,
    /// Of an instruction: its kernel.
    kernel: Option<(u64, &'a [u8])>,
    /// Of an instruction: the fields that hold the structure at hand. A closer view of all of it
    /// does not count.
    inside: Vec<&'static str>,
    place: &'a Place,
    facts: Now<'a>,
    /// Of a packet: what it is compared with.
    before: Option<Before<'a>>,
    /// The same violation is told once.
    once: bool,
    told: &'a mut HashSet<Told>,
    summary: &'a mut Summary,
    found: &'a mut Vec<Finding>,
}

impl Pass<'_> {
    /// The container that starts at this bit of the record, and the structures inside it.
    fn container(&mut self, plan: &Plan, base: u32, index: Option<u32>) {
        let frame = Frame::inside(self.dwords, base);
        for Known { rule, severity, reads } in &plan.rules {
            if !self.touched(reads, base) || !rule.require.violated(&frame, &self.facts) {
                continue;
            }
            let (operands, bits) = finding::operands(rule, &frame, &self.facts, &self.inside);
            self.blamed.extend(bits.iter().map(|(start, end)| (base + start, base + end)));
            self.found(Found {
                rule,
                severity: *severity,
                container: plan.container,
                base,
                index,
                operands,
                issue: None,
            });
        }
        self.parts(plan.container, &plan.inside, base);
    }

    /// True if a rule over this need not hold as it did for the last packet of the kind.
    #[inline]
    fn touched(&self, reads: &Reads, base: u32) -> bool {
        match (&self.before, self.facts.tracker) {
            (Some(before), Some(tracker)) => reads.touched(before, self.dwords, base, tracker),
            _ => true,
        }
    }

    /// What describes an instruction's message or operand: its rules, and of a message for later
    /// its fields one by one. Of operands no single fields, for encoders differ in bits that do not
    /// matter there.
    fn described(&mut self, plan: &Plan, base: u32) {
        if self.message == Some(base) {
            let mut items = Vec::new();
            items_at(self.rules.kernel_tables(), plan.container, self.dwords, base, &mut items);
            items.iter_mut().for_each(fields::of_message);
            self.note_items(plan.container, &items, None);
        }
        self.container(plan, base, None);
    }

    /// Keeps the issues of single fields until the rules have spoken.
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

    /// Tells the issues of single fields, apart from fields of which a rule has told more, or a
    /// wider description the same.
    fn finish(mut self) {
        let mut told: Vec<((u32, u32), usize)> = Vec::new();
        for (bits, found) in std::mem::take(&mut self.fields) {
            let rule = std::ptr::from_ref(found.rule).addr();
            if !self.blamed.contains(&bits) && !told.contains(&(bits, rule)) {
                told.push((bits, rule));
                self.found(found);
            }
        }
    }

    /// Tells a violation.
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
            submission: self.place.submission,
            engine: self.place.engine,
            address: self.address + 4 * u64::from(dword),
            index,
            batch: self.place.batch,
            packet: self.place.packet,
            operands,
            issue,
            instruction: self.kernel.map(|(kernel, bytes)| {
                InKernel::new(kernel, bytes, self.address.wrapping_sub(kernel))
            }),
            validated: None,
            quote: None,
        };
        let bit = if issue.is_some() { base } else { 0 };
        if self.once && !self.told.insert((std::ptr::from_ref(rule).addr(), finding.address, bit)) {
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

    /// A part of an instruction that has a description of its own.
    fn view(&mut self, name: &'static str, plan: usize, base: u32) {
        self.inside.push(name);
        self.described(self.rules.inner(plan), base);
        self.inside.pop();
    }

    /// A structure in a field.
    fn held(&mut self, field: &'static str, plan: usize, base: u32) {
        if self.kernel.is_some() {
            self.inside.push(field);
        }
        self.container(self.rules.inner(plan), base, None);
        if self.kernel.is_some() {
            self.inside.pop();
        }
    }

    /// An element of a group; if it is one structure, the structure has the element's number.
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
