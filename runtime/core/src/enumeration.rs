//! Named lists of values.

/// A named list of values.
#[derive(Debug)]
pub struct Enumeration {
    /// The manual's name. A list that is defined inside a field is named after its container and
    /// field.
    pub name: &'static str,
    /// Values in ascending order.
    pub values: &'static [(u64, &'static str)],
    /// Each value that implies a number of bits (a surface format, for example), and that number.
    /// In ascending order of the values.
    pub bits: &'static [(u64, u16)],
    /// Further names of values that already have a name.
    pub aliases: &'static [(u64, &'static str)],
    /// Prefix of the values' names, without the `_` after it; may be empty. It is not a part of the
    /// names, but conditions may write it.
    pub prefix: &'static str,
    /// Named sets of values, for conditions: ascending ranges (first, last) that do not touch.
    pub sets: &'static [ValueSet],
}

/// A named set of values: its name, and ranges (first, last).
pub type ValueSet = (&'static str, &'static [(u64, u64)]);

impl Enumeration {
    /// A list without values, for the members that a table does not set (`..Enumeration::EMPTY`).
    pub const EMPTY: Enumeration =
        Enumeration { name: "", values: &[], bits: &[], aliases: &[], prefix: "", sets: &[] };

    /// The name of `value`, if it has one.
    pub const fn name_of(&self, value: u64) -> Option<&'static str> {
        let (mut low, mut high) = (0, self.values.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.values[middle] {
                (number, name) if number == value => return Some(name),
                (number, _) if number < value => low = middle + 1,
                _ => high = middle,
            }
        }
        None
    }

    /// The value with this name; the first if there are several.
    pub fn value_of(&self, name: &str) -> Option<u64> {
        self.values.iter().find(|(_, other)| *other == name).map(|(value, _)| *value)
    }

    /// The value that a condition names: by a name or an alias, with or without the prefix.
    pub fn value_in_condition(&self, name: &str) -> Option<u64> {
        let rest = name.strip_prefix(self.prefix).and_then(|rest| rest.strip_prefix('_'));
        let short = rest.filter(|_| !self.prefix.is_empty());
        let is_it = |other: &str| other == name || Some(other) == short;
        let mut all = self.values.iter().chain(self.aliases);
        all.find(|(_, other)| is_it(other)).map(|(value, _)| *value)
    }

    /// The number of bits that `value` implies; `None` if it implies none.
    #[inline]
    pub fn bits_of(&self, value: u64) -> Option<u16> {
        self.bits.binary_search_by_key(&value, |v| v.0).ok().map(|index| self.bits[index].1)
    }
}
