//! Rows of the tables of compaction.

/// The bits of a table row as the dwords of a structure.
pub(super) fn row(expansion: Option<u64>) -> Option<[u32; 2]> {
    expansion.map(|bits| [bits as u32, (bits >> 32) as u32])
}
