//! The types that the operands of an operation may have.
//!
//! A [`Signature`] is a row of the type table that a page of the manual prints: a set of
//! destination types and, for each source, a set of source types. `Opcode::signatures` and
//! `MathFunction::signatures` give the rows; [`combinations`] lists every single legal
//! combination once.
//!
//! The type of an immediate vector counts as the type of its unpacked elements: `v` as `w`, `uv` as
//! `uw`, `vf` as `f`.

pub(crate) mod combinations;
pub(crate) mod rows;

pub(crate) use combinations::rows_of;
pub use combinations::{Combination, combinations, math_functions};
pub use rows::{Origin, Signature, TypeSet};

#[cfg(test)]
mod tests;
