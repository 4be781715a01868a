//! `genx bisect`: finds where two captures part that should give the same pictures.
//!
//! * this file: the options and the main sequence; `text` and `json`: the two formats.

mod json;
mod text;

use crate::output::{Error, Exit, Format, bad_input, stdout};
use crate::why::exit_of_stop;
use genxml_sim::Gpu;
use genxml_sim::bisect::{Report, Verdict, find, find_thorough};
use genxml_sim::runs::Input;
use std::path::{Path, PathBuf};

/// Find the first difference of two runs that should give the same pictures: the draw, the
/// primitive, the instruction and the value. The inputs are captures or AUB files, for example from
/// a good and a bad version of a driver.
///
/// Both inputs run several times on the model. Two draws are a pair if they have the same topology,
/// the same number of vertices, and targets of the same formats and sizes. So one run may have more
/// draws than the other. First, targets are compared after the last draw to them in each
/// submission. Then they are compared before and after each draw of the first submission with a
/// difference. A difference that a later draw of the same submission overwrites in both runs is
/// found only with --thorough.
///
/// For the first draw whose targets differ, the report has the differences of its state, and the
/// history of a pixel that differs: the first primitive and the first stage of the pipeline that
/// differ. If this stage is the pixel shader or comes before the rasteriser, its threads are
/// compared instruction by instruction. The report has the first instruction that writes different
/// values, with these values.
///
/// If a target already differs before the draw, the history says what wrote it: the program, a
/// clear, a blit, a copy or a dispatch.
///
/// With --thorough, the bytes that each packet writes are compared first: those of draws,
/// dispatches, blits and other packets, except times. Draws are paired as above, other packets by
/// their names. The report has the first pair that writes different bytes. If it is a pair of draws
/// with different targets, the rest of the report is as above.
///
/// If all draws leave the same values, dispatches are compared: the memory that each submission
/// with dispatches changes. This needs captures, because an AUB file has no objects.
///
/// Exit code: 0 no difference; 1 a difference, or a draw that only one run has; 2 unusable input; 3
/// no difference before a GPU fault, a hang, or something that the model does not implement.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx bisect captures/good captures/bad
  genx bisect mesa-25.0/game mesa-25.1/game --format json | jq '.pixel.stage'
  genx bisect good.aub.xz bad.aub.xz
  genx bisect captures/good captures/bad --thorough     also what a later packet overwrites")]
pub struct Args {
    /// The good run: a capture directory, or an AUB file, plain or compressed (xz, gzip, zstd)
    good: PathBuf,
    /// The bad run
    bad: PathBuf,
    /// text or json
    ///
    /// Members of the JSON object: good, bad (paths), exit, draws (number in each run), stops (text
    /// or null, for each run), unpaired (draws of only one run, for each run), result (same, draw,
    /// compute or packet), draw, pixel, threads, compute, packet (null if they do not apply). In
    /// members with two values, the first is that of the good run.
    ///
    /// Members of draw: draws (number, submission, exec, address, kind), target (name, format,
    /// width, height, addresses), before, problem, samples, rectangle, state (packet, field, old,
    /// new), only (names of packets). Members of pixel: pixel, sample, slice, histories (the
    /// entries of genx why), entries and fragments (indices of the first ones that differ), stage.
    /// Members of threads: stage, number, kernels, payload (register, values), instructions (step,
    /// offset, assembly), values (register, values).
    /// Members of compute: execs, dwords, objects, offset, values, writers (packet, address,
    /// dispatch, kernel, value). Members of packet: bytes (written by each run), addresses, values
    /// (both null if only the number or the positions of the bytes differ), writers (submission,
    /// exec, packet, address, draw, dispatch, kernel).
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,
    /// Compare what each packet writes. This also finds differences that the same submission
    /// overwrites, and takes about one and a half times as long
    #[arg(long)]
    thorough: bool,
    /// Maximum work of a submission, as in genx run
    #[arg(long, value_name = "UNITS", value_parser = clap::value_parser!(u64).range(1..))]
    work_limit: Option<u64>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let report = compare(args)?;
    for (path, stop) in [&args.good, &args.bad].into_iter().zip(&report.stops) {
        if let Some(stop) = stop {
            eprintln!("genx: {}: {stop}; the comparison ends there", path.display());
        }
    }
    let exit = match report.verdict {
        Verdict::Draw(_) | Verdict::Compute(_) | Verdict::Packet(_) => Exit::Differs,
        Verdict::Same if report.unpaired.iter().any(|works| !works.is_empty()) => Exit::Differs,
        Verdict::Same => report.stops.iter().flatten().map(exit_of_stop).next().unwrap_or(Exit::Ok),
    };
    match args.format {
        Format::Text => stdout(|out| text::write(out, [&args.good, &args.bad], &report))?,
        Format::Json => {
            let value = json::value([&args.good, &args.bad], exit, &report);
            stdout(|out| writeln!(out, "{value:#}"))?;
        }
    }
    Ok(exit)
}

fn compare(args: &Args) -> Result<Report, Error> {
    let set_up = |gpu: &mut Gpu| {
        if let Some(units) = args.work_limit {
            gpu.set_work_limit(units);
        }
    };
    let paths: [&Path; 2] = [&args.good, &args.bad];
    if paths.contains(&Path::new("-")) {
        return Err(bad_input(
            "a comparison needs several runs, so an input cannot be standard input; write it to a \
             file",
        ));
    }
    let open = |path: &Path| {
        Input::open(path).map_err(|error| bad_input(format!("{}: {error}", path.display())))
    };
    let (good, bad) = (open(&args.good)?, open(&args.bad)?);
    let find = if args.thorough { find_thorough } else { find };
    find([&good, &bad], &set_up).map_err(|error| bad_input(error.to_string()))
}
