//! `genx eu compact`: converts between 16-byte and 8-byte instructions.

use crate::assembly::{Form, read_kernel};
use crate::output::{Error, Exit, bad_input, stdout};
use genxml_eu::compaction::{compact_kernel, expand_kernel};
use genxml_eu::kernel::instructions;
use std::path::{Path, PathBuf};

/// Convert the instructions of a kernel to the 8-byte form where they have one, or to the 16-byte
/// form
///
/// Jumps keep their targets.
///
/// Exit code: 0 success, 2 unusable input.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx eu compact kernel.bin -o small.bin
  genx eu compact --expand kernel.bin -o full.bin
  genx eu compact kernel.bin              print both sizes only")]
pub struct Args {
    /// The kernel; - for standard input
    file: PathBuf,
    /// Write the instructions to a file; - for standard output. Default: only print the sizes
    /// before and after the conversion
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Format of the file. Default: by the suffix of its name. Files with the suffix asm, s or iga
    /// are assembly. Files with the suffix hex, expected or txt are hexadecimal text. All others,
    /// and standard input, are binary
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// Use the 16-byte form for every instruction
    #[arg(long)]
    expand: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let bytes = read_kernel(&args.file, args.form)?;
    let made = if args.expand { expand_kernel(&bytes) } else { compact_kernel(&bytes) };
    let made = made.map_err(|error| bad_input(format!("{}: {error}", args.file.display())))?;
    match args.output.as_deref() {
        Some(path) if path != Path::new("-") => {
            std::fs::write(path, &made)
                .map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
        }
        Some(_) => stdout(|out| out.write_all(&made))?,
        None => {
            let all: Vec<_> = instructions(&made).flatten().collect();
            let compact = all.iter().filter(|line| line.instruction.compacted).count();
            stdout(|out| {
                writeln!(
                    out,
                    "{} bytes become {}: {compact} of {} instructions in 8 bytes",
                    bytes.len(),
                    made.len(),
                    all.len()
                )
            })?;
        }
    }
    Ok(Exit::Ok)
}
