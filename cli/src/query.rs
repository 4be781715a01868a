//! `genx query`: lists draws and state writes of a dump.

use crate::filter::{Filters, known_container};
use crate::generation::Choice;
use crate::input::{Input, address};
use crate::output::{Error, Exit, bad_input, stdout};
use genxml::decode::{Decoder, JsonWriter, Options, Sink, Tables, TextWriter};
use genxml::dump::Dump;
use genxml::query::{
    Draw, Draws, Filtered, Glob, Kernel, Target, What, Write as StateWrite, Writes, in_effect,
};
use serde_json::json;
use std::io::{self, Write};

/// List the draws of a dump, the writes of a state, or the state of a draw.
///
/// --draws lists each draw and dispatch. A dispatch is a packet that starts threads without a draw,
/// such as GPGPU_WALKER. --state NAME lists each packet, structure and register write with this
/// name. --register R lists each write of a register.
///
/// With --before-draw N, --state and --register list only the last write before draw N in the
/// context of this draw. If the state is a table, they list the last write of each entry.
/// --before-draw N alone lists all state that is in effect at draw N. The fields of this state are
/// printed only with --json.
///
/// Exit code: 0 found, 1 nothing found, 2 unusable input, or an input without any work.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx query captures/triangle --draws
  genx query captures/triangle --draws --draw 7 --disassemble
  genx query captures/triangle --state 3DSTATE_PS --before-draw 7
  genx query captures/triangle --state 3DSTATE_PS --field 'Binding Table Entry Count'
  genx query captures/triangle --register 0x7034
  genx query captures/triangle --before-draw 7 --json | jq -r .name")]
#[command(group = clap::ArgGroup::new("question")
    .required(true)
    .multiple(true)
    .args(["draws", "state", "register", "before_draw"]))]
pub struct Args {
    #[command(flatten)]
    input: Input,
    /// List draws and dispatches: number, submission, address, topology, sizes, kernels with their
    /// length, render targets, depth and stencil buffer. --field has no effect on this list
    #[arg(long, conflicts_with_all = ["state", "register", "before_draw"])]
    draws: bool,
    /// With --draws: also print the instructions of the kernels
    #[arg(long, requires = "draws")]
    disassemble: bool,
    /// List the packets, structures or register writes with this name. * stands for any characters,
    /// ? for one
    #[arg(long, value_name = "NAME", conflicts_with = "register")]
    state: Option<String>,
    /// List the writes of this register, given by its byte offset or by its name in genx spec list
    #[arg(long, value_name = "R")]
    register: Option<String>,
    /// Only the last write before this draw. Draws are numbered as --draws lists them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    before_draw: Option<u64>,
    /// Print one JSON object per line instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    filters: Filters,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    if args.filters.has_draws() && args.before_draw.is_some() {
        return Err(bad_input("--before-draw counts all draws: it cannot be used with --draw"));
    }
    let mut dump = args.input.open()?;
    let tables = args.choice.tables(&args.input.name(), &dump)?;
    let what = what(args, tables)?;
    let found = match (&what, args.before_draw) {
        (None, None) => draws(args, tables, &mut dump),
        (Some(what), None) => writes(args, tables, &mut dump, what),
        (what, Some(draw)) => before(args, tables, &mut dump, what.as_ref(), draw),
    };
    args.input.report(&dump);
    Ok(if found? { Exit::Ok } else { Exit::Differs })
}

/// The state that --state or --register selects; `None` without these options.
fn what(args: &Args, tables: &Tables) -> Result<Option<What>, Error> {
    match (&args.state, &args.register) {
        (Some(name), _) => {
            let glob = Glob::new(name);
            known_container(tables, &glob)?;
            Ok(Some(What::Named(glob)))
        }
        (None, Some(register)) => match address(register) {
            Ok(offset) => {
                let offset = u32::try_from(offset).ok().filter(|offset| offset.is_multiple_of(4));
                let offset = offset.ok_or_else(|| {
                    bad_input(format!(
                        "{register}: the offset of a register has 32 bits and is a multiple of 4"
                    ))
                })?;
                Ok(Some(What::Register(offset)))
            }
            Err(_) => {
                let glob = Glob::new(register);
                known_container(tables, &glob)?;
                Ok(Some(What::Named(glob)))
            }
        },
        (None, None) => Ok(None),
    }
}

/// Decodes the whole dump into a sink. A dump without any work is an error.
fn decode(args: &Args, tables: &Tables, dump: &mut Dump, sink: &mut dyn Sink) -> Result<(), Error> {
    let options = Options { kernels: args.disassemble, every_draw: true, ..Options::default() };
    let decoded = Decoder::new(tables, options).submissions(dump, sink);
    match decoded.and_then(|_| sink.finish()) {
        Ok(()) => args.input.readable(dump),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(bad_input(format!("{}: {error}", args.input.path().display()))),
    }
}

fn draws(args: &Args, tables: &Tables, dump: &mut Dump) -> Result<bool, Error> {
    let filter = args.filters.filter(tables)?;
    let mut all = Vec::new();
    let mut each = |draw: &Draw| {
        let packet =
            filter.packets.is_empty() || filter.packets.iter().any(|glob| glob.matches(draw.name));
        let number = filter.draws.as_ref().is_none_or(|draws| draws.contains(&draw.number));
        let exec = filter.submissions.as_ref().is_none_or(|execs| execs.contains(&draw.submission));
        let place = filter.ranges.is_empty()
            || filter.ranges.iter().any(|range| range.contains(&draw.address));
        if packet && number && exec && place {
            all.push(draw.clone());
        }
        Ok(())
    };
    decode(args, tables, dump, &mut Draws::new(&mut each))?;
    stdout(|out| {
        all.iter().try_for_each(|draw| match args.json {
            true => writeln!(out, "{}", json!(draw)),
            false => write_draw(out, draw),
        })
    })?;
    if all.is_empty() && !args.json {
        eprintln!("genx: no draw");
    }
    Ok(!all.is_empty())
}

fn write_draw(out: &mut dyn Write, draw: &Draw) -> io::Result<()> {
    let Draw { number, submission, address, name, topology, .. } = draw;
    write!(out, "{number:>5}  exec {submission}  {address:#014x}  {name}")?;
    if let Some(topology) = topology {
        write!(out, "  {topology}")?;
    }
    let sizes: Vec<String> =
        draw.sizes.iter().map(|(name, value)| format!("{name} {value}")).collect();
    write!(out, "  {}", sizes.join(", "))?;
    let kernel = |kernel: &Kernel| {
        let length = kernel.length.map(|length| format!(" of {length} bytes")).unwrap_or_default();
        format!("{} {:#x}{length}", kernel.stage, kernel.address)
    };
    let kernels: Vec<String> = draw.kernels.iter().map(kernel).collect();
    if !kernels.is_empty() {
        write!(out, "; kernels: {}", kernels.join(", "))?;
    }
    let targets: Vec<String> = draw.targets.iter().map(target).collect();
    if !targets.is_empty() {
        write!(out, "; targets: {}", targets.join(", "))?;
    }
    for (name, buffer) in [("depth", &draw.depth), ("stencil", &draw.stencil)] {
        if let Some(buffer) = buffer {
            write!(out, "; {name}: {}", target(buffer))?;
        }
    }
    writeln!(out)?;
    for kernel in draw.kernels.iter().filter(|kernel| !kernel.lines.is_empty()) {
        writeln!(out, "       {} {:#x}:", kernel.stage, kernel.address)?;
        for (offset, line) in kernel.lines.iter() {
            writeln!(out, "         {offset:#06x}  {line}")?;
        }
    }
    Ok(())
}

fn target(target: &Target) -> String {
    let mut text = format!("{:#x}", target.address);
    if let (Some(width), Some(height)) = (target.width, target.height) {
        text += &format!(" {width} x {height}");
    }
    if let Some(depth) = target.depth.filter(|depth| *depth > 1) {
        text += &format!(" x {depth}");
    }
    text + &target.format.map(|format| format!(" {format}")).unwrap_or_default()
}

fn writes(args: &Args, tables: &Tables, dump: &mut Dump, what: &What) -> Result<bool, Error> {
    let mut all = Vec::new();
    let mut each = |write: &StateWrite| {
        all.push(write.clone());
        Ok(())
    };
    let mut sink = Writes::new(what, &mut each);
    decode(args, tables, dump, &mut sink)?;
    show(args, tables, &all, true)
}

fn before(
    args: &Args,
    tables: &Tables,
    dump: &mut Dump,
    what: Option<&What>,
    draw: u64,
) -> Result<bool, Error> {
    let mut sink = in_effect(what, draw);
    decode(args, tables, dump, &mut sink)?;
    let there = sink.draws();
    match sink.writes() {
        Some(all) => show(args, tables, &all, what.is_some()),
        None => Err(bad_input(format!("there is no draw {draw}: the dump has {there}"))),
    }
}

/// Prints the writes that the filters select. In text without `fields`, prints only the first line
/// of each. Returns false if nothing was printed.
fn show(args: &Args, tables: &Tables, all: &[StateWrite], fields: bool) -> Result<bool, Error> {
    let filter = args.filters.filter(tables)?;
    let mut found = false;
    stdout(|out| {
        for write in all {
            if filter.submissions.as_ref().is_some_and(|execs| !execs.contains(&write.submission))
                || filter.draws.as_ref().is_some_and(|draws| !draws.contains(&write.before_draw))
            {
                continue;
            }
            let filter = genxml::query::Filter { draws: None, submissions: None, ..filter.clone() };
            let record = record(write, args.json, &filter)?;
            if record.is_empty() {
                continue;
            }
            found = true;
            if args.json {
                let mut value = json!({
                    "exec": write.submission,
                    "context": write.context,
                    "engine": write.engine.name(),
                    "before_draw": write.before_draw,
                    "packet": {"name": write.packet.0, "address": format!("{:#x}", write.packet.1)},
                    "name": write.record.name,
                });
                value["record"] = serde_json::from_slice(&record).unwrap_or_default();
                writeln!(out, "{value}")?;
                continue;
            }
            write!(out, "exec {}, before draw {}", write.submission, write.before_draw)?;
            let (packet, at) = write.packet;
            match packet == write.record.name {
                true => writeln!(out, ":")?,
                false => writeln!(out, ", by {packet} at {at:#x}:")?,
            }
            match fields {
                true => out.write_all(&record)?,
                false => out.write_all(
                    record.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default(),
                )?,
            }
        }
        Ok(())
    })?;
    if !found && !args.json {
        eprintln!("genx: no write of this state is found");
    }
    Ok(found)
}

/// A record as text or as a line of JSON; empty if the filter leaves it out.
fn record(write: &StateWrite, json: bool, filter: &genxml::query::Filter) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let options = Options::default();
    let (mut text, mut lines);
    let sink: &mut dyn Sink = match json {
        true => {
            lines = JsonWriter::new(&mut out, &options);
            &mut lines
        }
        false => {
            text = TextWriter::new(&mut out, &options);
            &mut text
        }
    };
    let mut filtered = Filtered::new(filter, sink);
    filtered.record(&write.record)?;
    filtered.finish()?;
    Ok(out)
}
