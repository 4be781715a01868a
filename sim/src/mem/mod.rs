//! Memory: frames of 4 KiB, page tables, and the view that all units use.
//!
//! * [`physical`]: [`Memory`], the frames: the model's own, or supplied by the host;
//! * [`Page`]: the bytes of a frame, which others may write at any time;
//! * [`space`]: [`AddressSpace`], page tables: per process with four or three levels, stored in
//!   frames, and global;
//! * [`Vm`]: both together, reading and writing at graphics addresses;
//! * [`overlay`]: what parts of a walker that run side by side read and wrote;
//! * [`fault`]: what cannot be read or written, and why;
//! * [`coherence`]: which caches were flushed when.

pub mod coherence;
mod entry;
pub mod fault;
mod frames;
pub mod overlay;
mod page;
pub mod physical;
pub mod space;
#[cfg(test)]
mod tests;
mod va;
mod vm;

pub use coherence::Coherence;
pub use fault::{Cause, Nearby, PageFault, Tables};
pub use page::{Page, PageMut};
pub use physical::{Backing, Frames, Memory, OutOfMemory, PhysicalError};
pub use space::{AddressSpace, Mapping};
pub use va::Va;
pub use vm::Vm;

/// Bytes of a page and of a frame.
pub const PAGE: u64 = 4096;

/// All bits that hardware looks at in a graphics address.
pub const ADDRESS_MASK: u64 = (1 << 48) - 1;
