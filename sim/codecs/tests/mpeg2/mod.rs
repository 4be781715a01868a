//! The decoder of MPEG-2.

mod corpus;
mod encoder;
mod front;
mod generated;
mod mutations;
mod software;
mod transform;
