//! The decoder of H.264.

mod container;
mod dpb;
mod front;
mod headers;
mod order;
mod slice;
mod streams;
