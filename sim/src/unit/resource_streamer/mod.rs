//! The resource streamer: hardware that makes binding tables and push constants from packets.
//!
//! * [`pool`]: the memory that the streamer writes;
//! * [`chip`]: its state inside the GPU, which belongs to the context;
//! * [`tables`]: binding tables that packets edit, and their copies in memory;
//! * [`gather`]: push constants gathered from constant buffers;
//! * [`dx9`]: the constant registers of DX9, and the constant buffers made from them.
//!
//! On hardware the streamer reads a batch before the command streamer does, and software
//! synchronises the two. The model executes the streamer's packets in the order of the batch
//! (assumptions::RESOURCE_STREAMER_RUNS_IN_ORDER).

pub mod chip;
pub mod dx9;
pub mod gather;
pub mod pool;
pub mod tables;

pub use chip::ResourceStreamer;
