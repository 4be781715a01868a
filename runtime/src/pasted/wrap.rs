//! Joins lines that a terminal or mail program wrapped.
//!
//! Lines of an error state are recognised by their start, so a line that starts with something
//! else, after a line that may be long, is its continuation. Memory in base 85 has no spaces: every
//! following line of such characters continues it.

use super::position::{Part, Row};
use crate::error_state::marks;

/// Largest width at which programs wrap lines.
pub(super) const WIDEST: usize = 132;

/// Smallest width at which programs wrap lines.
const NARROWEST: usize = 40;

/// A text without wraps.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// The lines, each with a line end.
    pub text: String,
    /// Where the lines come from.
    pub parts: Vec<Part>,
    /// The width at which lines were wrapped; `None` if no line was.
    pub width: Option<usize>,
}

/// True if `line` is memory in base 85, or its first part.
pub(super) fn is_data(line: &str) -> bool {
    line.starts_with([':', '~']) && !line.trim_end().contains(' ') || line.contains("].data:")
}

/// True if a line can continue memory in base 85.
pub(super) fn is_more_data(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty()
        && line.bytes().all(|byte| matches!(byte, b'!'..=b'u' | b'z'))
        && !marks::is_start(line)
}

/// True if `next` continues `line`, where the text is wrapped at `width`.
pub(super) fn continues(line: &str, next: &str, width: usize) -> bool {
    if next.trim().is_empty() || line.len() > WIDEST {
        return false;
    }
    match is_data(line) {
        true => is_more_data(next),
        false => continues_text(line, Last::of(line, 0, width), next, width),
    }
}

/// The width at which lines may be wrapped: the longest line of words. `None` if a line of words is
/// longer than [`WIDEST`]. Mail programs leave long words whole, such as memory in base 85.
pub(super) fn width<'a>(lines: impl Iterator<Item = &'a str>) -> Option<usize> {
    let (mut words, mut data) = (0, 0);
    for line in lines {
        let is_word = is_data(line) || !line.trim().contains(' ');
        let longest = if is_word { &mut data } else { &mut words };
        *longest = line.len().max(*longest);
    }
    let longest = if data <= WIDEST { words.max(data) } else { words };
    (NARROWEST..=WIDEST).contains(&longest).then_some(longest)
}

/// The last part of a line.
#[derive(Clone, Copy)]
struct Last {
    /// Its length, with a prefix that was there before the text was wrapped.
    length: usize,
    /// True if it reaches the width.
    full: bool,
}

impl Last {
    /// A part from which `removed` bytes were removed at the start.
    fn of(text: &str, removed: usize, width: usize) -> Last {
        let length = text.trim_end().len() + removed;
        Last { length, full: text.len() == width || text.len() + removed == width }
    }

    fn of_row(row: &Row, width: usize) -> Last {
        Last::of(&row.text, row.removed as usize, width)
    }
}

/// Joins wrapped lines.
pub(super) fn join(rows: &[Row]) -> Joined {
    let mut joined = Joined::default();
    let is_dump = rows.iter().any(|row| marks::is_mark(&row.text));
    let width = width(rows.iter().map(|row| row.text.as_str())).filter(|_| is_dump);
    let hard = width.is_some_and(|width| is_hard(rows, width));
    let mut line = 0;
    // Where the current line begins in the text.
    let mut begin = 0;
    let mut wrapped = None::<usize>;
    // The first part of the current line, and the last one.
    let mut current: Option<(&Row, &Row)> = None;
    for row in rows {
        let more = match (width, current) {
            (Some(width), Some((first, last))) => {
                if is_data(&first.text) {
                    last.text.len() <= WIDEST && is_more_data(&row.text)
                } else {
                    continues_text(&first.text, Last::of_row(last, width), &row.text, width)
                }
            }
            _ => false,
        };
        if let Some((first, last)) = current.filter(|_| more) {
            wrapped = wrapped.max(Some(last.text.len()));
            let skipped = add(&mut joined.text, &first.text, &last.text, &row.text, hard);
            let length = joined.text.len() - begin;
            let added = row.text.trim_end().len().saturating_sub(skipped);
            joined.parts.push(Part {
                line,
                start: length.saturating_sub(added) as u64,
                number: row.number,
                column: row.removed + skipped as u64,
            });
            current = Some((first, row));
            continue;
        }
        if current.is_some() {
            joined.text.push('\n');
        }
        line += 1;
        begin = joined.text.len();
        joined.text.push_str(match is_data(&row.text) {
            true => row.text.trim_end(),
            false => &row.text,
        });
        joined.parts.push(Part { line, start: 0, number: row.number, column: row.removed });
        current = Some((row, row));
    }
    if current.is_some() {
        joined.text.push('\n');
    }
    joined.width = wrapped;
    joined
}

/// True if `next` continues a text whose first part is `first`.
fn continues_text(first: &str, last: Last, next: &str, width: usize) -> bool {
    let word = next.split_whitespace().next().map_or(0, str::len);
    // Some programs count the space after the word.
    let filled = last.length + 1 + word >= width || last.full;
    // A wrap leaves at most one space at the start of the next line.
    let indented = next.starts_with("  ") || next.starts_with('\t');
    filled
        && last.length >= NARROWEST
        && !next.trim().is_empty()
        && !indented
        && !is_data(next)
        && marks::may_be_long(first)
        && !marks::is_start(next)
}

/// True if lines are cut at exactly `width` columns, inside words too. False if they are cut
/// between words.
fn is_hard(rows: &[Row], width: usize) -> bool {
    let (mut full, mut short) = (0, 0);
    for pair in rows.windows(2) {
        let (line, next) = (&pair[0].text, &pair[1].text);
        let last = Last::of_row(&pair[0], width);
        if !is_data(line) && continues_text(line, last, next, width) {
            // A space at the end may have been removed.
            match last.full || last.length + 1 == width {
                true => full += 1,
                false => short += 1,
            }
        }
    }
    full > 0 && short == 0
}

/// Words of error states, to find words that a wrap cut.
const WORDS: [&str; 30] = [
    "ecode",
    "in",
    "reason",
    "Hang",
    "hang",
    "on",
    "action",
    "reset",
    "Ring",
    "hung",
    "continue",
    "stopped",
    "heartbeat",
    "prio",
    "guilty",
    "active",
    "runtime",
    "total",
    "avg",
    "pid",
    "seqno",
    "emitted",
    "ago",
    "head",
    "tail",
    "ban",
    "score",
    "dirty",
    "render",
    "uncached",
];

fn is_word(text: &str) -> bool {
    WORDS.contains(&text.trim_matches(|c: char| !c.is_ascii_alphabetic()))
}

/// Appends a continuation. Returns the number of bytes at its start that were left out.
fn add(text: &mut String, first: &str, last: &str, next: &str, hard: bool) -> usize {
    if is_data(first) {
        let trimmed = next.trim();
        if text.ends_with("].data:") {
            text.push(' ');
        }
        let spaces = text.len() - text.trim_end().len();
        if spaces > 0 && !text.ends_with("].data: ") {
            text.truncate(text.len() - spaces);
        }
        text.push_str(trimmed);
        return next.len() - next.trim_start().len();
    }
    let spaced = last.ends_with(' ') || next.starts_with(' ');
    let start = next.trim_start();
    if spaced {
        text.truncate(text.trim_end().len());
        text.push(' ');
        text.push_str(start);
        return next.len() - start.len();
    }
    let left = last.rsplit(' ').next().unwrap_or_default();
    let right = next.split(' ').next().unwrap_or_default();
    let letters = left.ends_with(char::is_alphanumeric) && right.starts_with(char::is_alphanumeric);
    let cut_word = letters && is_word(&format!("{left}{right}"));
    let number = right.starts_with("0x") && left.ends_with(|c: char| c.is_ascii_alphabetic());
    // Signs that no space precedes, and signs that always have one.
    let joined = right.starts_with([':', ',', ']', ')']);
    let apart = right.starts_with(['=', '(', '[', '+']) || right == "---";
    let two_words =
        !joined && (is_word(left) || number || apart || left.ends_with([',', ':', ']', '=']));
    let hyphen = left.len() > 1 && left.ends_with('-') && !left.ends_with("--");
    if !(cut_word || hyphen || hard && !two_words) {
        text.push(' ');
    }
    text.push_str(next);
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Row> {
        let lines = text.lines().enumerate();
        lines
            .map(|(index, line)| Row {
                text: line.to_owned(),
                number: index as u64 + 1,
                removed: 0,
            })
            .collect()
    }

    const LINE: &str = "GPU HANG: ecode 9:0:0x85ddfffb, in luxmark.bin [4310], \
        reason: Hang on rcs0, action: reset";

    /// Every width from 60 to 85 columns, cut anywhere and cut between words.
    #[test]
    fn a_header_line_of_every_width() {
        let rest = "Kernel: 4.15.0-58-generic\nPCI ID: 0x191b\n";
        for width in 60..86 {
            let hard: Vec<&str> =
                LINE.as_bytes().chunks(width).map(|it| std::str::from_utf8(it).unwrap()).collect();
            let mut soft = vec![String::new()];
            for word in LINE.split(' ') {
                let last = soft.last_mut().unwrap();
                if last.is_empty() {
                    last.push_str(word);
                } else if last.len() + 1 + word.len() <= width {
                    last.push(' ');
                    last.push_str(word);
                } else {
                    soft.push(word.to_owned());
                }
            }
            for text in [hard.join("\n"), soft.join("\n")] {
                let joined = join(&rows(&format!("{text}\n{rest}")));
                assert_eq!(joined.text, format!("{LINE}\n{rest}"), "{width}: {text}");
            }
        }
    }

    #[test]
    fn data_are_joined_and_have_their_columns() {
        let text = "rcs0 --- batch = 0x00000000 00001000\n\
                    :abcdefghijabcdefghijabcdefghijabcdefghij\n\
                    klmnopqrst>!\nrcs0 --- ring = 0x00000000 00002000\n";
        let joined = join(&rows(text));
        assert_eq!(joined.width, Some(41));
        let lines: Vec<_> = joined.text.lines().collect();
        assert_eq!(lines[1], ":abcdefghijabcdefghijabcdefghijabcdefghijklmnopqrst>!");
        assert_eq!(joined.parts[2], Part { line: 2, start: 41, number: 3, column: 0 });
        assert_eq!(joined.parts[3].line, 3);
    }

    /// Memory starts a line of its own, also after a line that reaches the width.
    #[test]
    fn memory_does_not_continue_its_title() {
        let text = "rcs0 (submitted by deqp-vk with a name [4711]) --- batch = 0x00000000 00001000\n\
                    :abcde\nPCI ID: 0x1616\n";
        assert_eq!(join(&rows(text)).text, text);
    }

    /// A clean text is not changed.
    #[test]
    fn clean_text_stays() {
        let data = "z".repeat(400);
        let text = format!(
            "{LINE}\nPCI ID: 0x1616\nrcs0 --- batch = 0x00000000 00001000\n:{data}\nzzz\n\
             rcs0 --- 1 requests\n"
        );
        let joined = join(&rows(&text));
        assert_eq!(joined.text, text);
        assert_eq!(joined.width, None);
    }
}
