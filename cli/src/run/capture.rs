//! Runs captures: every submission in order, with memory compared with the expectations.

use super::args::Args;
use super::dump::Dump;
use super::error_state;
use super::listen::Listeners;
use super::report::{Compared, Input, Report, Stop};
use crate::output::{Error, bad_input};
use crate::progress;
use genxml::capture::Capture;
use genxml::check::{self as rules, Finding, Rules, Summary};
use genxml::eu::Generation;
use genxml_sim::inspect::sanitize::QUARANTINE;
use genxml_sim::replay::{Replay, Step};

/// Runs the capture that the arguments name.
pub fn run(args: &Args, listeners: &mut Listeners) -> Result<Report, Error> {
    let capture = Capture::open(&args.input).map_err(bad_input)?;
    let generation = match capture.device().generation {
        45 => Generation::Gen45,
        _ => Generation::Gen8,
    };
    listeners.select(args, generation)?;
    let mut replay = Replay::new(&capture);
    if listeners.sanitizes() {
        replay.quarantine(QUARANTINE);
    }
    let mut dump = args.dump.as_deref().map(Dump::new).transpose()?;
    let mut report = Report::new(capture.name(), &args.input, Input::Capture);
    report.checked = args.check.then(|| checked(&capture));
    report.planned = Some(capture.execs().count() as u64);
    let progress = progress::of_submissions(capture.execs().count() as u64, args.json);

    args.set_up(replay.gpu());
    while report.stop.is_none() {
        let step = match listeners.any() {
            true => replay.step_observed(listeners),
            false => replay.step(),
        };
        let Some(step) = step else { break };
        match step {
            Step::Exec { exec, result } => {
                match result {
                    Ok(more) => {
                        report.stats += more;
                        report.submissions += 1;
                    }
                    Err(fault) => {
                        report.stats += replay.gpu().last_stats();
                        if let Some(path) = &args.error_state {
                            error_state::of_exec(path, &mut replay, &capture, exec, &fault)?;
                        }
                        report.stop = Some(Stop::Fault { exec: Some(exec.seq), byte: None, fault });
                    }
                }
                progress.inc(1);
            }
            Step::Expectation { expectation, result } => {
                if let Some(dump) = &mut dump {
                    dump.expectation(expectation, replay.bytes(expectation.object))?;
                }
                report.expectations.push(Compared::new(expectation, Some(result.err())));
            }
            Step::Frame(frame) => {
                if let Some(dump) = &mut dump {
                    dump.frame(frame, replay.bytes(frame.object))?;
                }
            }
            Step::Free(_) => {}
        }
    }
    progress.finish_and_clear();
    // A fault ends the run; the expectations after it were not reached.
    let rest = capture.expectations().skip(report.expectations.len());
    report.expectations.extend(rest.map(|expectation| Compared::new(expectation, None)));
    Ok(report)
}

/// The findings of the rules engine in the capture.
fn checked(capture: &Capture) -> (Vec<Finding>, Summary) {
    let (mut source, mut findings) = (capture, Vec::new());
    let rules = match capture.device().generation {
        45 => Rules::gen45(),
        _ => Rules::gen8(),
    };
    let summary = rules::dump(&mut source, &rules, &mut |finding| findings.push(finding.clone()));
    (findings, summary)
}
