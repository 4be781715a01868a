//! The heaps that most batches need.

use super::Surface;
use crate::batch::{Batch, BatchError, Buffer, Heap, Object};
use crate::engine::Render;
use crate::gen8::state::StateBaseAddress;
use crate::pipeline::Pipeline;
use genxml_core::address::{DynamicState, Instruction, SurfaceState};
use genxml_core::{Address, fit};

/// Size of a heap in bytes: 64 KiB, because the offset of a binding table has only 16 bits.
const SIZE: u64 = 0x1_0000;

/// Bytes of a page, the unit of sizes in STATE_BASE_ADDRESS.
const PAGE: u64 = 4096;

/// The three heaps of the state that packets point to.
///
/// ```
/// use genxml::batch::{Batch, Buffer};
/// use genxml::engine::Render;
/// use genxml::gen8::state::SurfaceFormat;
/// use genxml::setup::{Heaps, Surface};
///
/// let target = Buffer::new("target", 0x100_0000, 64 * 64 * 4)?;
/// let mut heaps = Heaps::new(0x20_0000)?;
/// let image = heaps.surface(&target, &Surface::image(SurfaceFormat::R8G8B8A8_UNORM, 64, 64))?;
/// let table = heaps.surfaces.binding_table::<32, 16>(&[image])?;
/// let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?;
/// batch.emit(&heaps.bases(&batch)?)?;
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Heaps {
    /// Surfaces, and the binding tables that give them numbers for a kernel.
    pub surfaces: Heap<SurfaceState>,
    /// Interface descriptors, samplers, viewports, blending, constants.
    pub dynamic: Heap<DynamicState>,
    /// Kernels.
    pub instructions: Heap<Instruction>,
}

impl Heaps {
    /// Three empty heaps of 64 KiB each, one after the other from `address` on. For heaps of other
    /// sizes and addresses, make the struct from three [`Heap`]s.
    ///
    /// # Errors
    /// As [`Heap::new`].
    pub fn new(address: u64) -> Result<Heaps, BatchError> {
        let at = |index: u64| address.saturating_add(index * SIZE);
        Ok(Heaps {
            surfaces: Heap::new("surface state", at(0), SIZE as usize)?,
            dynamic: Heap::new("dynamic state", at(1), SIZE as usize)?,
            instructions: Heap::new("instructions", at(2), SIZE as usize)?,
        })
    }

    /// The packet that sets the bases to these heaps, with their sizes where the packet has a size.
    /// The bases of general state and indirect objects are 0. Emit it next: the batch waits for the
    /// addresses that this function takes.
    ///
    /// # Errors
    /// As [`Batch::reads`]; [`BatchError::Field`] for a heap of 4 GiB or more.
    pub fn bases<P: Pipeline>(
        &self,
        batch: &Batch<Render, P>,
    ) -> Result<StateBaseAddress, BatchError> {
        let pages = |bytes: u64| bytes.div_ceil(PAGE);
        Ok(StateBaseAddress {
            general_state_base_address_modify_enable: true,
            surface_state_base_address_modify_enable: true,
            surface_state_base_address: batch.reads(&self.surfaces, 0)?,
            dynamic_state_base_address_modify_enable: true,
            dynamic_state_base_address: batch.reads(&self.dynamic, 0)?,
            dynamic_state_buffer_size_modify_enable: true,
            dynamic_state_buffer_size: fit!(
                StateBaseAddress.dynamic_state_buffer_size,
                pages(self.dynamic.size())
            )?,
            indirect_object_base_address_modify_enable: true,
            instruction_base_address_modify_enable: true,
            instruction_base_address: batch.reads(&self.instructions, 0)?,
            instruction_buffer_size_modify_enable: true,
            instruction_buffer_size: fit!(
                StateBaseAddress.instruction_buffer_size,
                pages(self.instructions.size())
            )?,
            ..StateBaseAddress::new()
        })
    }

    /// Puts the surface state of `buffer` into the heap and returns its offset, for a binding
    /// table. The surface starts at the first byte of the buffer and counts as written.
    ///
    /// # Errors
    /// [`BatchError::Surface`] if the surface does not fit the buffer or its pitch does not fit its
    /// tiling; [`BatchError::Field`] if a number does not fit its field; as [`Heap::put`].
    pub fn surface(
        &mut self,
        buffer: &Buffer,
        surface: &Surface,
    ) -> Result<Address<SurfaceState, 64, 32>, BatchError> {
        surface.fits(buffer)?;
        let state = surface.state(self.surfaces.writes(buffer, 0)?)?;
        self.surfaces.put(&state)
    }

    /// The heaps as buffers of a submission.
    pub fn finish(self) -> [Buffer; 3] {
        [self.surfaces.finish(), self.dynamic.finish(), self.instructions.finish()]
    }
}
