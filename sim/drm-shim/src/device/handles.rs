//! Handles of a client.

use rustix::io::Errno;
use std::collections::BTreeMap;

/// Handles, numbers from 1 on, each of which stands for a value such as an object.
#[derive(Debug)]
pub struct Handles<T> {
    entries: BTreeMap<u32, T>,
    /// The smallest handle that this process gives.
    first: u32,
    /// No free handle from `first` on is smaller.
    next: u32,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Handles { entries: BTreeMap::new(), first: 1, next: 1 }
    }
}

impl<T> Handles<T> {
    /// Adds a value and returns its handle: the smallest free number, as in the kernel.
    pub fn add(&mut self, value: T) -> u32 {
        while self.entries.contains_key(&self.next) {
            self.next += 1;
        }
        let handle = self.next;
        self.entries.insert(handle, value);
        self.next += 1;
        handle
    }

    /// Makes new handles start at `first`.
    pub(super) fn start_at(&mut self, first: u32) {
        (self.first, self.next) = (first, first);
    }

    /// The value of a handle.
    ///
    /// # Errors
    /// ENOENT if the handle is not in use.
    pub fn get(&self, handle: u32) -> Result<&T, Errno> {
        self.entries.get(&handle).ok_or(Errno::NOENT)
    }

    /// The value of a handle, mutable.
    ///
    /// # Errors
    /// ENOENT if the handle is not in use.
    pub fn get_mut(&mut self, handle: u32) -> Result<&mut T, Errno> {
        self.entries.get_mut(&handle).ok_or(Errno::NOENT)
    }

    /// Removes a handle, and returns its value.
    ///
    /// # Errors
    /// ENOENT if the handle is not in use.
    pub fn remove(&mut self, handle: u32) -> Result<T, Errno> {
        let value = self.entries.remove(&handle).ok_or(Errno::NOENT)?;
        self.next = self.next.min(handle).max(self.first);
        Ok(value)
    }

    /// All handles with their values.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entries.iter().map(|(handle, value)| (*handle, value))
    }

    /// Removes all values, and returns them by handle.
    pub(super) fn take(&mut self) -> BTreeMap<u32, T> {
        std::mem::take(&mut self.entries)
    }
}
