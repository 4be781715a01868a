//! The slices of a picture. They are collected until the picture ends, and then decoded together.

use super::outputs::{Outputs, References};
use crate::machine::coded::{Codec, CodedPicture, PictureKind};
use crate::machine::exec::Exec;
use crate::machine::fault::{Fault, Place};
use crate::machine::slots::UnitState;
use genxml_codecs::{Frame, Report, Structure};
use std::fmt::Debug;

/// A picture and its slices. `P` are the parameters of the picture, `S` those of a slice; each
/// coding standard has its own types.
#[derive(Clone, Debug)]
pub struct Picture<P, S> {
    /// The packet of the last slice.
    pub at: Place,
    /// State of the picture.
    pub parameters: P,
    /// Where the picture is written.
    pub outputs: Outputs,
    /// The slices with their coded data.
    pub slices: Vec<(S, Vec<u8>)>,
}

/// The picture whose slices are being collected, if there is one.
#[derive(Clone, Debug)]
struct Open<P, S>(Option<Box<Picture<P, S>>>);

impl<P, S> Default for Open<P, S> {
    fn default() -> Self {
        Open(None)
    }
}

/// Types of parameters that a context can keep.
pub trait Kept: Clone + Debug + Send + Sync + 'static {}

impl<T: Clone + Debug + Send + Sync + 'static> Kept for T {}

impl<P: Kept, S: Kept> UnitState for Open<P, S> {}

/// Adds a slice to the open picture. Without an open picture, opens one with the parameters and
/// outputs that `start` returns.
///
/// # Errors
/// Those of `start`.
pub fn add<P: Kept, S: Kept>(
    exec: &mut Exec<'_>,
    slice: (S, Vec<u8>),
    start: impl FnOnce(&Exec<'_>) -> Result<(P, Outputs), Fault>,
) -> Result<(), Fault> {
    let Open::<P, S>(open) = exec.state.slots.get_mut();
    let mut picture = match open.take() {
        Some(picture) => picture,
        None => {
            let (parameters, outputs) = start(exec)?;
            Box::new(Picture { at: exec.at, parameters, outputs, slices: Vec::new() })
        }
    };
    picture.at = exec.at;
    picture.slices.push(slice);
    *exec.state.slots.get_mut() = Open(Some(picture));
    Ok(())
}

/// Calls `decode` with the open picture, if there is one. A fault names the packet of the last
/// slice.
///
/// # Errors
/// Those of `decode`.
pub fn finish<P: Kept, S: Kept>(
    exec: &mut Exec<'_>,
    decode: impl FnOnce(&mut Exec<'_>, Picture<P, S>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let Open::<P, S>(open) = exec.state.slots.get_mut();
    let Some(picture) = open.take() else { return Ok(()) };
    let at = std::mem::replace(&mut exec.at, picture.at);
    decode(exec, *picture)?;
    exec.at = at;
    Ok(())
}

impl<P, S> Picture<P, S> {
    /// The decoded picture as observers see it.
    pub fn coded<'a>(
        &self,
        (codec, kind, structure): (Codec, PictureKind, Structure),
        references: &'a References,
        report: Report,
        frame: &'a Frame,
    ) -> CodedPicture<'a> {
        CodedPicture {
            at: self.at,
            codec,
            kind,
            structure,
            // i965 sends a slice without data if the first slice is missing (digests/video.md 2.9).
            slices: self.slices.iter().filter(|(_, data)| !data.is_empty()).count() as u32,
            bytes: self.slices.iter().map(|(_, data)| data.len() as u64).sum(),
            references: &references.addresses,
            before: self.outputs.before,
            after: self.outputs.after,
            report,
            frame,
        }
    }
}
