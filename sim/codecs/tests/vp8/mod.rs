//! The decoder of VP8.

mod container;
mod front;
mod streams;
mod tables;
