//! Error states of i915: every format is read, written and read again; damaged files.
//!
//! Oracles: texts written by hand in the formats of `drivers/gpu/drm/i915/i915_gpu_error.c` of each
//! kernel; for the writer, captures of real drivers.

mod damage;
mod guc;
mod opened;
mod spellings;
mod written;
