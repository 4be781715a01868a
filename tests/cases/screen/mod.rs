//! The pipeline after the vertices: draws without a vertex shader and with small pixel shaders.
//! Each pixel of their targets is compared with exact arithmetic, the rules of the APIs, or tables.
//!
//! Images made of characters were drawn by hand from the rule that the test names. None of them
//! comes from the model's own output.

mod bad;
mod blend;
mod clears;
mod clip_distances;
mod damage;
mod depth;
mod dispatch;
mod exact;
mod front_end;
mod history;
mod interpolation;
mod kernels;
mod kills;
mod last_stage;
mod layered_depth;
mod lines;
mod observed;
mod page_claims;
mod resources;
mod samples;
pub mod scene;
mod sequences;
mod slices;
mod streams;
mod surfaces;
mod targets;
mod vertex_mutations;
mod vertex_slices;
mod views;
