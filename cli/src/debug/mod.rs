//! `genx debug`: a debugger for what the GPU executes.
//!
//! * this file: the options and the main sequence;
//! * `terminal`: reads commands; `commands`: executes them; `show`: what is at a stop, as text;
//! * `dap`: the Debug Adapter Protocol.

mod commands;
mod dap;
mod show;
mod terminal;

use crate::output::{Error, Exit, bad_input};
use genxml::aub::Reader;
use genxml::capture::Capture;
use genxml_sim::Gpu;
use genxml_sim::aub::AubReplay;
use genxml_sim::debugger::{AubProblem, Options, of_aub, of_capture};
use genxml_sim::inspect::debugger::{Breakpoints, Controller};
use std::path::{Path, PathBuf};
use terminal::Terminal;

/// Step through a capture or an AUB file: packets, draws and instructions, forward and backward.
///
/// The debugger stops before the first packet and reads commands; help lists them. Commands have
/// the names of gdb. If standard input is not a terminal, commands are read line by line, and the
/// debugger quits at the end of the input.
///
/// The model is deterministic. A step back runs the input again up to the earlier point.
///
/// Exit code: 0 the debugger quit; 2 unusable input, or a command failed that does not come from a
/// terminal.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx debug captures/kmscube
  genx debug captures/kmscube -e 'break pixel 320,200' -e continue -e 'print r2:f'
  genx debug captures/kmscube -x commands.txt
  genx debug saxpy.aub.xz -e 'break message hdc1 if r3.0 != 0'

Commands to start with:
  break pixel 320,200    stop at each thread that shades the pixel
  break packet PIPE_CONTROL if dw1 & 0x1000
  continue, step, packet, finish; reverse-step, reverse-continue
  regs r2:f; print r2.3:f + 1; disassemble; state; surface 0 target.png")]
pub struct Args {
    /// A capture directory, or an AUB file, plain or compressed (xz, gzip, zstd)
    #[arg(required_unless_present = "dap")]
    input: Option<PathBuf>,
    /// Execute the commands of a file, a command in each line, before those of standard input. May
    /// be repeated
    #[arg(short = 'x', long = "command", value_name = "FILE")]
    commands: Vec<PathBuf>,
    /// Execute a command after those of --command. May be repeated
    #[arg(short = 'e', long = "eval-command", value_name = "COMMAND")]
    evaluate: Vec<String>,
    /// Quit after the commands of --command and --eval-command
    #[arg(long)]
    batch: bool,
    /// Speak the Debug Adapter Protocol on standard input and output, for editors. The launch
    /// request has: program (the path of the input), stopOnEntry, syntax, workLimit
    #[arg(long, conflicts_with_all = ["commands", "evaluate", "batch"])]
    dap: bool,
    /// Speak the protocol at a TCP port of 127.0.0.1, with one client; 0 for any free port
    #[arg(long, value_name = "PORT", requires = "dap")]
    dap_port: Option<u16>,
    /// The language of disassembly
    #[arg(long, value_name = "LANGUAGE", default_value = "iga")]
    syntax: crate::assembly::Language,
    /// Maximum work of a submission, as in genx run
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u64).range(1..))]
    work_limit: Option<u64>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    if args.dap {
        return dap::run(args);
    }
    let Some(input) = &args.input else { return Err(bad_input("there is no input")) };
    let mut terminal = Terminal::new(args)?;
    debug(input, args.work_limit, Breakpoints::default(), &mut terminal)?;
    Ok(terminal.exit())
}

/// Debugs a capture or an AUB file until the controller quits.
fn debug(
    path: &Path,
    work_limit: Option<u64>,
    breakpoints: Breakpoints,
    controller: &mut dyn Controller,
) -> Result<(), Error> {
    let set_up = |gpu: &mut Gpu| {
        if let Some(units) = work_limit {
            gpu.set_work_limit(units);
        }
    };
    if path == Path::new("-") {
        return Err(bad_input(
            "steps back need further runs, so the input cannot be standard input; write it to a \
             file",
        ));
    }
    if !path.is_file() {
        let capture = Capture::open(path)
            .map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
        let options = Options { set_up: &set_up, ..Options::default() };
        of_capture(&capture, breakpoints, &options, controller);
        return Ok(());
    }
    let mut open = || {
        let reader = Reader::open(path).map_err(|error| AubProblem::File(error.to_string()))?;
        let mut replay = AubReplay::new(reader);
        set_up(replay.gpu());
        Ok(replay)
    };
    of_aub(breakpoints, &mut open, controller)
        .map_err(|error| bad_input(format!("{}: {error}", path.display())))
}
