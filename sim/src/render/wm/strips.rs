//! The path for pixels with one sample: strips of four quads go through the early tests together.
//! The results are those of [`PixelPipe::quad`], which is called for other pixels.

use super::{PixelPipe, PixelState, Windower};
use crate::eu::fast::Level;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::watchdog;
use crate::pixel::coordinates::Rect;
use crate::pixel::interpolate::Attribute;
use crate::pixel::raster::strips::{Collector, QUADS, Strip, pixels, quads};
use crate::render::depth::strips::StripTest;
use crate::render::primitives::{BinnedPrimitive, Shape};
use crate::render::ps::Span;
use crate::render::raster_state::RasterState;

impl PixelPipe {
    /// The level of the host, if the primitive can be drawn in strips. Observers of memory see the
    /// accesses of each quad, so they exclude strips.
    #[inline(always)]
    pub(super) fn strips(&self, exec: &Exec<'_>, draw: &PixelState<'_>) -> Option<Level> {
        let PixelState { raster, .. } = draw;
        let single = raster.multisample.samples.count() == 1
            && !raster.forced
            && raster.sample_mask & 1 == 1
            && raster.polygon_stipple.is_none()
            && raster.line_stipple.is_none()
            && self.shader.as_ref().is_none_or(|shader| !shader.per_sample)
            && exec.vm.log().is_none();
        if single { Level::detect() } else { None }
    }

    /// Draws the pixels of a primitive in `window`.
    ///
    /// # Errors
    /// As [`primitive`](Self::primitive).
    pub(super) fn in_strips(
        &mut self,
        exec: &mut Exec<'_>,
        draw: &PixelState<'_>,
        primitive: &BinnedPrimitive,
        attributes: &[[Attribute; 4]],
        window: Rect,
        level: Level,
    ) -> Result<(), Fault> {
        let mut strips = std::mem::take(&mut self.strips);
        rasterise(draw.raster, primitive, window, Some(level), &mut strips);
        let mut result = Ok(());
        for strip in &strips {
            result = self.strip(exec, draw, primitive, attributes, level, strip);
            if result.is_err() {
                break;
            }
        }
        self.strips = strips;
        result?;
        self.flush(exec, draw, primitive, attributes, 1)
    }

    /// Tests a strip, and queues its quads for the pixel shader.
    fn strip(
        &mut self,
        exec: &mut Exec<'_>,
        draw: &PixelState<'_>,
        primitive: &BinnedPrimitive,
        attributes: &[[Attribute; 4]],
        level: Level,
        strip: &Strip,
    ) -> Result<(), Fault> {
        let count = u64::from(strip.quads().count_ones());
        exec.spend(4 * watchdog::PIXEL * count)?;
        exec.device.observed.add(Counter::Rasterized, count);
        let mut live = strip.mask;
        if let Some(write) = self.tests_early(draw.windower)
            && !draw.windower.output.depth.is_idle()
        {
            live = match draw.windower.test_strip(exec, draw.raster, primitive, level, strip, write)
            {
                Some(live) => live,
                None => self.test_quads(exec, draw, primitive, strip, write)?,
            };
            let failed = quads(strip.mask) & !quads(live);
            if failed != 0 {
                exec.device.observed.add(Counter::FailedEarly, failed.count_ones().into());
            }
        }
        if self.tests_early(draw.windower) == Some(true) {
            self.counts.passed += u64::from(live.count_ones());
        }
        for n in 0..QUADS {
            let live = pixels(live, n);
            if live != [0; 4] {
                let span = Span {
                    x: strip.x + 2 * n as u32,
                    y: strip.y,
                    coverage: pixels(strip.mask, n),
                    live,
                    sample: None,
                };
                self.shade(exec, draw, primitive, attributes, span)?;
            }
        }
        Ok(())
    }

    /// Tests the quads of a strip one by one. Returns the pixels that pass.
    #[cold]
    fn test_quads(
        &mut self,
        exec: &mut Exec<'_>,
        draw: &PixelState<'_>,
        primitive: &BinnedPrimitive,
        strip: &Strip,
        write: bool,
    ) -> Result<u16, Fault> {
        let mut live = 0;
        for n in 0..QUADS {
            let quad = strip.quad(n);
            if quad.mask != [0; 4] {
                let mut mask = quad.mask.map(|mask| mask as u8);
                let z = draw.windower.depths_single(draw.raster, primitive, quad.x, quad.y);
                let at = primitive.tested(&quad);
                draw.windower.output.depth.test_single(exec, &at, z, &mut mask, write)?;
                for (pixel, mask) in mask.iter().enumerate() {
                    live |= u16::from(*mask) << (pixel / 2 * 8 + 2 * n + pixel % 2);
                }
            }
        }
        Ok(live)
    }
}

impl Windower {
    /// Runs the depth test of a strip; `None` if its quads must be tested one by one.
    #[inline(always)]
    fn test_strip(
        &self,
        exec: &mut Exec<'_>,
        raster: &RasterState,
        primitive: &BinnedPrimitive,
        level: Level,
        strip: &Strip,
        write: bool,
    ) -> Option<u16> {
        let positions = raster.multisample.samples.positions();
        let at = self.depth_at.or(positions.first().copied()).unwrap_or([8, 8]);
        let test = StripTest {
            strip: *strip,
            slice: primitive.array_index,
            viewport: primitive.viewport as u8,
            write,
        };
        let planes = &primitive.setup.planes;
        self.output.depth.test_strip(
            &mut exec.vm,
            level,
            &test,
            #[inline(always)]
            || match self.clear {
                Some(depth) => [[depth; 8]; 2],
                None => planes.z_of_rows(strip.x, strip.y, at),
            },
        )
    }
}

/// Replaces `strips` by the strips of a primitive in `window`. Pixels have one sample.
pub(super) fn rasterise(
    raster: &RasterState,
    primitive: &BinnedPrimitive,
    window: Rect,
    level: Option<Level>,
    strips: &mut Vec<Strip>,
) {
    strips.clear();
    let samples = &raster.multisample.samples;
    let mut push = |strip| strips.push(strip);
    match (&primitive.setup.shape, level) {
        (Shape::Convex(convex), Some(level)) => level.vectorize(
            #[inline(always)]
            || convex.strips(samples, window, level, &mut push),
        ),
        (shape, _) => {
            let mut collector = Collector::new();
            shape.rasterise(samples, window, &mut |quad| collector.add(&quad, &mut push));
            collector.end(&mut push);
        }
    }
}
