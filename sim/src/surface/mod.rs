//! Surfaces: where an element of a surface lies in memory.
//!
//! * [`tiling`]: the order of bytes inside tiles;
//! * [`mod@format`]: sizes of elements;
//! * [`layout`]: a surface state, resolved.

pub mod format;
pub mod layout;
pub mod tiling;

pub use layout::{BadSurface, Surface, SurfaceKind};
pub use tiling::TileMode;
