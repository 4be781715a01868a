//! The interface of objects that packets can refer to.

use alloc::sync::Arc;

/// Something with an address in GPU memory that packets can refer to: a [`Buffer`](super::Buffer)
/// or a [`Heap`](super::Heap).
pub trait Object {
    /// Name of the object, for people.
    fn name(&self) -> &Arc<str>;
    /// Address of the first byte, 48 bits.
    fn address(&self) -> u64;
    /// Size in bytes.
    fn size(&self) -> u64;
}
