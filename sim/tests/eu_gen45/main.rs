//! Tests of the execution unit of G45.

mod arithmetic;
mod comparisons;
mod corpus;
mod examples;
mod flow;
mod one_source;
mod support;
mod tables;
