//! 3DPRIMITIVE: the state is resolved once; then vertices go through the units in batches.

use super::clip::Clipper;
use super::common::count;
use super::fetch::Fetch;
use super::gs::GeometryShader;
use super::numbers::Numbers;
use super::objects::{Assembler, Object, has_adjacency};
use super::raster_state::RasterState;
use super::sf::{Primitive, Setup};
use super::vs::{VertexShader, WIDTH};
use super::wm::{PixelPipe, Screen, Windower};
use crate::gen45::debug::{self, fixed};
use crate::gen45::state::{general, latched};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::parallel;
use crate::machine::watchdog;
use crate::render::tiles::Bins;
use crate::render::vertex_batch::Batch;
use crate::render::vue::Vertices;
use genxml::gen45::commands_3d::{
    ThreeDPrimitive, ThreeDStateBindingTablePointers, ThreeDStatePipelinedPointers,
    ThreeDStateVfStatistics,
};
use genxml::gen45::enums::ThreeDPrimTopoType as Code;
use genxml::gen45::registers::{IaPrimitivesCount, IaVerticesCount};
use genxml::gen45::state_units::{ClipState, ColorCalcState, GsState, SfState, VsState, WmState};

/// Adds an object, whose vertices are numbers, to a batch.
fn push(batch: &mut Batch<Object>, object: &Object) {
    let vertices = object.vertices.map(|vertex| batch.place(vertex));
    batch.primitives.push(Object { vertices, ..*object });
}

/// The resolved state of a draw.
#[derive(Debug)]
pub struct Draw {
    code: Code,
    fetch: Fetch,
    vertex: Option<VertexShader>,
    geometry: Option<GeometryShader>,
    clipper: Option<Clipper>,
    setup: Setup,
    raster: RasterState,
    pixels: Pixels,
    counted: bool,
    /// Numbers of vertices, if debugging is enabled. Then primitives are drawn one by one.
    debug: Option<Numbers>,
    /// Vertices of a batch as they were fetched, and after the vertex shader.
    fetched: Vertices,
    shaded: Vertices,
}

/// The stages after setup.
#[derive(Debug)]
struct Pixels {
    windower: Windower,
    pipe: PixelPipe,
    /// Primitives that are set up and not drawn yet.
    bins: Bins<Primitive, u32>,
}

impl Draw {
    /// Resolves all state that a 3DPRIMITIVE uses.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for state that cannot be drawn with; [`Fault::Unimplemented`] for state
    /// that the model does not have; page faults when state is read.
    pub fn resolve(exec: &mut Exec<'_>, packet: &ThreeDPrimitive) -> Result<Draw, Fault> {
        let code = packet.primitive_topology_type;
        if has_adjacency(code) {
            return Err(exec.unimplemented("topologies with adjacency", "gen45_facts 17"));
        }
        if Assembler::new(code).is_none() {
            let why = "there is no such topology";
            return Err(exec.bad_field("Primitive Topology Type", code.bits(), why));
        }
        let pointers: ThreeDStatePipelinedPointers = latched(exec);
        let tables: ThreeDStateBindingTablePointers = latched(exec);
        let statistics: ThreeDStateVfStatistics = latched(exec);
        let vs: VsState = general(exec, pointers.pointer_to_vs_state.get())?;
        let sf: SfState = general(exec, pointers.pointer_to_sf_state.get())?;
        let wm: WmState = general(exec, pointers.pointer_to_wm_state.get())?;
        let color_calc = pointers.pointer_to_color_calc_state.get();
        let cc: ColorCalcState = general(exec, color_calc)?;
        let fetch = Fetch::resolve(exec, packet)?;
        let vertex = VertexShader::resolve(exec, &vs, tables.pointer_to_vs_binding_table.get())?;
        let geometry = match pointers.gs_enable {
            true => {
                let state: GsState = general(exec, pointers.pointer_to_gs_state.get())?;
                let table = tables.pointer_to_gs_binding_table.get();
                Some(GeometryShader::resolve(exec, &state, table)?)
            }
            false => None,
        };
        let clipper = match pointers.clip_enable {
            true => {
                let state: ClipState = general(exec, pointers.pointer_to_clip_state.get())?;
                let table = tables.pointer_to_clip_binding_table.get();
                Some(Clipper::resolve(exec, &state, table)?)
            }
            false => None,
        };
        let setup = Setup::resolve(exec, &sf, tables.pointer_to_sf_binding_table.get())?;
        let raster = RasterState::resolve(exec, &sf, &wm)?;
        let table = tables.pointer_to_ps_binding_table.get();
        let antialias = sf.antialiasing_enable;
        let (windower, pipe) = Windower::resolve(exec, &wm, &cc, color_calc, table, antialias)?;
        let shaded = vertex.as_ref().map_or(fetch.dwords, |shader| shader.dwords);
        let debug = debug::enabled(&exec.state.registers);
        Ok(Draw {
            code,
            debug: debug.then(|| Numbers::new(code, vertex.is_some())),
            fetched: Vertices::new(fetch.dwords),
            shaded: Vertices::new(shaded),
            fetch,
            vertex,
            geometry,
            clipper,
            setup,
            raster,
            pixels: Pixels { windower, pipe, bins: Bins::default() },
            counted: statistics.statistics_enable,
        })
    }

    /// Draws all vertices and objects.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    pub fn run(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let result = self.run_vertices(exec);
        let Pixels { windower, pipe, .. } = &mut self.pixels;
        pipe.count(exec, windower);
        result
    }

    /// True if a vertex is shaded once for all of its indices in a batch.
    fn has_vertex_cache(&self) -> bool {
        self.vertex.as_ref().is_none_or(|shader| shader.cached)
    }

    fn run_vertices(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        let cached = self.has_vertex_cache();
        let mut batch = Batch::default();
        for instance in 0..self.fetch.instances {
            exec.spend(watchdog::PACKET)?;
            let Some(mut assembler) = Assembler::new(self.code) else { return Ok(()) };
            let mut vertices = 0;
            if let Some(numbers) = &mut self.debug {
                numbers.begin();
            }
            for position in 0..self.fetch.vertices {
                exec.spend(watchdog::INSTRUCTION)?;
                let index = self.fetch.index(exec, position)?;
                let mut out = |object: &Object| {
                    push(&mut batch, object);
                    Ok::<(), Fault>(())
                };
                match index {
                    Some(vertex) => {
                        vertices += 1;
                        let key = if cached { vertex } else { position };
                        if let Some(numbers) = &mut self.debug {
                            numbers.vertex(exec, vertex, key);
                        }
                        assembler.vertex(key, &mut out)?;
                    }
                    None => {
                        if let Some(numbers) = &mut self.debug {
                            numbers.end();
                        }
                        assembler.end(&mut out)?;
                    }
                }
                if batch.is_full() {
                    self.flush(exec, &mut batch, instance)?;
                }
            }
            if let Some(numbers) = &mut self.debug {
                numbers.end();
            }
            assembler.end(&mut |object: &Object| {
                push(&mut batch, object);
                Ok::<(), Fault>(())
            })?;
            self.flush(exec, &mut batch, instance)?;
            if self.counted {
                count(exec, IaVerticesCount::OFFSET, vertices);
                count(exec, IaPrimitivesCount::OFFSET, assembler.primitives().into());
            }
        }
        self.pixels.draw(exec, &self.raster)
    }

    /// Shades the vertices of a batch and draws its objects.
    fn flush(
        &mut self,
        exec: &mut Exec<'_>,
        batch: &mut Batch<Object>,
        instance: u32,
    ) -> Result<(), Fault> {
        let cached = self.has_vertex_cache();
        let Draw { fetch, vertex, fetched, shaded, .. } = self;
        fetched.clear();
        for &vertex in &batch.vertices {
            let vertex = match cached {
                true => vertex,
                false => fetch.index(exec, vertex)?.unwrap_or_default(),
            };
            fetch.vertex(exec, vertex, instance, fetched.push())?;
        }
        if let Some(numbers) = &mut self.debug {
            numbers.shade(exec, &batch.vertices, WIDTH);
        }
        let vertices = match vertex {
            Some(shader) => {
                shaded.clear();
                shader.run(exec, fetched, shaded)?;
                &*shaded
            }
            None => &*fetched,
        };
        let Draw { geometry, clipper, setup, raster, pixels, debug, .. } = self;
        for (n, object) in batch.primitives.iter().enumerate() {
            exec.spend(watchdog::OBJECT)?;
            if let Some(numbers) = debug {
                numbers.object(exec, n);
            }
            let debugged = debug.is_some();
            let drops = debugged && fixed::clipper_drops(&exec.state.registers);
            let Pixels { windower, pipe, bins } = pixels;
            let mut set = |exec: &mut Exec<'_>, vertices: &Vertices, object: &Object| {
                exec.spend(watchdog::OBJECT)?;
                if debugged && !setup.counts(exec, object) {
                    return Ok(());
                }
                setup.run(exec, raster, vertices, object, bins)?;
                if debugged { alone(exec, raster, windower, pipe, bins) } else { Ok(()) }
            };
            let mut clip = |exec: &mut Exec<'_>, vertices: &Vertices, object: &Object| match clipper
            {
                _ if drops => Ok(()),
                Some(clipper) => clipper.run(exec, vertices, object, &mut set),
                None => set(exec, vertices, object),
            };
            match geometry {
                Some(geometry) => geometry.run(exec, vertices, object, &mut clip)?,
                None => clip(exec, vertices, object)?,
            }
            if pixels.bins.is_full() {
                pixels.draw(exec, raster)?;
            }
        }
        batch.clear();
        if let Some(numbers) = debug {
            numbers.clear();
        }
        Ok(())
    }
}

/// Draws the newest primitive in the whole window, for debugging.
fn alone(
    exec: &mut Exec<'_>,
    raster: &RasterState,
    windower: &Windower,
    pipe: &mut PixelPipe,
    bins: &mut Bins<Primitive, u32>,
) -> Result<(), Fault> {
    if let Some(first) = bins.first() {
        bins.sort(first);
    }
    if !fixed::windower_drops(&exec.state.registers)
        && let Some(tile) = bins.tiles().first()
    {
        for (primitive, entry) in bins.primitives(tile) {
            pipe.primitive(exec, raster, windower, primitive, entry, raster.window)?;
        }
    }
    bins.clear();
    Ok(())
}

impl Pixels {
    /// Draws the pixels of the primitives that are set up.
    fn draw(&mut self, exec: &mut Exec<'_>, raster: &RasterState) -> Result<(), Fault> {
        let Pixels { windower, pipe, bins } = self;
        let mut next = bins.first();
        while let Some(first) = next {
            next = bins.sort(first);
            parallel::run(exec, &Screen { raster, windower, bins }, pipe)?;
        }
        bins.clear();
        Ok(())
    }
}
