//! Windower: takes subspans of 2x2 pixels from the rasteriser through early tests and pixel shader
//! to the colour calculator (gen45_facts 10).

use super::common::count;
use super::depth_buffer::Quad;
use super::early::Early;
use super::output::{Output, Slots, Targets};
use super::ps::{Layout, MAX_SPANS, Span};
use super::raster_state::RasterState;
use super::sf::Primitive;
use super::unit::{UNIT, Unit, UnitState};
use crate::assumptions::G45_PIXEL_THREADS_RUN_WHOLE_SUBSPANS;
use crate::gen45::debug::{self, fixed};
use crate::gen45::message::Bindings;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::parallel::Work;
use crate::machine::state::State;
use crate::machine::watchdog;
use crate::pixel::coordinates::Rect;
use crate::pixel::raster;
use crate::render::primitives::Kind;
use crate::render::tiles::Bins;
use genxml::gen45::registers::{PsDepthCount, PsInvocationCount};
use genxml::gen45::state_units::{ColorCalcState, WmState};
use std::ops::Range;

/// State of the windower and colour calculator for a draw.
#[derive(Clone, Debug)]
pub struct Windower {
    layout: Layout,
    output: Output,
    /// First dword of the plane of depth in a setup entry.
    depth_plane: usize,
    /// Number of subspans of a thread.
    spans: usize,
    /// For debugging: no threads are started.
    kills_threads: bool,
    counts_invocations: bool,
    counts_depth: bool,
}

/// Counts of pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Pixels of pixel shader threads.
    pub invocations: u64,
    /// Pixels that passed the depth and stencil tests.
    pub passed: u64,
}

/// The pixel shader and targets of a worker.
#[derive(Debug)]
pub struct PixelPipe {
    /// The pixel shader; none if no threads are dispatched.
    unit: Option<Unit>,
    targets: Targets,
    waiting: Vec<Span>,
    counts: Counts,
}

impl Windower {
    /// Resolves the state.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for buffers that cannot be used and for fields that no thread can run
    /// with; [`Fault::Unimplemented`] for dispatches of 32 pixels only; page faults at state.
    pub fn resolve(
        exec: &mut Exec<'_>,
        wm: &WmState,
        cc: &ColorCalcState,
        color_calc: u64,
        table: u64,
        antialias: bool,
    ) -> Result<(Windower, PixelPipe), Fault> {
        let unit = match wm.thread_dispatch_enable {
            true => {
                let mut unit = Unit::resolve(exec, UnitState::from(wm), table)?;
                unit.local.pixels = true;
                Some(unit)
            }
            false => None,
        };
        let spans = match (wm._16_pixel_dispatch_enable, wm._8_pixel_dispatch_enable) {
            (true, _) => 4,
            (_, true) => 2,
            _ if unit.is_none() => 4,
            _ => return Err(exec.unimplemented("dispatch of 32 pixels", "gen45_facts 10.2")),
        };
        let early = Early::of(wm, cc);
        let debugged = debug::enabled(&exec.state.registers);
        let registers = &exec.state.registers;
        let single = debugged && !early.promoted && fixed::single_subspans(registers);
        let spans = if single { 1 } else { spans };
        let windower = Windower {
            kills_threads: debugged && fixed::kills_threads(registers),
            layout: Layout { early, color_calc, antialias },
            output: Output::resolve(exec, cc)?,
            depth_plane: wm.depth_coefficient_urb_read_offset.get() as usize * UNIT,
            spans,
            counts_invocations: wm.statistics_enable,
            counts_depth: cc.statistics_enable,
        };
        let pipe = PixelPipe {
            unit,
            targets: Targets::default(),
            waiting: Vec::with_capacity(MAX_SPANS),
            counts: Counts::default(),
        };
        Ok((windower, pipe))
    }

    /// Depth at the pixel in column `x` and row `y`.
    #[inline]
    fn depth(&self, primitive: &Primitive, entry: &[u32], x: u32, y: u32) -> f32 {
        let plane = |n: usize| {
            f64::from(f32::from_bits(entry.get(self.depth_plane + n).copied().unwrap_or(0)))
        };
        let [start_x, start_y] = primitive.start.map(f64::from);
        let (x, y) = (f64::from(x) - start_x, f64::from(y) - start_y);
        // In setup data, Cx and Cy come first, and C0 fourth.
        let z = plane(3) + plane(0) * x + plane(1) * y;
        (z + f64::from(primitive.depth_bias)) as f32
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.invocations += other.invocations;
        self.passed += other.passed;
    }
}

impl PixelPipe {
    /// A pipe for another worker, without counts.
    fn fork(&self) -> PixelPipe {
        PixelPipe {
            unit: self.unit.as_ref().map(Unit::fork),
            targets: Targets::default(),
            waiting: Vec::with_capacity(MAX_SPANS),
            counts: Counts::default(),
        }
    }

    /// Inherits the cached surfaces of another pipe, and clears targets, waiting subspans and
    /// counts.
    fn inherit(&mut self, other: &PixelPipe) {
        if let (Some(own), Some(other)) = (&mut self.unit, &other.unit) {
            own.inherit(other);
        }
        self.targets = Targets::default();
        self.waiting.clear();
        self.counts = Counts::default();
    }

    /// Removes and returns the cached surfaces and the counts, for [`merge`](Self::merge).
    fn report(&mut self) -> (Option<Bindings>, Counts) {
        let bindings = self.unit.as_mut().map(|unit| std::mem::take(&mut unit.bindings));
        (bindings, std::mem::take(&mut self.counts))
    }

    /// Adds what [`report`](Self::report) of another worker's pipe returned.
    fn merge(&mut self, (bindings, counts): &(Option<Bindings>, Counts)) {
        if let (Some(unit), Some(bindings)) = (&mut self.unit, bindings) {
            unit.bindings.merge(bindings);
        }
        self.counts += *counts;
    }

    /// Adds the counts to the statistics registers if statistics are enabled, and clears them.
    pub fn count(&mut self, exec: &mut Exec<'_>, windower: &Windower) {
        let Counts { invocations, passed } = std::mem::take(&mut self.counts);
        if windower.counts_invocations {
            count(exec, PsInvocationCount::OFFSET, invocations);
        }
        if windower.counts_depth {
            count(exec, PsDepthCount::OFFSET, passed);
        }
    }

    /// Draws the pixels of a primitive in `window`; `entry` is its setup entry.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    pub fn primitive(
        &mut self,
        exec: &mut Exec<'_>,
        raster: &RasterState,
        windower: &Windower,
        primitive: &Primitive,
        entry: &[u32],
        window: Rect,
    ) -> Result<(), Fault> {
        let mut result = Ok(());
        primitive.setup.rasterise(&raster.multisample.samples, window, &mut |quad| {
            if result.is_ok() {
                result = self.quad(exec, raster, windower, primitive, entry, quad);
            }
        });
        result?;
        self.flush(exec, windower, primitive, entry, 1)
    }

    /// Tests a quad of the rasteriser, and queues it for the pixel shader.
    fn quad(
        &mut self,
        exec: &mut Exec<'_>,
        raster: &RasterState,
        windower: &Windower,
        primitive: &Primitive,
        entry: &[u32],
        mut quad: raster::Quad,
    ) -> Result<(), Fault> {
        exec.spend(4 * watchdog::PIXEL)?;
        let setup = &primitive.setup;
        if let Some(stipple) = &raster.polygon_stipple
            && setup.kind == Kind::Surface
            && primitive.stippled
        {
            stipple.mask(&mut quad);
        }
        if let Some(((stipple, _), line)) = raster.line_stipple.zip(setup.stippled) {
            for (n, mask) in quad.mask.iter_mut().enumerate() {
                let (x, y) = (quad.x + (n as u32 & 1), quad.y + (n as u32 >> 1));
                if !stipple.draws(line.position(x, y)) {
                    *mask = 0;
                }
            }
        }
        let mut lanes = quad
            .mask
            .iter()
            .enumerate()
            .fold(0, |lanes, (n, mask)| lanes | u8::from(*mask != 0) << n);
        if lanes == 0 {
            return Ok(());
        }
        exec.device.observed.add(Counter::Rasterized, 1);
        let at = |n: usize| {
            windower.depth(primitive, entry, quad.x + (n as u32 & 1), quad.y + (n as u32 >> 1))
        };
        let z = [at(0), at(1), at(2), at(3)];
        let quad = Quad { x: quad.x, y: quad.y, back: setup.back, z };
        if windower.layout.early.promoted || self.unit.is_none() {
            lanes = windower.output.depth.test(exec, &quad, lanes, true)?;
            self.counts.passed += u64::from(lanes.count_ones());
            if lanes == 0 {
                exec.device.observed.add(Counter::FailedEarly, 1);
                return Ok(());
            }
        }
        if self.unit.is_none() {
            return Ok(());
        }
        self.waiting.push(Span { quad, lanes });
        self.flush(exec, windower, primitive, entry, windower.spans)
    }

    /// Runs threads while at least `least` subspans wait, and executes their writes.
    fn flush(
        &mut self,
        exec: &mut Exec<'_>,
        windower: &Windower,
        primitive: &Primitive,
        entry: &[u32],
        least: usize,
    ) -> Result<(), Fault> {
        let Some(unit) = &mut self.unit else { return Ok(()) };
        while !self.waiting.is_empty() && self.waiting.len() >= least {
            let taken = windower.spans.min(self.waiting.len());
            let mut spans = [Span::default(); MAX_SPANS];
            spans[..taken].copy_from_slice(&self.waiting[..taken]);
            self.waiting.drain(..taken);
            if windower.kills_threads {
                continue;
            }
            let lanes = |n: usize, span: &Span| u32::from(span.lanes) << (4 * n);
            let mask = spans.iter().enumerate().fold(0, |mask, (n, it)| mask | lanes(n, it));
            let layout = &windower.layout;
            let depth = &windower.output.depth;
            layout.payload(exec, depth, unit, primitive, entry, &spans, mask)?;
            exec.spend(4 * taken as u64 * watchdog::SHADED_PIXEL)?;
            exec.device.observed.add(Counter::PixelThreads, 1);
            self.counts.invocations += u64::from(mask.count_ones());
            let whole = u32::MAX >> (32 - 4 * taken);
            let enabled = if G45_PIXEL_THREADS_RUN_WHOLE_SUBSPANS { whole } else { mask };
            if unit.debugged() {
                let places = spans[..taken].iter().map(|span| [span.quad.x, span.quad.y]);
                unit.mark = Some(fixed::pixel_thread(exec, unit.state.kernel, places));
            }
            unit.run(exec, enabled)?;
            let quads = spans.map(|span| span.quad);
            let mut slots = Slots::new(quads, mask as u16, windower.layout.early.promoted);
            let mut writes = std::mem::take(&mut unit.local.writes);
            for write in &mut writes {
                let Unit { bindings, .. } = unit;
                let output = &windower.output;
                let passed = output.write(exec, bindings, &mut self.targets, &mut slots, write)?;
                self.counts.passed += u64::from(passed);
            }
            writes.clear();
            unit.local.writes = writes;
        }
        Ok(())
    }
}

/// The tiles of the screen that have primitives, with the state to draw them.
#[derive(Clone, Copy, Debug)]
pub struct Screen<'a> {
    /// State of the rasteriser.
    pub raster: &'a RasterState,
    /// State of the windower.
    pub windower: &'a Windower,
    /// The primitives, sorted by tile, with the dwords of their setup entries.
    pub bins: &'a Bins<Primitive, u32>,
}

impl Work for Screen<'_> {
    type Worker = PixelPipe;
    type Report = (Option<Bindings>, Counts);

    fn items(&self) -> u64 {
        self.bins.tiles().len() as u64
    }

    fn run(
        &self,
        exec: &mut Exec<'_>,
        pipe: &mut PixelPipe,
        tiles: Range<u64>,
    ) -> Result<(), Fault> {
        let Screen { raster, windower, bins } = self;
        for tile in &bins.tiles()[tiles.start as usize..tiles.end as usize] {
            if let Some(unit) = &mut pipe.unit {
                unit.renumber();
            }
            let window = tile.pixels.intersection(raster.window);
            for (primitive, entry) in bins.primitives(tile) {
                pipe.primitive(exec, raster, windower, primitive, entry, window)?;
            }
        }
        Ok(())
    }

    fn fork(&self, pipe: &PixelPipe) -> PixelPipe {
        pipe.fork()
    }

    fn inherit(pipe: &mut PixelPipe, other: &PixelPipe) {
        pipe.inherit(other);
    }

    fn report(pipe: &mut PixelPipe) -> Self::Report {
        pipe.report()
    }

    fn merge(pipe: &mut PixelPipe, _: &mut State, report: Self::Report) {
        pipe.merge(&report);
    }
}
