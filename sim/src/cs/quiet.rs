//! Commands for hardware that the model does not have: displays, caches, protected content. Most of
//! them change nothing: the model counts them in the statistics and emits
//! [`Event::WithoutEffect`].

use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mi::MiDisplayFlip;

/// Executes a command without effect:
/// * MI_SUSPEND_FLUSH: a flush is complete as soon as it was executed, so there is nothing to
///   suspend;
/// * MI_SET_APPID: there is no protected content;
/// * MI_FLUSH, MI_CLFLUSH: units access memory directly, without caches;
/// * MI_WAIT_FOR_EVENT, MI_LOAD_SCAN_LINES_INCL, MI_LOAD_SCAN_LINES_EXCL: there is no display; the
///   model assumes that the event has happened and the line has been scanned.
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
