//! Primitives whose pixels all get the same colour, for example when a render target is cleared.
//! The first thread runs. Most other threads would write the same, so the model does not run them
//! and stores their pixels in rows.

use super::strips::rasterise;
use super::{Object, PixelPipe, PixelState};
use crate::eu::fast::Level;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::watchdog;
use crate::pixel::coordinates::Rect;
use crate::pixel::raster::Quad;
use crate::pixel::raster::strips::{QUADS, Strip};
use crate::render::primitives::{BinnedPrimitive, Shape};
use crate::render::raster_state::RasterState;
use crate::render::render_target::Area;
use crate::unit::render_cache::Write;
use std::ops::Range;

/// Minimum number of quads for which rows are stored.
const LEAST: i32 = 64;

impl PixelPipe {
    /// True if all pixels of the primitive get the same colour, and no test or state of the draw
    /// can remove one of them.
    pub(super) fn has_one_color(&self, exec: &Exec<'_>, object: &Object<'_>, window: Rect) -> bool {
        let Object { draw, primitive, .. } = *object;
        (window.x1 - window.x0) * (window.y1 - window.y0) >= 4 * LEAST
            && self.stores_one_color(exec, &draw)
            && primitive.setup.smooth.is_none()
    }

    /// True if the pixel shader of a draw gives all pixels of a primitive the same colour, and no
    /// test or state of the draw can remove a pixel.
    pub(super) fn stores_one_color(
        &self,
        exec: &Exec<'_>,
        PixelState { raster, windower }: &PixelState<'_>,
    ) -> bool {
        let constant = || self.shader.as_ref().is_some_and(|shader| shader.constant().is_some());
        constant()
            && !exec.listener.wants_threads()
            && raster.polygon_stipple.is_none()
            && raster.line_stipple.is_none()
            && !raster.forced
            && raster.sample_mask & 1 == 1
            && raster.multisample.samples.count() == 1
            && windower.output.depth.is_idle()
            && !windower.output.coverage.removes()
    }

    /// Draws the pixels of a primitive that [has one colour](Self::has_one_color).
    ///
    /// # Errors
    /// As [`primitive`](Self::primitive).
    pub(super) fn one_color(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        window: Rect,
    ) -> Result<(), Fault> {
        let Object { draw, primitive, .. } = *object;
        let each = self.shader.as_ref().map_or(1, |shader| shader.wanted()).max(1);
        let drawn = match whole(draw.raster, primitive, window, each) {
            true => self.one_color_of_all(exec, object, window, each)?,
            false => 0,
        };
        let quads = (window.x1 - window.x0) * (window.y1 - window.y0) / 4;
        if drawn > 0 && drawn == quads as usize {
            return Ok(());
        }
        let mut strips = std::mem::take(&mut self.strips);
        rasterise(draw.raster, primitive, window, Level::detect(), &mut strips);
        let result = match drawn {
            0 => self.one_color_of(exec, object, &strips, each),
            _ => self.one_by_one(exec, object, &strips, drawn..usize::MAX),
        };
        self.strips = strips;
        result?;
        self.flush(exec, object, 1)
    }

    /// Draws a primitive that covers the [whole](whole) window. Returns how many quads were drawn:
    /// all quads, or those of the first thread if the other threads must run. Returns 0 if the
    /// window is not in one square.
    fn one_color_of_all(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        window: Rect,
        each: usize,
    ) -> Result<usize, Fault> {
        let Some(mut area) = Area::of_rectangle(window) else { return Ok(0) };
        self.newest = None;
        for n in 0..each as u32 {
            let (x, y) = (window.x0 as u32 + n % 4 * 2, window.y0 as u32 + n / 4 * 2);
            area.remove(x, y);
            self.quad(exec, object, Quad { x, y, mask: [1; 4] })?;
        }
        self.flush(exec, object, 1)?;
        let rest = area.pixels() as usize / 4;
        let stored = match self.newest.take() {
            Some(write) => self.repeat(exec, &write, || Some(area), rest, each),
            None => false,
        };
        Ok(if stored { each + rest } else { each })
    }

    fn one_color_of(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        strips: &[Strip],
        each: usize,
    ) -> Result<(), Fault> {
        // The quads of the first thread, of other whole threads, and of the last thread.
        let count = strips.iter().map(|strip| strip.quads().count_ones() as usize).sum::<usize>();
        let first = each.min(count);
        let last = first + (count - first) / each * each;
        self.newest = None;
        self.one_by_one(exec, object, strips, 0..first)?;
        self.flush(exec, object, 1)?;
        let stored = match self.newest.take() {
            Some(write) => {
                let area = || Area::of(strips, first..last);
                self.repeat(exec, &write, area, last - first, each)
            }
            None => false,
        };
        let rest = if stored { last } else { first };
        self.one_by_one(exec, object, strips, rest..count)
    }

    /// Draws the quads whose numbers are in `range`, one by one. They are numbered as in
    /// [`Strip::within`], from 0 on.
    fn one_by_one(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        strips: &[Strip],
        range: Range<usize>,
    ) -> Result<(), Fault> {
        let mut number = 0;
        for strip in strips {
            let part = strip.within(&mut number, &range);
            if part.mask == 0 {
                continue;
            }
            for quad in (0..QUADS).map(|n| part.quad(n)).filter(|quad| quad.mask != [0; 4]) {
                self.quad(exec, object, quad)?;
            }
        }
        Ok(())
    }

    /// Stores the colours that the threads for an area would write. The area has `count` quads, and
    /// each thread has `each` of them. `write` is the write of a thread that has run. Returns false
    /// if the threads must run.
    fn repeat(
        &mut self,
        exec: &mut Exec<'_>,
        write: &Write,
        area: impl FnOnce() -> Option<Area>,
        count: usize,
        each: usize,
    ) -> bool {
        let Some(instructions) = self.shader.as_ref().and_then(|shader| shader.constant()) else {
            return false;
        };
        let Some(place) = self.target(write) else { return false };
        if !write.last || write.upper || write.slots.count_ones() as usize != 4 * each {
            return false;
        }
        let target = &self.targets[place].target;
        let Some(element) = target.one_color(write) else { return false };
        let (quads, threads) = (count as u64, (count / each) as u64);
        let pixels = 4 * quads * (watchdog::PIXEL + watchdog::SHADED_PIXEL);
        let units = pixels + threads * u64::from(instructions) * watchdog::INSTRUCTION;
        if count < LEAST as usize || exec.budget.left() < units {
            return false;
        }
        let Some(area) = area() else { return false };
        if !target.store(exec, write.slice, &area, &element) || exec.spend(units).is_err() {
            return false;
        }
        if let Some(shader) = &mut self.shader {
            shader.repeat(exec, threads);
        }
        exec.device.observed.add(Counter::Rasterized, quads);
        self.counts.invocations += area.pixels();
        self.counts.passed += area.pixels();
        true
    }
}

/// True if a primitive covers every pixel of the window, and the window consists of whole blocks of
/// 8x8 pixels. Then all threads have `each` quads. The quads of the first thread are in rows of
/// four, from the left to the right and from the top down.
fn whole(raster: &RasterState, primitive: &BinnedPrimitive, window: Rect, each: usize) -> bool {
    let Rect { x0, y0, x1, y1 } = window;
    let Shape::Convex(convex) = &primitive.setup.shape else { return false };
    [x0, y0, x1, y1].iter().all(|at| at & 7 == 0)
        && each <= 16
        && x0 >= 0
        && y0 >= 0
        && window.intersection(Rect::SCREEN) == window
        && convex.covers(&raster.multisample.samples, window)
}
