//! The decoder of H.264.

mod container;
mod dpb;
mod front;
mod generate;
mod headers;
mod mutations;
mod order;
mod random_streams;
mod slice;
mod streams;
