//! End-to-end tests. They are one program, so that it is linked once. Only `readers.rs` is a
//! program of its own.

mod batches;
mod compile_fail;
mod conformance;
mod decode_cases;
mod derive;
mod eu_macro;
mod fit;
mod foreign;
mod g45;
mod g45_rules;
mod json;
mod layers;
mod macros;
mod mi;
mod mutations;
mod no_std;
mod programs;
mod readme;
mod round_trip;
mod starter;
mod strict;
mod tables;
mod toy;
mod zero_cost;
