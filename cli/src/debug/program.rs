//! The program that is debugged: a capture or an AUB file.

use crate::output::{Error, bad_input};
use genxml::aub::Reader;
use genxml::capture::Capture;
use genxml_sim::Gpu;
use genxml_sim::aub::AubReplay;
use genxml_sim::debugger::{AubProblem, Options, of_aub, of_capture};
use genxml_sim::inspect::debugger::{Breakpoints, Controller};
use std::path::Path;

/// Debugs a capture or an AUB file until the controller quits.
pub fn debug(
    path: &Path,
    work_limit: Option<u64>,
    breakpoints: Breakpoints,
    controller: &mut dyn Controller,
) -> Result<(), Error> {
    let set_up = |gpu: &mut Gpu| {
        if let Some(units) = work_limit {
            gpu.set_work_limit(units);
        }
    };
    if path == Path::new("-") {
        return Err(bad_input(
            "steps back need further runs, so the input cannot be standard input; write it to a \
             file",
        ));
    }
    if !path.is_file() {
        let capture = Capture::open(path)
            .map_err(|error| bad_input(format!("{}: {error}", path.display())))?;
        let options = Options { set_up: &set_up, ..Options::default() };
        of_capture(&capture, breakpoints, &options, controller);
        return Ok(());
    }
    let mut open = || {
        let reader = Reader::open(path).map_err(|error| AubProblem::File(error.to_string()))?;
        let mut replay = AubReplay::new(reader);
        set_up(replay.gpu());
        Ok(replay)
    };
    of_aub(breakpoints, &mut open, controller)
        .map_err(|error| bad_input(format!("{}: {error}", path.display())))
}
