//! Primitives at a pixel that an observer watches: the general path, with events.

use super::{Object, PixelPipe, PixelState};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::observation::Counter;
use crate::machine::watchdog;
use crate::machine::watched::{Covered, PixelEvent, Shaded, TestTime, WatchedPixel};
use crate::pixel::coordinates::Rect;
use crate::pixel::interpolate::{Barycentric, Position};
use crate::pixel::raster::Quad;
use crate::render::depth::Timing;
use crate::render::ps::{PixelShader, Span};

impl PixelPipe {
    /// The pixel that an observer watches in this draw.
    pub(in crate::render) fn watched(&self) -> Option<WatchedPixel> {
        self.watched
    }

    /// True if an observer watches one of `pixels`.
    pub(in crate::render) fn watches(&self, pixels: Rect) -> bool {
        self.watched.is_some_and(|at| pixels.contains(at.x as i32, at.y as i32))
    }

    /// As [`primitive`](Self::primitive), and emits the events of the watched pixel.
    ///
    /// # Errors
    /// As `primitive`.
    pub(in crate::render) fn watched_primitive(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        window: Rect,
    ) -> Result<(), Fault> {
        let Object { draw, primitive, .. } = *object;
        if let Some(shader) = &mut self.shader {
            shader.begin();
        }
        let mut result = Ok(());
        primitive.setup.rasterise(&draw.raster.multisample.samples, window, &mut |quad| {
            if result.is_ok() {
                let place = self.watched.and_then(|pixel| place([quad.x, quad.y], pixel));
                result = match place {
                    None => self.quad(exec, object, quad),
                    Some(place) => self.watched_quad(exec, object, quad, place),
                };
            }
        });
        result?;
        self.flush(exec, object, 1)
    }

    /// As [`quad`](Self::quad), for the quad that contains the watched pixel. `place` is the index
    /// of the pixel in the quad.
    fn watched_quad(
        &mut self,
        exec: &mut Exec<'_>,
        object: &Object<'_>,
        quad: Quad,
        place: usize,
    ) -> Result<(), Fault> {
        let Object { draw, primitive, attributes } = *object;
        exec.spend(4 * watchdog::PIXEL)?;
        let PixelState { raster, windower } = draw;
        let coverage = draw.coverage(primitive, quad);
        let depths = windower.depths(raster, primitive, quad.x, quad.y, &coverage);
        if quad.mask[place] != 0 {
            let (x, y) = (quad.x + (place as u32 & 1), quad.y + (place as u32 >> 1));
            let at = Position::in_pixel(x, y, raster.multisample.location.position());
            let planes = &primitive.setup.planes;
            exec.emit_pixel(&PixelEvent::Covered(Covered {
                primitive: primitive.number,
                array_index: primitive.array_index,
                rasterised: quad.mask[place],
                coverage: coverage[place],
                back: primitive.setup.back,
                corner: primitive.setup.corner,
                barycentric: planes.barycentric(Barycentric::Perspective, at),
                linear: planes.barycentric(Barycentric::Linear, at),
                w: planes.w(at),
                depths: depths[place],
                attributes,
            }));
        }
        if coverage == [0; 4] {
            return Ok(());
        }
        exec.device.observed.add(Counter::Rasterized, 1);
        let writes = self.tests_early(windower);
        let tests = match writes {
            None => Vec::new(),
            Some(writes) => windower.output.depth.look(
                exec,
                &primitive.tested(&quad),
                &depths,
                (place, coverage[place]),
                writes,
            ),
        };
        let live = self.test(exec, object, &quad, &coverage)?;
        let time = match windower.output.timing {
            Timing::Twice if writes == Some(false) => TestTime::Provisional,
            _ => TestTime::Early,
        };
        for mut tested in tests {
            tested.time = time;
            tested.passed = live.is_some_and(|live| live[place] >> tested.sample & 1 == 1);
            exec.emit_pixel(&PixelEvent::Tested(tested));
        }
        let Some(live) = live else { return Ok(()) };
        let span = Span { x: quad.x, y: quad.y, coverage, live, sample: None };
        self.shade(exec, object, span)
    }

    /// Call before a thread with the first of `waiting` starts. If the thread shades the watched
    /// pixel, emits one event for each channel of the pixel and enables the events of instructions.
    /// Returns whether they were enabled before; `None` for other threads.
    pub(super) fn start(
        exec: &mut Exec<'_>,
        pixel: WatchedPixel,
        shader: &PixelShader,
        waiting: &[Span],
    ) -> Option<bool> {
        let mut shades = false;
        for (n, span) in waiting.iter().take(shader.wanted()).enumerate() {
            let Some(place) = place([span.x, span.y], pixel) else { continue };
            let own = span.sample.map_or(0xff, |sample| 1 << sample);
            let live = span.live[place] & own;
            if live == 0 {
                continue;
            }
            shades = true;
            exec.emit_pixel(&PixelEvent::Shaded(Shaded {
                channel: (4 * n + place) as u8,
                sample: span.sample,
                live,
            }));
        }
        shades.then(|| exec.listener.set_instructions(true))
    }
}

/// Number of the watched pixel in the quad at `corner`: upper left, upper right, lower left, lower
/// right. `None` if it is not in the quad.
pub(in crate::render) fn place([x, y]: [u32; 2], pixel: WatchedPixel) -> Option<usize> {
    (pixel.x & !1 == x && pixel.y & !1 == y)
        .then_some((pixel.y as usize & 1) << 1 | pixel.x as usize & 1)
}
