//! Events of the vertices and primitives of a draw: from which vertices of which batch, and by
//! which thread, each primitive is made.
//!
//! A stage emits these events only if the observer asks for them
//! ([`Observer::follows`](super::events::Observer::follows)). They come between the events of the
//! threads that make the vertices, in the order of execution.

/// An event of the stages before the rasteriser.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum OriginEvent<'a> {
    /// The vertices of a batch are about to be fetched and shaded. The threads of the vertex shader
    /// follow: the first one shades the first vertices of the batch, and so on.
    Batch(VertexBatch<'a>),
    /// A patch is about to go through hull shader, tessellator and domain shader. The vertices of
    /// the following primitives are theirs, until the next batch or patch.
    Patch,
    /// A thread of the geometry shader is about to start.
    Geometry(&'a [GeometryLane<'a>]),
    /// The primitives that follow are made of the vertices that this lane of the latest thread of
    /// the geometry shader made, until the next lane or batch.
    Made {
        /// The lane.
        lane: usize,
    },
    /// Stream output is about to write a primitive to memory.
    Streamed(Streamed<'a>),
    /// A primitive went through the clipper. This event comes after the primitive's
    /// [`PixelEvent::Primitive`](super::watched::PixelEvent::Primitive).
    Clipped(Clipped<'a>),
}

/// Vertices that are fetched and shaded together.
#[derive(Clone, Copy, Debug)]
pub struct VertexBatch<'a> {
    /// Which vertices: their numbers if `cached` is set, otherwise their positions in the sequence
    /// of vertices of an instance. In an indexed draw, the numbers come from the index buffer.
    pub vertices: &'a [u32],
    /// A vertex that several primitives use is shaded once.
    pub cached: bool,
    /// The instance, from 0 on.
    pub instance: u32,
    /// Number of primitives that the vertices make.
    pub primitives: usize,
}

/// A lane of a thread of the geometry shader: an instance of the shader for a primitive.
#[derive(Clone, Copy, Debug)]
pub struct GeometryLane<'a> {
    /// Number of the primitive among those of the batch or patch, from 0 on.
    pub primitive: usize,
    /// The instance of the shader.
    pub instance: u32,
    /// The vertices of the primitive: indices into the vertices of the batch.
    pub vertices: &'a [u32],
}

/// A primitive that stream output writes.
#[derive(Clone, Copy, Debug)]
pub struct Streamed<'a> {
    /// The primitive's vertices: indices as those of [`Clipped`].
    pub indices: &'a [u32],
    /// The dwords of these vertices.
    pub vertices: &'a [&'a [u32]],
    /// The dwords that are written; none if the primitive does not fit into the buffers.
    pub writes: &'a [StreamedDword],
}

/// A dword that stream output writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamedDword {
    /// Graphics address.
    pub address: u64,
    /// The vertex of the primitive.
    pub vertex: usize,
    /// The dword of the vertex.
    pub dword: usize,
}

/// A primitive after the clipper.
#[derive(Clone, Copy, Debug)]
pub struct Clipped<'a> {
    /// Number of the primitive among those of the draw, from 0 on.
    pub number: u32,
    /// The primitive's vertices: indices into the vertices of the batch, or into the vertices that
    /// the lane of the geometry shader made. Points and lines repeat their last vertex.
    pub indices: [u32; 3],
    /// The dwords of these vertices.
    pub vertices: [&'a [u32]; 3],
    /// Number of vertices that the primitive has: 1 to 3.
    pub count: usize,
    /// Index of the provoking vertex.
    pub provoking: usize,
    /// Primitive ID.
    pub id: u32,
    /// The corners of a primitive that the clipper cut, in order; empty if it was not cut.
    pub corners: &'a [ClippedCorner],
}

/// A corner of a primitive that was cut.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClippedCorner {
    /// x, y, z and w in clip space.
    pub position: [f32; 4],
    /// The weight of each vertex of the primitive. Clipping made the corner if several are not 0.
    pub weights: [f32; 3],
}
