//! Commands of hardware that the model does not have: displays, the resource streamer, caches,
//! protected content. They are executed, change nothing, and say so: [`Event::WithoutEffect`], and
//! a count in the statistics.

use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mi::{MiDisplayFlip, MiRsStoreDataImm};

/// A command without effect:
/// * MI_SUSPEND_FLUSH: flushes are complete when they have been executed, there is nothing to
///   suspend;
/// * MI_SET_APPID: there is no protected content;
/// * MI_FLUSH, MI_CLFLUSH: memory is what every unit sees;
/// * MI_WAIT_FOR_EVENT, MI_LOAD_SCAN_LINES_INCL, MI_LOAD_SCAN_LINES_EXCL: without a display, every
///   event has happened and every line has been scanned;
/// * MI_URB_CLEAR, MI_LOAD_URB_MEM, MI_STORE_URB_MEM: no source says in what units they address the
///   buffer or how much they move, and nothing that was found uses them; memory that
///   MI_STORE_URB_MEM should fill stays as it is;
/// * MI_RS_CONTROL, MI_RS_CONTEXT: the resource streamer works ahead of the command streamer; here
///   its commands are executed by the command streamer itself.
pub fn without_effect(exec: &mut Exec<'_>) {
    exec.stats.without_effect += 1;
    exec.emit(&Event::WithoutEffect { at: exec.at });
}

/// MI_DISPLAY_FLIP: the listener hears which buffer is shown; there is no display. The flip is
/// complete at once.
pub fn display_flip(exec: &mut Exec<'_>, packet: &MiDisplayFlip) -> Result<(), Fault> {
    exec.stats.without_effect += 1;
    exec.emit(&Event::Flip {
        plane: packet.display_plane_select,
        address: packet.display_buffer_base_address.get(),
        pitch: 64 * packet.display_buffer_pitch_64b_units.get() as u32,
    });
    Ok(())
}

/// MI_RS_STORE_DATA_IMM: a dword, as MI_STORE_DATA_IMM from the resource streamer (gen8_facts 2.1).
pub fn rs_store_data_imm(exec: &mut Exec<'_>, packet: &MiRsStoreDataImm) -> Result<(), Fault> {
    if packet.core_mode_enable.get() != 0 {
        return Err(exec.unimplemented("Core Mode Enable", "MI_RS_STORE_DATA_IMM"));
    }
    let (address, value) = (packet.destination_address.va48(), packet.data_dword_0.get() as u32);
    crate::machine::memory::write(exec, false, address, value, "Destination Address")
}
