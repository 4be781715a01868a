//! Rows of the field list.

use std::fmt;

/// What the model does with a field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    /// No other value of the field made a difference.
    Unused,
    /// Another value ends the batch with a fault about the value or a missing feature.
    Faulted,
    /// Another value changes the result.
    Honoured,
}

impl Class {
    const NAMES: [(Class, &str); 3] =
        [(Class::Unused, "unused"), (Class::Faulted, "faulted"), (Class::Honoured, "honoured")];
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Class::NAMES.iter().find(|(class, _)| class == self).map_or("", |row| row.1);
        f.write_str(name)
    }
}

/// Identifies a field: container, bits and path, with tabs between them.
pub type Key = String;

/// A row of the list: a field, its class, and the run that shows it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Row {
    /// The field.
    pub key: Key,
    /// The class.
    pub class: Class,
    /// The case, and the number of the batch among those of the case: `mi::moves::copy#0`. Empty if
    /// no case has the field.
    pub subject: String,
    /// Number of the field among the fields of this key in the batch.
    pub instance: usize,
    /// Other fields that are changed in both compared runs, with their values; empty if there are
    /// none.
    pub with: String,
    /// The other value, as stored.
    pub value: u64,
    /// The difference; empty if there was none.
    pub difference: String,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { key, class, subject, instance, with, value, difference } = self;
        write!(f, "{key}\t{class}\t{subject}\t{instance}\t{with}\t{value:#x}\t{difference}")
    }
}

impl Row {
    /// The row of a field that no case has.
    pub fn none(key: &str) -> Row {
        Row {
            key: key.to_owned(),
            class: Class::Unused,
            subject: String::new(),
            instance: 0,
            with: String::new(),
            value: 0,
            difference: String::new(),
        }
    }

    /// Reads a row.
    ///
    /// # Errors
    /// Says which column is wrong.
    pub fn parse(line: &str) -> Result<Row, String> {
        let columns: Vec<&str> = line.split('\t').collect();
        let [container, bits, path, class, subject, instance, with, value, difference] =
            columns[..]
        else {
            return Err(format!("{} columns instead of 9: {line}", columns.len()));
        };
        let class = Class::NAMES.iter().find(|(_, name)| *name == class);
        let (class, _) = class.ok_or_else(|| format!("unknown class in column 4: {line}"))?;
        let value = value.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        Ok(Row {
            key: [container, bits, path].join("\t"),
            class: *class,
            subject: subject.to_owned(),
            instance: instance.parse().map_err(|error| format!("instance: {error}: {line}"))?,
            with: with.to_owned(),
            value: value.ok_or_else(|| format!("the value is not a hexadecimal number: {line}"))?,
            difference: difference.to_owned(),
        })
    }
}
