//! The execution unit against arithmetic, regions and control flow written down a second time.

mod arithmetic;
mod flow;
mod machine;
mod programs;
mod random;
mod regions;
mod short_cuts;
mod support;
