//! The encoder ("PAK"): pictures coded from macroblocks whose modes and vectors are chosen.
//!
//! The packets of a picture are collected: headers and tails of MFX_PAK_INSERT_OBJECT, states of
//! slices, macroblocks. At the end of the picture they are encoded together. The encoders
//! themselves are in the crate `genxml-codecs`.
//!
//! * `input`: the mode, and the picture to encode.
//! * `items`: the collected packets of a picture.
//! * `output`: where the coded data go, and the status registers.
//! * [`avc`], [`mpeg2`]: a coding standard each.
//! * `avc_macroblock`: macroblocks of AVC.

pub mod avc;
mod avc_macroblock;
mod input;
mod items;
pub mod mpeg2;
mod output;

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfx_common::{
    MfxPakInsertObject, MfxPipeModeSelect, MfxPipeModeSelectStandardSelect as Standard,
};
use input::mode;

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
