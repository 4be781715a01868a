//! Media and GPGPU front end: walkers and media objects become threads.
//!
//! The command streamer calls one function per dispatching packet; state packets were latched before
//! ([`crate::context::State`]). [`descriptor`] follows what a packet names, [`gpgpu`] and [`object`] make threads of it,
//! which [`slots`] runs, [`parallel`] on several threads of the host.

pub mod descriptor;
pub mod gpgpu;
pub mod object;
pub mod parallel;
pub mod slots;

use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::gen8::media::{GpgpuWalker, MediaObject};

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
