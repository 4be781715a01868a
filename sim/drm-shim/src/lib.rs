//! Unmodified drivers on the model: this library makes a process see a Broadwell with the kernel's
//! driver i915, and runs what is submitted to it on [`genxml_sim`].
//!
//! It is loaded with LD_PRELOAD (`genx shim -- COMMAND` does that) and takes the place of the libc
//! functions that drivers use to find and talk to a device. No kernel module, no device file and no
//! privilege is needed.
//!
//! * [`uapi`]: the kernel's interface as data;
//! * [`device`]: what the kernel's driver does, as a library of its own that needs no LD_PRELOAD;
//! * [`tree`]: the files of `/dev` and `/sys` by which drivers find the device;
//! * [`edge`]: memory, descriptors, and libc's functions.
//!
//! Options are in the environment ([`device::config`]): `GENX_SHIM_DEVICE`, `_MODE`, `_THREADS`,
//! `_WORK_LIMIT`, `_CAPTURE`, `_FRAMES`, `_CHECK`, `_STATS`, `_LOG`, `_TRACE`, `_ERRORS`,
//! `_IGNORE_FAULTS`, `_ASYNC`.
//!
//! Programs that call the kernel without libc (static ones, Go's) do not see the device. Linux on
//! 64-bit machines with glibc only; elsewhere this crate is empty.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

pub mod device;
pub mod edge;
pub mod tree;
pub mod uapi;
