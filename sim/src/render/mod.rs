//! The 3D pipeline: one fixed function a file, named as the manual does.
//!
//! State packets are latched as they come ([`crate::context::Latched`]); a draw follows them once and gives resolved state to
//! the stages, which are functions from that state and a stream to a stream. No stage reads a packet or a state address.
//!
//! * [`clip`], [`viewport`], [`setup`]: from vertices to objects on the screen; [`points_lines`]: those that are no triangles;
//! * [`raster`], [`multisample`]: which samples they cover; [`interpolate`]: every value inside of them;
//! * [`compare`]: the eight comparisons of all tests;
//! * [`depth`], [`stencil`]: depth and stencil tests; [`hiz`]: clears of their buffers;
//! * [`coverage`]: alpha test and alpha to coverage;
//! * [`merge`]: what a message of a pixel shader does with all of them;
//! * [`blend`], [`logic_op`], [`render_target`], [`elements`]: colours to surfaces; [`aux`]: their auxiliary surfaces.

pub mod aux;
pub mod blend;
pub mod clip;
pub mod compare;
pub mod coverage;
pub mod depth;
pub mod elements;
pub mod hiz;
pub mod interpolate;
pub mod logic_op;
pub mod merge;
pub mod multisample;
pub mod points_lines;
pub mod raster;
pub mod render_target;
pub mod setup;
pub mod sol;
pub mod stencil;
pub mod te;
pub mod topology;
pub mod viewport;
