//! `genx disasm`: disassembles a kernel.

use crate::assembly::{Form, Language, read_kernel};
use crate::output::{Error, Exit, bad_input, stdout};
use genxml_eu::disasm::listing;
use genxml_eu::kernel::{instructions, length_until_eot};
use genxml_eu::syntax::Syntax;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Disassemble a kernel in the language of Intel's assembler (IGA) or of Mesa's.
///
/// Bytes that are not an instruction are printed as a comment that gives the reason. Disassembly
/// continues after them. `genx asm` accepts the output, and skips the comments.
///
/// Exit code: 0 all bytes are instructions, 1 some are not, 2 unusable input.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx disasm kernel.bin
  genx disasm kernel.bin --syntax mesa
  genx disasm shader.hex --offset 0x40 --until-eot
  genx disasm kernel.bin --json | jq -r 'select(.opcode == \"send\") | .text'")]
pub struct Args {
    /// The kernel; - for standard input
    file: PathBuf,
    /// Language of the output
    #[arg(long, value_name = "LANGUAGE", default_value = "iga")]
    syntax: Language,
    /// Format of the file. Default: by the suffix of its name. Files with the suffix asm, s or iga
    /// are assembly. Files with the suffix hex, expected or txt are hexadecimal text. All others,
    /// and standard input, are binary
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// Byte offset in the file at which disassembly starts
    #[arg(long, value_name = "N", default_value = "0", value_parser = crate::input::address)]
    offset: u64,
    /// Number of bytes to disassemble. Default: up to the end of the file
    #[arg(
        long,
        value_name = "N",
        value_parser = crate::input::address,
        conflicts_with = "until_eot"
    )]
    length: Option<u64>,
    /// Stop after the first instruction that ends the thread
    #[arg(long)]
    until_eot: bool,
    /// Print one JSON object per instruction, each in one line: offset (from --offset), bytes,
    /// opcode, text, compacted, targets, ends_thread. For bytes that are not an instruction:
    /// offset, bytes, error
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let bytes = read_kernel(&args.file, args.form)?;
    let past = |what: &str, value: u64| {
        bad_input(format!(
            "{}: {what} {value:#x} is after the end: the file has {:#x} bytes",
            args.file.display(),
            bytes.len()
        ))
    };
    let start = usize::try_from(args.offset).ok().filter(|start| *start <= bytes.len());
    let mut kernel = &bytes[start.ok_or_else(|| past("offset", args.offset))?..];
    if let Some(length) = args.length {
        let end = usize::try_from(length).ok().filter(|end| *end <= kernel.len());
        kernel = &kernel[..end.ok_or_else(|| past("the end of length", length))?];
    }
    if args.until_eot {
        let length = length_until_eot(kernel).map_err(|error| {
            bad_input(format!("{}: no end of thread: {error}", args.file.display()))
        })?;
        kernel = &kernel[..length as usize];
    }
    let syntax = Syntax::from(args.syntax);
    let bad = instructions(kernel).any(|line| line.is_err());
    match args.json {
        true => {
            stdout(|out| json_lines(kernel, syntax).try_for_each(|line| writeln!(out, "{line}")))?
        }
        false => stdout(|out| out.write_all(listing(kernel, syntax).as_bytes()))?,
    }
    Ok(if bad { Exit::Differs } else { Exit::Ok })
}

fn json_lines(kernel: &[u8], syntax: Syntax) -> impl Iterator<Item = Value> {
    let bytes = move |position: u64, length: usize| -> String {
        let start = position as usize;
        let end = (start + length).min(kernel.len());
        kernel[start..end].iter().map(|byte| format!("{byte:02x}")).collect()
    };
    instructions(kernel).map(move |line| match line {
        Ok(located) => {
            let instruction = &located.instruction;
            let text = located.display(syntax).to_string();
            json!({
                "offset": located.position,
                "bytes": bytes(located.position, instruction.length() as usize),
                "opcode": instruction.opcode.name(),
                "text": text.split_whitespace().collect::<Vec<_>>().join(" "),
                "compacted": instruction.compacted,
                "targets": located.targets().collect::<Vec<_>>(),
                "ends_thread": instruction.ends_thread(),
            })
        }
        Err(error) => json!({
            "offset": error.position,
            "bytes": bytes(error.position, 4 * error.raw.dwords().len()),
            "error": error.problem.to_string(),
        }),
    })
}
