//! Compares the execution unit with second implementations of arithmetic, regions and control flow.

mod access;
mod arithmetic;
mod case;
mod compiled;
mod fast_path;
mod flow;
mod machine;
mod macros;
mod oracle;
#[cfg(feature = "fast")]
mod paged;
mod programs;
mod random;
mod regions;
mod start;
mod support;
mod tables;
mod types;
