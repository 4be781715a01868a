//! Values by binding table index.

/// Values by binding table index. Each is resolved when a message first uses it.
#[derive(Clone, Debug)]
pub struct ByIndex<T> {
    /// For each binding table index: number of the value plus one, or 0 without a value.
    numbers: [u16; 256],
    values: Vec<T>,
}

impl<T> Default for ByIndex<T> {
    fn default() -> ByIndex<T> {
        ByIndex { numbers: [0; 256], values: Vec::new() }
    }
}

impl<T: Copy> ByIndex<T> {
    /// The number of the value of an index, if there is one.
    #[inline(always)]
    pub fn number(&self, index: u8) -> Option<usize> {
        usize::from(self.numbers[usize::from(index)]).checked_sub(1)
    }

    /// The value with this number.
    #[inline(always)]
    pub fn get(&self, number: usize) -> &T {
        &self.values[number]
    }

    /// Adds the value of an index that has none, and returns its number.
    pub fn add(&mut self, index: u8, value: T) -> usize {
        self.values.push(value);
        self.numbers[usize::from(index)] = self.values.len() as u16;
        self.values.len() - 1
    }

    /// Copies the values that only `other` has.
    pub fn merge(&mut self, other: &ByIndex<T>) {
        for index in 0..=u8::MAX {
            if let (None, Some(number)) = (self.number(index), other.number(index)) {
                self.add(index, *other.get(number));
            }
        }
    }
}
