//! Accesses that bounds cut off, for observers. The model reads zeros there, or drops what is
//! written.

/// What an access went beyond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beyond {
    /// A buffer, or shared local memory.
    Bytes {
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes of the access.
        bytes: u64,
        /// Offset of the first byte that is out of bounds.
        end: u64,
    },
    /// An image, or a buffer with a format: U, V, R and the level of detail.
    Element([i64; 4]),
    /// The states in Dynamic State Buffer Size.
    Sampler,
}

/// An access of a message that bounds cut off, completely or in part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outside {
    /// The channel, counted from the first channel of the message. 0 for blocks.
    pub channel: u32,
    /// Graphics address of the surface or state. `None` for shared local memory.
    pub base: Option<u64>,
    /// The position.
    pub beyond: Beyond,
    /// True for a write or an atomic operation.
    pub write: bool,
}
