//! Events of one pixel of a draw: what each primitive does at the pixel that an observer watches.
//!
//! The pixel pipeline asks the observer once for each draw ([`Observer::watches`]). Draws without a
//! watched pixel do not run any of the code that makes these events.
//!
//! [`Observer::watches`]: super::events::Observer::watches

/// The pixel that an observer watches in a draw. It is the same in all render targets and slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WatchedPixel {
    /// Column.
    pub x: u32,
    /// Row.
    pub y: u32,
}

/// An event of the watched pixel.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PixelEvent<'a> {
    /// A primitive went through clipping and setup. Every primitive of the draw has this event.
    Primitive(PrimitiveInfo),
    /// The rasteriser found that a primitive covers the pixel.
    Covered(Covered<'a>),
    /// The depth and stencil tests of a sample.
    Tested(Tested),
    /// A thread of the pixel shader is about to start that shades the pixel.
    Shaded(Shaded),
    /// A write of the pixel shader to a render target, for the watched pixel.
    Output(&'a Output),
}

/// What became of a primitive before the rasteriser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The clipper dropped it.
    Clipped,
    /// Setup dropped it: it is culled, or has no area.
    Culled,
    /// It was set up, but the scissor, drawing rectangle and viewport exclude the pixel.
    Excluded,
    /// It was set up, and may draw the pixel if it covers the pixel.
    Kept,
}

/// A primitive after clipping and setup.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PrimitiveInfo {
    /// Number of the primitive among those of the draw, from 0 on.
    pub number: u32,
    /// Primitive ID.
    pub id: u32,
    /// Kind of the primitive.
    pub shape: &'static str,
    /// Column and row in pixels, depth and w of each vertex; `None` for vertices that cannot be
    /// transformed to the screen.
    pub vertices: [Option<[f32; 4]>; 3],
    /// Number of `vertices`.
    pub count: usize,
    /// Render target array index.
    pub array_index: u32,
    /// What became of it.
    pub fate: Fate,
}

/// A primitive that covers the pixel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Covered<'a> {
    /// Number of the primitive.
    pub primitive: u32,
    /// Render target array index.
    pub array_index: u32,
    /// Samples that the primitive covers.
    pub rasterised: u16,
    /// Samples that are left after stipple and sample mask.
    pub coverage: u8,
    /// The primitive faces backward.
    pub back: bool,
    /// For a point: the vertex that its attributes come from.
    pub corner: Option<u8>,
    /// Weights of vertices 1 and 2 at the location of the pixel, with perspective.
    pub barycentric: [f32; 2],
    /// The same without perspective: linear on the screen.
    pub linear: [f32; 2],
    /// w at the location of the pixel.
    pub w: f32,
    /// Depth of each sample of `coverage`, before it is clamped; 0 if nothing tests or writes it.
    pub depths: [f32; 8],
    /// Setup data of the attributes (see [`crate::pixel::interpolate`]); empty without a shader.
    pub attributes: &'a [[[f32; 4]; 4]],
}

/// When the depth and stencil tests of a draw run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestTime {
    /// Before the pixel shader.
    Early,
    /// Before the pixel shader, without writes. The tests run again after the shader.
    Provisional,
    /// After the pixel shader.
    Late,
}

/// The tests of a sample.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tested {
    /// The sample.
    pub sample: u8,
    /// When the test runs.
    pub time: TestTime,
    /// The stencil test, if there is one.
    pub stencil: Option<StencilTest>,
    /// The depth test, if there is one and the sample passed the stencil test.
    pub depth: Option<DepthTest>,
    /// True if the sample passed the tests.
    pub passed: bool,
}

/// A depth test, or a write of depth without a test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DepthTest {
    /// The comparison of the new value with the stored one, as the manual names it.
    pub function: &'static str,
    /// The depth of the sample, clamped to the depth range of its viewport.
    pub depth: f32,
    /// The same, in the format of the buffer.
    pub value: u32,
    /// The element in the buffer.
    pub stored: u32,
    /// The stored depth.
    pub stored_depth: f32,
    /// True if the sample passed.
    pub passed: bool,
    /// True if the depth was written.
    pub written: bool,
}

/// A stencil test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StencilTest {
    /// The comparison of the reference with the stored value, as the manual names it.
    pub function: &'static str,
    /// Stencil Reference Value.
    pub reference: u8,
    /// Stencil Test Mask.
    pub mask: u8,
    /// The value in the buffer.
    pub stored: u8,
    /// The value in the buffer after the tests.
    pub after: u8,
    /// True if the sample passed.
    pub passed: bool,
}

/// A thread that shades the pixel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shaded {
    /// Channel of the pixel in the thread.
    pub channel: u8,
    /// The sample that the thread shades; `None` if it shades whole pixels.
    pub sample: Option<u8>,
    /// Samples of the pixel that are left.
    pub live: u8,
}

/// A write to a render target, for one pixel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Output {
    /// Index of the surface in the binding table.
    pub binding: u8,
    /// Entry of BLEND_STATE.
    pub entry: u8,
    /// True for the last message of the thread for the pixel.
    pub last: bool,
    /// Channel of the pixel in the thread.
    pub channel: u8,
    /// Render target array index.
    pub array_index: u32,
    /// Bits of red, green, blue and alpha from the shader: floats or integers.
    pub color: [u32; 4],
    /// The second colour, for dual source blending.
    pub second: Option<[u32; 4]>,
    /// The shader's own sample mask (oMask).
    pub omask: Option<u16>,
    /// The depth that the shader computed.
    pub depth: Option<f32>,
    /// Samples before the write: covered and not removed by early tests.
    pub live: u8,
    /// True if the channel of the pixel was enabled in the message. Otherwise the kernel has
    /// discarded the pixel.
    pub enabled: bool,
    /// Samples that are left after discards and oMask.
    pub shaded: u8,
    /// Samples that are left after alpha test and alpha to coverage.
    pub kept: u8,
    /// Samples that are left after late tests.
    pub tested: u8,
    /// The surface; `None` for a null surface.
    pub target: Option<TargetWrite>,
}

/// The part of a write that reaches the surface.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TargetWrite {
    /// Graphics address of the surface.
    pub base: u64,
    /// Slice of the surface.
    pub slice: u32,
    /// Blending in float, if it is enabled, for each sample.
    pub blends: [Option<Blended>; 8],
    /// True if a fast clear or resolve is executed, not a draw.
    pub clears: bool,
}

/// A blended colour.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Blended {
    /// The source, as the shader wrote it.
    pub source: [f32; 4],
    /// The destination, as decoded from the surface.
    pub destination: [f32; 4],
    /// The result before it is converted to the format of the surface.
    pub result: [f32; 4],
    /// Source factor, destination factor and function of colour, then of alpha.
    pub equations: [[Option<&'static str>; 3]; 2],
}
