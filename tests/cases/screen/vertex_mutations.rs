//! Slices of pixels of captures, against runs with changed vertex data. A bit of a byte that the
//! slice names must change the vertices of the pixel's primitive. A byte of the same vertex buffer
//! that the slice does not name must change neither these vertices nor the pixel.

use genxml::capture::Capture;
use genxml_sim::Gpu;
use genxml_sim::inspect::history::{History, Kind};
use genxml_sim::inspect::slice::{Clock, Fetched};
use genxml_sim::machine::events::{Event, Now, Observer};
use genxml_sim::machine::origins::OriginEvent;
use genxml_sim::machine::watched::WatchedPixel;
use genxml_sim::mem::Client;
use genxml_sim::pixel_history::{Answer, Question, of_capture};
use genxml_sim::replay::{Replay, Step};
use genxml_sim::runs::Input;
use genxml_sim::value_slice::{GeometrySlice, How, InputRuns, of_pixel};
use genxml_testkit::{Random, corpus};
use std::collections::BTreeSet;

/// The captures: with a vertex shader, without one, with a geometry shader.
const CAPTURES: [&str; 6] =
    ["gl_iris", "igt_render_copy", "kmscube", "pg_depthstencil", "pg_gs_clip", "vk_triangle"];
/// Changes of each kind for a pixel.
const CHANGES: usize = 1;

/// The vertices of a primitive of a draw.
struct Seen {
    draw: u64,
    primitive: u32,
    pixel: WatchedPixel,
    clock: Clock,
    vertices: Option<[Vec<u32>; 3]>,
}

impl Observer for Seen {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        self.clock.event(event);
        if let Event::Origin(OriginEvent::Clipped(clipped)) = event
            && self.follows()
            && clipped.number == self.primitive
        {
            self.vertices = Some(clipped.vertices.map(<[u32]>::to_vec));
        }
    }

    fn watches(&self) -> Option<WatchedPixel> {
        self.follows().then_some(self.pixel)
    }

    fn follows(&self) -> bool {
        self.clock.draws == self.draw
    }
}

/// A pixel of a capture, with the slice of its vertices.
struct Subject<'c> {
    capture: &'c Capture,
    answer: Answer,
    slice: Box<GeometrySlice>,
    draw: u64,
    seq: u64,
    pixel: WatchedPixel,
    /// Addresses of all bytes of vertex and index buffers that the draw reads, without those of its
    /// state.
    fetched: Vec<u64>,
}

/// What a run shows.
#[derive(PartialEq, Debug)]
struct Shown {
    /// The dwords of the primitive's vertices that the slice says are used.
    used: Option<Vec<u32>>,
    /// Bytes of the pixel.
    value: Vec<u8>,
}

impl Subject<'_> {
    /// Runs the capture with a byte changed while the draw's submission runs.
    fn run(&self, change: Option<(u64, u8)>) -> Shown {
        let mut seen = Seen {
            draw: self.draw,
            primitive: self.slice.primitive,
            pixel: self.pixel,
            clock: Clock::default(),
            vertices: None,
        };
        let value = self.replay(change, &mut seen);
        let used = seen.vertices.map(|vertices| {
            let dwords = self.slice.vertices.iter().flat_map(|vertex| {
                let value = &vertices[vertex.number];
                vertex.needs.iter().map(|need| value.get(need.dword).copied().unwrap_or(0))
            });
            dwords.collect()
        });
        Shown { used, value }
    }

    fn replay(&self, change: Option<(u64, u8)>, observer: &mut dyn Observer) -> Vec<u8> {
        let (probe, value) = (&self.answer.probe, self.answer.value.as_ref().unwrap());
        let mut replay = Replay::new(self.capture);
        if let Some((address, byte)) = change {
            replay.replace(self.seq, address, vec![byte]);
        }
        let mut bytes = vec![0; value.bytes.len()];
        while let Some(step) = replay.step_observed(&mut *observer) {
            if let Step::Exec { result: Err(fault), .. } = step {
                panic!("{fault}");
            }
            if replay.object_at(probe.physical).is_some() {
                replay.gpu().memory.read_physical(probe.physical, &mut bytes).unwrap();
            }
        }
        bytes
    }

    /// The primitives of the draw that are drawn at the pixel.
    fn primitives(&self, change: Option<(u64, u8)>) -> BTreeSet<u32> {
        let mut history = History::new(self.answer.probe.clone(), None);
        self.replay(change, &mut history);
        let touches = history.entries().iter().filter_map(|entry| entry.draw.as_ref());
        let fragments = touches.filter(|it| it.number == self.draw).flat_map(|it| &it.fragments);
        fragments.filter(|it| it.coverage.is_some()).map(|it| it.primitive.number).collect()
    }
}

/// The pixel, if its value was made by a draw whose vertices the slice has.
fn subject<'c>(capture: &'c Capture, input: &Input, at: [u32; 2]) -> Option<Subject<'c>> {
    let question = Question { at, sample: 0, target: None, until: None };
    let set_up = |_: &mut Gpu| ();
    let answer = of_capture(capture, &question, &set_up).unwrap();
    let mut runs = InputRuns { input, set_up: &set_up, until: None };
    let made = of_pixel(&mut runs, &answer, None, 1).unwrap();
    let How::Thread(thread) = &made.how else { return None };
    let (touch, _) = thread.fragment.as_ref()?;
    let entry = answer
        .entries
        .iter()
        .find(|entry| entry.draw.as_ref().is_some_and(|draw| draw.number == touch.number))?;
    let (draw, seq, [x, y]) = (touch.number, entry.label?, touch.pixel?);
    let slice = made.geometry?;
    let memory = made.state.iter().flat_map(|state| &state.memory);
    let fetched = memory
        .filter(|memory| memory.client == Client::Vertices)
        .flat_map(|memory| memory.address..memory.address + memory.bytes)
        .collect();
    let pixel = WatchedPixel { x, y };
    Some(Subject { capture, answer, slice, draw, seq, pixel, fetched })
}

/// A named byte: its address, its value, and whether it is the last one of a value.
struct Byte {
    address: u64,
    value: u8,
    is_last: bool,
}

/// The bytes of vertex and index buffers that the slice names, written by the host.
fn named(slice: &GeometrySlice) -> Vec<Byte> {
    let mut named = Vec::new();
    for vertex in slice.vertices.iter().chain(&slice.inputs) {
        let values = vertex.fetched.iter().filter_map(|value| {
            let Fetched::Buffer { .. } = value.from else { return None };
            value.read.as_ref()
        });
        for read in values.chain(&vertex.index) {
            let Some(writer) = read.writer.as_ref().filter(|it| it.kind == Kind::Host) else {
                continue;
            };
            for (n, value) in writer.new.iter().enumerate() {
                let (address, is_last) = (read.address + n as u64, n + 1 == writer.new.len());
                named.push(Byte { address, value: *value, is_last });
            }
        }
    }
    named
}

/// Oracle: runs of the captures with changed bytes.
#[test]
fn named_bytes_matter_and_others_do_not() {
    let mut random = Random::new(71);
    // One pixel of each capture; GENXML_MUTATIONS sets another number.
    let pixels_of_each: u64 =
        std::env::var("GENXML_MUTATIONS").map_or(1, |count| count.parse().expect("a number"));
    let folders = corpus::captures();
    let is_chosen = |name: &str| CAPTURES.contains(&name);
    let (mut pixels, mut flipped, mut changed, mut others, mut values) = (0, 0, 0, 0, 0);
    for path in folders {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !is_chosen(&name) {
            continue;
        }
        let capture = Capture::open(&path).unwrap();
        let input = Input::open(&path).unwrap();
        let question = Question { at: [0, 0], sample: 0, target: None, until: None };
        let first = of_capture(&capture, &question, &|_| ()).unwrap();
        let level = first.probe.view.level;
        for _ in 0..pixels_of_each {
            let at = [level.width, level.height].map(|size| random.below(size.into()) as u32);
            let Some(subject) = subject(&capture, &input, at) else { continue };
            let bytes = named(&subject.slice);
            if bytes.is_empty() {
                continue;
            }
            pixels += 1;
            let before = subject.run(None);
            let expected: Vec<u32> = (subject.slice.vertices.iter())
                .flat_map(|vertex| vertex.needs.iter().map(|need| need.bits.unwrap()))
                .collect();
            assert_eq!(before.used.as_ref(), Some(&expected), "{name} {at:?}");
            // The last byte of a float has its exponent; for other formats any bit matters.
            let last: Vec<&Byte> = bytes.iter().filter(|byte| byte.is_last).collect();
            for _ in 0..CHANGES {
                let Byte { address, value, .. } = last[random.below(last.len() as u64) as usize];
                let after = subject.run(Some((*address, value ^ 0x40)));
                flipped += 1;
                changed += usize::from(after.used != before.used);
            }
            let known: BTreeSet<u64> = bytes.iter().map(|byte| byte.address).collect();
            let other = |address: &&u64| !known.contains(*address);
            let gaps: Vec<u64> = subject.fetched.iter().filter(other).copied().collect();
            for _ in 0..CHANGES.min(gaps.len()) {
                let address = gaps[random.below(gaps.len() as u64) as usize];
                let change = Some((address, random.below(256) as u8));
                let after = subject.run(change);
                assert_eq!(after.used, before.used, "{name} {at:?}: {address:#x}");
                others += 1;
                // Another primitive that moved to the pixel or away from it can change the value.
                if after.value == before.value {
                    values += 1;
                } else {
                    let (old, new) = (subject.primitives(None), subject.primitives(change));
                    assert_ne!(old, new, "{name} {at:?}: {address:#x} changes the pixel");
                }
            }
        }
    }
    println!(
        "{pixels} pixels, {changed} of {flipped} named bytes matter, {others} other bytes, \
         {values} of them without effect on the value"
    );
    if corpus::folder().is_some() {
        assert!(pixels >= 4 && changed * 4 >= flipped * 3, "{pixels} {changed} of {flipped}");
        assert!(others >= 4 && values * 2 >= others, "{others} {values}");
    } else {
        println!("skipped: there is no ../shared/corpus");
    }
}
