//! The parts that nearly every program needs: heaps with their base addresses, surfaces, samplers,
//! viewports, blending, thread groups ([`Dispatch`]) and draws ([`Draw`]).
//!
//! Everything here makes packets and structures of [`gen8`](crate::gen8), and nothing else. A value
//! can be changed before it is emitted, and a program can emit some packets itself and leave the
//! rest to this module. The examples `fill` and `triangle` have a long form without this module and
//! a short form with it; both give the same dwords.
//!
//! * [`Heaps`]: three heaps and the packet with their bases
//! * [`Surface`]: surface states of images and buffers, with sizes and pitches checked
//! * [`sampler`], [`viewport`], [`blend`]: state by intent
//! * [`Dispatch`]: thread groups with everything that they need
//! * [`initial`], [`Draw`], [`element`]: the 3D pipeline

#[cfg(feature = "media")]
mod dispatch;
#[cfg(feature = "3d")]
mod draw;
mod heaps;
#[cfg(feature = "3d")]
mod initial;
#[cfg(feature = "3d")]
mod pixels;
mod sampler;
mod surface;

#[cfg(feature = "media")]
pub use dispatch::Dispatch;
#[cfg(feature = "3d")]
pub use draw::{Draw, element};
pub use heaps::Heaps;
#[cfg(feature = "3d")]
pub use initial::initial;
#[cfg(feature = "3d")]
pub use pixels::{Blend, blend, ps_blend, viewport};
pub use sampler::{Filter, sampler};
pub use surface::Surface;
