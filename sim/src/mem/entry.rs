//! Entries of page tables.

/// What the model reads in an entry of any level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) present: bool,
    pub(super) writable: bool,
    /// A level 2 entry that maps 2 MiB.
    pub(super) large: bool,
    /// Physical address of the next table or of the page.
    pub(super) address: u64,
}

impl Entry {
    pub(super) fn unpack(bits: u64) -> Self {
        Entry {
            present: bits & 1 != 0,
            writable: bits & 2 != 0,
            large: bits & 0x80 != 0,
            address: bits & 0x7f_ffff_f000,
        }
    }

    pub(super) fn pack(self) -> u64 {
        self.address | u64::from(self.present) | u64::from(self.writable) << 1 | u64::from(self.large) << 7
    }
}
