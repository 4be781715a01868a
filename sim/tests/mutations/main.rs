//! Damaged input: batches by chance, draws of real programs with all that they point to.

mod batches;
mod draws;
mod mutate;
