//! MEDIA_OBJECT: its data, and the threads that get them.

use super::descriptor::REGISTER;
use super::front::Mode;
use super::pool::{Pool, Root};
use super::vld;
use crate::gen45::state::{ADDRESSES, State};
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen45::media::MediaObject;

/// Maximum number of registers of inline and indirect data: the registers of a thread without r0.
const MOST_DATA: usize = 127;

/// Starts the threads of a MEDIA_OBJECT.
///
/// # Errors
/// [`Fault::BadPacket`] for data that no thread can take; any [`Fault`] of state, data and threads.
pub fn object(exec: &mut Exec<'_>, pool: &mut Pool, packet: &MediaObject<'_>) -> Result<(), Fault> {
    let index = packet.interface_descriptor_offset.get();
    let inline: Vec<u32> = packet.inline_data.iter().map(|dword| dword.get() as u32).collect();
    match pool.front(exec)?.mode {
        Mode::Generic => {
            // XvMC's entries are smaller than the data (assumptions::G45_MEDIA_DATA_NEED_NO_ENTRY).
            let length = packet.indirect_data_length.get();
            if length as usize > MOST_DATA * REGISTER {
                let why = format!("a thread has room for {MOST_DATA} registers of data");
                return Err(exec.bad_field("Indirect Data Length", length, why));
            }
            let mut data: Vec<u8> = bytemuck::cast_slice(&inline).to_vec();
            data.resize(data.len().next_multiple_of(REGISTER), 0);
            data.extend(indirect(exec, packet)?);
            data.resize(data.len().next_multiple_of(REGISTER), 0);
            submit(exec, pool, index, data)?;
        }
        Mode::Vld(state) => {
            let slice = indirect(exec, packet)?;
            for (remapped, data) in vld::macroblocks(exec, &state, &inline, &slice)? {
                submit(exec, pool, index + remapped, data)?;
            }
        }
    }
    pool.settle(exec)
}

/// Starts a root thread with the interface descriptor `index`.
fn submit(exec: &mut Exec<'_>, pool: &mut Pool, index: u64, data: Vec<u8>) -> Result<(), Fault> {
    let front = pool.front(exec)?;
    let dispatch = front.dispatch(exec, front.descriptor(index))?;
    dispatch.check(exec, data.len() / REGISTER)?;
    let kernel = dispatch.program.kernel.address;
    exec.emit(&Event::Dispatch { kernel });
    pool.push(exec, Root { dispatch, data, at: exec.at })?;
    if pool.is_idle() {
        exec.emit(&Event::DispatchEnd { kernel });
    }
    Ok(())
}

/// Reads the indirect data.
///
/// # Errors
/// [`Fault::BadPacket`] if they continue after Indirect Object Access Upper Bound; [`Fault::Page`].
fn indirect(exec: &mut Exec<'_>, packet: &MediaObject<'_>) -> Result<Vec<u8>, Fault> {
    let length = packet.indirect_data_length.get();
    let mut data = vec![0; length as usize];
    if length == 0 {
        return Ok(data);
    }
    let base = exec.state.slots.with(|state: &State| state.base);
    let start = packet.indirect_data_start_address.get();
    let address = base.indirect.wrapping_add(start) & ADDRESSES;
    if base.indirect_bound != 0 && address + length > base.indirect_bound {
        let bound = base.indirect_bound;
        let why = format!("the data continue after Indirect Object Access Upper Bound {bound:#x}");
        return Err(exec.bad_field("Indirect Data Start Address", start, why));
    }
    exec.vm
        .read(address, &mut data)
        .map_err(|fault| exec.page(fault, "Indirect Data Start Address"))?;
    exec.stats.bytes_read += length;
    Ok(data)
}
