//! The tests of one pixel with the values that they compare, for observers.

use super::{DepthStencil, Depths, Plane, Quad, inside};
use crate::machine::exec::Exec;
use crate::machine::watched::{DepthTest, StencilTest, TestTime, Tested};
use crate::mem::Vm;
use crate::render::compare::Compare;
use crate::render::stencil::Outcome;

impl DepthStencil {
    /// The tests that [`test`](Self::test) is about to run for one pixel: number `place` of the
    /// quad, with the samples of `mask`. Empty if there is nothing to test or write, and for
    /// buffers that cannot be read. `test` decides later whether a sample passes. The caller sets
    /// the time of the tests.
    pub(in crate::render) fn look(
        &self,
        exec: &Exec<'_>,
        quad: &Quad,
        z: &Depths,
        (place, mask): (usize, u8),
        write: bool,
    ) -> Vec<Tested> {
        if self.is_idle() {
            return Vec::new();
        }
        let _own = exec.vm.unrecorded();
        (0..8)
            .filter(|sample| mask >> sample & 1 == 1)
            .filter_map(|sample| {
                self.look_at(&exec.vm, quad, z[place][sample as usize], place, sample, write)
            })
            .collect()
    }

    fn look_at(
        &self,
        vm: &Vm<'_>,
        quad: &Quad,
        z: f32,
        place: usize,
        sample: u8,
        write: bool,
    ) -> Option<Tested> {
        let is_inside = |plane: &Plane| inside(&plane.level, quad, 1 << place) != 0;
        let address = |plane: &Plane| {
            let (x, y) = (quad.x + (place as u32 & 1), quad.y + (place as u32 >> 1));
            plane.surface.texel(&plane.level, plane.slice(quad.slice), x, y, sample.into())
        };
        let mut tested =
            Tested { sample, time: TestTime::Early, stencil: None, depth: None, passed: false };
        let face = self.faces.as_ref().map(|faces| &faces[usize::from(quad.back)]);
        let stencil = self.stencil.as_ref().zip(face).filter(|(plane, _)| is_inside(plane));
        let mut reaches_depth = true;
        if let Some((plane, face)) = stencil {
            let stored = vm.read_u8(address(plane)).ok()?;
            reaches_depth = face.passes(stored);
            tested.stencil = Some(StencilTest {
                function: face.function.name(),
                reference: face.reference,
                mask: face.test_mask,
                stored,
                after: stored,
                passed: reaches_depth,
            });
        }
        let plane = self.depth.as_ref().filter(|plane| reaches_depth && is_inside(plane));
        if let Some(plane) = plane {
            let range = self.ranges.get(usize::from(quad.viewport)).copied();
            let range = range.unwrap_or([f32::MIN, f32::MAX]);
            let depth = z.max(range[0]).min(range[1]);
            let mut bytes = [0; 4];
            vm.read(address(plane), &mut bytes[..self.format.bytes()]).ok()?;
            let (value, stored) = (self.format.encode(depth), u32::from_le_bytes(bytes));
            let function = self.function.unwrap_or(Compare::ALWAYS);
            let passed =
                self.format.compare(function, value, stored) || function == Compare::ALWAYS;
            tested.depth = Some(DepthTest {
                function: function.name(),
                depth,
                value,
                stored,
                stored_depth: self.format.decode(stored),
                passed,
                written: passed && write && self.depth_write,
            });
        }
        if let (Some(stencil), Some((_, face))) = (&mut tested.stencil, stencil) {
            let outcome = match tested.depth {
                _ if !stencil.passed => Outcome::Failed,
                Some(depth) if !depth.passed => Outcome::DepthFailed,
                _ => Outcome::Passed,
            };
            if write && self.stencil_write {
                stencil.after = face.update(stencil.stored, outcome);
            }
        }
        Some(tested)
    }
}
