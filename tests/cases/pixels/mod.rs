//! Draws to a render target: pixel shader inputs, vertex fetch, and the fixed functions after the
//! pixel shader.

mod counters;
mod counts;
mod draws;
mod edges;
mod fetch;
pub mod harness;
mod interpolator;
mod known;
mod one_color;
mod outputs;
mod windower;
