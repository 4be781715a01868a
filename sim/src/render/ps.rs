//! Pixel shader: runs threads of 8, 16 or 32 channels on subspans of 2x2 pixels (2a, 3DSTATE_PS,
//! 3DSTATE_PS_EXTRA, 3DSTATE_WM; payload by gen8_facts 3.6).

use super::shader::{REGISTER, Shader, Threads};
use super::stage::{StagePacket, StageState};
use super::state;
use super::topology::Shape;
use crate::assumptions::PIXEL_THREADS_START_WITH_WHOLE_SUBSPANS;
use crate::eu::constant;
use crate::eu::fast::Level;
use crate::eu::fast::lanes::zip;
use crate::eu::uop::Uop;
use crate::eu::written::Start;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::pixel::interpolate::{Attribute, Barycentric, Planes, Position, Positions};
use crate::pixel::multisample::Multisample;
use crate::surface::{AuxiliaryKind, Surface, TileMode};
use crate::unit::Program;
use crate::unit::pixels::Pixels;
use crate::unit::render_cache::{self, Dispatched, Writes};
use genxml::gen8::render3d_pixel::{
    ThreeDStatePs, ThreeDStatePsExtra, ThreeDStatePsExtraPixelShaderComputedDepthMode as DepthMode,
    ThreeDStatePsPositionXyOffsetSelect as OffsetSelect, ThreeDStateWm,
    ThreeDStateWmPositionZwInterpolationMode as ZwMode,
};
use genxml::gen8::thread_payloads::{
    PsAttributeSetupPayload, PsInputCoveragePayloadSimd8, PsPositionOffsetPayload,
    PsPositionOffsetPayloadPixel, PsThreadPayload, PsThreadPayloadSubspan,
};
use genxml_core::U;
use genxml_eu::instruction::{Descriptor, SharedFunction};

/// Subspans of a thread of 32 channels.
pub const MAX_SPANS: usize = 8;

/// Time to set up and write a pixel, in nanoseconds, for estimates.
const PIXEL_TIME: u64 = 20;
/// Time of a message for a pixel, in nanoseconds, for estimates.
const MESSAGE_TIME: u64 = 10;

/// A subspan that a thread shades: all of its pixels, or one sample of each pixel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// Column of the left pixels, even.
    pub x: u32,
    /// Row of the upper pixels, even.
    pub y: u32,
    /// Mask of the samples that the primitive covers, for each pixel: upper left, upper right,
    /// lower left, lower right.
    pub coverage: [u8; 4],
    /// Samples of `coverage` that passed the early tests.
    pub live: [u8; 4],
    /// The sample of each pixel that the thread shades; `None` if it shades whole pixels.
    pub sample: Option<u8>,
}

impl Span {
    /// Pixels that the thread shades, a bit each.
    #[inline(always)]
    pub fn lanes(&self) -> u32 {
        let live = u32::from_le_bytes(self.live);
        // In `shaded`, the highest bit of each byte is set if the pixel is shaded.
        const LOW: u32 = u32::from_le_bytes([0x7f; 4]);
        let shaded = match self.sample {
            Some(sample) => live << (7 - sample.min(7)),
            None => live | ((live & LOW) + LOW),
        };
        // All products of two bits have different positions, so the multiplication has no carries.
        let bits = shaded >> 7 & u32::from_le_bytes([1; 4]);
        bits.wrapping_mul(0x1020_4080) >> 28
    }
}

/// The input of the pixel shader that is the same for all pixels of a primitive.
#[derive(Clone, Copy, Debug)]
pub struct PsInput<'a> {
    /// The shape before setup. Setup can turn a triangle into lines or points.
    pub shape: Shape,
    /// Planes of depth, w and barycentrics.
    pub planes: &'a Planes,
    /// Setup data of the attributes.
    pub attributes: &'a [[Attribute; 4]],
    /// The primitive faces backward.
    pub back: bool,
    /// Render target array index.
    pub array_index: u32,
    /// Index of the viewport.
    pub viewport: u8,
}

/// The kernel and the threads of one dispatch width: 8, 16 or 32 pixels.
#[derive(Debug)]
struct Variant {
    shader: Shader,
    threads: Threads,
    /// Maximum number of subspans of a thread.
    spans: usize,
    /// The number of instructions, if all threads of a primitive write the same colour and do
    /// nothing else.
    constant: Option<u32>,
    /// True if the kernel may send messages to the pixel interpolator. Also true if its [`Start`]
    /// is the default, for example because it has branches. They can lead to code that is not
    /// decoded yet.
    interpolates: bool,
    /// True if [`PixelShader::prepare`] ran for the current primitive.
    prepared: bool,
    /// Length of the payload of `threads.launch` up to the end of the constants. All threads of the
    /// draw have the same constants. 0 before the first thread.
    shared: usize,
    /// The fields of r0 and r1 that all threads of a primitive share. Subspans, pixel masks and
    /// sample numbers are 0.
    header: [u32; PsThreadPayload::DWORDS],
}

/// Writes the registers of a payload before the constants, from `r0` on. They differ between the
/// threads of a primitive. Values that do not fit before the constants are dropped.
struct Rows<'p> {
    bytes: &'p mut [u8],
    at: usize,
}

impl Rows<'_> {
    /// Appends dwords.
    #[inline(always)]
    fn push<const N: usize>(&mut self, dwords: &[u32; N]) {
        let bytes: &[u8] = bytemuck::cast_slice(dwords);
        match self.bytes.get_mut(self.at..self.at + 4 * N) {
            Some(to) => to.copy_from_slice(bytes),
            None => {
                let room = self.bytes.get_mut(self.at..).unwrap_or_default();
                room.copy_from_slice(&bytes[..room.len()]);
            }
        }
        self.at += 4 * N;
    }

    /// Appends sixteen floats, or the first eight of them if `rows` is 1.
    #[inline(always)]
    fn push_lanes(&mut self, lanes: [f32; 16], rows: usize) {
        let [low, high]: [[u32; 8]; 2] = bytemuck::cast(lanes);
        self.push(&low);
        if rows == 2 {
            self.push(&high);
        }
    }
}

/// A kernel of 3DSTATE_PS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PsKernel {
    /// Subspans of a thread: 2, 4 or 8.
    pub spans: usize,
    /// Offset from Instruction Base Address.
    pub pointer: u64,
    /// First register of the constants.
    pub start: u64,
}

/// The kernels for threads of 8, 16 and 32 pixels; none for a width that is not enabled.
pub fn kernels(ps: &ThreeDStatePs) -> [Option<PsKernel>; 3] {
    let enabled =
        [ps._8_pixel_dispatch_enable, ps._16_pixel_dispatch_enable, ps._32_pixel_dispatch_enable];
    // If only one width is enabled, it uses kernel 0. If several are, 8 pixels use kernel 0, 16
    // pixels kernel 2 and 32 pixels kernel 1 (gen8_facts 3.6).
    let numbers = match enabled {
        [false, true, false] | [false, false, true] => [0, 0, 0],
        _ => [0, 2, 1],
    };
    let pointers =
        [ps.kernel_start_pointer_0, ps.kernel_start_pointer_1, ps.kernel_start_pointer_2];
    let starts = [
        ps.dispatch_grf_start_register_for_constant_setup_data_0,
        ps.dispatch_grf_start_register_for_constant_setup_data_1,
        ps.dispatch_grf_start_register_for_constant_setup_data_2,
    ];
    std::array::from_fn(|width| {
        let number: usize = numbers[width];
        enabled[width].then(|| PsKernel {
            spans: 2 << width,
            pointer: pointers[number].get(),
            start: starts[number].get(),
        })
    })
}

/// The pixel shader of a draw.
#[derive(Debug)]
pub struct PixelShader {
    /// The enabled widths, from the widest to the narrowest.
    variants: Vec<Variant>,
    /// Enabled barycentrics. Bits 0 to 2: at pixel, centroid and sample, with perspective. Bits 3
    /// to 5: the same without perspective.
    barycentrics: u8,
    source_depth: bool,
    source_w: bool,
    /// Where depth and w are evaluated.
    position: ZwMode,
    offsets: OffsetSelect,
    coverage: bool,
    attributes: bool,
    /// Render target messages have an oMask.
    omask: bool,
    /// Threads shade samples instead of pixels: each subspan has one sample of each of its pixels.
    pub per_sample: bool,
    multisample: Multisample,
    /// Index of the variant that ran last.
    newest: usize,
    /// The render target writes of the threads that ran since the list was cleared.
    writes: Writes,
    /// Number of enabled channels of the thread that ran last.
    invocations: u64,
}

/// [`PixelShader::width_of_pages`], for one render target. A page of a tiled surface is a tile.
fn width_of_pages(target: &Surface) -> Option<u32> {
    // A level that does not start at a page has pages that two areas share. All areas share the
    // pages of the auxiliary surface.
    let apart = target.auxiliary.kind == AuxiliaryKind::None
        && [target.mip_count, target.left, target.top] == [0; 3];
    apart.then(|| match target.tile_mode {
        TileMode::Linear => u32::MAX,
        tiled => tiled.width() / target.element_bytes.max(1),
    })
}

impl PixelShader {
    /// Resolves the pixel shader, if there is one.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for fields that no thread can run with; page faults when its constants
    /// are read.
    pub fn resolve(
        exec: &mut Exec<'_>,
        multisample: Multisample,
    ) -> Result<Option<PixelShader>, Fault> {
        let extra: ThreeDStatePsExtra = state::packet(exec);
        if !extra.pixel_shader_valid {
            return Ok(None);
        }
        let ps: ThreeDStatePs = state::packet(exec);
        let wm: ThreeDStateWm = state::packet(exec);
        let constants = ThreeDStatePs::constants(exec);
        let dispatched = Dispatched {
            omask: extra.o_mask_present_to_render_target,
            depth: extra.pixel_shader_computed_depth_mode != DepthMode::PSCDEPTH_OFF,
            ..Dispatched::default()
        };
        // Each has several kilobytes, so the list should not grow.
        let mut variants = Vec::with_capacity(3);
        for kernel in kernels(&ps).into_iter().flatten().rev() {
            let state =
                StageState { kernel: kernel.pointer, start: kernel.start, ..ps.state(exec) };
            let constants = ps.push_constant_enable.then_some(&constants);
            let shader = Shader::resolve(exec, state, constants)?;
            let mut threads = Threads::new(&shader);
            threads.slots.local.dispatched = Some(dispatched);
            // Threads of 32 channels do not start with whole subspans: their payload has a pixel
            // mask for the second half too, and kernels use it.
            threads.whole = PIXEL_THREADS_START_WITH_WHOLE_SUBSPANS
                && !state.vector_mask
                && kernel.spans < MAX_SPANS;
            // Then all channels of the quads are enabled, also those of uncovered pixels.
            let whole = threads.whole || state.vector_mask && kernel.spans < MAX_SPANS;
            let constant = (whole && !dispatched.omask && !dispatched.depth)
                .then(|| constant::ending(&shader.program.kernel, shader.start))
                .flatten()
                .filter(render_cache::is_constant)
                .map(|ending| ending.instructions);
            let kernel_code = &shader.program.kernel;
            let sends = |u: &Uop| {
                u.send.is_some_and(|send| send.function == SharedFunction::PixelInterpolator)
            };
            let interpolates =
                kernel_code.start() == Start::default() || kernel_code.uops.iter().any(sends);
            variants.push(Variant {
                threads,
                shader,
                spans: kernel.spans,
                constant,
                interpolates,
                prepared: false,
                shared: 0,
                header: [0; PsThreadPayload::DWORDS],
            });
        }
        let modes = wm.barycentric_interpolation_mode.get();
        Ok(Some(PixelShader {
            variants,
            barycentrics: modes as u8,
            source_depth: extra.pixel_shader_uses_source_depth,
            source_w: extra.pixel_shader_uses_source_w,
            position: wm.position_zw_interpolation_mode,
            offsets: ps.position_xy_offset_select,
            coverage: extra.pixel_shader_uses_input_coverage_mask,
            attributes: extra.attribute_enable,
            omask: extra.o_mask_present_to_render_target,
            per_sample: extra.pixel_shader_is_per_sample,
            multisample,
            newest: 0,
            writes: Writes::default(),
            invocations: 0,
        }))
    }

    /// Starts another draw, which has the same shader and constants.
    pub(super) fn restart(&mut self, exec: &mut Exec<'_>) {
        self.writes.clear();
        self.invocations = 0;
        for variant in &mut self.variants {
            variant.shader.restart(exec);
            variant.prepared = false;
        }
        self.begin_tile();
    }

    /// The shader for another worker, with empty caches.
    pub(super) fn fork(&self) -> PixelShader {
        let fork = |variant: &Variant| Variant {
            shader: variant.shader.clone(),
            threads: variant.threads.fork(),
            spans: variant.spans,
            constant: variant.constant,
            interpolates: variant.interpolates,
            prepared: false,
            shared: 0,
            header: variant.header,
        };
        PixelShader {
            variants: self.variants.iter().map(fork).collect(),
            writes: Writes::default(),
            ..*self
        }
    }

    /// Replaces the cached surfaces and kernels by those of another shader.
    pub(super) fn inherit(&mut self, other: &PixelShader) {
        for (own, other) in self.variants.iter_mut().zip(&other.variants) {
            own.threads.slots.programs.clone_from(&other.threads.slots.programs);
        }
    }

    /// Takes the cached surfaces and kernels out of the shader. Its caches are empty afterwards.
    pub(super) fn take_programs(&mut self) -> Vec<Program> {
        self.variants
            .iter_mut()
            .flat_map(|variant| std::mem::take(&mut variant.threads.slots.programs))
            .collect()
    }

    /// Adds the cached surfaces of a shader that [inherited](Self::inherit) from this one.
    pub(super) fn merge(&mut self, programs: &[Program]) {
        let own = self.variants.iter_mut().flat_map(|variant| &mut variant.threads.slots.programs);
        for (own, other) in own.zip(programs) {
            own.bindings.merge(&other.bindings);
        }
    }

    /// Starts a tile: its threads are numbered from 0.
    pub(super) fn begin_tile(&mut self) {
        self.newest = 0;
        for variant in &mut self.variants {
            variant.threads.renumber();
        }
    }

    /// Keeps the memory of the threads for the next draw.
    pub(super) fn release(&mut self, exec: &mut Exec<'_>) {
        self.variants.iter_mut().for_each(|variant| variant.threads.slots.release(exec));
    }

    /// Number of enabled channels of the thread that ran last.
    pub(super) fn invocations(&self) -> u64 {
        self.invocations
    }

    /// Number of subspans that fill the widest thread.
    pub fn wanted(&self) -> usize {
        self.variants.first().map_or(1, |variant| variant.spans)
    }

    /// The number of instructions of the widest threads, if all of them write the same colour for a
    /// primitive and do nothing else.
    pub(super) fn constant(&self) -> Option<u32> {
        self.variants.first()?.constant.filter(|_| !self.per_sample)
    }

    /// A width in pixels. Areas of the screen that start at multiples of this width, and of 64
    /// pixels vertically, probably have their own pages in all render targets. `u32::MAX` if only
    /// whole rows do. `None` if threads can write to other memory, or if areas probably share
    /// pages.
    pub(super) fn width_of_pages(&mut self, exec: &Exec<'_>) -> Option<u32> {
        let mut width = 1;
        for variant in &mut self.variants {
            let bindings = &mut variant.threads.slots.programs[0].bindings;
            for send in variant.shader.program.kernel.uops.iter().filter_map(|uop| uop.send) {
                match (send.function, send.descriptor) {
                    (SharedFunction::DataPortRender, Descriptor::Immediate(bits)) => {
                        let bound = bindings.surface(exec, render_cache::binding(bits)).ok()?;
                        width = width.max(width_of_pages(&bound.surface)?);
                    }
                    (
                        SharedFunction::Sampler
                        | SharedFunction::DataPortSampler
                        | SharedFunction::DataPortConstant
                        | SharedFunction::PixelInterpolator,
                        _,
                    ) => {}
                    _ => return None,
                }
            }
        }
        Some(width)
    }

    /// Time that a pixel takes on the host, in nanoseconds, if each instruction runs once.
    pub(super) fn time(&self) -> u64 {
        let Some(variant) = self.variants.first() else { return 0 };
        let uops = &variant.shader.program.kernel.uops;
        let messages = uops.iter().filter(|uop| uop.send.is_some()).count() as u64;
        PIXEL_TIME + uops.len() as u64 / 2 + messages * MESSAGE_TIME
    }

    /// Counts `threads` of the widest threads that are not run, because their writes are known.
    pub(super) fn repeat(&mut self, exec: &mut Exec<'_>, threads: u64) {
        let Some(variant) = self.variants.first_mut() else { return };
        let instructions = u64::from(variant.constant.unwrap_or_default());
        variant.threads.skip(threads);
        exec.device.observed.add(Counter::PixelThreads, threads);
        exec.stats.threads += threads;
        exec.stats.messages += threads;
        exec.stats.instructions += threads * instructions;
    }

    /// Starts a primitive. Call this before the first thread of each primitive.
    pub fn begin(&mut self) {
        self.variants.iter_mut().for_each(|variant| variant.prepared = false);
    }

    /// Runs one thread with as many of `spans` as it takes, and returns how many. Its render target
    /// writes are the last of [`writes`](Self::writes) afterwards. `input` must be the same for all
    /// threads since the last call of [`begin`](Self::begin).
    ///
    /// # Errors
    /// Any [`Fault`] of the thread.
    pub fn run(
        &mut self,
        exec: &mut Exec<'_>,
        input: &PsInput<'_>,
        spans: &[Span],
    ) -> Result<usize, Fault> {
        // The narrowest variant that takes all subspans; if none does, the widest.
        let fits = self.variants.iter().rposition(|variant| variant.spans >= spans.len());
        let number = fits.unwrap_or(0);
        match self.variants.get(number) {
            Some(variant) if variant.prepared => {}
            Some(_) => self.prepare(number, input),
            None => {
                let why = "a pixel shader needs threads of 8, 16 or 32 pixels";
                return Err(exec.bad_field("8 Pixel Dispatch Enable", 0, why));
            }
        }
        let taken = spans.len().min(self.variants[number].spans);
        self.newest = number;
        let spans = &spans[..taken];
        let mut subspans = [[0; 2]; MAX_SPANS];
        let (mut mask, mut vector) = (0, 0);
        for (n, (span, subspan)) in spans.iter().zip(&mut subspans).enumerate() {
            *subspan = [span.x, span.y];
            let lanes = span.lanes();
            mask |= lanes << (4 * n);
            vector |= if lanes == 0 { 0 } else { 0xf << (4 * n) };
        }
        self.invocations = mask.count_ones().into();
        let mut payload = std::mem::take(&mut self.variants[number].threads.launch.payload);
        let shaded = Shaded { spans, subspans, mask };
        self.payload(&self.variants[number], input, &shaded, &mut payload);
        let variant = &mut self.variants[number];
        variant.threads.launch.payload = payload;
        let local = &mut variant.threads.slots.local;
        if let Some(dispatched) = &mut local.dispatched {
            dispatched.mask = mask;
            dispatched.subspans = subspans;
        }
        if let Some(pixels) = &mut local.pixels {
            pixels.subspans = subspans;
            pixels.coverage = coverage(spans);
        }
        std::mem::swap(&mut self.writes, &mut variant.threads.slots.local.writes);
        let result = variant.threads.run(exec, &variant.shader, mask, vector, "pixel shader");
        std::mem::swap(&mut self.writes, &mut variant.threads.slots.local.writes);
        result.map(|()| taken)
    }

    /// Sets everything that the threads of variant `number` share for a primitive.
    #[inline(never)]
    fn prepare(&mut self, number: usize, input: &PsInput<'_>) {
        let variant = &mut self.variants[number];
        variant.prepared = true;
        let header = variant.shader.header(0);
        variant.header = PsThreadPayload {
            primitive_topology_type: U::from_bits(input.shape.list().bits()),
            o_mask_present: self.omask,
            back_facing: input.back,
            viewport_index: U::from_bits(input.viewport.into()),
            render_target_array_index: U::from_bits(input.array_index.into()),
            per_thread_scratch_space: header.scratch_code,
            sampler_state_pointer: header.samplers,
            binding_table_pointer: header.binding_table,
            fftid: header.fftid,
            scratch_space_pointer: header.scratch,
            ..PsThreadPayload::new()
        }
        .pack();
        let payload = &mut variant.threads.launch.payload;
        match variant.shared {
            0 => {
                payload.clear();
                // Leaves space before the constants for the rows of each thread.
                variant.shader.push_constants(payload);
                variant.shared = payload.len();
            }
            shared => payload.truncate(shared),
        }
        if self.attributes {
            for attribute in input.attributes {
                let component = attribute.map(|[c1, c2, _, a0]| {
                    genxml::gen8::thread_payloads::PsAttributeSetupPayloadComponent { c1, c2, a0 }
                });
                let setup = PsAttributeSetupPayload { component };
                payload.extend_from_slice(bytemuck::cast_slice(&setup.pack()));
            }
        }
        let local = &mut variant.threads.slots.local;
        if let Some(dispatched) = &mut local.dispatched {
            dispatched.slice = input.array_index;
            dispatched.viewport = input.viewport;
            dispatched.back = input.back;
        }
        if variant.interpolates {
            // An old value is overwritten, not replaced, because the planes are large.
            match &mut local.pixels {
                None => {
                    local.pixels = Some(Pixels {
                        planes: *input.planes,
                        multisample: self.multisample,
                        subspans: [[0; 2]; MAX_SPANS],
                        coverage: [[0; 4]; MAX_SPANS],
                    });
                }
                Some(pixels) => pixels.planes = *input.planes,
            }
        }
    }

    /// The render target writes of the threads that ran since the list was cleared, in order.
    pub fn writes(&mut self) -> &mut Writes {
        &mut self.writes
    }

    /// The surface of a binding table index.
    ///
    /// # Errors
    /// As [`Bindings::surface`](crate::unit::Bindings::surface).
    pub fn surface(&mut self, exec: &Exec<'_>, index: u8) -> Result<Surface, Fault> {
        let program = &mut self.variants[self.newest].threads.slots.programs[0];
        program.bindings.surface(exec, index).map(|bound| bound.surface)
    }

    /// Writes the registers before the constants.
    fn payload(
        &self,
        variant: &Variant,
        input: &PsInput<'_>,
        shaded: &Shaded<'_>,
        payload: &mut [u8],
    ) {
        let mut rows = Rows { bytes: &mut payload[..variant.shader.start * REGISTER], at: 0 };
        let group = |first: usize| {
            let mut own = PsThreadPayload::new();
            own.pixel_mask = U::from_bits(((shaded.mask >> (4 * first)) as u16).into());
            for (to, [x, y]) in own.subspan.iter_mut().zip(shaded.four(first)) {
                *to =
                    PsThreadPayloadSubspan { x: U::from_bits(x.into()), y: U::from_bits(y.into()) };
            }
            if self.per_sample {
                let sample =
                    |n: usize| U::from_bits(shaded.span(first + n).sample.unwrap_or(0).into());
                own.sample_id_0 = sample(0);
                own.sample_id_1 = sample(1);
                own.sample_id_2 = sample(2);
                own.sample_id_3 = sample(3);
            }
            // Fields that are set here are 0 in the header. All other fields are 0 here.
            zip(own.pack(), variant.header, |own, shared| own | shared)
        };
        rows.push(&group(0));
        if variant.spans == MAX_SPANS {
            let [_, _, _, _, _, _, _, _, register @ ..] = group(4);
            rows.push(&register);
        }
        // Each value is a row of 8 channels in threads of 8, and two rows in threads of 16. Threads
        // of 32 have the whole list of values twice, for 16 channels each.
        for first in (0..variant.spans).step_by(4) {
            let count = if variant.spans == 2 { 1 } else { 2 };
            self.values(input, shaded, first, count, &mut rows);
        }
    }

    /// Appends the enabled values of 8 channels if `count` is 1, of 16 channels if it is 2. The
    /// first channel is that of subspan `first`.
    #[inline(always)]
    fn values(
        &self,
        input: &PsInput<'_>,
        shaded: &Shaded<'_>,
        first: usize,
        count: usize,
        rows: &mut Rows<'_>,
    ) {
        let planes = input.planes;
        let subspans = shaded.four(first);
        let location = self.multisample.location.position();
        let own = |slot: usize| match self.position {
            ZwMode::INTERP_CENTROID => self.centroid(shaded, first, slot),
            ZwMode::INTERP_SAMPLE => self.sample(&shaded.span(first + slot / 4)),
            _ => location,
        };
        let mut modes = self.barycentrics;
        while modes != 0 {
            let n = modes.trailing_zeros();
            modes &= modes - 1;
            let kind = if n < 3 { Barycentric::Perspective } else { Barycentric::Linear };
            let [b1, b2] = match n % 3 {
                0 => vectorized(
                    #[inline(always)]
                    || planes.barycentrics(kind, &positions(&subspans, |_| location)),
                ),
                1 => {
                    let centroid = |slot| self.centroid(shaded, first, slot);
                    planes.barycentrics(kind, &positions(&subspans, centroid))
                }
                _ => {
                    let sample = |slot| self.sample(&shaded.span(first + slot / 4));
                    planes.barycentrics(kind, &positions(&subspans, sample))
                }
            };
            let ([low1, high1], [low2, high2]): ([[f32; 8]; 2], [[f32; 8]; 2]) =
                (bytemuck::cast(b1), bytemuck::cast(b2));
            rows.push::<8>(&bytemuck::cast(low1));
            rows.push::<8>(&bytemuck::cast(low2));
            if count == 2 {
                rows.push::<8>(&bytemuck::cast(high1));
                rows.push::<8>(&bytemuck::cast(high2));
            }
        }
        if self.source_depth || self.source_w {
            let at = positions(&subspans, own);
            if self.source_depth {
                let depths = vectorized(
                    #[inline(always)]
                    || planes.depths(&at),
                );
                rows.push_lanes(depths, count);
            }
            if self.source_w {
                let ws = vectorized(
                    #[inline(always)]
                    || planes.ws(&at),
                );
                rows.push_lanes(ws, count);
            }
        }
        if matches!(self.offsets, OffsetSelect::POSOFFSET_CENTROID | OffsetSelect::POSOFFSET_SAMPLE)
        {
            let none = PsPositionOffsetPayloadPixel {
                x_offset: U::from_bits(0),
                y_offset: U::from_bits(0),
            };
            let mut pixel = [none; 16];
            for (slot, pixel) in pixel.iter_mut().enumerate().take(8 * count) {
                let [x, y] = match self.offsets {
                    OffsetSelect::POSOFFSET_CENTROID => self.centroid(shaded, first, slot),
                    _ => self.sample(&shaded.span(first + slot / 4)),
                };
                *pixel = PsPositionOffsetPayloadPixel {
                    x_offset: U::from_bits(x.into()),
                    y_offset: U::from_bits(y.into()),
                };
            }
            rows.push(&PsPositionOffsetPayload { pixel }.pack());
        }
        if self.coverage {
            for row in 0..count {
                let coverage_mask = std::array::from_fn(|channel| {
                    let span = shaded.span(first + 2 * row + channel / 4);
                    U::from_bits(span.coverage[channel % 4].into())
                });
                rows.push(&PsInputCoveragePayloadSimd8 { coverage_mask }.pack());
            }
        }
    }

    /// Position of the centroid in a pixel, in 1/16 pixels. Slot 0 is the first pixel of subspan
    /// `first`.
    fn centroid(&self, shaded: &Shaded<'_>, first: usize, slot: usize) -> [u8; 2] {
        let covered = shaded.span(first + slot / 4).coverage[slot % 4].into();
        self.multisample.samples.centroid(covered, self.multisample.location.position())
    }

    fn sample(&self, span: &Span) -> [u8; 2] {
        let sample = usize::from(span.sample.unwrap_or(0));
        let positions = self.multisample.samples.positions();
        positions.get(sample).copied().unwrap_or(self.multisample.location.position())
    }
}

/// Runs `f` with the vector instructions of this processor, if it has them. `f` must be inlined.
#[inline(always)]
fn vectorized<R>(f: impl Fn() -> R) -> R {
    match Level::detect() {
        Some(level) => level.vectorize(f),
        None => f(),
    }
}

/// The pixels that a thread shades.
struct Shaded<'s> {
    spans: &'s [Span],
    /// Column and row of the upper left pixel of each subspan; 0 for subspans that do not exist.
    subspans: [[u32; 2]; MAX_SPANS],
    /// The enabled channels.
    mask: u32,
}

impl Shaded<'_> {
    /// Subspan `n`; an empty one if it does not exist.
    fn span(&self, n: usize) -> Span {
        self.spans.get(n).copied().unwrap_or_default()
    }

    /// Four subspans from `first` on, which is 0 or 4.
    #[inline(always)]
    fn four(&self, first: usize) -> [[u32; 2]; 4] {
        let [a, b, c, d, e, f, g, h] = self.subspans;
        if first == 0 { [a, b, c, d] } else { [e, f, g, h] }
    }
}

/// The coverage of each subspan; 0 for subspans that do not exist.
#[inline(always)]
fn coverage(spans: &[Span]) -> [[u8; 4]; MAX_SPANS] {
    let mut coverage = [[0; 4]; MAX_SPANS];
    for (to, span) in coverage.iter_mut().zip(spans) {
        *to = span.coverage;
    }
    coverage
}

/// A position in each pixel of four subspans. For the number of a slot, `offset` returns the offset
/// of the position from the corner of the pixel, in 1/16 pixels.
#[inline(always)]
fn positions(subspans: &[[u32; 2]; 4], offset: impl Fn(usize) -> [u8; 2]) -> Positions<16> {
    let mut at = Positions { x: [0; 16], y: [0; 16] };
    for (slot, (to_x, to_y)) in at.x.iter_mut().zip(&mut at.y).enumerate() {
        let [x, y] = subspans[slot / 4];
        let (x, y) = (x + (slot as u32 & 1), y + (slot as u32 >> 1 & 1));
        Position { x: *to_x, y: *to_y } = Position::in_pixel(x, y, offset(slot));
    }
    at
}
