//! Repairs of pasted text: quotes, indentation, log prefixes, HTML, colours, wraps.
//!
//! A repair is made only if most lines of the dump show the same damage. A clean text passes
//! without a change.

use super::position::{Part, Row};
use super::wrap;
use crate::error_state::marks;

/// A repaired text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The text.
    pub text: String,
    /// The repairs, as phrases: `quoted with '> '`, `wrapped at 76 columns`.
    pub done: Vec<String>,
    parts: Vec<Part>,
}

impl Repaired {
    /// The repairs in one sentence; `None` if nothing was repaired.
    pub fn summary(&self) -> Option<String> {
        let (last, rest) = self.done.split_last()?;
        Some(match rest.is_empty() {
            true => format!("the text was {last}: repaired"),
            false => format!("the text was {} and {last}: repaired", rest.join(", ")),
        })
    }

    /// The position in the input of a position in the repaired text. Lines and columns count from
    /// 1; column 0 stands for a whole line.
    pub fn position(&self, line: u64, column: u64) -> (u64, u64) {
        let at = column.saturating_sub(1);
        let next = self.parts.partition_point(|part| (part.line, part.start) <= (line, at));
        match next.checked_sub(1).map(|before| self.parts[before]) {
            Some(part) if part.line == line && column > 0 => {
                (part.number, at - part.start + part.column + 1)
            }
            Some(part) if part.line == line => (part.number, 0),
            Some(part) => (part.number, column),
            None => (line, column),
        }
    }
}

/// Repairs a text. Without damage, the text is the input.
pub fn repair(input: &[u8]) -> Repaired {
    let mut done = Vec::new();
    let text = decode(input, &mut done);
    let mut rows = rows_of(&text, &mut done);
    if let Some(decoded) = printable(&rows) {
        rows = decoded;
        done.push("encoded as quoted-printable".to_owned());
    }
    colours(&mut rows, &mut done);
    for _ in 0..8 {
        let before = done.len();
        fences(&mut rows, &mut done);
        html(&mut rows, &mut done);
        quotes(&mut rows, &mut done);
        logs(&mut rows, &mut done);
        indentation(&mut rows, &mut done);
        if done.len() == before {
            break;
        }
    }
    before_the_dump(&mut rows, &mut done);
    let joined = wrap::join(&rows);
    if let Some(width) = joined.width {
        done.push(format!("wrapped at {width} columns"));
    }
    Repaired { text: joined.text, done, parts: joined.parts }
}

/// The text of the bytes, which may be UTF-8 or UTF-16.
fn decode(input: &[u8], done: &mut Vec<String>) -> String {
    let wide = |to: fn([u8; 2]) -> u16| -> String {
        let units: Vec<u16> = input.as_chunks().0.iter().map(|pair| to(*pair)).collect();
        String::from_utf16_lossy(&units)
    };
    let text = match input {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(input).into_owned(),
    };
    if matches!(input, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        done.push("stored as UTF-16".to_owned());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    if text.contains('\u{a0}') {
        done.push("full of no-break spaces".to_owned());
        return text.replace('\u{a0}', " ");
    }
    text
}

fn rows_of(text: &str, done: &mut Vec<String>) -> Vec<Row> {
    let old_mac = !text.contains('\n') && text.contains('\r');
    let lines: Vec<&str> = match old_mac {
        true => text.split('\r').collect(),
        false => text.split('\n').collect(),
    };
    if old_mac || lines.iter().any(|line| line.ends_with('\r')) {
        done.push("stored with line ends of another system".to_owned());
    }
    let mut rows: Vec<Row> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| Row {
            text: line.trim_end_matches('\r').to_owned(),
            number: index as u64 + 1,
            removed: 0,
        })
        .collect();
    // The text after the last line end is a line only if it is not empty.
    if rows.last().is_some_and(|row| row.text.is_empty()) {
        rows.pop();
    }
    rows
}

/// Decodes quoted-printable: `=3D` is an equals sign, `=` at the end of a line continues it. `None`
/// if the text has another equals sign.
fn printable(rows: &[Row]) -> Option<Vec<Row>> {
    // Escapes, and ends of lines that continue.
    let escapes = |text: &str| {
        text.matches("=3D").count() + usize::from(text.len() > 60 && text.ends_with('='))
    };
    if rows.iter().map(|row| escapes(&row.text)).sum::<usize>() < 2 {
        return None;
    }
    let mut out: Vec<Row> = Vec::new();
    let mut continued = false;
    for row in rows {
        let mut bytes = Vec::with_capacity(row.text.len());
        let line = row.text.trim_end();
        let (line, soft) = match line.strip_suffix('=') {
            Some(line) => (line, true),
            None => (line, false),
        };
        let mut rest = line.as_bytes();
        while let [first, tail @ ..] = rest {
            (bytes, rest) = match (first, tail) {
                (b'=', [high, low, tail @ ..]) => {
                    let digits = [*high, *low];
                    let value = u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?;
                    bytes.push(value);
                    (bytes, tail)
                }
                (b'=', _) => return None,
                _ => {
                    bytes.push(*first);
                    (bytes, tail)
                }
            };
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match out.last_mut().filter(|_| continued) {
            Some(last) => last.text.push_str(&text),
            None => out.push(Row { text, ..row.clone() }),
        }
        continued = soft;
    }
    Some(out)
}

/// Removes the control sequences of terminals.
fn colours(rows: &mut [Row], done: &mut Vec<String>) {
    let mut any = false;
    for row in rows.iter_mut().filter(|row| row.text.contains(['\x1b', '\x08', '\x07'])) {
        any = true;
        let start = row.text.len();
        row.text = without_sequences(&row.text);
        // The sequences usually are at the start of the line.
        row.removed += (start - row.text.len()) as u64;
    }
    if any {
        done.push("coloured for a terminal".to_owned());
    }
}

/// A text without escape sequences (ECMA-48: CSI, OSC and two-character sequences).
fn without_sequences(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => match characters.next() {
                Some('[') => {
                    for next in characters.by_ref() {
                        if ('@'..='~').contains(&next) {
                            break;
                        }
                    }
                }
                Some(']') => {
                    while let Some(next) = characters.next() {
                        let end = next == '\x07' || next == '\x1b';
                        if next == '\x1b' && characters.peek() == Some(&'\\') {
                            characters.next();
                        }
                        if end {
                            break;
                        }
                    }
                }
                Some('(' | ')') => _ = characters.next(),
                _ => {}
            },
            '\x08' => _ = out.pop(),
            '\x07' => {}
            _ => out.push(character),
        }
    }
    out
}

/// Takes the contents of code fences (Markdown).
fn fences(rows: &mut Vec<Row>, done: &mut Vec<String>) {
    let is_fence = |row: &Row| {
        let text = row.trimmed().trim_start_matches(['>', ' ']);
        text.starts_with("```") || text.starts_with("~~~")
    };
    if !rows.iter().any(is_fence) {
        return;
    }
    // Blocks of lines, each with true if it is inside a fence.
    let mut blocks: Vec<(bool, Vec<Row>)> = vec![(false, Vec::new())];
    for row in rows.drain(..) {
        let inside = blocks.last().is_some_and(|(inside, _)| *inside);
        match is_fence(&row) {
            true => blocks.push((!inside, Vec::new())),
            false => blocks.last_mut().expect("there is a block").1.push(row),
        }
    }
    let marked = |block: &[Row]| {
        block.iter().any(|row| {
            let text = row.trimmed().trim_start_matches(['>', ' ']);
            marks::is_mark(text) || wrap::is_data(text) || log_prefix(text).is_some()
        })
    };
    let outside = blocks.iter().any(|(inside, block)| !inside && marked(block));
    let any = blocks.iter().any(|(inside, block)| *inside && marked(block));
    for (inside, block) in blocks {
        // Without marks in any fence, the fences alone are removed.
        let keep = if any { inside && marked(&block) } else { inside || outside };
        if keep {
            rows.extend(block);
        }
    }
    done.push("in a Markdown code fence".to_owned());
}

/// Tags that programs put around a text.
const TAGS: [&str; 14] = [
    "pre",
    "code",
    "br",
    "p",
    "div",
    "span",
    "tt",
    "blockquote",
    "samp",
    "td",
    "tr",
    "table",
    "body",
    "html",
];

/// Named characters of HTML.
const ENTITIES: [(&str, &str); 8] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&#34;", "\""),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

/// Removes tags and decodes named characters, if the text has no other `<` and `&`.
fn html(rows: &mut Vec<Row>, done: &mut Vec<String>) {
    let tagged = |row: &Row| TAGS.iter().take(3).any(|tag| tag_at(&row.text, tag).is_some());
    let has_tags = rows.iter().any(tagged);
    let has_names = rows.iter().any(|row| row.text.contains('&') && entity(&row.text).is_some());
    if !has_tags && !has_names {
        return;
    }
    let plain = |text: &str| if has_tags { without_tags(text) } else { text.to_owned() };
    let before = rows.clone();
    whole_names(rows);
    let mut names = 0;
    for row in rows.iter() {
        let text = plain(&row.text);
        let only_names = text
            .match_indices('&')
            .all(|(at, _)| ENTITIES.iter().any(|(name, _)| text[at..].starts_with(name)));
        // A program that writes `&lt;` writes no `<`. A quote may begin with `>`.
        let inner = text.trim_start_matches(['>', ' ']);
        if !only_names || text.contains('<') || inner.contains('>') {
            *rows = before;
            return;
        }
        names += text.matches('&').count();
    }
    if names == 0 && !has_tags {
        return;
    }
    // The text between <pre> and </pre>, if there is one.
    let find = |tag: &str| rows.iter().position(|row| row.text.to_lowercase().contains(tag));
    if let (Some(first), Some(last)) = (find("<pre"), find("</pre"))
        && first <= last
    {
        rows.truncate(last + 1);
        rows.drain(..first);
    }
    for row in rows.iter_mut() {
        let mut text = plain(&row.text);
        for (name, character) in ENTITIES {
            if text.contains(name) {
                text = text.replace(name, character);
            }
        }
        row.text = text;
    }
    done.push("escaped for HTML".to_owned());
}

/// Moves the parts of names that a wrap divided to the next line: `&l` and `t;`.
fn whole_names(rows: &mut [Row]) {
    for at in 1..rows.len() {
        let Some(start) = rows[at - 1].text.rfind('&') else { continue };
        let part = &rows[at - 1].text[start..];
        let whole = format!("{part}{}", rows[at].text);
        let is_part = |name: &&(&str, &str)| part.len() < name.0.len() && whole.starts_with(name.0);
        if ENTITIES.iter().any(|name| is_part(&name)) {
            rows[at].text = whole;
            rows[at - 1].text.truncate(start);
        }
    }
}

fn entity(text: &str) -> Option<usize> {
    ENTITIES.iter().filter_map(|(name, _)| text.find(name)).min()
}

/// The position of a tag of this name in a text, and its length.
fn tag_at(text: &str, tag: &str) -> Option<(usize, usize)> {
    text.match_indices('<').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let name = rest.strip_prefix('/').unwrap_or(rest);
        let start = name.get(..tag.len())?;
        let after = name[tag.len()..].chars().next()?;
        let fits = start.eq_ignore_ascii_case(tag) && matches!(after, '>' | ' ' | '/');
        let end = rest.find('>').filter(|end| *end < 80)?;
        fits.then_some((at, end + 2))
    })
}

fn without_tags(text: &str) -> String {
    let mut text = text.to_owned();
    for tag in TAGS {
        while let Some((at, length)) = tag_at(&text, tag) {
            text.replace_range(at..at + length, "");
        }
    }
    text
}

/// The counts of lines that identify a dump, with and without a prefix.
#[derive(Default)]
struct Votes {
    with: usize,
    without: usize,
}

impl Votes {
    /// True if the prefix belongs to nearly all lines.
    fn agree(&self) -> bool {
        self.with > 0 && self.without * 10 <= self.with
    }
}

/// Counts the lines that identify a dump. Without such lines, counts all lines.
fn votes<'a>(rows: &'a [Row], strip: impl Fn(&'a str) -> Option<&'a str>) -> Votes {
    let (mut marked, mut all) = (Votes::default(), Votes::default());
    for row in rows.iter().filter(|row| !row.trimmed().is_empty()) {
        match strip(&row.text) {
            Some(rest) => {
                all.with += 1;
                // The text may have another prefix inside.
                let rest = rest.trim_start_matches(['>', ' ', '\t']);
                let rest = log_prefix(rest).map_or(rest, |(length, _)| rest[length..].trim_start());
                marked.with += usize::from(marks::is_mark(rest));
            }
            None => {
                all.without += 1;
                marked.without += usize::from(marks::is_mark(&row.text));
            }
        }
    }
    if marked.with + marked.without > 0 { marked } else { all }
}

/// Removes the prefix of all lines that have it. Lines before the first of them are no part of the
/// dump. Lines after it without the prefix continue a wrapped line.
fn peel(rows: &mut Vec<Row>, length: impl Fn(&Row) -> Option<usize>) {
    let first = rows.iter().position(|row| length(row).is_some()).unwrap_or(0);
    let last = rows.iter().rposition(|row| length(row).is_some()).unwrap_or(rows.len());
    // What follows the last such line belongs to the dump up to an empty line.
    let after = rows.iter().skip(last).position(|row| row.trimmed().is_empty());
    rows.truncate(after.map_or(rows.len(), |after| last + after));
    rows.drain(..first);
    for row in rows.iter_mut() {
        if let Some(length) = length(row) {
            row.cut(length);
        }
    }
}

/// Removes the quotes of mail programs: `> `.
fn quotes(rows: &mut Vec<Row>, done: &mut Vec<String>) {
    let strip = |text: &'_ str| -> Option<usize> {
        let inner = text.trim_start_matches(' ');
        let indent = text.len() - inner.len();
        (indent <= 4 && inner.starts_with('>')).then_some(indent + 1)
    };
    if !votes(rows, |text| strip(text).map(|length| &text[length..])).agree() {
        return;
    }
    let quoted = || rows.iter().filter_map(|row| Some(&row.text[strip(&row.text)?..]));
    let spaced = quoted().filter(|rest| rest.is_empty() || rest.starts_with(' ')).count();
    let spaced = spaced * 10 >= quoted().count() * 9;
    peel(rows, |row| {
        let length = strip(&row.text)?;
        match row.text[length..].starts_with(' ') {
            true if spaced => Some(length + 1),
            // With `> `, a line such as `>abc` continues a wrapped line.
            false if spaced && row.text.len() > length => None,
            _ => Some(length),
        }
    });
    done.push(format!("quoted with '{}'", if spaced { "> " } else { ">" }));
}

/// Removes the prefixes of dmesg and of the journal.
fn logs(rows: &mut Vec<Row>, done: &mut Vec<String>) {
    if !votes(rows, |text| log_prefix(text).map(|(length, _)| &text[length..])).agree() {
        return;
    }
    let journal = rows.iter().any(|row| log_prefix(&row.text).is_some_and(|(_, name)| name));
    peel(rows, |row| log_prefix(&row.text).map(|(length, _)| length));
    // Messages name the device and the driver.
    for row in rows.iter_mut() {
        let tags = driver_tags(&row.text);
        row.cut(tags);
    }
    done.push(match journal {
        true => "copied from a journal".to_owned(),
        false => "copied from dmesg, with its time stamps".to_owned(),
    });
}

/// The bytes of `i915 0000:00:02.0: [drm] *ERROR* ` at the start of a message.
fn driver_tags(text: &str) -> usize {
    let mut rest = text;
    if let Some(("i915" | "xe", after)) = rest.split_once(' ')
        && let Some((device, after)) = after.split_once(": ")
        && device.len() == 12
    {
        rest = after;
    }
    if rest.starts_with("[drm")
        && let Some((_, after)) = rest.split_once("] ")
    {
        rest = after;
    }
    text.len() - rest.strip_prefix("*ERROR* ").unwrap_or(rest).len()
}

/// The length of a log prefix, and true if it is one of the journal:
/// `[12345.678901] `, `Jan 01 12:00:00 host kernel: `, `2024-01-01T12:00:00+0000 host kernel: `,
/// `kern  :info  : [ 12.345] `, `<6>[ 12.345] `.
fn log_prefix(text: &str) -> Option<(usize, bool)> {
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('<')
        && let Some((level, after)) = after.split_once('>')
        && level.len() <= 3
        && level.bytes().all(|byte| byte.is_ascii_digit())
    {
        rest = after;
    }
    if let Some(after) = rest.strip_prefix("kern")
        && let Some((_, after)) = after.split_once(": [")
    {
        rest = &rest[rest.len() - after.len() - 1..];
    }
    let journal = journal_prefix(rest);
    if let Some(length) = journal {
        rest = &rest[length..];
    }
    let stamp = time_stamp(rest);
    if let Some(length) = stamp {
        rest = &rest[length..];
        // journalctl -o short-monotonic: `[ 12.345] host kernel: `.
        if let Some((before, after)) = rest.split_once("kernel: ")
            && (1..65).contains(&before.len())
            && !before.trim_end().contains(' ')
            && journal.is_none()
        {
            rest = after;
        }
    }
    (journal.is_some() || stamp.is_some()).then_some((text.len() - rest.len(), journal.is_some()))
}

/// The length of `[12345.678901] ` or `[Mon Jan  1 12:00:00 2024] `.
fn time_stamp(text: &str) -> Option<usize> {
    let (inside, after) = text.strip_prefix('[')?.split_once(']')?;
    let seconds = inside.trim().split_once('.').is_some_and(|(whole, part)| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        digits(whole) && digits(part) && part.len() >= 3
    });
    let is_date = inside.len() < 40 && inside.split(' ').any(is_clock);
    if !seconds && !is_date {
        return None;
    }
    let after = after.strip_prefix(' ').unwrap_or(after);
    Some(text.len() - after.len())
}

/// The length of a log's prefix at the start of a line, like `Jan 01 12:00:00 host kernel: ` or
/// `2024-01-01T12:00:00+0000 host kernel: `.
fn journal_prefix(text: &str) -> Option<usize> {
    let at = text.find("kernel: ").or_else(|| text.strip_suffix("kernel:").map(str::len))?;
    let before = &text[..at];
    let words = before.split(' ').filter(|word| !word.is_empty()).count();
    let clock = before.split(' ').any(|word| is_clock(word.split('T').next_back().unwrap_or(word)));
    let end = (at + "kernel: ".len()).min(text.len());
    (!before.starts_with('[') && before.len() < 100 && words <= 6 && clock).then_some(end)
}

/// True for `12:00:00`, with or without fractions and a time zone.
fn is_clock(word: &str) -> bool {
    let mut parts = word.splitn(3, ':');
    let two = |part: Option<&str>| {
        part.is_some_and(|it| it.len() == 2 && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let seconds = |part: &str| two(part.get(..2));
    two(parts.next()) && two(parts.next()) && parts.next().is_some_and(seconds)
}

/// Removes the indentation that all lines of the dump have.
fn indentation(rows: &mut [Row], done: &mut Vec<String>) {
    let indent = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
    let marked = || rows.iter().filter(|row| marks::is_mark(row.trimmed()));
    let Some(first) = marked().next() else { return };
    // xe indents some lines that have the form of marks: the first line decides.
    let prefix = first.text[..indent(&first.text)].to_owned();
    if prefix.is_empty() || !marked().all(|row| row.text.starts_with(&prefix)) {
        return;
    }
    for row in rows.iter_mut() {
        if row.text.starts_with(&prefix) {
            row.cut(prefix.len());
        }
    }
    done.push(match prefix.contains('\t') {
        true => "indented by a tab".to_owned(),
        false => format!("indented by {} columns", prefix.len()),
    });
}

/// Removes the text before the first line of the dump, such as a greeting.
fn before_the_dump(rows: &mut Vec<Row>, done: &mut Vec<String>) {
    let Some(first) = rows.iter().position(|row| marks::is_mark(&row.text)) else { return };
    let marks = rows.iter().skip(first).filter(|row| marks::is_mark(&row.text)).take(3).count();
    // Lines without a mark may be the start of a damaged dump.
    let prose = rows[..first].iter().filter(|row| !row.trimmed().is_empty());
    let is_prose = prose.clone().all(|row| !marks::is_start(&row.text));
    if prose.count() == 0 || !is_prose || marks < 3 {
        return;
    }
    rows.drain(..first);
    done.push("after other text, which was left out".to_owned());
}
