//! The `genx` command.

use clap::{Parser, Subcommand};
use genx::{
    asm, bisect, check, convert, debug, decode, demo, diff, disasm, eu, inspect, new, query, run,
    shim, spec, why,
};
use std::process::ExitCode;

/// Build, decode and execute batch buffers of Intel Broadwell (Gen8) graphics.
#[derive(Parser)]
#[command(name = "genx", version, max_term_width = 100)]
#[command(after_help = "Examples:
  genx demo cube -o cube.png         build a batch with the typed API, run it, write the picture
  genx new first                     write a project with a first batch that runs on the model
  genx run captures/gpgpu_fill       execute a capture, compare memory with what it expects
  genx run saxpy.aub.xz --stats      execute an AUB file, print tables of what ran
  genx why captures/kmscube --pixel 320,200   list everything that wrote or tested a pixel
  genx inspect captures/kmscube      show each draw in the browser
  genx bisect captures/good captures/bad      find the draw and instruction where they part
  genx debug captures/kmscube        step through packets and kernels, forward and backward
  genx decode captures/gpgpu_fill    print every packet, field, surface and kernel of a capture
  genx check captures/gpgpu_fill     check the manual's programming restrictions
  genx convert saxpy -o saxpy.aub.xz write a capture as an AUB file
  genx diff captures/a captures/b    compare two dumps packet by packet
  genx query captures/a --draws      list draws and dispatches
  genx disasm kernel.bin             disassemble a kernel; genx asm assembles one
  genx eu ops mad                    describe an instruction of the execution unit
  genx eu run kernel.asm --trace     run a kernel in one thread, print each instruction
  genx spec show PIPE_CONTROL        show a table of the specification
  genx shim -- vulkaninfo --summary  run a program with the model as its GPU

Exit codes: 0 success; 1 a negative result: an expectation or a dump differs, a check finds an
error, a query finds nothing, or genx disasm finds bytes that are not an instruction; 2 unusable
input, or output that cannot be written; 3 a GPU fault, a hang, or something that the model does not
implement. The help of a subcommand says which of them it has. genx shim ends with the exit code of
the command that it runs.")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    New(new::Args),
    Run(run::Args),
    Why(why::Args),
    Inspect(inspect::Args),
    Bisect(bisect::Args),
    Debug(debug::Args),
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
        Command::New(args) => new::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Bisect(args) => bisect::run(&args),
        Command::Debug(args) => debug::run(&args),
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
