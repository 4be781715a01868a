//! Tests and writes of depth and stencil (gen45_facts 11).

use super::depth_buffer::{Buffer, QUAD, Quad, buffer};
use crate::assumptions::PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS;
use crate::gen45::state::general;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::{PageFault, Vm};
use crate::render::compare::Compare;
use crate::render::stencil::{Face, Outcome};
use genxml::gen8::enums as gen8;
use genxml::gen45::enums::{
    ThreeDCompareFunction as Function, ThreeDStencilOperation as Operation,
};
use genxml::gen45::state_units::{CcViewport, ColorCalcState};

/// Depth and stencil state of a draw.
#[derive(Clone, Copy, Debug, Default)]
pub struct DepthStencil {
    buffer: Option<Buffer>,
    /// The depth test, if there is one.
    function: Option<Compare>,
    /// Depths that pass are written.
    pub depth_write: bool,
    /// The stencil tests of front and back faces.
    faces: Option<[Face; 2]>,
    /// The stencil buffer may be written.
    pub stencil_write: bool,
    /// Least and greatest depth.
    range: [f32; 2],
}

impl DepthStencil {
    /// Resolves the state.
    ///
    /// # Errors
    /// [`Fault::BadPacket`] for depth buffers that cannot be used; a page fault at the viewport.
    pub fn resolve(exec: &Exec<'_>, state: &ColorCalcState) -> Result<DepthStencil, Fault> {
        let mut depth = DepthStencil::default();
        let tests = state.depth_test_enable || state.depth_buffer_write_enable;
        if !tests && !state.stencil_test_enable {
            return Ok(depth);
        }
        let Some(buffer) = buffer(exec)? else { return Ok(depth) };
        let viewport: CcViewport = general(exec, state.cc_viewport_state_pointer.get())?;
        depth.range = [viewport.minimum_depth, viewport.maximum_depth];
        depth.function = state.depth_test_enable.then(|| compare(state.depth_test_function));
        depth.depth_write = state.depth_buffer_write_enable;
        if state.stencil_test_enable && buffer.format.has_stencil() {
            let front = Face {
                function: compare(state.stencil_test_function),
                operations: [
                    state.stencil_fail_op,
                    state.stencil_pass_depth_fail_op,
                    state.stencil_pass_depth_pass_op,
                ]
                .map(operation),
                test_mask: state.stencil_test_mask.get() as u8,
                write_mask: state.stencil_write_mask.get() as u8,
                reference: state.stencil_reference_value.get() as u8,
            };
            let back = Face {
                function: compare(state.backface_stencil_test_function),
                operations: [
                    state.backface_stencil_fail_op,
                    state.backface_stencil_pass_depth_fail_op,
                    state.backface_stencil_pass_depth_pass_op,
                ]
                .map(operation),
                test_mask: state.backface_stencil_test_mask.get() as u8,
                write_mask: state.backface_stencil_write_mask.get() as u8,
                reference: state.backface_stencil_reference_value.get() as u8,
            };
            let faces = [front, if state.double_sided_stencil_enable { back } else { front }];
            depth.stencil_write =
                state.stencil_buffer_write_enable && faces.iter().any(Face::writes);
            depth.faces = Some(faces);
        }
        depth.buffer = Some(buffer);
        Ok(depth)
    }

    /// True if no pixel can fail and nothing is written.
    pub fn is_idle(&self) -> bool {
        self.faces.is_none()
            && !self.depth_write
            && matches!(self.function, None | Some(Compare::ALWAYS))
    }

    /// Tests the pixels `lanes` of a quad, a bit each, and returns those that pass. With `write`,
    /// depth and stencil are written.
    ///
    /// # Errors
    /// A page fault of the buffer.
    pub fn test(
        &self,
        exec: &mut Exec<'_>,
        quad: &Quad,
        lanes: u8,
        write: bool,
    ) -> Result<u8, Fault> {
        let Some(buffer) = self.buffer.as_ref().filter(|_| lanes != 0 && !self.is_idle()) else {
            return Ok(lanes);
        };
        self.pixels(&mut exec.vm, buffer, quad, lanes, write)
            .map_err(|fault| exec.page(fault, "depth and stencil of a quad"))
    }

    fn pixels(
        &self,
        vm: &mut Vm<'_>,
        buffer: &Buffer,
        quad: &Quad,
        lanes: u8,
        write: bool,
    ) -> Result<u8, PageFault> {
        let format = buffer.format;
        let inside = buffer.inside(quad, lanes);
        let outside = if PIXELS_OUTSIDE_OF_THE_DEPTH_BUFFER_PASS { lanes & !inside } else { 0 };
        let mut elements = buffer.read(vm, quad, inside)?;
        let face = self.faces.as_ref().map(|faces| &faces[usize::from(quad.back)]);
        let function = self.function.unwrap_or(Compare::ALWAYS);
        let [least, greatest] = self.range;
        let (mut passed, mut changed) = (0, 0);
        for n in (0..QUAD).filter(|n| inside >> n & 1 == 1) {
            let before = elements[n];
            let (depth, stencil) = format.read(before);
            // NaN becomes the least depth.
            let new = format.depth().encode(quad.z[n].max(least).min(greatest));
            let outcome = match face {
                Some(face) if !face.passes(stencil) => Outcome::Failed,
                _ if !format.depth().compare(function, new, depth) => Outcome::DepthFailed,
                _ => Outcome::Passed,
            };
            let depth = (outcome == Outcome::Passed && self.depth_write).then_some(new);
            let stencil =
                face.filter(|_| self.stencil_write).map(|face| face.update(stencil, outcome));
            format.write(&mut elements[n], depth, stencil);
            passed |= u8::from(outcome == Outcome::Passed) << n;
            changed |= u8::from(elements[n] != before) << n;
        }
        if write {
            buffer.write(vm, quad, &elements, changed)?;
        }
        Ok(passed | outside)
    }

    /// Depth as it is stored, and stencil, of the pixels of a quad; 0 outside the buffer. For
    /// payloads.
    ///
    /// # Errors
    /// A page fault of the buffer.
    pub fn stored(&self, exec: &Exec<'_>, quad: &Quad) -> Result<([u32; QUAD], [u8; QUAD]), Fault> {
        let Some(buffer) = &self.buffer else { return Ok(Default::default()) };
        let elements = buffer
            .read(&exec.vm, quad, buffer.inside(quad, 0xf))
            .map_err(|fault| exec.page(fault, "depth and stencil of a quad"))?;
        let both = elements.map(|element| buffer.format.read(element));
        Ok((both.map(|(depth, _)| depth), both.map(|(_, stencil)| stencil)))
    }
}

/// The comparison that a field selects. The codes are those of Gen8.
pub fn compare(function: Function) -> Compare {
    Compare::of(gen8::ThreeDCompareFunction::from_bits(function.bits()))
}

/// The stencil operation that a field selects. The codes are those of Gen8.
fn operation(operation: Operation) -> gen8::ThreeDStencilOperation {
    gen8::ThreeDStencilOperation::from_bits(operation.bits())
}
