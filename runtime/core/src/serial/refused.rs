//! Why named fields are not a container.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Named fields that are not a container, and which of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    /// The container's name.
    pub container: &'static str,
    /// The field's name behind those of the structures and arrays that it is in:
    /// `Entry[3].Color Clamp Range`; empty for the container itself.
    pub path: String,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with a field.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// There is no such field.
    Unknown {
        /// A name that is meant, perhaps.
        hint: Option<&'static str>,
    },
    /// The name is there twice.
    Twice,
    /// The field has no sensible default and must be there.
    Missing,
    /// The field exists only under a condition that does not hold.
    Absent {
        /// The condition.
        condition: String,
    },
    /// The value is of another kind.
    Kind {
        /// What is wanted.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// The enumeration has no value of that name.
    Name {
        /// The enumeration.
        list: &'static str,
        /// The name.
        name: String,
        /// A name that is meant, perhaps.
        hint: Option<&'static str>,
    },
    /// The field cannot hold the value.
    Range {
        /// The value.
        value: String,
        /// What it can hold: `1..=16384`, and steps if there are any.
        range: String,
        /// Where the field is: `dw2 13:0`.
        place: String,
    },
    /// The array has another number of elements.
    Count {
        /// How many it has.
        expected: u32,
        /// How many are there.
        found: usize,
    },
    /// The tail makes the packet longer or shorter than its length field can say.
    Length {
        /// The packet's length in dwords.
        dwords: usize,
    },
    /// The packet is said to be shorter than its fields are.
    Short {
        /// The packet's length in dwords.
        dwords: usize,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.container)?;
        let path = &self.path;
        let meant = |f: &mut fmt::Formatter<'_>, hint: &Option<&'static str>| match hint {
            Some(hint) => write!(f, "; did you mean `{hint}`?"),
            None => Ok(()),
        };
        match &self.reason {
            Reason::Unknown { hint } => {
                write!(f, " has no field `{path}`")?;
                meant(f, hint)
            }
            Reason::Twice => write!(f, ": {path} is there twice"),
            Reason::Missing => write!(f, ": {path} is missing and has no default"),
            Reason::Absent { condition } => write!(f, ": {path} exists only if {condition}"),
            Reason::Kind { expected, found } if path.is_empty() => {
                write!(f, " is written as {expected}, not {found}")
            }
            Reason::Kind { expected, found } => write!(f, ": {path} = {found} is not {expected}"),
            Reason::Name { list, name, hint } => {
                write!(f, ": {path} = `{name}` is not a value of {list}")?;
                meant(f, hint)
            }
            Reason::Range { value, range, place } => {
                write!(f, ": {path} = {value} does not fit {range} ({place})")
            }
            Reason::Count { expected, found } => {
                write!(f, ": {path} has {expected} elements, {found} are there")
            }
            Reason::Length { dwords } => {
                write!(f, " of {dwords} dwords cannot be expressed by its length field")
            }
            Reason::Short { dwords } => write!(f, " has more fields than fit {dwords} dwords"),
        }
    }
}

impl core::error::Error for Refused {}

/// The name that `word` is most likely a slip of, if any is near: at most one letter in four is
/// wrong.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 4).max(1);
    let near = names.into_iter().map(|name| (distance(word, name), name));
    near.filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein's distance, without regard to case, blanks and the punctuation between words.
fn distance(a: &str, b: &str) -> usize {
    let plain = |text: &str| -> Vec<char> {
        text.chars()
            .filter(|c| !matches!(c, ' ' | '_' | '-'))
            .flat_map(char::to_lowercase)
            .collect()
    };
    let (a, b) = (plain(a), plain(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
