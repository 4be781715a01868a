//! Runs an input many times: a capture, or an AUB file.

use crate::aub::{AubReplay, Step as AubStep};
use crate::gpu::Gpu;
use crate::machine::events::{Event, Now, Observer};
use crate::machine::watched::WatchedPixel;
use crate::pixel_history::{Answer, Question, Stop, WhyError, of_aub, of_capture};
use crate::replay::{Replay, Step};
use genxml::aub::Reader;
use genxml::capture::{Capture, ExecObject};
use std::path::{Path, PathBuf};

/// An input that can be run many times.
#[derive(Debug)]
pub enum Input {
    /// A capture, in memory.
    Capture(Box<Capture>),
    /// The path of an AUB file, which each run reads from its start.
    Aub(PathBuf),
}

/// What a run reports to its caller between submissions.
pub trait Watch: Observer {
    /// The next submission has this number in the capture. Without the result true, its events are
    /// not reported, and it runs at full speed. Submissions of AUB files have no number, and are
    /// always reported.
    fn label(&mut self, _label: u64) -> bool {
        true
    }

    /// A submission has ended. The run goes on if the result is true.
    fn goes_on(&mut self) -> bool;
}

impl Input {
    /// Opens a capture directory, or an AUB file.
    ///
    /// # Errors
    /// What is wrong with the input, as text.
    pub fn open(path: &Path) -> Result<Input, String> {
        if !path.is_file() {
            let capture = Capture::open(path).map_err(|error| error.to_string())?;
            return Ok(Input::Capture(Box::new(capture)));
        }
        let broken = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let reader = Reader::open(path).map_err(|error| broken(&error))?;
        match AubReplay::new(reader).step() {
            Ok(_) => Ok(Input::Aub(path.to_owned())),
            Err(error) => Err(broken(&error)),
        }
    }

    /// Number of submissions, if it is known before a run.
    pub fn submissions(&self) -> Option<u64> {
        match self {
            Input::Capture(capture) => Some(capture.execs().count() as u64),
            Input::Aub(_) => None,
        }
    }

    /// Runs the input on a new GPU until `watch` ends it. Returns what stopped the run earlier.
    pub fn run(&self, set_up: &dyn Fn(&mut Gpu), watch: &mut dyn Watch) -> Option<Stop> {
        match self {
            Input::Capture(capture) => run_capture(capture, set_up, watch),
            Input::Aub(path) => run_aub(path, set_up, watch),
        }
    }

    /// The memory from an address up to the end of its buffer, after a submission of a capture;
    /// `None` if the input has no such submission or memory, and for AUB files.
    pub fn memory_after(
        &self,
        label: u64,
        address: u64,
        set_up: &dyn Fn(&mut Gpu),
    ) -> Option<Vec<u8>> {
        let Input::Capture(capture) = self else { return None };
        let mut replay = Replay::new(capture);
        set_up(replay.gpu());
        loop {
            // A fault ends the run, but the memory still exists.
            let Step::Exec { exec, result } = replay.step()? else { continue };
            if exec.seq != label {
                result.ok()?;
                continue;
            }
            let has = |object: &&ExecObject| address.wrapping_sub(object.address) < object.size;
            let object = exec.objects.iter().find(has)?;
            let start = usize::try_from(address - object.address).ok()?;
            return replay.bytes(object.object).get(start..).map(<[u8]>::to_vec);
        }
    }

    /// The history of a pixel, see [`crate::pixel_history`].
    ///
    /// # Errors
    /// [`WhyError`].
    pub fn history(
        &self,
        question: &Question,
        set_up: &dyn Fn(&mut Gpu),
    ) -> Result<Answer, WhyError> {
        match self {
            Input::Capture(capture) => of_capture(capture, question, set_up),
            Input::Aub(path) => of_aub(question, &mut || {
                let reader = Reader::open(path).map_err(|e| WhyError::File(e.to_string()))?;
                let mut replay = AubReplay::new(reader);
                set_up(replay.gpu());
                Ok(replay)
            }),
        }
    }
}

fn run_capture(
    capture: &Capture,
    set_up: &dyn Fn(&mut Gpu),
    watch: &mut dyn Watch,
) -> Option<Stop> {
    let mut replay = Replay::new(capture);
    set_up(replay.gpu());
    loop {
        let is_wanted = replay.upcoming().is_none_or(|exec| watch.label(exec.seq));
        let step = match is_wanted {
            true => replay.step_observed(&mut Events(watch)),
            false => replay.step(),
        };
        match step? {
            Step::Exec { result: Err(fault), .. } => return Some(Stop::Fault(fault)),
            Step::Exec { .. } if !watch.goes_on() => return None,
            _ => {}
        }
    }
}

fn run_aub(path: &Path, set_up: &dyn Fn(&mut Gpu), watch: &mut dyn Watch) -> Option<Stop> {
    let reader = match Reader::open(path) {
        Ok(reader) => reader,
        Err(error) => return Some(Stop::Broken(error.into())),
    };
    let mut replay = AubReplay::new(reader);
    set_up(replay.gpu());
    loop {
        match replay.step_observed(&mut Events(watch)) {
            Ok(None) => return None,
            Ok(Some(AubStep::Ran { result: Err(fault), .. })) => return Some(Stop::Fault(fault)),
            Ok(Some(AubStep::Stuck(stuck))) => return Some(Stop::Stuck(stuck)),
            Ok(Some(AubStep::Ran { .. })) if !watch.goes_on() => return None,
            Ok(Some(_)) => {}
            Err(error) => return Some(Stop::Broken(error)),
        }
    }
}

/// Passes events to a [`Watch`].
struct Events<'a>(&'a mut dyn Watch);

impl Observer for Events<'_> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self.0.event(now, event);
    }

    fn wants_instructions(&self) -> bool {
        self.0.wants_instructions()
    }

    fn wants_accesses(&self) -> bool {
        self.0.wants_accesses()
    }

    fn watches(&self) -> Option<WatchedPixel> {
        self.0.watches()
    }
}
