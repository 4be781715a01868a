//! The memory objects of the driver that are mapped for a submission.

use std::collections::BTreeMap;

/// The objects of a submission: size by address. Empty if they are not reported.
#[derive(Clone, Debug, Default)]
pub struct Objects(BTreeMap<u64, u64>);

impl Objects {
    /// Replaces the objects by those of the next submission, as addresses and sizes in bytes.
    pub fn replace(&mut self, list: &[(u64, u64)]) {
        self.0.clear();
        self.0.extend(list.iter().copied());
    }

    /// True if no objects are reported.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Address and size of the last object that begins at or before an address.
    pub fn before(&self, address: u64) -> Option<(u64, u64)> {
        self.0.range(..=address).next_back().map(|(start, size)| (*start, *size))
    }

    /// Address and size of the object that contains an address.
    pub fn containing(&self, address: u64) -> Option<(u64, u64)> {
        self.before(address).filter(|(start, size)| address - start < *size)
    }
}
