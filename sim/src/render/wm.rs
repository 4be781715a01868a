//! Windower: takes subspans of 2x2 pixels from the rasteriser through early tests, pixel shader and
//! late tests to the render targets (2a, 3DSTATE_WM; order of tests by gen8_facts 8.1).

use super::aux_surface::AuxCache;
use super::depth::{self, DepthStencilPackets, Depths, Timing};
use super::hiz::Legacy;
use super::merge::{Output, OutputPackets, Slots};
use super::primitives::{BinnedPrimitive, Kind, Smooth};
use super::ps::{PixelShader, PsInput, Span};
use super::raster_state::RasterState;
use super::render_target::{Purpose, RenderTarget};
use super::state;
use crate::assumptions::{PIXEL_THREADS_NEED_AN_OUTPUT, PS_INVOCATIONS_OF_A_PIXEL};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::parallel::Estimate;
use crate::machine::state::State;
use crate::machine::watchdog;
use crate::machine::watched::WatchedPixel;
use crate::mem::Client;
use crate::pixel::coordinates::Rect;
use crate::pixel::interpolate::{Attribute, Position};
use crate::pixel::raster::{self, strips::Strip};
use crate::surface::BadSurface;
use crate::unit::Program;
use crate::unit::render_cache::Write;
use genxml::gen8::registers::{PsDepthCount, PsInvocationCount};
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateStencilBuffer, ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_pixel::{
    BlendState, ColorCalcState, ForceOverride, ThreeDStateBlendStatePointers,
    ThreeDStateCcStatePointers, ThreeDStatePsBlend, ThreeDStatePsExtra, ThreeDStateWm,
    ThreeDStateWmChromakey,
};
use genxml::gen8::render3d_raster::ThreeDStateMultisample;

mod one_color;
mod strips;
mod watched;

/// Time of the depth and stencil tests of a pixel in nanoseconds, for estimates.
const TEST_TIME: u64 = 10;

/// Maximum number of threads that run before their writes go to the targets. The code for all steps
/// of a thread, from the tests of its pixels to the targets, is larger than the instruction cache
/// of a host. So each step handles several threads before the next step begins.
const BATCH: usize = 8;

/// A render target that a message used.
#[derive(Debug)]
struct Target {
    binding: u8,
    entry: u8,
    target: RenderTarget,
    cache: AuxCache,
}

/// State of the tests and outputs of a draw.
#[derive(Debug)]
pub struct Windower {
    output: Output,
    blend: BlendState,
    constants: ColorCalcState,
    purpose: Purpose,
    /// The position in a pixel where depths are evaluated, in 1/16 pixels; none if it is at the
    /// samples of the rasteriser.
    depth_at: Option<[u8; 2]>,
    /// The depth that replaces the depth of the primitive in a clear by 3DSTATE_WM.
    clear: Option<f32>,
    /// Statistics Enable of 3DSTATE_WM.
    counted: bool,
}

/// State of the rasteriser and the stages after it, for a draw.
#[derive(Clone, Copy, Debug)]
pub struct PixelState<'a> {
    /// State of the rasteriser.
    pub raster: &'a RasterState,
    /// State of the stages after the rasteriser.
    pub windower: &'a Windower,
}

/// A primitive of a draw, with everything that its pixels need.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// State of the draw.
    pub draw: PixelState<'a>,
    /// The primitive.
    pub primitive: &'a BinnedPrimitive,
    /// The setup data of its attributes.
    pub attributes: &'a [[Attribute; 4]],
}

impl PixelState<'_> {
    /// The samples of a quad that the primitive covers, after stipple and sample mask.
    #[inline(always)]
    fn coverage(&self, primitive: &BinnedPrimitive, mut quad: raster::Quad) -> [u8; 4] {
        let raster = self.raster;
        if let Some(stipple) = raster
            .polygon_stipple
            .filter(|_| primitive.setup.kind == Kind::Surface && primitive.stippled)
        {
            stipple.mask(&mut quad);
        }
        if let Some(((stipple, _), line)) = raster.line_stipple.zip(primitive.setup.stippled) {
            for (n, mask) in quad.mask.iter_mut().enumerate() {
                let (x, y) = (quad.x + (n as u32 & 1), quad.y + (n as u32 >> 1));
                if !stipple.draws(line.position(x, y)) {
                    *mask = 0;
                }
            }
        }
        quad.mask.map(|mask: u16| match raster.forced {
            // All samples of the buffers are covered if any rasterised sample is covered.
            true if mask != 0 => raster.sample_mask,
            _ => mask as u8 & raster.sample_mask,
        })
    }
}

impl BinnedPrimitive {
    /// A quad of the primitive, for the depth and stencil tests.
    #[inline(always)]
    fn tested(&self, quad: &raster::Quad) -> depth::Quad {
        depth::Quad {
            x: quad.x,
            y: quad.y,
            slice: self.array_index,
            viewport: self.viewport as u8,
            back: self.setup.back,
        }
    }
}

/// Counts of pixels and samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Enabled channels of pixel shader threads. PS_INVOCATION_COUNT advances by
    /// assumptions::PS_INVOCATIONS_OF_A_PIXEL for each.
    pub invocations: u64,
    /// Samples that passed the depth test (PS_DEPTH_COUNT).
    pub passed: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.invocations += other.invocations;
        self.passed += other.passed;
    }
}

/// The pixel shader and targets of a worker, which draws one tile of the screen at a time.
#[derive(Debug)]
pub struct PixelPipe {
    shader: Option<PixelShader>,
    targets: Vec<Target>,
    /// Subspans that wait for a thread.
    waiting: Vec<Span>,
    /// Maximum number of threads that run before their writes go to the targets: 1 if an observer
    /// follows the order of events, otherwise [`BATCH`].
    batch: usize,
    /// The number of subspans and the number of writes of each thread in the current batch. The
    /// field exists to reuse its memory.
    ended: Vec<(usize, usize)>,
    counts: Counts,
    /// The two halves of a thread, sixteen pixels each. The field exists to reuse its memory.
    halves: [Slots; 2],
    /// The strips of a primitive. The field exists to reuse its memory.
    strips: Vec<Strip>,
    /// The newest write, if the pixel shader writes the same colour for all pixels of a primitive.
    newest: Option<Write>,
    /// The pixel that an observer watches in this draw.
    watched: Option<WatchedPixel>,
}

impl Windower {
    /// Resolves the state from the packets.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for buffers that cannot be used, and for two operations of 3DSTATE_WM
    /// on the depth buffer at once; page faults when state is read.
    pub fn resolve(
        exec: &mut Exec<'_>,
        raster: &RasterState,
    ) -> Result<(Windower, PixelPipe), Fault> {
        let wm: ThreeDStateWm = state::packet(exec);
        let extra: ThreeDStatePsExtra = state::packet(exec);
        let depth: ThreeDStateDepthBuffer = state::packet(exec);
        let stencil: ThreeDStateStencilBuffer = state::packet(exec);
        let tests: ThreeDStateWmDepthStencil = state::packet(exec);
        let multisample: ThreeDStateMultisample = state::packet(exec);
        // A pointer can have any value if the draw does not use the state, as in clears of depth
        // and stencil.
        let shades = shades(exec.state);
        let client = exec.vm.client(Client::State);
        let blend = match blend_address(exec.state) {
            Some(address) => blend_state(address, |at, out| exec.vm.read(at, out))
                .map_err(|fault| exec.page(fault, BlendState::NAME))?,
            None => BlendState::unpack_lossy(&[0; BlendState::DWORDS]),
        };
        drop(client);
        let pointer: ThreeDStateCcStatePointers = state::packet(exec);
        let constants =
            match (shades || tests.stencil_test_enable) && pointer.color_calc_state_pointer_valid {
                true => state::dynamic(exec, pointer.color_calc_state_pointer.get())?,
                false => ColorCalcState::unpack_lossy(&[0; ColorCalcState::DWORDS]),
            };
        let depth = DepthStencilPackets {
            depth: &depth,
            stencil: &stencil,
            tests: &tests,
            references: &constants,
            viewports: &raster.ranges,
            samples: multisample.number_of_multisamples,
        };
        let chroma: ThreeDStateWmChromakey = state::packet(exec);
        let packets = OutputPackets {
            depth,
            wm: &wm,
            shader: &extra,
            blend: &blend,
            chroma_key_kills: chroma.chroma_key_kill_enable,
        };
        let wrong = |bad: BadSurface| exec.bad_field(bad.field, bad.value, bad.why);
        let mut output = Output::resolve(&packets).map_err(wrong)?;
        let legacy = Legacy::of(&wm, depth.depth, &state::packet(exec)).map_err(wrong)?;
        if let Some(legacy) = legacy {
            legacy.apply(&depth, &mut output).map_err(wrong)?;
        }
        let shader = if shades { PixelShader::resolve(exec, raster.multisample)? } else { None };
        let windower = Windower {
            output,
            blend,
            constants,
            purpose: Purpose::of(&state::packet(exec)),
            depth_at: raster.forced.then_some(raster.multisample.location.position()),
            clear: match legacy {
                Some(Legacy::Clear(value)) => value,
                _ => None,
            },
            counted: wm.statistics_enable,
        };
        let watched = exec.listener.watches();
        let batch = if exec.listener.is_some() || exec.vm.log().is_some() { 1 } else { BATCH };
        Ok((windower, PixelPipe { watched, ..PixelPipe::new(shader, batch) }))
    }

    /// The position in a pixel where the depth of sample 0 is evaluated, in 1/16 pixels.
    #[inline(always)]
    fn depth_position(&self, raster: &RasterState) -> [u8; 2] {
        let positions = raster.multisample.samples.positions();
        self.depth_at.or(positions.first().copied()).unwrap_or([8, 8])
    }

    /// Depths of sample 0 of a quad; 0 if there is nothing to test or write.
    #[inline]
    fn depths_single(
        &self,
        raster: &RasterState,
        primitive: &BinnedPrimitive,
        x: u32,
        y: u32,
    ) -> [f32; 4] {
        if self.output.depth.is_idle() {
            return [0.0; 4];
        }
        if let Some(depth) = self.clear {
            return [depth; 4];
        }
        let at = self.depth_position(raster);
        std::array::from_fn(|n| {
            let (x, y) = (x + (n as u32 & 1), y + (n as u32 >> 1));
            primitive.setup.planes.z(Position::in_pixel(x, y, at))
        })
    }

    /// Depths of the covered samples of a quad; 0 if there is nothing to test or write.
    fn depths(
        &self,
        raster: &RasterState,
        primitive: &BinnedPrimitive,
        x: u32,
        y: u32,
        coverage: &[u8; 4],
    ) -> Depths {
        let mut depths = [[0.0; 8]; 4];
        if self.output.depth.is_idle() {
            return depths;
        }
        if let Some(depth) = self.clear {
            return [[depth; 8]; 4];
        }
        let positions = raster.multisample.samples.positions();
        for (pixel, depths) in depths.iter_mut().enumerate() {
            let (x, y) = (x + (pixel as u32 & 1), y + (pixel as u32 >> 1));
            let mut rest = coverage[pixel];
            while rest != 0 {
                let sample = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let at = self.depth_at.or(positions.get(sample).copied()).unwrap_or([8, 8]);
                depths[sample] = primitive.setup.planes.z(Position::in_pixel(x, y, at));
            }
        }
        depths
    }
}

impl PixelPipe {
    fn new(shader: Option<PixelShader>, batch: usize) -> PixelPipe {
        PixelPipe {
            shader,
            targets: Vec::new(),
            waiting: Vec::new(),
            batch,
            ended: Vec::new(),
            counts: Counts::default(),
            halves: [Slots::default(); 2],
            strips: Vec::new(),
            newest: None,
            watched: None,
        }
    }

    /// Starts another draw, which has the same shader and targets.
    pub(super) fn restart(&mut self, exec: &mut Exec<'_>) {
        if let Some(shader) = &mut self.shader {
            shader.restart(exec);
        }
        for target in &mut self.targets {
            target.cache = AuxCache::default();
        }
        self.waiting.clear();
        self.newest = None;
    }

    /// A pipe for another worker, with empty caches.
    pub(super) fn fork(&self) -> PixelPipe {
        PixelPipe::new(self.shader.as_ref().map(PixelShader::fork), self.batch)
    }

    /// Inherits the cached surfaces and kernels of another pipe. Clears its own targets, waiting
    /// subspans and counts.
    pub(super) fn inherit(&mut self, other: &PixelPipe) {
        if let (Some(own), Some(other)) = (&mut self.shader, &other.shader) {
            own.inherit(other);
        }
        self.targets.clear();
        self.waiting.clear();
        self.counts = Counts::default();
    }

    /// Takes the cached surfaces and kernels, and the counts. The caches are empty afterwards.
    pub(super) fn report(&mut self) -> (Vec<Program>, Counts) {
        let programs = self.shader.as_mut().map_or_else(Vec::new, PixelShader::take_programs);
        (programs, std::mem::take(&mut self.counts))
    }

    /// Adds the report of a pipe that [inherited](Self::inherit) from this one.
    pub(super) fn merge(&mut self, programs: &[Program], counts: Counts) {
        if let Some(shader) = &mut self.shader {
            shader.merge(programs);
        }
        self.counts += counts;
    }

    /// Starts the next tile.
    pub(super) fn begin_tile(&mut self) {
        if let Some(shader) = &mut self.shader {
            shader.begin_tile();
        }
    }

    /// Time that `area` pixels of a draw take on one host thread.
    pub(super) fn estimate(&self, exec: &Exec<'_>, draw: &PixelState<'_>, area: u64) -> Estimate {
        if self.stores_one_color(exec, draw) {
            return Estimate::InOrder;
        }
        let tests = if draw.windower.output.depth.is_idle() { 0 } else { TEST_TIME };
        let shader = self.shader.as_ref().map_or(0, PixelShader::time);
        Estimate::AtLeast(area * (tests + shader))
    }

    /// As [`PixelShader::width_of_pages`]. The pages of depth and stencil buffers are at most 64
    /// pixels wide.
    pub(super) fn width_of_pages(&mut self, exec: &Exec<'_>) -> Option<u32> {
        self.shader.as_mut().map_or(Some(1), |shader| shader.width_of_pages(exec))
    }

    /// True if there is no pixel shader, so that no attributes are needed.
    pub(super) fn is_without_shader(&self) -> bool {
        self.shader.is_none()
    }

    /// Ends a draw. Adds the counts to the statistics registers if statistics are enabled, clears
    /// the counts, and keeps the memory of the threads for the next draw.
    pub(super) fn finish(&mut self, exec: &mut Exec<'_>, windower: &Windower) {
        let Counts { invocations, passed } = std::mem::take(&mut self.counts);
        if windower.counted {
            state::count(exec, PsInvocationCount::OFFSET, PS_INVOCATIONS_OF_A_PIXEL * invocations);
            state::count(exec, PsDepthCount::OFFSET, passed);
        }
        if let Some(shader) = &mut self.shader {
            shader.release(exec);
        }
    }

    /// Draws the pixels of a primitive in `window`; `attributes` is the setup data of its
    /// attributes.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    pub fn primitive(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        window: Rect,
    ) -> Result<(), Fault> {
        let Object { draw, primitive, .. } = *object;
        if let Some(shader) = &mut self.shader {
            shader.begin();
        }
        if self.has_one_color(exec, object, window) {
            return self.one_color(exec, object, window);
        }
        if let Some(level) = self.strips(&draw).filter(|_| primitive.setup.smooth.is_none()) {
            return self.in_strips(exec, object, window, level);
        }
        let mut result = Ok(());
        primitive.setup.rasterise(&draw.raster.multisample.samples, window, &mut |quad| {
            if result.is_ok() {
                result = self.quad(exec, object, quad);
            }
        });
        result?;
        self.flush(exec, object, 1)
    }

    /// Tests a quad of the rasteriser, and queues it for the pixel shader.
    fn quad(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        quad: raster::Quad,
    ) -> Result<(), Fault> {
        let Object { draw, primitive, .. } = *object;
        exec.spend(4 * watchdog::PIXEL)?;
        let coverage = draw.coverage(primitive, quad);
        if coverage == [0; 4] {
            return Ok(());
        }
        exec.device.observed.add(Counter::Rasterized, 1);
        let Some(live) = self.test(exec, object, &quad, &coverage)? else { return Ok(()) };
        let span = Span { x: quad.x, y: quad.y, coverage, live, sample: None };
        self.shade(exec, object, span)
    }

    /// Runs the tests before the pixel shader. Returns the samples that are left, for each pixel;
    /// `None` if no sample is left.
    #[inline(always)]
    fn test(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        quad: &raster::Quad,
        coverage: &[u8; 4],
    ) -> Result<Option<[u8; 4]>, Fault> {
        let Object { draw, primitive, .. } = *object;
        let PixelState { raster, windower } = draw;
        // The shader gets the coverage of the primitive before the early tests: tests behave as if
        // they ran after the shader (2a p.276), and OpenGL's gl_SampleMaskIn does not contain their
        // result even if the shader asks for early tests.
        let mut live = *coverage;
        if let Some(write) = self.tests_early(windower) {
            let at = primitive.tested(quad);
            let depth = &windower.output.depth;
            let single = raster.multisample.samples.count() == 1 && !raster.forced;
            let passed = if single {
                let z = windower.depths_single(raster, primitive, quad.x, quad.y);
                depth.test_single(exec, &at, z, &mut live, write)?
            } else {
                let depths = windower.depths(raster, primitive, quad.x, quad.y, coverage);
                depth.test(exec, &at, &depths, &mut live, write)?
            };
            if write {
                self.counts.passed += u64::from(passed);
            }
            if live == [0; 4] {
                exec.device.observed.add(Counter::FailedEarly, 1);
                return Ok(None);
            }
        }
        Ok(Some(live))
    }

    /// Whether the tests before the pixel shader write depth and stencil; `None` if there are no
    /// tests before it.
    #[inline(always)]
    fn tests_early(&self, windower: &Windower) -> Option<bool> {
        let timing = windower.output.timing;
        (self.shader.is_none() || timing != Timing::Late)
            .then_some(self.shader.is_none() || timing == Timing::Early)
    }

    /// Queues a quad for the pixel shader. Runs the full threads if they are enough for a batch.
    #[inline(always)]
    fn shade(&mut self, exec: &mut Exec<'_>, object: &Object<'_>, span: Span) -> Result<(), Fault> {
        let Some(shader) = &self.shader else { return Ok(()) };
        let (wanted, per_sample) = (shader.wanted(), shader.per_sample);
        if per_sample {
            let mut samples = span.live.iter().fold(0, |all, mask| all | mask);
            while samples != 0 {
                let sample = samples.trailing_zeros() as u8;
                samples &= samples - 1;
                self.waiting.push(Span { sample: Some(sample), ..span });
            }
        } else {
            self.waiting.push(span);
        }
        match self.waiting.len() < wanted * self.batch {
            true => Ok(()),
            false => self.flush(exec, object, wanted),
        }
    }

    /// Runs threads while at least `least` subspans wait, and sends their writes to the targets.
    fn flush(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        least: usize,
    ) -> Result<(), Fault> {
        if self.waiting.len() < least {
            return Ok(());
        }
        let mut waiting = std::mem::take(&mut self.waiting);
        let mut first = 0;
        let mut result = Ok(());
        while result.is_ok() && first < waiting.len() && waiting.len() - first >= least {
            result = self.batch(exec, object, &waiting, &mut first, least);
        }
        match waiting.len() == first {
            true => waiting.clear(),
            false => drop(waiting.drain(..first)),
        }
        self.waiting = waiting;
        result
    }

    /// Runs threads with the subspans `waiting` from number `first` on, while at least `least`
    /// subspans remain and the batch is not full. Then sends the writes to the targets, and adds
    /// the number of shaded subspans to `first`. If a thread returns a fault, the writes of the
    /// earlier threads still go to the targets.
    fn batch(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        waiting: &[Span],
        first: &mut usize,
        least: usize,
    ) -> Result<(), Fault> {
        let Some(shader) = &mut self.shader else {
            *first = waiting.len();
            return Ok(());
        };
        shader.writes().clear();
        self.ended.clear();
        let mut spans = &waiting[*first..];
        let mut result = Ok(());
        while self.ended.len() < self.batch && spans.len() >= least.max(1) {
            match self.thread(exec, object, spans) {
                Ok(taken) => spans = &spans[taken..],
                Err(fault) => {
                    result = Err(fault);
                    break;
                }
            }
        }
        self.outputs(exec, object, &waiting[*first..])?;
        *first = waiting.len() - spans.len();
        result
    }

    /// Runs one thread with as many of the waiting subspans as it can shade. Returns the number of
    /// subspans that it shaded. Its writes are added after those of the earlier threads.
    fn thread(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        waiting: &[Span],
    ) -> Result<usize, Fault> {
        let Object { primitive, attributes, .. } = *object;
        let Some(shader) = &mut self.shader else { return Ok(waiting.len()) };
        let part = PsInput {
            shape: primitive.shape,
            planes: &primitive.setup.planes,
            attributes,
            back: primitive.setup.back,
            array_index: primitive.array_index,
            viewport: primitive.viewport as u8,
        };
        let traced = match self.watched {
            None => None,
            Some(pixel) => Self::start(exec, pixel, shader, waiting),
        };
        let before = shader.writes().count();
        let taken = shader.run(exec, &part, waiting)?;
        if let Some(instructions) = traced {
            exec.listener.set_instructions(instructions);
        }
        exec.spend(4 * taken as u64 * watchdog::SHADED_PIXEL)?;
        self.counts.invocations += shader.invocations();
        self.ended.push((taken, shader.writes().count() - before));
        Ok(taken)
    }

    /// Does the late tests for the writes of the threads in `ended`, and sends the writes to the
    /// targets. `spans` starts with the subspans of these threads.
    fn outputs(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        mut spans: &[Span],
    ) -> Result<(), Fault> {
        let Object { draw, primitive, .. } = *object;
        let PixelState { raster, windower } = draw;
        let Some(shader) = &mut self.shader else { return Ok(()) };
        let mut writes = std::mem::take(shader.writes());
        if shader.constant().is_some() {
            self.newest = writes.newest().copied();
        }
        let mut rest = writes.all();
        for n in 0..self.ended.len() {
            let (own, count) = self.ended[n];
            let (of_thread, later) = spans.split_at(own);
            spans = later;
            self.halves.iter_mut().for_each(Slots::clear);
            for (n, span) in of_thread.iter().enumerate() {
                let (half, first) = (&mut self.halves[n / 4], n % 4);
                half.live.as_chunks_mut().0[first] = match span.sample {
                    None => span.live,
                    Some(sample) => span.live.map(|live| live & 1 << sample),
                };
                if windower.output.timing != Timing::Early {
                    half.depths[first] =
                        windower.depths(raster, primitive, span.x, span.y, &span.live);
                }
            }
            let (of_thread, later) = rest.split_at_mut(count);
            rest = later;
            for write in of_thread {
                if let Some(smooth) = &primitive.setup.smooth {
                    soften(smooth, write);
                }
                let place = match self.target(write) {
                    Some(place) => place,
                    None => self.bind(exec, windower, write)?,
                };
                let Target { target, cache, .. } = &mut self.targets[place];
                let slots = &mut self.halves[usize::from(write.upper)];
                let passed = match self.watched {
                    None => windower.output.merge(exec, target, cache, slots, write)?,
                    Some(pixel) => {
                        windower.output.watched_merge(exec, target, cache, slots, write, pixel)?
                    }
                };
                self.counts.passed += u64::from(passed);
            }
        }
        writes.clear();
        if let Some(shader) = &mut self.shader {
            *shader.writes() = writes;
        }
        Ok(())
    }

    /// Index in `targets` of the render target that a message uses.
    fn target(&self, write: &Write) -> Option<usize> {
        self.targets.iter().position(|t| t.binding == write.binding && t.entry == write.entry)
    }

    /// Resolves a render target when a message uses it for the first time; returns its index in
    /// `targets`.
    #[cold]
    fn bind(
        &mut self,
        exec: &mut Exec<'_>,
        windower: &Windower,
        write: &Write,
    ) -> Result<usize, Fault> {
        let Windower { blend, constants, purpose, .. } = windower;
        let surface = match &mut self.shader {
            Some(shader) => shader.surface(exec, write.binding)?,
            None => {
                return Err(
                    exec.unimplemented("a render target without a pixel shader", "2a p.157")
                );
            }
        };
        let entry = usize::from(write.entry);
        let target = RenderTarget::resolve(&surface, blend, entry, constants, *purpose);
        let target = target.map_err(|bad| {
            let why = format!("render target, binding table entry {}: {}", write.binding, bad.why);
            exec.bad_field(bad.field, bad.value, why)
        })?;
        self.targets.push(Target {
            binding: write.binding,
            entry: write.entry,
            target,
            cache: AuxCache::default(),
        });
        Ok(self.targets.len() - 1)
    }
}

/// True if pixel shader threads run. Without threads, pixels only pass the depth and stencil tests.
pub fn shades(state: &State) -> bool {
    let wm: ThreeDStateWm = state.latched.read(0);
    let extra: ThreeDStatePsExtra = state.latched.read(0);
    let blend: ThreeDStatePsBlend = state.latched.read(0);
    let chroma: ThreeDStateWmChromakey = state.latched.read(0);
    let has_output = || {
        blend.has_writeable_rt && !extra.pixel_shader_does_not_write_to_rt
            || extra.pixel_shader_has_uav
            || depth::computes_depth(&extra)
            || depth::kills(&wm, &extra)
            || blend.alpha_test_enable
            || blend.alpha_to_coverage_enable
            || chroma.chroma_key_kill_enable
    };
    extra.pixel_shader_valid
        && match wm.force_thread_dispatch_enable {
            ForceOverride::FORCE_ON => true,
            ForceOverride::FORCE_OFF => false,
            _ => !PIXEL_THREADS_NEED_AN_OUTPUT || has_output(),
        }
}

/// Address of the BLEND_STATE of a draw, if it has one.
pub fn blend_address(state: &State) -> Option<u64> {
    let pointer: ThreeDStateBlendStatePointers = state.latched.read(0);
    let offset = pointer.blend_state_pointer.get();
    let valid = shades(state) && pointer.blend_state_pointer_valid;
    valid.then(|| state.base.dynamic.wrapping_add(offset))
}

/// Reads BLEND_STATE. Its eighth entry ends in the second cache line. Memory may end before this
/// line: drivers write only as many entries as there are targets. If the second line cannot be
/// read, its part is zero.
///
/// # Errors
/// The error of `read` for the first cache line.
pub fn blend_state<E>(
    address: u64,
    read: impl Fn(u64, &mut [u8]) -> Result<(), E>,
) -> Result<BlendState, E> {
    const LINE: usize = 64;
    let mut dwords = [0u32; BlendState::DWORDS];
    let (line, rest) = bytemuck::cast_slice_mut::<_, u8>(&mut dwords).split_at_mut(LINE);
    read(address, line)?;
    if read(address.wrapping_add(LINE as u64), rest).is_err() {
        rest.fill(0);
    }
    Ok(BlendState::unpack_lossy(&dwords))
}

/// Multiplies alpha by the covered part of each pixel, for antialiased lines and smooth points.
#[cold]
fn soften(smooth: &Smooth, write: &mut Write) {
    for (slot, alpha) in write.color[3].iter_mut().enumerate() {
        let [x, y] = write.subspans[slot / 4];
        let (x, y) = (x + (slot as u32 & 1), y + (slot as u32 >> 1 & 1));
        let covered = smooth.coverage(x as f32 + 0.5, y as f32 + 0.5);
        *alpha = (f32::from_bits(*alpha) * covered).to_bits();
    }
}
