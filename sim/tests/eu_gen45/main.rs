//! Tests of the execution unit of G45.

mod arithmetic;
mod comparisons;
mod corpus;
mod debugging;
mod examples;
#[path = "../float_tables/mod.rs"]
mod float_tables;
mod flow;
mod support;
mod tables;
