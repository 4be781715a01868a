//! Surfaces: where an element of a surface lies in memory.

pub mod layout;
pub mod tiling;

pub use layout::Surface;
pub use tiling::TileMode;
