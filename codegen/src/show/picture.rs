//! Draws dwords with bit 31 on the left and two columns per bit.
//!
//! A name that is too long for its cell is cut. If too little of it remains, the cell has a letter,
//! which the list below the picture repeats.

use super::canvas::{Canvas, Style};
use crate::model::{Field, Group, Type};

/// A labelled range of bits.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    start: u32,
    /// First bit after the range.
    end: u32,
    text: String,
    letter: Option<char>,
    style: Style,
}

/// Minimum number of characters of a cut name.
const CUT: usize = 9;

/// Width of the frame in columns, its sides included.
const COLUMNS: usize = 65;

impl Cell {
    pub fn field(field: &Field) -> Cell {
        let (text, style) = match field.ty {
            Type::MustBeZero => ("0".to_owned(), Style::Faint),
            Type::MustBeOne => ("1".to_owned(), Style::Faint),
            Type::Reserved => ("-".to_owned(), Style::Faint),
            _ => match (field.opcode, field.default) {
                (true, Some(value)) => (format!("{} {value:#x}", field.name), Style::Type),
                _ => (field.name.clone(), Style::Name),
            },
        };
        Cell { start: field.start, end: field.end + 1, text, letter: None, style }
    }

    /// The cell for a field of a set of alternatives, labelled with the name of the set.
    pub fn set(field: &Field, set: &str) -> Cell {
        Cell { text: format!("<{set}>"), style: Style::Condition, ..Cell::field(field) }
    }

    pub fn group(group: &Group) -> Cell {
        let name = match (&group.name[..], group.fields.first()) {
            ("", Some(field)) => field.name.clone(),
            (name, _) => name.to_owned(),
        };
        let (count, text) = match group.count {
            0 => (1, format!("{name}[...]")),
            count => (count, format!("{name}[{count}]")),
        };
        Cell {
            start: group.start,
            end: group.start.saturating_add(count.saturating_mul(group.bits)),
            text,
            letter: None,
            style: Style::Type,
        }
    }

    /// Sets the letter that the cell has if its name does not fit.
    pub fn with_letter(self, letter: Option<char>) -> Cell {
        Cell { letter, ..self }
    }

    /// True if the whole name, or enough of it, fits the widest part of the cell.
    fn is_readable(&self) -> bool {
        let first = self.end.min((self.start / 32 + 1) * 32) - self.start;
        let last = self.end - self.start.max((self.end - 1) / 32 * 32);
        let widest = if self.end - self.start > first + last { 32 } else { first.max(last) };
        let room = (widest * 2 - 1) as usize;
        self.text.chars().count() <= room || room >= CUT
    }
}

/// The letter of each field whose name does not fit the picture, `None` for other fields. In each
/// dword, letters go from `a` to `z` and `A` to `Z`, from bit 31 down.
pub(super) fn letters(fields: &[&Field]) -> Vec<Option<char>> {
    let mut order: Vec<usize> =
        (0..fields.len()).filter(|at| !Cell::field(fields[*at]).is_readable()).collect();
    order.sort_by_key(|at| (fields[*at].start / 32, std::cmp::Reverse(fields[*at].start)));
    let mut letters = vec![None; fields.len()];
    let mut alphabet = ('a'..='z').chain('A'..='Z');
    let mut dword = None;
    for at in order {
        // The letters of each dword begin with `a`.
        if dword.replace(fields[at].start / 32) != Some(fields[at].start / 32) {
            alphabet = ('a'..='z').chain('A'..='Z');
        }
        letters[at] = alphabet.next();
    }
    letters
}

/// Sorts cells and removes overlaps. Cells with equal text that touch or overlap become one. A
/// later cell loses the bits that an earlier one has.
pub(super) fn join(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_by_key(|cell| (cell.start, cell.end));
    let mut joined: Vec<Cell> = Vec::new();
    for mut cell in cells {
        match joined.last_mut() {
            Some(last) if cell.start <= last.end && cell.text == last.text => {
                last.end = last.end.max(cell.end)
            }
            Some(last) if cell.end <= last.end => {}
            Some(last) => {
                cell.start = cell.start.max(last.end);
                joined.push(cell);
            }
            None => joined.push(cell),
        }
    }
    joined
}

/// Draws the dwords.
pub(super) fn draw(canvas: &mut Canvas, cells: &[Cell], indent: usize) {
    let Some(last) = cells.last() else { return };
    let (first_dword, dwords) = (cells[0].start / 32, last.end.div_ceil(32));
    // The frame must fit the page, even for a deeply nested element.
    let margin = " ".repeat(indent.min(4));
    canvas.put(
        &format!(
            "{margin}          31           24 23           16 15            8 7             0"
        ),
        Style::Faint,
    );
    canvas.end_line();
    let mut rows: Vec<(u32, u32, Row)> = Vec::new();
    for dword in first_dword..dwords {
        let row = Row::new(cells, dword);
        match rows.last_mut() {
            // Equal rows of a field over many dwords are drawn once.
            Some((_, to, old)) if *old == row && row.named => *to = dword,
            _ => rows.push((dword, dword, row)),
        }
    }
    let mut above = "+".to_owned() + &"-".repeat(COLUMNS - 2) + "+";
    for (from, to, row) in rows {
        let cross = |(above, below)| if above == '+' || below == '+' { '+' } else { '-' };
        let border: String = above.chars().zip(row.edges.chars()).map(cross).collect();
        canvas.put(&format!("{margin}         {border}"), Style::Faint);
        canvas.end_line();
        let label = if from == to { format!("dw{from}") } else { format!("dw{from}-{to}") };
        canvas.put(&format!("{margin}{label:>8} "), Style::Title);
        for (text, style) in &row.line {
            canvas.put(text, *style);
        }
        canvas.end_line();
        above = row.edges;
    }
    canvas.put(&format!("{margin}         {above}"), Style::Faint);
    canvas.end_line();
}

/// A dword.
#[derive(Debug, PartialEq)]
struct Row {
    /// Frame line above or below the row: `+` where the row has a `|`, `-` elsewhere.
    edges: String,
    line: Vec<(String, Style)>,
    /// True if the row contains text.
    named: bool,
}

impl Row {
    fn new(cells: &[Cell], dword: u32) -> Row {
        let (low, high) = (dword * 32, dword * 32 + 32);
        let mut line: Vec<(char, Style)> = vec![(' ', Style::Plain); COLUMNS];
        let mut edges = vec!['-'; COLUMNS];
        let mut named = false;
        let mut bar = |column: usize, line: &mut Vec<(char, Style)>| {
            line[column] = ('|', Style::Faint);
            edges[column] = '+';
        };
        bar(0, &mut line);
        bar(COLUMNS - 1, &mut line);
        for cell in cells.iter().filter(|cell| cell.start < high && cell.end > low) {
            let column = |bit: u32| ((high - bit) * 2) as usize;
            let (left, right) = (column(cell.end.min(high)), column(cell.start.max(low)));
            bar(left, &mut line);
            bar(right, &mut line);
            let room = right - left - 1;
            let shown: Vec<char> = match (cell.text.chars().count() <= room, cell.letter) {
                (true, _) => cell.text.chars().collect(),
                (false, Some(letter)) => vec![letter],
                (false, None) if room > 3 => {
                    cell.text.chars().take(room - 1).chain(['~']).collect()
                }
                (false, None) => cell.text.chars().take(room).collect(),
            };
            let pad = (room - shown.len()) / 2;
            named |= !shown.is_empty();
            for (index, c) in shown.into_iter().enumerate() {
                line[left + 1 + pad + index] = (c, cell.style);
            }
        }
        let mut runs: Vec<(String, Style)> = Vec::new();
        for (c, style) in line {
            match runs.last_mut() {
                Some((text, last)) if *last == style => text.push(c),
                _ => runs.push((c.to_string(), style)),
            }
        }
        Row { edges: edges.into_iter().collect(), line: runs, named }
    }
}
