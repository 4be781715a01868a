//! The path for pixels with one sample: the four quads of a strip go through the early tests
//! together. The results are those of [`PixelPipe::quad`], which draws all other pixels. After a
//! fault or at the limit of the watchdog, fewer quads of the last strip may have been drawn.

use super::{Object, PixelPipe, PixelState};
use crate::eu::fast::Level;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::watchdog;
use crate::pixel::coordinates::Rect;
use crate::pixel::raster::strips::{Collector, QUADS, Strip, pixels, quads};
use crate::render::primitives::{BinnedPrimitive, Shape};
use crate::render::ps::Span;
use crate::render::raster_state::RasterState;

impl PixelPipe {
    /// The vector instructions of the host, if the state of the draw allows strips. The caller must
    /// exclude smooth primitives.
    #[inline(always)]
    pub(super) fn strips(&self, draw: &PixelState<'_>) -> Option<Level> {
        let PixelState { raster, .. } = draw;
        let single = raster.multisample.samples.count() == 1
            && !raster.forced
            && raster.sample_mask & 1 == 1
            && raster.polygon_stipple.is_none()
            && raster.line_stipple.is_none()
            && self.shader.as_ref().is_none_or(|shader| !shader.per_sample);
        if single { Level::detect() } else { None }
    }

    /// Draws the pixels of a primitive in `window`, strip by strip.
    ///
    /// # Errors
    /// As [`primitive`](Self::primitive).
    pub(super) fn in_strips(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        window: Rect,
        level: Level,
    ) -> Result<(), Fault> {
        let Object { draw, primitive, .. } = *object;
        let mut strips = std::mem::take(&mut self.strips);
        rasterise(draw.raster, primitive, window, Some(level), &mut strips);
        let result = self.each_strip(exec, object, level, &strips);
        self.strips = strips;
        result?;
        self.flush(exec, object, 1)
    }

    fn each_strip(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        level: Level,
        strips: &[Strip],
    ) -> Result<(), Fault> {
        let Object { draw, primitive, .. } = *object;
        let PixelState { raster, windower } = draw;
        let depth = &windower.output.depth;
        let early = self.tests_early(windower);
        let write = early == Some(true);
        let tested = early.is_some() && !depth.is_idle();
        let tests = depth.strips(primitive.array_index, primitive.viewport as u8, write);
        let at = windower.depth_position(raster);
        let planes = &primitive.setup.planes;
        let wanted = self.shader.as_ref().map_or(usize::MAX, |shader| shader.wanted());
        let full = wanted.saturating_mul(self.batch);
        for strip in strips {
            let count = u64::from(strip.quads().count_ones());
            exec.spend(4 * watchdog::PIXEL * count)?;
            exec.device.observed.add(Counter::Rasterized, count);
            let mut live = strip.mask;
            if tested {
                let passed = match &tests {
                    Some(tests) => tests.run(
                        &mut exec.vm,
                        level,
                        strip,
                        #[inline(always)]
                        || match windower.clear {
                            Some(depth) => [[depth; 8]; 2],
                            None => planes.z_of_rows(strip.x, strip.y, at),
                        },
                    ),
                    None => None,
                };
                live = match passed {
                    Some(passed) => passed,
                    None => self.test_quads(exec, object, strip, write)?,
                };
                let failed = strip.quads() & !quads(live);
                if failed != 0 {
                    exec.device.observed.add(Counter::FailedEarly, failed.count_ones().into());
                }
            }
            if write {
                self.counts.passed += u64::from(live.count_ones());
            }
            if self.shader.is_none() {
                continue;
            }
            let span = |n: u32, coverage, live| Span {
                x: strip.x + 2 * n,
                y: strip.y,
                coverage,
                live,
                sample: None,
            };
            if live == u16::MAX {
                let whole = |n| span(n, [1; 4], [1; 4]);
                self.waiting.extend_from_slice(&[whole(0), whole(1), whole(2), whole(3)]);
            } else {
                let mut rest = quads(live);
                while rest != 0 {
                    let n = rest.trailing_zeros() / 2;
                    rest &= rest - 1;
                    let [coverage, live] = [strip.mask, live].map(|mask| pixels(mask, n as usize));
                    self.waiting.push(span(n, coverage, live));
                }
            }
            if self.waiting.len() >= full {
                self.flush(exec, object, wanted)?;
            }
        }
        Ok(())
    }

    /// Tests the quads of a strip one by one. Returns the pixels that pass.
    #[cold]
    fn test_quads(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        strip: &Strip,
        write: bool,
    ) -> Result<u16, Fault> {
        let Object { draw, primitive, .. } = *object;
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

/// Replaces the contents of `strips` by the strips of a primitive in `window`. Pixels must have one
/// sample.
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
