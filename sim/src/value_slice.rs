//! Where the value of a pixel or of a range of memory comes from, in a capture or in an AUB file:
//! runs the input again for each question, see [`crate::inspect::slice`].

mod geometry;
mod made;
mod reads;

pub use made::{
    DrawState, FetchedValue, GeometrySlice, How, Made, MemoryRead, Need, StageSlice, StateMemory,
    ThreadSlice, VertexSlice, What,
};

use crate::gpu::Gpu;
use crate::inspect::history::{DrawTouch, Entry, Fragment, History, Kind, Probe};
use crate::inspect::slice::{
    Change, Locate, Located, Parent, Source, Span, StageTracer, Start, StreamTracer, Subject,
    Tracer, Wanted, Writers, state,
};
use crate::machine::events::{Event as GpuEvent, Now, Observer};
use crate::mem::Access;
use crate::pixel_history::{Answer, Stop, Until, WhyError};
use crate::runs::{ContextView, Input, Pass};
use genxml::engine::EngineId;
use reads::{MAX_RANGES, reads, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of ranges that one thread read and that have slices at the next level.
const MAX_DEEPER: usize = 4;

/// Finds the physical addresses of a range: those in the newest context, or at the newest packet of
/// a batch, that has the range mapped. Packets of a ring do not count, because a ring is in the
/// global address space.
#[derive(Debug)]
struct FindSpan {
    address: u64,
    bytes: u64,
    span: Option<Span>,
    /// Number of nested batches that each engine executes.
    batches: BTreeMap<EngineId, u32>,
}

impl FindSpan {
    fn look(&mut self, translate: &dyn Fn(u64) -> Option<u64>) {
        if let Some(span) = Span::new(self.address, self.bytes, translate) {
            self.span = Some(span);
        }
    }
}

impl Observer for FindSpan {
    fn event(&mut self, now: Now, event: &GpuEvent<'_>) {
        let batches = self.batches.entry(now.engine).or_default();
        match event {
            GpuEvent::Submission { ring, .. } => *batches = u32::from(!ring),
            GpuEvent::Batch { .. } => *batches += 1,
            GpuEvent::BatchEnd { .. } => *batches = batches.saturating_sub(1),
            GpuEvent::Packet { view, .. } if *batches > 0 => {
                self.look(&|address| view.physical(address));
            }
            _ => {}
        }
    }
}

impl Pass for FindSpan {
    fn ran(&mut self, view: &ContextView<'_>) {
        self.look(&|address| view.physical(address));
    }
}

/// The physical addresses of a range of graphics addresses; `None` if it is never mapped as a
/// whole.
///
/// # Errors
/// [`WhyError`] if the input cannot be opened.
pub fn find(
    runs: &mut dyn Runs,
    address: u64,
    bytes: u64,
) -> Result<(Option<Span>, Option<Stop>), WhyError> {
    let mut find = FindSpan { address, bytes, span: None, batches: BTreeMap::new() };
    let stop = runs.run(&mut find)?;
    Ok((find.span, stop))
}

impl Pass for Writers {
    fn label(&mut self, seq: u64) -> bool {
        Writers::label(self, seq);
        true
    }

    fn is_done(&mut self) -> bool {
        Writers::is_done(self)
    }
}

impl Pass for Locate {
    fn is_done(&mut self) -> bool {
        Locate::is_done(self)
    }
}

impl Pass for Tracer {
    fn is_done(&mut self) -> bool {
        Tracer::is_done(self)
    }
}

impl Pass for StageTracer {
    fn is_done(&mut self) -> bool {
        StageTracer::is_done(self)
    }
}

impl Pass for StreamTracer {
    fn is_done(&mut self) -> bool {
        StreamTracer::is_done(self)
    }
}

impl Pass for History {
    fn label(&mut self, seq: u64) -> bool {
        History::label(self, seq);
        true
    }

    fn is_done(&mut self) -> bool {
        self.has_ended()
    }
}

/// An input that can run several times.
pub trait Runs {
    /// Runs the input from its start until `pass` is done. Returns what stopped the run earlier.
    ///
    /// # Errors
    /// [`WhyError`] if the input cannot be opened.
    fn run(&mut self, pass: &mut dyn Pass) -> Result<Option<Stop>, WhyError>;
}

/// An input, up to a submission or frame. Each run is on a new GPU.
pub struct InputRuns<'a> {
    /// The input.
    pub input: &'a Input,
    /// Prepares the GPU of each run.
    pub set_up: &'a dyn Fn(&mut Gpu),
    /// The last thing that counts; `None` for everything.
    pub until: Option<Until>,
}

impl Runs for InputRuns<'_> {
    fn run(&mut self, pass: &mut dyn Pass) -> Result<Option<Stop>, WhyError> {
        Ok(self.input.run_until(self.set_up, self.until, pass))
    }
}

/// Where the newest value of a pixel comes from. `depth` is the number of levels: 1 for the thread
/// that wrote the pixel, 2 also for the values that this thread read... With `start`, the slice of
/// the first level starts there instead of at the colour.
///
/// # Errors
/// [`WhyError`] if the input cannot be opened again.
pub fn of_pixel(
    runs: &mut dyn Runs,
    answer: &Answer,
    start: Option<Start>,
    depth: u32,
) -> Result<Made, WhyError> {
    Slicer { runs, start, written: None }.pixel(&answer.probe, &answer.entries, depth)
}

/// The changes of a range of memory.
///
/// # Errors
/// [`WhyError`] if the input cannot be opened again.
pub fn changes(runs: &mut dyn Runs, span: Span) -> Result<(Vec<Change>, Option<Stop>), WhyError> {
    let mut writers = Writers::new([span], None);
    let stop = runs.run(&mut writers)?;
    Ok((writers.finish().pop().unwrap_or_default(), stop))
}

/// Where the newest value of a range of memory comes from.
///
/// # Errors
/// As [`of_pixel`].
pub fn of_memory(
    runs: &mut dyn Runs,
    (address, bytes): (u64, u64),
    span: Span,
    changes: &[Change],
    depth: u32,
) -> Result<Made, WhyError> {
    let value = What::Memory { address, bytes };
    Slicer { runs, start: None, written: None }.memory(value, span, changes.last().cloned(), depth)
}

/// How a value was made, and by which draw.
struct Outcome {
    how: How,
    state: Option<DrawState>,
    geometry: Option<Box<GeometrySlice>>,
}

impl Outcome {
    fn of(how: How) -> Outcome {
        Outcome { how, state: None, geometry: None }
    }

    fn made(self, value: What, writer: Option<Change>) -> Made {
        let Outcome { how, state, geometry } = self;
        Made { value, writer, how, state, geometry }
    }
}

struct Slicer<'r> {
    runs: &'r mut dyn Runs,
    /// The start of the next slice, if it is not the colour.
    start: Option<Start>,
    /// The range that the thread of the next slice wrote.
    written: Option<Span>,
}

impl Slicer<'_> {
    fn pixel(&mut self, probe: &Probe, entries: &[Entry], depth: u32) -> Result<Made, WhyError> {
        let value = What::Pixel(Box::new(probe.clone()));
        let newest = entries.iter().rfind(|entry| entry.old != entry.new).or(entries.last());
        let Some(entry) = newest else {
            return Ok(Made::new(value, None, How::Outside));
        };
        let writer = Some(change(entry));
        if let Some(touch) = entry.draw.as_ref().filter(|touch| !touch.fragments.is_empty()) {
            let outcome = self.fragment(entry, touch, probe.sample, depth)?;
            return Ok(outcome.made(value, writer));
        }
        let bytes = probe.view.surface.element_bytes as usize;
        self.memory(value, Span::physical(probe.physical, bytes), writer_of(entry), depth)
    }

    /// The slice of the fragment that made the value of a pixel.
    fn fragment(
        &mut self,
        entry: &Entry,
        touch: &DrawTouch,
        sample: u32,
        depth: u32,
    ) -> Result<Outcome, WhyError> {
        let fragments = &touch.fragments;
        let wrote = |fragment: &Fragment| fragment.new != fragment.old;
        let shaded = |fragment: &Fragment| fragment.shading.is_some();
        let chosen = fragments
            .iter()
            .rposition(wrote)
            .or_else(|| fragments.iter().rposition(shaded))
            .unwrap_or(fragments.len() - 1);
        let fragment = &fragments[chosen];
        let Some(pixel) = touch.pixel else { return Ok(Outcome::of(How::Packet)) };
        let wanted = Wanted {
            submission: entry.submission,
            subject: Subject::Pixel {
                draw: touch.number,
                pixel,
                sample,
                primitive: fragment.primitive.number,
            },
        };
        let output = fragment.outputs.last();
        let start = self.start.take().unwrap_or(Start::Output {
            binding: output.map(|output| output.binding),
            omask: output.is_some_and(|output| output.omask.is_some()),
            depth: output.is_some_and(|output| output.depth.is_some()),
        });
        self.thread(wanted, start, Some((touch.clone(), chosen)), depth)
    }

    /// The slice of a thread.
    fn thread(
        &mut self,
        wanted: Wanted,
        start: Start,
        fragment: Option<(DrawTouch, usize)>,
        depth: u32,
    ) -> Result<Outcome, WhyError> {
        let sample = match wanted.subject {
            Subject::Pixel { sample, .. } => sample,
            Subject::Thread { .. } => 0,
        };
        let mut tracer = Tracer::new(wanted);
        self.runs.run(&mut tracer)?;
        let (parent, traced) = tracer.finish();
        let written = self.written.take();
        let sliced = traced.and_then(|mut traced| {
            if let (Some(span), Start::Message { offset }) = (written, start)
                && let Some(channel) = traced.writer(offset, &span)
            {
                traced.channel = channel;
            }
            Ok((traced.slice(&start)?, traced))
        });
        let sources = sliced.as_ref().map_or_else(|_| Vec::new(), |(it, by)| sources(by, it));
        let (mut reads, reads_are_cut) = match &sliced {
            Ok((slice, traced)) => reads(traced, slice, &sources),
            Err(_) => Default::default(),
        };
        let mut geometry = self.geometry(wanted, &parent, &sources)?;
        let (state_ranges, state_is_cut) = state_ranges(&parent);
        let state_spans =
            state_ranges.iter().map(|it| Span::physical(it.physical, it.bytes as usize));
        let vertices = geometry.iter().flat_map(GeometrySlice::reads);
        let spans = reads.iter().chain(vertices).map(|read| read.span.clone());
        let mut writers = Writers::new(spans.chain(state_spans), Some(parent.number));
        self.runs.run(&mut writers)?;
        let mut changes = writers.finish();
        let state_changes = changes.split_off(changes.len() - state_ranges.len());
        let vertex_changes = changes.split_off(reads.len());
        self.written_by(reads.iter_mut().zip(changes), depth)?;
        if let Some(geometry) = &mut geometry {
            self.written_by(geometry.reads_mut().zip(vertex_changes), depth)?;
        }
        let geometry = geometry.map(Box::new);
        let packets = fragment.as_ref().map_or_else(Vec::new, |(touch, index)| {
            state::packets(&parent.state, state::reached(&touch.fragments[*index], sample))
        });
        let memory = state_ranges.iter().zip(state_changes).map(|(access, changes)| StateMemory {
            address: access.address,
            bytes: access.bytes.into(),
            client: access.client,
            writer: changes.last().cloned(),
        });
        let state = DrawState { packets, memory: memory.collect(), is_cut: state_is_cut };
        let (slice, traced) = match sliced {
            Ok(sliced) => sliced,
            Err(error) => {
                return Ok(Outcome { how: How::Failed(error), state: Some(state), geometry });
            }
        };
        let at = parent.at;
        let slice = ThreadSlice { fragment, at, traced, slice, sources, reads, reads_are_cut };
        Ok(Outcome { how: How::Thread(Box::new(slice)), state: Some(state), geometry })
    }

    /// The slice of the vertices of a pixel's primitive, without the writers of memory. `sources`
    /// is what the pixel shader reads.
    fn geometry(
        &mut self,
        wanted: Wanted,
        parent: &Parent,
        sources: &[Source],
    ) -> Result<Option<GeometrySlice>, WhyError> {
        let (Subject::Pixel { draw, .. }, Some(origin)) = (wanted.subject, &parent.origin) else {
            return Ok(None);
        };
        let mut tracer = geometry::tracer(origin, (wanted.submission, draw));
        self.runs.run(&mut tracer)?;
        let terms: Vec<_> = sources
            .iter()
            .filter_map(|source| match *source {
                Source::Attribute { number, component, term } => Some((number, component, term)),
                _ => None,
            })
            .collect();
        Ok(geometry::of_pixel(parent, origin, &tracer.finish(), &terms))
    }

    /// Completes reads of memory with the last change of each, and with its slice if the depth and
    /// the number of such slices allow it.
    fn written_by<'m>(
        &mut self,
        reads: impl Iterator<Item = (&'m mut MemoryRead, Vec<Change>)>,
        depth: u32,
    ) -> Result<(), WhyError> {
        let mut deeper = MAX_DEEPER;
        for (read, mut changes) in reads {
            read.writer = changes.pop();
            let from_host = read.writer.as_ref().is_none_or(|writer| writer.kind == Kind::Host);
            if depth > 1 && deeper > 0 && !from_host {
                deeper -= 1;
                let value = What::Memory { address: read.address, bytes: read.bytes };
                let (span, writer) = (read.span.clone(), read.writer.clone());
                read.made = Some(Box::new(self.memory(value, span, writer, depth - 1)?));
            }
        }
        Ok(())
    }

    /// How a writer made a value.
    fn memory(
        &mut self,
        value: What,
        span: Span,
        writer: Option<Change>,
        depth: u32,
    ) -> Result<Made, WhyError> {
        let Some((packet, submission)) =
            writer.as_ref().and_then(|writer| Some((writer.packet?, writer.submission)))
        else {
            return Ok(Made::new(value, writer, How::Outside));
        };
        if depth == 0 {
            return Ok(Made::new(value, writer, How::End));
        }
        let written = span.clone();
        let mut locate = Locate::new(submission, packet, span);
        self.runs.run(&mut locate)?;
        let how = match locate.finish() {
            Some(Located::Pixel(probe)) => {
                let draw = writer.as_ref().and_then(|writer| writer.draw);
                let mut history = History::new(*probe, draw);
                self.runs.run(&mut history)?;
                let (probe, entries) = (history.probe().clone(), history.entries().to_vec());
                let entries: Vec<Entry> = entries
                    .into_iter()
                    .filter(|entry| entry.draw.as_ref().map(|draw| draw.number) == draw)
                    .collect();
                return self.pixel_of_draw(value, writer, &probe, &entries, depth);
            }
            Some(Located::Source { address, pixel, span }) => {
                let source = match span {
                    Some(span) => {
                        let mut writers = Writers::new([span.clone()], Some(packet));
                        self.runs.run(&mut writers)?;
                        let changes = writers.finish().pop().unwrap_or_default();
                        let bytes: usize = span.pieces.iter().map(|(_, bytes)| bytes).sum();
                        let value = What::Memory { address, bytes: bytes as u64 };
                        self.memory(value, span, changes.last().cloned(), depth - 1)?
                    }
                    None => Made::new(What::Memory { address, bytes: 0 }, None, How::Unreadable),
                };
                How::Copied { pixel, source: Box::new(source) }
            }
            Some(Located::Filled) => How::Filled,
            Some(Located::Thread { thread, ip }) => {
                let subject = Subject::Thread { packet, thread };
                let wanted = Wanted { submission, subject };
                let start = Start::Message { offset: ip };
                self.written = Some(written);
                return Ok(self.thread(wanted, start, None, depth)?.made(value, writer));
            }
            None => {
                let outcome = self.streamed(&value, writer.as_ref(), depth)?;
                return Ok(outcome.unwrap_or(Outcome::of(How::Packet)).made(value, writer));
            }
        };
        Ok(Made::new(value, writer, how))
    }

    /// The vertices that stream output wrote to memory; `None` if it did not write the value.
    fn streamed(
        &mut self,
        value: &What,
        writer: Option<&Change>,
        depth: u32,
    ) -> Result<Option<Outcome>, WhyError> {
        let found = writer.and_then(|it| Some((it.packet?, it.submission, it.draw?)));
        let (What::Memory { address, bytes }, Some((packet, submission, draw))) = (value, found)
        else {
            return Ok(None);
        };
        let mut tracer = StreamTracer::new(packet, *address..address.saturating_add(*bytes));
        self.runs.run(&mut tracer)?;
        let Some((origin, needs)) = tracer.finish() else { return Ok(None) };
        let mut tracer = geometry::tracer(&origin, (submission, draw));
        self.runs.run(&mut tracer)?;
        let mut slice = geometry::slice(&origin, &tracer.finish(), &needs);
        let spans: Vec<Span> = slice.reads().map(|read| read.span.clone()).collect();
        let mut writers = Writers::new(spans, Some(packet));
        self.runs.run(&mut writers)?;
        self.written_by(slice.reads_mut().zip(writers.finish()), depth)?;
        let geometry = Some(Box::new(slice));
        Ok(Some(Outcome { how: How::Streamed, state: None, geometry }))
    }

    /// As [`pixel`](Self::pixel), for an address that the draw of `writer` wrote.
    fn pixel_of_draw(
        &mut self,
        value: What,
        writer: Option<Change>,
        probe: &Probe,
        entries: &[Entry],
        depth: u32,
    ) -> Result<Made, WhyError> {
        let entry = entries.last();
        let outcome = match entry.and_then(|entry| Some((entry, entry.draw.as_ref()?))) {
            Some((entry, touch)) if !touch.fragments.is_empty() => {
                self.fragment(entry, touch, probe.sample, depth)?
            }
            _ => Outcome::of(How::Packet),
        };
        Ok(outcome.made(value, writer))
    }
}

/// The entry of a history as a change.
fn change(entry: &Entry) -> Change {
    Change {
        kind: entry.kind,
        submission: entry.submission,
        label: entry.label,
        packet: entry.packet,
        at: entry.at,
        draw: entry.draw.as_ref().map(|draw| draw.number),
        old: entry.old.as_ref().map(|value| value.bytes.clone()),
        new: entry.new.as_ref().map(|value| value.bytes.clone()).unwrap_or_default(),
    }
}

fn writer_of(entry: &Entry) -> Option<Change> {
    Some(change(entry))
}

/// The state and vertices that a packet and its threads read, each range once, and whether the list
/// is cut.
fn state_ranges(parent: &Parent) -> (Vec<Access>, bool) {
    let mut known = BTreeSet::new();
    let mut ranges: Vec<Access> = parent
        .reads
        .iter()
        .filter(|access| known.insert((access.address, access.bytes)))
        .copied()
        .collect();
    ranges.sort_by_key(|access| (access.client, access.address));
    let is_cut = ranges.len() > MAX_RANGES;
    ranges.truncate(MAX_RANGES);
    (ranges, is_cut)
}
