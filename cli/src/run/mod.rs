//! `genx run`: executes a capture or an AUB file on the model and reports what it did.
//!
//! * this file: the options and the way through them;
//! * `capture`: captures, whose expectations are compared; `aub`: files for simulators;
//! * `report`: what the run came to, as text and JSON; `tables`: the details of `--stats`;
//! * `listen`: the traces; `draws`: `--observe draw`; `dump`: `--dump`; `error_state`:
//!   `--error-state`.

mod aub;
mod capture;
mod draws;
mod dump;
mod error_state;
mod listen;
mod report;
mod tables;

use crate::check;
use crate::output::{Error, Exit, stdout};
use genxml_sim::Gpu;
use listen::Listeners;
use report::{Report, Verdict};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Execute a capture on the model and compare memory with what the capture expects, or execute an
/// AUB file.
///
/// After a fault nothing more runs: submissions count if they ran to their end, and the JSON has
/// `"ok": null` for expectations that were not reached. An AUB file runs as far as it can be read.
/// Results are the same for any number of threads; with --stats, --observe and the traces, thread
/// groups and tiles of the screen run one after the other.
///
/// Exit code: 0 all well, 1 an expectation differs or --check finds an error, 2 unusable input, 3 a
/// GPU fault, a hang, or something that the model does not implement.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  genx run captures/gpgpu_fill
  genx run captures/gpgpu_fill --dump out --stats
  genx run captures/gpgpu_fill --json | jq .expectations
  genx run captures/gpgpu_fill --trace fill.json      open it in ui.perfetto.dev
  genx run captures/kmscube --observe draw --dump out   each draw, with its targets before and after
  genx run captures/hang --error-state hang.error     what is left of a hang, for genx decode
  genx run saxpy.aub.xz --stats                       what intel_dump_gpu recorded")]
pub struct Args {
    /// A capture directory, with manifest.json and data.bin.zst, or an AUB file, plain or
    /// compressed (xz, gzip, zstd); `-` reads one from standard input
    input: PathBuf,
    /// Check the capture against the programming restrictions of the manual too, as `genx check`
    /// does
    #[arg(long)]
    check: bool,
    /// Write the memory that each expectation names to DIR/NAME.bin, and each frame to
    /// DIR/frameN.png; with --observe draw also what draws write to
    ///
    /// For draw N, before and after it: DIR/drawN-before-rt0.png, DIR/drawN-after-rt0.png and so on
    /// for each render target, drawN-...-depth.png and drawN-...-stencil.png if there are such
    /// tests. They show the level and first slice that is drawn to, sample 0, without alpha; blocks
    /// that a fast clear left have the clear colour. Depth is white where it is 1, else grey from
    /// the least one in black to the greatest.
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// On a fault or hang, write what is left to FILE as the error state of i915: registers, ring,
    /// batch and all memory of the context, compressed if the name ends in .gz, .xz or .zst;
    /// without one no file is written
    #[arg(long, value_name = "FILE")]
    error_state: Option<PathBuf>,
    /// Print a paragraph for each of these, with --json an object in `draws`
    ///
    /// draw, submission (both from 1 on), address, batch, topology, vertices, start_vertex,
    /// base_vertex, instances, start_instance, indirect, indices (format, address, bytes; null
    /// without), shaders (stage, kernels: dispatch, offset, address), stream_output, rasterised,
    /// targets (binding, format, width, height, level, first_slice, samples, tiling, pitch,
    /// address, auxiliary, blend), more_targets (true if the kernel computes some), depth and
    /// stencil (null without), samples, cull, viewports, scissors, counts (null if a fault ended
    /// the draw; null for what its state does not count), pictures, problems.
    #[arg(long, value_name = "WHAT")]
    observe: Option<Observed>,
    /// Print tables of what ran: by engine, kind of packet, kernel and kind of message
    #[arg(long)]
    stats: bool,
    /// Write a trace to FILE that Perfetto opens: batches, packets and thread groups by engine, in
    /// the model's time
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a line per packet and thread to FILE
    #[arg(long, value_name = "FILE")]
    trace_text: Option<PathBuf>,
    /// In the text trace, a line per EU instruction too
    #[arg(long, requires = "trace_text")]
    trace_instructions: bool,
    /// Print one JSON object instead of text
    ///
    /// input, exit, submissions, expectations (name, after_exec, ok, first_difference), fault (exec
    /// or byte, text, engine, packet, address, batch, batch_offset, kernel, ip; null if there was
    /// none), stats (batches, packets, groups, threads, instructions, messages, pixels, bytes_read,
    /// bytes_written), engines (engine, packets), seconds, instructions_per_second; of captures
    /// also capture and submissions_in_capture, of AUB files aub (kind, pci_id, application); with
    /// --check the object of `genx check`, with --observe draw draws, with --stats tables (engines,
    /// packets, kernels, messages). Times in tables are the model's, in units of about a
    /// nanosecond. All but seconds and instructions_per_second is the same whenever the same is
    /// run.
    #[arg(long)]
    json: bool,
    /// Worker threads of the host, all cores if not said; results are the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    threads: Option<u32>,
    /// Units of work (EU instructions, pixels, packets) after which a submission counts as hanging
    #[arg(long, value_name = "UNITS")]
    work_limit: Option<u64>,
}

/// What --observe shows.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Observed {
    /// Draws: vertices, shaders, render targets, depth and stencil, viewport, and what was counted
    Draw,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let mut listeners = Listeners::new(args)?;
    let start = Instant::now();
    let aub = args.input == Path::new("-") || args.input.is_file();
    let mut report =
        if aub { aub::run(args, &mut listeners)? } else { capture::run(args, &mut listeners)? };
    report.elapsed = start.elapsed();
    (report.tally, report.draws) = listeners.finish(report.stop.as_ref())?;
    finish(args, &report)
}

/// Sets what the arguments say about the model.
fn set_up(args: &Args, gpu: &mut Gpu) {
    if let Some(units) = args.work_limit {
        gpu.set_work_limit(units);
    }
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    gpu.set_threads(args.threads.map_or_else(cores, |threads| threads as usize));
}

/// Prints the report; the worst that happened is how the command ends.
fn finish(args: &Args, report: &Report) -> Result<Exit, Error> {
    let ran = match report.verdict() {
        Verdict::Ok => Exit::Ok,
        Verdict::Differs => Exit::Differs,
        Verdict::Broken => Exit::BadInput,
        Verdict::Stopped => Exit::Fault,
    };
    let exit =
        report.checked.as_ref().map_or(Exit::Ok, |(_, summary)| check::exit(summary)).max(ran);
    if args.json {
        let value = report.json(exit);
        stdout(|out| writeln!(out, "{value:#}"))?;
    } else {
        report.complain();
        stdout(|out| report.text(out))?;
    }
    Ok(exit)
}
