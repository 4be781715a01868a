//! The decoders against streams whose frames are known, and against formulations of their own.

mod avc;
mod bits;
mod jpeg;
mod matroska;
mod mpeg2;
mod support;
mod vc1;
mod vp8;
