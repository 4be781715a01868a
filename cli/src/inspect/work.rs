//! The runs of the input, and what they found.

use super::cache::Cache;
use super::pictures;
use crate::check;
use crate::run::sanitized;
use genxml::capture::Capture;
use genxml::check::{self as rules, Finding, Rules, Summary};
use genxml::decode::Tables;
use genxml::dump::{Dump, How};
use genxml::eu::Generation;
use genxml_sim::Gpu;
use genxml_sim::inspect::frame::{
    BlitLook, DispatchLook, DrawLook, Kind, Look, Seen, Step, Steps, Writes,
};
use genxml_sim::inspect::history::View;
use genxml_sim::inspect::sanitize::Sanitizers;
use genxml_sim::machine::events::{Event, Now, Observer};
use genxml_sim::machine::watched::WatchedPixel;
use genxml_sim::pixel_history::{Answer, Question, Stop, Until};
use genxml_sim::runs::{Input, Pass};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of findings of rules that the page gets.
const MOST_FINDINGS: usize = 10_000;

/// Prepares the GPU of each run.
pub type SetUp = Box<dyn Fn(&mut Gpu) + Send + Sync>;

/// A step, with its small picture as a PNG file.
pub struct Entry {
    /// The step.
    pub step: Step,
    /// The PNG file; `None` if the step has no picture.
    pub thumbnail: Option<Vec<u8>>,
}

/// What the background has found so far.
#[derive(Default)]
pub struct Shared {
    /// The input, as soon as it is open.
    pub input: Option<Arc<Input>>,
    /// What the background does, in words; `None` if it has ended.
    pub phase: Option<&'static str>,
    /// Submissions that the first run has begun.
    pub submissions: u64,
    /// The steps so far.
    pub steps: Vec<Arc<Entry>>,
    /// True when the first run has ended.
    pub is_listed: bool,
    /// What stopped the first run.
    pub fault: Option<Value>,
    /// The findings of rules, when they are complete.
    pub rules: Option<Arc<Value>>,
    /// The findings of sanitizers, when they are complete.
    pub sanitized: Option<Arc<Value>>,
    /// The time from the start to the complete list.
    pub listed_after: Option<Duration>,
}

/// The runs of an input.
pub struct Work {
    path: PathBuf,
    sanitizers: Vec<&'static str>,
    set_up: SetUp,
    started: Instant,
    shared: Mutex<Shared>,
    cache: Mutex<Cache>,
    /// Held during a run for a request: runs need much memory, so there is one at a time.
    running: Mutex<()>,
}

/// A thread that panicked leaves complete data: each change is one assignment.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Work {
    /// The work on an input that is not yet open.
    pub fn new(path: &Path, sanitizers: Vec<&'static str>, set_up: SetUp) -> Work {
        let shared = Shared { phase: Some("reading the input"), ..Shared::default() };
        Work {
            path: path.to_owned(),
            sanitizers,
            set_up,
            started: Instant::now(),
            shared: Mutex::new(shared),
            cache: Mutex::default(),
            running: Mutex::new(()),
        }
    }

    /// The path of the input.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the background has found so far.
    pub fn shared(&self) -> MutexGuard<'_, Shared> {
        locked(&self.shared)
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Opens the input, lists its steps, and checks it.
    ///
    /// # Errors
    /// If the input cannot be used.
    pub fn first_run(&self) -> Result<(), String> {
        let input = Arc::new(Input::open(&self.path)?);
        self.sanitizers(&input)?;
        {
            let mut shared = self.shared();
            shared.input = Some(Arc::clone(&input));
            shared.phase = Some("running");
        }
        let mut first = First { steps: Steps::default(), work: self };
        let stop = input.run(&*self.set_up, &mut first);
        first.publish(true);
        {
            let mut shared = self.shared();
            shared.fault = stop.as_ref().map(fault);
            shared.is_listed = true;
            shared.listed_after = Some(self.started.elapsed());
            shared.phase = Some("checking rules");
        }
        let findings = self.check(&input);
        self.shared().rules = Some(Arc::new(findings));
        if !self.sanitizers.is_empty() {
            self.shared().phase = Some("running sanitizers");
            let findings = self.sanitize(&input)?;
            self.shared().sanitized = Some(Arc::new(findings));
        }
        self.shared().phase = None;
        Ok(())
    }

    /// The tables of the packets of the input.
    pub fn tables(&self) -> &'static Tables {
        match self.shared().input.as_deref().map(generation) {
            Some(Generation::Gen45) => Tables::gen45(),
            _ => Tables::gen8(),
        }
    }

    fn check(&self, input: &Input) -> Value {
        let mut findings: Vec<Finding> = Vec::new();
        let mut each = |finding: &Finding| {
            if findings.len() < MOST_FINDINGS {
                findings.push(finding.clone());
            }
        };
        let rules = match generation(input) {
            Generation::Gen45 => Rules::gen45(),
            _ => Rules::gen8(),
        };
        let summary: Summary = match input {
            Input::Capture(capture) => {
                let mut source: &Capture = capture;
                rules::dump(&mut source, &rules, &mut each)
            }
            Input::Aub(path) => match Dump::open(path, &How::default()) {
                Ok(mut dump) => rules::dump(&mut dump, &rules, &mut each),
                Err(error) => return json!({ "error": error.to_string() }),
            },
        };
        check::as_json(&findings, &summary)
    }

    fn sanitizers(&self, input: &Input) -> Result<Sanitizers, String> {
        let names = self.sanitizers.iter().copied();
        Sanitizers::new(names, generation(input)).map_err(|error| error.to_string())
    }

    fn sanitize(&self, input: &Input) -> Result<Value, String> {
        let mut sanitizers = self.sanitizers(input)?;
        input.run(&*self.set_up, &mut sanitizers);
        Ok(sanitized::json(&sanitizers))
    }

    /// A step by its number, from the cache or from a run.
    ///
    /// # Errors
    /// Why there is no such step, as text.
    pub fn look(&self, step: u64) -> Result<Arc<Seen>, String> {
        if let Some(seen) = locked(&self.cache).get(step) {
            return Ok(seen);
        }
        let input = self.input()?;
        let _one = locked(&self.running);
        // Another request may have had the same wish.
        if let Some(seen) = locked(&self.cache).get(step) {
            return Ok(seen);
        }
        let entry = self.entry(step)?;
        let number = self.number_in_submission(&entry.step);
        let label = entry.step.label;
        let (seen, stop) = match entry.step.kind {
            Kind::Draw { .. } => self.observe(&input, label, DrawLook::new(number)),
            Kind::Blit { .. } => self.observe(&input, label, BlitLook::new(number)),
            Kind::Dispatch { .. } => {
                let writes = Writes::new(number);
                let mut first = OneStep::new(writes, Writes::is_done, label);
                input.run(&*self.set_up, &mut first);
                let written = first.observer.into_written();
                self.observe(&input, label, DispatchLook::new(number, written))
            }
        };
        let seen = seen.ok_or_else(|| match stop {
            Some(stop) => format!("step {step} was not reached: {stop}"),
            None => format!("step {step} was not reached"),
        })?;
        let seen = Arc::new(seen);
        locked(&self.cache).add(step, Arc::clone(&seen));
        Ok(seen)
    }

    /// Runs the input up to the end of one step.
    fn observe<L: Look>(
        &self,
        input: &Input,
        label: Option<u64>,
        look: L,
    ) -> (Option<Seen>, Option<Stop>) {
        let mut pass = OneStep::new(look, L::is_done, label);
        let stop = input.run(&*self.set_up, &mut pass);
        (pass.observer.take(), stop)
    }

    /// A step by its number.
    ///
    /// # Errors
    /// If there is no such step, as text.
    pub fn entry(&self, step: u64) -> Result<Arc<Entry>, String> {
        let index = usize::try_from(step).ok().and_then(|step| step.checked_sub(1));
        let shared = self.shared();
        let entry = index.and_then(|index| shared.steps.get(index).cloned());
        entry.ok_or_else(|| format!("there is no step {step}"))
    }

    /// The kernel of a dispatch: its address, its generation and its bytes up to the end of its
    /// buffer.
    ///
    /// # Errors
    /// Why it cannot be read, as text.
    pub fn kernel(&self, step: u64) -> Result<(u64, Generation, Vec<u8>), String> {
        let entry = self.entry(step)?;
        let step = &entry.step;
        let Kind::Dispatch { kernel } = step.kind else {
            return Err(format!("step {} is not a dispatch", step.number));
        };
        let label = step.label.ok_or(
            "kernels of dispatches in AUB files are not shown; use genx query --disassemble",
        )?;
        let input = self.input()?;
        let _one = locked(&self.running);
        let bytes = input.memory_after(label, kernel, &*self.set_up);
        let bytes = bytes.ok_or_else(|| format!("there is no memory at {kernel:#x}"))?;
        Ok((kernel, generation(&input), bytes))
    }

    /// The number of a step among the steps of its kind in its submission, from 1 on. In an AUB
    /// file, whose submissions have no numbers, among those of the whole file.
    fn number_in_submission(&self, step: &Step) -> u64 {
        let shared = self.shared();
        let first = shared.steps.iter().position(|entry| entry.step.label == step.label);
        let same = |entry: &&Arc<Entry>| {
            std::mem::discriminant(&entry.step.kind) == std::mem::discriminant(&step.kind)
        };
        let earlier = shared.steps.iter().take(step.number).skip(first.unwrap_or(0));
        earlier.filter(same).count() as u64
    }

    /// The history of a pixel of a target up to a draw.
    ///
    /// # Errors
    /// Why there is no history, as text.
    pub fn history(&self, step: u64, target: usize, at: [u32; 2]) -> Result<Answer, String> {
        let entry = self.entry(step)?;
        let Kind::Draw { number, summary, .. } = &entry.step.kind else {
            return Err(
                "the page has histories only for draws; for other steps, use genx why with \
                 --target and --after exec"
                    .to_owned(),
            );
        };
        let draw = *number;
        let view = View::all(summary).into_iter().nth(target);
        let view = view.ok_or_else(|| format!("step {step} has no target {target}"))?;
        let question = Question {
            at,
            sample: 0,
            target: Some(view.surface.base),
            until: Some(Until::Draw(draw)),
        };
        let input = self.input()?;
        let _one = locked(&self.running);
        input.history(&question, &*self.set_up).map_err(|error| error.to_string())
    }

    fn input(&self) -> Result<Arc<Input>, String> {
        self.shared().input.clone().ok_or_else(|| "the input is still being read".to_owned())
    }
}

fn generation(input: &Input) -> Generation {
    match input {
        Input::Capture(capture) if capture.device().generation == 45 => Generation::Gen45,
        _ => Generation::Gen8,
    }
}

/// A fault of the first run.
fn fault(stop: &Stop) -> Value {
    let place = match stop {
        Stop::Fault(fault) => fault.place(),
        _ => None,
    };
    json!({
        "text": stop.to_string(),
        "packet": place.map(|place| place.packet),
        "address": place.map(|place| format!("{:#x}", place.address)),
    })
}

/// The first run: lists the steps, and passes them on when they are complete.
struct First<'a> {
    steps: Steps,
    work: &'a Work,
}

impl First<'_> {
    fn publish(&mut self, all: bool) {
        let made: Vec<_> = self
            .steps
            .take(all)
            .into_iter()
            .map(|mut step| {
                let thumbnail = step.thumbnail.take().and_then(|image| pictures::png(&image));
                Arc::new(Entry { step, thumbnail })
            })
            .collect();
        let mut shared = self.work.shared();
        shared.submissions = self.steps.submissions();
        shared.steps.extend(made);
    }
}

impl Observer for First<'_> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self.steps.event(now, event);
        if matches!(event, Event::Draw(_) | Event::Dispatch { .. } | Event::Blit(_)) {
            self.publish(false);
        }
    }
}

impl Pass for First<'_> {
    fn label(&mut self, label: u64) -> bool {
        self.steps.label(label);
        true
    }

    fn is_done(&mut self) -> bool {
        self.publish(false);
        false
    }
}

/// A run up to the end of one step. The submissions before that of the step run without an
/// observer, which is faster.
struct OneStep<O> {
    observer: O,
    is_done: fn(&O) -> bool,
    /// The number of the submission, if there are numbers.
    label: Option<u64>,
    is_reached: bool,
}

impl<O: Observer> OneStep<O> {
    fn new(observer: O, is_done: fn(&O) -> bool, label: Option<u64>) -> OneStep<O> {
        OneStep { observer, is_done, label, is_reached: false }
    }
}

impl<O: Observer> Observer for OneStep<O> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self.observer.event(now, event);
    }

    fn watches(&self) -> Option<WatchedPixel> {
        self.observer.watches()
    }

    fn wants_accesses(&self) -> bool {
        self.observer.wants_accesses()
    }
}

impl<O: Observer> Pass for OneStep<O> {
    fn label(&mut self, label: u64) -> bool {
        self.is_reached |= self.label.is_none_or(|wanted| wanted == label);
        self.is_reached
    }

    fn is_done(&mut self) -> bool {
        (self.is_done)(&self.observer)
    }
}
