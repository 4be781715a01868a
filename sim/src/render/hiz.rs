//! Clears and resolves of depth and stencil buffers: 3DSTATE_WM_HZ_OP (2a p.281-286), and
//! [`Legacy`] operations, which are draws with a bit of 3DSTATE_WM set (2a p.274-275).
//!
//! The model has no hierarchical depth: both resolves do nothing, and a clear writes the buffers
//! themselves.

use super::depth::{DepthStencilPackets, Plane, Timing, depth_plane, stencil_plane};
use super::merge::Output;
use super::state;
use crate::assumptions::CLEARS_REACH_ONE_SLICE;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::watchdog::PIXEL;
use crate::mem::{Client, PageFault, Vm};
use crate::surface::{BadSurface, square};
use genxml::gen8::render3d_depth::{
    ThreeDStateClearParams, ThreeDStateDepthBuffer, ThreeDStateStencilBuffer, ThreeDStateWmHzOp,
};
use genxml::gen8::render3d_pixel::ThreeDStateWm;
use genxml::gen8::render3d_raster::{ScissorRect, ThreeDStateScissorStatePointers};

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

/// A clear or resolve that draws make because of a bit of 3DSTATE_WM (2a p.274-275). Mesa sets the
/// state of these draws for Ivy Bridge (gen6_blorp_emit_depth_stencil_state): the depth test is off
/// for clears, and never passes for resolves. The model ignores the depth test. The stencil test
/// works as in other draws.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Legacy {
    /// Samples that the primitive covers get this depth; without one, they get the depth of the
    /// primitive (assumptions::LEGACY_CLEARS_USE_THE_DEPTH_OF_EACH_SAMPLE).
    Clear(Option<f32>),
    /// A depth buffer resolve or a hierarchical depth buffer resolve. It does not change the depth
    /// buffer.
    Resolve,
}

impl Legacy {
    /// The operation that 3DSTATE_WM asks for. Without a hierarchical depth buffer, resolves have
    /// no effect: the draw is an ordinary draw (2a p.275).
    ///
    /// # Errors
    /// [`BadSurface`] names a field that asks for a second operation.
    pub fn of(
        wm: &ThreeDStateWm,
        depth: &ThreeDStateDepthBuffer,
        clear: &ThreeDStateClearParams,
    ) -> Result<Option<Legacy>, BadSurface> {
        let bad = |field| {
            let why = "clear, resolve and hierarchical resolve exclude each other (2a p.275)";
            Err(BadSurface { field, value: 1, why })
        };
        let resolve = wm.legacy_depth_buffer_resolve_enable;
        let hierarchical = wm.legacy_hierarchical_depth_buffer_resolve_enable;
        if hierarchical && (resolve || wm.legacy_depth_buffer_clear_enable) {
            return bad("Legacy Hierarchical Depth Buffer Resolve Enable");
        }
        if resolve && wm.legacy_depth_buffer_clear_enable {
            return bad("Legacy Depth Buffer Resolve Enable");
        }
        Ok(if wm.legacy_depth_buffer_clear_enable {
            Some(Legacy::Clear(clear.depth_clear_value_valid.then_some(clear.depth_clear_value)))
        } else if (resolve || hierarchical) && depth.hierarchical_depth_buffer_enable {
            Some(Legacy::Resolve)
        } else {
            None
        })
    }

    /// Changes the state of a draw for the operation.
    ///
    /// # Errors
    /// [`BadSurface`] names a field with a value that no depth buffer can have.
    pub fn apply(
        self,
        packets: &DepthStencilPackets<'_>,
        output: &mut Output,
    ) -> Result<(), BadSurface> {
        let state = &mut output.depth;
        state.function = None;
        state.depth_write = false;
        if let Legacy::Clear(value) = self {
            if let Some((plane, format)) = depth_plane(packets.depth, packets.samples)? {
                (state.depth, state.format) = (Some(plane), format);
                state.depth_write = packets.depth.depth_write_enable;
            }
            // Pixel kills and computed depth must be off (2a p.275): the primitive alone says
            // which samples are cleared.
            output.timing = Timing::Early;
            if value.is_some() {
                state.ranges.clear();
            }
        }
        Ok(())
    }
}

/// Executes 3DSTATE_WM_HZ_OP.
///
/// # Errors
/// [`Fault::BadPacket`] for buffers that cannot be used; [`Fault::Unimplemented`] for a depth clear
/// without a valid value; page faults of the buffers and of the scissor rectangle.
pub fn run(exec: &mut Exec<'_>, packets: &HzPackets<'_>) -> Result<(), Fault> {
    let operation = packets.operation;
    if !operation.depth_buffer_clear_enable && !operation.stencil_buffer_clear_enable {
        return Ok(());
    }
    let scissor = scissor(exec, operation)?;
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
            let clear = Clear { operation, scissor: scissor.as_ref(), mask };
            clear.fill(exec, &plane, &element[..format.bytes()])?;
        }
    }
    if operation.stencil_buffer_clear_enable && packets.depth.stencil_write_enable {
        let plane = stencil_plane(packets.stencil, packets.depth, samples)
            .map_err(|bad| exec.bad_field(bad.field, bad.value, bad.why))?;
        if let Some(plane) = plane {
            let clear = Clear { operation, scissor: scissor.as_ref(), mask };
            clear.fill(exec, &plane, &[operation.stencil_clear_value.get() as u8])?;
        }
    }
    Ok(())
}

/// The scissor rectangle of a clear, if it has one
/// (assumptions::CLEARS_USE_THE_FIRST_SCISSOR_RECTANGLE).
fn scissor(exec: &Exec<'_>, operation: &ThreeDStateWmHzOp) -> Result<Option<ScissorRect>, Fault> {
    if !operation.scissor_rectangle_enable {
        return Ok(None);
    }
    let pointer: ThreeDStateScissorStatePointers = state::packet(exec);
    state::dynamic(exec, pointer.scissor_rect_pointer.get()).map(Some)
}

/// What a clear writes: its rectangle, the scissor rectangle, and a mask of samples.
struct Clear<'a> {
    operation: &'a ThreeDStateWmHzOp,
    scissor: Option<&'a ScissorRect>,
    mask: u32,
}

impl Clear<'_> {
    /// Writes an element to all samples of the mask in the rectangle.
    fn fill(&self, exec: &mut Exec<'_>, plane: &Plane, element: &[u8]) -> Result<(), Fault> {
        let rectangle = Rectangle::of(self.operation, self.scissor, plane);
        exec.spend(rectangle.area() * u64::from(plane.surface.layout.samples) * PIXEL)?;
        let _client = exec.vm.client(Client::Depth);
        match rectangle.fill(&mut exec.vm, plane, self.mask, element) {
            Ok(()) => Ok(()),
            Err(fault) => Err(exec.page(fault, "the buffer that is cleared")),
        }
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
    /// The rectangle of an operation. The bounds of a scissor rectangle are inclusive.
    fn of(
        operation: &ThreeDStateWmHzOp,
        scissor: Option<&ScissorRect>,
        plane: &Plane,
    ) -> Rectangle {
        let mut rectangle = Rectangle {
            columns: [
                operation.clear_rectangle_x_min.get() as u32,
                (operation.clear_rectangle_x_max.get() as u32).min(plane.level.width),
            ],
            rows: [
                operation.clear_rectangle_y_min.get() as u32,
                (operation.clear_rectangle_y_max.get() as u32).min(plane.level.height),
            ],
            slices: if CLEARS_REACH_ONE_SLICE { 1 } else { plane.slices },
        };
        if let Some(scissor) = scissor {
            let inside = |[first, end]: [u32; 2], least: u64, greatest: u64| {
                [first.max(least as u32), end.min(greatest as u32 + 1)]
            };
            rectangle.columns = inside(
                rectangle.columns,
                scissor.scissor_rectangle_x_min.get(),
                scissor.scissor_rectangle_x_max.get(),
            );
            rectangle.rows = inside(
                rectangle.rows,
                scissor.scissor_rectangle_y_min.get(),
                scissor.scissor_rectangle_y_max.get(),
            );
        }
        rectangle
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
            let slice = plane.slice(slice);
            match plane.surface.layout.samples {
                1 if mask & 1 == 0 => {}
                1 => self.fill_slice(vm, plane, slice, element)?,
                _ => self.fill_samples(vm, plane, slice, mask, element)?,
            }
        }
        Ok(())
    }

    /// Writes the samples of `mask` of a slice with several samples.
    fn fill_samples(
        &self,
        vm: &mut Vm<'_>,
        plane: &Plane,
        slice: u32,
        mask: u32,
        element: &[u8],
    ) -> Result<(), PageFault> {
        let surface = &plane.surface;
        for y in self.rows[0]..self.rows[1] {
            for sample in (0..surface.layout.samples).filter(|sample| mask >> sample & 1 == 1) {
                for x in self.columns[0]..self.columns[1] {
                    vm.write(surface.texel(&plane.level, slice, x, y, sample), element)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a slice with one sample.
    fn fill_slice(
        &self,
        vm: &mut Vm<'_>,
        plane: &Plane,
        slice: u32,
        element: &[u8],
    ) -> Result<(), PageFault> {
        const SIDE: u32 = square::SIDE as u32;
        let mut pattern = [0; square::MOST_BYTES];
        square::repeat(element, &mut pattern);
        let (left, top) = plane.surface.origin(&plane.level, slice, 0);
        let [columns, rows] = [self.columns, self.rows].map(|[first, end]| first..end);
        for y in (rows.start / SIDE * SIDE..rows.end).step_by(square::SIDE) {
            for x in (columns.start / SIDE * SIDE..columns.end).step_by(square::SIDE) {
                let bit = |mask, n| mask | u64::from(columns.contains(&(x + n))) << n;
                let row = (0..SIDE).fold(0, bit);
                let pixels = std::array::from_fn(|n| match rows.contains(&(y + n as u32)) {
                    true => row,
                    false => 0,
                });
                let corner = (left + i64::from(x) * element.len() as i64, top + i64::from(y));
                plane
                    .surface
                    .square(corner, &pixels, &mut |at, length| vm.write(at, &pattern[..length]))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
