//! GPGPU_WALKER: a box of thread groups, each of them a box of threads.

use super::descriptor::Dispatch;
use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use crate::watchdog;
use genxml::gen8::media::{GpgpuWalker, GpgpuWalkerSimdSize};
use genxml::gen8::registers::{GpgpuDispatchdimx, GpgpuDispatchdimy, GpgpuDispatchdimz};
use genxml::gen8::thread_payloads::GpgpuThreadPayloadHeader;
use genxml_core::{Address, U};

/// Groups from `first` up to, and not including, `end`, in X, Y and Z.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// First group.
    pub first: [u32; 3],
    /// The dimensions, which are end bounds (gen8_facts 12.2).
    pub end: [u32; 3],
}

impl Walk {
    /// All groups, X fastest, then Y, then Z.
    pub fn groups(self) -> impl Iterator<Item = [u32; 3]> {
        let [x, y, z] = [0, 1, 2].map(|axis: usize| self.first[axis]..self.end[axis]);
        z.flat_map(move |z| {
            let x = x.clone();
            y.clone().flat_map(move |y| x.clone().map(move |x| [x, y, z]))
        })
    }
}

/// The threads of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Threads in X, Y and Z.
    pub threads: [u32; 3],
    /// Channels of a thread: 8, 16 or 32.
    pub channels: u32,
    /// Live channels of the last thread in X.
    pub right: u32,
    /// Live channels of the last threads in Y.
    pub bottom: u32,
}

impl Group {
    /// Live channels of each thread, X fastest, then Y, then Z.
    pub fn masks(self) -> impl Iterator<Item = u32> {
        let [width, height, depth] = self.threads;
        let all = u32::MAX >> (32 - self.channels.clamp(1, 32));
        (0..u64::from(width) * u64::from(height) * u64::from(depth)).map(move |thread| {
            let (x, y) = (thread % u64::from(width), thread / u64::from(width) % u64::from(height));
            let right = if x + 1 == u64::from(width) { self.right } else { u32::MAX };
            let bottom = if y + 1 == u64::from(height) { self.bottom } else { u32::MAX };
            all & right & bottom
        })
    }
}

/// Runs all threads of a walker, one after the other.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the walker names.
pub fn walk<O: Observer>(exec: &mut Exec<'_, O>, walker: &GpgpuWalker) -> Result<(), Fault> {
    if walker.indirect_data_length.get() != 0 {
        return Err(exec.unimplemented("GPGPU_WALKER with indirect data", "2a p.424 Indirect Data Length"));
    }
    let channels = match walker.simd_size {
        GpgpuWalkerSimdSize::SIMD8 => 8,
        GpgpuWalkerSimdSize::SIMD16 => 16,
        GpgpuWalkerSimdSize::SIMD32 => 32,
        other => return Err(exec.bad_field("SIMD Size", other.bits(), "0, 1 or 2 is needed")),
    };
    let end = if walker.indirect_parameter_enable {
        [GpgpuDispatchdimx::OFFSET, GpgpuDispatchdimy::OFFSET, GpgpuDispatchdimz::OFFSET]
            .map(|register| exec.state.registers.read(register))
    } else {
        [
            walker.thread_group_id_x_dimension.get() as u32,
            walker.thread_group_id_y_dimension.get() as u32,
            walker.thread_group_id_z_dimension.get() as u32,
        ]
    };
    let first = [
        walker.thread_group_id_starting_x.get() as u32,
        walker.thread_group_id_starting_y.get() as u32,
        walker.thread_group_id_starting_resume_z.get() as u32,
    ];
    let group = Group {
        threads: [
            walker.thread_width_counter_maximum.get() as u32,
            walker.thread_height_counter_maximum.get() as u32,
            walker.thread_depth_counter_maximum.get() as u32,
        ],
        channels,
        right: walker.right_execution_mask.get() as u32,
        bottom: walker.bottom_execution_mask.get() as u32,
    };
    let mut dispatch = Dispatch::resolve(exec, walker.interface_descriptor_offset.get())?;
    for id in (Walk { first, end }).groups() {
        exec.spend(watchdog::PACKET)?;
        for (thread, mask) in group.masks().enumerate() {
            // A thread without live channels is not started.
            if mask != 0 {
                let payload = payload(exec, &dispatch, id, thread)?;
                dispatch.run(exec, payload, mask)?;
            }
        }
    }
    Ok(())
}

/// r0, the constants of the group, the constants of the thread (gen8_facts 3.7). The thread count of the descriptor is
/// not looked at: gem_gpgpu_fill leaves it 0, and hardware runs it.
fn payload<O: Observer>(
    exec: &Exec<'_, O>,
    dispatch: &Dispatch,
    id: [u32; 3],
    thread: usize,
) -> Result<Vec<u8>, Fault> {
    let descriptor = &dispatch.descriptor;
    let header = GpgpuThreadPayloadHeader {
        thread_group_id_x: U::from_bits(id[0].into()),
        thread_group_id_y: U::from_bits(id[1].into()),
        thread_group_id_z: U::from_bits(id[2].into()),
        barrier_id: U::ZERO,
        per_thread_scratch_space: dispatch.vfe.per_thread_scratch_space,
        sampler_state_pointer: descriptor.sampler_state_pointer,
        binding_table_pointer: Address::from_bits(descriptor.binding_table_pointer.get()),
        fftid: U::ZERO,
        scratch_space_pointer: super::scratch(exec, &dispatch.vfe)?,
    };
    let mut payload = bytemuck::cast_slice::<u32, u8>(&header.pack()).to_vec();
    let shared = descriptor.cross_thread_constant_data_read_length.get() as usize;
    let own = descriptor.constant_indirect_urb_entry_read_length.get() as usize;
    dispatch.push_constants(&mut payload, 0, shared);
    dispatch.push_constants(&mut payload, shared + thread * own, own);
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle: gen8_facts 12.2, dimensions are end bounds and X goes fastest.
    #[test]
    fn groups_in_order() {
        let walk = Walk { first: [1, 0, 0], end: [3, 2, 1] };
        let groups: Vec<_> = walk.groups().collect();
        assert_eq!(groups, [[1, 0, 0], [2, 0, 0], [1, 1, 0], [2, 1, 0]]);
        assert_eq!(Walk { first: [2, 0, 0], end: [2, 9, 9] }.groups().count(), 0);
    }

    /// Oracle: gen8_facts 12.2, masks of the last threads.
    #[test]
    fn masks_of_the_edges() {
        let group = Group { threads: [2, 2, 1], channels: 8, right: 0x3, bottom: 0xffff_fff6 };
        assert_eq!(group.masks().collect::<Vec<_>>(), [0xff, 0x03, 0xf6, 0x02]);
    }
}
