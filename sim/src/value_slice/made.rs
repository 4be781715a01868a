//! The result: a value, and what made it.

use crate::inspect::history::{DrawTouch, Probe};
use crate::inspect::slice::stages::FetchedVertex;
use crate::inspect::slice::{
    AttributeUse, Change, Fetched, Origin, Slice, SliceError, Source, Span, StatePacket, Traced,
    VertexUse,
};
use crate::machine::origins::ClippedCorner;
use crate::machine::place::Place;
use crate::mem::Client;
use std::sync::Arc;

/// A value, and what made it.
#[derive(Debug)]
pub struct Made {
    /// The value.
    pub value: What,
    /// What wrote it; `None` if nothing did.
    pub writer: Option<Change>,
    /// How it was made.
    pub how: How,
    /// The state of the draw or dispatch.
    pub state: Option<DrawState>,
    /// The vertices of the primitive, if a draw made the value.
    pub geometry: Option<Box<GeometrySlice>>,
}

impl Made {
    pub(super) fn new(value: What, writer: Option<Change>, how: How) -> Made {
        Made { value, writer, how, state: None, geometry: None }
    }
}

/// The state that a draw or dispatch depends on.
#[derive(Clone, Debug, Default)]
pub struct DrawState {
    /// The packets that set it, in the order of the pipeline; empty for dispatches.
    pub packets: Vec<StatePacket>,
    /// State, vertices and indices in memory.
    pub memory: Vec<StateMemory>,
    /// True if more memory was read than is listed.
    pub is_cut: bool,
}

/// State in memory.
#[derive(Clone, Debug)]
pub struct StateMemory {
    /// Graphics address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// What reads it.
    pub client: Client,
    /// What wrote it last.
    pub writer: Option<Change>,
}

/// A value in memory.
#[derive(Clone, Debug)]
pub enum What {
    /// A pixel.
    Pixel(Box<Probe>),
    /// Bytes from a graphics address on.
    Memory {
        /// The address.
        address: u64,
        /// The number of bytes.
        bytes: u64,
    },
}

/// How a value was made.
#[derive(Debug)]
pub enum How {
    /// By a thread.
    Thread(Box<ThreadSlice>),
    /// Copied by a blit.
    Copied {
        /// Column and row in the source.
        pixel: [i64; 2],
        /// The value of the source.
        source: Box<Made>,
    },
    /// Filled by a blit.
    Filled,
    /// Written by stream output: [`Made::geometry`] has the vertex.
    Streamed,
    /// Written by the host, or never written.
    Outside,
    /// Written by something that has no slice: a clear, a video command, a register store...
    Packet,
    /// The value is not followed further: the maximum depth is reached.
    End,
    /// The source of a blit is not mapped, or has a format that is not supported.
    Unreadable,
    /// There is no slice.
    Failed(SliceError),
}

/// The slice of a thread, and the memory that it read.
#[derive(Debug)]
pub struct ThreadSlice {
    /// The draw, the primitive, and the outcome of the pixel; `None` for threads of other packets.
    pub fragment: Option<(DrawTouch, usize)>,
    /// The packet that started the thread.
    pub at: Option<Place>,
    /// The thread.
    pub traced: Traced,
    /// The slice.
    pub slice: Slice,
    /// The source of each input of the slice.
    pub sources: Vec<Source>,
    /// The memory that the slice read.
    pub reads: Vec<MemoryRead>,
    /// True if more memory was read than is listed.
    pub reads_are_cut: bool,
}

/// Bytes of memory that a slice read.
#[derive(Debug)]
pub struct MemoryRead {
    /// The message or the constant; `None` for reads of vertex fetch.
    pub reader: Option<Origin>,
    /// Graphics address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Physical addresses.
    pub span: Span,
    /// What wrote them last, before the packet that read them.
    pub writer: Option<Change>,
    /// The value in turn.
    pub made: Option<Box<Made>>,
}

impl MemoryRead {
    pub(super) fn new(reader: Option<Origin>, address: u64, bytes: u64, span: Span) -> MemoryRead {
        MemoryRead { reader, address, bytes, span, writer: None, made: None }
    }
}

/// The vertices of a primitive, and how they were made.
#[derive(Debug)]
pub struct GeometrySlice {
    /// Number of the primitive in the draw.
    pub primitive: u32,
    /// The corners of a primitive that the clipper cut; empty if it was not cut.
    pub corners: Vec<ClippedCorner>,
    /// The attributes that the pixel shader read, and where setup takes them from.
    pub attributes: Vec<AttributeUse>,
    /// The vertices of the primitive, 1 to 3.
    pub vertices: Vec<VertexSlice>,
    /// The vertices of the geometry shader's input primitive; empty without a geometry shader.
    pub inputs: Vec<VertexSlice>,
    /// The stages that are not traced: the slice ends at their output.
    pub untraced: Option<&'static str>,
    /// True if more memory was read than has its writers listed.
    pub is_cut: bool,
}

impl GeometrySlice {
    /// All reads of memory, in order.
    pub fn reads(&self) -> impl Iterator<Item = &MemoryRead> {
        self.vertices.iter().chain(&self.inputs).flat_map(|vertex| {
            let thread = vertex.shader.iter().flatten().flat_map(|stage| &stage.reads);
            let values = vertex.fetched.iter().filter_map(|value| value.read.as_ref());
            thread.chain(&vertex.index).chain(values)
        })
    }

    pub(super) fn reads_mut(&mut self) -> impl Iterator<Item = &mut MemoryRead> {
        self.vertices.iter_mut().chain(&mut self.inputs).flat_map(|vertex| {
            let thread = vertex.shader.iter_mut().flatten().flat_map(|stage| &mut stage.reads);
            let values = vertex.fetched.iter_mut().filter_map(|value| value.read.as_mut());
            thread.chain(&mut vertex.index).chain(values)
        })
    }
}

/// A vertex of a primitive, and what made the dwords that the value depends on.
#[derive(Debug)]
pub struct VertexSlice {
    /// Number of the vertex in the primitive.
    pub number: usize,
    /// The dwords that are used, in order.
    pub needs: Vec<Need>,
    /// The thread that made them; `None` if the vertex is not shaded, or not traced.
    pub shader: Option<Result<StageSlice, SliceError>>,
    /// The fetched vertex; `None` for vertices that the geometry or domain shader made.
    pub vertex: Option<FetchedVertex>,
    /// The index in the index buffer.
    pub index: Option<MemoryRead>,
    /// The dwords of the fetched vertex that are used.
    pub fetched: Vec<FetchedValue>,
}

/// A dword of a vertex.
#[derive(Clone, Debug)]
pub struct Need {
    /// The dword in the vertex's URB entry.
    pub dword: usize,
    /// Its value; `None` if the vertex is an input of the geometry shader.
    pub bits: Option<u32>,
    /// What it is for.
    pub uses: Vec<VertexUse>,
    /// The instruction of the thread that wrote it. `None` if the thread did not write it: then it
    /// has the value that vertex fetch stored.
    pub node: Option<usize>,
}

/// A dword of a fetched vertex.
#[derive(Debug)]
pub struct FetchedValue {
    /// The dword.
    pub dword: usize,
    /// Where it comes from.
    pub from: Fetched,
    /// The bytes of the vertex buffer.
    pub read: Option<MemoryRead>,
}

/// The slice of a thread of the vertex or geometry shader.
#[derive(Debug)]
pub struct StageSlice {
    /// The stage.
    pub stage: &'static str,
    /// The thread.
    pub traced: Arc<Traced>,
    /// The channel of the vertex.
    pub channel: u8,
    /// The slice.
    pub slice: Slice,
    /// The source of each input of the slice.
    pub sources: Vec<Source>,
    /// The memory that the slice read.
    pub reads: Vec<MemoryRead>,
    /// True if more memory was read than is listed.
    pub reads_are_cut: bool,
}
