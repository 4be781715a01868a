//! Commands for hardware that the model does not have: displays, the resource streamer, caches,
//! protected content. Most of them change nothing: the model counts them in the statistics and
//! emits [`Event::WithoutEffect`].

use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mi::{MiDisplayFlip, MiRsStoreDataImm};

/// Executes a command without effect:
/// * MI_SUSPEND_FLUSH: a flush is complete as soon as it was executed, so there is nothing to
///   suspend;
/// * MI_SET_APPID: there is no protected content;
/// * MI_FLUSH, MI_CLFLUSH: units access memory directly, without caches;
/// * MI_WAIT_FOR_EVENT, MI_LOAD_SCAN_LINES_INCL, MI_LOAD_SCAN_LINES_EXCL: there is no display; the
///   model assumes that the event has happened and the line has been scanned;
/// * MI_URB_CLEAR, MI_LOAD_URB_MEM, MI_STORE_URB_MEM: no source gives the units of their addresses
///   or the amount of data, and no known program uses them. MI_STORE_URB_MEM does not write memory;
/// * MI_RS_CONTROL, MI_RS_CONTEXT: the resource streamer works ahead of the command streamer; here
///   its commands are executed by the command streamer itself.
pub fn without_effect(exec: &mut Exec<'_>) {
    exec.stats.without_effect += 1;
    exec.emit(&Event::WithoutEffect { at: exec.at });
}

/// MI_DISPLAY_FLIP: emits [`Event::Flip`] with the buffer. There is no display; the flip is
/// complete immediately.
pub fn display_flip(exec: &mut Exec<'_>, packet: &MiDisplayFlip) -> Result<(), Fault> {
    exec.stats.without_effect += 1;
    exec.emit(&Event::Flip {
        plane: packet.display_plane_select,
        address: packet.display_buffer_base_address.get(),
        pitch: 64 * packet.display_buffer_pitch_64b_units.get() as u32,
    });
    Ok(())
}

/// MI_RS_STORE_DATA_IMM, the MI_STORE_DATA_IMM of the resource streamer: writes a dword
/// (gen8_facts 2.1; assumptions::CORE_0_ADDS_NO_OFFSET).
pub fn rs_store_data_imm(exec: &mut Exec<'_>, packet: &MiRsStoreDataImm) -> Result<(), Fault> {
    let (address, value) = (packet.destination_address.va48(), packet.data_dword_0.get() as u32);
    crate::machine::memory::write(exec, false, address, value, "Destination Address")
}
