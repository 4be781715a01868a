//! `genx debug --dap`: the Debug Adapter Protocol, for editors.
//!
//! * `server`: the session; `wire`: messages; `breakpoints`: the requests that set breakpoints;
//!   `sources`: kernels as sources; `values`: scopes and variables; `read`: memory and disassembly.

mod breakpoints;
mod read;
mod server;
mod sources;
mod values;
mod wire;

pub use server::run;
