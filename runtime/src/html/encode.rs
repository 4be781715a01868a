//! Records as the data of a page; the format is described in the parent module.

use super::picture::Picture;
use crate::decode::{Issue, Item, Record, Value};
use crate::submission::{Ring, Submission};
use std::collections::HashMap;
use std::io::{self, Write};

/// Integers below this are exact in a double.
const EXACT: u64 = 1 << 53;

/// A piece of the page's data, which is written as one script element.
#[derive(Debug, Default)]
pub(super) struct Piece {
    strings: Strings,
    /// Numbers of the items by their text.
    known: HashMap<Vec<u8>, u32>,
    items: Vec<u8>,
    records: Vec<u8>,
    pictures: Vec<u8>,
    scratch: Vec<u8>,
}

/// A list of texts without duplicates.
#[derive(Debug, Default)]
struct Strings {
    known: HashMap<String, u32>,
    text: Vec<u8>,
}

impl Strings {
    /// The number of a text; 0 for the empty text. Adds the text if it is new.
    fn number(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(number) = self.known.get(text) {
            return *number;
        }
        let number = self.known.len() as u32 + 1;
        self.known.insert(text.to_owned(), number);
        self.text.push(b',');
        quote(&mut self.text, text);
        number
    }
}

impl Piece {
    /// Approximate number of bytes to be written.
    pub fn len(&self) -> usize {
        self.strings.text.len() + self.items.len() + self.records.len() + self.pictures.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.pictures.is_empty()
    }

    /// Writes the piece and begins the next.
    pub fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"{\"strings\":[\"\"")?;
        out.write_all(&self.strings.text)?;
        for (key, list) in
            [("items", &self.items), ("pictures", &self.pictures), ("records", &self.records)]
        {
            write!(out, "],\n\"{key}\":[")?;
            out.write_all(list)?;
        }
        out.write_all(b"]}")?;
        self.strings.known.clear();
        self.known.clear();
        for list in [&mut self.strings.text, &mut self.items, &mut self.pictures, &mut self.records]
        {
            list.clear();
        }
        Ok(())
    }

    pub fn picture(&mut self, picture: &Picture) {
        comma(&mut self.pictures);
        self.pictures.extend_from_slice(b"[\"");
        base64(&mut self.pictures, &picture.png);
        _ = write!(self.pictures, "\",{},{},", picture.width, picture.height);
        quote(&mut self.pictures, &picture.note);
        self.pictures.push(b']');
    }

    pub fn section(&mut self, submission: &Submission<'_>) {
        comma(&mut self.records);
        let out = &mut self.records;
        let Submission { name, number, context, engine, address, length, global, ring, .. } =
            submission;
        out.extend_from_slice(b"\n[-1,{\"name\":");
        quote(out, name);
        _ = write!(
            out,
            ",\"number\":{number},\"context\":{context},\"engine\":\"{engine}\",\"address\":\"{address:#x}\",\"length\":{length},\"global\":{global}"
        );
        if let Some(Ring { start, size, head, tail }) = ring {
            _ = write!(
                out,
                ",\"ring\":{{\"start\":\"{start:#x}\",\"size\":{size},\"head\":{head},\"tail\":{tail}}}"
            );
        }
        out.extend_from_slice(b"}]");
    }

    pub fn record(&mut self, record: &Record, picture: Option<usize>) {
        let kind = self.strings.number(record.kind.name());
        let name = self.strings.number(record.name);
        comma(&mut self.records);
        _ = write!(self.records, "\n[{kind},{},", record.depth);
        integer(&mut self.records, record.address);
        _ = write!(self.records, ",{name}");
        // Empty values at the end are left out, so an empty value is written only when a value that
        // is not empty follows.
        let mut skipped: Vec<&str> = Vec::new();
        let mut begin = |out: &mut Vec<u8>, there: bool, empty: &'static str| {
            if !there {
                skipped.push(empty);
                return false;
            }
            for empty in skipped.drain(..) {
                out.push(b',');
                out.extend_from_slice(empty.as_bytes());
            }
            out.push(b',');
            true
        };
        if begin(&mut self.records, record.index.is_some(), "-1") {
            _ = write!(self.records, "{}", record.index.unwrap_or_default());
        }
        if begin(&mut self.records, record.length != 0, "0") {
            _ = write!(self.records, "{}", record.length);
        }
        if begin(&mut self.records, !record.dwords.is_empty(), "\"\"") {
            self.records.push(b'"');
            for dword in &record.dwords {
                hex8(&mut self.records, *dword);
            }
            self.records.push(b'"');
        }
        if begin(&mut self.records, !record.items.is_empty(), "[]") {
            self.records.push(b'[');
            for (place, item) in record.items.iter().enumerate() {
                let number = number_of(
                    item,
                    &mut self.strings,
                    &mut self.known,
                    &mut self.items,
                    &mut self.scratch,
                );
                if place > 0 {
                    self.records.push(b',');
                }
                _ = write!(self.records, "{number}");
            }
            self.records.push(b']');
        }
        if begin(&mut self.records, !record.note.is_empty(), "0") {
            _ = write!(self.records, "{}", self.strings.number(&record.note));
        }
        if begin(&mut self.records, record.register.is_some(), "0") {
            let text = record.register.map(|register| register.to_string()).unwrap_or_default();
            _ = write!(self.records, "{}", self.strings.number(&text));
        }
        if begin(&mut self.records, !record.lines.is_empty(), "[]") {
            self.records.push(b'[');
            for (place, (offset, line)) in record.lines.iter().enumerate() {
                let separator = if place > 0 { "," } else { "" };
                _ = write!(self.records, "{separator}{offset},{}", self.strings.number(line));
            }
            self.records.push(b']');
        }
        if begin(&mut self.records, picture.is_some(), "-1") {
            _ = write!(self.records, "{}", picture.unwrap_or_default());
        }
        self.records.push(b']');
    }
}

/// The number of an item. Adds the item to `items` if it is new.
fn number_of(
    item: &Item,
    strings: &mut Strings,
    known: &mut HashMap<Vec<u8>, u32>,
    items: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
) -> u32 {
    scratch.clear();
    write_item(item, strings, scratch);
    if let Some(number) = known.get(scratch.as_slice()) {
        return *number;
    }
    let number = known.len() as u32;
    comma(items);
    items.push(b'\n');
    items.extend_from_slice(scratch);
    known.insert(scratch.clone(), number);
    number
}

fn write_item(item: &Item, strings: &mut Strings, out: &mut Vec<u8>) {
    let name = strings.number(item.name);
    let index = item.index.map_or(-1, i64::from);
    _ = write!(out, "[{},{name},{index},{},{},", item.depth, item.start, item.end);
    integer(out, item.stored);
    match item.value {
        Value::Nested => out.extend_from_slice(b",0,0"),
        Value::Uint(value) => {
            out.extend_from_slice(b",1,");
            integer(out, value);
        }
        Value::Int(value) if value.unsigned_abs() < EXACT => _ = write!(out, ",2,{value}"),
        Value::Int(value) => _ = write!(out, ",2,\"{value}\""),
        Value::Bool(value) => _ = write!(out, ",3,{value}"),
        Value::Float(value) if value.is_finite() => _ = write!(out, ",4,{value:?}"),
        Value::Float(value) => _ = write!(out, ",4,\"{value:?}\""),
        Value::Enum { name } => {
            _ = write!(out, ",5,{}", name.map_or(-1, |name| i64::from(strings.number(name))));
        }
        Value::Address { value, space, absolute, register } => {
            out.extend_from_slice(b",6,[");
            integer(out, value);
            _ = write!(out, ",{},", strings.number(space.name()));
            match absolute {
                Some(absolute) => integer(out, absolute),
                None => out.extend_from_slice(b"-1"),
            }
            let register = register.map(|register| register.to_string()).unwrap_or_default();
            _ = write!(out, ",{}]", strings.number(&register));
        }
        Value::Reserved => out.extend_from_slice(b",7,0"),
        Value::Raw => out.extend_from_slice(b",8,0"),
    }
    let unit = strings.number(item.unit);
    let issue = item.issue.map_or(0, |issue: Issue| strings.number(&issue.to_string()));
    if issue != 0 {
        _ = write!(out, ",{unit},{issue}");
    } else if unit != 0 {
        _ = write!(out, ",{unit}");
    }
    out.push(b']');
}

fn comma(list: &mut Vec<u8>) {
    if !list.is_empty() {
        list.push(b',');
    }
}

/// Writes a number, or from 2^53 on hexadecimal text: a double would lose bits.
fn integer(out: &mut Vec<u8>, value: u64) {
    _ = if value < EXACT { write!(out, "{value}") } else { write!(out, "\"{value:#x}\"") };
}

fn hex8(out: &mut Vec<u8>, value: u32) {
    for place in (0..8).rev() {
        out.push(b"0123456789abcdef"[(value >> (4 * place) & 15) as usize]);
    }
}

/// Adds text as a JSON string. Escapes characters that have a meaning in HTML, so that the text
/// cannot end the script element.
pub(super) fn quote(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0..0x20 | 0x7f | b'<' | b'>' | b'&' => _ = write!(out, "\\u{byte:04x}"),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Converts text to HTML outside scripts. Control characters, which HTML cannot contain, are
/// replaced.
pub(super) fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ if char.is_control() || is_direction(char) => out.push('\u{fffd}'),
            _ => out.push(char),
        }
    }
    out
}

/// True for characters that change the direction of text. With them a name can look like another
/// one.
fn is_direction(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn base64(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { digit } else { b'=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: RFC 4648, section 10.
    #[test]
    fn base64_as_in_the_rfc() {
        for (bytes, wanted) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            let mut out = Vec::new();
            base64(&mut out, bytes.as_bytes());
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
    }

    /// Oracle: serde_json reads back the quoted text; no character with a meaning in HTML is left.
    #[test]
    fn quoted_text_comes_back() {
        for text in [
            "",
            "plain",
            "</script><script>alert(1)</script>",
            "<!--",
            "a\"b\\c\n\t\0\u{7f}",
            "\u{202e}ä€😀&lt;",
        ] {
            let mut out = Vec::new();
            quote(&mut out, text);
            assert!(!out.iter().any(|byte| b"<>&".contains(byte) || *byte < b' '));
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
        assert_eq!(
            escape_html("<a href='x'>\"&\u{202e}\n"),
            "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\u{fffd}\u{fffd}"
        );
    }
}
