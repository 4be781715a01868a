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
}

impl Enumeration {
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

    /// The number of bits that `value` implies; `None` if it implies none.
    #[inline]
    pub fn bits_of(&self, value: u64) -> Option<u16> {
        self.bits.binary_search_by_key(&value, |v| v.0).ok().map(|index| self.bits[index].1)
    }
}
