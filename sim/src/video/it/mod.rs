//! IT mode: the application decodes the syntax, and the engine transforms, predicts and filters.
//!
//! Each MFD_IT_OBJECT is a macroblock: inline data with its prediction, and coefficients in memory.
//! The macroblocks of a picture are reconstructed when they come. The end of the picture conceals
//! those that are missing and writes the picture.
//!
//! * `inline`: the inline data.
//! * `coefficients`: the coefficients in memory.
//! * `mpeg2`: macroblocks of MPEG-2.

mod coefficients;
mod inline;
mod mpeg2;

use super::status;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen8::mfd::MfdItObject;
use genxml::gen8::mfx_common::MfxPipeModeSelectStandardSelect as Standard;

/// Executes MFD_IT_OBJECT: reconstructs a macroblock.
///
/// # Errors
/// [`Fault::BadPacket`] for state or macroblocks that contradict themselves;
/// [`Fault::Unimplemented`] for coding standards that the model lacks in this mode;
/// [`Fault::Page`] if a buffer is not mapped.
pub fn object(exec: &mut Exec<'_>, packet: &MfdItObject<'_>) -> Result<(), Fault> {
    match status::mode_of_macroblocks(exec)? {
        Standard::MPEG2 => mpeg2::object(exec, packet),
        standard @ (Standard::AVC | Standard::VC1) => {
            let what = format!("macroblocks of {standard:?} in IT Mode");
            Err(exec.unimplemented(what, "MFD_IT_OBJECT dw7"))
        }
        other => {
            let why = "only MPEG-2, VC-1 and AVC have IT Mode";
            Err(exec.bad_field("Standard Select", other.bits(), why))
        }
    }
}

/// Ends the open picture, if there is one: writes it to memory.
///
/// # Errors
/// [`Fault::Page`] if the picture is not mapped.
pub fn finish(exec: &mut Exec<'_>) -> Result<(), Fault> {
    mpeg2::finish(exec)
}
