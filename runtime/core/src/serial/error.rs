//! Errors of building a container from named fields.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The error for named fields that cannot become a container.
#[derive(Clone, PartialEq)]
pub struct BuildError {
    /// The container's name.
    pub container: &'static str,
    /// Path to the field: the names of the structures and arrays that it is in, then its own name,
    /// `Entry[3].Color Clamp Range`. Empty for the container itself.
    pub path: String,
    /// What is wrong.
    pub reason: Reason,
}

crate::debug_as_display!(BuildError);

/// The problem with a field.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// There is no such field.
    Unknown {
        /// A similar name that exists, if there is one.
        hint: Option<&'static str>,
    },
    /// The name is given twice.
    Twice,
    /// The field has no sensible default and must be given.
    Missing,
    /// The field exists only under a condition that does not hold.
    Absent {
        /// The condition that does not hold.
        condition: String,
    },
    /// The value has the wrong type.
    Kind {
        /// The expected type.
        expected: &'static str,
        /// The given value.
        found: String,
    },
    /// The enumeration has no value with that name.
    Name {
        /// Name of the enumeration.
        list: &'static str,
        /// The name that was given as the value.
        name: String,
        /// A similar name that exists, if there is one.
        hint: Option<&'static str>,
    },
    /// The field cannot hold the value.
    Range {
        /// The value that does not fit.
        value: String,
        /// The legal range: `1..=16384`, and steps if there are any.
        range: String,
        /// Position of the field: `dw2 13:0`.
        place: String,
    },
    /// The array has a different number of elements.
    Count {
        /// Number of elements of the array.
        expected: u32,
        /// Number of elements given.
        found: usize,
    },
    /// The length field cannot express the packet's length.
    Length {
        /// The packet's length in dwords.
        dwords: usize,
    },
    /// A dword after the given length is not zero.
    Short {
        /// The given length in dwords.
        dwords: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.container)?;
        let path = &self.path;
        let suggest = |f: &mut fmt::Formatter<'_>, hint: &Option<&'static str>| match hint {
            Some(hint) => write!(f, "; did you mean `{hint}`?"),
            None => Ok(()),
        };
        match &self.reason {
            Reason::Unknown { hint } => {
                write!(f, " has no field `{path}`")?;
                suggest(f, hint)
            }
            Reason::Twice => write!(f, ": {path} is given twice"),
            Reason::Missing => write!(f, ": {path} is missing and has no default"),
            Reason::Absent { condition } => write!(f, ": {path} exists only if {condition}"),
            Reason::Kind { expected, found } if path.is_empty() => {
                write!(f, " is written as {expected}, not {found}")
            }
            Reason::Kind { expected, found } => write!(f, ": {path} = {found} is not {expected}"),
            Reason::Name { list, name, hint } => {
                write!(f, ": {path} = `{name}` is not a value of {list}")?;
                suggest(f, hint)
            }
            Reason::Range { value, range, place } => {
                write!(f, ": {path} = {value} does not fit {range} ({place})")
            }
            Reason::Count { expected, found } => {
                write!(f, ": {path} has {expected} elements, {found} are given")
            }
            Reason::Length { dwords } => {
                write!(f, " of {dwords} dwords cannot be expressed by its length field")
            }
            Reason::Short { dwords } => write!(f, " has more fields than fit {dwords} dwords"),
        }
    }
}

impl core::error::Error for BuildError {}

/// The name that is most similar to `word`, if at most a quarter of the letters of `word` differ
/// (in a short word, at most one). `word` is then probably a misspelling of that name.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 4).max(1);
    let near = names.into_iter().map(|name| (distance(word, name), name));
    near.filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein distance, ignoring case, blanks, `_` and `-`.
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
