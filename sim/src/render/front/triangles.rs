//! The fast path of clipper and setup, for filled triangles that are not cut.
//!
//! [`screen_vertices`](crate::render::screen_vertices) computes the positions of vertices on the
//! screen and their clip codes. From these, most triangles can be rejected, culled or set up. The
//! results are those of [`ClipSetup::primitive`], which sets up all other primitives.

use super::{BinEntry, ClipPrimitive, ClipSetup, SetupState};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog;
use crate::pixel::coordinates::{Point, doubled_area};
use crate::pixel::interpolate::Corner;
use crate::pixel::raster::pixels_between;
use crate::pixel::viewport::ScreenVertex;
use crate::render::clip::code;
use crate::render::screen_vertices::{ScreenVertices, Triangles};
use crate::render::topology::Shape;
use crate::render::vue::Vertices;

impl ClipSetup {
    /// Does what [`primitive`](Self::primitive) does for a primitive of an item, if it is a
    /// triangle that the fast path can set up or reject. Otherwise does nothing and returns false;
    /// then the caller must call `primitive`. `screen` has the transformed `vertices`.
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

    /// Sets up a triangle that the clipper accepts. `corners` are its vertices on the screen.
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
