//! The execution unit of G45.

mod corpus;
mod support;
