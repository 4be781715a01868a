//! Vertices on the screen, for triangles that are not cut. Eight vertices at a time are transformed
//! to the screen, and compared with the planes of the clipper.

use super::clip::{ClipState, code};
use super::raster_state::RasterState;
use super::sf::{CullMode, FillMode};
use super::vue::{Vertices, place};
use crate::eu::fast::Level;
use crate::pixel::coordinates::Point;
use crate::pixel::raster;
use crate::pixel::viewport::{ScreenLanes, ScreenVertex};

/// Vertices that are transformed at once.
const LANES: usize = 8;

/// The state of a draw for the fast path of triangles.
#[derive(Clone, Copy, Debug)]
pub struct Triangles {
    level: Level,
    clip: ClipState,
    /// Bits of [`code`] that reject a triangle if all its vertices have them.
    pub rejecting: u32,
    /// Least and greatest positions of samples in a pixel ([`raster::extent`]).
    pub extent: [i32; 4],
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
    /// The bits of [`code`] of a vertex, and the vertex on the screen. If [`code::HIDDEN`] is set,
    /// the screen position may have no meaning.
    #[inline]
    pub fn get(&self, vertex: u32) -> Option<(u32, ScreenVertex)> {
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

    /// Transforms all vertices to the screen. `raster` is the state that [`of`](Self::of) got.
    /// `out` is empty if the vertices are too short to have a position.
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
                        // The general path drops primitives with such a vertex.
                        *code |= if drawn { 0 } else { code::HIDDEN };
                    }
                    out.0.push(Block { screen, codes });
                }
            },
        );
    }
}
