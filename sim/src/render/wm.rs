//! Windower: subspans of 2x2 pixels on their way from the rasteriser through early tests, pixel shader and late tests to
//! render targets (2a, 3DSTATE_WM; order of tests by gen8_facts 8.1).

use super::aux::Known;
use super::depth::{self, DepthStencilPackets, Depths, Timing};
use super::interpolate::{Attribute, Position};
use super::merge::{Output, OutputPackets, Slots};
use super::points_lines::Smooth;
use super::ps::{self, MAX_SPANS, PixelShader, Span};
use super::raster;
use super::render_target::{BadTarget, Purpose, RenderTarget};
use super::setup::{self, Kind};
use super::sf::Raster;
use super::state;
use super::viewport::Rect;
use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use crate::unit::render_cache::Write;
use crate::watchdog;
use genxml::gen8::registers::PsDepthCount;
use genxml::gen8::render3d_depth::{
    ThreeDStateDepthBuffer, ThreeDStateStencilBuffer, ThreeDStateWmDepthStencil,
};
use genxml::gen8::render3d_pixel::{
    BlendState, ColorCalcState, ForceOverride, ThreeDStateBlendStatePointers, ThreeDStateCcStatePointers,
    ThreeDStatePs, ThreeDStatePsExtra, ThreeDStateWm, ThreeDStateWmPositionZwInterpolationMode as ZwMode,
};
use genxml::gen8::render3d_raster::ThreeDStateMultisample;

/// An object as setup made it, with what all of its pixels have in common.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// Its shape and planes.
    pub object: &'a setup::Object,
    /// Its viewport.
    pub viewport: usize,
    /// Render target array index.
    pub array_index: u32,
    /// The pattern of polygons holds.
    pub stippled: bool,
}

/// A render target that a message named.
#[derive(Debug)]
struct Target {
    binding: u8,
    entry: u8,
    target: RenderTarget,
    known: Known,
}

/// What becomes of subspans.
#[derive(Debug)]
pub struct Windower {
    shader: Option<PixelShader>,
    output: Output,
    blend: BlendState,
    constants: ColorCalcState,
    purpose: Purpose,
    targets: Vec<Target>,
    /// Where depths are evaluated, in 1/16 pixels: at the samples, or in one place.
    depth_at: Option<[u8; 2]>,
    counted: bool,
    /// Subspans that wait for a thread.
    waiting: Vec<Span>,
    /// Setup data of the object in hand.
    attributes: Vec<[Attribute; 4]>,
}

impl Windower {
    /// Follows the packets.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for buffers that cannot be used; page faults on the way to state.
    pub fn resolve<O: Observer>(exec: &mut Exec<'_, O>, raster: &Raster) -> Result<Windower, Fault> {
        let pointer: ThreeDStateBlendStatePointers = state::packet(exec);
        let blend = match pointer.blend_state_pointer_valid {
            true => state::dynamic(exec, pointer.blend_state_pointer.get())?,
            false => BlendState::unpack_lossy(&[0; BlendState::DWORDS]),
        };
        let pointer: ThreeDStateCcStatePointers = state::packet(exec);
        let constants = match pointer.color_calc_state_pointer_valid {
            true => state::dynamic(exec, pointer.color_calc_state_pointer.get())?,
            false => ColorCalcState::unpack_lossy(&[0; ColorCalcState::DWORDS]),
        };
        let wm: ThreeDStateWm = state::packet(exec);
        for (asked, what) in [
            (wm.legacy_depth_buffer_clear_enable, "a clear of the depth buffer by 3DSTATE_WM"),
            (wm.legacy_depth_buffer_resolve_enable, "a resolve of the depth buffer by 3DSTATE_WM"),
            (wm.legacy_hierarchical_depth_buffer_resolve_enable, "a hierarchical resolve by 3DSTATE_WM"),
        ] {
            if asked {
                return Err(exec.unimplemented(what, "2a p.271"));
            }
        }
        let extra: ThreeDStatePsExtra = state::packet(exec);
        let ps: ThreeDStatePs = state::packet(exec);
        let depth: ThreeDStateDepthBuffer = state::packet(exec);
        let stencil: ThreeDStateStencilBuffer = state::packet(exec);
        let tests: ThreeDStateWmDepthStencil = state::packet(exec);
        let multisample: ThreeDStateMultisample = state::packet(exec);
        let depth = DepthStencilPackets {
            depth: &depth,
            stencil: &stencil,
            tests: &tests,
            references: &constants,
            viewports: &raster.ranges,
            samples: multisample.number_of_multisamples,
        };
        let packets = OutputPackets { depth, wm: &wm, shader: &extra, blend: &blend };
        let output =
            Output::resolve(&packets).map_err(|bad| exec.bad_field(bad.field, bad.value, bad.why))?;
        let shader = match wm.force_thread_dispatch_enable {
            ForceOverride::FORCE_OFF => None,
            _ => PixelShader::resolve(exec, raster.multisample)?,
        };
        Ok(Windower {
            output,
            shader,
            blend,
            constants,
            purpose: match (ps.render_target_fast_clear_enable, ps.render_target_resolve_enable) {
                (true, _) => Purpose::FastClear,
                (_, true) => Purpose::Resolve,
                _ => Purpose::Draw,
            },
            targets: Vec::new(),
            depth_at: match wm.position_zw_interpolation_mode {
                ZwMode::INTERP_PIXEL if raster.samples == 1 => Some(raster.multisample.location.position()),
                _ => None,
            },
            counted: wm.statistics_enable,
            waiting: Vec::new(),
            attributes: Vec::new(),
        })
    }

    /// Draws an object; `setup` gives the data of its attributes.
    ///
    /// # Errors
    /// Any [`Fault`] of a thread, or of memory.
    pub fn object<O: Observer>(
        &mut self,
        exec: &mut Exec<'_, O>,
        raster: &Raster,
        object: &Object<'_>,
        setup: impl FnOnce(&mut Vec<[Attribute; 4]>),
    ) -> Result<(), Fault> {
        let window = raster.window(object.viewport, Rect::SCREEN);
        if self.shader.is_some() {
            setup(&mut self.attributes);
        }
        let mut result = Ok(());
        object.object.rasterise(&raster.multisample.samples, window, &mut |quad| {
            if result.is_ok() {
                result = self.quad(exec, raster, object, quad);
            }
        });
        result?;
        self.flush(exec, raster, object, 1)
    }

    /// Nothing waits any more: the end of a draw.
    ///
    /// # Errors
    /// None yet.
    pub fn finish<O: Observer>(&mut self, _: &mut Exec<'_, O>) -> Result<(), Fault> {
        Ok(())
    }

    /// A quad of the rasteriser.
    fn quad<O: Observer>(
        &mut self,
        exec: &mut Exec<'_, O>,
        raster: &Raster,
        object: &Object<'_>,
        mut quad: raster::Quad,
    ) -> Result<(), Fault> {
        exec.spend(4 * watchdog::PIXEL)?;
        if let Some(stipple) =
            raster.polygon_stipple.filter(|_| object.object.kind == Kind::Surface && object.stippled)
        {
            stipple.mask(&mut quad);
        }
        if let Some(((stipple, _), line)) = raster.line_stipple.zip(object.object.stippled) {
            for (n, mask) in quad.mask.iter_mut().enumerate() {
                let (x, y) = (quad.x + (n as u32 & 1), quad.y + (n as u32 >> 1));
                if !stipple.draws(line.position(x, y)) {
                    *mask = 0;
                }
            }
        }
        let mut coverage = quad.mask.map(|mask| (mask & raster.sample_mask) as u8);
        if raster.forced {
            // Buffers have one sample then: it is covered if any of those that were looked at is.
            coverage = quad.mask.map(|mask| u8::from(mask & raster.sample_mask != 0));
        }
        if coverage == [0; 4] {
            return Ok(());
        }
        if self.shader.is_none() || self.output.timing != Timing::Late {
            let write = self.shader.is_none() || self.output.timing == Timing::Early;
            let depths = self.depths(raster, object, quad.x, quad.y, &coverage);
            self.test(exec, object, quad.x, quad.y, &depths, &mut coverage, write)?;
            if coverage == [0; 4] {
                return Ok(());
            }
        }
        let Some(shader) = &self.shader else { return Ok(()) };
        let span = Span { x: quad.x, y: quad.y, coverage, sample: None };
        let wanted = shader.wanted();
        if shader.per_sample {
            let mut samples = coverage.iter().fold(0, |all, mask| all | mask);
            while samples != 0 {
                let sample = samples.trailing_zeros() as u8;
                samples &= samples - 1;
                self.waiting.push(Span { sample: Some(sample), ..span });
            }
        } else {
            self.waiting.push(span);
        }
        self.flush(exec, raster, object, wanted)
    }

    /// Depths of a quad where its samples are covered.
    fn depths(&self, raster: &Raster, object: &Object<'_>, x: u32, y: u32, coverage: &[u8; 4]) -> Depths {
        let mut depths = [[0.0; 8]; 4];
        if self.output.depth.is_idle() {
            return depths;
        }
        let positions = raster.multisample.samples.positions();
        for (pixel, depths) in depths.iter_mut().enumerate() {
            let (x, y) = (x + (pixel as u32 & 1), y + (pixel as u32 >> 1));
            let mut rest = coverage[pixel];
            while rest != 0 {
                let sample = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let at = self.depth_at.or(positions.get(sample).copied()).unwrap_or([8, 8]);
                depths[sample] = object.object.planes.z(Position::in_pixel(x, y, at));
            }
        }
        depths
    }

    /// Depth and stencil test of a quad.
    #[allow(clippy::too_many_arguments)]
    fn test<O: Observer>(
        &self,
        exec: &mut Exec<'_, O>,
        object: &Object<'_>,
        x: u32,
        y: u32,
        depths: &Depths,
        coverage: &mut [u8; 4],
        write: bool,
    ) -> Result<(), Fault> {
        let quad = depth::Quad {
            x,
            y,
            slice: object.array_index,
            viewport: object.viewport as u8,
            back: object.object.back,
        };
        let passed = self.output.depth.test(exec, &quad, depths, coverage, write)?;
        if write && self.counted {
            state::count(exec, PsDepthCount::OFFSET, passed.into());
        }
        Ok(())
    }

    /// Starts threads while at least `least` subspans wait.
    fn flush<O: Observer>(
        &mut self,
        exec: &mut Exec<'_, O>,
        raster: &Raster,
        object: &Object<'_>,
        least: usize,
    ) -> Result<(), Fault> {
        while !self.waiting.is_empty() && self.waiting.len() >= least {
            let Some(shader) = &mut self.shader else { break };
            let part = ps::Object {
                planes: &object.object.planes,
                attributes: &self.attributes,
                back: object.object.back,
                array_index: object.array_index,
                viewport: object.viewport as u8,
            };
            let taken = shader.run(exec, &part, &self.waiting)?;
            let mut spans = [Span::default(); MAX_SPANS];
            spans[..taken].copy_from_slice(&self.waiting[..taken]);
            self.waiting.drain(..taken);
            self.outputs(exec, raster, object, &spans[..taken])?;
        }
        Ok(())
    }

    /// What a thread wrote goes through the late tests to the targets.
    fn outputs<O: Observer>(
        &mut self,
        exec: &mut Exec<'_, O>,
        raster: &Raster,
        object: &Object<'_>,
        spans: &[Span],
    ) -> Result<(), Fault> {
        let Some(shader) = &mut self.shader else { return Ok(()) };
        let mut writes = std::mem::take(shader.writes());
        let mut halves = [Slots::default(); 2];
        for (n, span) in spans.iter().enumerate() {
            let own = span.sample.map_or(0xff, |sample| 1 << sample);
            let (half, first) = (&mut halves[n / 4], n % 4);
            for pixel in 0..4 {
                half.live[4 * first + pixel] = span.coverage[pixel] & own;
            }
            if self.output.timing != Timing::Early {
                half.depths[first] = self.depths(raster, object, span.x, span.y, &span.coverage);
            }
        }
        for write in &mut writes {
            if let Some(smooth) = &object.object.smooth {
                soften(smooth, write);
            }
            let bound =
                self.targets.iter().position(|t| t.binding == write.binding && t.entry == write.entry);
            let place = match bound {
                Some(place) => place,
                None => self.bind(exec, write)?,
            };
            let Target { target, known, .. } = &mut self.targets[place];
            let slots = &mut halves[usize::from(write.upper)];
            let passed = self.output.merge(exec, target, known, slots, write)?;
            if self.counted && passed > 0 {
                state::count(exec, PsDepthCount::OFFSET, passed.into());
            }
        }
        writes.clear();
        if let Some(shader) = &mut self.shader {
            *shader.writes() = writes;
        }
        Ok(())
    }

    /// Follows a surface that a message names for the first time.
    #[cold]
    fn bind<O: Observer>(&mut self, exec: &mut Exec<'_, O>, write: &Write) -> Result<usize, Fault> {
        let surface = match &mut self.shader {
            Some(shader) => shader.surface(exec, write.binding)?,
            None => return Err(exec.unimplemented("a render target without a pixel shader", "2a p.157")),
        };
        let entry = usize::from(write.entry);
        let target = RenderTarget::resolve(&surface, &self.blend, entry, &self.constants, self.purpose);
        let target = target.map_err(|bad| match bad {
            BadTarget::Surface(bad) => exec.bad_field(
                bad.field,
                bad.value,
                format!("render target, binding table entry {}: {}", write.binding, bad.why),
            ),
            BadTarget::Missing(what, page) => exec.unimplemented(what, page),
        })?;
        self.targets.push(Target {
            binding: write.binding,
            entry: write.entry,
            target,
            known: Known::default(),
        });
        Ok(self.targets.len() - 1)
    }
}

/// Antialiased lines and smooth points: alpha becomes less where less of a pixel is covered.
#[cold]
fn soften(smooth: &Smooth, write: &mut Write) {
    for (slot, alpha) in write.color[3].iter_mut().enumerate() {
        let [x, y] = write.subspans[slot / 4];
        let (x, y) = (x + (slot as u32 & 1), y + (slot as u32 >> 1 & 1));
        let covered = smooth.coverage(x as f32 + 0.5, y as f32 + 0.5);
        *alpha = (f32::from_bits(*alpha) * covered).to_bits();
    }
}
