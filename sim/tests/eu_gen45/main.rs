//! Tests of the execution unit of G45.

mod arithmetic;
mod corpus;
mod examples;
mod flow;
mod support;
mod tables;
