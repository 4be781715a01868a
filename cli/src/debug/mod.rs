//! `genx debug`: a debugger for what the GPU executes.
//!
//! * this file: the main sequence; `args`: the options; `program`: runs the input;
//! * `terminal`: reads commands; `commands`: executes them; `show`: what is at a stop, as text;
//! * `dap`: the Debug Adapter Protocol.

mod args;
mod commands;
mod dap;
mod program;
mod show;
mod terminal;

use crate::output::{Error, Exit, bad_input};
use genxml_sim::inspect::debugger::Breakpoints;
use terminal::Terminal;

pub use args::Args;

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    if args.dap {
        return dap::run(args);
    }
    let Some(input) = &args.input else { return Err(bad_input("there is no input")) };
    let mut terminal = Terminal::new(args)?;
    program::debug(input, args.work_limit, Breakpoints::default(), &mut terminal)?;
    Ok(terminal.exit())
}
