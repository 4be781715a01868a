//! Clears and resolves of depth and stencil buffers: 3DSTATE_WM_HZ_OP (2a p.281-286).
//!
//! The model has no hierarchical depth: both resolves do nothing, and a clear writes the buffers
//! themselves.

use super::depth::{Plane, depth_plane, stencil_plane};
use crate::assumptions::CLEARS_REACH_ONE_SLICE;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog::PIXEL;
use crate::mem::{PageFault, Vm};
use crate::surface::TileMode;
use genxml::gen8::render3d_depth::{
    ThreeDStateClearParams, ThreeDStateDepthBuffer, ThreeDStateStencilBuffer, ThreeDStateWmHzOp,
};

/// The packets of a clear or resolve.
#[derive(Clone, Copy, Debug)]
pub struct HzPackets<'a> {
    /// 3DSTATE_WM_HZ_OP.
    pub operation: &'a ThreeDStateWmHzOp,
    /// 3DSTATE_DEPTH_BUFFER.
    pub depth: &'a ThreeDStateDepthBuffer,
    /// 3DSTATE_STENCIL_BUFFER.
    pub stencil: &'a ThreeDStateStencilBuffer,
    /// 3DSTATE_CLEAR_PARAMS.
    pub clear: &'a ThreeDStateClearParams,
}

impl HzPackets<'_> {
    /// True if the packet selects an operation. The operation runs at the next PIPE_CONTROL with a
    /// post-sync operation (gen8_facts 8.2). A packet with all fields 0 selects none.
    pub fn asks(&self) -> bool {
        let operation = self.operation;
        operation.stencil_buffer_clear_enable
            || operation.depth_buffer_clear_enable
            || operation.depth_buffer_resolve_enable
            || operation.hierarchical_depth_buffer_resolve_enable
    }
}

/// Executes 3DSTATE_WM_HZ_OP.
///
/// # Errors
/// [`Fault::BadPacket`] for buffers that cannot be used; [`Fault::Unimplemented`] for a depth clear
/// without a valid value, and for a clear with a scissor rectangle; page faults of the buffers.
pub fn run(exec: &mut Exec<'_>, packets: &HzPackets<'_>) -> Result<(), Fault> {
    let operation = packets.operation;
    if !operation.depth_buffer_clear_enable && !operation.stencil_buffer_clear_enable {
        return Ok(());
    }
    if operation.scissor_rectangle_enable {
        return Err(exec.unimplemented(
            "a clear of depth or stencil with a scissor rectangle",
            "2a p.282: must not be set",
        ));
    }
    let samples = operation.number_of_multisamples;
    let mask = operation.sample_mask.get() as u32;
    if operation.depth_buffer_clear_enable && packets.depth.depth_write_enable {
        let plane = depth_plane(packets.depth, samples)
            .map_err(|bad| exec.bad_field(bad.field, bad.value, bad.why))?;
        if let Some((plane, format)) = plane {
            if !packets.clear.depth_clear_value_valid {
                let what = "a clear of depth without a valid 3DSTATE_CLEAR_PARAMS";
                return Err(exec.unimplemented(what, "2a p.37"));
            }
            let element = format.encode(packets.clear.depth_clear_value).to_le_bytes();
            fill(exec, operation, &plane, mask, &element[..format.bytes()])?;
        }
    }
    if operation.stencil_buffer_clear_enable && packets.depth.stencil_write_enable {
        let plane = stencil_plane(packets.stencil, packets.depth, samples)
            .map_err(|bad| exec.bad_field(bad.field, bad.value, bad.why))?;
        if let Some(plane) = plane {
            fill(exec, operation, &plane, mask, &[operation.stencil_clear_value.get() as u8])?;
        }
    }
    Ok(())
}

/// Writes an element to all samples of `mask` in the rectangle.
fn fill(
    exec: &mut Exec<'_>,
    operation: &ThreeDStateWmHzOp,
    plane: &Plane,
    mask: u32,
    element: &[u8],
) -> Result<(), Fault> {
    let rectangle = Rectangle::of(operation, plane);
    exec.spend(rectangle.area() * u64::from(plane.surface.layout.samples) * PIXEL)?;
    match rectangle.fill(&mut exec.vm, plane, mask, element) {
        Ok(()) => Ok(()),
        Err(fault) => Err(exec.page(fault, "the buffer that is cleared")),
    }
}

/// The pixels of a clear, inside the level: ranges of columns and rows (the end is exclusive), and
/// the number of slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Rectangle {
    columns: [u32; 2],
    rows: [u32; 2],
    slices: u32,
}

impl Rectangle {
    fn of(operation: &ThreeDStateWmHzOp, plane: &Plane) -> Rectangle {
        Rectangle {
            columns: [
                operation.clear_rectangle_x_min.get() as u32,
                (operation.clear_rectangle_x_max.get() as u32).min(plane.level.width),
            ],
            rows: [
                operation.clear_rectangle_y_min.get() as u32,
                (operation.clear_rectangle_y_max.get() as u32).min(plane.level.height),
            ],
            slices: if CLEARS_REACH_ONE_SLICE { 1 } else { plane.slices },
        }
    }

    /// Number of pixels of a clear, in all slices.
    fn area(&self) -> u64 {
        let [columns, rows] =
            [self.columns, self.rows].map(|[first, end]| u64::from(end.saturating_sub(first)));
        u64::from(self.slices) * columns * rows
    }

    fn fill(
        &self,
        vm: &mut Vm<'_>,
        plane: &Plane,
        mask: u32,
        element: &[u8],
    ) -> Result<(), PageFault> {
        for slice in 0..self.slices {
            for y in self.rows[0]..self.rows[1] {
                let row = Row { plane, slice: plane.slice(slice), y, columns: self.columns };
                row.fill(vm, mask, element)?;
            }
        }
        Ok(())
    }
}

/// A part of a row of pixels.
struct Row<'p> {
    plane: &'p Plane,
    slice: u32,
    y: u32,
    columns: [u32; 2],
}

impl Row<'_> {
    fn fill(&self, vm: &mut Vm<'_>, mask: u32, element: &[u8]) -> Result<(), PageFault> {
        let surface = &self.plane.surface;
        let [left, right] = self.columns;
        if surface.layout.samples > 1 {
            for sample in (0..surface.layout.samples).filter(|sample| mask >> sample & 1 == 1) {
                for x in left..right {
                    vm.write(
                        surface.texel(&self.plane.level, self.slice, x, self.y, sample),
                        element,
                    )?;
                }
            }
            return Ok(());
        }
        if mask & 1 == 0 {
            return Ok(());
        }
        // Write runs of consecutive bytes: at most 2 in W tiles, 16 in Y tiles.
        let mut run = [0; 16];
        run.chunks_exact_mut(element.len()).for_each(|place| place.copy_from_slice(element));
        let bytes = element.len() as u32;
        let most = if surface.tile_mode == TileMode::W { 2 } else { 16 };
        let (first, row) = surface.origin(&self.plane.level, self.slice, 0);
        let (mut x, end) = (left * bytes, right * bytes);
        while x < end {
            let length = (most - x % most).min(end - x);
            let at = surface.address(first + i64::from(x), row + i64::from(self.y));
            vm.write(at, &run[..length as usize])?;
            x += length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
