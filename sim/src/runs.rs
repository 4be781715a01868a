//! Runs an input many times: a capture, or an AUB file.

use crate::aub::AubReplay;
use crate::gpu::{ContextId, Gpu};
use crate::inspect::sanitize::{QUARANTINE, Sanitizers};
use crate::machine::events::Observer;
use crate::pixel_history::{Answer, Question, Stop, Until, WhyError, of_aub, of_capture, stopped};
use crate::replay::{Replay, Step};
use genxml::aub::Reader;
use genxml::capture::{Capture, ExecObject};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// An input that can be run many times.
#[derive(Debug)]
pub enum Input {
    /// A capture, in memory.
    Capture(Box<Capture>),
    /// The path of an AUB file, which each run reads from its start.
    Aub(PathBuf),
}

/// An observer of a whole run.
pub trait Pass: Observer {
    /// Called before each submission of a capture, with its number there. Without the result true,
    /// the events of the submission are not reported, and it runs at full speed. Submissions of AUB
    /// files have no number, and are always reported.
    fn label(&mut self, _seq: u64) -> bool {
        true
    }

    /// Bytes of freed objects of a capture that are kept, see [`Replay::quarantine`].
    fn quarantine(&self) -> u64 {
        0
    }

    /// Called after each submission. True if the rest of the run does not matter.
    fn is_done(&mut self) -> bool {
        false
    }

    /// Called after each submission of a capture, with memory as its context sees it.
    fn ran(&mut self, _view: &ContextView<'_>) {}
}

impl Pass for Sanitizers {
    fn quarantine(&self) -> u64 {
        QUARANTINE
    }
}

/// Memory as a context sees it.
pub struct ContextView<'g> {
    gpu: RefCell<&'g mut Gpu>,
    context: ContextId,
}

impl ContextView<'_> {
    /// Fills `out` with the bytes from a graphics address on; false if some cannot be read.
    pub fn read(&self, address: u64, out: &mut [u8]) -> bool {
        self.gpu.borrow_mut().vm(self.context).read(address, out).is_ok()
    }

    /// The physical address of a graphics address; `None` if it is not mapped.
    pub fn physical(&self, address: u64) -> Option<u64> {
        self.gpu.borrow_mut().vm(self.context).physical(address)
    }
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
        let reader = Reader::open(path).map_err(|error| error.to_string())?;
        match AubReplay::new(reader).step() {
            Ok(_) => Ok(Input::Aub(path.to_owned())),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Number of submissions, if it is known before a run.
    pub fn submissions(&self) -> Option<u64> {
        match self {
            Input::Capture(capture) => Some(capture.execs().count() as u64),
            Input::Aub(_) => None,
        }
    }

    /// Runs the input on a new GPU until `pass` is done. Returns what stopped the run earlier.
    pub fn run(&self, set_up: &dyn Fn(&mut Gpu), pass: &mut dyn Pass) -> Option<Stop> {
        self.run_until(set_up, None, pass)
    }

    /// As [`run`](Self::run), up to a submission or frame. A run does not end at a draw.
    pub fn run_until(
        &self,
        set_up: &dyn Fn(&mut Gpu),
        until: Option<Until>,
        pass: &mut dyn Pass,
    ) -> Option<Stop> {
        match self {
            Input::Capture(capture) => run_capture(capture, set_up, until, pass),
            Input::Aub(path) => run_aub(path, set_up, until, pass),
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
    until: Option<Until>,
    pass: &mut dyn Pass,
) -> Option<Stop> {
    let mut replay = Replay::new(capture);
    set_up(replay.gpu());
    replay.quarantine(pass.quarantine());
    loop {
        let is_wanted = replay.upcoming().is_none_or(|exec| pass.label(exec.seq));
        let step = match is_wanted {
            true => replay.step_observed(&mut *pass),
            false => replay.step(),
        };
        match step? {
            Step::Exec { exec, result } => {
                if let Some(context) = replay.context(exec.context) {
                    let gpu = RefCell::new(replay.gpu());
                    pass.ran(&ContextView { gpu, context });
                }
                if let Err(fault) = result {
                    return Some(Stop::Fault(fault));
                }
                if pass.is_done() || until == Some(Until::Exec(exec.seq)) {
                    return None;
                }
            }
            Step::Frame(frame) if until == Some(Until::Frame(frame.index)) => return None,
            _ => {}
        }
    }
}

fn run_aub(
    path: &Path,
    set_up: &dyn Fn(&mut Gpu),
    until: Option<Until>,
    pass: &mut dyn Pass,
) -> Option<Stop> {
    let reader = match Reader::open(path) {
        Ok(reader) => reader,
        Err(error) => return Some(Stop::Broken(error.into())),
    };
    let mut replay = AubReplay::new(reader);
    set_up(replay.gpu());
    let mut execs = 0;
    loop {
        let before = execs;
        match replay.step_observed(&mut *pass) {
            Ok(None) => return None,
            Ok(Some(step)) => match stopped(step, &mut execs) {
                Some(stop) => return Some(stop),
                None if execs == before => {}
                None if pass.is_done() || until == Some(Until::Exec(execs)) => return None,
                None => {}
            },
            Err(error) => return Some(Stop::Broken(error)),
        }
    }
}
