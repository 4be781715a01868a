//! Surfaces: where an element of a surface lies in memory, and what its bits mean.
//!
//! * [`mod@format`]: elements and their channels;
//! * [`tiling`]: the order of bytes inside tiles;
//! * [`layout`]: the position of levels, slices and samples in the rows of an image;
//! * [`resolve`]: turns a surface state into a [`Surface`];
//! * [`rows`]: reads and writes rectangles of bytes;
//! * [`square`]: the parts of memory of a square of pixels;
//! * [`display`]: converts texels to pixels of a picture.

pub mod display;
pub mod format;
pub mod layout;
pub mod resolve;
pub mod rows;
pub mod square;
#[cfg(test)]
mod tests;
pub mod tiling;

pub use format::{Codec, Format};
pub use layout::{Dimension, Layout, Level};
pub use resolve::{Auxiliary, AuxiliaryKind, BadSurface, Surface, SurfaceKind};
pub use tiling::TileMode;
