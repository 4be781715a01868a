//! Committed tables that explain differences between the specification and the tables that it is
//! compared with.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::here;
use crate::inventory::tsv::{self, Row};

/// Explained differences. The first part of a key is the structure. The second part is the line of
/// the manual; `- field` for a field of ours without a row in the inventory; first bit and name for
/// a field of the facts. The value is what the specification has instead.
pub struct Explanations {
    file: &'static str,
    rows: BTreeMap<(String, String), String>,
    used: RefCell<BTreeSet<(String, String)>>,
}

impl Explanations {
    /// Reads a table of `codegen/tests/data`.
    ///
    /// # Panics
    /// If the table cannot be read, or a row has no reason.
    pub fn read(file: &'static str) -> Explanations {
        let rows = tsv::read(&here("tests/data").join(file));
        let key = |row: &Row| (row.get("structure").to_owned(), row.get("line").to_owned());
        for row in &rows {
            assert!(!row.get("why").is_empty(), "{file}: {:?} without a reason", key(row));
        }
        let rows = rows.iter().map(|row| (key(row), row.get("here").to_owned())).collect();
        Explanations { file, rows, used: RefCell::default() }
    }

    /// What the specification has instead, if the difference is explained.
    pub fn get(&self, structure: &str, line: &str) -> Option<&str> {
        let key = (structure.to_owned(), line.to_owned());
        let here = self.rows.get(&key)?;
        self.used.borrow_mut().insert(key);
        Some(here)
    }

    /// Rows that no comparison used.
    pub fn leftovers(&self) -> Vec<String> {
        let used = self.used.borrow();
        let unused = self.rows.keys().filter(|key| !used.contains(*key));
        unused
            .map(|(structure, line)| format!("{}: {structure} {line} explains nothing", self.file))
            .collect()
    }
}
