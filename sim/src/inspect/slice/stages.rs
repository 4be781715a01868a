//! The observer that records threads of the vertex and geometry shader in a draw, and finds what
//! vertex fetch read for vertices.

use super::clock::Clock;
use super::fetch::{Fetched, VertexFetch};
use super::origins::Batch;
use super::record::Recording;
use super::tracer::{Code, Traced};
use super::walk::SliceError;
use super::writers::Span;
use crate::assumptions::URB_HANDLE_BYTES;
use crate::machine::drawing::Drawing;
use crate::machine::events::{Event, Now, Observer};
use crate::mem::Access;
use crate::render::gs::{Mode, Output};
use crate::render::stage::{Dispatch, UrbPacket};
use crate::render::vue::{Entries, SLOT};
use genxml::gen8::render3d_stages::{
    ThreeDStateGs, ThreeDStateTe, ThreeDStateUrbDs, ThreeDStateUrbGs, ThreeDStateUrbVs,
    ThreeDStateVs,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of dwords of a vertex.
const MAX_DWORDS: usize = 256;

/// The URB entries of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Urb {
    /// Byte offset of the first entry.
    pub first: usize,
    /// Bytes of an entry.
    pub bytes: usize,
}

impl Urb {
    fn of(entries: Entries) -> Urb {
        Urb { first: entries.handle(0) as usize * URB_HANDLE_BYTES, bytes: 4 * entries.dwords() }
    }

    /// Byte offset of a dword of an entry.
    pub fn dword(&self, entry: usize, dword: usize) -> usize {
        self.first + entry * self.bytes + 4 * dword
    }

    /// The entry and the dword in it at a byte offset.
    pub fn find(&self, urb: usize) -> Option<(usize, usize)> {
        let at = urb.checked_sub(self.first)?;
        Some((at.checked_div(self.bytes)?, at % self.bytes / 4))
    }
}

/// How threads of the vertex shader work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VertexStage {
    /// Vertices of a thread.
    pub width: usize,
    /// Channels of a vertex.
    pub channels: usize,
    /// The URB entries.
    pub urb: Urb,
}

/// How threads of the geometry shader work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeometryStage {
    /// Channels of a lane.
    pub channels: usize,
    /// Dwords of an entry before the first vertex.
    pub first: usize,
    /// Dwords of a vertex.
    pub dwords: usize,
    /// The URB entries that the threads write.
    pub urb: Urb,
    /// The URB entries of their input.
    pub input: Urb,
    /// Vertices of an input primitive.
    pub expected: usize,
}

/// A vertex of the batch: its number, its instance, and where each of its dwords comes from.
#[derive(Clone, PartialEq, Debug)]
pub struct FetchedVertex {
    /// The vertex number: for an indexed draw, the index before Base Vertex Location is added.
    pub number: u32,
    /// The instance.
    pub instance: u32,
    /// The dwords.
    pub dwords: Vec<Fetched>,
}

/// An index of a vertex of the primitive.
#[derive(Clone, Debug)]
pub struct FetchedIndex {
    /// The vertex of the primitive.
    pub vertex: usize,
    /// Graphics address.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Physical addresses.
    pub span: Span,
}

/// What a run finds about the stages before the rasteriser.
#[derive(Debug, Default)]
pub struct Stages {
    /// The vertex shader; `None` if vertices are not shaded.
    pub vertex: Option<VertexStage>,
    /// The geometry shader.
    pub geometry: Option<GeometryStage>,
    /// The recorded threads, by their number.
    pub threads: BTreeMap<u64, Result<Arc<Traced>, SliceError>>,
    /// The vertices, by their index in the batch.
    pub vertices: BTreeMap<u32, FetchedVertex>,
    /// The indices of the vertices of the primitive that was assembled from the batch.
    pub indices: Vec<FetchedIndex>,
}

/// Records threads of the stages before the rasteriser.
#[derive(Debug)]
pub struct StageTracer {
    submission: u64,
    draw: u64,
    batch: Batch,
    /// Vertices of the batch that are looked at, in the order of the primitive.
    vertices: Vec<u32>,
    /// Number of the assembled primitive in the draw; `None` to skip the index buffer.
    primitive: Option<u64>,
    /// Other threads to record.
    others: BTreeSet<u64>,
    clock: Clock,
    is_now: bool,
    is_done: bool,
    kernels: BTreeMap<u64, Code>,
    /// Threads of the draw that have started.
    started: u64,
    /// The thread that is recorded now: its number in the draw, and the model's number.
    runs: Option<(u64, u32)>,
    wanted: BTreeSet<u64>,
    recorded: BTreeMap<u64, (Recording, Accesses)>,
    stages: Stages,
}

/// Accesses of messages, as in [`Traced::accesses`].
type Accesses = BTreeMap<(usize, Option<u8>), Vec<Access>>;

impl StageTracer {
    /// An observer for draw `draw`, which is part of submission `submission`; both count from 1 on.
    /// It records the threads `others`, and the vertex shader threads of `vertices`, which are
    /// indices into the vertices of `batch`. `primitive` is the number of the primitive that is
    /// assembled from these vertices.
    pub fn new(
        (submission, draw): (u64, u64),
        batch: Batch,
        vertices: Vec<u32>,
        primitive: Option<u64>,
        others: BTreeSet<u64>,
    ) -> StageTracer {
        StageTracer {
            submission,
            draw,
            batch,
            vertices,
            primitive,
            others,
            clock: Clock::default(),
            is_now: false,
            is_done: false,
            kernels: BTreeMap::new(),
            started: 0,
            runs: None,
            wanted: BTreeSet::new(),
            recorded: BTreeMap::new(),
            stages: Stages::default(),
        }
    }

    /// True if the draw has ended.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// What the run found.
    pub fn finish(mut self) -> Stages {
        for number in self.wanted {
            let traced = match self.recorded.remove(&number) {
                None => Err(SliceError::NoThread),
                Some((recording, accesses)) => match self.kernels.get(&recording.kernel) {
                    Some(code) if !code.is_empty() => {
                        let code = code.clone();
                        Ok(Arc::new(Traced { recording, channel: 0, accesses, code }))
                    }
                    _ => Err(SliceError::NoKernel(recording.kernel)),
                },
            };
            self.stages.threads.insert(number, traced);
        }
        self.stages
    }

    fn begin(&mut self, drawing: &Drawing<'_>) {
        self.is_now = self.clock.draws == self.draw;
        if !self.is_now {
            return;
        }
        let vs: ThreeDStateVs = drawing.latched();
        let gs: ThreeDStateGs = drawing.latched();
        let inputs: ThreeDStateUrbVs = drawing.latched();
        self.kernels = Code::before_pixels(drawing);
        if vs.function_enable {
            let Dispatch { simd8, width } = Dispatch::of_vs(&vs);
            let channels = if simd8 { 1 } else { SLOT };
            self.stages.vertex =
                Some(VertexStage { width, channels, urb: Urb::of(inputs.entries()) });
        }
        if gs.enable {
            let te: ThreeDStateTe = drawing.latched();
            let patches: ThreeDStateUrbDs = drawing.latched();
            let outputs: ThreeDStateUrbGs = drawing.latched();
            let input = if te.te_enable { patches.entries() } else { inputs.entries() };
            let output = Output::of(&gs);
            self.stages.geometry = Some(GeometryStage {
                channels: if Mode::of(&gs) == Mode::Simd8 { 1 } else { SLOT },
                first: output.first(),
                dwords: output.dwords,
                urb: Urb::of(outputs.entries()),
                input: Urb::of(input),
                expected: gs.expected_vertex_count.get() as usize,
            });
        }
        self.threads();
        self.fetch(drawing);
    }

    /// Selects the threads to record.
    fn threads(&mut self) {
        self.wanted = std::mem::take(&mut self.others);
        if let Some(stage) = &self.stages.vertex {
            let width = stage.width.max(1) as u64;
            let thread = |vertex: &u32| self.batch.first_thread + u64::from(*vertex) / width;
            self.wanted.extend(self.vertices.iter().map(thread));
        }
    }

    /// Finds what vertex fetch reads.
    fn fetch(&mut self, drawing: &Drawing<'_>) {
        let Some(fetch) = VertexFetch::of(drawing) else { return };
        let instance = self.batch.instance;
        // A thread can read the vertices of its other lanes.
        let width = self.stages.vertex.map_or(1, |stage| stage.width.max(1)) as u32;
        for vertex in &self.vertices {
            let first = vertex / width * width;
            for lane in first..first.saturating_add(width) {
                let Some(entry) = self.batch.vertices.get(lane as usize) else { break };
                if self.stages.vertices.contains_key(&lane) {
                    continue;
                }
                let number = match self.batch.cached {
                    true => *entry,
                    false => fetch.number(drawing, *entry),
                };
                let dwords = (0..MAX_DWORDS)
                    .map(|dword| fetch.dword(drawing, dword, number, instance))
                    .collect();
                self.stages.vertices.insert(lane, FetchedVertex { number, instance, dwords });
            }
        }
        let Some(primitive) = self.primitive.filter(|_| fetch.is_indexed()) else { return };
        let positions = fetch.positions(drawing, primitive).unwrap_or_default();
        for (vertex, position) in positions.into_iter().enumerate() {
            let Some(index) = fetch.index(position) else { continue };
            let (address, bytes) = (index.address, index.bytes);
            if let Some(span) = Span::new(address, bytes, &|address| drawing.physical(address)) {
                self.stages.indices.push(FetchedIndex { vertex, address, bytes, span });
            }
        }
    }

    fn thread(&mut self, kernel: u64, thread: u32, payload: &[u8]) {
        let number = self.started;
        self.started += 1;
        if self.wanted.contains(&number) {
            let recording = Recording::new(kernel, thread, payload);
            self.recorded.insert(number, (recording, Accesses::new()));
            self.runs = Some((number, thread));
        }
    }

    fn running(&mut self, thread: u32) -> Option<&mut (Recording, Accesses)> {
        let (number, _) = self.runs.filter(|(_, own)| *own == thread)?;
        self.recorded.get_mut(&number)
    }
}

impl Observer for StageTracer {
    fn event(&mut self, _: Now, event: &Event<'_>) {
        self.clock.event(event);
        if self.is_done {
            return;
        }
        match event {
            Event::Draw(drawing) => self.begin(drawing),
            Event::Memory { after: Some(_), .. } if self.is_now => {
                (self.is_now, self.is_done) = (false, true);
            }
            Event::Thread { kernel, thread, payload } if self.is_now => {
                self.thread(*kernel, *thread, payload);
            }
            Event::Instruction { thread, ip, mask, registers, .. } if self.is_now => {
                if let Some((recording, _)) = self.running(*thread) {
                    recording.instruction(*ip, *mask, registers);
                }
            }
            Event::Accesses { thread: Some(thread), channel, list, .. } if self.is_now => {
                if let Some((recording, accesses)) = self.running(*thread)
                    && let Some(step) = recording.steps.len().checked_sub(1)
                {
                    accesses.entry((step, *channel)).or_default().extend_from_slice(list);
                }
            }
            Event::ThreadEnd { thread, .. } if self.runs.is_some_and(|(_, own)| own == *thread) => {
                self.runs = None;
            }
            _ => {}
        }
    }

    fn wants_accesses(&self) -> bool {
        !self.is_done && self.clock.submissions + 1 >= self.submission
    }

    fn wants_channels(&self) -> bool {
        self.wants_accesses()
    }

    fn wants_instructions_of(&self, _: u64, thread: u32) -> bool {
        self.runs.is_some_and(|(_, own)| own == thread)
    }
}
