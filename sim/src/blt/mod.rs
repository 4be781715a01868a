//! The blitter: rectangles of pixels.
//!
//! * [`rop`]: raster operations;
//! * [`transfer`]: the rectangle loop.

pub mod rop;
pub mod transfer;

pub use transfer::{Blit, Plane};
