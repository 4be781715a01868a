//! Damaged input: batches with random changes, and draws of real programs with all that they point
//! to.

mod batches;
mod draws;
mod mutate;
