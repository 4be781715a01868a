//! The stages from vertex fetch to setup, for draws without tessellation, geometry shader and
//! stream output. [`ClipSetup`] is the clipper and setup. It also processes the primitives that
//! those other stages make.
//!
//! Batches are independent of each other, so that several host threads can work on them
//! ([`FrontEnd`]). What threads of the vertex shader write to the URB is recorded and merged in
//! order: after a draw, the URB has the contents that one host thread would leave.

use super::clip::{self, ClipVertex, Remains};
use super::primitives::{BinnedPrimitive, SetupPrimitive};
use super::raster_state::RasterState;
use super::sbe::{About, Attributes};
use super::screen_vertices::{ScreenVertices, Triangles};
use super::sf::TriangleInfo;
use super::state;
use super::tiles;
use super::topology::{Edges, Primitive, ProvokingSelects, Shape};
use super::vf::Fetch;
use super::vs::VertexShader;
use super::vue::{Vertices, dword, floats, place};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::origins::{Clipped, ClippedCorner, OriginEvent, VertexBatch};
use crate::machine::parallel::{Estimate, Work};
use crate::machine::slots::UnitState;
use crate::machine::state::State;
use crate::machine::watchdog;
use crate::machine::watched::{Fate, PixelEvent, PrimitiveInfo, WatchedPixel};
use crate::pixel::coordinates::{Rect, SUBPIXEL_BITS};
use crate::pixel::interpolate::Attribute;
use crate::pixel::viewport::Transform;
use crate::unit::Program;
use crate::unit::urb::{self, Urb};
use genxml::gen8::registers::{ClInvocationCount, ClPrimitivesCount, VsInvocationCount};
use genxml::gen8::render3d_raster::{ThreeDStateClip, ThreeDStateSf};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

mod triangles;

/// Primitives with the setup data of their attributes.
pub type Bins = tiles::Bins<BinnedPrimitive, [Attribute; 4]>;

/// Bins whose memory is reused.
type Spare = tiles::Spare<BinnedPrimitive, [Attribute; 4]>;

impl UnitState for Spare {}

/// Time to fetch a vertex, in nanoseconds, for estimates.
const VERTEX_TIME: u64 = 30;
/// Time to clip and set up a primitive, in nanoseconds, for estimates.
const PRIMITIVE_TIME: u64 = 150;

/// The resolved state of clipper and setup.
#[derive(Debug)]
pub struct SetupState {
    /// State of the stages from the clipper to the rasteriser.
    pub raster: RasterState,
    /// State of the fast path of triangles; `None` if all primitives take the general path.
    triangles: Option<Triangles>,
    attributes: Attributes,
    /// There is a pixel shader, which needs attributes.
    shades: bool,
    /// The pixel that an observer watches in this draw.
    watched: Option<WatchedPixel>,
    /// Clipper Statistics Enable (3DSTATE_CLIP): CL_INVOCATION_COUNT counts.
    counts_invocations: bool,
    /// Statistics Enable (3DSTATE_SF): CL_PRIMITIVES_COUNT counts (2a p.211-215).
    counts_primitives: bool,
}

impl SetupState {
    /// Resolves the state from the packets.
    pub fn resolve(
        exec: &Exec<'_>,
        raster: RasterState,
        attributes: Attributes,
        shades: bool,
        watched: Option<WatchedPixel>,
    ) -> SetupState {
        SetupState {
            // The general path emits the events of a watched pixel.
            triangles: if watched.is_none() { Triangles::of(&raster) } else { None },
            raster,
            attributes,
            shades,
            watched,
            counts_invocations: state::packet::<ThreeDStateClip>(exec).clipper_statistics_enable,
            counts_primitives: state::packet::<ThreeDStateSf>(exec).statistics_enable,
        }
    }
}

/// Counts of vertices and primitives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Counts {
    /// Vertices that the vertex shader shaded (VS_INVOCATION_COUNT).
    shaded: u64,
    /// Primitives that entered the clipper (CL_INVOCATION_COUNT).
    clipped: u64,
    /// Primitives that the clipper did not reject (CL_PRIMITIVES_COUNT).
    kept: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.shaded += other.shaded;
        self.clipped += other.clipped;
        self.kept += other.kept;
    }
}

/// Clipper and setup: the part of their state that changes during a draw.
#[derive(Debug)]
pub struct ClipSetup {
    /// Primitives that are set up and not drawn yet.
    pub bins: Bins,
    /// Position in the line stipple pattern.
    stipple: u32,
    /// The part of the current primitive that is left after clipping.
    remains: Remains,
    /// Number of the next primitive of the draw.
    number: u32,
    counts: Counts,
}

/// A primitive that goes to the clipper.
#[derive(Clone, Copy, Debug)]
pub struct ClipPrimitive {
    /// Point, line, triangle or rectangle.
    pub shape: Shape,
    /// The vertices, as indices into a list. If the shape has fewer than three vertices, the last
    /// one is repeated.
    pub vertices: [u32; 3],
    /// Index of the provoking vertex, 0 to 2.
    pub provoking: u8,
    /// Primitive ID.
    pub id: u32,
    /// Edges that wireframes draw.
    pub edges: [bool; 3],
    /// For lines: the stipple pattern starts at this line.
    pub first: bool,
    /// For lines: this line is the last one of a strip, or a line of a list.
    pub last: bool,
    /// The polygon stipple applies.
    pub stippled: bool,
}

/// A primitive of an [`Item`].
pub trait ItemPrimitive: Sized {
    /// Converts a primitive, and replaces each vertex that it keeps by the result of `index`.
    fn of(primitive: &Primitive, selects: ProvokingSelects, index: impl FnMut(u32) -> u32) -> Self;
}

impl ItemPrimitive for Primitive {
    fn of(primitive: &Primitive, _: ProvokingSelects, index: impl FnMut(u32) -> u32) -> Primitive {
        primitive.map(index)
    }
}

impl ItemPrimitive for ClipPrimitive {
    #[inline]
    fn of(
        primitive: &Primitive,
        selects: ProvokingSelects,
        mut index: impl FnMut(u32) -> u32,
    ) -> ClipPrimitive {
        let vertices = match *primitive.vertices() {
            [] => [0; 3],
            [a] => [index(a); 3],
            [a, b] => {
                let (a, b) = (index(a), index(b));
                [a, b, b]
            }
            [a, b, c, ..] => [index(a), index(b), index(c)],
        };
        ClipPrimitive {
            shape: primitive.shape,
            vertices,
            provoking: primitive.provoking(&selects) as u8,
            id: primitive.id,
            edges: primitive.edges,
            first: primitive.first,
            last: primitive.last,
            stippled: primitive.stippled,
        }
    }
}

/// The clipper's input: a primitive with its vertices.
#[derive(Clone, Copy, Debug)]
pub struct ClipInput<'a> {
    /// The primitive.
    pub primitive: ClipPrimitive,
    /// The dwords of each vertex.
    pub vertices: [&'a [u32]; 3],
}

impl<'a> ClipInput<'a> {
    /// The input for a primitive whose vertices are indices into `vertices`.
    pub fn new(vertices: &'a Vertices, primitive: ClipPrimitive) -> ClipInput<'a> {
        let vertex = |n: u32| vertices.get(n as usize);
        ClipInput { primitive, vertices: primitive.vertices.map(vertex) }
    }
}

/// What the bins need of a primitive besides the result of setup.
#[derive(Clone, Copy, Debug)]
struct BinEntry<'a> {
    primitive: &'a ClipPrimitive,
    vertices: [&'a [u32]; 3],
    viewport: usize,
    array_index: u32,
    number: u32,
}

impl BinEntry<'_> {
    /// Puts the result of setup into the bins. It can cover only `pixels`.
    #[inline]
    fn push(
        &self,
        exec: &mut Exec<'_>,
        state: &SetupState,
        bins: &mut Bins,
        pixels: Rect,
        setup: &SetupPrimitive,
    ) -> Result<(), Fault> {
        let about = About {
            primitive_id: self.primitive.id,
            back: setup.back,
            corner: setup.corner,
            provoking: self.primitive.provoking.into(),
        };
        let primitive = BinnedPrimitive {
            setup: *setup,
            shape: self.primitive.shape,
            viewport: self.viewport,
            array_index: self.array_index,
            stippled: self.primitive.stippled,
            number: self.number,
        };
        bins.push(exec, pixels, primitive, |setup| {
            if state.shades {
                state.attributes.setup(self.vertices, &about, setup);
            }
        })
    }
}

impl ClipSetup {
    /// Clipper and setup at the start of a draw.
    fn new(state: &SetupState, bins: Bins) -> ClipSetup {
        ClipSetup {
            bins,
            stipple: state.raster.line_stipple.map_or(0, |(_, start)| start),
            remains: Remains::default(),
            number: 0,
            counts: Counts::default(),
        }
    }

    /// Clips and sets up a primitive, and puts the result into the bins.
    ///
    /// # Errors
    /// [`Fault::Hang`] if the budget is used up.
    pub fn primitive(
        &mut self,
        exec: &mut Exec<'_>,
        state: &SetupState,
        input: &ClipInput<'_>,
    ) -> Result<(), Fault> {
        let ClipSetup { bins, stipple, remains, number, counts } = self;
        let SetupState { raster, .. } = state;
        let ClipInput { primitive, vertices: dwords } = input;
        exec.spend(watchdog::OBJECT)?;
        let leader = dwords[usize::from(primitive.provoking)];
        let viewport = raster.viewport(dword(leader, place::VIEWPORT));
        let array_index = raster.array_index(leader);
        let vertices = dwords.map(clip_vertex);
        let clip_state =
            clip::ClipState { guard_band: raster.viewports[viewport].guard_band, ..raster.clip };
        let count = primitive.shape.corners();
        let verdict = clip::clip(&clip_state, &vertices[..count], remains);
        counts.clipped += 1;
        counts.kept += u64::from(verdict != clip::Verdict::Reject);
        let setup = raster.setup_of(viewport);
        let entry =
            BinEntry { primitive, vertices: *dwords, viewport, array_index, number: *number };
        let (mut made, mut result) = (false, Ok(()));
        let mut each = |primitive: &SetupPrimitive| {
            made = true;
            let pixels = primitive.pixels(&raster.multisample.samples);
            let pixels = raster.window(viewport, Rect::SCREEN).intersection(pixels);
            if pixels.is_empty() || result.is_err() {
                return;
            }
            result = entry.push(exec, state, bins, pixels, primitive);
        };
        let width = |vertex: &[u32]| f32::from_bits(dword(vertex, place::POINT_WIDTH));
        match primitive.shape {
            Shape::Point => setup.point(&vertices[0], verdict, width(dwords[0]), &mut each),
            Shape::Line => {
                if primitive.first {
                    *stipple = raster.line_stipple.map_or(0, |(_, start)| start);
                }
                let ends = [vertices[0], vertices[1]];
                let along =
                    setup.line(&ends, verdict, remains, *stipple, primitive.last, &mut each);
                *stipple = stipple.wrapping_add(along);
            }
            Shape::Rectangle => setup.rectangle(&vertices, verdict, &mut each),
            _ => {
                let info = TriangleInfo { edges: primitive.edges, point_width: dwords.map(width) };
                setup.triangle(&vertices, verdict, remains, &info, &mut each);
            }
        }
        result?;
        if let Some(pixel) = state.watched {
            let fate = fate(raster, pixel, viewport, verdict, made);
            self.emit(exec, raster, input, [viewport, array_index as usize], fate);
            self.emit_clipped(exec, input, verdict);
        }
        self.number += 1;
        Ok(())
    }

    /// Emits the event of a primitive of a draw with a watched pixel.
    #[cold]
    fn emit(
        &self,
        exec: &mut Exec<'_>,
        raster: &RasterState,
        input: &ClipInput<'_>,
        [viewport, array_index]: [usize; 2],
        fate: Fate,
    ) {
        let Transform { divide, .. } = raster.transform;
        let vertices = input.vertices.map(|vertex| {
            let position = clip_vertex(vertex).position;
            let screen = raster.transform.apply(&raster.viewports[viewport], position)?;
            let pixels = |at: i32| at as f32 / (1 << SUBPIXEL_BITS) as f32;
            let w = if divide { position[3] } else { 1.0 / position[3] };
            Some([pixels(screen.at.x), pixels(screen.at.y), screen.z, w])
        });
        exec.emit_pixel(&PixelEvent::Primitive(PrimitiveInfo {
            number: self.number,
            id: input.primitive.id,
            shape: input.primitive.shape.name(),
            vertices,
            count: input.primitive.shape.corners(),
            array_index: array_index as u32,
            fate,
        }));
    }

    /// Emits the vertices of a primitive of a draw with a watched pixel, if the observer follows
    /// them.
    #[cold]
    fn emit_clipped(&self, exec: &mut Exec<'_>, input: &ClipInput<'_>, verdict: clip::Verdict) {
        if !exec.listener.follows() {
            return;
        }
        // A rectangle is never cut (see `Setup::rectangle`).
        let is_cut = verdict == clip::Verdict::Cut && input.primitive.shape != Shape::Rectangle;
        let corners: Vec<ClippedCorner> = match is_cut {
            true => self
                .remains
                .corners()
                .iter()
                .map(|corner| ClippedCorner { position: corner.position, weights: corner.weights })
                .collect(),
            false => Vec::new(),
        };
        exec.emit_origin(|| {
            OriginEvent::Clipped(Clipped {
                number: self.number,
                indices: input.primitive.vertices,
                vertices: input.vertices,
                count: input.primitive.shape.corners(),
                provoking: input.primitive.provoking.into(),
                id: input.primitive.id,
                corners: &corners,
            })
        });
    }

    /// Adds the counts to the statistics registers whose counting is enabled, and clears them.
    pub fn count(
        &mut self,
        exec: &mut Exec<'_>,
        state: &SetupState,
        shader: Option<&VertexShader>,
    ) {
        let Counts { shaded, clipped, kept } = std::mem::take(&mut self.counts);
        if shader.is_some_and(|shader| shader.counted) {
            state::count(exec, VsInvocationCount::OFFSET, shaded);
        }
        if state.counts_invocations {
            state::count(exec, ClInvocationCount::OFFSET, clipped);
        }
        if state.counts_primitives {
            state::count(exec, ClPrimitivesCount::OFFSET, kept);
        }
    }
}

/// What happened to a primitive before the rasteriser. `made`: setup made primitives from it.
fn fate(
    raster: &RasterState,
    WatchedPixel { x, y }: WatchedPixel,
    viewport: usize,
    verdict: clip::Verdict,
    made: bool,
) -> Fate {
    match verdict {
        clip::Verdict::Reject => Fate::Clipped,
        _ if !made => Fate::Culled,
        _ if !raster.window(viewport, Rect::SCREEN).contains(x as i32, y as i32) => Fate::Excluded,
        _ => Fate::Kept,
    }
}

/// The part of a vertex that the clipper uses.
#[inline]
fn clip_vertex(vertex: &[u32]) -> ClipVertex {
    ClipVertex {
        position: floats(vertex, place::POSITION),
        distances: std::array::from_fn(|n| f32::from_bits(dword(vertex, place::DISTANCES + n))),
    }
}

/// A batch of vertices, and the primitives that use them.
#[derive(Debug)]
pub struct Item<P> {
    /// The vertices. With a vertex cache: their vertex numbers, which come from the index buffer if
    /// the draw is indexed. Without: their positions in the sequence of vertices of the draw.
    pub vertices: Vec<u32>,
    /// Primitives; their vertices are indices into `vertices`.
    pub primitives: Vec<P>,
    /// The instance.
    pub instance: u32,
    /// Numbers of threads and primitives of the items before this one.
    pub before: Before,
}

/// Numbers of threads and primitives of the items of a draw that come before an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Before {
    /// Number of vertex shader threads that the earlier items need.
    pub threads: u64,
    /// Number of primitives in the earlier items. It stays 0 if the draw has stages between vertex
    /// shader and clipper.
    pub primitives: u32,
}

/// Items of a draw, with the state to process them.
#[derive(Debug)]
pub struct FrontEnd<'a> {
    /// Vertex fetch.
    pub fetch: &'a Fetch,
    /// Clipper and setup.
    pub state: &'a SetupState,
    /// The items.
    pub items: &'a [Item<ClipPrimitive>],
    /// The topology has edge flags, and a vertex element supplies them.
    pub edge_flags: bool,
    /// The result of an item depends on the items before it: a line continues the stipple pattern
    /// of the line before it.
    pub ordered: bool,
}

/// The stages with the data that a host thread needs.
#[derive(Debug)]
pub struct FrontWorker {
    /// The vertex shader; `None` if vertices are not shaded.
    pub vertex: Option<Box<VertexShader>>,
    /// Clipper and setup.
    pub setup: ClipSetup,
    /// The vertices of an item. The field exists to reuse its memory.
    fetched: Vertices,
    /// The vertices of an item on the screen, for the fast path of triangles.
    screen: ScreenVertices,
    /// The worker was [forked](Work::fork): its items run in parallel with others.
    forked: bool,
    /// Reads and writes of the URB by the last part that this worker ran.
    changes: urb::Changes,
    /// The dwords of the URB that merged parts wrote.
    written: urb::Written,
    /// Bins for the parts.
    spare: Mutex<Spare>,
}

/// The results of a part.
#[derive(Debug)]
pub struct Report {
    programs: Vec<Program>,
    bins: Bins,
    counts: Counts,
    changes: urb::Changes,
}

impl FrontWorker {
    /// The stages at the start of a draw.
    pub fn new(
        exec: &mut Exec<'_>,
        vertex: Option<Box<VertexShader>>,
        state: &SetupState,
    ) -> FrontWorker {
        let mut spare = std::mem::take(exec.device.scratch.get_mut::<Spare>());
        let bins = spare.take();
        FrontWorker { spare: Mutex::new(spare), ..FrontWorker::with(vertex, state, bins) }
    }

    /// Starts another draw, after [`finish`](Self::finish).
    pub fn restart(&mut self, exec: &mut Exec<'_>, state: &SetupState) {
        let mut spare = std::mem::take(exec.device.scratch.get_mut::<Spare>());
        self.setup = ClipSetup::new(state, spare.take());
        *self.spare.get_mut().unwrap_or_else(PoisonError::into_inner) = spare;
        self.written = urb::Written::default();
    }

    /// Adds the counts of the draw to the statistics registers, and keeps the memory of bins and
    /// threads for the next draw. Call once, at the end of each draw.
    pub fn finish(&mut self, exec: &mut Exec<'_>, state: &SetupState) {
        self.setup.count(exec, state, self.vertex.as_deref());
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        spare.put(&mut self.setup.bins);
        *exec.device.scratch.get_mut::<Spare>() = std::mem::take(spare);
        if let Some(vertex) = &mut self.vertex {
            vertex.release(exec);
        }
    }

    /// Removes all primitives from the bins.
    pub fn clear_bins(&mut self) {
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        spare.put(&mut self.setup.bins);
    }

    fn with(vertex: Option<Box<VertexShader>>, state: &SetupState, bins: Bins) -> FrontWorker {
        FrontWorker {
            vertex,
            setup: ClipSetup::new(state, bins),
            fetched: Vertices::default(),
            screen: ScreenVertices::default(),
            forked: false,
            changes: urb::Changes::default(),
            written: urb::Written::default(),
            spare: Mutex::default(),
        }
    }

    /// True if a vertex is shaded once for all of its indices in a batch.
    pub fn has_vertex_cache(&self) -> bool {
        self.vertex.as_ref().is_none_or(|shader| shader.cached)
    }

    /// Fetches and shades the vertices of an item.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    pub fn shade<P>(
        &mut self,
        exec: &mut Exec<'_>,
        fetch: &Fetch,
        item: &Item<P>,
    ) -> Result<Vertices, Fault> {
        let cached = self.has_vertex_cache();
        exec.emit_origin(|| {
            OriginEvent::Batch(VertexBatch {
                vertices: &item.vertices,
                cached,
                instance: item.instance,
                primitives: item.primitives.len(),
            })
        });
        let mut fetched = std::mem::take(&mut self.fetched);
        if cached {
            fetch.vertices(exec, &item.vertices, item.instance, &mut fetched)?;
        } else {
            fetched.clear();
            fetched.dwords = fetch.dwords;
            for &vertex in &item.vertices {
                let vertex = number(exec, fetch, vertex, cached)?;
                fetch.vertex(exec, vertex, item.instance, fetched.push())?;
            }
        }
        let Some(shader) = &mut self.vertex else { return Ok(fetched) };
        shader.number_from(item.before.threads);
        let shaded = shader.run(exec, &fetched)?;
        self.setup.counts.shaded += fetched.count() as u64;
        self.fetched = fetched;
        Ok(shaded)
    }

    /// The edge flags of the vertices of an item.
    ///
    /// # Errors
    /// A page fault.
    pub fn edge_flags<P>(
        &self,
        exec: &mut Exec<'_>,
        fetch: &Fetch,
        item: &Item<P>,
    ) -> Result<Vec<bool>, Fault> {
        let cached = self.has_vertex_cache();
        let flag = |vertex: &u32| {
            let vertex = number(exec, fetch, *vertex, cached)?;
            fetch.edge_flag(exec, vertex, item.instance)
        };
        item.vertices.iter().map(flag).collect()
    }
}

/// The vertex number of an entry of [`Item::vertices`].
fn number(exec: &Exec<'_>, fetch: &Fetch, vertex: u32, cached: bool) -> Result<u32, Fault> {
    match cached {
        true => Ok(vertex),
        false => Ok(fetch.index(exec, vertex)?.unwrap_or_default()),
    }
}

/// Keeps an edge of a triangle only if the edge flag of the edge's first vertex is set. `flags` has
/// the edge flag of each vertex.
pub fn keep_edges(edges: &mut Edges, corners: [u32; 3], flags: &[bool]) {
    for (edge, vertex) in edges.iter_mut().zip(corners) {
        *edge &= flags[vertex as usize];
    }
}

impl FrontEnd<'_> {
    /// Runs the items of a range.
    fn batches(
        &self,
        exec: &mut Exec<'_>,
        worker: &mut FrontWorker,
        items: Range<u64>,
    ) -> Result<(), Fault> {
        for item in &self.items[items.start as usize..items.end as usize] {
            worker.setup.number = item.before.primitives;
            let vertices = worker.shade(exec, self.fetch, item)?;
            let flags = match self.edge_flags {
                true => Some(worker.edge_flags(exec, self.fetch, item)?),
                false => None,
            };
            let FrontWorker { setup, screen, .. } = worker;
            if let Some(triangles) = &self.state.triangles {
                triangles.transform(&self.state.raster, &vertices, screen);
            }
            for primitive in &item.primitives {
                if setup.triangle(exec, self.state, (&vertices, screen), primitive)? {
                    continue;
                }
                let mut primitive = *primitive;
                if let Some(flags) = &flags {
                    keep_edges(&mut primitive.edges, primitive.vertices, flags);
                }
                setup.primitive(exec, self.state, &ClipInput::new(&vertices, primitive))?;
            }
            if worker.vertex.is_none() {
                worker.fetched = vertices;
            }
        }
        Ok(())
    }
}

impl Work for FrontEnd<'_> {
    type Worker = FrontWorker;
    type Report = Report;

    fn items(&self) -> u64 {
        self.items.len() as u64
    }

    fn estimate(&self, _: &Exec<'_>, worker: &FrontWorker) -> Estimate {
        if self.ordered {
            return Estimate::InOrder;
        }
        // About a nanosecond for each instruction and vertex.
        let each = worker.vertex.as_deref().map_or(0, VertexShader::instructions) as u64;
        let time = |item: &Item<ClipPrimitive>| {
            let primitives = item.primitives.len() as u64;
            item.vertices.len() as u64 * (VERTEX_TIME + each) + primitives * PRIMITIVE_TIME
        };
        Estimate::AtLeast(self.items.iter().map(time).sum())
    }

    /// Runs the items of a range, in order.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    fn run(
        &self,
        exec: &mut Exec<'_>,
        worker: &mut FrontWorker,
        items: Range<u64>,
    ) -> Result<(), Fault> {
        if !worker.forked {
            return self.batches(exec, worker, items);
        }
        exec.state.slots.get_mut::<Urb>().start_record();
        let result = self.batches(exec, worker, items);
        worker.changes = exec.state.slots.get_mut::<Urb>().undo_recorded();
        result
    }

    fn fork(&self, worker: &FrontWorker) -> FrontWorker {
        let vertex = worker.vertex.as_ref().map(|vertex| Box::new(vertex.fork()));
        FrontWorker { forked: true, ..FrontWorker::with(vertex, self.state, Bins::default()) }
    }

    fn inherit(worker: &mut FrontWorker, other: &FrontWorker) {
        if let (Some(own), Some(other)) = (&mut worker.vertex, &other.vertex) {
            own.inherit(other);
        }
        worker.setup.bins = other.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        worker.setup.counts = Counts::default();
    }

    fn report(worker: &mut FrontWorker) -> Report {
        Report {
            programs: worker
                .vertex
                .as_deref_mut()
                .map_or_else(Vec::new, VertexShader::take_programs),
            bins: std::mem::take(&mut worker.setup.bins),
            counts: std::mem::take(&mut worker.setup.counts),
            changes: std::mem::take(&mut worker.changes),
        }
    }

    fn admits(worker: &FrontWorker, report: &Report) -> bool {
        worker.written.admits(&report.changes)
    }

    fn merge(worker: &mut FrontWorker, state: &mut State, mut report: Report) {
        if let Some(shader) = &mut worker.vertex {
            shader.merge(&report.programs);
        }
        worker.setup.bins.append(&mut report.bins);
        worker.setup.counts += report.counts;
        worker.written.add(&report.changes);
        state.slots.get_mut::<Urb>().redo(&report.changes);
    }
}
