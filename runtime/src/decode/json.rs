//! Records as JSON: one object per line.
//!
//! A line is a `submission` object, which starts a batch, or a record of depth 0 (a packet or a
//! remark) with everything that it points to inside it.
//!
//! The keys of a submission: `name`, `number` (the sequence number that the dump gives it,
//! otherwise its position), `context`, `engine`, `address` of its first dword as text, `length` in
//! bytes (0: up to MI_BATCH_BUFFER_END), `global` (true if the address is in the global page
//! table), and for a ring `ring` with `start` as text, `size`, `head` and `tail` in bytes.
//!
//! The keys of a record:
//!
//! | key | value |
//! |---|---|
//! | `kind` | `packet`, `partial`, `unknown`, `struct`, `register`, `data`, `row`, `kernel`, `note` |
//! | `address` | GPU address as text, `"0x100000"`; of registers the offset |
//! | `name` | name of the packet, structure, register or data |
//! | `index` | position in a table, if it is an element of one |
//! | `register` | of a register: name, position in an array, engine as text, `"CS_GPR[3] of RCS"` |
//! | `length` | length in dwords, of a packet from its header; missing if 0 |
//! | `dwords` | all dwords as numbers; missing for disassembled kernels and in an overview |
//! | `fields` | array of fields, below |
//! | `instructions` | of a kernel: array of `{"offset": bytes, "text": ...}`, of a send with its `message` |
//! | `note` | a remark as text |
//! | `children` | array of records that this one points to, a second-level batch included |
//!
//! A field: `name`, `index` in an array, `dword` and `bits` (`"16:0"`; bits above 31 are in the
//! next dword), `stored` bits, `value`, `unit`, `issue`, or `fields` if it holds others.
//! `value` is a number, a boolean, the name of an enumeration's value, or for addresses text; then
//! `space` is the address space, `absolute` the GPU address if it is known, and `register` the
//! register as text. Integers with a magnitude of 2^53 or more are text, since many readers cannot
//! hold them: unsigned ones in hexadecimal, signed ones in decimal. Infinities and NaN are text.

use super::buffer::{Buffer, Memo};
use super::options::Options;
use super::record::{Item, Record, Value};
use super::sink::Sink;
use crate::submission::{Ring, Submission};
use genxml_core::address::SpaceKind;
use std::io::{self, Write};

/// Writes records as lines of JSON.
#[derive(Debug)]
pub struct JsonWriter<W: Write> {
    out: W,
    json: Json,
}

/// The lines that are not written yet. They do not depend on the type of the output, so that
/// programs do not compile them again for each type.
#[derive(Debug)]
struct Json {
    buffer: Buffer,
    /// Memoised text: of some fields the whole text, of others the start.
    memo: Memo,
    /// For each open record, outermost first: true if its `children` have begun.
    open: Vec<bool>,
    headers: bool,
}

impl<W: Write> JsonWriter<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, options: &Options) -> Self {
        let (buffer, memo) = (Buffer::new(), Memo::new());
        let json = Json { buffer, memo, open: Vec::new(), headers: options.headers };
        JsonWriter { out, json }
    }
}

impl<W: Write> Sink for JsonWriter<W> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.json.section(submission);
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.json.record(record);
        let buffer = &mut self.json.buffer;
        if buffer.full() { buffer.flush(&mut self.out) } else { Ok(()) }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.json.close(0);
        self.json.buffer.flush(&mut self.out)?;
        self.out.flush()
    }
}

impl Json {
    /// Ends all open records except the outermost `keep`.
    fn close(&mut self, keep: usize) {
        while self.open.len() > keep {
            if self.open.pop() == Some(true) {
                self.buffer.byte(b']');
            }
            self.buffer.byte(b'}');
            if self.open.is_empty() {
                self.buffer.byte(b'\n');
            }
        }
    }

    fn string(&mut self, text: &str) {
        if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            self.buffer.byte(b'"');
            self.buffer.text(text);
            self.buffer.byte(b'"');
        } else {
            // Writing text to a vector cannot fail.
            _ = serde_json::to_writer(&mut self.buffer, text);
        }
    }

    fn integer(&mut self, value: u64) {
        if value >> 53 == 0 {
            self.buffer.decimal(value);
        } else {
            self.address(value);
        }
    }

    /// Writes a hexadecimal number as a string.
    fn address(&mut self, value: u64) {
        self.buffer.byte(b'"');
        self.buffer.hex0x(value, 0);
        self.buffer.byte(b'"');
    }

    fn items(&mut self, items: &[Item]) {
        self.buffer.byte(b'[');
        let mut depth = 0;
        let mut first = true;
        for item in items {
            while depth > item.depth {
                self.buffer.text("]}");
                depth -= 1;
                first = false;
            }
            if !first {
                self.buffer.byte(b',');
            }
            first = false;
            self.item(item);
            if item.value == Value::Nested {
                self.buffer.text(",\"fields\":[");
                depth = item.depth + 1;
                first = true;
            } else {
                self.buffer.byte(b'}');
            }
        }
        for _ in 0..depth {
            self.buffer.text("]}");
        }
        self.buffer.byte(b']');
    }

    /// Writes an item without its closing brace.
    #[inline]
    fn item(&mut self, item: &Item) {
        let whole = item.has_few_values();
        let key = item.memo_key(whole, whole.into());
        if key.what == 0 {
            self.place(item);
            self.meaning(item);
        } else if self.memo.again(&key, &mut self.buffer).is_none() {
            let start = self.buffer.len();
            self.place(item);
            if whole {
                self.meaning(item);
            }
            self.memo.keep(&key, self.buffer.since(start), 0);
            if !whole {
                self.meaning(item);
            }
        } else if !whole {
            self.meaning(item);
        }
    }

    /// Writes the name and the bit position.
    fn place(&mut self, item: &Item) {
        self.buffer.text("{\"name\":");
        self.string(item.name);
        if let Some(index) = item.index {
            self.buffer.text(",\"index\":");
            self.buffer.decimal(index.into());
        }
        let dword = item.start / 32;
        self.buffer.text(",\"dword\":");
        self.buffer.decimal(dword.into());
        self.buffer.text(",\"bits\":\"");
        self.buffer.decimal((item.end - 32 * dword).into());
        self.buffer.byte(b':');
        self.buffer.decimal((item.start % 32).into());
        self.buffer.text(if item.value == Value::Nested { "\"" } else { "\",\"stored\":" });
    }

    /// Writes the stored bits and the value.
    fn meaning(&mut self, item: &Item) {
        if item.value == Value::Nested {
            return;
        }
        self.integer(item.stored);
        match item.value {
            Value::Uint(value) => {
                self.buffer.text(",\"value\":");
                self.integer(value);
            }
            Value::Int(value) if value.unsigned_abs() >> 53 == 0 => {
                _ = write!(self.buffer, ",\"value\":{value}")
            }
            Value::Int(value) => _ = write!(self.buffer, ",\"value\":\"{value}\""),
            Value::Bool(value) => {
                self.buffer.text(if value { ",\"value\":true" } else { ",\"value\":false" });
            }
            Value::Float(value) if value.is_finite() => {
                _ = write!(self.buffer, ",\"value\":{value:?}")
            }
            // JSON has no infinities and no NaN.
            Value::Float(value) => _ = write!(self.buffer, ",\"value\":\"{value:?}\""),
            Value::Enum { name: Some(name) } => {
                self.buffer.text(",\"value\":");
                self.string(name);
            }
            Value::Enum { name: None } => {
                self.buffer.text(",\"value\":");
                self.integer(item.stored);
            }
            Value::Address { value, space, absolute, register } => {
                self.buffer.text(",\"value\":");
                self.address(value);
                self.buffer.text(",\"space\":");
                self.string(space.name());
                if let Some(absolute) = absolute.filter(|_| space != SpaceKind::Graphics) {
                    self.buffer.text(",\"absolute\":");
                    self.address(absolute);
                }
                if let Some(register) = register {
                    self.buffer.text(",\"register\":");
                    self.string(&register.to_string());
                }
            }
            Value::Nested | Value::Reserved | Value::Raw => {}
        }
        if !item.unit.is_empty() {
            self.buffer.text(",\"unit\":");
            self.string(item.unit);
        }
        if let Some(issue) = item.issue {
            self.buffer.text(",\"issue\":");
            self.string(&issue.to_string());
        }
    }
}

impl Json {
    /// Starts a submission.
    fn section(&mut self, submission: &Submission<'_>) {
        self.close(0);
        let Submission { name, number, context, engine, address, length, global, ring, .. } =
            submission;
        self.buffer.text("{\"kind\":\"submission\",\"name\":");
        self.string(name);
        _ = write!(
            self.buffer,
            ",\"number\":{number},\"context\":{context},\"engine\":\"{engine}\",\"address\":\"{address:#x}\",\"length\":{length},\"global\":{global}"
        );
        if let Some(Ring { start, size, head, tail }) = ring {
            _ = write!(
                self.buffer,
                ",\"ring\":{{\"start\":\"{start:#x}\",\"size\":{size},\"head\":{head},\"tail\":{tail}}}"
            );
        }
        self.buffer.text("}\n");
    }

    /// Appends a record.
    fn record(&mut self, record: &Record) {
        let depth = (record.depth as usize).min(self.open.len());
        self.close(depth);
        match self.open.last_mut() {
            Some(true) => self.buffer.byte(b','),
            Some(begun) => {
                *begun = true;
                self.buffer.text(",\"children\":[");
            }
            None => {}
        }
        self.open.push(false);
        self.buffer.text("{\"kind\":\"");
        self.buffer.text(record.kind.name());
        self.buffer.text("\",\"address\":\"");
        self.buffer.hex0x(record.address, 0);
        self.buffer.byte(b'"');
        if !record.name.is_empty() {
            self.buffer.text(",\"name\":");
            self.string(record.name);
        }
        if let Some(index) = record.index {
            self.buffer.text(",\"index\":");
            self.buffer.decimal(index.into());
        }
        if let Some(register) = record.register {
            self.buffer.text(",\"register\":");
            self.string(&register.to_string());
        }
        if record.length != 0 {
            self.buffer.text(",\"length\":");
            self.buffer.decimal(record.length.into());
        }
        if !self.headers && !record.dwords.is_empty() && record.lines.is_empty() {
            self.buffer.text(",\"dwords\":");
            for (number, dword) in record.dwords.iter().enumerate() {
                self.buffer.byte(if number == 0 { b'[' } else { b',' });
                self.buffer.decimal((*dword).into());
            }
            self.buffer.byte(b']');
        }
        if !self.headers && !record.items.is_empty() {
            self.buffer.text(",\"fields\":");
            self.items(&record.items);
        }
        if !record.lines.is_empty() {
            self.buffer.text(",\"instructions\":[");
            let mut before = None;
            for (offset, text) in &record.lines {
                // A message belongs to the object of the instruction before it.
                if before == Some(offset) {
                    self.buffer.text(",\"message\":");
                } else {
                    self.buffer.text(if before.is_some() { "}," } else { "" });
                    _ = write!(self.buffer, "{{\"offset\":{offset},\"text\":");
                }
                before = Some(offset);
                self.string(text);
            }
            self.buffer.text("}]");
        }
        if !record.note.is_empty() {
            self.buffer.text(",\"note\":");
            self.string(&record.note);
        }
    }
}
