//! The instruction sets of the host processor that the fast path is compiled for.
//!
//! Rust compiles for the oldest processor of an architecture. On x86-64 that has neither a fused
//! multiply-add nor shifts by lane, and vectors of half the size; so the fast path is compiled
//! twice, and a thread chooses one when it runs. The results are the same bits.

use crate::eu::ops::rounding::fused_single;

/// A set of machine instructions that code can be compiled for.
pub trait Level: Copy + 'static {
    /// Runs `f`, which must be inlined, compiled for this set.
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R;

    /// `a * b + c`, rounded once.
    fn fused(a: f32, b: f32, c: f32) -> f32;
}

/// The instructions that every processor of the architecture has.
#[derive(Clone, Copy, Debug)]
pub struct Baseline;

impl Level for Baseline {
    #[inline(always)]
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
        #[inline(never)]
        fn call<R>(f: impl FnOnce() -> R) -> R {
            f()
        }
        call(f)
    }

    #[inline(always)]
    fn fused(a: f32, b: f32, c: f32) -> f32 {
        fused_single(a, b, c)
    }
}

/// x86-64-v3: AVX2 and FMA, in processors since 2013 (Haswell) and 2015 (Excavator).
#[cfg(target_arch = "x86_64")]
pub use pulp::x86::V3;

#[cfg(target_arch = "x86_64")]
impl Level for V3 {
    #[inline(always)]
    fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
        V3::vectorize(self, f)
    }

    #[inline(always)]
    fn fused(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}
