//! The fast path of clipper and setup, for filled triangles that are not cut.
//!
//! The vertices of an item are transformed to the screen, and compared with the planes of the
//! clipper, eight at a time. Most triangles need no more to be rejected, or culled, or set up. The
//! results are those of [`ClipSetup::primitive`], which sets up all other primitives.

use super::{BinEntry, ClipPrimitive, ClipSetup, SetupState};
use crate::eu::fast::Level;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;
use crate::pixel::coordinates::{Point, doubled_area};
use crate::pixel::interpolate::Corner;
use crate::pixel::raster::{self, pixels_between};
use crate::pixel::viewport::{ScreenLanes, ScreenVertex};
use crate::render::clip::{ClipState, code};
use crate::render::raster_state::RasterState;
use crate::render::sf::{CullMode, FillMode};
use crate::render::topology::Shape;
use crate::render::vue::{Vertices, place};

/// Vertices that are transformed at once.
const LANES: usize = 8;

/// What the fast path needs of the state of a draw.
#[derive(Clone, Copy, Debug)]
pub struct Triangles {
    level: Level,
    clip: ClipState,
    /// Bits of [`code`] that reject a triangle if all its vertices have them.
    rejecting: u32,
    /// Least and greatest positions of samples in a pixel.
    extent: [i32; 4],
}

/// Vertices on the screen, with their bits of [`code`].
#[derive(Debug, Default)]
pub struct ScreenVertices(Vec<Block>);

#[derive(Debug)]
struct Block {
    screen: ScreenLanes<LANES>,
    codes: [u32; LANES],
}

impl ScreenVertices {
    #[inline]
    fn get(&self, vertex: u32) -> Option<(u32, ScreenVertex)> {
        let (block, n) = (self.0.get(vertex as usize / LANES)?, vertex as usize % LANES);
        let ScreenLanes { x, y, z, inv_w, .. } = &block.screen;
        let at = Point { x: x[n], y: y[n] };
        Some((block.codes[n], ScreenVertex { at, z: z[n], inv_w: inv_w[n] }))
    }
}

impl Triangles {
    /// The state of the fast path; `None` if the draw has no triangle that could take it.
    pub fn of(raster: &RasterState) -> Option<Triangles> {
        let [viewport] = raster.viewports[..] else { return None };
        let clip = ClipState { guard_band: viewport.guard_band, ..raster.clip };
        let setup = &raster.setup;
        let filled = setup.front == FillMode::Solid && setup.back == FillMode::Solid;
        if !filled || setup.cull == CullMode::Both || !clip.accepts_visible() {
            return None;
        }
        Some(Triangles {
            level: Level::detect()?,
            rejecting: clip.rejecting_codes(),
            clip,
            extent: raster::extent(&raster.multisample.samples),
        })
    }

    /// Transforms all vertices to the screen.
    pub fn transform(&self, raster: &RasterState, vertices: &Vertices, out: &mut ScreenVertices) {
        out.0.clear();
        let (dwords, viewport) = (vertices.dwords, &raster.viewports[0]);
        if dwords < place::POSITION + 4 {
            return;
        }
        self.level.vectorize(
            #[inline(always)]
            || {
                for rows in vertices.data.chunks(LANES * dwords) {
                    let mut positions = [[0.0; LANES]; 4];
                    for (n, row) in rows.chunks_exact(dwords).enumerate().take(LANES) {
                        let position = row[place::POSITION..].first_chunk().unwrap_or(&[0; 4]);
                        for (lanes, coordinate) in positions.iter_mut().zip(position) {
                            lanes[n] = f32::from_bits(*coordinate);
                        }
                    }
                    let screen = raster.transform.apply_lanes(viewport, positions);
                    let mut codes = self.clip.codes(positions);
                    for (code, drawn) in codes.iter_mut().zip(screen.drawn) {
                        // The general path drops the primitive.
                        *code |= if drawn { 0 } else { code::HIDDEN };
                    }
                    out.0.push(Block { screen, codes });
                }
            },
        );
    }
}

impl ClipSetup {
    /// Does what [`primitive`](Self::primitive) does for a triangle of an item, if the triangle is
    /// not cut. Returns false and does nothing if the general path has to do it. `screen` has the
    /// transformed `vertices`.
    ///
    /// # Errors
    /// [`Fault::Hang`] if the budget is used up.
    #[inline]
    pub(super) fn triangle(
        &mut self,
        exec: &mut Exec<'_>,
        state: &SetupState,
        (vertices, screen): (&Vertices, &ScreenVertices),
        triangle: &ClipPrimitive,
    ) -> Result<bool, Fault> {
        let (Shape::Triangle, Some(fast)) = (triangle.shape, &state.triangles) else {
            return Ok(false);
        };
        let [Some(a), Some(b), Some(c)] = triangle.vertices.map(|vertex| screen.get(vertex)) else {
            return Ok(false);
        };
        let hidden = (a.0 | b.0 | c.0) & code::HIDDEN != 0;
        if hidden && a.0 & b.0 & c.0 & fast.rejecting == 0 {
            return Ok(false);
        }
        exec.spend(watchdog::OBJECT)?;
        self.counts.clipped += 1;
        self.counts.kept += u64::from(!hidden);
        if !hidden {
            self.accepted(exec, state, fast, [a.1, b.1, c.1], vertices, triangle)?;
        }
        self.number += 1;
        Ok(true)
    }

    /// Sets up a triangle that is not cut, with these corners.
    fn accepted(
        &mut self,
        exec: &mut Exec<'_>,
        state: &SetupState,
        fast: &Triangles,
        corners: [ScreenVertex; 3],
        vertices: &Vertices,
        triangle: &ClipPrimitive,
    ) -> Result<(), Fault> {
        let raster = &state.raster;
        let setup = raster.setup_of(0);
        let [a, b, c] = corners.map(|corner| corner.at);
        let area = doubled_area(a, b, c);
        let back = setup.shows_back(area);
        if area == 0 || setup.culls(back) {
            return Ok(());
        }
        let around = |end: fn(i32, i32) -> i32| Point {
            x: end(end(a.x, b.x), c.x),
            y: end(end(a.y, b.y), c.y),
        };
        let pixels = pixels_between(around(i32::min), around(i32::max), fast.extent);
        let pixels = raster.windows()[0].intersection(pixels);
        if pixels.is_empty() {
            return Ok(());
        }
        let [a, b, c] = corners;
        let corners = [Corner::vertex(a, 0), Corner::vertex(b, 1), Corner::vertex(c, 2)];
        let vertices = triangle.vertices.map(|vertex| vertices.get(vertex as usize));
        let leader = vertices[usize::from(triangle.provoking)];
        let entry = BinEntry {
            primitive: triangle,
            vertices,
            viewport: 0,
            array_index: raster.array_index(leader),
            number: self.number,
        };
        let (bins, mut result) = (&mut self.bins, Ok(()));
        setup.filled(&corners, back, &mut |primitive| {
            result = entry.push(exec, state, bins, pixels, primitive);
        });
        result
    }
}
