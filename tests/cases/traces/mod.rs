//! Counters and host times of traces. Oracles: areas of rectangles; addresses of their bytes, by
//! hand; instructions of kernels, counted by hand; a clock that the test provides.

use crate::pixels::harness::{self, Draw, SIZE, Vertex, WHITE};
use genxml::engine::EngineId;
use genxml::eu;
use genxml::eu::Generation;
use genxml::eu::instruction::SharedFunction;
use genxml::eu::message::function_name;
use genxml::gen8::enums::ThreeDPrimTopoType as Code;
use genxml_cases::{Compute, Model};
use genxml_sim::inspect::Trace;
use genxml_sim::inspect::trace::{Counter, HostClock, HostTime};
use genxml_sim::machine::events::{Event, Now, Observer};
use serde_json::Value as Json;
use std::time::Duration;

struct Tracer<'a>(Trace<&'a mut Vec<u8>>);

impl Observer for Tracer<'_> {
    fn event(&mut self, now: Now, event: &Event<'_>) {
        self.0.event(now, event);
    }

    fn wants_instructions(&self) -> bool {
        self.0.wants_instructions()
    }

    fn wants_accesses(&self) -> bool {
        self.0.wants_accesses()
    }

    fn wants_channels(&self) -> bool {
        false
    }
}

/// Runs a batch; returns the objects of its trace.
fn trace(
    model: &mut Model,
    batch: &[u32],
    set_up: impl Fn(Trace<&mut Vec<u8>>) -> Trace<&mut Vec<u8>>,
) -> Vec<Json> {
    let mut bytes = Vec::new();
    let mut tracer = Tracer(set_up(Trace::new(&mut bytes)));
    model.submit_observed(EngineId::Render, batch, &mut tracer).unwrap();
    tracer.0.finish().unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// Runs a batch; returns the values of a series of a counter in the order of time, each
/// until it changes.
fn values(
    model: &mut Model,
    batch: &[u32],
    counter: Counter,
    track: &str,
    series: &str,
) -> Vec<f64> {
    let objects = trace(model, batch, |trace| trace.with_counters([counter], Generation::Gen8));
    let name = format!("render: {track}");
    let mut points: Vec<(f64, f64)> = objects
        .iter()
        .filter(|object| object["ph"] == "C" && object["name"] == name.as_str())
        .filter_map(|point| Some((point["ts"].as_f64()?, point["args"].get(series)?.as_f64()?)))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut values: Vec<f64> = points.into_iter().map(|point| point.1).collect();
    // A point has all series, also those that do not change.
    values.dedup();
    values
}

/// Rectangles of 10 x 5 pixels, whose upper left corners are given.
fn rectangles(corners: &[[f32; 2]]) -> Draw {
    let vertices = corners.iter().flat_map(|[x, y]| {
        [Vertex::at(x + 10.0, y + 5.0), Vertex::at(*x, y + 5.0), Vertex::at(*x, *y)]
    });
    Draw::new(Code::_3DPRIM_RECTLIST, vertices.collect(), WHITE)
}

fn overdraw(draws: &[&Draw], series: &str) -> Vec<f64> {
    let mut model = harness::model();
    let batch: Vec<u32> = draws.iter().flat_map(|draw| draw.batch(&mut model)).collect();
    values(&mut model, &batch, Counter::Overdraw, "overdraw", series)
}

#[test]
fn overdraw_of_rectangles() {
    let once = rectangles(&[[10.0, 10.0]]);
    assert_eq!(overdraw(&[&once], "draw"), [1.0, 0.0]);
    let twice = rectangles(&[[10.0, 10.0], [10.0, 10.0]]);
    assert_eq!(overdraw(&[&twice], "draw"), [2.0, 0.0]);
    // 100 fragments on 75 pixels.
    let shifted = rectangles(&[[10.0, 10.0], [15.0, 10.0]]);
    assert_eq!(overdraw(&[&shifted], "draw"), [100.0 / 75.0, 0.0]);
    // The whole target, twice.
    let size = SIZE as f32;
    let corners = [(size, size), (0.0, size), (0.0, 0.0)].map(|(x, y)| Vertex::at(x, y));
    let vertices = [corners, corners].concat();
    let full = Draw::new(Code::_3DPRIM_RECTLIST, vertices, WHITE);
    assert_eq!(overdraw(&[&full], "draw"), [2.0, 0.0]);
    // Two draws: each has no overdraw, the submission has.
    let both = [&once, &once];
    assert_eq!(overdraw(&both, "draw"), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(overdraw(&both, "submission"), [1.0, 0.0, 2.0, 0.0]);
}

/// A pixel has 16 bytes and a row 1024: the columns 10 to 19 are the bytes 160 to 319, in the lines
/// 2, 3 and 4 of each of five rows. A vertex has 36 bytes, of which the first 32 are read: three
/// vertices are in two lines, six in four.
#[test]
fn lines_of_rectangles() {
    for (rectangles, vertices) in
        [(rectangles(&[[10.0, 10.0]]), 2.0), (rectangles(&[[10.0, 10.0], [10.0, 10.0]]), 4.0)]
    {
        let mut model = harness::model();
        let batch = rectangles.batch(&mut model);
        let mut of = |track, client| values(&mut model, &batch, Counter::Lines, track, client);
        assert_eq!(of("cache lines written", "render target"), [15.0, 0.0]);
        assert_eq!(of("cache lines read", "vertex fetch"), [vertices, 0.0]);
        assert!(of("cache lines written", "vertex fetch").is_empty());
    }
}

/// Channels of the instructions: 8, 16, 1, 8 and 8. Of the eight channels of a thread, four are
/// enabled; the instructions with W ignore that.
const CHANNELS: &[u32] = &eu! {
    mov (8|M0)       r10.0<1>:f  1.0:f
    mov (16|M0)      r12.0<1>:f  1.0:f
    (W) mov (1|M0)   r14.0<1>:ud  0x0:ud
    (W) mov (8|M0)   r127.0<1>:ud  r0.0<8;8,1>:ud
    send (8|M0)      null  r127  0x27  0x02000010  {EOT}
};

#[test]
fn occupancy_and_messages_of_a_walker() {
    let compute = Compute { groups: [3, 1, 1], right: 0x0f, ..Compute::new(CHANNELS) };
    let mut model = Model::new();
    let batch = compute.batch(&mut model);
    let mut of = |counter, track, series| values(&mut model, &batch, counter, track, series);
    let share = of(Counter::Occupancy, "EU occupancy", "channels in %");
    let expected = 100.0 * (4 + 4 + 1 + 8 + 4) as f64 / (8 + 16 + 1 + 8 + 8) as f64;
    assert_eq!(share.len(), 2);
    assert!((share[0] - expected).abs() < 1e-9 && share[1] == 0.0, "{share:?} {expected}");
    assert_eq!(of(Counter::Occupancy, "EU threads", "started"), [3.0, 0.0]);
    let spawner = function_name(SharedFunction::ThreadSpawner);
    assert_eq!(of(Counter::Messages, "messages", spawner), [3.0, 0.0]);
}

/// A clock that advances by a microsecond at each call, of which 0.4 are CPU time.
#[derive(Debug, Default)]
struct Steps(u64);

impl HostClock for Steps {
    fn now(&mut self) -> HostTime {
        self.0 += 1;
        HostTime {
            wall: Duration::from_nanos(1000 * self.0),
            cpu: Duration::from_nanos(400 * self.0),
        }
    }
}

/// A slice: name, begin, end, arguments of the end.
type Slice = (String, f64, f64, Json);

/// The slices of a process, which must be nested in each track.
fn slices(objects: &[Json], process: u64) -> Vec<Slice> {
    let (mut slices, mut open, mut last) = (Vec::<Slice>::new(), Vec::new(), 0.0);
    for object in objects.iter().filter(|object| object["pid"] == process) {
        let time = object["ts"].as_f64();
        match object["ph"].as_str().unwrap() {
            "B" => {
                open.push(slices.len());
                let name = object["name"].as_str().unwrap().to_owned();
                slices.push((name, time.unwrap(), f64::NAN, Json::Null));
            }
            "E" => {
                let slice = &mut slices[open.pop().expect("an open slice")];
                (slice.2, slice.3) = (time.unwrap(), object["args"].clone());
            }
            _ => continue,
        }
        assert!(time.unwrap() >= last, "{object}");
        last = time.unwrap();
    }
    assert!(open.is_empty());
    slices
}

#[test]
fn slices_in_both_times() {
    let compute = Compute { groups: [2, 1, 1], ..Compute::new(CHANNELS) };
    let run = |set_up: fn(Trace<&mut Vec<u8>>) -> Trace<&mut Vec<u8>>| {
        let mut model = Model::new();
        let batch = compute.batch(&mut model);
        trace(&mut model, &batch, set_up)
    };
    let plain = run(|trace| trace);
    let objects = run(|trace| trace.with_host_time(Steps::default()));
    let [model_time, host_time] = [1, 2].map(|process| slices(&objects, process));
    assert!(model_time.iter().filter(|slice| slice.0.starts_with("group")).count() == 2);
    assert_eq!(model_time.len(), host_time.len());
    let near = |a: f64, b: &Json| (a - b.as_f64().unwrap()).abs() < 1e-6;
    for (model, host) in model_time.iter().zip(&host_time) {
        assert_eq!(model.0, host.0);
        assert!(near(host.2 - host.1, &model.3["host us"]), "{model:?} {host:?}");
        assert!(near(0.4 * (host.2 - host.1), &model.3["host CPU us"]), "{model:?} {host:?}");
        assert!(near(0.4 * (host.2 - host.1), &host.3["CPU us"]), "{model:?} {host:?}");
        assert!(near(model.2 - model.1, &host.3["model us"]), "{model:?} {host:?}");
    }
    let names: Vec<&Json> = objects
        .iter()
        .filter(|object| object["name"] == "process_name")
        .map(|object| &object["args"]["name"])
        .collect();
    assert_eq!(names, ["GPU", "host time"]);
    // Without the option, the trace has no time of the host.
    let of = |slices: Vec<Slice>| slices.into_iter().map(|slice| (slice.0, slice.1, slice.2));
    assert!(of(slices(&plain, 1)).eq(of(model_time)));
    assert!(
        plain.iter().all(|object| object["pid"] == 1 && object["args"].get("host us").is_none())
    );
    assert!(slices(&plain, 1).iter().all(|slice| slice.3.is_null()));
}
