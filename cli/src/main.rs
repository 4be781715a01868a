//! The `genx` command.

use clap::{Parser, Subcommand};
use genx::{asm, check, convert, decode, demo, diff, disasm, eu, query, run, shim, spec};
use std::process::ExitCode;

/// Build, decode and execute batch buffers of Intel Broadwell (Gen8) graphics.
#[derive(Parser)]
#[command(name = "genx", version, max_term_width = 110)]
#[command(after_help = "Examples:
  genx demo cube -o cube.png         two cubes, drawn by the model from a batch made with the typed API
  genx run captures/gpgpu_fill       execute a capture, compare memory with what hardware left
  genx run saxpy.aub.xz --stats      execute an AUB file; what ran, by engine, packet, kernel and message
  genx decode captures/gpgpu_fill    every packet, field, surface and kernel of a capture
  genx check captures/gpgpu_fill     the manual's programming restrictions
  genx convert saxpy -o saxpy.aub.xz a capture as a file for simulators and other readers
  genx diff captures/a captures/b    what differs, packet by packet
  genx query captures/a --draws      draws and dispatches, and who wrote their state
  genx disasm kernel.bin             a kernel as assembly; genx asm is the way back
  genx eu ops mad                    an instruction of the execution unit
  genx eu run kernel.asm --trace     a kernel executed by one thread, instruction by instruction
  genx spec show PIPE_CONTROL        a table of the specification
  genx shim -- vulkaninfo --summary  a program with the model as its GPU

Exit codes: 0 all well, 1 an expectation differs or a check found something, 2 unusable input, 3 a GPU fault, a hang,
or something that the model does not implement.")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Run(run::Args),
    Decode(decode::Args),
    Check(check::Args),
    Convert(convert::Args),
    Diff(diff::Args),
    Query(query::Args),
    Asm(asm::Args),
    Disasm(disasm::Args),
    Eu(eu::Args),
    Spec(spec::Args),
    Shim(shim::Args),
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Shim(args) => shim::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Decode(args) => decode::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Query(args) => query::run(&args),
        Command::Asm(args) => asm::run(&args),
        Command::Disasm(args) => disasm::run(&args),
        Command::Eu(args) => eu::run(&args),
        Command::Spec(args) => spec::run(&args),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("genx: {}", error.text);
            error.exit.into()
        }
    }
}
