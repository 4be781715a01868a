//! The history of a pixel of a capture or of an AUB file: runs it twice, see
//! [`crate::inspect::history`].

use crate::aub::{AubReplay, ReplayError, Step as AubStep};
use crate::gpu::Gpu;
use crate::inspect::history::{Entry, Finder, Found, History, HistoryError, Probe, Value, View};
use crate::inspect::picture;
use crate::machine::fault::Fault;
use crate::replay::{Replay, Step};
use crate::surface::TileMode;
use genxml::capture::{Capture, Event, Frame, ObjectId, Tiling};

/// A pixel, and the point at which its history ends.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Column and row.
    pub at: [u32; 2],
    /// The sample.
    pub sample: u32,
    /// Base address of the surface. Without it, the surface is the first render target of the last
    /// draw that has one, or the destination of the last blit; with [`Until::Frame`], it is the
    /// displayed image.
    pub target: Option<u64>,
    /// The last thing that counts; `None` for everything.
    pub until: Option<Until>,
}

/// The end of a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// After a submission: its number in the capture, or in an AUB file its position, from 1 on.
    Exec(u64),
    /// After a draw, from 1 on.
    Draw(u64),
    /// When a frame of a capture is displayed: its number in the capture.
    Frame(u64),
}

/// The history of a pixel.
#[derive(Debug)]
pub struct Answer {
    /// The pixel in memory.
    pub probe: Probe,
    /// The newest draw that has the surface; `None` if only a blit or a display has it.
    pub draw: Option<u64>,
    /// Everything that wrote or tested the pixel, in order.
    pub entries: Vec<Entry>,
    /// The value at the end.
    pub value: Option<Value>,
    /// What stopped the run before the end.
    pub stop: Option<Stop>,
}

/// What stopped a run.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// A fault of the GPU.
    #[error(transparent)]
    Fault(Fault),
    /// A part of an AUB file that cannot be used.
    #[error(transparent)]
    Broken(ReplayError),
    /// An AUB file that waits for something that no engine does.
    #[error(transparent)]
    Stuck(crate::aub::Stuck),
}

/// Why there is no history.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// The pixel has no history.
    #[error(transparent)]
    History(HistoryError),
    /// The pixel has no history, because the run stopped too early.
    #[error("{stop}; before that, {error}")]
    Stopped {
        /// What stopped the run.
        stop: Box<Stop>,
        /// Why there is no history.
        error: HistoryError,
    },
    /// There is no such submission.
    #[error("there is no submission {wanted}; {}", last("submissions", *.newest, *.count))]
    NoExec {
        /// The number that was asked for.
        wanted: u64,
        /// The number of the last one.
        newest: u64,
        /// How many there are.
        count: u64,
    },
    /// There is no such draw.
    #[error("there is no draw {wanted}; {}", last("draws", *.count, *.count))]
    NoDraw {
        /// The number that was asked for.
        wanted: u64,
        /// How many there are.
        count: u64,
    },
    /// There is no such frame.
    #[error("there is no frame {wanted}; {}", last("frames", *.newest, *.count))]
    NoFrame {
        /// The number that was asked for.
        wanted: u64,
        /// The number of the last one.
        newest: u64,
        /// How many there are.
        count: u64,
    },
    /// The pixel format of the frame is not supported.
    #[error("frame {frame}: {problem}; --target selects the surface by its address")]
    Frame {
        /// The frame.
        frame: u64,
        /// What is wrong with it.
        problem: picture::BadFrame,
    },
    /// An AUB file cannot be opened.
    #[error("{0}")]
    File(String),
}

fn last(what: &str, newest: u64, count: u64) -> String {
    match count {
        0 => format!("there are no {what}"),
        count => format!("there are {count} {what}, the last one is {newest}"),
    }
}

/// The first run of a capture.
struct FirstRun {
    found: Found,
    /// The object that contains the pixel, and the index of the event at which it was found.
    object: Option<(ObjectId, usize)>,
    /// Number of events up to the end of the history.
    events: usize,
}

/// The history of a pixel of a capture. `set_up` prepares the GPU of each run.
///
/// # Errors
/// [`WhyError`].
pub fn of_capture(
    capture: &Capture,
    question: &Question,
    set_up: &dyn Fn(&mut Gpu),
) -> Result<Answer, WhyError> {
    let first = first_run(capture, question, set_up)?;
    let mut replay = Replay::new(capture);
    set_up(replay.gpu());
    let mut history = History::new(first.found.probe.clone(), stop_after(question));
    let mut stop = None;
    for (index, event) in capture.events().iter().enumerate().take(first.events) {
        if let Some((object, used)) = first.object
            && replay.frames(object).is_none()
        {
            if index <= used { history.restart() } else { history.end() }
        }
        if let Event::Exec(exec) = event {
            history.label(exec.seq);
        }
        if let Some(Step::Exec { result: Err(fault), .. }) = replay.step_observed(&mut history) {
            stop = Some(Stop::Fault(fault));
            break;
        }
    }
    Ok(answer(history, first.found.draw, stop))
}

fn answer(history: History, draw: Option<u64>, stop: Option<Stop>) -> Answer {
    Answer {
        probe: history.probe().clone(),
        draw,
        entries: history.entries().to_vec(),
        value: history.value().cloned(),
        stop,
    }
}

fn stop_after(question: &Question) -> Option<u64> {
    match question.until {
        Some(Until::Draw(number)) => Some(number),
        _ => None,
    }
}

fn first_run(
    capture: &Capture,
    question: &Question,
    set_up: &dyn Fn(&mut Gpu),
) -> Result<FirstRun, WhyError> {
    let Question { at, sample, target, until } = *question;
    let mut replay = Replay::new(capture);
    set_up(replay.gpu());
    let mut finder = Finder::new(at, sample, target, stop_after(question));
    let (mut events, mut execs, mut frames) = (0, [0; 2], [0; 2]);
    let (mut object, mut place, mut stop) = (None, None, None);
    let (mut is_reached, mut frame) = (until.is_none(), None);
    while let Some(step) = replay.step_observed(&mut finder) {
        events += 1;
        match step {
            Step::Exec { exec, result } => {
                execs = [execs[0] + 1, exec.seq];
                is_reached |= match until {
                    Some(Until::Exec(seq)) => seq == exec.seq,
                    Some(Until::Draw(number)) => finder.draws() >= number,
                    _ => false,
                };
                if let Ok(found) = finder.found()
                    && place != Some((found.draw, found.probe.physical))
                {
                    place = Some((found.draw, found.probe.physical));
                    let at = replay.object_at(found.probe.physical);
                    object = at.map(|object| (object, events - 1));
                }
                if let Err(fault) = result {
                    stop = Some(Stop::Fault(fault));
                    break;
                }
            }
            Step::Frame(shown) => {
                frames = [frames[0] + 1, shown.index];
                if until == Some(Until::Frame(shown.index)) {
                    (is_reached, frame) = (true, Some(shown));
                }
            }
            _ => {}
        }
        if is_reached && until.is_some() {
            break;
        }
    }
    if !is_reached {
        let wrong = match until {
            Some(Until::Exec(wanted)) => {
                WhyError::NoExec { wanted, newest: execs[1], count: execs[0] }
            }
            Some(Until::Draw(wanted)) => WhyError::NoDraw { wanted, count: finder.draws() },
            Some(Until::Frame(wanted)) => {
                WhyError::NoFrame { wanted, newest: frames[1], count: frames[0] }
            }
            None => WhyError::History(HistoryError::NoTarget),
        };
        return Err(wrong);
    }
    if let (Some(frame), None) = (frame, target) {
        let base = replay.frames(frame.object).map_or(0, |frames| frames.address());
        let base = base.wrapping_add(frame.offset);
        let found = match finder.at_physical(base) {
            Some(found) => found,
            None => Found { probe: displayed(frame, base, question)?, draw: None },
        };
        return Ok(FirstRun { found, object: Some((frame.object, events - 1)), events });
    }
    match (finder.found(), stop) {
        (Ok(found), _) => Ok(FirstRun { found, object, events }),
        (Err(error), Some(stop)) => Err(WhyError::Stopped { stop: Box::new(stop), error }),
        (Err(error), None) => Err(WhyError::History(error)),
    }
}

/// The pixel of a displayed image that starts at a physical address.
fn displayed(frame: &Frame, base: u64, question: &Question) -> Result<Probe, WhyError> {
    let tile_mode = match frame.tiling {
        Tiling::Linear => TileMode::Linear,
        Tiling::X => TileMode::X,
        Tiling::Y => TileMode::Y,
    };
    let size = [frame.width, frame.height];
    let view = picture::format(&frame.fourcc)
        .and_then(|format| View::image(format, base, size, frame.pitch, tile_mode))
        .ok_or_else(|| WhyError::Frame {
            frame: frame.index,
            problem: picture::BadFrame::Format(frame.fourcc.clone()),
        })?;
    Probe::new(view, question.at, question.sample, &Some).map_err(WhyError::History)
}

/// The history of a pixel of an AUB file. `open` opens the file for each of the two runs.
///
/// # Errors
/// [`WhyError`].
pub fn of_aub<'a>(
    question: &Question,
    open: &mut dyn FnMut() -> Result<AubReplay<'a>, WhyError>,
) -> Result<Answer, WhyError> {
    let Question { at, sample, target, until } = *question;
    if let Some(Until::Frame(wanted)) = until {
        return Err(WhyError::NoFrame { wanted, newest: 0, count: 0 });
    }
    let mut finder = Finder::new(at, sample, target, stop_after(question));
    let mut replay = open()?;
    let (mut execs, mut is_reached) = (0, until.is_none());
    let mut stop = None;
    while stop.is_none() && !(is_reached && until.is_some()) {
        match replay.step_observed(&mut finder) {
            Ok(None) => break,
            Ok(Some(step)) => stop = stopped(step, &mut execs),
            Err(error) => stop = Some(Stop::Broken(error)),
        }
        is_reached |= match until {
            Some(Until::Exec(number)) => execs >= number,
            Some(Until::Draw(number)) => finder.draws() >= number,
            _ => false,
        };
    }
    match (is_reached, until) {
        (false, Some(Until::Exec(wanted))) => {
            return Err(WhyError::NoExec { wanted, newest: execs, count: execs });
        }
        (false, Some(Until::Draw(wanted))) => {
            return Err(WhyError::NoDraw { wanted, count: finder.draws() });
        }
        _ => {}
    }
    let found = match (finder.found(), stop) {
        (Ok(found), _) => found,
        (Err(error), Some(stop)) => return Err(WhyError::Stopped { stop: Box::new(stop), error }),
        (Err(error), None) => return Err(WhyError::History(error)),
    };
    let mut history = History::new(found.probe.clone(), stop_after(question));
    let mut replay = open()?;
    let (last, mut execs, mut stop) = (execs, 0, None);
    while stop.is_none() && execs < last {
        match replay.step_observed(&mut history) {
            Ok(None) => break,
            Ok(Some(step)) => stop = stopped(step, &mut execs),
            Err(error) => stop = Some(Stop::Broken(error)),
        }
    }
    Ok(answer(history, found.draw, stop))
}

/// What stops the run at a step of an AUB file. Counts the steps that run work.
pub(crate) fn stopped(step: AubStep, execs: &mut u64) -> Option<Stop> {
    match step {
        AubStep::Ran { result, .. } => {
            *execs += 1;
            result.err().map(Stop::Fault)
        }
        AubStep::Stuck(stuck) => Some(Stop::Stuck(stuck)),
        AubStep::Header(_) | AubStep::Compared(_) => None,
    }
}
