//! Depth tests of strips, which are 8x2 pixels with one sample, in vector instructions. The results
//! are the same as if each quad of the strip is tested separately.

use super::{DepthFormat, DepthStencil, Plane};
use crate::eu::fast::Level;
use crate::eu::fast::lanes::{blend, map};
use crate::mem::Vm;
use crate::pixel::raster::strips::Strip;
use crate::render::compare::Compare;
use crate::render::strip::{COLUMNS, LANES, Parts};

/// The depth test of the strips of a primitive.
#[derive(Clone, Copy, Debug)]
pub struct StripTests<'s> {
    state: &'s DepthStencil,
    plane: &'s Plane,
    /// Byte and row where the level and slice start.
    origin: (i64, i64),
    /// Least and greatest depth.
    range: [f32; 2],
    /// True if the depths of pixels that pass are written.
    write: bool,
}

impl DepthStencil {
    /// The depth test of strips. `None` if there is a stencil test or no depth buffer; then their
    /// quads must be tested one by one. `slice` is the render target array index, and `viewport`
    /// the index of the viewport. If `write` is true, the depths of pixels that pass are written.
    #[inline(always)]
    pub fn strips(&self, slice: u32, viewport: u8, write: bool) -> Option<StripTests<'_>> {
        let plane = self.depth.as_ref().filter(|_| self.faces.is_none())?;
        Some(StripTests {
            state: self,
            plane,
            origin: plane.surface.origin(&plane.level, plane.slice(slice), 0),
            range: self.ranges.get(usize::from(viewport)).copied().unwrap_or([f32::MIN, f32::MAX]),
            write: write && self.depth_write,
        })
    }
}

impl StripTests<'_> {
    /// Tests the pixels of a strip. `z` computes the depths of its upper and lower row, and should
    /// be inlined. Returns the pixels that pass, with the bits of [`Strip::mask`]. `None` if the
    /// elements of the strip are not whole parts in memory, or if memory cannot be accessed; then
    /// its quads must be tested one by one.
    #[inline(always)]
    pub fn run(
        &self,
        vm: &mut Vm<'_>,
        level: Level,
        strip: &Strip,
        z: impl Fn() -> [[f32; COLUMNS]; 2],
    ) -> Option<u16> {
        let Strip { x, y, mask } = *strip;
        let parts = Parts::of(&self.plane.surface, &self.plane.level, self.origin, x, y)?;
        if !parts.admits(vm, mask) {
            return None;
        }
        // The number of bits of a depth is a constant, so the compiler makes code for each format.
        match self.state.format {
            DepthFormat::Float32 => self.test::<32>(vm, level, &parts, mask, z),
            DepthFormat::Unorm24 => self.test::<24>(vm, level, &parts, mask, z),
            DepthFormat::Unorm16 => self.test::<16>(vm, level, &parts, mask, z),
        }
    }

    /// Tests the pixels, and writes the depths of those that pass. Returns these pixels.
    #[inline(always)]
    fn test<const BITS: u8>(
        &self,
        vm: &mut Vm<'_>,
        level: Level,
        parts: &Parts,
        mask: u16,
        z: impl Fn() -> [[f32; COLUMNS]; 2],
    ) -> Option<u16> {
        let format = const {
            match BITS {
                32 => DepthFormat::Float32,
                24 => DepthFormat::Unorm24,
                _ => DepthFormat::Unorm16,
            }
        };
        let function = self.state.function.unwrap_or(Compare::ALWAYS);
        let candidates = if function.equal || function.looks() { mask } else { 0 };
        if candidates == 0 {
            return Some(0);
        }
        let old = match function.looks() || self.write && !parts.covers(candidates) {
            true => parts.read(vm, candidates)?,
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
        if self.write && passed != 0 {
            parts.write(vm, passed, &new)?;
        }
        Some(passed)
    }
}
