//! Tests of this crate that use its public items. They are one program, so that it is linked once.
//! `mutations` and the test of threads are separate programs.

mod bench;
mod commands;
mod corpus;
mod eu;
mod float_tables;
mod payload_draws;
mod payloads;
mod setup;
mod walkers;
