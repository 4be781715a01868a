//! Tables of tab-separated values with a line of column names; lines that start with `#` are
//! comments.

use std::path::Path;

/// A row, with its cells by column name.
#[derive(Debug, Clone)]
pub struct Row {
    cells: Vec<(String, String)>,
}

impl Row {
    /// The cell of a column; empty if the row is shorter.
    ///
    /// # Panics
    /// If the table has no such column.
    pub fn get(&self, column: &str) -> &str {
        self.cell(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// The cell of the first of two columns that the table has; empty if it has neither.
    pub fn either(&self, column: &str, other: &str) -> &str {
        self.cell(column).or_else(|| self.cell(other)).unwrap_or_default()
    }

    fn cell(&self, column: &str) -> Option<&str> {
        self.cells.iter().find(|(name, _)| name == column).map(|(_, cell)| cell.as_str())
    }
}

/// Reads a table.
///
/// # Panics
/// If the file cannot be read.
pub fn read(path: &Path) -> Vec<Row> {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    lines
        .map(|line| {
            let mut cells = line.split('\t');
            let cell =
                |column: &&str| ((*column).to_owned(), cells.next().unwrap_or_default().to_owned());
            Row { cells: columns.iter().map(cell).collect() }
        })
        .collect()
}

/// The letters and digits of a name, in capitals, for comparing spellings.
pub fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect()
}

/// The number that a table prints: decimal, `0x1f`, `1Fh`, `101b`.
pub fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        u64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = text.strip_suffix('h') {
        u64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) =
        text.strip_suffix('b').filter(|digits| digits.len() > 1 || text.len() == 2)
    {
        u64::from_str_radix(digits, 2).ok()
    } else {
        text.parse().ok()
    }
}
