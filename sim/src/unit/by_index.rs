//! Values by binding table index.

/// A number for some of the binding table indices. Without a number, it takes no memory: a draw has
/// several of these, and most of them stay empty.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// For each index: the number plus one, or 0 without a number. Indices after the end have none.
    stored: Vec<u16>,
}

impl Numbers {
    /// The number of an index, if there is one.
    #[inline(always)]
    pub fn get(&self, index: u8) -> Option<usize> {
        let stored = self.stored.get(usize::from(index)).copied().unwrap_or_default();
        usize::from(stored).checked_sub(1)
    }

    /// Sets the number of an index. `number` must be less than 65535.
    #[inline]
    pub fn set(&mut self, index: u8, number: usize) {
        let index = usize::from(index);
        if self.stored.len() <= index {
            self.stored.resize(index + 1, 0);
        }
        self.stored[index] = number as u16 + 1;
    }

    /// The indices that have a number, each with its number.
    fn iter(&self) -> impl Iterator<Item = (u8, usize)> {
        let numbers = (0..=u8::MAX).zip(&self.stored);
        numbers.filter_map(|(index, stored)| Some((index, usize::from(*stored).checked_sub(1)?)))
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.stored.clear();
    }
}

/// Values by binding table index. Each is resolved when a message first uses it.
#[derive(Clone, Debug)]
pub struct ByIndex<T> {
    /// The numbers of the values.
    numbers: Numbers,
    values: Vec<T>,
}

impl<T> Default for ByIndex<T> {
    fn default() -> ByIndex<T> {
        ByIndex { numbers: Numbers::default(), values: Vec::new() }
    }
}

impl<T: Copy> ByIndex<T> {
    /// The number of the value of an index, if there is one.
    #[inline(always)]
    pub fn number(&self, index: u8) -> Option<usize> {
        self.numbers.get(index)
    }

    /// The value with this number.
    #[inline(always)]
    pub fn get(&self, number: usize) -> &T {
        &self.values[number]
    }

    /// Adds the value of an index that has none, and returns its number.
    pub fn add(&mut self, index: u8, value: T) -> usize {
        let number = self.values.len();
        self.values.push(value);
        self.numbers.set(index, number);
        number
    }

    /// Copies the values that only `other` has.
    pub fn merge(&mut self, other: &ByIndex<T>) {
        for (index, number) in other.numbers.iter() {
            if self.number(index).is_none() {
                self.add(index, *other.get(number));
            }
        }
    }
}
