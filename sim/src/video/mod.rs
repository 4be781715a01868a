//! The video engine: pictures decoded from the packets of the MFX and MFD families.
//!
//! State packets are latched. MFX_PIPE_MODE_SELECT starts a picture, and each BSD object decodes a
//! slice or a whole picture. The decoders themselves are in the crate `genxml-codecs`: functions
//! of plain values that know no packet. Here, one file for each coding standard turns latched
//! packets into the values that its decoder takes.
//!
//! A picture of several slices is open until its end: the next picture, a packet that makes the
//! engine wait, or the end of the submission. Then the deblocking filter runs and the picture is
//! written to memory ([`finish`]). No state other than memory goes from picture to picture
//! (digests/video.md 1.1). Row stores are not written: only hardware reads them.

pub mod avc;
pub mod bitstream;
pub mod jpeg;
pub mod mpeg2;
pub mod picture;
pub mod surface;
pub mod vc1;
pub mod vp8;

use crate::machine::coded::CodedPicture;
use crate::machine::events::Event;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::slots::UnitState;
use genxml::gen8::VideoPacket;
use genxml::gen8::mfx_common::{
    MfxPipeModeSelect, MfxPipeModeSelectCodecSelect as Direction,
    MfxPipeModeSelectDecoderModeSelect as Input, MfxPipeModeSelectStandardSelect as Standard,
    MfxWait,
};
use genxml::gen8::mfx_registers::{MfdErrorStatus, MfxMbCount};
use genxml_codecs::{Report, Structure};
use genxml_core::U;
use genxml_core::latch::Latch;
use picture::Picture;

/// The state of the video engine that is not a latched packet.
#[derive(Clone, Debug, Default)]
pub struct Video {
    /// The picture whose slices are being decoded.
    picture: Option<Picture>,
    /// Counts of the current picture.
    report: Report,
    /// The newest MPEG-2 picture, if it was a field: its address and its rows.
    field: Option<(u64, Structure)>,
}

impl UnitState for Video {}

/// Executes MFX_PIPE_MODE_SELECT: ends the open picture and starts a new one.
///
/// # Errors
/// Those of [`finish`].
pub fn pipe_mode_select(exec: &mut Exec<'_>, packet: &MfxPipeModeSelect) -> Result<(), Fault> {
    finish(exec)?;
    exec.state.slots.get_mut::<Video>().report = Report::default();
    publish(exec);
    exec.state.latched.keep(MfxPipeModeSelect::SLOTS, &packet.pack());
    Ok(())
}

/// Executes MFX_WAIT: the engine waits for its codec, which ends the open picture.
///
/// # Errors
/// Those of [`finish`].
pub fn wait(exec: &mut Exec<'_>, _: &MfxWait) -> Result<(), Fault> {
    finish(exec)
}

/// True if the open picture must be complete before this packet. Codec packets may come between
/// slices, and so may MI packets that do not look at results.
pub fn ends_picture(dwords: &[u32]) -> bool {
    use VideoPacket as P;
    match P::parse(dwords) {
        Ok((packet, _)) => !matches!(
            packet,
            P::MiNoop(_)
                | P::MiBatchBufferStart(_)
                | P::MiBatchBufferEnd(_)
                | P::MiArbCheck(_)
                | P::MiLoadRegisterImm(_)
                | P::MfxPipeBufAddrState(_)
                | P::MfxIndObjBaseAddrState(_)
                | P::MfxBspBufBaseAddrState(_)
                | P::MfxQmState(_)
                | P::MfxAvcImgState(_)
                | P::MfdAvcPicidState(_)
                | P::MfxAvcDirectmodeState(_)
                | P::MfxAvcSliceState(_)
                | P::MfxAvcRefIdxState(_)
                | P::MfxAvcWeightoffsetState(_)
                | P::MfdAvcBsdObject(_)
                | P::MfxMpeg2PicState(_)
                | P::MfdMpeg2BsdObject(_)
                | P::MfdVc1LongPicState(_)
                | P::MfxVc1PredPipeState(_)
                | P::MfxVc1DirectmodeState(_)
                | P::MfdVc1BsdObject(_)
        ),
        Err(_) => true,
    }
}

/// Ends the open picture, if there is one: filters it and writes it to memory.
///
/// # Errors
/// [`Fault::Page`] if a buffer of the picture is not mapped.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    let Some(picture) = exec.state.slots.get_mut::<Video>().picture.take() else {
        return Ok(());
    };
    let at = std::mem::replace(&mut exec.at, picture.at());
    picture.finish(exec)?;
    exec.at = at;
    Ok(())
}

/// The mode of the current picture, for a BSD object of `standard`.
///
/// # Errors
/// [`Fault::BadPacket`] if MFX_PIPE_MODE_SELECT chose another standard or encoding;
/// [`Fault::Unimplemented`] for modes that the model lacks.
fn mode(exec: &Exec<'_>, standard: Standard) -> Result<MfxPipeModeSelect, Fault> {
    let mode: MfxPipeModeSelect = exec.state.latched.read(0);
    if mode.standard_select != standard {
        let why = format!(
            "the newest MFX_PIPE_MODE_SELECT chose this standard, but {} decodes {standard:?}",
            exec.at.packet
        );
        return Err(exec.bad_field("Standard Select", mode.standard_select.bits(), why));
    }
    if mode.codec_select != Direction::DECODE {
        let why = format!("MFX_PIPE_MODE_SELECT chose encoding, but {} decodes", exec.at.packet);
        return Err(exec.bad_field("Codec Select", mode.codec_select.bits(), why));
    }
    if mode.decoder_mode_select != Input::VLD_MODE {
        let why = "a BSD object holds coded data, which only VLD Mode decodes";
        return Err(exec.bad_field("Decoder Mode select", mode.decoder_mode_select.bits(), why));
    }
    if mode.stream_out_enable || mode.deblocker_stream_out_enable {
        let what = "records of decoded macroblocks (Stream-Out Enable)";
        return Err(exec.unimplemented(what, "MFX_PIPE_MODE_SELECT dw1 10 and 12"));
    }
    Ok(mode)
}

/// The fault for a slice of another standard in an open picture.
#[cold]
fn mixed(exec: &Exec<'_>) -> Fault {
    let mode: MfxPipeModeSelect = exec.state.latched.read(0);
    let why = "the picture has slices of another standard; start a new one first";
    exec.bad_field("Standard Select", mode.standard_select.bits(), why)
}

/// Counts a decoded picture, updates the status registers and reports the picture to the observer.
fn decoded(exec: &mut Exec<'_>, picture: &CodedPicture<'_>) {
    let report = &mut exec.state.slots.get_mut::<Video>().report;
    exec.stats.pictures += u64::from(picture.is_first(*report));
    exec.stats.slices += u64::from(picture.slices);
    exec.stats.macroblocks += u64::from(picture.report.macroblocks);
    report.add(picture.report);
    publish(exec);
    exec.emit(&Event::Picture(picture));
}

/// Writes the counts of the current picture to the status registers. Numbers that do not fit their
/// field are cut off.
fn publish(exec: &mut Exec<'_>) {
    let report = exec.state.slots.get_mut::<Video>().report;
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
