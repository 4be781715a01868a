//! Runs AUB files: reads every block in order, and runs engines when the file starts them.

use super::args::Args;
use super::dump::Dump;
use super::error_state;
use super::listen::Listeners;
use super::report::{Input, Report, Stop};
use crate::output::{Error, bad_input};
use crate::progress;
use genxml::aub::Reader;
use genxml::eu::Generation;
use genxml_sim::aub::{AubReplay, Step};
use indicatif::ProgressBar;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Runs the file that the arguments name.
pub fn run(args: &Args, listeners: &mut Listeners) -> Result<Report, Error> {
    let path = &args.input;
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
    let refuse =
        |option: &str, why: &str| Err(bad_input(format!("{}: {option}: {why}", path.display())));
    if args.check {
        return refuse("--check", "only captures can be checked; genx check accepts AUB files");
    }
    match &args.dump {
        Some(_) if args.observe.is_none() => {
            let why = "the values that an AUB file states have no names, so only the targets of \
                       draws and decoded pictures can be dumped: add --observe draw or --observe \
                       frame";
            return refuse("--dump", why);
        }
        Some(directory) => drop(Dump::new(directory)?),
        None => {}
    }
    let (input, progress): (Box<dyn Read>, _) = if path == Path::new("-") {
        (Box::new(io::stdin().lock()), ProgressBar::hidden())
    } else {
        let file =
            File::open(path).map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
        let size = file.metadata().map_or(0, |meta| meta.len());
        let progress = progress::of_bytes(size, args.json);
        (Box::new(progress.wrap_read(file)), progress)
    };
    let cannot_read =
        |error: &dyn std::fmt::Display| bad_input(format!("{}: {error}", path.display()));
    let mut replay = AubReplay::new(Reader::new(input).map_err(|error| cannot_read(&error))?);
    args.set_up(replay.gpu());
    listeners.select(args, Generation::Gen8)?;
    let mut report = Report::new(&name, path, Input::Aub);
    while report.stop.is_none() {
        let step = match listeners.any() {
            true => replay.step_observed(listeners),
            false => replay.step(),
        };
        match step {
            Ok(None) => break,
            Ok(Some(Step::Header(header))) => report.header = Some(header),
            Ok(Some(Step::Ran { result: Ok(stats), .. })) => {
                report.stats += stats;
                report.submissions += 1;
            }
            Ok(Some(Step::Ran { position, result: Err(fault) })) => {
                report.stats += replay.gpu().last_stats();
                if let Some(path) = &args.error_state {
                    let number = report.submissions;
                    error_state::of_aub(
                        path,
                        replay.gpu(),
                        report.header.as_ref(),
                        &name,
                        number,
                        &fault,
                    )?;
                }
                report.stop = Some(Stop::Fault { exec: None, byte: Some(position), fault });
            }
            Ok(Some(Step::Stuck(stuck))) => report.stop = Some(Stop::Stuck(stuck)),
            Ok(Some(Step::Compared(result))) => report.compared.push(result),
            // The file is not an AUB file, or is for another GPU: nothing has run.
            Err(error) if report.header.is_none() => return Err(cannot_read(&error)),
            Err(error) => report.stop = Some(Stop::Broken(error)),
        }
    }
    progress.finish_and_clear();
    if report.submissions == 0 && report.stop.is_none() {
        let contents = replay.contents();
        return Err(bad_input(format!(
            "{}: the AUB file starts no work on an engine; it has {contents}: record it until the \
             program has submitted its work",
            path.display()
        )));
    }
    Ok(report)
}
