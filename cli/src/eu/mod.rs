//! `genx eu`: kernels and instructions of the execution unit.

pub mod compact;
mod debugging;
pub mod ops;
pub mod run;
pub mod validate;

use crate::output::{Error, Exit};

/// Kernels and instructions of the execution unit (EU).
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Compact(compact::Args),
    Ops(ops::Args),
    Run(Box<run::Args>),
    Validate(validate::Args),
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::Compact(args) => compact::run(args),
        Command::Ops(args) => ops::run(args),
        Command::Run(args) => run::run(args),
        Command::Validate(args) => validate::run(args),
    }
}
