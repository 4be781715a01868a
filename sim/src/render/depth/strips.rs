//! Depth tests of strips: 8x2 pixels with one sample, in vector instructions. The results are those
//! of the tests of the strip's quads.

use super::{DepthFormat, DepthStencil};
use crate::assumptions::PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS;
use crate::eu::fast::Level;
use crate::eu::fast::lanes::{blend, map};
use crate::mem::{PageFault, Vm};
use crate::pixel::coordinates::Rect;
use crate::pixel::raster::strips::{self, Strip};
use crate::render::compare::Compare;
use crate::render::strip::{COLUMNS, LANES, Parts};

/// The primitive's values for a strip.
#[derive(Clone, Copy, Debug)]
pub struct StripTest {
    /// The strip. Only the pixels of its mask are tested.
    pub strip: Strip,
    /// Render target array index.
    pub slice: u32,
    /// Index of the viewport. Depths are clamped to its depth range.
    pub viewport: u8,
    /// Passed depths are written.
    pub write: bool,
}

impl DepthStencil {
    /// Runs the depth test of a strip. `z` computes the depths of its upper and lower row; it
    /// should be inlined. Returns the pixels that pass, as a mask of [`Strip`]. `None` if the quads
    /// must be tested one by one: there is a stencil test, the strip is not contiguous in memory,
    /// or memory cannot be accessed. Nothing has been written then.
    #[inline(always)]
    pub fn test_strip(
        &self,
        vm: &mut Vm<'_>,
        level: Level,
        test: &StripTest,
        z: impl Fn() -> [[f32; COLUMNS]; 2],
    ) -> Option<u16> {
        if self.faces.is_some() {
            return None;
        }
        let Some(plane) = &self.depth else { return Some(test.strip.mask) };
        let Strip { x, y, mask } = test.strip;
        let origin = plane.surface.origin(&plane.level, plane.slice(test.slice), 0);
        let parts = Parts::of(&plane.surface, origin, x, y)?;
        let (width, height) = (plane.level.width, plane.level.height);
        let inside = match x + 8 <= width && y + 2 <= height {
            true => mask,
            false => {
                let area = Rect { x0: 0, y0: 0, x1: width as i32, y1: height as i32 };
                mask & strips::inside(x as i32, y as i32, area)
            }
        };
        let outside = match PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS {
            true => mask & !inside,
            false => 0,
        };
        let range =
            self.ranges.get(usize::from(test.viewport)).copied().unwrap_or([f32::MIN, f32::MAX]);
        let tested = Tested { state: self, parts, range, inside, write: test.write };
        // The bits of a depth are a constant of the code, so that each format has its own loops.
        let passed = match self.format {
            DepthFormat::Float32 => tested.run::<32>(vm, level, z),
            DepthFormat::Unorm24 => tested.run::<24>(vm, level, z),
            DepthFormat::Unorm16 => tested.run::<16>(vm, level, z),
        };
        Some(passed.ok()? | outside)
    }
}

/// A strip with everything that its depth test needs.
struct Tested<'s> {
    state: &'s DepthStencil,
    parts: Parts,
    range: [f32; 2],
    /// The pixels to test.
    inside: u16,
    write: bool,
}

impl Tested<'_> {
    /// Tests the pixels, and writes the depths of those that pass. Returns these pixels.
    #[inline(always)]
    fn run<const BITS: u8>(
        &self,
        vm: &mut Vm<'_>,
        level: Level,
        z: impl Fn() -> [[f32; COLUMNS]; 2],
    ) -> Result<u16, PageFault> {
        let format = const {
            match BITS {
                32 => DepthFormat::Float32,
                24 => DepthFormat::Unorm24,
                _ => DepthFormat::Unorm16,
            }
        };
        let function = self.state.function.unwrap_or(Compare::ALWAYS);
        let candidates = if function.equal || function.looks() { self.inside } else { 0 };
        if candidates == 0 {
            return Ok(0);
        }
        let writes = self.write && self.state.depth_write;
        let old = match function.looks() || writes && !self.parts.covers(candidates) {
            true => self.parts.read(vm, candidates)?,
            false => [0; LANES],
        };
        let (new, passed) = level.vectorize(
            #[inline(always)]
            || {
                let [top, bottom] = z();
                let mut lanes = [0.0; LANES];
                lanes[..COLUMNS].copy_from_slice(&top);
                lanes[COLUMNS..].copy_from_slice(&bottom);
                // NaN becomes the least depth of the viewport.
                let z = map(lanes, |z: f32| z.max(self.range[0]).min(self.range[1]));
                let new = map(z, |z| format.encode(z));
                let mut passed = candidates;
                if function.looks() {
                    let mut found = [[0; COLUMNS]; 2];
                    let found_lanes = found.as_flattened_mut().iter_mut();
                    for (found, (&new, &old)) in found_lanes.zip(new.iter().zip(&old)) {
                        *found = -i32::from(format.compare(function, new, old));
                    }
                    let [top, bottom] = found;
                    passed &= u16::from_le_bytes([level.negative(top), level.negative(bottom)]);
                }
                (blend(passed.into(), new, old), passed)
            },
        );
        if writes && passed != 0 {
            self.parts.write(vm, passed, &new)?;
        }
        Ok(passed)
    }
}
