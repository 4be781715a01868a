//! Positions of packets.

/// Position of a packet in its batch, for [`Batch::patch`](super::Batch::patch) and
/// [`Batch::edit`](super::Batch::edit).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub(super) segment: u32,
    pub(super) dword: u32,
    pub(super) dwords: u32,
}

impl Position {
    /// Bytes from the start of the buffer that the packet is in.
    pub const fn offset(self) -> usize {
        4 * self.dword as usize
    }

    /// Index of the buffer in the batch; 0 in a batch that does not grow.
    pub const fn segment(self) -> usize {
        self.segment as usize
    }
}
