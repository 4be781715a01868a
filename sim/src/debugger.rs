//! Runs a capture or an AUB file under a debugger: again and again, as steps back need it. See
//! [`crate::inspect::debugger`].

use crate::aub::{AubReplay, ReplayError, Step as AubStep, Stuck};
use crate::gpu::Gpu;
use crate::inspect::debugger::engine::{Controller, Engine, Next};
use crate::inspect::debugger::{Breakpoints, Position};
use crate::machine::fault::Fault;
use crate::replay::{Replay, Step};
use genxml::capture::{Capture, Event};
use genxml::eu::Generation;

/// Debugs a capture until the controller quits. `set_up` prepares the GPU of each run.
pub fn of_capture(
    capture: &Capture,
    breakpoints: Breakpoints,
    set_up: &dyn Fn(&mut Gpu),
    controller: &mut dyn Controller,
) {
    let generation = match capture.device().generation {
        45 => Generation::Gen45,
        _ => Generation::Gen8,
    };
    let mut engine = Engine::new(controller, breakpoints, generation);
    loop {
        engine.begin(Position::default());
        let mut replay = Replay::new(capture);
        set_up(replay.gpu());
        let mut fault = None;
        for event in capture.events() {
            if let Event::Exec(exec) = event {
                engine.label(exec.seq);
            }
            match replay.step_observed(&mut engine) {
                Some(Step::Exec { result: Err(error), .. }) => {
                    fault = Some(error);
                    break;
                }
                Some(_) => {}
                None => break,
            }
        }
        if engine.end(fault.as_ref(), None) == Next::Quit {
            return;
        }
    }
}

/// Why an AUB file cannot be debugged to its end.
#[derive(Debug, thiserror::Error)]
pub enum AubProblem {
    /// A part of the file cannot be used.
    #[error(transparent)]
    Broken(ReplayError),
    /// The file waits for something that no engine does.
    #[error(transparent)]
    Stuck(Stuck),
    /// The file cannot be opened.
    #[error("{0}")]
    File(String),
}

/// Debugs an AUB file until the controller quits. `open` opens the file for each run.
///
/// # Errors
/// If the file cannot be opened, or if a part of it cannot be used and nothing ran before it.
pub fn of_aub<'a>(
    breakpoints: Breakpoints,
    open: &mut dyn FnMut() -> Result<AubReplay<'a>, AubProblem>,
    controller: &mut dyn Controller,
) -> Result<(), AubProblem> {
    let mut engine = Engine::new(controller, breakpoints, Generation::Gen8);
    loop {
        engine.begin(Position::default());
        let mut replay = open()?;
        let (fault, problem) = run_aub(&mut replay, &mut engine);
        let text = match problem {
            Some(problem) if engine.position().packets == 0 => return Err(problem),
            problem => problem.map(|problem| problem.to_string()),
        };
        if engine.end(fault.as_ref(), text) == Next::Quit {
            return Ok(());
        }
    }
}

/// Runs an AUB file to its end, or to the first thing that stops it.
fn run_aub(
    replay: &mut AubReplay<'_>,
    engine: &mut Engine<'_>,
) -> (Option<Fault>, Option<AubProblem>) {
    loop {
        match replay.step_observed(engine) {
            Ok(None) => return (None, None),
            Ok(Some(AubStep::Ran { result: Err(fault), .. })) => return (Some(fault), None),
            Ok(Some(AubStep::Stuck(stuck))) => return (None, Some(AubProblem::Stuck(stuck))),
            Ok(Some(_)) => {}
            Err(error) => return (None, Some(AubProblem::Broken(error))),
        }
    }
}
