//! The values of a summary.

use crate::render::depth::{DepthFormat, Plane};
use crate::render::render_target::Purpose;
use crate::render::vf::Range;
use crate::surface::{Level, Surface};

/// The manual's name of a field's value; `None` if the value has no name.
pub type Name = Option<&'static str>;

/// The state of a draw.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Primitive Topology Type.
    pub topology: Name,
    /// The vertices and instances.
    pub range: Range,
    /// True if the range comes from registers, not from the packet.
    pub indirect: bool,
    /// True if the number of vertices comes from the amount of data that stream output wrote.
    pub auto: bool,
    /// The index buffer, if vertices are drawn by index.
    pub indices: Option<IndexBuffer>,
    /// Enabled shaders, in the order of the pipeline.
    pub shaders: Vec<ShaderSummary>,
    /// The tessellator, if it is enabled.
    pub tessellator: Option<Tessellator>,
    /// True if stream output writes vertices to memory.
    pub stream_output: bool,
    /// True if primitives reach the rasteriser: neither stream output nor the clipper drops all.
    pub rasterised: bool,
    /// Surfaces that the pixel shader's messages name as render targets, by binding table index.
    pub targets: Vec<Target>,
    /// True if there may be more targets: a message has its descriptor in a register, or a part of
    /// the kernel cannot be read.
    pub more_targets: bool,
    /// What writes to the targets do: draw, clear or resolve.
    pub purpose: Purpose,
    /// The depth buffer, if there is one, whether it is tested or not.
    pub depth: Option<DepthBuffer>,
    /// The stencil buffer, if there is one, whether it is tested or not.
    pub stencil: Option<StencilBuffer>,
    pub(super) uses_depth: bool,
    /// Cull Mode.
    pub cull: Name,
    /// Number of samples of a pixel.
    pub samples: u32,
    /// Mask of the samples of a pixel that primitives may cover.
    pub sample_mask: u32,
    /// True if a viewport transforms positions; otherwise they are in pixels already.
    pub transforms: bool,
    /// Left, upper, right and lower edges of the viewports up to the highest index that vertices
    /// may have; empty if vertices are neither transformed nor clipped.
    pub viewports: Vec<[f32; 4]>,
    /// Least and greatest depths of the viewports.
    pub depth_ranges: Vec<[f32; 2]>,
    /// First column and row, last column and row of the scissor rectangles of the viewports, if
    /// they are enabled.
    pub scissors: Option<Vec<[u64; 4]>>,
    /// First column and row, last column and row of the drawing rectangle.
    pub rectangle: [u64; 4],
    /// The statistics that are enabled.
    pub statistics: Statistics,
    /// State that could not be resolved.
    pub problems: Vec<String>,
}

impl Summary {
    /// True if there is a depth buffer that is tested or written.
    pub fn uses_depth(&self) -> bool {
        self.uses_depth
    }
}

/// An index buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexBuffer {
    /// Index Format.
    pub format: Name,
    /// Address of the first index.
    pub address: u64,
    /// Bytes of the buffer.
    pub bytes: u64,
}

/// An enabled tessellator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tessellator {
    /// TE Domain.
    pub domain: Name,
    /// Partitioning.
    pub partitioning: Name,
}

/// An enabled shader stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShaderSummary {
    /// `VS`, `HS`, `DS`, `GS` or `PS`; on the G45 `VS`, `GS`, `CLIP`, `SF` or `PS`.
    pub stage: &'static str,
    /// The kernels of the stage: up to three for a pixel shader, one for other stages.
    pub kernels: Vec<KernelSummary>,
}

/// A kernel of a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelSummary {
    /// How threads are dispatched: `SIMD8`, `SIMD4x2`...
    pub dispatch: &'static str,
    /// Offset of the kernel from Instruction Base Address; on the G45 from General State Base
    /// Address.
    pub offset: u64,
    /// Graphics address of the kernel.
    pub address: u64,
}

/// A render target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Binding table index of the target.
    pub binding: u8,
    /// The surface.
    pub surface: Surface,
    /// The level that is drawn to.
    pub level: Level,
    /// How colours are written, if it is known. On Broadwell, messages select the entry of
    /// BLEND_STATE in their header. Here targets get entries in the order of their binding table
    /// indices, as drivers do.
    pub blending: Option<Blending>,
}

/// How colours are written to a render target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Blending {
    /// The logic operation, if it is enabled. Then colours are not blended.
    pub logic: Option<Name>,
    /// Source factor, destination factor and function, if colours are blended.
    pub color: Option<[Name; 3]>,
    /// The same for alpha, if they are independent of those of colour.
    pub alpha: Option<[Name; 3]>,
    /// True for channels that are not written: red, green, blue, alpha.
    pub disabled: [bool; 4],
}

/// A depth buffer.
#[derive(Clone, Copy, Debug)]
pub struct DepthBuffer {
    /// Surface, level and slices.
    pub plane: Plane,
    /// Format of the depths in the buffer.
    pub format: DepthFormat,
    /// True if there is a hierarchical depth buffer.
    pub hierarchical: bool,
    /// The depth test.
    pub test: Test,
}

/// A stencil buffer.
#[derive(Clone, Copy, Debug)]
pub struct StencilBuffer {
    /// Surface, level and slices.
    pub plane: Plane,
    /// Position of the stencil value in an element, in bytes.
    pub byte: usize,
    /// The stencil test of front faces.
    pub test: Test,
}

/// A depth or stencil test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Test {
    /// True if the test is enabled.
    pub enabled: bool,
    /// The comparison.
    pub function: Name,
    /// True if the buffer is written.
    pub writes: bool,
}

/// Which statistics are enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// True if fetched vertices and assembled primitives are counted.
    pub fetch: bool,
    /// True if invocations of the vertex shader are counted.
    pub vs: bool,
    /// True if invocations of the hull shader are counted.
    pub hs: bool,
    /// True if invocations of the domain shader are counted.
    pub ds: bool,
    /// True if invocations of the geometry shader and the primitives that it makes are counted.
    pub gs: bool,
    /// True if primitives that reach the clipper are counted.
    pub clip: bool,
    /// True if primitives that the clipper keeps are counted.
    pub setup: bool,
    /// True if shaded pixels are counted.
    pub pixels: bool,
    /// True if samples that pass the tests are counted.
    pub depth: bool,
}
