//! Runs unmodified drivers on the model. With this library, a process finds a GPU (a Broadwell, or
//! a G45) with the kernel driver i915. Submitted batches run on [`genxml_sim`].
//!
//! The library is loaded with LD_PRELOAD (`genx shim -- COMMAND` does that). It replaces the libc
//! functions with which drivers find and use a device. It needs no kernel module, no device file
//! and no privilege.
//!
//! The layers, each of which uses only those before it:
//!
//! * [`uapi`]: the kernel's interface as data;
//! * [`device`]: what the kernel driver does. It is a library of its own, independent of
//!   LD_PRELOAD;
//! * [`tree`]: the files in `/dev` and `/sys` through which drivers find the device;
//! * [`edge`]: memory, descriptors, and the functions that replace libc's.
//!
//! Options come from the environment ([`device::config`]): variables that start with `GENX_SHIM`
//! and end with `_DEVICE`, `_MODE`, `_THREADS`, `_WORK_LIMIT`, `_CAPTURE`, `_FRAMES`, `_CHECK`,
//! `_SANITIZE`, `_STATS`, `_LOG`, `_TRACE`, `_TRACE_HOST`, `_TRACE_COUNTERS`, `_ERRORS`,
//! `_IGNORE_FAULTS`, `_CLOCK`, `_ASYNC`.
//!
//! Programs that call the kernel without libc (statically linked ones, Go programs) do not see the
//! device. The crate supports Linux on 64-bit machines with glibc; elsewhere it is empty.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

pub mod device;
pub mod edge;
pub mod tree;
pub use genxml_drm_uapi as uapi;
