//! Filters for dumps: a sink that passes the selected records to another sink.

use super::draws::DrawCounter;
use super::glob::Glob;
use crate::decode::{Decoder, Item, Kind, Record, Sink, Summary, Value};
use crate::memory::Memory;
use crate::submission::{Source, Submission};
use std::io;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

/// Which records of a dump to show. Conditions of different kinds must all hold. For several
/// packets, ranges or field names one match is enough; of several field values all must match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Names of packets, structures, registers or data. Everything that they point to is shown too.
    pub packets: Vec<Glob>,
    /// Tests of fields. A record is shown if its own fields match. If a test has no value, only the
    /// fields that tests without a value name are shown.
    pub fields: Vec<FieldTest>,
    /// Address ranges of packets and of structures and data in memory. Everything that such a
    /// packet points to is shown too.
    pub ranges: Vec<Range<u64>>,
    /// Draws by number ([`is_draw`](super::is_draw)), from 1: the packets after the previous draw,
    /// the draw, and what it uses.
    pub draws: Option<RangeInclusive<u64>>,
    /// Submissions by number.
    pub submissions: Option<RangeInclusive<u64>>,
}

/// A condition on a field: its name, alone or after the names of the structures and arrays that
/// hold it, `Entry[3].Surface Format`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTest {
    /// Name or path of the field.
    pub name: Glob,
    /// The comparison and the value; `None` if the field only has to exist.
    pub value: Option<(Compare, String)>,
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// `=`: the field has the value.
    Same,
    /// `!=`: the field has another value.
    Other,
}

/// Why a condition cannot be parsed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; write {example}")]
pub struct ParseError {
    /// What is wrong.
    pub what: String,
    /// A correct form as an example.
    pub example: &'static str,
}

genxml_core::debug_as_display!(ParseError);

/// Parses `NAME`, `NAME=VALUE` or `NAME!=VALUE`.
impl FromStr for FieldTest {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<FieldTest, ParseError> {
        // The first = ends the name: a value may contain = and !=.
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => match name.strip_suffix('!') {
                Some(name) => (name, Some((Compare::Other, value))),
                None => (name, Some((Compare::Same, value))),
            },
            None => (text, None),
        };
        let empty = |what: &str| ParseError {
            what: format!("`{text}` has no {what}"),
            example: "a field as NAME, or with its value as NAME=VALUE",
        };
        if name.trim().is_empty() {
            return Err(empty("name of a field"));
        }
        let value = value.map(|(compare, value)| (compare, value.trim().to_owned()));
        match &value {
            Some((_, value)) if value.is_empty() => return Err(empty("value")),
            Some((_, value)) if value.starts_with('=') => {
                let what = format!("`{text}` has ==; write one = to compare");
                return Err(ParseError { what, ..empty("") });
            }
            _ => {}
        }
        Ok(FieldTest { name: Glob::new(name.trim()), value })
    }
}

impl Filter {
    /// True if the filter selects everything.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Decodes every submission of a dump and passes the selected records to a sink. The caller
    /// calls [`Sink::finish`].
    ///
    /// # Errors
    /// Errors of the sink.
    pub fn decode(
        &self,
        decoder: &Decoder<'_>,
        dump: &mut dyn Source,
        sink: &mut dyn Sink,
    ) -> io::Result<Summary> {
        match self.is_empty() {
            true => decoder.submissions(dump, sink),
            false => decoder.submissions(dump, &mut Filtered::new(self, sink)),
        }
    }

    /// True if the filter tests fields, so that they must be decoded.
    pub fn needs_fields(&self) -> bool {
        !self.fields.is_empty()
    }

    /// True if name and address of the record match, whatever its fields.
    fn names(&self, record: &Record) -> bool {
        let named = self.packets.is_empty() || self.packets.iter().any(|glob| named(record, glob));
        named && (self.ranges.is_empty() || self.ranges.iter().any(|range| lies_in(record, range)))
    }

    /// True if the fields match. Stores the positions of the fields to show in `shown`.
    fn fields(&self, items: &[Item], shown: &mut Vec<usize>) -> bool {
        shown.clear();
        let mut paths = Paths::default();
        let mut met = vec![false; self.fields.len()];
        let mut some = false;
        for (at, item) in items.iter().enumerate() {
            paths.enter(items, at);
            for (test, met) in self.fields.iter().zip(&mut met) {
                if !test.name.matches(item.name) && !test.name.matches(paths.path(items)) {
                    continue;
                }
                match &test.value {
                    None => {
                        some = true;
                        shown.push(at);
                    }
                    Some((compare, value)) if item.value != Value::Nested => {
                        *met |= has_value(item, value) == (*compare == Compare::Same);
                    }
                    Some(_) => {}
                }
            }
        }
        let mut tests = self.fields.iter().zip(met);
        let all = tests.all(|(test, met)| test.value.is_none() || met);
        all && (some || self.fields.iter().all(|test| test.value.is_some()))
    }

    fn picks_fields(&self) -> bool {
        self.fields.iter().any(|test| test.value.is_none())
    }
}

/// True if the name matches, for a register also with engine or index: `RING_TAIL of VCS`.
fn named(record: &Record, glob: &Glob) -> bool {
    glob.matches(record.name)
        || record.register.is_some_and(|register| glob.matches(&register.to_string()))
}

/// True if the record's memory and the range overlap. Registers and remarks are not in memory.
fn lies_in(record: &Record, range: &Range<u64>) -> bool {
    let bytes = 4 * u64::from(record.length.max(1));
    let in_memory = !matches!(record.kind, Kind::Register | Kind::Note);
    in_memory && record.address < range.end && record.address.saturating_add(bytes) > range.start
}

/// The path of an item: the positions of the items that hold it, outermost first, and its own.
#[derive(Default)]
struct Paths {
    around: Vec<usize>,
    text: String,
    known: bool,
}

impl Paths {
    fn enter(&mut self, items: &[Item], at: usize) {
        let depth = items[at].depth;
        while self.around.last().is_some_and(|outer| items[*outer].depth >= depth) {
            self.around.pop();
        }
        self.around.push(at);
        self.known = false;
    }

    fn path(&mut self, items: &[Item]) -> &str {
        if !self.known {
            self.known = true;
            self.text.clear();
            for at in &self.around {
                if !self.text.is_empty() {
                    self.text.push('.');
                }
                self.text.push_str(items[*at].name);
                if let Some(index) = items[*at].index {
                    self.text.push_str(&format!("[{index}]"));
                }
            }
        }
        &self.text
    }
}

/// True if `text` is the value of the item: the decoded number; for an enumeration the stored
/// number or the name; for an address the offset, the GPU address or the name of the register.
fn has_value(item: &Item, text: &str) -> bool {
    let number = parse(text);
    let float = || text.parse::<f64>().ok();
    match item.value {
        // A double cannot hold every integer, so it is used only if the text is not an integer.
        Value::Uint(value) if number.is_some() => number == Some(value),
        Value::Uint(value) => float() == Some(value as f64),
        Value::Int(value) => {
            let digits = text.strip_prefix('-');
            let signed = digits
                .and_then(parse)
                .map_or(number.map(i128::from), |value| Some(-i128::from(value)));
            signed == Some(value.into())
        }
        Value::Bool(value) => match value {
            true => ["true", "on", "yes", "1"].iter().any(|word| text.eq_ignore_ascii_case(word)),
            false => ["false", "off", "no", "0"].iter().any(|word| text.eq_ignore_ascii_case(word)),
        },
        Value::Float(value) => float() == Some(value),
        Value::Enum { name } => {
            number == Some(item.stored) || name.is_some_and(|name| Glob::new(text).matches(name))
        }
        Value::Address { value, absolute, register, .. } => {
            let named = register.is_some_and(|register| {
                let glob = Glob::new(text);
                glob.matches(register.register.name) || glob.matches(&register.to_string())
            });
            number.is_some() && (number == Some(value) || number == absolute) || named
        }
        Value::Reserved | Value::Raw => number == Some(item.stored),
        Value::Nested => false,
    }
}

/// Parses a number: decimal, or hexadecimal after `0x`.
fn parse(text: &str) -> Option<u64> {
    let digits = text.replace('_', "");
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// A sink that passes the records selected by a [`Filter`] to another sink. It renumbers the
/// depths, so that the remaining records form a tree.
pub struct Filtered<'a> {
    filter: &'a Filter,
    inner: &'a mut dyn Sink,
    counter: DrawCounter,
    /// True if the filter selects the current submission.
    section: bool,
    /// True if the filter selects the packets up to the next draw.
    draw: bool,
    /// Depth of the record that is shown with everything that it points to.
    whole: Option<u32>,
    /// Depths of the shown records that hold the next one.
    around: Vec<u32>,
    /// A copy of the record with its new depth and the selected fields.
    copy: Record,
    shown: Vec<usize>,
    submissions: Option<(u64, u64)>,
    selected: u64,
}

/// Counts of what a [`Filtered`] sink received. Except for `selected`, they do not depend on the
/// filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// Number of draws and dispatches.
    pub draws: u64,
    /// Smallest and largest number of a submission; `None` without submissions.
    pub submissions: Option<(u64, u64)>,
    /// Number of submissions that the filter selects.
    pub selected: u64,
}

impl<'a> Filtered<'a> {
    /// A sink that passes the records selected by `filter` to `inner`.
    pub fn new(filter: &'a Filter, inner: &'a mut dyn Sink) -> Filtered<'a> {
        Filtered {
            filter,
            inner,
            counter: DrawCounter::default(),
            section: true,
            draw: true,
            whole: None,
            around: Vec::new(),
            copy: Record::default(),
            shown: Vec::new(),
            submissions: None,
            selected: 0,
        }
    }

    /// What the sink has received so far.
    pub fn seen(&self) -> Seen {
        let Filtered { submissions, selected, .. } = *self;
        Seen { draws: self.counter.draws(), submissions, selected }
    }

    /// True if the record is selected, before its fields are tested.
    fn asked_for(&mut self, record: &Record) -> bool {
        let packet = record.kind.is_packet();
        if packet {
            let number = self.counter.packet(record);
            self.draw = self.filter.draws.as_ref().is_none_or(|draws| draws.contains(&number));
        }
        if !self.section || !self.draw {
            self.whole = None;
            return false;
        }
        // A packet of a called batch does not belong to the packet that calls it.
        if packet || self.whole.is_some_and(|depth| record.depth <= depth) {
            // A remark that follows the record at the same depth belongs to it.
            if record.kind == Kind::Note && self.whole == Some(record.depth) {
                return true;
            }
            self.whole = None;
        }
        if self.whole.is_some() {
            return true;
        }
        let all = self.filter.packets.is_empty() && self.filter.ranges.is_empty();
        let asked = all || record.kind != Kind::Note && self.filter.names(record);
        if asked && !all {
            self.whole = Some(record.depth);
        }
        asked
    }
}

impl Sink for Filtered<'_> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        let wanted = self.filter.submissions.as_ref();
        let number = submission.number;
        self.section = wanted.is_none_or(|wanted| wanted.contains(&number));
        let (first, last) = self.submissions.unwrap_or((number, number));
        self.submissions = Some((first.min(number), last.max(number)));
        self.selected += u64::from(self.section);
        self.whole = None;
        self.around.clear();
        if self.section { self.inner.section(submission) } else { Ok(()) }
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.pass(record, None)
    }

    fn structure(&mut self, record: &Record, memory: &dyn Memory) -> io::Result<()> {
        self.pass(record, Some(memory))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.inner.finish()
    }
}

impl Filtered<'_> {
    /// Passes the record on if it is selected. For a structure, `memory` is the memory that holds
    /// it.
    fn pass(&mut self, record: &Record, memory: Option<&dyn Memory>) -> io::Result<()> {
        if !self.asked_for(record) {
            return Ok(());
        }
        let mut shown = std::mem::take(&mut self.shown);
        let fields = self.filter.fields.is_empty() || self.filter.fields(&record.items, &mut shown);
        self.shown = shown;
        if !fields {
            return Ok(());
        }
        while self.around.last().is_some_and(|outer| *outer >= record.depth) {
            self.around.pop();
        }
        let depth = self.around.len() as u32;
        self.around.push(record.depth);
        if depth == record.depth && !self.filter.picks_fields() {
            return give(self.inner, record, memory);
        }
        self.copy.clone_from(record);
        self.copy.depth = depth;
        if self.filter.picks_fields() {
            keep(&mut self.copy.items, &self.shown);
        }
        give(self.inner, &self.copy, memory)
    }
}

fn give(sink: &mut dyn Sink, record: &Record, memory: Option<&dyn Memory>) -> io::Result<()> {
    match memory {
        Some(memory) => sink.structure(record, memory),
        None => sink.record(record),
    }
}

/// Retains the items at these positions, their nested items, and the items that hold them.
fn keep(items: &mut Vec<Item>, shown: &[usize]) {
    let mut kept = vec![false; items.len()];
    for &at in shown {
        let mut depth = items[at].depth;
        kept[at] = true;
        for outer in (0..at).rev() {
            if items[outer].depth < depth {
                depth = items[outer].depth;
                kept[outer] = true;
            }
        }
        let inside =
            items[at + 1..].iter().take_while(|inner| inner.depth > items[at].depth).count();
        kept[at + 1..at + 1 + inside].fill(true);
    }
    let mut kept = kept.into_iter();
    items.retain(|_| kept.next() == Some(true));
}
