//! Memory: frames of 4 KiB, page tables, and the view that all units use.
//!
//! * [`physical`]: [`Memory`] holds the frames, which the model allocates or the host supplies;
//! * [`Contents`]: bytes that a frame gets when it is first accessed;
//! * [`Page`]: the bytes of a frame, which code outside the model may write at any time;
//! * [`space`]: [`AddressSpace`] translates addresses with page tables: per process with four or
//!   three levels, stored in frames, or global;
//! * [`Vm`]: memory through page tables: reads and writes at graphics addresses;
//! * `host_pages`, `reach`: the pages that the machine code of kernels accesses without calls;
//! * [`overlay`]: records what the parts of a walker or draw that run in parallel read and wrote;
//! * [`log`]: records each [access], for observers; [`outside`]: accesses that bounds cut
//!   off; [`lines`]: leaves out accesses that an observer of caches does not need;
//! * [`fault`]: page faults and their causes;
//! * [`coherence`]: records when each cache was flushed.

pub mod access;
pub mod claims;
pub mod coherence;
mod entry;
pub mod fault;
mod frames;
#[cfg(feature = "fast")]
mod host_pages;
mod later;
pub mod lines;
pub mod log;
pub mod outside;
pub mod overlay;
mod page;
pub mod physical;
#[cfg(feature = "fast")]
mod reach;
pub mod space;
#[cfg(test)]
mod tests;
mod va;
mod vm;

pub use access::{Access, Client, LocalAccess};
pub use coherence::Coherence;
pub use fault::{Cause, Nearby, PageFault, Tables};
pub use later::Contents;
pub use lines::Lines;
pub use log::{AccessLog, Acting};
pub use page::{Page, PageMut};
pub use physical::{Backing, Frames, Memory, OutOfMemory, PhysicalError};
#[cfg(feature = "fast")]
pub use reach::Shadow;
pub use space::{AddressSpace, Mapping};
pub use va::Va;
pub use vm::Vm;

/// Bytes of a page and of a frame.
pub const PAGE: u64 = 4096;

/// The bits of a graphics address that hardware uses.
pub const ADDRESS_MASK: u64 = (1 << 48) - 1;
