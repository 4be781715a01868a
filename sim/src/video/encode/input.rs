//! The mode of the encoder, and the picture to encode.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::video::outputs::Outputs;
use crate::video::surface::{Arrangement, Layout, SOURCE};
use genxml::gen8::mfx_common::{
    MfxPipeBufAddrState, MfxPipeModeSelect, MfxPipeModeSelectCodecSelect as Direction,
    MfxPipeModeSelectStandardSelect as Standard, MfxSurfaceState,
};
use genxml_codecs::Frame;

/// The mode of the current picture, for an object of `standard`.
///
/// # Errors
/// [`Fault::BadPacket`] if MFX_PIPE_MODE_SELECT chose another standard or decoding;
/// [`Fault::Unimplemented`] for modes that the model lacks.
pub fn mode(exec: &Exec<'_>, standard: Standard) -> Result<(), Fault> {
    let mode: MfxPipeModeSelect = exec.state.latched.read(0);
    if mode.standard_select != standard {
        let why = format!(
            "the newest MFX_PIPE_MODE_SELECT chose this standard, but {} encodes {standard:?}",
            exec.at.packet
        );
        return Err(exec.bad_field("Standard Select", mode.standard_select.bits(), why));
    }
    if mode.codec_select != Direction::ENCODE {
        let why = format!("MFX_PIPE_MODE_SELECT chose decoding, but {} encodes", exec.at.packet);
        return Err(exec.bad_field("Codec Select", mode.codec_select.bits(), why));
    }
    if mode.stitch_mode {
        let what = "joining of encoded pieces (Stitch Mode)";
        return Err(exec.unimplemented(what, "MFX_PIPE_MODE_SELECT dw1 5"));
    }
    if mode.extended_stream_out_enable || mode.deblocker_stream_out_enable {
        let what = "records of the deblocking filter or longer ones (Stream-Out Enable)";
        return Err(exec.unimplemented(what, "MFX_PIPE_MODE_SELECT dw1 12 and 18"));
    }
    Ok(())
}

/// Reads the picture to encode. Its surface has a state of its own, or else that of the
/// reconstructed picture.
///
/// # Errors
/// [`Fault::Page`] if it is not mapped; those of [`Layout::of`].
pub fn source(exec: &mut Exec<'_>, outputs: &Outputs) -> Result<Frame, Fault> {
    let layout = match exec.state.latched.get::<MfxSurfaceState>(SOURCE) {
        Some(_) => Layout::of(exec, SOURCE, Arrangement::Surface)?,
        None => outputs.layout,
    };
    let buffers: MfxPipeBufAddrState = exec.state.latched.read(0);
    let address = buffers.original_uncompressed_picture_source_address.get();
    let frame = layout.read(&exec.vm, address, outputs.sizes);
    let frame = frame.map_err(|fault| exec.page(fault, "picture to encode"))?;
    let samples: usize = frame.planes.iter().map(|plane| plane.data.len()).sum();
    exec.stats.bytes_read += samples as u64;
    Ok(frame)
}
