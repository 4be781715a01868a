//! The 3D pipeline: one fixed function a file, named as the manual does.
//!
//! State packets are latched as they come ([`crate::context::Latched`]); a draw follows them once and gives resolved state to
//! the stages, which are functions from that state and a stream to a stream. No stage reads a packet or a state address.

pub mod sol;
pub mod te;
pub mod topology;
