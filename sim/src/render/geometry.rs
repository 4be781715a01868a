//! The stages between vertex shader and clipper, in order: tessellation, geometry shader, stream
//! output.

use super::ds::DomainShader;
use super::gs::GeometryShader;
use super::hs::HullShader;
use super::raster_state::Distances;
use super::sol::StreamOut;
use super::state;
use super::te::{Tessellation, Tessellator, tessellate};
use super::topology::{Assembler, MAX_VERTICES, Primitive, Shape, Topology};
use super::vue::Vertices;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::origins::{OriginEvent, Streamed, StreamedDword};
use crate::machine::state::State;
use crate::machine::watchdog;
use genxml::gen8::mi::MiTopologyFilter;
use genxml::gen8::render3d_fetch::ThreeDStateVfTopology;
use genxml::gen8::render3d_stages::{ThreeDStateDs, ThreeDStateGs, ThreeDStateTe, ThreeDStateVs};

/// The stages between vertex shader and clipper, for a draw.
#[derive(Debug)]
pub struct Geometry {
    patches: Option<Box<Patches>>,
    shader: Option<Box<GeometryShader>>,
    stream: StreamOut,
}

/// Hull shader, tessellator and domain shader.
#[derive(Debug)]
struct Patches {
    hull: Box<HullShader>,
    tessellator: Tessellator,
    domain: Box<DomainShader>,
    tessellation: Tessellation,
    /// The patch data for domain shaders. This field, `vertices` and `primitives` exist to reuse
    /// their memory.
    data: Vec<u32>,
    vertices: Vertices,
    primitives: Vec<Primitive>,
}

impl Geometry {
    /// Resolves the state of the stages between vertex shader and clipper.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for state that cannot be drawn with; [`Fault::Unimplemented`] for
    /// software tessellation; page faults when state is read.
    pub fn resolve(exec: &mut Exec<'_>) -> Result<Geometry, Fault> {
        let hull = HullShader::resolve(exec)?;
        let te: ThreeDStateTe = state::packet(exec);
        let domain = DomainShader::resolve(exec)?;
        let patches = match (hull, te.te_enable, domain) {
            (None, false, None) => None,
            (Some(hull), true, Some(domain)) => {
                let tessellator = Tessellator::resolve(exec, &te)?;
                Some(Box::new(Patches {
                    hull,
                    tessellator,
                    data: vec![0; domain.patch_dwords()],
                    domain,
                    tessellation: Tessellation::default(),
                    vertices: Vertices::default(),
                    primitives: Vec::new(),
                }))
            }
            (_, on, _) => {
                let why = "hull shader, tessellator and domain shader must be all on or all off (2a p.72)";
                return Err(exec.bad_field("TE Enable", on.into(), why));
            }
        };
        let shader = GeometryShader::resolve(exec, patches.is_some())?;
        Ok(Geometry { patches, shader, stream: StreamOut::resolve(exec) })
    }

    /// True if all primitives of a shape go to the clipper unchanged.
    pub fn passes(&self, shape: Shape) -> bool {
        let stages = self.patches.is_some() || self.shader.is_some() || self.stream.enabled;
        !stages && self.stream.renders(0) && shape != Shape::Patch
    }

    /// The assembler that makes primitives from the vertices of an instance. If the geometry shader
    /// is the first stage after the vertex shader, it selects the order of vertices in primitives,
    /// and whether primitives keep adjacent vertices.
    pub fn assembler(&self, topology: Topology) -> Assembler {
        match (&self.patches, &self.shader) {
            (None, Some(shader)) => Assembler::new(topology, shader.reorder, shader.adjacency),
            _ => Assembler::for_setup(topology),
        }
    }

    /// Runs the stages on primitives whose vertices are indices into `vertices`. Calls `draw` for
    /// each primitive that goes to the clipper.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, of memory, or from `draw`.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        primitives: &[Primitive],
        draw: &mut impl FnMut(&mut Exec<'_>, &Vertices, &Primitive) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Geometry { patches, shader, stream } = self;
        let mut leave =
            |exec: &mut Exec<'_>, vertices: &Vertices, primitive: &Primitive, from: usize| {
                if stream.enabled {
                    output(exec, stream, vertices, primitive, from)?;
                }
                match stream.renders(from) && primitive.shape != Shape::Patch {
                    true => draw(exec, vertices, primitive),
                    false => Ok(()),
                }
            };
        let mut shade =
            |exec: &mut Exec<'_>, vertices: &Vertices, primitives: &[Primitive]| match shader {
                Some(shader) => shader.run(exec, vertices, primitives, &mut leave),
                None => {
                    primitives.iter().try_for_each(|primitive| leave(exec, vertices, primitive, 0))
                }
            };
        match patches {
            None => shade(exec, vertices, primitives),
            Some(patches) => {
                for primitive in primitives {
                    exec.emit_origin(|| OriginEvent::Patch);
                    patches.run(exec, vertices, primitive)?;
                    shade(exec, &patches.vertices, &patches.primitives)?;
                }
                Ok(())
            }
        }
    }

    /// Ends the draw. Call once, after the last primitive.
    ///
    /// # Errors
    /// A page fault.
    pub fn finish(&mut self, exec: &mut Exec<'_>) -> Result<(), Fault> {
        self.stream.finish(exec)
    }
}

/// True if MI_TOPOLOGY_FILTER drops the draw because it has another topology (2a p.130). A filter
/// of 0 is not a topology and drops nothing.
pub fn is_filtered(exec: &Exec<'_>) -> bool {
    let filter = state::packet::<MiTopologyFilter>(exec).topology_filter_value;
    let topology = state::packet::<ThreeDStateVfTopology>(exec).primitive_topology_type;
    filter.bits() != 0 && filter != topology
}

/// Fields of the last enabled stage before the clipper that the stages after it use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Last {
    /// The user distances that clip and cull.
    pub distances: Distances,
    /// Offset of the attributes in a vertex, in units of 32 bytes (Vertex URB Entry Output Read
    /// Offset).
    pub read_offset: u64,
}

/// Reads the packet of the last enabled stage: geometry, domain or vertex shader (2a p.72, p.123,
/// p.266).
pub fn last_stage(state: &State) -> Last {
    macro_rules! last {
        ($packet:expr) => {
            Last {
                distances: Distances {
                    clip: $packet.user_clip_distance_clip_test_enable_bitmask.get() as u8,
                    cull: $packet.user_clip_distance_cull_test_enable_bitmask.get() as u8,
                },
                read_offset: $packet.vertex_urb_entry_output_read_offset.get(),
            }
        };
    }
    let gs: ThreeDStateGs = state.latched.read(0);
    let ds: ThreeDStateDs = state.latched.read(0);
    let vs: ThreeDStateVs = state.latched.read(0);
    match (gs.enable, ds.function_enable) {
        (true, _) => last!(gs),
        (false, true) => last!(ds),
        (false, false) => last!(vs),
    }
}

/// Writes a primitive of stream `from` to the stream output buffers.
fn output(
    exec: &mut Exec<'_>,
    stream: &mut StreamOut,
    vertices: &Vertices,
    primitive: &Primitive,
    from: usize,
) -> Result<(), Fault> {
    let corners = primitive.reordered(stream.reorder);
    let numbers = match primitive.shape {
        Shape::Triangle => &corners[..],
        _ => primitive.vertices(),
    };
    let mut list: [&[u32]; MAX_VERTICES] = [&[]; MAX_VERTICES];
    for (to, &number) in list.iter_mut().zip(numbers) {
        *to = vertices.get(number as usize);
    }
    if exec.listener.follows() {
        emit_streamed(exec, stream, vertices, primitive, numbers, from);
    }
    stream.output(exec, from, &list[..numbers.len()])
}

/// Emits what stream output is about to write. `order` has the vertices in the order of stream
/// output.
#[cold]
fn emit_streamed(
    exec: &mut Exec<'_>,
    stream: &StreamOut,
    vertices: &Vertices,
    primitive: &Primitive,
    order: &[u32],
    from: usize,
) {
    let indices = primitive.vertices();
    let place = |vertex: usize| indices.iter().position(|index| *index == order[vertex]);
    let writes: Vec<StreamedDword> = stream
        .plan(from, order.len())
        .into_iter()
        .filter_map(|write| Some(StreamedDword { vertex: place(write.vertex)?, ..write }))
        .collect();
    let vertices: Vec<&[u32]> = indices.iter().map(|index| vertices.get(*index as usize)).collect();
    exec.emit_origin(|| {
        OriginEvent::Streamed(Streamed { indices, vertices: &vertices, writes: &writes })
    });
}

impl Patches {
    /// Runs hull shader, tessellator and domain shader on a patch. The result is in `vertices` and
    /// `primitives`.
    fn run(
        &mut self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        primitive: &Primitive,
    ) -> Result<(), Fault> {
        self.primitives.clear();
        if primitive.shape != Shape::Patch {
            let why = "a hull shader takes patches (2a p.130)";
            return Err(exec.bad_field(
                "Primitive Topology Type",
                primitive.vertices().len() as u64,
                why,
            ));
        }
        let patch = self.hull.run(exec, vertices, primitive.vertices(), primitive.id)?;
        let factors = self.hull.factors(exec, self.tessellator.domain)?;
        tessellate(&self.tessellator, &factors, &mut self.tessellation);
        let points = &self.tessellation.points;
        exec.spend(points.len() as u64 * watchdog::INSTRUCTION)?;
        if points.is_empty() {
            return Ok(());
        }
        self.hull.read(exec, &mut self.data)?;
        self.domain.run(exec, &patch, &self.data, points, &mut self.vertices)?;
        let primitives = &mut self.primitives;
        self.tessellation.primitives(self.tessellator.output, primitive.id, |primitive| {
            primitives.push(*primitive)
        });
        Ok(())
    }
}
