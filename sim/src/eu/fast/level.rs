//! The machine instructions of the host that the fast path is compiled for.
//!
//! By default, Rust compiles for the oldest processor of an architecture. On x86-64 that processor
//! has only 16-byte vectors, no fused multiply-add, and no shift of each lane by its own count. So
//! on x86-64 the fast path is compiled for x86-64-v3: AVX2 and FMA, in processors since 2013
//! (Haswell) and 2015 (Excavator). A processor without them takes the general path for every
//! instruction; the results are the same bits. So does every processor if the crate is compiled
//! without its feature `fast`.

#[cfg(all(feature = "fast", target_arch = "x86_64"))]
type Host = pulp::x86::V3;
#[cfg(all(feature = "fast", not(target_arch = "x86_64")))]
type Host = ();
/// No level exists.
#[cfg(not(feature = "fast"))]
type Host = std::convert::Infallible;

/// Proof that this processor has the instructions of the fast path.
#[derive(Clone, Copy, Debug)]
pub struct Level(Host);

impl Level {
    /// The level of this processor; `None` if the processor lacks instructions of the fast path.
    #[inline]
    pub fn detect() -> Option<Level> {
        #[cfg(all(feature = "fast", target_arch = "x86_64"))]
        return Host::try_new().map(Level);
        #[cfg(all(feature = "fast", not(target_arch = "x86_64")))]
        return Some(Level(()));
        #[cfg(not(feature = "fast"))]
        return None;
    }

    /// Runs `f`, compiled for the instructions of this level. `f` must be inlined.
    #[inline(always)]
    pub fn vectorize<R>(self, f: impl FnOnce() -> R) -> R {
        #[cfg(all(feature = "fast", target_arch = "x86_64"))]
        return self.0.vectorize(f);
        #[cfg(not(all(feature = "fast", target_arch = "x86_64")))]
        {
            #[inline(never)]
            fn call<R>(f: impl FnOnce() -> R) -> R {
                f()
            }
            call(f)
        }
    }

    /// A bit for each lane, set if the lane is negative. On x86-64 this is one machine instruction,
    /// but only inside [`vectorize`](Self::vectorize).
    #[inline(always)]
    pub fn negative(self, lanes: [i32; 8]) -> u8 {
        #[cfg(all(feature = "fast", target_arch = "x86_64"))]
        return self.0.avx._mm256_movemask_ps(pulp::cast(lanes)) as u8;
        #[cfg(not(all(feature = "fast", target_arch = "x86_64")))]
        return lanes.iter().rev().fold(0, |bits, lane| bits << 1 | u8::from(*lane < 0));
    }

    /// `a * b + c`, rounded once. On x86-64 this is one machine instruction, but only inside
    /// [`vectorize`](Self::vectorize).
    #[inline(always)]
    pub fn fused(self, a: f32, b: f32, c: f32) -> f32 {
        #[cfg(target_arch = "x86_64")]
        return a.mul_add(b, c);
        #[cfg(not(target_arch = "x86_64"))]
        return crate::eu::ops::rounding::fused_single(a, b, c);
    }
}
