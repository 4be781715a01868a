//! Records as JSON: one object per line.
//!
//! A line is a `submission` object that says which batch follows, or a packet of the first level with everything that it
//! points to inside it.
//!
//! A submission: `name`, `number` (its place in the dump), `context`, `engine`, `address` of its first dword as text,
//! `length` in bytes (0: to its end), `global` (the address is one of the global page table), and of a ring `ring` with
//! `start` as text, `size`, `head` and `tail` in bytes.
//!
//! The keys of a record:
//!
//! | key | value |
//! |---|---|
//! | `kind` | `packet`, `partial`, `unknown`, `struct`, `register`, `data`, `kernel`, `note` |
//! | `address` | GPU address as text, `"0x100000"`; of registers the offset |
//! | `name` | of packet, structure or register; what the data are |
//! | `index` | position in a table, if it is an element of one |
//! | `register` | of a register: name, position in an array, engine as text, `"CS_GPR[3] of RCS"` |
//! | `length` | in dwords as the header says |
//! | `dwords` | all dwords as numbers; not for kernels |
//! | `fields` | array of fields, below |
//! | `instructions` | of a kernel: array of `{"offset": bytes, "text": ...}` |
//! | `note` | a remark as text |
//! | `children` | array of records that this one points to, a second-level batch included |
//!
//! A field: `name`, `index` in an array, `dword` and `bits` (`"16:0"`; more than 31 where it goes into the next
//! dword), `stored` bits, `value`, `unit`, `issue`, or `fields` if it holds others. `value` is a number, a boolean,
//! the name of an enumeration's value, or for addresses text; then `space` says what it counts from, `absolute` is
//! the GPU address if it is known and `register` the register as text. Integers above 2^53 are text in hexadecimal,
//! since many readers cannot hold them.

use super::record::{Item, Record, Value};
use super::{Options, Sink, digits};
use crate::dump::{Ring, Submission};
use genxml_core::address::SpaceKind;
use std::io::{self, Write};

/// Bytes collected before they are written.
const BUFFER: usize = 64 << 10;

/// Writes records as lines of JSON.
#[derive(Debug)]
pub struct JsonWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    /// Records that are open, outermost first: whether their `children` have begun.
    open: Vec<bool>,
    headers: bool,
}

impl<W: Write> JsonWriter<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, options: &Options) -> Self {
        let buffer = Vec::with_capacity(BUFFER + 4096);
        JsonWriter { out, buffer, open: Vec::new(), headers: options.headers }
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.write_all(&self.buffer);
        self.buffer.clear();
        result
    }

    /// Ends all records deeper than the outermost `keep`.
    fn close(&mut self, keep: usize) {
        while self.open.len() > keep {
            if self.open.pop() == Some(true) {
                self.buffer.push(b']');
            }
            self.buffer.push(b'}');
            if self.open.is_empty() {
                self.buffer.push(b'\n');
            }
        }
    }

    fn string(&mut self, text: &str) {
        if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            self.buffer.push(b'"');
            self.buffer.extend_from_slice(text.as_bytes());
            self.buffer.push(b'"');
        } else {
            // Writing text to a vector cannot fail.
            _ = serde_json::to_writer(&mut self.buffer, text);
        }
    }

    fn integer(&mut self, value: u64) {
        if value >> 53 == 0 {
            digits::decimal(&mut self.buffer, value);
        } else {
            self.address(value);
        }
    }

    /// Hexadecimal as text.
    fn address(&mut self, value: u64) {
        self.buffer.push(b'"');
        digits::hex0x(&mut self.buffer, value, 0);
        self.buffer.push(b'"');
    }

    fn items(&mut self, items: &[Item]) {
        self.buffer.push(b'[');
        let mut depth = 0;
        let mut first = true;
        for item in items {
            while depth > item.depth {
                self.buffer.extend_from_slice(b"]}");
                depth -= 1;
                first = false;
            }
            if !first {
                self.buffer.push(b',');
            }
            first = false;
            self.item(item);
            if item.value == Value::Nested {
                self.buffer.extend_from_slice(b",\"fields\":[");
                depth = item.depth + 1;
                first = true;
            } else {
                self.buffer.push(b'}');
            }
        }
        for _ in 0..depth {
            self.buffer.extend_from_slice(b"]}");
        }
        self.buffer.push(b']');
    }

    /// An item without its closing brace.
    fn item(&mut self, item: &Item) {
        self.buffer.extend_from_slice(b"{\"name\":");
        self.string(item.name);
        if let Some(index) = item.index {
            _ = write!(self.buffer, ",\"index\":{index}");
        }
        let dword = item.start / 32;
        _ = write!(
            self.buffer,
            ",\"dword\":{dword},\"bits\":\"{}:{}\"",
            item.end - 32 * dword,
            item.start % 32
        );
        if item.value == Value::Nested {
            return;
        }
        self.buffer.extend_from_slice(b",\"stored\":");
        self.integer(item.stored);
        match item.value {
            Value::Uint(value) => {
                self.buffer.extend_from_slice(b",\"value\":");
                self.integer(value);
            }
            Value::Int(value) if value.unsigned_abs() >> 53 == 0 => {
                _ = write!(self.buffer, ",\"value\":{value}")
            }
            Value::Int(value) => _ = write!(self.buffer, ",\"value\":\"{value}\""),
            Value::Bool(value) => {
                self.buffer.extend_from_slice(if value { b",\"value\":true" } else { b",\"value\":false" });
            }
            Value::Float(value) if value.is_finite() => _ = write!(self.buffer, ",\"value\":{value:?}"),
            // JSON has no infinities and no NaN.
            Value::Float(value) => _ = write!(self.buffer, ",\"value\":\"{value:?}\""),
            Value::Enum { name: Some(name) } => {
                self.buffer.extend_from_slice(b",\"value\":");
                self.string(name);
            }
            Value::Enum { name: None } => {
                self.buffer.extend_from_slice(b",\"value\":");
                self.integer(item.stored);
            }
            Value::Address { value, space, absolute, register } => {
                self.buffer.extend_from_slice(b",\"value\":");
                self.address(value);
                self.buffer.extend_from_slice(b",\"space\":");
                self.string(space.name());
                if let Some(absolute) = absolute.filter(|_| space != SpaceKind::Graphics) {
                    self.buffer.extend_from_slice(b",\"absolute\":");
                    self.address(absolute);
                }
                if let Some(register) = register {
                    self.buffer.extend_from_slice(b",\"register\":");
                    self.string(&register.to_string());
                }
            }
            Value::Nested | Value::Reserved | Value::Raw => {}
        }
        if !item.unit.is_empty() {
            self.buffer.extend_from_slice(b",\"unit\":");
            self.string(item.unit);
        }
        if let Some(issue) = item.issue {
            self.buffer.extend_from_slice(b",\"issue\":");
            self.string(&issue.to_string());
        }
    }
}

impl<W: Write> Sink for JsonWriter<W> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        self.close(0);
        let Submission { name, number, context, engine, address, length, global, ring, .. } = submission;
        self.buffer.extend_from_slice(b"{\"kind\":\"submission\",\"name\":");
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
        self.buffer.extend_from_slice(b"}\n");
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        let depth = (record.depth as usize).min(self.open.len());
        self.close(depth);
        match self.open.last_mut() {
            Some(true) => self.buffer.push(b','),
            Some(begun) => {
                *begun = true;
                self.buffer.extend_from_slice(b",\"children\":[");
            }
            None => {}
        }
        self.open.push(false);
        _ = write!(
            self.buffer,
            "{{\"kind\":\"{}\",\"address\":\"{:#x}\"",
            record.kind.name(),
            record.address
        );
        if !record.name.is_empty() {
            self.buffer.extend_from_slice(b",\"name\":");
            self.string(record.name);
        }
        if let Some(index) = record.index {
            _ = write!(self.buffer, ",\"index\":{index}");
        }
        if let Some(register) = record.register {
            self.buffer.extend_from_slice(b",\"register\":");
            self.string(&register.to_string());
        }
        if record.length != 0 {
            _ = write!(self.buffer, ",\"length\":{}", record.length);
        }
        if !self.headers && !record.dwords.is_empty() && record.lines.is_empty() {
            self.buffer.extend_from_slice(b",\"dwords\":");
            _ = serde_json::to_writer(&mut self.buffer, &record.dwords);
        }
        if !self.headers && !record.items.is_empty() {
            self.buffer.extend_from_slice(b",\"fields\":");
            self.items(&record.items);
        }
        if !record.lines.is_empty() {
            self.buffer.extend_from_slice(b",\"instructions\":[");
            for (number, (offset, text)) in record.lines.iter().enumerate() {
                _ = write!(
                    self.buffer,
                    "{}{{\"offset\":{offset},\"text\":",
                    if number > 0 { "," } else { "" }
                );
                self.string(text);
                self.buffer.push(b'}');
            }
            self.buffer.push(b']');
        }
        if !record.note.is_empty() {
            self.buffer.extend_from_slice(b",\"note\":");
            self.string(&record.note);
        }
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.close(0);
        self.flush()?;
        self.out.flush()
    }
}
