//! The interface to the operating system, and the only layer with `unsafe` code: memory shared with
//! the client, the client's own memory, and the functions that replace libc's.
//!
//! * [`host`]: what the device needs from this process, as one object;
//! * [`arena`]: memory of objects; [`mappings`]: the client's mappings of objects; [`client`]: the
//!   client's memory; [`thread`]: the model's thread;
//! * `session`: the one device of this process; `hooks`: the functions that replace libc's;
//!   `forks`: numbers of forked processes; `signals`: reports of a process that a signal ends;
//!   `working`: the working directory; `next`: libc's own functions; `directory`: directories of
//!   the tree for readdir.

pub mod arena;
pub mod client;
pub mod host;
pub mod mappings;
pub mod thread;

// A test binary must keep libc's own functions.
#[cfg(not(test))]
mod directory;
#[cfg(not(test))]
mod forks;
#[cfg(not(test))]
mod hooks;
#[cfg(not(test))]
mod next;
#[cfg(not(test))]
mod session;
#[cfg(not(test))]
mod signals;
#[cfg(not(test))]
mod working;
