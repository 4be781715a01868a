//! Records as text.
//!
//! ```text
//! 0x000000100000: 70020002  MEDIA_INTERFACE_DESCRIPTOR_LOAD  4 dwords
//!     dw2 16:0    Interface Descriptor Total Length: 32 bytes
//!     dw3 31:0    Interface Descriptor Data Start Address: 0x840 (dynamic-state) = 0x100840
//!   0x000000100840: INTERFACE_DESCRIPTOR_DATA
//!       dw0 47:6    Kernel Start Pointer: 0x8c0 (instruction) = 0x1008c0
//! ```
//! Packets start at the margin, what they point to is indented. Reserved bits appear only if they
//! are set; opcode and length fields never appear, because the header line has them. Values are
//! printed as meant (a count that is stored minus one is printed as the count).

use super::buffer::{Buffer, Key, Memo, hex_digits};
use super::effects::Follow;
use super::fields::{Fields, Unread};
use super::options::Options;
use super::plan::{GroupPlan, MemoKey, Part, Shape, Step};
use super::record::{Item, Kind, Record, Value, place};
use super::sink::Sink;
use crate::submission::{Ring, Submission};
use genxml_core::address::SpaceKind;
use std::io::{self, Write};

/// Writes records as text.
#[derive(Debug)]
pub struct TextWriter<W: Write> {
    out: W,
    text: Text,
}

/// The text that is not written yet. It does not depend on the type of the output, so that programs
/// do not compile it again for each type.
#[derive(Debug)]
struct Text {
    buffer: Buffer,
    /// Memoised text: steps, whole lines of fields, starts of lines of fields, and name and length
    /// in header lines.
    memo: Memo,
    color: bool,
    headers: bool,
    offsets: bool,
    sections: u64,
    /// Buffer for the items of a field.
    items: Vec<Item>,
}

/// ANSI colours.
mod color {
    pub const RESET: &[u8] = b"\x1b[0m";
    pub const SECTION: &[u8] = b"\x1b[1;7m";
    pub const PACKET: &[u8] = b"\x1b[1m";
    pub const BATCH: &[u8] = b"\x1b[1;32m";
    pub const WORK: &[u8] = b"\x1b[1;34m";
    pub const STATE: &[u8] = b"\x1b[36m";
    pub const NOTE: &[u8] = b"\x1b[33m";
    pub const PROBLEM: &[u8] = b"\x1b[1;31m";
}

impl<W: Write> TextWriter<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, options: &Options) -> Self {
        let text = Text {
            buffer: Buffer::new(),
            memo: Memo::new(),
            color: options.color,
            headers: options.headers,
            offsets: options.offsets,
            sections: 0,
            items: Vec::new(),
        };
        TextWriter { out, text }
    }

    /// Writes the text if there is enough of it.
    #[inline]
    fn written(&mut self) -> io::Result<()> {
        let buffer = &mut self.text.buffer;
        if buffer.full() { buffer.flush(&mut self.out) } else { Ok(()) }
    }
}

impl<W: Write> Sink for TextWriter<W> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.text.section(submission);
        Ok(())
    }

    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) -> io::Result<()> {
        self.text.packet(record, unread);
        self.written()
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.text.record(record);
        self.written()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.text.buffer.flush(&mut self.out)?;
        self.out.flush()
    }
}

impl Text {
    fn paint(&mut self, code: &[u8]) {
        if self.color {
            self.buffer.bytes(code);
        }
    }

    fn painted(&mut self, code: &[u8], text: &str) {
        self.paint(code);
        self.buffer.text(text);
        self.paint(color::RESET);
    }

    fn index(&mut self, index: Option<u32>) {
        if let Some(index) = index {
            self.buffer.byte(b'[');
            self.buffer.decimal(index.into());
            self.buffer.byte(b']');
        }
    }

    /// Writes the header line of a packet that has no remark and no index.
    fn plain_header(&mut self, record: &Record) {
        if record.depth != 0 {
            self.buffer.spaces(2 * record.depth as usize);
        }
        if self.offsets {
            let head = self.buffer.room::<26>(26);
            *head = *b"0x............: ........  ";
            if let Some(digits) = head[2..].first_chunk_mut::<12>() {
                hex_digits(digits, record.address);
            }
            if let Some(digits) = head[16..].first_chunk_mut::<8>() {
                hex_digits(digits, record.dwords.first().copied().unwrap_or(0).into());
            }
        }
        let key = Key {
            what: record.name.as_ptr().addr(),
            value: record.name.len() as u64,
            place: record.length.into(),
            kind: HEADER,
        };
        if self.memo.again(&key, &mut self.buffer).is_none() {
            let start = self.buffer.len();
            self.painted(packet_color(record.name), record.name);
            self.length(record.length);
            self.buffer.byte(b'\n');
            self.memo.keep(&key, self.buffer.since(start), 0);
        }
    }

    fn length(&mut self, length: u32) {
        self.buffer.text("  ");
        self.buffer.decimal(length.into());
        self.buffer.text(if length == 1 { " dword" } else { " dwords" });
    }

    fn header(&mut self, record: &Record) {
        let plain = matches!(record.kind, Kind::Packet | Kind::Partial)
            && record.note.is_empty()
            && (record.register, record.index, record.address >> 48) == (None, None, 0);
        if plain {
            return self.plain_header(record);
        }
        self.buffer.spaces(2 * record.depth as usize);
        if record.kind == Kind::Note {
            self.painted(color::NOTE, &record.note);
            return self.buffer.byte(b'\n');
        }
        if self.offsets {
            let register = record.kind == Kind::Register;
            self.buffer.hex0x(record.address, if register { 0 } else { 12 });
            self.buffer.text(": ");
        }
        let is_packet = record.kind.is_packet();
        let first = record.dwords.first().copied().unwrap_or(0).into();
        if is_packet && self.offsets {
            self.buffer.hex(first, 8);
            self.buffer.text("  ");
        }
        self.paint(match record.kind {
            Kind::Unknown => color::PROBLEM,
            Kind::Packet | Kind::Partial => packet_color(record.name),
            _ => color::STATE,
        });
        match &record.register {
            Some(register) => self.buffer.register(register),
            None => self.buffer.text(record.name),
        }
        self.index(record.index);
        self.paint(color::RESET);
        if is_packet {
            if record.kind == Kind::Unknown && !self.offsets {
                self.buffer.text(" 0x");
                self.buffer.hex(first, 8);
            }
            self.length(record.length);
        }
        if record.kind == Kind::Row {
            self.row(record);
        }
        if !record.note.is_empty() {
            self.buffer.text("  (");
            self.painted(color::NOTE, &record.note);
            self.buffer.text(")");
        }
        self.buffer.byte(b'\n');
    }

    /// Writes the fields and groups of `steps`. Their container starts at bit `base`; `depth` is
    /// the depth of their items.
    fn steps(&mut self, at: &mut At<'_>, parts: &[Part], steps: &[Step], base: u32, depth: u8) {
        for step in steps {
            let parts = &parts[step.first..step.end];
            self.step(at, step.key.as_ref(), base, depth, None, |text, at| {
                text.parts(at, parts, base, depth);
            });
        }
    }

    /// Writes the text of a step from the memo, or calls `write` and stores the text.
    #[inline(always)]
    fn step(
        &mut self,
        at: &mut At<'_>,
        key: Option<&MemoKey>,
        base: u32,
        depth: u8,
        index: Option<u32>,
        write: impl FnOnce(&mut Self, &mut At<'_>),
    ) {
        let value = key.and_then(|key| key.value(at.dwords, base).map(|value| (key, value)));
        let Some((key, value)) = value else { return write(self, at) };
        let key = Key {
            what: key.number,
            value,
            place: place(index, base),
            kind: u64::from(key.version(at.unread.bases)) << 32
                | (at.indent as u64) << 16
                | u64::from(depth) << 8
                | STEP,
        };
        if let Some(problems) = self.memo.again(&key, &mut self.buffer) {
            at.problems += u64::from(problems);
            return;
        }
        let (start, problems) = (self.buffer.len(), at.problems);
        write(self, at);
        self.memo.keep(&key, self.buffer.since(start), (at.problems - problems) as u32);
    }

    fn parts(&mut self, at: &mut At<'_>, parts: &[Part], base: u32, depth: u8) {
        let tables = at.unread.tables;
        for part in parts {
            match part {
                Part::Field(field) => match field.shape {
                    Shape::Nested(id) => {
                        if field.exists(at.dwords, base) {
                            self.shown(at, |fields| fields.structure(field, base, depth));
                            let inner = tables.plan(id);
                            self.steps(
                                at,
                                &inner.parts,
                                &inner.steps,
                                base + field.start,
                                depth + 1,
                            );
                        }
                    }
                    _ => self.shown(at, |fields| fields.field(field, base, depth, None)),
                },
                Part::Group(group) => {
                    for (index, start) in (0..).zip(group.elements(at.dwords, base)) {
                        self.step(
                            at,
                            group.whole.as_ref(),
                            start,
                            depth,
                            Some(index),
                            |text, at| {
                                text.element(at, group, start, depth, index);
                            },
                        );
                    }
                }
            }
        }
    }

    /// Writes an element of a group; it starts at bit `start`.
    fn element(&mut self, at: &mut At<'_>, group: &GroupPlan, start: u32, depth: u8, index: u32) {
        match (group.flat, &group.parts[..]) {
            (true, [Part::Field(field)]) => {
                self.shown(at, |fields| fields.field(field, start, depth, Some(index)));
            }
            _ => {
                self.shown(at, |fields| fields.element(group, start, depth, index));
                self.steps(at, &group.parts, &group.steps, start, depth + 1);
            }
        }
    }

    /// Writes a line for each item that `read` adds.
    #[inline(always)]
    fn shown(&mut self, at: &mut At<'_>, read: impl FnOnce(&mut Fields<'_>)) {
        let mut items = std::mem::take(&mut self.items);
        items.clear();
        let Unread { tables, bases, .. } = *at.unread;
        read(&mut Fields { tables, bases, dwords: at.dwords, items: &mut items });
        for item in &items {
            at.problems += u64::from(item.issue.is_some());
            self.item(item, at.indent);
        }
        self.items = items;
    }

    #[inline]
    fn item(&mut self, item: &Item, indent: usize) {
        let whole = item.has_few_values();
        let piece = if whole { LINE_OF_FIELD } else { START_OF_LINE };
        let kind = (indent as u64) << 16 | u64::from(item.depth) << 8 | piece;
        let key = item.memo_key(whole, kind);
        if key.what == 0 {
            self.start_of_line(item, indent);
            self.rest_of_line(item);
        } else if self.memo.again(&key, &mut self.buffer).is_none() {
            let start = self.buffer.len();
            self.start_of_line(item, indent);
            if whole {
                self.rest_of_line(item);
            }
            self.memo.keep(&key, self.buffer.since(start), 0);
            if !whole {
                self.rest_of_line(item);
            }
        } else if !whole {
            self.rest_of_line(item);
        }
    }

    /// Writes the start of a field's line: the bits, if option `offsets` is set, and the name.
    fn start_of_line(&mut self, item: &Item, indent: usize) {
        self.buffer.spaces(indent);
        if self.offsets {
            let line = self.buffer.len();
            let dword = item.start / 32;
            self.buffer.text("dw");
            self.buffer.decimal(dword.into());
            self.buffer.byte(b' ');
            self.buffer.decimal((item.end - 32 * dword).into());
            if item.end != item.start {
                self.buffer.byte(b':');
                self.buffer.decimal((item.start % 32).into());
            }
            let used = self.buffer.len() - line;
            self.buffer.spaces(12usize.saturating_sub(used).max(1));
        }
        self.buffer.spaces(2 * item.depth as usize);
        self.buffer.text(item.name);
        self.index(item.index);
        if item.value != Value::Nested && !item.name.is_empty() {
            self.buffer.text(": ");
        }
    }

    /// Writes the rest of a field's line: the value.
    fn rest_of_line(&mut self, item: &Item) {
        if item.value == Value::Nested {
            return self.buffer.text(":\n");
        }
        if item.issue.is_some() {
            self.paint(color::PROBLEM);
        }
        self.value(item);
        if let Some(issue) = item.issue {
            _ = write!(self.buffer, " ({issue})");
            self.paint(color::RESET);
        }
        self.buffer.byte(b'\n');
    }

    fn value(&mut self, item: &Item) {
        match item.value {
            Value::Uint(value) => {
                let mask = item.unit.starts_with("one bit");
                if mask {
                    self.buffer.hex0x(value, 0);
                    return;
                }
                self.buffer.decimal(value);
                if item.unit.is_empty() && value > 9 {
                    self.buffer.text(" (");
                    self.buffer.hex0x(value, 0);
                    self.buffer.byte(b')');
                }
            }
            Value::Int(value) => {
                if value < 0 {
                    self.buffer.byte(b'-');
                }
                self.buffer.decimal(value.unsigned_abs());
            }
            Value::Bool(value) => self.buffer.text(if value { "true" } else { "false" }),
            Value::Float(value) => {
                // A value that an `f32` holds exactly is printed as `f32`, which is shorter.
                let single = value as f32;
                _ = if f64::from(single) == value {
                    write!(self.buffer, "{single:?}")
                } else {
                    write!(self.buffer, "{value:?}")
                };
            }
            Value::Enum { name } => match name {
                Some(name) => {
                    self.buffer.text(name);
                    self.buffer.text(" (");
                    self.buffer.decimal(item.stored);
                    self.buffer.byte(b')');
                    return;
                }
                None => return self.buffer.decimal(item.stored),
            },
            Value::Address { value, space, absolute, register } => {
                self.buffer.hex0x(value, 0);
                match (space, absolute, register) {
                    (SpaceKind::Graphics, ..) => {}
                    (SpaceKind::Mmio, _, Some(register)) => {
                        self.buffer.text(" (");
                        self.buffer.register(&register);
                        self.buffer.text(")");
                    }
                    (SpaceKind::Mmio, ..) => {}
                    (_, absolute, _) => {
                        self.buffer.text(" (");
                        self.buffer.text(space.name());
                        self.buffer.text(")");
                        if let Some(absolute) = absolute {
                            self.buffer.text(" = ");
                            self.buffer.hex0x(absolute, 0);
                        }
                    }
                }
                return;
            }
            Value::Nested => {}
            Value::Reserved | Value::Raw => self.buffer.hex0x(item.stored, 0),
        }
        if item.unit.is_empty() {
            return;
        }
        // Only the text before a semicolon is printed; the rest describes other cases.
        let unit = item.unit.split(';').next().unwrap_or_default();
        if unit.starts_with("log2") || unit.starts_with(|first: char| first.is_ascii_digit()) {
            self.buffer.text(" (");
            self.buffer.text(unit);
            self.buffer.text(")");
        } else if !unit.is_empty() {
            self.buffer.byte(b' ');
            self.buffer.text(unit);
        }
    }

    /// Writes a row of a table in one line. The components of each vertex element are in
    /// parentheses.
    fn row(&mut self, record: &Record) {
        let mut open = false;
        let mut first = false;
        self.buffer.byte(b' ');
        for item in &record.items {
            if item.value == Value::Nested {
                self.buffer.text(if open { ") (" } else { " (" });
                (open, first) = (true, true);
                continue;
            }
            if !first {
                self.buffer.byte(b' ');
            }
            first = false;
            self.value(item);
        }
        if open {
            self.buffer.byte(b')');
        }
    }

    /// Writes the dwords in hexadecimal, eight in a row. A row is also written as floats if each of
    /// its dwords looks like a float and at least one is not zero.
    fn data(&mut self, record: &Record, indent: usize) {
        for (number, row) in record.dwords.chunks(8).enumerate() {
            self.buffer.spaces(indent);
            self.buffer.byte(b'+');
            self.buffer.hex0x(32 * number as u64, 4);
            self.buffer.byte(b':');
            for &dword in row {
                self.buffer.byte(b' ');
                self.buffer.hex(dword.into(), 8);
            }
            if row.iter().any(|&dword| dword != 0)
                && row.iter().all(|&dword| looks_like_float(dword))
            {
                self.buffer.spaces(9 * (8 - row.len()));
                self.buffer.text("  |");
                for &dword in row {
                    _ = write!(self.buffer, " {:?}", f32::from_bits(dword));
                }
            }
            self.buffer.byte(b'\n');
        }
    }

    /// Writes all dwords of a packet that the tables do not describe.
    fn raw(&mut self, record: &Record, indent: usize) {
        for (dword, value) in record.dwords.iter().enumerate() {
            self.buffer.spaces(indent);
            self.buffer.text("dw");
            self.buffer.decimal(dword as u64);
            self.buffer.text(": ");
            self.buffer.hex0x((*value).into(), 8);
            self.buffer.byte(b'\n');
        }
    }
}

/// A packet that is being written.
struct At<'a> {
    unread: &'a Unread<'a>,
    dwords: &'a [u32],
    indent: usize,
    /// Number of problems of its fields so far.
    problems: u64,
}

/// Kinds of memoised text: the low byte of `Key::kind`.
const LINE_OF_FIELD: u64 = 0;
const START_OF_LINE: u64 = 1;
const HEADER: u64 = 2;
const STEP: u64 = 3;

fn packet_color(name: &str) -> &'static [u8] {
    match name.as_bytes() {
        [b'M', b'I', b'_', b'B', b'A', b'T', b'C', b'H', ..] => color::BATCH,
        b"3DPRIMITIVE" | b"GPGPU_WALKER" | b"MEDIA_OBJECT" => color::WORK,
        [b'X', b'Y', b'_', ..] => color::WORK,
        _ => color::PACKET,
    }
}

/// True for a dword of zero, and for a float whose magnitude is at least 1e-6 and below 1e9.
fn looks_like_float(dword: u32) -> bool {
    dword == 0 || (1e-6..1e9).contains(&f32::from_bits(dword).abs())
}

impl Text {
    /// Starts a submission.
    fn section(&mut self, submission: &Submission<'_>) {
        if self.sections > 0 {
            self.buffer.byte(b'\n');
        }
        self.sections += 1;
        self.paint(color::SECTION);
        let Submission { name, context, engine, address, length, global, ring, .. } = submission;
        let global = if *global { " (global)" } else { "" };
        _ = write!(self.buffer, "{name}: context {context}, {engine} engine, ");
        match ring {
            Some(Ring { start, size, head, tail }) => {
                _ = write!(
                    self.buffer,
                    "ring of {size} bytes at {start:#x}{global}, head {head:#x}, tail {tail:#x}"
                );
            }
            None => _ = write!(self.buffer, "batch at {address:#x}{global}"),
        }
        if *length != 0 {
            _ = write!(self.buffer, ", {length} bytes");
        }
        self.paint(color::RESET);
        self.buffer.byte(b'\n');
    }

    /// Appends a packet whose fields are not decoded yet.
    fn packet(&mut self, record: &mut Record, unread: &Unread<'_>) {
        // The fields of a blit are decoded together: the unit of a pitch depends on another field.
        if self.headers || unread.plan.follow == Follow::Blit {
            unread.items(record);
            return self.record(record);
        }
        self.header(record);
        let indent = 2 * record.depth as usize + 4;
        let mut at = At { unread, dwords: &record.dwords, indent, problems: 0 };
        let plan = unread.plan;
        self.steps(&mut at, &plan.parts, &plan.steps, 0, 0);
        self.shown(&mut at, |fields| fields.beyond(plan));
        record.problems = at.problems;
    }

    /// Appends a record.
    fn record(&mut self, record: &Record) {
        self.header(record);
        let indent = 2 * record.depth as usize + 4;
        if !self.headers {
            match record.kind {
                Kind::Data => self.data(record, indent),
                Kind::Unknown => self.raw(record, indent),
                Kind::Row => {}
                Kind::Kernel => {
                    let mut before = None;
                    for (offset, line) in &record.lines {
                        self.buffer.spaces(indent);
                        // Two lines with the same offset: this one is the message of the
                        // instruction in the line before.
                        if before == Some(offset) {
                            self.buffer.spaces(11);
                        } else {
                            self.buffer.byte(b'+');
                            self.buffer.hex0x((*offset).into(), 4);
                            self.buffer.text(": ");
                        }
                        before = Some(offset);
                        self.buffer.text(line);
                        self.buffer.byte(b'\n');
                    }
                }
                _ => {
                    for item in &record.items {
                        self.item(item, indent);
                    }
                }
            }
        }
    }
}
