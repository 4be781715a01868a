//! The edge to the operating system, the only place with `unsafe`: memory shared with the client,
//! the client's own memory, file descriptors that stand for devices and buffers, and the functions
//! that take libc's place.

pub mod arena;
pub mod client;
pub mod host;
pub mod thread;

#[cfg(not(test))]
mod directory;
#[cfg(not(test))]
mod hooks;
#[cfg(not(test))]
mod next;
#[cfg(not(test))]
mod session;
