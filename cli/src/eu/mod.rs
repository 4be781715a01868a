//! `genx eu`: kernels of the execution unit and its instructions.

pub mod ops;

use crate::output::{Error, Exit};

/// Kernels and instructions of the execution unit (EU).
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Ops(ops::Args),
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    match &args.command {
        Command::Ops(args) => ops::run(args),
    }
}
