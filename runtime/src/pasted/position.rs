//! Positions in a pasted text.

/// Why a text cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the text, from 1.
    pub line: u64,
    /// Column in bytes, from 1.
    pub column: u64,
    /// What is wrong.
    pub text: String,
}

impl Problem {
    /// A problem at a position.
    pub fn new(line: u64, column: u64, text: String) -> Problem {
        Problem { line, column, text }
    }
}

/// A line of a text, with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// The text.
    pub text: String,
    /// Number of the line in the input, from 1.
    pub number: u64,
    /// Bytes that were removed at the start of the line.
    pub removed: u64,
}

impl Row {
    /// Removes bytes at the start.
    pub fn cut(&mut self, bytes: usize) {
        self.text.drain(..bytes);
        self.removed += bytes as u64;
    }

    /// The text without white space around it.
    pub fn trimmed(&self) -> &str {
        self.text.trim()
    }
}

/// A part of a repaired line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// The repaired line, from 1.
    pub line: u64,
    /// Column in the repaired line where the part begins, from 0.
    pub start: u64,
    /// The line of the input, from 1.
    pub number: u64,
    /// Column in the input where the part begins, from 0.
    pub column: u64,
}
