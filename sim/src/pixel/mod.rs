//! Geometry of pixels and samples that stages of the pipeline and shared functions both use.
//!
//! * [`viewport`]: from clip space to the screen; [`raster`]: which samples a primitive covers;
//! * [`multisample`]: where samples lie; [`interpolate`]: values of attributes at a position.

pub mod interpolate;
pub mod multisample;
pub mod raster;
pub mod viewport;
