//! `genx disasm`: disassembles a kernel.

use crate::assembly::{Form, Language};
use crate::code::Kernel;
use crate::input::address;
use crate::output::{Error, Exit, bad_input, stdout};
use crate::tables::gpu;
use genxml::decode::generation_name;
use genxml_eu::disasm::write_listing_on;
use genxml_eu::kernel::{Code, Instructions, Located, end_of_thread_on};
use genxml_eu::syntax::Syntax;
use genxml_eu::{DecodeError, Generation};
use serde_json::{Value, json};
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

/// Disassemble a kernel in the language of Intel's assembler (IGA) or of Mesa's.
///
/// Bytes that are not an instruction are printed as a comment that gives the reason. Disassembly
/// continues after them. `genx asm` accepts the output for Gen8, and Mesa's for older GPUs, and
/// skips the comments.
///
/// Exit code: 0 all bytes are instructions, 1 some are not, 2 unusable input.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx disasm kernel.bin
  genx disasm kernel.bin --syntax mesa
  genx disasm kernel.bin --gen 9 --syntax mesa
  genx disasm kernel.bin --gen g45
  genx disasm shader.hex --offset 0x40 --until-eot
  genx disasm kernel.bin --json | jq -r 'select(.opcode == \"send\") | .text'")]
pub struct Args {
    /// The kernel; - for standard input
    file: PathBuf,
    /// Language of the output. Default: IGA's; that of Mesa for GPUs before Broadwell, for which
    /// IGA has no language
    #[arg(long, value_name = "LANGUAGE")]
    syntax: Option<Language>,
    /// The GPU of the kernel: a generation (4, 4.5, 5, 8, 9, 11 or 12) or a name (g45, broadwell,
    /// skylake, icelake, tigerlake)
    #[arg(long, value_name = "GPU", default_value = "8", value_parser = generation)]
    r#gen: Generation,
    /// Format of the file. Default: by the suffix of its name. Files with the suffix asm, s or iga
    /// are assembly. Files with the suffix hex, expected or txt are hexadecimal text. All others,
    /// and standard input, are binary
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// Byte offset in the file at which disassembly starts
    #[arg(long, value_name = "N", default_value = "0", value_parser = address)]
    offset: u64,
    /// Number of bytes to disassemble, a multiple of 8. Default: up to the end of the file
    #[arg(long, value_name = "N", value_parser = whole_instructions, conflicts_with = "until_eot")]
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

impl Args {
    fn language(&self) -> Syntax {
        match self.syntax {
            Some(language) => language.into(),
            None if self.r#gen.has_message_registers() => Syntax::Mesa,
            None => Syntax::Iga,
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let mut kernel = Kernel::open(&args.file, args.form)?;
    kernel.cut(args.offset, args.length)?;
    if args.until_eot {
        let length = end_of_thread_on(args.r#gen, &mut kernel);
        kernel.checked()?;
        let length = length.map_err(|error| {
            bad_input(format!("{}: no end of thread: {error}", args.file.display()))
        })?;
        kernel.cut(0, Some(length))?;
    }
    let bad = Instructions::of(&mut kernel).on(args.r#gen).any(|line| line.is_err());
    kernel.checked()?;
    stdout(|out| match args.json {
        true => write_json(out, &mut kernel, args),
        false => write_text(out, &mut kernel, args),
    })?;
    kernel.checked()?;
    let whole = rest(&mut kernel).is_none();
    Ok(if bad || !whole { Exit::Differs } else { Exit::Ok })
}

/// Parses --gen.
fn generation(text: &str) -> Result<Generation, String> {
    let number = gpu(text)?;
    Generation::of(number).ok_or_else(|| {
        let of = generation_name(number);
        format!(
            "instructions of {of} cannot be disassembled, only those of Gen4, Gen4.5, Gen5, Gen8, \
             Gen9, Gen11 and Gen12"
        )
    })
}

/// Parses --length.
fn whole_instructions(text: &str) -> Result<u64, String> {
    let length = address(text)?;
    match length.is_multiple_of(8) {
        true => Ok(length),
        false => Err("not a multiple of 8: an instruction has 8 or 16 bytes".to_owned()),
    }
}

/// The position and the bytes of an incomplete dword at the end, as text.
fn rest(kernel: &mut Kernel) -> Option<(u64, String)> {
    let position = kernel.length() / 4 * 4;
    let rest = kernel.bytes(position);
    (!rest.is_empty()).then(|| (position, hex(rest)))
}

/// Comment for an incomplete dword at the end of the file.
const INCOMPLETE: &str = "the end of the file is not a whole instruction";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Standard output for text. The error of the first failed write is stored here, because
/// [`fmt::Error`] has no contents.
struct Text<'a> {
    out: &'a mut dyn Write,
    failed: Option<io::Error>,
}

impl fmt::Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.failed = Some(error);
            fmt::Error
        })
    }
}

fn write_text(out: &mut dyn Write, kernel: &mut Kernel, args: &Args) -> io::Result<()> {
    let mut text = Text { out, failed: None };
    let listed = write_listing_on(args.r#gen, &mut text, &mut *kernel, args.language());
    if listed.is_err() {
        return Err(text.failed.unwrap_or_else(|| io::Error::other("no text")));
    }
    match rest(kernel) {
        Some((position, bytes)) => {
            writeln!(out, "        // {bytes} at byte {position:#x}: {INCOMPLETE}")
        }
        None => Ok(()),
    }
}

fn write_json(out: &mut dyn Write, kernel: &mut Kernel, args: &Args) -> io::Result<()> {
    let mut position = 0;
    loop {
        // The iterator borrows the kernel, so it is dropped before `json_line` reads the bytes of
        // the instruction again.
        let mut all = Instructions::from_position(&mut *kernel, position).on(args.r#gen);
        let Some(line) = all.next() else { break };
        position = all.position();
        writeln!(out, "{}", json_line(kernel, line, args.language()))?;
    }
    match rest(kernel) {
        Some((offset, bytes)) => {
            writeln!(out, "{}", json!({"offset": offset, "bytes": bytes, "error": INCOMPLETE}))
        }
        None => Ok(()),
    }
}

fn json_line(kernel: &mut Kernel, line: Result<Located, DecodeError>, syntax: Syntax) -> Value {
    let mut bytes = |position: u64, length: usize| {
        let bytes = kernel.bytes(position);
        hex(&bytes[..length.min(bytes.len())])
    };
    match line {
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
    }
}
