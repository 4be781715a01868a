//! The options of `genx debug`.

use crate::assembly::Language;
use std::path::PathBuf;

/// Step through a capture or an AUB file: packets, draws and instructions, forward and backward.
///
/// The debugger stops before the first packet and reads commands; help lists them. Commands have
/// the names of gdb. If standard input is not a terminal, commands are read line by line, and the
/// debugger quits at the end of the input. Ctrl-C pauses a run; a second Ctrl-C before the run has
/// paused ends the debugger. With --batch, the first Ctrl-C ends it.
///
/// The model is deterministic, so a step back runs the input again up to the earlier point. Such a
/// run starts at the beginning of the input or, for a capture, at a checkpoint.
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
    pub(super) input: Option<PathBuf>,
    /// Execute the commands of a file, a command in each line, before those of standard input. May
    /// be repeated
    #[arg(short = 'x', long = "command", value_name = "FILE")]
    pub(super) commands: Vec<PathBuf>,
    /// Execute a command after those of --command. May be repeated
    #[arg(short = 'e', long = "eval-command", value_name = "COMMAND")]
    pub(super) evaluate: Vec<String>,
    /// Quit after the commands of --command and --eval-command
    #[arg(long)]
    pub(super) batch: bool,
    /// Speak the Debug Adapter Protocol on standard input and output, for editors. The launch
    /// request has: program (the path of the input), stopOnEntry, syntax, workLimit
    #[arg(long, conflicts_with_all = ["commands", "evaluate", "batch"])]
    pub(super) dap: bool,
    /// Speak the protocol at a TCP port of 127.0.0.1, with one client; 0 for any free port
    #[arg(long, value_name = "PORT", requires = "dap")]
    pub(super) dap_port: Option<u16>,
    /// The language of disassembly
    #[arg(long, value_name = "LANGUAGE", default_value = "iga")]
    pub(super) syntax: Language,
    /// Maximum work of a submission, as in genx run
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) work_limit: Option<u64>,
}
