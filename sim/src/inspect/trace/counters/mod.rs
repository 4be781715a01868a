//! Counters of a trace: a value for each packet.
//!
//! A value holds from the start of its packet to the start of the next one. So a counter shows a
//! box above the slice of the packet. To add a counter, write a file with a type that implements
//! [`Count`], and add a variant and its row to [`Counter`].

mod count;
mod lines;
mod messages;
mod occupancy;
mod overdraw;

use crate::machine::events::{Event, Now};
use count::{Count, Value};
use genxml::engine::EngineId;
use genxml::eu::Generation;
use std::collections::BTreeMap;
use std::str::FromStr;

/// A counter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Counter {
    /// How often a pixel is shaded, on average over the shaded pixels: for each draw, and for all
    /// draws of the submission to the same target so far. Only for Broadwell.
    Overdraw,
    /// Different lines of 64 bytes that the packet and its threads read and wrote, by hardware
    /// client. The observer needs accesses.
    Lines,
    /// Enabled channels of the executed EU instructions as a share of the instructions' channels,
    /// in per cent, and the number of threads. The observer needs instructions.
    Occupancy,
    /// Messages of threads by shared function.
    Messages,
}

impl Counter {
    /// All counters.
    pub const ALL: [Counter; 4] =
        [Counter::Overdraw, Counter::Lines, Counter::Occupancy, Counter::Messages];

    /// The name in options.
    pub const fn name(self) -> &'static str {
        match self {
            Counter::Overdraw => "overdraw",
            Counter::Lines => "lines",
            Counter::Occupancy => "occupancy",
            Counter::Messages => "messages",
        }
    }

    /// True if the counter exists for GPUs of a generation.
    pub fn is_for(self, generation: Generation) -> bool {
        // The payloads of pixel shaders of a G45 are not those of Broadwell.
        self != Counter::Overdraw || generation == Generation::Gen8
    }

    fn count(self, generation: Generation) -> Box<dyn Count> {
        match self {
            Counter::Overdraw => Box::<overdraw::Overdraw>::default(),
            Counter::Lines => Box::<lines::Lines>::default(),
            Counter::Occupancy => Box::new(occupancy::Occupancy::new(generation)),
            Counter::Messages => Box::<messages::Messages>::default(),
        }
    }
}

/// The error for a name that no counter has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no counter {name:?}: use {}", names())]
pub struct UnknownCounter {
    /// The name.
    pub name: String,
}

genxml_core::debug_as_display!(UnknownCounter);

fn names() -> String {
    Counter::ALL.map(Counter::name).join(", ")
}

impl FromStr for Counter {
    type Err = UnknownCounter;

    fn from_str(name: &str) -> Result<Counter, UnknownCounter> {
        let found = Counter::ALL.into_iter().find(|counter| counter.name() == name);
        found.ok_or_else(|| UnknownCounter { name: name.to_owned() })
    }
}

/// Values of a counter from a time on.
#[derive(Clone, Debug)]
pub(super) struct Point {
    /// The model's clock.
    pub clock: u64,
    /// Name of the counter.
    pub track: &'static str,
    pub values: Vec<(&'static str, f64)>,
}

/// The counters of a trace.
#[derive(Debug, Default)]
pub(super) struct Counters {
    wanted: Vec<Counter>,
    generation: Generation,
    engines: BTreeMap<EngineId, Engine>,
}

/// The counters of an engine.
#[derive(Debug)]
struct Engine {
    counts: Vec<Box<dyn Count>>,
    /// The clock at the start of the packet, or of the submission before its first packet.
    since: u64,
    /// The values that the trace shows now.
    shown: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
}

impl Counters {
    /// Counters of a GPU of `generation`, without those that do not exist for it.
    pub(super) fn new(mut wanted: Vec<Counter>, generation: Generation) -> Counters {
        wanted.retain(|counter| counter.is_for(generation));
        Counters { wanted, generation, engines: BTreeMap::new() }
    }

    pub(super) fn has(&self, counter: Counter) -> bool {
        self.wanted.contains(&counter)
    }

    /// Counts an event. Returns the points of a packet that has ended.
    pub(super) fn event(&mut self, now: Now, event: &Event<'_>) -> Vec<Point> {
        if self.wanted.is_empty() {
            return Vec::new();
        }
        let engine = self.engines.entry(now.engine).or_insert_with(|| Engine {
            counts: self.wanted.iter().map(|counter| counter.count(self.generation)).collect(),
            since: now.clock,
            shown: BTreeMap::new(),
        });
        match event {
            Event::Submission { .. } | Event::Packet { .. } => engine.since = now.clock,
            // The packet has ended: what follows belongs to the next one.
            Event::Memory { after: Some(_), .. } => return engine.points(),
            Event::SubmissionEnd => {
                let mut points = engine.points();
                points.extend(engine.zeros(now.clock));
                engine.each(event);
                return points;
            }
            _ => {}
        }
        engine.each(event);
        Vec::new()
    }

    /// The points of a packet that has not ended, and zeros at the end of the trace.
    pub(super) fn finish(&mut self, engine: EngineId, clock: u64) -> Vec<Point> {
        let Some(engine) = self.engines.get_mut(&engine) else { return Vec::new() };
        let mut points = engine.points();
        points.extend(engine.zeros(clock));
        points
    }
}

impl Engine {
    fn each(&mut self, event: &Event<'_>) {
        self.counts.iter_mut().for_each(|count| count.event(event));
    }

    /// The values since the last call that differ from those that the trace shows.
    fn points(&mut self) -> Vec<Point> {
        let values: Vec<Value> = self.counts.iter_mut().flat_map(|count| count.take()).collect();
        let mut now = self.nothing();
        for Value { track, series, value } in values {
            now.entry(track).or_default().insert(series, value);
        }
        self.show(self.since, now)
    }

    fn zeros(&mut self, clock: u64) -> Vec<Point> {
        let nothing = self.nothing();
        self.show(clock, nothing)
    }

    /// Zero for all series that the trace shows.
    fn nothing(&self) -> BTreeMap<&'static str, BTreeMap<&'static str, f64>> {
        let zeros = |series: &BTreeMap<&'static str, f64>| {
            series.keys().map(|series| (*series, 0.0)).collect()
        };
        self.shown.iter().map(|(track, series)| (*track, zeros(series))).collect()
    }

    fn show(
        &mut self,
        clock: u64,
        now: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
    ) -> Vec<Point> {
        let changed = now.iter().filter(|(track, series)| self.shown.get(*track) != Some(*series));
        let points = changed.map(|(track, series)| Point {
            clock,
            track,
            values: series.iter().map(|(series, value)| (*series, *value)).collect(),
        });
        let points = points.collect();
        self.shown = now;
        points
    }
}
