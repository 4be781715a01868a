//! Depth and stencil: the buffers, the tests of a quad, and when the tests run.
//!
//! The model has no hierarchical depth: the depth buffer itself is always up to date.
//! [`super::hiz`] executes clears and resolves on it.

use super::compare::Compare;
use super::stencil::{Face, Outcome};
use crate::assumptions::PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::{PageFault, Vm};
use crate::surface::format::convert;
use crate::surface::{BadSurface, Dimension, Layout, Level, Surface, SurfaceKind, TileMode};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateDepthBufferSurfaceFormat, ThreeDStateStencilBuffer,
    ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_pixel::{
    ColorCalcState, ForceOverride, ThreeDStatePsExtra,
    ThreeDStatePsExtraPixelShaderComputedDepthMode, ThreeDStateWm,
    ThreeDStateWmEarlyDepthStencilControl,
};
use genxml::gen8::render3d_raster::CcViewport;
use genxml::gen8::state::{NumberOfMultisamples, SurfaceType};

pub mod strips;
mod watched;

/// Format of the elements of a depth buffer. (gen8_facts 8.1)
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DepthFormat {
    /// A float.
    #[default]
    Float32,
    /// 24 bits, 0 to 1 in equal steps; 8 bits of padding above them.
    Unorm24,
    /// 16 bits, 0 to 1 in equal steps.
    Unorm16,
}

impl DepthFormat {
    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        if matches!(self, DepthFormat::Unorm16) { 2 } else { 4 }
    }

    /// The element for a depth: a UNORM format rounds it to the nearest step, a float keeps its
    /// bits.
    #[inline(always)]
    pub fn encode(self, z: f32) -> u32 {
        match self {
            DepthFormat::Float32 => z.to_bits(),
            DepthFormat::Unorm24 => convert::to_unorm(z, 24) as u32,
            DepthFormat::Unorm16 => convert::to_unorm(z, 16) as u32,
        }
    }

    /// The depth of an element.
    pub fn decode(self, element: u32) -> f32 {
        match self {
            DepthFormat::Float32 => f32::from_bits(element),
            DepthFormat::Unorm24 => (element & 0xff_ffff) as f32 / 16_777_215.0,
            DepthFormat::Unorm16 => (element & 0xffff) as f32 / 65535.0,
        }
    }

    /// Compares a new element with the stored one.
    #[inline(always)]
    pub fn compare(self, function: Compare, new: u32, old: u32) -> bool {
        match self {
            DepthFormat::Float32 => function.floats(f32::from_bits(new), f32::from_bits(old)),
            DepthFormat::Unorm24 => function.integers(new, old & 0xff_ffff),
            DepthFormat::Unorm16 => function.integers(new, old),
        }
    }
}

/// The level and slices of a depth or stencil buffer that a draw uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plane {
    /// The whole buffer.
    pub surface: Surface,
    /// The level.
    pub level: Level,
    /// Number of slices that can be used.
    pub slices: u32,
}

impl Plane {
    /// The slice of a render target array index; the first one if the index is too large (2d
    /// p.356).
    #[inline(always)]
    pub fn slice(&self, index: u32) -> u32 {
        self.surface.first_slice + if index < self.slices { index } else { 0 }
    }

    /// Byte offset in the row, and row, of the upper left element of a quad for one sample, before
    /// tiling.
    /// The other elements of the quad for this sample are next to it.
    #[inline(always)]
    fn quad(&self, x: u32, y: u32, slice: u32, sample: u32) -> (i64, i64) {
        let (left, top) = self.surface.origin(&self.level, self.slice(slice), 0);
        let layout = &self.surface.layout;
        let [x, y] = if layout.interleaved { layout.interleave(x, y, sample) } else { [x, y] };
        (left + i64::from(x) * i64::from(self.surface.element_bytes), top + i64::from(y))
    }
}

/// A quad of 2 x 2 pixels: upper left, upper right, lower left, lower right.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Quad {
    /// Column of the upper left pixel; even.
    pub x: u32,
    /// Row of the upper left pixel; even.
    pub y: u32,
    /// Render target array index.
    pub slice: u32,
    /// Index of the viewport. Depths are clamped to its depth range.
    pub viewport: u8,
    /// The primitive faces backward.
    pub back: bool,
}

/// Depth of each pixel of a quad and each sample of the pixel.
pub type Depths = [[f32; 8]; 4];

/// Depth and stencil state of a draw.
#[derive(Clone, Debug, Default)]
pub struct DepthStencil {
    /// The depth buffer, if it is tested or written.
    pub depth: Option<Plane>,
    /// Format of the depth buffer.
    pub format: DepthFormat,
    /// The depth test, if there is one.
    pub function: Option<Compare>,
    /// Depths that pass the test are written.
    pub depth_write: bool,
    /// The stencil buffer, if it is tested.
    pub stencil: Option<Plane>,
    /// The stencil buffer may be written.
    pub stencil_write: bool,
    /// The stencil tests of front and back faces.
    pub faces: Option<[Face; 2]>,
    /// Least and greatest depth of each viewport.
    pub ranges: Vec<[f32; 2]>,
}

/// The packets and structures of depth and stencil state.
#[derive(Clone, Copy, Debug)]
pub struct DepthStencilPackets<'a> {
    /// 3DSTATE_DEPTH_BUFFER.
    pub depth: &'a ThreeDStateDepthBuffer,
    /// 3DSTATE_STENCIL_BUFFER.
    pub stencil: &'a ThreeDStateStencilBuffer,
    /// 3DSTATE_WM_DEPTH_STENCIL.
    pub tests: &'a ThreeDStateWmDepthStencil,
    /// COLOR_CALC_STATE.
    pub references: &'a ColorCalcState,
    /// CC_VIEWPORTs.
    pub viewports: &'a [CcViewport],
    /// Samples of a pixel (3DSTATE_MULTISAMPLE).
    pub samples: NumberOfMultisamples,
}

fn wrong(field: &'static str, value: u64, why: &'static str) -> BadSurface {
    BadSurface { field, value, why }
}

/// True if there is no depth buffer: its surface type is null, or its address is 0.
pub fn is_absent(packet: &ThreeDStateDepthBuffer) -> bool {
    packet.surface_type == SurfaceType::SURFTYPE_NULL || packet.surface_base_address.va48() == 0
}

/// True if the draw writes the depths that pass the depth test.
pub fn writes(packet: &ThreeDStateDepthBuffer, tests: &ThreeDStateWmDepthStencil) -> bool {
    packet.depth_write_enable && tests.depth_buffer_write_enable
}

/// True if there is a depth buffer that the draw tests or writes.
pub fn is_used(packet: &ThreeDStateDepthBuffer, tests: &ThreeDStateWmDepthStencil) -> bool {
    !is_absent(packet) && (tests.depth_test_enable || writes(packet, tests))
}

/// The depth buffer of 3DSTATE_DEPTH_BUFFER, if there is one. A packet without an address
/// only gives the size of the stencil buffer (2a p.57).
///
/// # Errors
/// [`BadSurface`] names a field with a value that no depth buffer can have.
pub fn depth_plane(
    packet: &ThreeDStateDepthBuffer,
    samples: NumberOfMultisamples,
) -> Result<Option<(Plane, DepthFormat)>, BadSurface> {
    if is_absent(packet) {
        return Ok(None);
    }
    use ThreeDStateDepthBufferSurfaceFormat as Stored;
    let format = match packet.surface_format {
        Stored::D32_FLOAT => DepthFormat::Float32,
        Stored::D24_UNORM_X8_UINT => DepthFormat::Unorm24,
        Stored::D16_UNORM => DepthFormat::Unorm16,
        other => {
            return Err(wrong("Surface Format", other.bits(), "no depth buffer has this format"));
        }
    };
    let storage = Storage {
        base: packet.surface_base_address.va48(),
        pitch: packet.surface_pitch.get() as u32,
        qpitch: packet.surface_qpitch.get() as u32,
        bytes: format.bytes() as u32,
        // Alignment of levels (gen8_facts 10.2).
        align: if format == DepthFormat::Unorm16 { [8, 4] } else { [4, 4] },
        tile_mode: TileMode::Y,
    };
    Ok(Some((plane(packet, &storage, samples)?, format)))
}

/// The stencil buffer of 3DSTATE_STENCIL_BUFFER; none if it is not enabled, or if the depth
/// buffer's surface type is null. Its extent is that of the depth buffer.
///
/// # Errors
/// [`BadSurface`] names a field with a value that no stencil buffer can have.
pub fn stencil_plane(
    packet: &ThreeDStateStencilBuffer,
    depth: &ThreeDStateDepthBuffer,
    samples: NumberOfMultisamples,
) -> Result<Option<Plane>, BadSurface> {
    if !packet.stencil_buffer_enable || depth.surface_type == SurfaceType::SURFTYPE_NULL {
        return Ok(None);
    }
    let storage = Storage {
        base: packet.surface_base_address.va48(),
        pitch: packet.surface_pitch.get() as u32,
        qpitch: packet.surface_qpitch.get() as u32,
        bytes: 1,
        align: [8, 8],
        tile_mode: TileMode::W,
    };
    plane(depth, &storage, samples).map(Some)
}

/// How the elements of a buffer are stored.
struct Storage {
    base: u64,
    pitch: u32,
    qpitch: u32,
    bytes: u32,
    align: [u32; 2],
    tile_mode: TileMode,
}

fn plane(
    packet: &ThreeDStateDepthBuffer,
    storage: &Storage,
    samples: NumberOfMultisamples,
) -> Result<Plane, BadSurface> {
    let dimension = match packet.surface_type {
        SurfaceType::SURFTYPE_1D => Dimension::One,
        SurfaceType::SURFTYPE_2D => Dimension::Two,
        SurfaceType::SURFTYPE_3D => Dimension::Three,
        SurfaceType::SURFTYPE_CUBE => Dimension::Cube,
        other => {
            return Err(wrong(
                "Surface Type",
                other.bits(),
                "no depth or stencil buffer has this type",
            ));
        }
    };
    if !storage.pitch.is_multiple_of(128) {
        let why = "the pitch of a depth or stencil buffer is a multiple of 128 bytes";
        return Err(wrong("Surface Pitch", storage.pitch.into(), why));
    }
    if samples.bits() > 3 {
        let why = "the number of samples does not exist";
        return Err(wrong("Number of Multisamples", samples.bits(), why));
    }
    let samples = 1 << samples.bits();
    if samples > 1 && dimension != Dimension::Two {
        let why = "only two-dimensional buffers have several samples";
        return Err(wrong("Surface Type", packet.surface_type.bits(), why));
    }
    let lod = packet.lod.get() as u32;
    if lod > 14 {
        return Err(wrong("LOD", lod.into(), "levels are 0 to 14"));
    }
    let volume = dimension == Dimension::Three;
    let depth = packet.depth.get() as u32;
    let first_slice =
        if dimension == Dimension::Cube { 0 } else { packet.minimum_array_element.get() as u32 };
    let layout = Layout {
        dimension,
        width: packet.width.get() as u32,
        height: packet.height.get() as u32,
        depth: if volume { depth } else { 1 },
        block: [1, 1],
        align: storage.align,
        qpitch: if volume { 0 } else { storage.qpitch },
        samples,
        interleaved: samples > 1,
        ..Layout::default()
    };
    let level = layout.level(lod);
    let slices = match dimension {
        Dimension::Three => {
            let reached = packet.render_target_view_extent.get() as u32;
            reached.min(level.depth.saturating_sub(first_slice)).max(1)
        }
        Dimension::Cube => 6,
        _ => depth,
    };
    if slices + first_slice > 1 && !volume && storage.qpitch == 0 {
        return Err(wrong("Surface QPitch", 0, "slices need a distance other than 0"));
    }
    let surface = Surface {
        kind: SurfaceKind::Image,
        base: storage.base,
        width: layout.width,
        height: layout.height,
        pitch: storage.pitch,
        tile_mode: storage.tile_mode,
        element_bytes: storage.bytes,
        layout,
        array: !volume,
        first_slice,
        slices,
        view_extent: slices,
        ..Surface::default()
    };
    Ok(Plane { surface, level, slices })
}

impl DepthStencil {
    /// Resolves the state from the packets.
    ///
    /// # Errors
    /// [`BadSurface`] names a field with a value that no depth or stencil buffer can have.
    pub fn resolve(packets: &DepthStencilPackets<'_>) -> Result<DepthStencil, BadSurface> {
        let DepthStencilPackets { depth, stencil, tests, references, viewports, samples } =
            *packets;
        let mut state = DepthStencil {
            ranges: viewports
                .iter()
                .map(|range| [range.minimum_depth, range.maximum_depth])
                .collect(),
            ..DepthStencil::default()
        };
        if is_used(depth, tests) {
            let buffer = depth_plane(depth, samples)?;
            if let Some((plane, format)) = buffer {
                (state.depth, state.format, state.depth_write) =
                    (Some(plane), format, writes(depth, tests));
                state.function =
                    tests.depth_test_enable.then(|| Compare::of(tests.depth_test_function));
            }
        }
        if tests.stencil_test_enable {
            state.stencil = stencil_plane(stencil, depth, samples)?;
        }
        if state.stencil.is_some() {
            let front = Face {
                function: Compare::of(tests.stencil_test_function),
                operations: [
                    tests.stencil_fail_op,
                    tests.stencil_pass_depth_fail_op,
                    tests.stencil_pass_depth_pass_op,
                ],
                test_mask: tests.stencil_test_mask.get() as u8,
                write_mask: tests.stencil_write_mask.get() as u8,
                reference: references.stencil_reference_value.get() as u8,
            };
            let back = Face {
                function: Compare::of(tests.backface_stencil_test_function),
                operations: [
                    tests.backface_stencil_fail_op,
                    tests.backface_stencil_pass_depth_fail_op,
                    tests.backface_stencil_pass_depth_pass_op,
                ],
                test_mask: tests.backface_stencil_test_mask.get() as u8,
                write_mask: tests.backface_stencil_write_mask.get() as u8,
                reference: references.back_face_stencil_reference_value.get() as u8,
            };
            let faces = [front, if tests.double_sided_stencil_enable { back } else { front }];
            state.stencil_write = depth.stencil_write_enable
                && tests.stencil_buffer_write_enable
                && faces.iter().any(Face::writes);
            state.faces = Some(faces);
        }
        Ok(state)
    }

    /// True if no sample can fail and nothing is written.
    pub fn is_idle(&self) -> bool {
        self.faces.is_none()
            && !self.depth_write
            && matches!(self.function, None | Some(Compare::ALWAYS))
    }

    /// True if samples that fail can change the stencil buffer.
    pub fn marks_failures(&self) -> bool {
        self.stencil_write && self.faces.iter().flatten().any(Face::marks_failures)
    }

    /// Tests the samples of a quad in `mask` (a byte for each pixel, a bit for each sample), and
    /// clears the bits of those that fail. With `write`, depth and stencil are written. Returns the
    /// number of samples that passed, which PS_DEPTH_COUNT counts if `write` is set.
    ///
    /// # Errors
    /// A page fault of one of the buffers.
    #[inline]
    pub fn test(
        &self,
        exec: &mut Exec<'_>,
        quad: &Quad,
        z: &Depths,
        mask: &mut [u8; 4],
        write: bool,
    ) -> Result<u32, Fault> {
        match self.samples(&mut exec.vm, quad, z, mask, write) {
            Ok(passed) => Ok(passed),
            Err(fault) => Err(exec.page(fault, "depth and stencil of a quad")),
        }
    }

    /// As [`test`](Self::test), for pixels with one sample. `z` is its depth in each pixel.
    ///
    /// # Errors
    /// A page fault of one of the buffers.
    #[inline]
    pub fn test_single(
        &self,
        exec: &mut Exec<'_>,
        quad: &Quad,
        z: [f32; 4],
        mask: &mut [u8; 4],
        write: bool,
    ) -> Result<u32, Fault> {
        if !self.is_idle() {
            let lanes = (0..4).fold(0, |lanes, n| lanes | (mask[n] & 1) << n);
            let passed = self
                .sample(&mut exec.vm, quad, z, 0, lanes, write)
                .map_err(|fault| exec.page(fault, "depth and stencil of a quad"))?;
            *mask = std::array::from_fn(|n| (lanes & passed) >> n & 1);
        }
        Ok(u32::from_le_bytes(*mask).count_ones())
    }

    /// As [`test`](Self::test), but takes only the memory and returns page faults as they are.
    #[inline]
    pub(crate) fn samples(
        &self,
        vm: &mut Vm<'_>,
        quad: &Quad,
        z: &Depths,
        mask: &mut [u8; 4],
        write: bool,
    ) -> Result<u32, PageFault> {
        if !self.is_idle() {
            let mut rest = mask[0] | mask[1] | mask[2] | mask[3];
            while rest != 0 {
                let sample = rest.trailing_zeros();
                rest &= rest - 1;
                let lanes = (0..4).fold(0, |lanes, n| lanes | (mask[n] >> sample & 1) << n);
                let z = std::array::from_fn(|n| z[n][sample as usize]);
                let failed = lanes & !self.sample(vm, quad, z, sample, lanes, write)?;
                for (n, mask) in mask.iter_mut().enumerate() {
                    *mask &= !((failed >> n & 1) << sample);
                }
            }
        }
        Ok(u32::from_le_bytes(*mask).count_ones())
    }

    /// Tests one sample of the pixels `lanes` of a quad; returns the pixels that pass.
    fn sample(
        &self,
        vm: &mut Vm<'_>,
        quad: &Quad,
        z: [f32; 4],
        sample: u32,
        lanes: u8,
        write: bool,
    ) -> Result<u8, PageFault> {
        let Some((plane, faces)) = self.stencil.as_ref().zip(self.faces.as_ref()) else {
            return self.depths(vm, quad, z, sample, lanes, write);
        };
        let face = &faces[usize::from(quad.back)];
        let inside = inside(&plane.level, quad, lanes);
        let (x, y) = plane.quad(quad.x, quad.y, quad.slice, sample);
        // In W tiles the quad is four consecutive bytes, in the order of its pixels.
        let at = plane.surface.address(x, y);
        let stored = vm.read_array::<4>(at)?;
        let mut alive = lanes & if PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS { !inside } else { 0 };
        for (n, &stored) in stored.iter().enumerate() {
            alive |= (u8::from(face.passes(stored)) & inside >> n & 1) << n;
        }
        let passed = self.depths(vm, quad, z, sample, alive, write)?;
        if write && self.stencil_write {
            let mut new = stored;
            for (n, byte) in new.iter_mut().enumerate() {
                if inside >> n & 1 == 1 {
                    let outcome = match (alive >> n & 1, passed >> n & 1) {
                        (0, _) => Outcome::Failed,
                        (_, 0) => Outcome::DepthFailed,
                        _ => Outcome::Passed,
                    };
                    *byte = face.update(*byte, outcome);
                }
            }
            if new != stored {
                vm.write_array(at, &new)?;
            }
        }
        Ok(passed)
    }

    /// Runs the depth test of one sample of the pixels `lanes`; returns the pixels that pass.
    #[inline]
    fn depths(
        &self,
        vm: &mut Vm<'_>,
        quad: &Quad,
        z: [f32; 4],
        sample: u32,
        lanes: u8,
        write: bool,
    ) -> Result<u8, PageFault> {
        let Some(plane) = self.depth.as_ref().filter(|_| lanes != 0) else { return Ok(lanes) };
        let range =
            self.ranges.get(usize::from(quad.viewport)).copied().unwrap_or([f32::MIN, f32::MAX]);
        // NaN becomes the least depth of the viewport.
        let z = z.map(|z| z.max(range[0]).min(range[1]));
        let inside = inside(&plane.level, quad, lanes);
        let (x, y) = plane.quad(quad.x, quad.y, quad.slice, sample);
        // Quads start at even rows. In a Y tile, the second row starts 16 bytes after the first.
        let at = plane.surface.address(x, y);
        let rows = match plane.surface.tile_mode == TileMode::Y && y & 1 == 0 {
            true => [at, at.wrapping_add(16)],
            false => [at, plane.surface.address(x, y + 1)],
        };
        let passed = match self.format {
            DepthFormat::Float32 => {
                self.compared(DepthFormat::Float32, vm, rows, z, inside, write)?
            }
            DepthFormat::Unorm24 => {
                self.compared(DepthFormat::Unorm24, vm, rows, z, inside, write)?
            }
            DepthFormat::Unorm16 => {
                self.compared(DepthFormat::Unorm16, vm, rows, z, inside, write)?
            }
        };
        Ok(passed | if PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS { lanes & !inside } else { 0 })
    }

    /// Compares depths with the elements at the addresses of two rows, and writes those that pass.
    /// Inlined for each format.
    #[inline(always)]
    fn compared(
        &self,
        format: DepthFormat,
        vm: &mut Vm<'_>,
        rows: [u64; 2],
        z: [f32; 4],
        inside: u8,
        write: bool,
    ) -> Result<u8, PageFault> {
        let new = z.map(|z| format.encode(z));
        let function = self.function.unwrap_or(Compare::ALWAYS);
        let mut passed = if function.equal { inside } else { 0 };
        if function.looks() {
            passed = 0;
            for (row, &at) in rows.iter().enumerate() {
                if inside >> (2 * row) & 3 != 0 {
                    let old = self.read(vm, at)?;
                    for (column, old) in old.into_iter().enumerate() {
                        let n = 2 * row + column;
                        passed |= u8::from(format.compare(function, new[n], old)) << n;
                    }
                }
            }
            passed &= inside;
        }
        if write && self.depth_write {
            for (row, &at) in rows.iter().enumerate() {
                let pair = [new[2 * row], new[2 * row + 1]];
                self.write(vm, at, pair, passed >> (2 * row) & 3)?;
            }
        }
        Ok(passed)
    }

    /// Reads two elements side by side. In Y tiles they are adjacent in memory too.
    #[inline(always)]
    fn read(&self, vm: &Vm<'_>, at: u64) -> Result<[u32; 2], PageFault> {
        if self.format == DepthFormat::Unorm16 {
            let pair = vm.read_u32(at)?;
            Ok([pair & 0xffff, pair >> 16])
        } else {
            let pair = vm.read_u64(at)?;
            Ok([pair as u32, (pair >> 32) as u32])
        }
    }

    /// Writes the elements of `which` (bit 0: left, bit 1: right) of two elements side by side.
    #[inline(always)]
    fn write(
        &self,
        vm: &mut Vm<'_>,
        at: u64,
        [left, right]: [u32; 2],
        which: u8,
    ) -> Result<(), PageFault> {
        let short = self.format == DepthFormat::Unorm16;
        match which {
            0 => Ok(()),
            1 if short => vm.write_u16(at, left as u16),
            1 => vm.write_u32(at, left),
            2 if short => vm.write_u16(at.wrapping_add(2), right as u16),
            2 => vm.write_u32(at.wrapping_add(4), right),
            _ if short => vm.write_u32(at, left | right << 16),
            _ => vm.write_u64(at, u64::from(left) | u64::from(right) << 32),
        }
    }
}

/// The pixels of `lanes` that lie inside a level.
#[inline(always)]
fn inside(level: &Level, quad: &Quad, lanes: u8) -> u8 {
    if quad.x + 1 < level.width && quad.y + 1 < level.height {
        return lanes;
    }
    let column = |x: u32| if x < level.width { 0b0101 } else { 0 };
    let row = |y: u32| if y < level.height { 0b0011 } else { 0 };
    lanes & (column(quad.x) | column(quad.x + 1) << 1) & (row(quad.y) | row(quad.y + 1) << 2)
}

/// When depth and stencil tests run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Timing {
    /// Tested and written before the pixel shader.
    #[default]
    Early,
    /// Tested before the pixel shader to save work, then tested again and written after it. Samples
    /// that fail must not change the stencil buffer ([`DepthStencil::marks_failures`]): they do not
    /// reach the second test.
    Twice,
    /// Tested and written after the pixel shader.
    Late,
}

impl Timing {
    /// The timing that gives the results of Early Depth/Stencil Control (2a p.276). `removes` is
    /// true if samples can be removed in a way that the packets of the shader do not show: by alpha
    /// test, alpha to coverage or chroma keys.
    pub fn of(wm: &ThreeDStateWm, shader: &ThreeDStatePsExtra, removes: bool) -> Timing {
        use ThreeDStateWmEarlyDepthStencilControl as Control;
        match wm.early_depth_stencil_control {
            _ if !shader.pixel_shader_valid => Timing::Early,
            Control::PREPS => Timing::Early,
            Control::PSEXEC => Timing::Late,
            _ if computes_depth(shader) => Timing::Late,
            _ if kills(wm, shader) || removes => Timing::Twice,
            _ => Timing::Early,
        }
    }
}

/// True if the shader computes depth.
pub(super) fn computes_depth(shader: &ThreeDStatePsExtra) -> bool {
    shader.pixel_shader_computed_depth_mode
        != ThreeDStatePsExtraPixelShaderComputedDepthMode::PSCDEPTH_OFF
}

/// True if the shader can remove pixels or samples.
pub(super) fn kills(wm: &ThreeDStateWm, shader: &ThreeDStatePsExtra) -> bool {
    match wm.force_kill_pixel_enable {
        ForceOverride::FORCE_ON => true,
        ForceOverride::FORCE_OFF => false,
        _ => shader.pixel_shader_kills_pixel || shader.o_mask_present_to_render_target,
    }
}

#[cfg(test)]
mod tests;
