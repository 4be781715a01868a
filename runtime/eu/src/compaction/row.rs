//! Rows of the tables of compaction.

/// The bits of a table row as the dwords of a structure.
pub(super) fn row(expansion: Option<u64>) -> Option<[u32; 2]> {
    expansion.map(|bits| [bits as u32, (bits >> 32) as u32])
}

/// The index of the row that expands to `bits`.
pub(super) fn index<T: Copy>(
    table: &genxml_core::reflect::Enumeration,
    row: fn(u64) -> T,
    expansion: fn(T) -> Option<u64>,
    bits: u64,
) -> Option<T> {
    table.values.iter().map(|(value, _)| row(*value)).find(|row| expansion(*row) == Some(bits))
}
