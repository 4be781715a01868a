//! Records as text.
//!
//! ```text
//! 0x000000100000: 70020002  MEDIA_INTERFACE_DESCRIPTOR_LOAD  4 dwords
//!     dw2 16:0    Interface Descriptor Total Length: 32 bytes
//!     dw3 31:0    Interface Descriptor Data Start Address: 0x840 (dynamic-state) = 0x100840
//!   0x000000100840: INTERFACE_DESCRIPTOR_DATA
//!       dw0 47:6    Kernel Start Pointer: 0x8c0 (instruction) = 0x1008c0
//! ```
//! Packets start at the margin, what they point to is indented. Reserved bits appear only if they are set, opcode and
//! length fields never: the header line says them. Values are the meant ones (a count that is stored less one is
//! shown as the count).

use super::record::{Item, Kind, Record, Value};
use super::{Options, Sink, digits};
use crate::dump::{Ring, Submission};
use genxml_core::address::SpaceKind;
use std::io::{self, Write};

/// Bytes collected before they are written.
const BUFFER: usize = 64 << 10;

/// Writes records as text.
#[derive(Debug)]
pub struct TextWriter<W: Write> {
    out: W,
    buffer: Vec<u8>,
    color: bool,
    headers: bool,
    offsets: bool,
    sections: u64,
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
        TextWriter {
            out,
            buffer: Vec::with_capacity(BUFFER + 4096),
            color: options.color,
            headers: options.headers,
            offsets: options.offsets,
            sections: 0,
        }
    }

    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= BUFFER { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.write_all(&self.buffer);
        self.buffer.clear();
        result
    }

    fn paint(&mut self, code: &[u8]) {
        if self.color {
            self.buffer.extend_from_slice(code);
        }
    }

    fn painted(&mut self, code: &[u8], text: &str) {
        self.paint(code);
        self.text(text);
        self.paint(color::RESET);
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    fn indent(&mut self, width: usize) {
        const SPACES: &[u8; 64] = &[b' '; 64];
        let mut left = width;
        while left > 0 {
            let now = left.min(SPACES.len());
            self.buffer.extend_from_slice(&SPACES[..now]);
            left -= now;
        }
    }

    fn decimal(&mut self, value: u64) {
        digits::decimal(&mut self.buffer, value);
    }

    fn hex(&mut self, value: u64, width: usize) {
        digits::hex(&mut self.buffer, value, width);
    }

    fn hex0x(&mut self, value: u64, width: usize) {
        digits::hex0x(&mut self.buffer, value, width);
    }

    fn index(&mut self, index: Option<u32>) {
        if let Some(index) = index {
            self.buffer.push(b'[');
            self.decimal(index.into());
            self.buffer.push(b']');
        }
    }

    fn header(&mut self, record: &Record) {
        self.indent(2 * record.depth as usize);
        if record.kind == Kind::Note {
            return self.painted(color::NOTE, &record.note);
        }
        if self.offsets {
            let register = record.kind == Kind::Register;
            self.hex0x(record.address, if register { 0 } else { 12 });
            self.buffer.extend_from_slice(b": ");
        }
        let is_packet = matches!(record.kind, Kind::Packet | Kind::Partial | Kind::Unknown);
        if is_packet && self.offsets {
            self.hex(record.dwords.first().copied().unwrap_or(0).into(), 8);
            self.buffer.extend_from_slice(b"  ");
        }
        let name = record.name;
        self.paint(match record.kind {
            Kind::Unknown => color::PROBLEM,
            Kind::Packet | Kind::Partial => match name.as_bytes() {
                [b'M', b'I', b'_', b'B', b'A', b'T', b'C', b'H', ..] => color::BATCH,
                b"3DPRIMITIVE" | b"GPGPU_WALKER" | b"MEDIA_OBJECT" => color::WORK,
                [b'X', b'Y', b'_', ..] => color::WORK,
                _ => color::PACKET,
            },
            _ => color::STATE,
        });
        match record.register {
            Some(register) => _ = write!(self.buffer, "{register}"),
            None => self.text(name),
        }
        self.index(record.index);
        self.paint(color::RESET);
        if is_packet {
            if record.kind == Kind::Unknown && !self.offsets {
                self.buffer.extend_from_slice(b" 0x");
                self.hex(record.dwords.first().copied().unwrap_or(0).into(), 8);
            }
            self.buffer.extend_from_slice(b"  ");
            self.decimal(record.length.into());
            self.text(if record.length == 1 { " dword" } else { " dwords" });
        }
        if !record.note.is_empty() {
            self.text("  (");
            self.painted(color::NOTE, &record.note);
            self.text(")");
        }
    }

    fn item(&mut self, item: &Item, indent: usize) {
        self.indent(indent);
        if self.offsets {
            let line = self.buffer.len();
            let dword = item.start / 32;
            self.buffer.extend_from_slice(b"dw");
            self.decimal(dword.into());
            self.buffer.push(b' ');
            self.decimal((item.end - 32 * dword).into());
            if item.end != item.start {
                self.buffer.push(b':');
                self.decimal((item.start % 32).into());
            }
            let used = self.buffer.len() - line;
            self.indent(12usize.saturating_sub(used).max(1));
        }
        self.indent(2 * item.depth as usize);
        self.text(item.name);
        self.index(item.index);
        if item.value == Value::Nested {
            self.buffer.extend_from_slice(b":\n");
            return;
        }
        if !item.name.is_empty() {
            self.buffer.extend_from_slice(b": ");
        }
        if item.issue.is_some() {
            self.paint(color::PROBLEM);
        }
        self.value(item);
        if let Some(issue) = item.issue {
            self.text(" (");
            self.text(&issue.to_string());
            self.text(")");
            self.paint(color::RESET);
        }
        self.buffer.push(b'\n');
    }

    fn value(&mut self, item: &Item) {
        match item.value {
            Value::Uint(value) => {
                let mask = item.unit.starts_with("one bit");
                if mask {
                    self.hex0x(value, 0);
                    return;
                }
                self.decimal(value);
                if item.unit.is_empty() && value > 9 {
                    self.buffer.extend_from_slice(b" (");
                    self.hex0x(value, 0);
                    self.buffer.push(b')');
                }
            }
            Value::Int(value) => {
                if value < 0 {
                    self.buffer.push(b'-');
                }
                self.decimal(value.unsigned_abs());
            }
            Value::Bool(value) => self.text(if value { "true" } else { "false" }),
            Value::Float(value) => {
                // The shorter of the two spellings that mean this value.
                let single = value as f32;
                _ = if f64::from(single) == value {
                    write!(self.buffer, "{single:?}")
                } else {
                    write!(self.buffer, "{value:?}")
                };
            }
            Value::Enum { name } => match name {
                Some(name) => {
                    self.text(name);
                    self.buffer.extend_from_slice(b" (");
                    self.decimal(item.stored);
                    self.buffer.push(b')');
                    return;
                }
                None => return self.decimal(item.stored),
            },
            Value::Address { value, space, absolute, register } => {
                self.hex0x(value, 0);
                match (space, absolute, register) {
                    (SpaceKind::Graphics, ..) => {}
                    (SpaceKind::Mmio, _, Some(register)) => {
                        self.text(" (");
                        _ = write!(self.buffer, "{register}");
                        self.text(")");
                    }
                    (SpaceKind::Mmio, ..) => {}
                    (_, absolute, _) => {
                        self.text(" (");
                        self.text(space.name());
                        self.text(")");
                        if let Some(absolute) = absolute {
                            self.text(" = ");
                            self.hex0x(absolute, 0);
                        }
                    }
                }
                return;
            }
            Value::Nested => {}
            Value::Reserved | Value::Raw => self.hex0x(item.stored, 0),
        }
        // What stands behind a semicolon is an explanation for other cases.
        let unit = item.unit.split(';').next().unwrap_or_default();
        if unit.starts_with("log2") || unit.starts_with(|first: char| first.is_ascii_digit()) {
            self.text(" (");
            self.text(unit);
            self.text(")");
        } else if !unit.is_empty() {
            self.buffer.push(b' ');
            self.text(unit);
        }
    }

    /// Rows of dwords: hexadecimal, then the same as floats where all of a row look like floats.
    fn data(&mut self, record: &Record, indent: usize) {
        for (number, row) in record.dwords.chunks(8).enumerate() {
            self.indent(indent);
            self.buffer.push(b'+');
            self.hex0x(32 * number as u64, 4);
            self.buffer.push(b':');
            for &dword in row {
                self.buffer.push(b' ');
                self.hex(dword.into(), 8);
            }
            if row.iter().any(|&dword| dword != 0) && row.iter().all(|&dword| looks_like_float(dword)) {
                self.indent(9 * (8 - row.len()));
                self.text("  |");
                for &dword in row {
                    _ = write!(self.buffer, " {:?}", f32::from_bits(dword));
                }
            }
            self.buffer.push(b'\n');
        }
    }

    /// Dwords that no field describes, of packets that the tables know by header at most.
    fn raw(&mut self, record: &Record, indent: usize) {
        for (dword, value) in record.dwords.iter().enumerate() {
            self.indent(indent);
            self.text("dw");
            self.decimal(dword as u64);
            self.text(": ");
            self.hex0x((*value).into(), 8);
            self.buffer.push(b'\n');
        }
    }
}

/// Zero, or a magnitude that people write.
fn looks_like_float(dword: u32) -> bool {
    dword == 0 || (1e-6..1e9).contains(&f32::from_bits(dword).abs())
}

impl<W: Write> Sink for TextWriter<W> {
    fn section(&mut self, submission: &Submission<'_>) -> io::Result<()> {
        if self.sections > 0 {
            self.buffer.push(b'\n');
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
        self.buffer.push(b'\n');
        Ok(())
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.header(record);
        self.buffer.push(b'\n');
        let indent = 2 * record.depth as usize + 4;
        if !self.headers {
            match record.kind {
                Kind::Data => self.data(record, indent),
                Kind::Unknown => self.raw(record, indent),
                Kind::Kernel => {
                    for (offset, line) in &record.lines {
                        self.indent(indent);
                        self.buffer.push(b'+');
                        self.hex0x((*offset).into(), 4);
                        self.text(": ");
                        self.text(line);
                        self.buffer.push(b'\n');
                    }
                }
                _ => {
                    for item in &record.items {
                        self.item(item, indent);
                    }
                }
            }
        }
        self.flush_if_full()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush()?;
        self.out.flush()
    }
}
