//! The tests of the model. They are one program, so that it is linked once.

mod aub;
mod blitter;
mod dataport;
mod engines;
mod fields;
mod gen45;
mod geometry;
mod groups;
mod memory;
mod mi;
mod parallel;
mod pixels;
mod sampler;
mod sanitize;
mod screen;
mod streamer;
mod surfaces;
mod traces;
mod typed;
mod video;
mod vme;
mod walker;
