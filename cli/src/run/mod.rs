//! `genx run`: executes a capture or an AUB file on the model and reports the results.
//!
//! * this file: the main sequence; `args`: the options;
//! * `capture`: runs captures and compares their expectations; `aub`: runs AUB files;
//! * `report`: the results as text and JSON; `tables`: the details of `--stats`; `sanitized`: the
//!   findings of `--sanitize`;
//! * `listen`: the observers; `draws` and `frames`: `--observe`; `dump`: `--dump`; `error_state`:
//!   `--error-state`.

mod args;
mod aub;
mod capture;
pub(crate) mod draws;
mod dump;
mod error_state;
mod frames;
mod listen;
mod number;
mod report;
pub(crate) mod sanitized;
mod tables;

use crate::check;
use crate::output::{Error, Exit, stdout};
use listen::Listeners;
use report::{Report, Verdict};
use std::path::Path;
use std::time::Instant;

pub use args::Args;

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<Exit, Error> {
    let mut listeners = Listeners::new(args)?;
    let start = Instant::now();
    let aub = args.input == Path::new("-") || args.input.is_file();
    let mut report =
        if aub { aub::run(args, &mut listeners)? } else { capture::run(args, &mut listeners)? };
    report.elapsed = start.elapsed();
    listeners.finish(&mut report)?;
    finish(args, &report)
}

/// Prints the report. The worst result determines the exit code.
fn finish(args: &Args, report: &Report) -> Result<Exit, Error> {
    let ran = match report.verdict() {
        Verdict::Ok => Exit::Ok,
        Verdict::Differs => Exit::Differs,
        Verdict::Broken => Exit::BadInput,
        Verdict::Stopped => Exit::Fault,
    };
    let checked = report.checked.as_ref().map_or(Exit::Ok, |(_, summary)| check::exit(summary));
    let sanitized = report.sanitized.as_ref().map_or(Exit::Ok, sanitized::exit);
    let exit = ran.max(checked).max(sanitized);
    if args.json {
        let value = report.json(exit);
        stdout(|out| writeln!(out, "{value:#}"))?;
    } else {
        report.complain();
        stdout(|out| report.text(out))?;
    }
    Ok(exit)
}
