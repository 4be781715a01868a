//! Errors with their position in the text.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::ops::Range;

/// An error of the assembler.
#[derive(Clone, PartialEq, Eq)]
pub struct AsmError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Byte range in the source.
    pub span: Range<usize>,
    /// The offending text.
    pub text: String,
    /// What is wrong with the text.
    pub message: String,
    /// What would be valid at this position.
    pub expected: Option<String>,
    /// Advice for correcting the text.
    pub hint: Option<String>,
}

genxml_core::debug_as_display!(AsmError);

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.reason())
    }
}

impl AsmError {
    /// The text of `Display` without the position.
    pub fn reason(&self) -> String {
        let mut text = self.message.clone();
        if let Some(expected) = &self.expected {
            text.push_str(", expected ");
            text.push_str(expected);
        }
        if let Some(hint) = &self.hint {
            text.push_str("; ");
            text.push_str(hint);
        }
        text
    }
}

impl core::error::Error for AsmError {}

/// An error without its line and column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub span: Range<usize>,
    pub message: String,
    pub expected: Option<String>,
    pub hint: Option<String>,
}

impl Fault {
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Fault { span, message: message.into(), expected: None, hint: None }
    }

    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint with the word of `words` that is closest to `word`, if one is close enough.
    pub fn like<'a>(mut self, word: &str, words: impl Iterator<Item = &'a str>) -> Self {
        if let Some(word) = closest(word, words) {
            self.hint = Some(format!("did you mean `{word}`?"));
        }
        self
    }

    pub fn locate(self, source: &str) -> AsmError {
        let before = source.get(..self.span.start).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        AsmError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            text: source.get(self.span.clone()).unwrap_or_default().to_string(),
            span: self.span,
            message: self.message,
            expected: self.expected,
            hint: self.hint,
        }
    }
}

/// The most similar of `words`: at most two edits away, and fewer edits than the word has letters.
pub fn closest<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Longer words are not misspelled names, and would make the search slow.
    if word.len() > 24 {
        return None;
    }
    let distances = words.map(|candidate| (distance(word, candidate), candidate));
    // Of equally distant words, take the one with the longest common prefix.
    let alike =
        |candidate: &str| candidate.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count();
    let best =
        distances.min_by_key(|(distance, candidate)| (*distance, word.len() - alike(candidate)));
    best.filter(|(distance, _)| *distance <= 2 && *distance < word.len()).map(|(_, word)| word)
}

/// Edit distance of two short words, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    const MOST: usize = 32;
    let b = b.as_bytes();
    if b.len() >= MOST {
        return MOST;
    }
    let mut row: [usize; MOST] = core::array::from_fn(|index| index);
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
