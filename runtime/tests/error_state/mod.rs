//! Error states of i915: every spelling read, written and read again; damage.
//!
//! Oracles: texts written by hand after the formats of `drivers/gpu/drm/i915/i915_gpu_error.c` of
//! each kernel, and for what is written, captures of real drivers.

mod damage;
mod opened;
mod spellings;
mod written;
