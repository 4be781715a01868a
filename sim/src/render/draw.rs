//! 3DPRIMITIVE: the state is resolved once; then vertices go through the stages in batches.

use super::clip::{self, ClipVertex, Remains};
use super::geometry::{self, Geometry};
use super::primitives::{BinnedPrimitive, SetupPrimitive};
use super::raster_state::RasterState;
use super::sbe::{About, Attributes};
use super::sf::{Setup, TriangleInfo};
use super::tiles::{Bins, Screen};
use super::topology::{Primitive, ProvokingSelects, Shape, Topology};
use super::vertex_batch::Batch;
use super::vf::Fetch;
use super::vs::VertexShader;
use super::vue::{Vertices, dword, floats, place};
use super::wm::{PixelPipe, PixelState, Windower};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::parallel;
use crate::machine::watchdog;
use crate::machine::watched::{Fate, PixelEvent, PrimitiveInfo, WatchedPixel};
use crate::pixel::coordinates::{Rect, SUBPIXEL_BITS};
use crate::pixel::interpolate::Attribute;
use crate::pixel::viewport::Transform;
use genxml::gen8::registers::{
    ClInvocationCount, ClPrimitivesCount, IaPrimitivesCount, IaVerticesCount,
};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDStateVfStatistics, ThreeDStateVfTopology,
};
use genxml::gen8::render3d_raster::{ThreeDStateClip, ThreeDStateSf};

use super::state;

/// The resolved state of a draw.
#[derive(Debug)]
pub struct Draw {
    fetch: Fetch,
    topology: Topology,
    vertex: Option<VertexShader>,
    geometry: Geometry,
    pipeline: Pipeline,
    counted: bool,
}

/// The stages from the clipper on.
#[derive(Debug)]
pub struct Pipeline {
    raster: RasterState,
    attributes: Attributes,
    windower: Windower,
    pixels: PixelPipe,
    /// Primitives that are set up and not drawn yet.
    bins: Bins<BinnedPrimitive, [Attribute; 4]>,
    /// Position in the line stipple pattern.
    stipple: u32,
    /// Primitives that setup made from one primitive. The field exists to reuse its memory.
    primitives: Vec<SetupPrimitive>,
    /// The rest of the cut primitive.
    remains: Remains,
    /// Clipper Statistics Enable (3DSTATE_CLIP): CL_INVOCATION_COUNT counts.
    counts_invocations: bool,
    /// Number of primitives so far.
    count: u32,
    /// Statistics Enable (3DSTATE_SF): CL_PRIMITIVES_COUNT counts (2a p.211-215).
    counts_primitives: bool,
}

/// The clipper's input: a primitive with its vertices.
#[derive(Clone, Copy, Debug)]
pub struct ClipInput<'a> {
    /// Point, line, triangle or rectangle.
    pub shape: Shape,
    /// The dwords of each vertex. If the shape has fewer than three vertices, the last one is
    /// repeated.
    pub vertices: [&'a [u32]; 3],
    /// Index of the provoking vertex.
    pub provoking: usize,
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

impl<'a> ClipInput<'a> {
    /// The input for a primitive whose vertices are indices into `vertices`.
    fn new(
        vertices: &'a Vertices,
        primitive: &Primitive,
        selects: ProvokingSelects,
    ) -> ClipInput<'a> {
        let numbers = primitive.vertices();
        ClipInput {
            shape: primitive.shape,
            vertices: [0, 1, 2]
                .map(|n: usize| vertices.get(numbers[n.min(numbers.len() - 1)] as usize)),
            provoking: primitive.provoking(&selects),
            id: primitive.id,
            edges: primitive.edges,
            first: primitive.first,
            last: primitive.last,
            stippled: primitive.stippled,
        }
    }
}

/// Adds a primitive, whose vertices are numbers, to a batch.
fn push(batch: &mut Batch<Primitive>, primitive: &Primitive) {
    let primitive = primitive.map(|vertex| batch.place(vertex));
    batch.primitives.push(primitive);
}

/// Keeps an edge of a triangle only if the edge flag of the edge's first vertex is set. `flags` has
/// the edge flag of each vertex of the batch.
fn keep_edges(primitives: &mut [Primitive], flags: &[bool]) {
    for primitive in primitives {
        let [a, b, c] = primitive.corners();
        for (edge, vertex) in primitive.edges.iter_mut().zip([a, b, c]) {
            *edge &= flags[vertex as usize];
        }
    }
}

impl Draw {
    /// Resolves all state that a 3DPRIMITIVE uses.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for state that cannot be drawn with; [`Fault::Unimplemented`] for state
    /// that the model does not have; page faults when state is read.
    pub fn resolve(exec: &mut Exec<'_>, packet: &ThreeDPrimitive) -> Result<Draw, Fault> {
        let code = state::packet::<ThreeDStateVfTopology>(exec).primitive_topology_type;
        let Some(topology) = Topology::of(code) else {
            return Err(exec.bad_field(
                "Primitive Topology Type",
                code.bits(),
                "there is no such topology",
            ));
        };
        let fetch = Fetch::resolve(exec, packet)?;
        let vertex = VertexShader::resolve(exec)?;
        let geometry = Geometry::resolve(exec)?;
        let last = geometry::last_stage(exec);
        let raster = RasterState::resolve(exec, last.distances)?;
        let (windower, pixels) = Windower::resolve(exec, &raster)?;
        let clip: ThreeDStateClip = state::packet(exec);
        let sf: ThreeDStateSf = state::packet(exec);
        let statistics: ThreeDStateVfStatistics = state::packet(exec);
        Ok(Draw {
            fetch,
            topology,
            vertex,
            geometry,
            counted: statistics.statistics_enable,
            pipeline: Pipeline {
                attributes: Attributes::resolve(exec, last.read_offset),
                stipple: raster.line_stipple.map_or(0, |(_, start)| start),
                raster,
                windower,
                pixels,
                bins: Bins::default(),
                primitives: Vec::new(),
                remains: Remains::default(),
                count: 0,
                counts_invocations: clip.clipper_statistics_enable,
                counts_primitives: sf.statistics_enable,
            },
        })
    }

    /// Draws all vertices and primitives.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    pub fn run(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let result = self.run_vertices(exec);
        let Pipeline { pixels, windower, .. } = &mut self.pipeline;
        pixels.count(exec, windower);
        result
    }

    /// True if a vertex is shaded once for all of its indices in a batch.
    fn has_vertex_cache(&self) -> bool {
        self.vertex.as_ref().is_none_or(|shader| shader.cached)
    }

    fn run_vertices(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let range = self.fetch.range;
        let cached = self.has_vertex_cache();
        let mut batch = Batch::default();
        for instance in 0..range.instances {
            exec.spend(watchdog::PACKET)?;
            let mut assembler = self.geometry.assembler(self.topology);
            // Cut indices do not count as vertices (ARB_pipeline_statistics_query).
            let mut vertices = 0;
            for position in 0..range.vertices {
                exec.spend(watchdog::INSTRUCTION)?;
                let index = self.fetch.index(exec, position)?;
                let mut out = |primitive: &Primitive| {
                    push(&mut batch, primitive);
                    Ok::<(), Fault>(())
                };
                match index {
                    Some(vertex) => {
                        vertices += 1;
                        assembler.vertex(if cached { vertex } else { position }, &mut out)?;
                    }
                    None => assembler.cut(&mut out)?,
                }
                if batch.is_full() {
                    self.flush(exec, &mut batch, instance)?;
                }
            }
            assembler.cut(&mut |primitive: &Primitive| {
                push(&mut batch, primitive);
                Ok::<(), Fault>(())
            })?;
            self.flush(exec, &mut batch, instance)?;
            if self.counted {
                state::count(exec, IaVerticesCount::OFFSET, vertices);
                state::count(exec, IaPrimitivesCount::OFFSET, assembler.primitives().into());
            }
        }
        self.geometry.finish(exec)?;
        self.pipeline.flush(exec)
    }

    /// Shades the vertices of a batch and draws its primitives.
    fn flush(
        &mut self,
        exec: &mut Exec<'_>,
        batch: &mut Batch<Primitive>,
        instance: u32,
    ) -> Result<(), Fault> {
        if !self.has_vertex_cache() {
            // The batch has positions in the list of indices, so that each one is shaded.
            for vertex in &mut batch.vertices {
                *vertex = self.fetch.index(exec, *vertex)?.unwrap_or_default();
            }
        }
        let mut fetched = Vertices::new(self.fetch.dwords);
        for &vertex in &batch.vertices {
            self.fetch.vertex(exec, vertex, instance, fetched.push())?;
        }
        let shaded = match &mut self.vertex {
            Some(shader) => shader.run(exec, &fetched)?,
            None => fetched,
        };
        if self.fetch.has_edge_flags() && self.topology.has_edge_flags() {
            let flag = |vertex: &u32| self.fetch.edge_flag(exec, *vertex, instance);
            let flags = batch.vertices.iter().map(flag).collect::<Result<Vec<_>, _>>()?;
            keep_edges(&mut batch.primitives, &flags);
        }
        let pipeline = &mut self.pipeline;
        let mut draw = |exec: &mut Exec<'_>, vertices: &Vertices, primitive: &Primitive| {
            let input = ClipInput::new(vertices, primitive, pipeline.raster.provoking);
            pipeline.primitive(exec, &input)
        };
        if self.geometry.passes(self.topology.shape()) {
            batch.primitives.iter().try_for_each(|primitive| draw(exec, &shaded, primitive))?;
        } else {
            self.geometry.run(exec, &shaded, &batch.primitives, &mut draw)?;
        }
        batch.clear();
        Ok(())
    }
}

impl Pipeline {
    /// Clips and sets up a primitive, and puts the result into the bins. Draws the bins if they are
    /// full.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    pub fn primitive(&mut self, exec: &mut Exec<'_>, input: &ClipInput<'_>) -> Result<(), Fault> {
        let Pipeline { raster, attributes, stipple, primitives, remains, .. } = self;
        exec.spend(watchdog::OBJECT)?;
        let leader = input.vertices[input.provoking];
        let viewport = raster.viewport(dword(leader, place::VIEWPORT));
        let array_index =
            if raster.zero_array_index { 0 } else { dword(leader, place::ARRAY_INDEX) };
        let vertices = input.vertices.map(clip_vertex);
        let state =
            clip::ClipState { guard_band: raster.viewports[viewport].guard_band, ..raster.clip };
        let count = match input.shape {
            Shape::Point => 1,
            Shape::Line => 2,
            _ => 3,
        };
        let verdict = clip::clip(&state, &vertices[..count], remains);
        if self.counts_invocations {
            state::count(exec, ClInvocationCount::OFFSET, 1);
        }
        if self.counts_primitives && verdict != clip::Verdict::Reject {
            state::count(exec, ClPrimitivesCount::OFFSET, 1);
        }
        primitives.clear();
        let setup = Setup {
            state: &raster.setup,
            viewport: &raster.viewports[viewport],
            transform: raster.transform,
            multisample: &raster.multisample,
        };
        let mut each = |primitive: &SetupPrimitive| primitives.push(*primitive);
        let width = |vertex: &[u32]| f32::from_bits(dword(vertex, place::POINT_WIDTH));
        match input.shape {
            Shape::Point => setup.point(&vertices[0], verdict, width(input.vertices[0]), &mut each),
            Shape::Line => {
                if input.first {
                    *stipple = raster.line_stipple.map_or(0, |(_, start)| start);
                }
                let ends = [vertices[0], vertices[1]];
                let along = setup.line(&ends, verdict, remains, *stipple, input.last, &mut each);
                *stipple = stipple.wrapping_add(along);
            }
            Shape::Rectangle => setup.rectangle(&vertices, verdict, &mut each),
            _ => {
                let info =
                    TriangleInfo { edges: input.edges, point_width: input.vertices.map(width) };
                setup.triangle(&vertices, verdict, remains, &info, &mut each);
            }
        }
        for primitive in &*primitives {
            let about = About {
                primitive_id: input.id,
                back: primitive.back,
                corner: primitive.corner,
                provoking: input.provoking,
            };
            let primitive = BinnedPrimitive {
                setup: *primitive,
                shape: input.shape,
                viewport,
                array_index,
                stippled: input.stippled,
                number: self.count,
            };
            let pixels = primitive.setup.pixels(&raster.multisample.samples);
            let pixels = raster.window(viewport, Rect::SCREEN).intersection(pixels);
            self.bins.push(exec, pixels, primitive, |setup| {
                if !self.pixels.is_without_shader() {
                    attributes.setup(input.vertices, &about, setup);
                }
            })?;
        }
        if let Some(pixel) = self.pixels.watched() {
            self.emit(exec, input, pixel, [viewport, array_index as usize], verdict);
        }
        self.count += 1;
        if self.bins.is_full() { self.flush(exec) } else { Ok(()) }
    }

    /// Emits the event of a primitive of a draw with a watched pixel.
    #[cold]
    fn emit(
        &self,
        exec: &mut Exec<'_>,
        input: &ClipInput<'_>,
        WatchedPixel { x, y }: WatchedPixel,
        [viewport, array_index]: [usize; 2],
        verdict: clip::Verdict,
    ) {
        let window = self.raster.window(viewport, Rect::SCREEN);
        let fate = match verdict {
            clip::Verdict::Reject => Fate::Clipped,
            _ if self.primitives.is_empty() => Fate::Culled,
            _ if !window.contains(x as i32, y as i32) => Fate::Excluded,
            _ => Fate::Kept,
        };
        let Transform { divide, .. } = self.raster.transform;
        let vertices = input.vertices.map(|vertex| {
            let position = clip_vertex(vertex).position;
            let screen = self.raster.transform.apply(&self.raster.viewports[viewport], position)?;
            let pixels = |at: i32| at as f32 / (1 << SUBPIXEL_BITS) as f32;
            let w = if divide { position[3] } else { 1.0 / position[3] };
            Some([pixels(screen.at.x), pixels(screen.at.y), screen.z, w])
        });
        exec.emit_pixel(&PixelEvent::Primitive(PrimitiveInfo {
            number: self.count,
            id: input.id,
            shape: input.shape.name(),
            vertices,
            count: match input.shape {
                Shape::Point => 1,
                Shape::Line => 2,
                _ => 3,
            },
            array_index: array_index as u32,
            fate,
        }));
    }

    /// Draws the primitives in the bins.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    fn flush(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let Pipeline { raster, windower, pixels, bins, .. } = self;
        if bins.is_empty() {
            return Ok(());
        }
        bins.sort();
        let state = PixelState { raster, windower };
        parallel::run(exec, &Screen { state, bins }, pixels)?;
        bins.clear();
        Ok(())
    }
}

/// The part of a vertex that the clipper uses.
fn clip_vertex(vertex: &[u32]) -> ClipVertex {
    ClipVertex {
        position: floats(vertex, place::POSITION),
        distances: std::array::from_fn(|n| f32::from_bits(dword(vertex, place::DISTANCES + n))),
    }
}
