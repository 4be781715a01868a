//! 3DPRIMITIVE: the state is resolved once; then vertices go through the stages in batches.

use super::front::{
    Before, ClipInput, ClipPrimitive, FrontEnd, FrontWorker, Item, ItemPrimitive, SetupState,
    keep_edges,
};
use super::geometry::{self, Geometry};
use super::raster_state::RasterState;
use super::sbe::Attributes;
use super::state;
use super::tiles::Screen;
use super::topology::{Assembler, Primitive, ProvokingSelects, Topology};
use super::vertex_batch::{Batch, Table};
use super::vf::{Fetch, Range};
use super::vs::VertexShader;
use super::vue::Vertices;
use super::wm::{PixelPipe, PixelState, Windower};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::parallel;
use crate::machine::slots::UnitState;
use crate::machine::state::Changed;
use crate::machine::watchdog;
use crate::mem::Client;
use genxml::gen8::registers::{IaPrimitivesCount, IaVerticesCount};
use genxml::gen8::render3d_fetch::{
    ThreeDPrimitive, ThreeDStateVfStatistics, ThreeDStateVfTopology,
};

/// Number of primitives of the items that go through the front end together, so that host threads
/// can work on them at the same time.
const GROUP: u32 = 8192;

/// Number of vertices, likewise.
const GROUP_VERTICES: usize = 1 << 15;

/// The resolved state of a draw.
#[derive(Debug)]
pub struct Draw {
    fetch: Fetch,
    topology: Topology,
    geometry: Geometry,
    front: FrontWorker,
    pipeline: Pipeline,
    /// Statistics Enable (3DSTATE_VF_STATISTICS).
    counted: bool,
    /// Items that wait for the front end.
    items: Vec<Item<ClipPrimitive>>,
    /// Numbers of threads and primitives of the items so far.
    before: Before,
    /// Vertices of the items that wait.
    waiting: usize,
}

/// The stages from the clipper on, except what the clipper and setup change.
#[derive(Debug)]
struct Pipeline {
    setup: SetupState,
    windower: Windower,
    pixels: PixelPipe,
}

/// The last draw of a context, whose resolved state the next draw can use. It is not part of the
/// context's state: a clone is empty.
#[derive(Debug, Default)]
struct Last(Option<Box<Draw>>);

impl Clone for Last {
    fn clone(&self) -> Self {
        Last::default()
    }
}

impl UnitState for Last {}

/// Runs the draw of a 3DPRIMITIVE. `changed` is what the packets since the last draw can have
/// changed. All other state is reused from the last draw, even if its memory was written since
/// then. Hardware may do the same: it may use the copies in its caches until a PIPE_CONTROL.
///
/// # Errors
/// Any [`Fault`] of a thread, of memory, or of the draw's state.
pub fn run(exec: &mut Exec<'_>, packet: &ThreeDPrimitive, changed: Changed) -> Result<(), Fault> {
    let last = exec.state.slots.get_mut::<Last>().0.take();
    // An observer gets the events of reading the state, for each draw.
    let keeps = !exec.listener.is_some() && exec.vm.log().is_none();
    let mut draw = match last.filter(|_| keeps && changed != Changed::Anything) {
        Some(mut draw) => {
            draw.restart(exec, packet, changed)?;
            draw
        }
        None => Box::new(Draw::resolve(exec, packet)?),
    };
    draw.run(exec)?;
    let keeps = keeps && draw.passes();
    exec.state.slots.get_mut::<Last>().0 = keeps.then_some(draw);
    Ok(())
}

/// Adds a primitive, whose vertices are numbers, to a batch.
#[inline]
fn push<P: ItemPrimitive>(
    batch: &mut Batch<P>,
    primitive: &Primitive,
    selects: ProvokingSelects,
) -> Result<(), Fault> {
    let primitive = P::of(primitive, selects, |vertex| batch.place(vertex));
    batch.primitives.push(primitive);
    Ok(())
}

/// The topology of 3DSTATE_VF_TOPOLOGY.
///
/// # Errors
/// [`Fault::BadPacket`] for a code that no topology has.
fn topology(exec: &Exec<'_>) -> Result<Topology, Fault> {
    let code = state::packet::<ThreeDStateVfTopology>(exec).primitive_topology_type;
    let why = "there is no such topology";
    Topology::of(code).ok_or_else(|| exec.bad_field("Primitive Topology Type", code.bits(), why))
}

impl Draw {
    /// Resolves all state that a 3DPRIMITIVE uses.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for state that cannot be drawn with; [`Fault::Unimplemented`] for state
    /// that the model does not have; page faults when state is read.
    pub fn resolve(exec: &mut Exec<'_>, packet: &ThreeDPrimitive) -> Result<Draw, Fault> {
        let topology = topology(exec)?;
        let fetch = Fetch::resolve(exec, packet)?;
        let vertex = VertexShader::resolve(exec)?;
        let geometry = Geometry::resolve(exec)?;
        let last = geometry::last_stage(exec.state);
        let raster = RasterState::resolve(exec, last.distances)?;
        let (windower, pixels) = Windower::resolve(exec, &raster)?;
        let attributes = Attributes::resolve(exec.state, last.read_offset);
        let shades = !pixels.is_without_shader();
        let setup = SetupState::resolve(exec, raster, attributes, shades, pixels.watched());
        Ok(Draw {
            fetch,
            topology,
            geometry,
            front: FrontWorker::new(exec, vertex, &setup),
            pipeline: Pipeline { setup, windower, pixels },
            counted: state::packet::<ThreeDStateVfStatistics>(exec).statistics_enable,
            items: Vec::new(),
            before: Before::default(),
            waiting: 0,
        })
    }

    /// Prepares a finished draw to run again as the next draw. The finished draw must
    /// [pass](Self::passes). The state of the two draws may differ only by `changed`.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    fn restart(
        &mut self,
        exec: &mut Exec<'_>,
        packet: &ThreeDPrimitive,
        changed: Changed,
    ) -> Result<(), Fault> {
        if changed == Changed::Nothing {
            self.fetch.range = Range::of(packet, exec.state);
            if let Some(vertex) = &self.front.vertex {
                vertex.restart(exec);
            }
        } else {
            self.topology = topology(exec)?;
            self.fetch = Fetch::resolve(exec, packet)?;
            self.front.vertex = VertexShader::resolve(exec)?;
        }
        let Draw { front, pipeline: Pipeline { setup, pixels, .. }, .. } = self;
        front.restart(exec, setup);
        pixels.restart(exec);
        self.before = Before::default();
        Ok(())
    }

    /// True if all primitives go to the clipper as the vertex shader leaves them.
    fn passes(&self) -> bool {
        self.geometry.passes(self.topology.shape())
    }

    /// Draws all vertices and primitives.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    pub fn run(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let result = self.run_vertices(exec);
        // Vertices before the one with the fault are drawn.
        let result = match result {
            Err(fault) if !self.items.is_empty() => self.flush(exec).and(Err(fault)),
            result => result,
        };
        let Draw { front, pipeline: Pipeline { setup, windower, pixels }, .. } = self;
        front.finish(exec, setup);
        pixels.finish(exec, windower);
        result
    }

    fn run_vertices(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        // The client of accesses of vertex fetch. Other units set their own.
        let _client = exec.vm.client(Client::Vertices);
        match self.passes() {
            true => self.assemble(exec, Draw::queue)?,
            false => self.assemble(exec, Draw::stages)?,
        }
        self.flush(exec)?;
        self.geometry.finish(exec)?;
        self.pipeline.draw(exec, &mut self.front)
    }

    /// Makes items of all vertices and primitives of the draw, and passes each item to `take`.
    fn assemble<P: ItemPrimitive>(
        &mut self,
        exec: &mut Exec<'_>,
        take: fn(&mut Draw, &mut Exec<'_>, Item<P>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let range = self.fetch.range;
        let cached = self.front.has_vertex_cache();
        let selects = self.pipeline.setup.raster.provoking;
        let mut batch = Batch::new(std::mem::take(exec.device.scratch.get_mut::<Table>()));
        for instance in 0..range.instances {
            exec.spend(watchdog::PACKET)?;
            batch.reserve(range.vertices);
            let mut assembler = self.geometry.assembler(self.topology);
            // Cut indices do not count as vertices (ARB_pipeline_statistics_query).
            let mut vertices = 0;
            if !self.fetch.is_indexed() {
                vertices = self.list(exec, (&mut assembler, &mut batch), instance, take)?;
            }
            for position in vertices as u32..range.vertices {
                exec.spend(watchdog::INSTRUCTION)?;
                let index = self.fetch.index(exec, position)?;
                let mut out = |primitive: &Primitive| push(&mut batch, primitive, selects);
                match index {
                    Some(vertex) => {
                        vertices += 1;
                        assembler.vertex(if cached { vertex } else { position }, &mut out)?;
                    }
                    None => assembler.cut(&mut out)?,
                }
                if batch.is_full() {
                    self.take(exec, &mut batch, instance, take)?;
                    batch.reserve(range.vertices - position);
                }
            }
            assembler.cut(&mut |primitive: &Primitive| push(&mut batch, primitive, selects))?;
            self.take(exec, &mut batch, instance, take)?;
            if self.counted {
                state::count(exec, IaVerticesCount::OFFSET, vertices);
                state::count(exec, IaPrimitivesCount::OFFSET, assembler.primitives().into());
            }
        }
        *exec.device.scratch.get_mut::<Table>() = batch.into_table();
        Ok(())
    }

    /// Makes items of the complete primitives of a list whose vertices are not indexed. Each vertex
    /// of such a list belongs to one primitive only. Returns the number of vertices that it used;
    /// the caller must process the others. It uses no vertex if the topology is not a list, and it
    /// stops if the budget does not suffice for the next primitive.
    fn list<P: ItemPrimitive>(
        &mut self,
        exec: &mut Exec<'_>,
        (assembler, batch): (&mut Assembler, &mut Batch<P>),
        instance: u32,
        take: fn(&mut Draw, &mut Exec<'_>, Item<P>) -> Result<(), Fault>,
    ) -> Result<u64, Fault> {
        let Some(length) = assembler.list_length() else { return Ok(0) };
        let selects = self.pipeline.setup.raster.provoking;
        let mut first = 0;
        while self.fetch.range.vertices - first >= length && exec.budget.instructions(length) {
            assembler.consecutive(first, &mut |primitive: &Primitive| {
                let primitive = P::of(primitive, selects, |vertex| batch.push_new(vertex));
                batch.primitives.push(primitive);
                Ok::<(), Fault>(())
            })?;
            first += length;
            if batch.is_full() {
                self.take(exec, batch, instance, take)?;
                batch.reserve(self.fetch.range.vertices - first);
            }
        }
        Ok(first.into())
    }

    /// Makes an item of the vertices and primitives of a batch, and passes it to `take`. Does
    /// nothing if the batch has no vertices.
    fn take<P>(
        &mut self,
        exec: &mut Exec<'_>,
        batch: &mut Batch<P>,
        instance: u32,
        take: fn(&mut Draw, &mut Exec<'_>, Item<P>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if batch.vertices.is_empty() {
            batch.clear();
            return Ok(());
        }
        let item = Item {
            vertices: std::mem::take(&mut batch.vertices),
            primitives: std::mem::take(&mut batch.primitives),
            instance,
            before: self.before,
        };
        batch.clear();
        if let Some(shader) = &self.front.vertex {
            self.before.threads += shader.threads_of(item.vertices.len());
        }
        take(self, exec, item)
    }

    /// Queues an item that goes directly from the vertex shader to the clipper. Items wait until
    /// there is work for several host threads.
    fn queue(&mut self, exec: &mut Exec<'_>, item: Item<ClipPrimitive>) -> Result<(), Fault> {
        let more = item.primitives.len() as u32;
        self.before.primitives = self.before.primitives.wrapping_add(more);
        self.waiting += item.vertices.len();
        self.items.push(item);
        let first = self.items.first().map_or(0, |item| item.before.primitives);
        let full =
            self.before.primitives.wrapping_sub(first) >= GROUP || self.waiting >= GROUP_VERTICES;
        if full { self.flush(exec) } else { Ok(()) }
    }

    /// Takes the items that wait through the front end, and draws their primitives if there are
    /// many.
    fn flush(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let items = std::mem::take(&mut self.items);
        self.waiting = 0;
        if items.is_empty() {
            return Ok(());
        }
        let work = FrontEnd {
            fetch: &self.fetch,
            state: &self.pipeline.setup,
            items: &items,
            edge_flags: self.has_edge_flags(),
            ordered: self.pipeline.setup.raster.line_stipple.is_some(),
        };
        parallel::run(exec, &work, &mut self.front)?;
        match self.front.setup.bins.is_full() {
            true => self.pipeline.draw(exec, &mut self.front),
            false => Ok(()),
        }
    }

    fn has_edge_flags(&self) -> bool {
        self.fetch.has_edge_flags() && self.topology.has_edge_flags()
    }

    /// Takes an item through vertex shader, tessellation, geometry shader and stream output.
    fn stages(&mut self, exec: &mut Exec<'_>, mut item: Item<Primitive>) -> Result<(), Fault> {
        let edge_flags = self.has_edge_flags();
        let Draw { fetch, geometry, front, pipeline, .. } = self;
        let vertices = front.shade(exec, fetch, &item)?;
        if edge_flags {
            let flags = front.edge_flags(exec, fetch, &item)?;
            for primitive in &mut item.primitives {
                let corners = primitive.corners();
                keep_edges(&mut primitive.edges, corners, &flags);
            }
        }
        geometry.run(
            exec,
            &vertices,
            &item.primitives,
            &mut |exec: &mut Exec<'_>, vertices: &Vertices, primitive: &Primitive| {
                let selects = pipeline.setup.raster.provoking;
                let primitive = ClipPrimitive::of(primitive, selects, |vertex| vertex);
                let input = ClipInput::new(vertices, primitive);
                front.setup.primitive(exec, &pipeline.setup, &input)?;
                match front.setup.bins.is_full() {
                    true => pipeline.draw(exec, front),
                    false => Ok(()),
                }
            },
        )
    }
}

impl Pipeline {
    /// Draws the primitives in the bins.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    fn draw(&mut self, exec: &mut Exec<'_>, front: &mut FrontWorker) -> Result<(), Fault> {
        let Pipeline { setup, windower, pixels } = self;
        let bins = &mut front.setup.bins;
        let state = PixelState { raster: &setup.raster, windower };
        let mut next = bins.first();
        while let Some(first) = next {
            next = bins.sort(first);
            parallel::run(exec, &Screen { state, bins }, pixels)?;
        }
        front.clear_bins();
        Ok(())
    }
}
