//! `genx asm`: assembles a kernel.

use crate::assembly::{Language, assembled, generation, language, read_text};
use crate::output::{Error, Exit, bad_input, stdout};
use genxml_eu::Generation;
use genxml_eu::asm::{Compaction, Options};
use genxml_eu::syntax::Syntax;
use std::path::{Path, PathBuf};

/// Assemble a kernel in the language of Intel's assembler (IGA) or of Mesa's.
///
/// An instruction marked {Compacted} (IGA) or compacted (Mesa) gets its 8-byte form. With
/// --compact, every instruction that has an 8-byte form gets it. The distances of jumps to labels
/// are computed afterwards. Without -o, the bytes are printed as hexadecimal text, in memory order,
/// one instruction per line.
///
/// Exit code: 0 assembled, 2 the text has errors.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx asm kernel.asm -o kernel.bin
  genx asm kernel.asm --compact --hex
  genx asm kernel.asm --gen g45 -o kernel.bin
  echo 'mov(8) g4<1>UD 7UD { align1 1Q };' | genx asm -
  genx asm kernel.asm -o - | genx disasm - --syntax mesa")]
pub struct Args {
    /// The assembly file; - for standard input
    file: PathBuf,
    /// Write the instructions to a file; - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The language. Default: detected from the text
    #[arg(long, value_name = "LANGUAGE")]
    syntax: Option<Language>,
    /// The GPU of the kernel: a generation (4, 4.5, 5 or 8) or a name (g45, broadwell). Kernels of
    /// GPUs before Broadwell are in Mesa's language
    #[arg(long, value_name = "GPU", default_value = "8", value_parser = generation)]
    r#gen: Generation,
    /// Write the bytes as hexadecimal text, one instruction per line
    #[arg(long)]
    hex: bool,
    /// Use the 8-byte form for every instruction that has one
    #[arg(long, conflicts_with = "no_compact")]
    compact: bool,
    /// Use the 16-byte form for every instruction, also for those marked as compacted
    #[arg(long)]
    no_compact: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let text = read_text(&args.file)?;
    let detected = || language(args.r#gen, &text);
    let syntax = args.syntax.map_or_else(detected, Syntax::from);
    let compaction = match (args.compact, args.no_compact) {
        (true, _) => Compaction::All,
        (_, true) => Compaction::None,
        _ => Compaction::AsWritten,
    };
    let assembly =
        assembled(&args.file, &text, syntax, &Options { compaction, generation: args.r#gen })?;
    let contents = match args.hex || args.output.is_none() {
        true => {
            let mut lines = String::new();
            for line in &assembly.lines {
                let start = line.located.position as usize;
                let end = start + line.located.instruction.length() as usize;
                let bytes: Vec<_> =
                    assembly.bytes[start..end].iter().map(|byte| format!("{byte:02x}")).collect();
                lines += &bytes.join(" ");
                lines.push('\n');
            }
            lines.into_bytes()
        }
        false => assembly.bytes,
    };
    match args.output.as_deref() {
        Some(path) if path != Path::new("-") => std::fs::write(path, contents)
            .map_err(|error| bad_input(format!("{}: {error}", path.display())))?,
        _ => stdout(|out| out.write_all(&contents))?,
    }
    Ok(Exit::Ok)
}
