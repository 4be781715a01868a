//! Geometry shader: threads make strips of vertices from primitives (2a p.113-124; gen8_facts 3.5).
//!
//! [`Output`] is the layout of a thread's URB entries; [`GeometryShader`] runs the threads.

use super::hs::push_raw;
use super::shader::{Shader, Threads};

use super::topology::{Adjacency, Assembler, Primitive, Reorder, Shape, Topology};
use super::vue::{Entries, SLOT, SLOTS, Vertices, dword};
use super::{sol, stage, state};
use crate::assumptions::DUAL_OBJECTS_SHARE_REGISTERS_OF_HANDLES;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::origins::{GeometryLane, OriginEvent};
use genxml::gen8::registers::{GsInvocationCount, GsPrimitivesCount};
use genxml::gen8::render3d_stages::{
    ThreeDStateGs, ThreeDStateGsControlDataFormat as Format, ThreeDStateGsDispatchMode as Dispatch,
    ThreeDStateUrbDs, ThreeDStateUrbGs, ThreeDStateUrbVs,
};
use genxml::gen8::thread_payloads::{
    GsSIMD4x2ThreadPayload, GsSimd8ThreadPayload, GsSimd8ThreadPayloadOutput,
};
use genxml_core::U;

/// Dwords of a register.
const REGISTER: usize = 8;
/// Channels of a SIMD8 thread.
const LANES: usize = 8;
/// Channels of half a SIMD4x2 thread.
const HALF: usize = 4;
/// Dwords that the vertex count occupies in an entry.
const COUNT: usize = 8;
/// Dwords of a unit of the control data header.
const CONTROL: usize = 8;

/// The layout of a thread's URB entry: the number of vertices, unless it is static; control data;
/// vertices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Output {
    /// Static number of vertices of every entry, if there is one (Static Output).
    pub vertices: Option<u32>,
    /// Dwords of the control data header.
    pub control: usize,
    /// The meaning of control data.
    pub format: Control,
    /// Dwords of a vertex.
    pub dwords: usize,
    /// Stream of all vertices if the control data do not contain streams.
    pub stream: usize,
}

/// The control data of a vertex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// One bit: the strip ends after the vertex.
    Cuts,
    /// Two bits: the stream of the vertex.
    Streams,
}

impl Output {
    /// The layout that 3DSTATE_GS selects.
    pub fn of(gs: &ThreeDStateGs) -> Output {
        Output {
            vertices: gs.static_output.then_some(gs.static_output_vertex_count.get() as u32),
            control: gs.control_data_header_size.get() as usize * CONTROL,
            format: match gs.control_data_format {
                Format::CUT => Control::Cuts,
                _ => Control::Streams,
            },
            dwords: gs.output_vertex_size.get() as usize * SLOT,
            stream: gs.default_stream_id.get() as usize,
        }
    }

    /// First dword of the control data.
    fn header(&self) -> usize {
        if self.vertices.is_none() { COUNT } else { 0 }
    }

    /// First dword of the vertices.
    pub fn first(&self) -> usize {
        self.header() + self.control
    }

    /// Number of vertices in an entry.
    pub fn count(&self, entry: &[u32]) -> u32 {
        self.vertices.unwrap_or(dword(entry, 0))
    }

    /// Number of vertices that fit in an entry of `dwords` dwords.
    pub fn room(&self, dwords: usize) -> u32 {
        (dwords.saturating_sub(self.first()) / self.dwords.max(1)) as u32
    }

    /// The `bits` bits of control data of a vertex; 0 if they are after the end of the header.
    fn control(&self, entry: &[u32], vertex: u32, bits: u32) -> u32 {
        let bit = vertex as usize * bits as usize;
        match bit / 32 < self.control {
            true => dword(entry, self.header() + bit / 32) >> (bit % 32) & ((1 << bits) - 1),
            false => 0,
        }
    }

    /// True if a strip ends after a vertex.
    pub fn cut(&self, entry: &[u32], vertex: u32) -> bool {
        self.format == Control::Cuts && self.control(entry, vertex, 1) != 0
    }

    /// The stream of a vertex.
    pub fn stream(&self, entry: &[u32], vertex: u32) -> usize {
        match self.format {
            Control::Streams if self.control > 0 => self.control(entry, vertex, 2) as usize,
            _ => self.stream,
        }
    }
}

/// Dispatch Mode: the primitives and instances of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// One instance of one primitive.
    Single,
    /// Two instances of one primitive.
    DualInstance,
    /// Two primitives.
    DualObject,
    /// Up to eight primitives. If there are several instances: up to eight instances of one
    /// primitive.
    Simd8,
}

impl Mode {
    /// The mode that 3DSTATE_GS selects.
    pub fn of(gs: &ThreeDStateGs) -> Mode {
        match gs.dispatch_mode {
            Dispatch::SINGLE => Mode::Single,
            Dispatch::DUAL_INSTANCE => Mode::DualInstance,
            Dispatch::DUAL_OBJECT => Mode::DualObject,
            _ => Mode::Simd8,
        }
    }

    /// The number of a primitive's vertices whose URB handles are in one register of the payload.
    /// If a thread has up to eight primitives, each vertex has a register. Two primitives have half
    /// a register each. One primitive has eight handles in a register.
    fn handles_per_register(self, instances: u32) -> usize {
        match self {
            _ if instances > 1 => LANES,
            Mode::Single | Mode::DualInstance => LANES,
            Mode::Simd8 => 1,
            Mode::DualObject if DUAL_OBJECTS_SHARE_REGISTERS_OF_HANDLES => HALF,
            Mode::DualObject => LANES,
        }
    }

    /// The number of registers of the payload that have the handles of `expected` vertices of each
    /// primitive.
    pub fn registers_of_handles(self, instances: u32, expected: usize) -> usize {
        let per_register = self.handles_per_register(instances);
        let separate = self == Mode::DualObject && per_register == LANES;
        expected.div_ceil(per_register) * if separate { 2 } else { 1 }
    }
}

/// The geometry shader of a draw.
#[derive(Debug)]
pub struct GeometryShader {
    shader: Shader,
    threads: Threads,
    mode: Mode,
    instances: u32,
    /// Threads get the handles of vertices.
    handles: bool,
    /// Threads get primitive identifiers.
    identifiers: bool,
    /// Hint: a value for threads, without other effect (assumptions::GS_HINT_IS_IN_R0_2).
    hint: U<1>,
    /// The range of each vertex's slots that the thread payload contains.
    slots: std::ops::Range<usize>,
    /// Number of vertices of each primitive that the shader expects.
    expected: usize,
    /// Order of vertices in triangles of strips.
    pub reorder: Reorder,
    /// Whether primitives keep or discard their adjacent vertices.
    pub adjacency: Adjacency,
    topology: Topology,
    output: Output,
    inputs: Entries,
    entries: Entries,
    counted: bool,
    invocations: u64,
    /// The URB entry of a lane. `made` has the vertices of this entry. Both fields exist to reuse
    /// their memory.
    entry: Vec<u32>,
    made: Vertices,
}

/// A primitive, one of its instances, and the primitive's number, for a lane.
type Lane<'a> = (&'a Primitive, u32, usize);

impl GeometryShader {
    /// Resolves the geometry shader; none if it is disabled. `tessellated` is true if its input
    /// comes from domain shaders.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for fields that no thread can run with; page faults when its constants
    /// are read.
    pub fn resolve(
        exec: &mut Exec<'_>,
        tessellated: bool,
    ) -> Result<Option<Box<GeometryShader>>, Fault> {
        let gs: ThreeDStateGs = state::packet(exec);
        if !gs.enable {
            return Ok(None);
        }
        let shader = Shader::of(exec, &gs)?;
        let mode = Mode::of(&gs);
        let instances = gs.instance_control.get() as u32;
        let expected = gs.expected_vertex_count.get() as usize;
        let most = match mode {
            Mode::Simd8 => 6,
            Mode::DualObject => 16,
            _ => super::topology::MAX_VERTICES,
        };
        if expected > most {
            let why = format!(
                "this dispatch mode takes primitives of at most {most} vertices (2a p.120)"
            );
            return Err(exec.bad_field("Expected Vertex Count", expected as u64, why));
        }
        if mode == Mode::DualObject && instances > 1 {
            let why = "dual object dispatch excludes several instances (2a p.119)";
            return Err(exec.bad_field("Instance Control", instances.into(), why));
        }
        let topology =
            Topology::of(gs.output_topology).filter(|topology| topology.shape() != Shape::Patch);
        let Some(topology) = topology else {
            let why = "a geometry shader makes points, lines or triangles";
            return Err(exec.bad_field("Output Topology", gs.output_topology.bits(), why));
        };
        let entries = stage::entries::<ThreeDStateUrbGs>(exec);
        let width = mode.width();
        entries.check(exec, width, "geometry shader")?;
        let first = gs.vertex_urb_entry_read_offset.get() as usize * SLOTS;
        let length = gs.vertex_urb_entry_read_length.get() as usize * SLOTS;
        Ok(Some(Box::new(GeometryShader {
            threads: Threads::new(&shader),
            shader,
            mode,
            instances,
            handles: gs.include_vertex_handles,
            identifiers: gs.include_primitive_id,
            hint: gs.hint,
            slots: first..first + length,
            expected,
            reorder: sol::reorder(gs.reorder_mode),
            adjacency: if gs.discard_adjacency { Adjacency::Discard } else { Adjacency::Keep },
            topology,
            output: Output::of(&gs),
            inputs: match tessellated {
                true => stage::entries::<ThreeDStateUrbDs>(exec),
                false => stage::entries::<ThreeDStateUrbVs>(exec),
            },
            entries,
            counted: gs.statistics_enable,
            invocations: gs.invocations_increment_value.get(),
            entry: Vec::new(),
            made: Vertices::default(),
        })))
    }

    /// Shades primitives whose vertices are indices into `vertices`. Calls `out` for each primitive
    /// that the shader made, with its stream, in order.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for threads that report more vertices than their entry holds, and for
    /// missing URB entries; any [`Fault`] of a thread, or from `out`.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        primitives: &[Primitive],
        out: &mut impl FnMut(&mut Exec<'_>, &Vertices, &Primitive, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let width = self.mode.width();
        let mut lanes: Vec<Lane<'_>> = Vec::with_capacity(width);
        // Primitives with another number of vertices are dropped (2a p.116).
        let expected = self.expected;
        for (number, primitive) in primitives
            .iter()
            .enumerate()
            .filter(|(_, primitive)| primitive.vertices().len() == expected)
        {
            for instance in 0..self.instances {
                lanes.push((primitive, instance, number));
                if lanes.len() == width {
                    self.thread(exec, vertices, &lanes, out)?;
                    lanes.clear();
                }
            }
            // A thread does not mix instances of different primitives.
            if self.instances > 1 && !lanes.is_empty() {
                self.thread(exec, vertices, &lanes, out)?;
                lanes.clear();
            }
        }
        if lanes.is_empty() { Ok(()) } else { self.thread(exec, vertices, &lanes, out) }
    }

    /// Runs one thread, and emits the primitives that it made.
    fn thread(
        &mut self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        lanes: &[Lane<'_>],
        out: &mut impl FnMut(&mut Exec<'_>, &Vertices, &Primitive, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.handles {
            self.place(exec, vertices, lanes)?;
        }
        self.payload(vertices, lanes);
        let channels = if self.mode == Mode::Simd8 { lanes.len() } else { HALF * lanes.len() };
        let mask = u32::MAX >> (32 - channels);
        if exec.listener.follows() {
            emit(exec, lanes);
        }
        self.threads.run(exec, &self.shader, mask, mask, "geometry shader")?;
        if self.counted {
            state::count(exec, GsInvocationCount::OFFSET, self.invocations * lanes.len() as u64);
        }
        for (lane, (primitive, ..)) in lanes.iter().enumerate() {
            exec.emit_origin(|| OriginEvent::Made { lane });
            self.gather(exec, lane, primitive.id, out)?;
        }
        Ok(())
    }

    /// The lanes with different primitives: the first one if there are several instances, otherwise
    /// all.
    fn primitives<'a, 'l>(&self, lanes: &'l [Lane<'a>]) -> &'l [Lane<'a>] {
        if self.instances > 1 { &lanes[..1] } else { lanes }
    }

    /// Writes the vertices to URB entries, where threads can read them by handle. Each primitive
    /// has consecutive entries.
    fn place(
        &self,
        exec: &mut Exec<'_>,
        vertices: &Vertices,
        lanes: &[Lane<'_>],
    ) -> Result<(), Fault> {
        let primitives = self.primitives(lanes);
        self.inputs.check(exec, primitives.len() * self.expected, "geometry shader")?;
        for (n, (primitive, ..)) in primitives.iter().enumerate() {
            for (v, &vertex) in primitive.vertices().iter().enumerate() {
                self.inputs.write(exec, n * self.expected + v, vertices.get(vertex as usize))?;
            }
        }
        Ok(())
    }

    fn payload(&mut self, vertices: &Vertices, lanes: &[Lane<'_>]) {
        let header = self.shader.header(0);
        let place = |lane: usize| match lanes.get(lane) {
            Some((_, instance, _)) => GsSimd8ThreadPayloadOutput {
                urb_handle: U::from_bits(self.entries.handle(lane)),
                instance_id: U::from_bits((*instance).into()),
            },
            None => GsSimd8ThreadPayloadOutput::new(),
        };
        let mut payload = std::mem::take(&mut self.threads.launch.payload);
        payload.clear();
        let mut push =
            |registers: &[u32]| payload.extend_from_slice(bytemuck::cast_slice(registers));
        let id = |lane: usize| lanes.get(lane).map_or(0, |(primitive, ..)| primitive.id);
        if self.mode == Mode::Simd8 {
            let start = GsSimd8ThreadPayload {
                hint: self.hint,
                per_thread_scratch_space: header.scratch_code,
                sampler_state_pointer: header.samplers,
                binding_table_pointer: header.binding_table,
                fftid: header.fftid,
                scratch_space_pointer: header.scratch,
                output: std::array::from_fn(place),
            };
            push(&start.pack());
            if self.identifiers {
                push(&std::array::from_fn::<_, LANES, _>(id));
            }
        } else {
            let start = GsSIMD4x2ThreadPayload {
                urb_handle_0: place(0).urb_handle,
                instance_id_0: place(0).instance_id,
                urb_handle_1: place(1).urb_handle,
                instance_id_1: place(1).instance_id,
                hint: self.hint,
                per_thread_scratch_space: header.scratch_code,
                sampler_state_pointer: header.samplers,
                binding_table_pointer: header.binding_table,
                fftid: header.fftid,
                scratch_space_pointer: header.scratch,
            };
            push(&start.pack());
            if self.identifiers {
                push(&[id(0), 0, 0, 0, id(1), 0, 0, 0]);
            }
        }
        if self.handles {
            self.push_handles(lanes, &mut push);
        }
        self.shader.push_constants(&mut payload);
        self.push_vertices(vertices, lanes, &mut payload);
        self.threads.launch.payload = payload;
    }

    /// Appends the URB handles of vertices.
    fn push_handles(&self, lanes: &[Lane<'_>], push: &mut impl FnMut(&[u32])) {
        let primitives = self.primitives(lanes).len();
        let handle = |primitive: usize, vertex: usize| match primitive < primitives
            && vertex < self.expected
        {
            true => self.inputs.handle(primitive * self.expected + vertex) as u32,
            false => 0,
        };
        let per_register = self.mode.handles_per_register(self.instances);
        for first in (0..self.expected).step_by(per_register) {
            let register: [u32; LANES] = std::array::from_fn(|n| match per_register {
                LANES => handle(0, first + n),
                HALF => handle(n / HALF, first + n % HALF),
                _ => handle(n, first),
            });
            push(&register);
        }
        if per_register == LANES && self.mode == Mode::DualObject {
            for first in (0..self.expected).step_by(LANES) {
                push(&std::array::from_fn::<_, LANES, _>(|n| handle(1, first + n)));
            }
        }
    }

    /// Appends the slots of vertices. A SIMD8 thread has a register for each component, a thread
    /// of two primitives a register for each slot, a thread of one primitive a register for two
    /// slots.
    fn push_vertices(&self, vertices: &Vertices, lanes: &[Lane<'_>], payload: &mut Vec<u8>) {
        let vertex = |lane: usize, v: usize| match lanes.get(lane) {
            Some((primitive, ..)) => vertices.get(primitive.vertices()[v] as usize),
            None => &[],
        };
        for v in 0..self.expected {
            match self.mode {
                Mode::Simd8 => {
                    for place in self.slots.start * SLOT..self.slots.end * SLOT {
                        let row: [u32; LANES] =
                            std::array::from_fn(|lane| dword(vertex(lane, v), place));
                        payload.extend_from_slice(bytemuck::cast_slice(&row));
                    }
                }
                Mode::DualObject => {
                    for slot in self.slots.clone() {
                        let part = |n: usize| dword(vertex(n / HALF, v), slot * SLOT + n % HALF);
                        let row: [u32; REGISTER] = std::array::from_fn(part);
                        payload.extend_from_slice(bytemuck::cast_slice(&row));
                    }
                }
                Mode::Single | Mode::DualInstance => {
                    push_raw(payload, vertex(0, v), self.slots.start * SLOT..self.slots.end * SLOT);
                }
            }
        }
    }

    /// Reads the vertices of a lane from its entry, and emits their primitives.
    fn gather(
        &mut self,
        exec: &mut Exec<'_>,
        lane: usize,
        id: u32,
        out: &mut impl FnMut(&mut Exec<'_>, &Vertices, &Primitive, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let output = self.output;
        let room = output.room(self.entries.dwords());
        self.entry.resize(self.entries.dwords().min(output.first()), 0);
        self.entries.read(exec, lane, &mut self.entry)?;
        let count = output.count(&self.entry);
        if count > room {
            let why = format!("the URB entry of a geometry shader holds {room} vertices");
            return Err(exec.bad_field("Vertex Count", count.into(), why));
        }
        self.entry.resize(output.first() + count as usize * output.dwords, 0);
        self.entries.read(exec, lane, &mut self.entry)?;
        self.made.dwords = output.dwords;
        self.made.replace(&self.entry[output.first()..]);
        let (made, entry) = (&self.made, &self.entry);
        let mut assembler = Assembler::for_setup(self.topology);
        for vertex in 0..count {
            let stream = output.stream(entry, vertex);
            let mut each = |primitive: &Primitive| {
                let mut primitive = *primitive;
                primitive.id = id;
                out(exec, made, &primitive, stream)
            };
            assembler.vertex(vertex, &mut each)?;
            if output.cut(entry, vertex) || vertex + 1 == count {
                assembler.cut(&mut each)?;
            }
        }
        if self.counted {
            state::count(exec, GsPrimitivesCount::OFFSET, assembler.primitives().into());
        }
        Ok(())
    }
}

/// Emits the lanes of the thread that is about to start.
#[cold]
fn emit(exec: &mut Exec<'_>, lanes: &[Lane<'_>]) {
    let lanes: Vec<GeometryLane<'_>> = lanes
        .iter()
        .map(|&(primitive, instance, number)| GeometryLane {
            primitive: number,
            instance,
            vertices: primitive.vertices(),
        })
        .collect();
    exec.emit_origin(|| OriginEvent::Geometry(&lanes));
}

impl Mode {
    /// Number of lanes of a thread: each lane shades one instance of one primitive.
    pub fn width(self) -> usize {
        match self {
            Mode::Single => 1,
            Mode::DualInstance | Mode::DualObject => 2,
            Mode::Simd8 => LANES,
        }
    }
}

#[cfg(test)]
mod tests;
