//! What the packets of all coding standards share: the mode of the current picture, and its counts
//! in the status registers.

use crate::machine::coded::CodedPicture;
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::slots::UnitState;
use genxml::gen8::mfx_common::{
    MfxPipeModeSelect, MfxPipeModeSelectCodecSelect as Direction,
    MfxPipeModeSelectDecoderModeSelect as Input, MfxPipeModeSelectStandardSelect as Standard,
};
use genxml::gen8::mfx_registers::{MfdErrorStatus, MfxMbCount};
use genxml_codecs::Report;
use genxml_core::U;

/// Counts of the current picture.
#[derive(Clone, Copy, Debug, Default)]
struct Counts(Report);

impl UnitState for Counts {}

/// Sets the counts to 0: a picture starts.
pub fn reset(exec: &mut Exec<'_>) {
    *exec.state.slots.get_mut::<Counts>() = Counts::default();
    publish(exec);
}

/// The mode of the current picture, for a BSD object of `standard`.
///
/// # Errors
/// [`Fault::BadPacket`] if MFX_PIPE_MODE_SELECT chose another standard or encoding;
/// [`Fault::Unimplemented`] for modes that the model lacks.
pub fn mode(exec: &Exec<'_>, standard: Standard) -> Result<MfxPipeModeSelect, Fault> {
    let mode: MfxPipeModeSelect = exec.state.latched.read(0);
    if mode.standard_select != standard {
        let why = format!(
            "the newest MFX_PIPE_MODE_SELECT chose this standard, but {} decodes {standard:?}",
            exec.at.packet
        );
        return Err(exec.bad_field("Standard Select", mode.standard_select.bits(), why));
    }
    let why = "a BSD object holds coded data, which only VLD Mode decodes";
    decoding(exec, mode, (Input::VLD_MODE, why))
}

/// The coding standard of the current picture, for MFD_IT_OBJECT.
///
/// # Errors
/// Those of [`mode`].
pub fn mode_of_macroblocks(exec: &Exec<'_>) -> Result<Standard, Fault> {
    let why = "MFD_IT_OBJECT holds a macroblock, which only IT Mode decodes";
    let mode = decoding(exec, exec.state.latched.read(0), (Input::IT_MODE, why))?;
    Ok(mode.standard_select)
}

/// Checks that `mode` decodes the kind of data `input`; the text says why it must.
fn decoding(
    exec: &Exec<'_>,
    mode: MfxPipeModeSelect,
    (input, why): (Input, &'static str),
) -> Result<MfxPipeModeSelect, Fault> {
    if mode.codec_select != Direction::DECODE {
        let why = format!("MFX_PIPE_MODE_SELECT chose encoding, but {} decodes", exec.at.packet);
        return Err(exec.bad_field("Codec Select", mode.codec_select.bits(), why));
    }
    if mode.decoder_mode_select != input {
        return Err(exec.bad_field("Decoder Mode select", mode.decoder_mode_select.bits(), why));
    }
    let records = mode.stream_out_enable
        && (mode.standard_select != Standard::AVC || input != Input::VLD_MODE);
    if records || mode.deblocker_stream_out_enable || mode.extended_stream_out_enable {
        let what = "records of decoded macroblocks (Stream-Out Enable)";
        return Err(exec.unimplemented(what, "MFX_PIPE_MODE_SELECT dw1 10, 12 and 18"));
    }
    Ok(mode)
}

/// Counts a decoded picture, updates the status registers and reports the picture to the observer.
pub fn decoded(exec: &mut Exec<'_>, picture: &CodedPicture<'_>) {
    let Counts(report) = exec.state.slots.get_mut::<Counts>();
    exec.stats.pictures += u64::from(picture.is_first(*report));
    exec.stats.slices += u64::from(picture.slices);
    exec.stats.macroblocks += u64::from(picture.report.macroblocks);
    report.add(picture.report);
    publish(exec);
    exec.emit(&Event::Picture(picture));
}

/// Writes the counts of the current picture to the status registers. Counts above 65535 are written
/// as 65535.
fn publish(exec: &mut Exec<'_>) {
    let Counts(report) = *exec.state.slots.get_mut::<Counts>();
    let field = |count: u32| U::from_bits(u64::from(count.min(u32::from(u16::MAX))));
    let [errors] = MfdErrorStatus {
        concealed_macroblocks: field(report.concealed),
        error_flags: U::from_bits(u64::from(report.errors > 0)),
    }
    .pack();
    let [macroblocks] = MfxMbCount { macroblocks: field(report.macroblocks) }.pack();
    let registers = &mut exec.state.registers;
    registers.write(MfdErrorStatus::OFFSET, errors);
    registers.write(MfxMbCount::OFFSET, macroblocks);
}
