//! MEDIA_OBJECT: one thread.

use super::descriptor::{Dispatch, REGISTER};
use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::gen8::media::{MediaObject, MediaObjectThreadSynchronization};
use genxml::gen8::thread_payloads::MediaThreadPayloadHeader;
use genxml_core::{Address, U};

/// Runs the thread of a media object. Threads run in the order of their packets, which satisfies every scoreboard
/// whose dependencies come first.
///
/// # Errors
/// Any [`Fault`] of the thread, or of the state that the object names.
pub fn run<O: Observer>(exec: &mut Exec<'_, O>, object: &MediaObject<'_>) -> Result<(), Fault> {
    if object.children_present {
        return Err(exec.unimplemented("MEDIA_OBJECT with child threads", "2a MEDIA_OBJECT Children Present"));
    }
    if object.thread_synchronization != MediaObjectThreadSynchronization::from_bits(0) {
        return Err(exec.unimplemented(
            "MEDIA_OBJECT that waits for a thread spawner message",
            "2a MEDIA_OBJECT Thread Synchronization",
        ));
    }
    let mut dispatch = Dispatch::resolve(exec, object.interface_descriptor_offset.get())?;
    let descriptor = &dispatch.descriptor;
    let header = MediaThreadPayloadHeader {
        scoreboard_x: object.scoreboard_x,
        scoreboard_y: object.scoredboard_y,
        scoreboard_color: object.scoreboard_color,
        per_thread_scratch_space: dispatch.vfe.per_thread_scratch_space,
        sampler_state_pointer: descriptor.sampler_state_pointer,
        binding_table_pointer: Address::from_bits(descriptor.binding_table_pointer.get()),
        fftid: U::ZERO,
        scratch_space_pointer: dispatch.scratch(exec, 0)?,
    };
    let mut payload = bytemuck::cast_slice::<u32, u8>(&header.pack()).to_vec();
    let constants = descriptor.constant_indirect_urb_entry_read_length.get() as usize;
    dispatch.push_constants(&mut payload, 0, constants);
    for dword in object.inline_data.iter() {
        payload.extend_from_slice(&(dword.get() as u32).to_le_bytes());
    }
    payload.resize(payload.len().next_multiple_of(REGISTER), 0);
    let length = object.indirect_data_length.get() as usize;
    if length > 0 {
        let address = exec.state.base.indirect.wrapping_add(object.indirect_data_start_address.get());
        let mut data = vec![0; length];
        exec.vm.read(address, &mut data).map_err(|fault| exec.page(fault, "Indirect Data Start Address"))?;
        exec.stats.bytes_read += length as u64;
        payload.extend_from_slice(&data);
        payload.resize(payload.len().next_multiple_of(REGISTER), 0);
    }
    // Media threads have all channels (gen8_facts 3.7).
    dispatch.run(exec, payload, u32::MAX)
}
