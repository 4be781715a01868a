//! Media and GPGPU front end: walkers and media objects become threads.
//!
//! The command streamer calls one function per dispatching packet; state packets were latched before
//! ([`crate::context::State`]). [`descriptor`] follows what a packet names, [`gpgpu`] and [`object`] make threads of it.

pub mod descriptor;
pub mod gpgpu;
pub mod object;

use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::gen8::media::{GpgpuWalker, MediaObject, MediaVfeState};
use genxml_core::Address;
use genxml_core::address::GeneralState;

/// Runs all threads of a GPGPU_WALKER to their end.
///
/// # Errors
/// Any [`Fault`] of a thread, or of the state that the walker names.
pub fn dispatch_walker<O: Observer>(exec: &mut Exec<'_, O>, walker: &GpgpuWalker) -> Result<(), Fault> {
    gpgpu::walk(exec, walker)
}

/// Runs the thread of a MEDIA_OBJECT to its end.
///
/// # Errors
/// Any [`Fault`] of the thread, or of the state that the object names.
pub fn dispatch_object<O: Observer>(exec: &mut Exec<'_, O>, object: &MediaObject<'_>) -> Result<(), Fault> {
    object::run(exec, object)
}

/// Scratch space of a thread. Threads run one at a time, so that all of them use the first slot.
fn scratch<O: Observer>(
    exec: &Exec<'_, O>,
    vfe: &MediaVfeState,
) -> Result<Address<GeneralState, 1024, 32>, Fault> {
    let base = vfe.scratch_space_base_pointer.get();
    Address::new(base).map_err(|_| {
        exec.bad_field("Scratch Space Base Pointer", base, "the thread header has 32 bits for it (2d, r0.5)")
    })
}
