//! The video engine: pictures decoded from the packets of the MFX and MFD families.
//!
//! State packets are latched. MFX_PIPE_MODE_SELECT starts a picture, and each BSD object decodes a
//! slice or a whole picture. The decoders themselves are in the crate `genxml-codecs`: functions
//! of plain values that know no packet. Here, one file for each coding standard turns latched
//! packets into the values that its decoder takes.
//!
//! A picture of several slices is open until its end: the next picture, a packet that may look at
//! results ([`before`]), or the end of the submission. Then the deblocking filter runs and
//! the picture is written to memory ([`finish`]). Hardware keeps no state other than memory from
//! picture to picture (digests/video.md 1.1). Row stores are not written: only hardware reads them.

pub mod avc;
mod avc_concealment;
mod avc_records;
mod avc_short;
pub mod buffer;
pub mod encode;
pub mod it;
pub mod jpeg;
pub mod mpeg2;
pub mod outputs;
pub mod slices;
pub mod status;
pub mod surface;
pub mod vc1;
pub mod vp8;

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::Client;
use genxml::gen8::VideoPacket;
use genxml::gen8::mfx_common::{MfxPipeModeSelect, MfxWait};
use genxml_core::latch::Latch;

/// Executes MFX_PIPE_MODE_SELECT: ends the open picture and starts a new one.
///
/// # Errors
/// Those of [`finish`].
pub fn pipe_mode_select(exec: &mut Exec<'_>, packet: &MfxPipeModeSelect) -> Result<(), Fault> {
    finish(exec)?;
    status::reset(exec);
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

/// Ends the open picture before a packet that needs it complete.
///
/// # Errors
/// Those of [`finish`].
pub fn before(exec: &mut Exec<'_>, dwords: &[u32]) -> Result<(), Fault> {
    if ends_picture(dwords) { finish(exec) } else { Ok(()) }
}

/// True if the open picture must be complete before this packet. Codec packets may come between
/// slices, and so may MI packets that do not look at results.
fn ends_picture(dwords: &[u32]) -> bool {
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
                | P::MfdAvcDpbState(_)
                | P::MfdAvcSliceaddr(_)
                | P::MfxAvcDirectmodeState(_)
                | P::MfxAvcSliceState(_)
                | P::MfxAvcRefIdxState(_)
                | P::MfxAvcWeightoffsetState(_)
                | P::MfdAvcBsdObject(_)
                | P::MfxMpeg2PicState(_)
                | P::MfdMpeg2BsdObject(_)
                | P::MfdItObject(_)
                | P::MfdVc1LongPicState(_)
                | P::MfxVc1PredPipeState(_)
                | P::MfxVc1DirectmodeState(_)
                | P::MfdVc1BsdObject(_)
                | P::MfxFqmState(_)
                | P::MfxPakInsertObject(_)
                | P::MfcAvcPakObject(_)
                | P::MfcMpeg2SlicegroupState(_)
                | P::MfcMpeg2PakObject(_)
        ),
        Err(_) => true,
    }
}

/// Ends the open picture, if there is one: filters it and writes it to memory.
///
/// # Errors
/// [`Fault::Page`] if a buffer of the picture is not mapped; [`Fault::BadPacket`] for a size or
/// state that the decoder does not support.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    let _video = exec.vm.client(Client::Video);
    avc::finish(exec)?;
    mpeg2::finish(exec)?;
    vc1::finish(exec)?;
    it::finish(exec)?;
    encode::finish(exec)
}
