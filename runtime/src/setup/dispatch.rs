//! Thread groups of the GPGPU pipeline.

use super::Heaps;
use crate::batch::{Batch, BatchError};
use crate::engine::Render;
use crate::gen8::media::{
    GpgpuWalker, GpgpuWalkerSimdSize, MediaCurbeLoad, MediaInterfaceDescriptorLoad,
    MediaStateFlush, MediaVfeState,
};
use crate::gen8::state::{
    InterfaceDescriptorData, InterfaceDescriptorDataSharedLocalMemorySize, SamplerState,
};
use crate::pipeline::Gpgpu;
use alloc::vec::Vec;
use genxml_core::address::SurfaceState;
use genxml_core::{Address, U, fit, lit};

/// Dwords of a register.
const REGISTER: usize = 8;

/// A grid of thread groups with everything that they need: the interface descriptor with kernel,
/// binding table and samplers, the constants, and the packets that load and start them.
///
/// ```
/// use genxml::batch::{Batch, Buffer};
/// use genxml::engine::Render;
/// use genxml::setup::{Dispatch, Heaps, Surface};
///
/// # let kernel = [0x0780_0031, 0x2000_0a40, 0x0e00_0e00, 0x8200_0010];
/// let output = Buffer::new("output", 0x100_0000, 4096)?;
/// let mut heaps = Heaps::new(0x20_0000)?;
/// let surface = heaps.surface(&output, &Surface::raw(4096))?;
/// let dispatch = Dispatch {
///     surfaces: vec![surface],
///     groups: [4, 1, 1],
///     threads: 8,
///     ..Dispatch::new(&kernel)
/// };
/// let mut batch = Batch::<Render>::new("batch", 0x10_0000, 4096)?.select_gpgpu()?;
/// batch.emit(&heaps.bases(&batch)?)?;
/// dispatch.emit(&mut batch, &mut heaps)?;
/// let submission = batch.finish()?.submit(heaps.finish().into_iter().chain([output]))?;
/// # Ok::<(), genxml::batch::BatchError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch<'a> {
    /// The kernel, as dwords.
    pub kernel: &'a [u32],
    /// The surfaces that the kernel names by index, from 0 on.
    pub surfaces: Vec<Address<SurfaceState, 64, 32>>,
    /// The samplers that the kernel names by index, from 0 on.
    pub samplers: Vec<SamplerState>,
    /// Number of groups in x, y and z.
    pub groups: [u32; 3],
    /// Number of threads of a group, 1 to 64.
    pub threads: u32,
    /// Channels of a thread.
    pub simd: GpgpuWalkerSimdSize,
    /// Channels that the last thread of a group runs.
    pub last_mask: u32,
    /// Constants that all threads get, from register 1 on. They are padded to registers of 8
    /// dwords.
    pub shared_constants: Vec<u32>,
    /// Constants of each thread, after the shared ones: the same number of dwords for each, thread
    /// by thread, which must be a multiple of 8.
    pub thread_constants: Vec<u32>,
    /// True if threads of a group wait for each other.
    pub barrier: bool,
    /// Shared local memory of a group.
    pub local_memory: InterfaceDescriptorDataSharedLocalMemorySize,
}

impl<'a> Dispatch<'a> {
    /// One group of one thread of SIMD8, without surfaces and constants.
    pub const fn new(kernel: &'a [u32]) -> Dispatch<'a> {
        Dispatch {
            kernel,
            surfaces: Vec::new(),
            samplers: Vec::new(),
            groups: [1, 1, 1],
            threads: 1,
            simd: GpgpuWalkerSimdSize::SIMD8,
            last_mask: u32::MAX,
            shared_constants: Vec::new(),
            thread_constants: Vec::new(),
            barrier: false,
            local_memory: InterfaceDescriptorDataSharedLocalMemorySize::ENCODES_0K,
        }
    }

    /// Registers of constants: those that threads share, and those of each thread.
    fn registers(&self) -> (usize, usize) {
        let own = self.thread_constants.len() / self.threads.max(1) as usize;
        (self.shared_constants.len().div_ceil(REGISTER), own / REGISTER)
    }

    /// The packet that prepares the front end: 64 threads at most, two URB entries, and room for
    /// the constants.
    ///
    /// # Errors
    /// [`BatchError::Field`] if there are more constants than the URB can hold.
    pub fn vfe(&self) -> Result<MediaVfeState, BatchError> {
        let (shared, own) = self.registers();
        // The space is allocated in pairs of registers.
        let registers = (shared + own * self.threads as usize).next_multiple_of(2);
        Ok(MediaVfeState {
            maximum_number_of_threads: lit!(64),
            number_of_urb_entries: lit!(2),
            urb_entry_allocation_size: lit!(2),
            curbe_allocation_size: fit!(MediaVfeState.curbe_allocation_size, registers)?,
            ..MediaVfeState::new()
        })
    }

    /// Puts the constants into a heap and returns the packet that loads them; `None` if there are
    /// none.
    ///
    /// # Errors
    /// As [`Heap::curbe`](crate::batch::Heap::curbe); [`BatchError::Constants`] if the constants
    /// of threads are not whole registers for each.
    pub fn curbe(&self, heaps: &mut Heaps) -> Result<Option<MediaCurbeLoad>, BatchError> {
        let (shared, own) = self.registers();
        let all = self.thread_constants.len();
        if own * REGISTER * self.threads as usize != all {
            return Err(BatchError::Constants { dwords: all, threads: self.threads });
        }
        let mut dwords = self.shared_constants.clone();
        dwords.resize(shared * REGISTER, 0);
        dwords.extend(&self.thread_constants);
        match dwords.is_empty() {
            true => Ok(None),
            false => heaps.dynamic.curbe(&dwords).map(Some),
        }
    }

    /// Puts kernel, binding table and samplers into the heaps and returns the descriptor that
    /// points to them.
    ///
    /// # Errors
    /// As [`Heap::put`](crate::batch::Heap::put); [`BatchError::Field`] if a number does not fit.
    pub fn descriptor(&self, heaps: &mut Heaps) -> Result<InterfaceDescriptorData, BatchError> {
        let (shared, own) = self.registers();
        let kernel_start_pointer = heaps.instructions.kernel(self.kernel)?;
        let binding_table_pointer = match self.surfaces.as_slice() {
            [] => Address::ZERO,
            surfaces => heaps.surfaces.binding_table(surfaces)?,
        };
        let sampler_state_pointer = match self.samplers.as_slice() {
            [] => Address::ZERO,
            samplers => heaps.dynamic.samplers(samplers)?,
        };
        Ok(InterfaceDescriptorData {
            kernel_start_pointer,
            binding_table_pointer,
            // The count is a hint for prefetching; the field ends at 31.
            binding_table_entry_count: fit!(
                InterfaceDescriptorData.binding_table_entry_count,
                self.surfaces.len().min(31)
            )?,
            sampler_state_pointer,
            constant_indirect_urb_entry_read_length: fit!(
                InterfaceDescriptorData.constant_indirect_urb_entry_read_length,
                own
            )?,
            cross_thread_constant_data_read_length: fit!(
                InterfaceDescriptorData.cross_thread_constant_data_read_length,
                shared
            )?,
            number_of_threads_in_gpgpu_thread_group: fit!(
                InterfaceDescriptorData.number_of_threads_in_gpgpu_thread_group,
                self.threads
            )?,
            barrier_enable: self.barrier,
            shared_local_memory_size: self.local_memory,
            ..InterfaceDescriptorData::new()
        })
    }

    /// Puts the descriptor into a heap and returns the packet that loads it.
    ///
    /// # Errors
    /// As [`descriptor`](Self::descriptor).
    pub fn load(&self, heaps: &mut Heaps) -> Result<MediaInterfaceDescriptorLoad, BatchError> {
        let descriptor = self.descriptor(heaps)?;
        heaps.dynamic.interface_descriptors(&[descriptor])
    }

    /// The packet that starts the groups.
    ///
    /// # Errors
    /// [`BatchError::Field`] if a number does not fit its field.
    pub fn walker(&self) -> Result<GpgpuWalker, BatchError> {
        let [x, y, z] = self.groups;
        Ok(GpgpuWalker {
            simd_size: self.simd,
            thread_width_counter_maximum: fit!(
                GpgpuWalker.thread_width_counter_maximum,
                self.threads
            )?,
            thread_group_id_x_dimension: U::from_bits(x.into()),
            thread_group_id_y_dimension: U::from_bits(y.into()),
            thread_group_id_z_dimension: U::from_bits(z.into()),
            right_execution_mask: U::from_bits(self.last_mask.into()),
            ..GpgpuWalker::new()
        })
    }

    /// Emits everything: front end, constants, descriptor, groups, and a MEDIA_STATE_FLUSH, so that
    /// the next dispatch can replace the state. The bases must be set before ([`Heaps::bases`]).
    ///
    /// # Errors
    /// As the functions for the single packets, and [`Batch::emit`].
    pub fn emit(
        &self,
        batch: &mut Batch<Render, Gpgpu>,
        heaps: &mut Heaps,
    ) -> Result<(), BatchError> {
        batch.emit(&self.vfe()?)?;
        if let Some(constants) = self.curbe(heaps)? {
            batch.emit(&constants)?;
        }
        batch.emit(&self.load(heaps)?)?;
        batch.emit(&self.walker()?)?;
        batch.emit(&MediaStateFlush::new())?;
        Ok(())
    }
}
