//! The execution unit against arithmetic, regions and control flow written down a second time.

mod arithmetic;
mod case;
mod fast_path;
mod flow;
mod machine;
mod macros;
mod oracle;
mod programs;
mod random;
mod regions;
mod support;
mod tables;
mod types;
