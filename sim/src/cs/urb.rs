//! Commands that access the unified return buffer (URB) of the context.

use crate::assumptions::{URB_BYTES, URB_LINE_BYTES};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::media;
use crate::unit::urb::Urb;
use genxml::gen8::mi::{MiLoadUrbMem, MiStoreUrbMem, MiUrbClear};

/// Bytes of an entry of MI_URB_CLEAR: its address and length count entries of 256 bits (Ivy Bridge
/// vol 1 part 3 p.198).
const CLEAR_UNIT: usize = 32;

/// MI_URB_CLEAR: writes zeros to entries of 256 bits.
///
/// # Errors
/// [`Fault::BadPacket`] if the entries do not all lie in the URB; the faults of media threads. All
/// media threads run to their end first, because hardware needs a flushed pipeline here.
pub fn urb_clear(exec: &mut Exec<'_>, packet: &MiUrbClear) -> Result<(), Fault> {
    media::drain(exec)?;
    let address = packet.urb_address.get();
    let offset = address as usize * CLEAR_UNIT;
    let length = packet.urb_clear_length.get() as usize * CLEAR_UNIT;
    let urb = exec.state.slots.get_mut::<Urb>();
    urb.clear(offset, length).map_err(|_| outside(exec, address, CLEAR_UNIT, length))
}

/// MI_LOAD_URB_MEM: copies a line from memory to the URB
/// (assumptions::URB_LINE_BYTES).
///
/// # Errors
/// [`Fault::BadPacket`] if the line does not lie in the URB; [`Fault::Page`]; the faults of media
/// threads.
pub fn load_urb_mem(exec: &mut Exec<'_>, packet: &MiLoadUrbMem) -> Result<(), Fault> {
    media::drain(exec)?;
    let mut line = [0; URB_LINE_BYTES];
    let address = packet.memory_address.va48();
    exec.vm.read(address, &mut line).map_err(|fault| exec.page(fault, "Memory Address"))?;
    exec.stats.bytes_read += URB_LINE_BYTES as u64;
    let number = packet.urb_address.get();
    let urb = exec.state.slots.get_mut::<Urb>();
    urb.write(number as usize * URB_LINE_BYTES, &line)
        .map_err(|_| outside(exec, number, URB_LINE_BYTES, URB_LINE_BYTES))
}

/// MI_STORE_URB_MEM: copies a line from the URB to memory
/// (assumptions::URB_LINE_BYTES).
///
/// # Errors
/// [`Fault::BadPacket`] if the line does not lie in the URB; [`Fault::Page`]; the faults of media
/// threads.
pub fn store_urb_mem(exec: &mut Exec<'_>, packet: &MiStoreUrbMem) -> Result<(), Fault> {
    media::drain(exec)?;
    let mut line = [0; URB_LINE_BYTES];
    let number = packet.urb_address.get();
    let read = exec.state.slots.get_mut::<Urb>().read(number as usize * URB_LINE_BYTES, &mut line);
    read.map_err(|_| outside(exec, number, URB_LINE_BYTES, URB_LINE_BYTES))?;
    let address = packet.memory_address.va48();
    exec.vm.write(address, &line).map_err(|fault| exec.page(fault, "Memory Address"))?;
    exec.stats.bytes_written += URB_LINE_BYTES as u64;
    Ok(())
}

/// The fault for `length` bytes that do not all lie in the URB. The address of the packet counts
/// units of `unit` bytes.
#[cold]
fn outside(exec: &Exec<'_>, address: u64, unit: usize, length: usize) -> Fault {
    let offset = address as usize * unit;
    let why = format!(
        "{length:#x} bytes at byte {offset:#x} end after the URB, which has {URB_BYTES:#x} bytes"
    );
    exec.bad_field("URB Address", address, why)
}
