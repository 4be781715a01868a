//! The tests of this crate that use its public items. One program, so that it is linked once;
//! `mutations` and the test of threads are programs of their own.

mod corpus;
mod eu;
