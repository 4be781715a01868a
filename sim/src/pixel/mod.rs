//! Geometry of pixels and samples that stages of the pipeline and shared functions both use.
//!
//! * [`coordinates`]: positions and rectangles on the screen;
//! * [`viewport`]: the transform from clip space to the screen; [`raster`]: the samples that a
//!   primitive covers;
//! * [`multisample`]: positions of samples; [`interpolate`]: values of attributes at a position.

pub mod coordinates;
pub mod interpolate;
pub mod multisample;
pub mod raster;
pub mod viewport;
