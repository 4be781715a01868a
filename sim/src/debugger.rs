//! Runs a capture or an AUB file under a debugger. A step back is a further run, up to an earlier
//! point. See [`crate::inspect::debugger`].

use crate::aub::{AubReplay, ReplayError, Step as AubStep, Stuck};
use crate::gpu::Gpu;
use crate::inspect::debugger::engine::{Controller, Engine, Next};
use crate::inspect::debugger::{Breakpoints, Position};
use crate::machine::fault::Fault;
use crate::replay::{Replay, Step};
use genxml::capture::{Capture, Event};
use genxml::eu::Generation;
use std::time::{Duration, Instant};

/// How a capture is run.
pub struct Options<'s> {
    /// Prepares the GPU of each run.
    pub set_up: &'s dyn Fn(&mut Gpu),
    /// Time of a run between two checkpoints. It does not change results, only how fast steps back
    /// are: less is faster, and needs more memory.
    pub interval: Duration,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { set_up: &|_| (), interval: INTERVAL }
    }
}

/// Debugs a capture until the controller quits.
pub fn of_capture(
    capture: &Capture,
    breakpoints: Breakpoints,
    options: &Options<'_>,
    controller: &mut dyn Controller,
) {
    let generation = match capture.device().generation {
        45 => Generation::Gen45,
        _ => Generation::Gen8,
    };
    let mut engine = Engine::new(controller, breakpoints, generation);
    let mut checkpoints =
        Checkpoints { interval: options.interval, elapsed: Duration::ZERO, list: Vec::new() };
    loop {
        let (mut replay, position) = match checkpoints.newest_before(engine.starts_before()) {
            Some(checkpoint) => checkpoint,
            None => {
                let mut replay = Replay::new(capture);
                (options.set_up)(replay.gpu());
                (replay, Position::default())
            }
        };
        engine.begin(position);
        let mut fault = None;
        for event in &capture.events()[replay.events_done()..] {
            if let Event::Exec(exec) = event {
                checkpoints.offer(&mut replay, engine.position());
                engine.label(exec.seq);
            }
            let started = Instant::now();
            let step = replay.step_observed(&mut engine);
            checkpoints.elapsed += started.elapsed();
            match step {
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

/// Copies of the run of a capture before some of its submissions. A step back starts from one of
/// them instead of from the beginning.
struct Checkpoints<'a> {
    /// [`Options::interval`].
    interval: Duration,
    /// In the order of their packets.
    list: Vec<(Replay<'a>, Position)>,
    /// Time of the run since the newest checkpoint.
    elapsed: Duration,
}

/// The default of [`Options::interval`].
const INTERVAL: Duration = Duration::from_millis(100);

/// Maximum number of checkpoints.
const CHECKPOINTS: usize = 8;

/// Maximum number of bytes of all checkpoints.
const CHECKPOINT_BYTES: u64 = 1 << 30;

impl<'a> Checkpoints<'a> {
    /// A copy of the newest checkpoint before a packet, if there is one and memory for the copy.
    fn newest_before(&mut self, packet: u64) -> Option<(Replay<'a>, Position)> {
        self.elapsed = Duration::ZERO;
        let before = |(_, position): &&(Replay<'a>, Position)| position.packets < packet;
        let (replay, position) = self.list.iter().rfind(before)?;
        Some((replay.duplicate().ok()?, position.clone()))
    }

    /// Makes a checkpoint before a submission, if the run has taken long since the last one.
    fn offer(&mut self, replay: &mut Replay<'a>, position: &Position) {
        let newest = self.list.last().map_or(0, |(_, position)| position.packets);
        let bytes = replay.gpu().memory.bytes_in_use();
        if self.elapsed < self.interval
            || position.packets <= newest
            || bytes > CHECKPOINT_BYTES / 2
        {
            return;
        }
        self.elapsed = Duration::ZERO;
        // Drop every second checkpoint to make room.
        let most = usize::try_from(CHECKPOINT_BYTES / bytes.max(1)).unwrap_or(CHECKPOINTS);
        while self.list.len() >= most.min(CHECKPOINTS) {
            let mut index = 0;
            self.list.retain(|_| {
                index += 1;
                index % 2 == 0
            });
        }
        if let Ok(copy) = replay.duplicate() {
            self.list.push((copy, position.clone()));
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
