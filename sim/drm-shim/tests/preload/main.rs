//! Tests of the library as programs use it. Each test starts itself again in a child process with
//! the library preloaded. The child uses the device through libc only.
//!
//! * [`process`]: child processes with the library, and forks; [`client`]: the use of the device;
//! * [`device`], [`memory`], [`buffers`], [`forks`]: the device;
//! * [`paths`], [`descriptors`]: its files; [`captures`]: what the library writes.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

mod buffers;
mod captures;
mod client;
mod descriptors;
mod device;
mod forks;
mod memory;
mod paths;
mod process;
