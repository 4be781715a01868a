//! The encoder ("PAK"): pictures coded from macroblocks whose modes and vectors are chosen.
//!
//! The packets of a picture are collected: headers and tails of MFX_PAK_INSERT_OBJECT, states of
//! slices, macroblocks. At the end of the picture they are encoded together. The encoders
//! themselves are in the crate `genxml-codecs`.
//!
//! * `items`: the collected packets of a picture.
//! * `output`: where the coded data go, and the status registers.
//! * [`avc`], [`mpeg2`]: a coding standard each.
//! * `avc_macroblock`: macroblocks of AVC.

pub mod avc;
mod avc_macroblock;
mod items;
pub mod mpeg2;
mod output;

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfx_common::{
    MfxPakInsertObject, MfxPipeModeSelect, MfxPipeModeSelectCodecSelect as Direction,
    MfxPipeModeSelectStandardSelect as Standard, MfxSurfaceState,
};
use genxml_codecs::Frame;

use super::outputs::Outputs;
use super::surface::{Layout, SOURCE};

/// Executes MFX_PAK_INSERT_OBJECT: bytes for the coded data.
///
/// # Errors
/// [`Fault::BadPacket`] if MFX_PIPE_MODE_SELECT does not choose encoding;
/// [`Fault::Unimplemented`] for standards that the encoder lacks.
pub fn insert(exec: &mut Exec<'_>, packet: &MfxPakInsertObject<'_>) -> Result<(), Fault> {
    let state: MfxPipeModeSelect = exec.state.latched.read(0);
    match state.standard_select {
        Standard::AVC => {
            mode(exec, Standard::AVC)?;
            let insertion = items::insertion(exec, packet)?;
            avc::insert(exec, insertion)
        }
        Standard::MPEG2 => {
            mode(exec, Standard::MPEG2)?;
            let insertion = items::insertion(exec, packet)?;
            mpeg2::insert(exec, insertion)
        }
        other => {
            let what = format!("encoding of {other:?}");
            Err(exec.unimplemented(what, "MFX_PIPE_MODE_SELECT dw1 3:0"))
        }
    }
}

/// Encodes the open picture, if there is one.
///
/// # Errors
/// [`Fault::Page`] if a buffer is not mapped; [`Fault::BadPacket`] for state that cannot be
/// encoded; [`Fault::Unimplemented`] for what the encoder lacks.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    avc::finish(exec)?;
    mpeg2::finish(exec)
}

/// The mode of the current picture, for an object of `standard`.
///
/// # Errors
/// [`Fault::BadPacket`] if MFX_PIPE_MODE_SELECT chose another standard or decoding;
/// [`Fault::Unimplemented`] for modes that the model lacks.
fn mode(exec: &Exec<'_>, standard: Standard) -> Result<(), Fault> {
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
fn source(exec: &mut Exec<'_>, outputs: &Outputs) -> Result<Frame, Fault> {
    let layout = match exec.state.latched.get::<MfxSurfaceState>(SOURCE) {
        Some(_) => Layout::of(exec, SOURCE, super::surface::Arrangement::Surface)?,
        None => outputs.layout,
    };
    let buffers: genxml::gen8::mfx_common::MfxPipeBufAddrState = exec.state.latched.read(0);
    let address = buffers.original_uncompressed_picture_source_address.get();
    let frame = layout.read(&exec.vm, address, outputs.sizes);
    let frame = frame.map_err(|fault| exec.page(fault, "picture to encode"))?;
    let samples: usize = frame.planes.iter().map(|plane| plane.data.len()).sum();
    exec.stats.bytes_read += samples as u64;
    Ok(frame)
}
