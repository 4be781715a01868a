//! The decoder of VP8.

mod container;
mod front;
mod generator;
mod mutation;
mod streams;
mod tables;
