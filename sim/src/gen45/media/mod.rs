//! Media pipeline of the G45: MEDIA_OBJECT becomes threads.
//!
//! [`mod@object`] takes the data of a MEDIA_OBJECT. In generic mode they are the payload of one
//! thread. In VLD mode they are a slice of MPEG-2, and [`vld`] makes a payload for each macroblock.
//! [`front`] holds the state that MEDIA_STATE_POINTERS points to. [`descriptor`] resolves an
//! interface descriptor. The threads live in a [`pool`].
//!
//! The threads of MEDIA_OBJECT packets that follow each other run at the same time. Any other
//! packet waits for their end.

pub mod descriptor;
pub mod front;
pub mod object;
pub mod pool;
pub mod vld;

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen45::media::MediaObject;

/// Executes MEDIA_OBJECT: starts its threads.
///
/// # Errors
/// [`Fault::BadPacket`] for state that no thread can run with; [`Fault::Unimplemented`] for modes
/// of the front end that the model does not have; any [`Fault`] of a thread.
pub fn object(exec: &mut Exec<'_>, packet: &MediaObject<'_>) -> Result<(), Fault> {
    pool::with(exec, |pool, exec| object::object(exec, pool, packet))
}

/// Runs the threads of earlier MEDIA_OBJECT packets to their end, before another packet.
///
/// # Errors
/// Any [`Fault`] of a thread; [`Fault::Stuck`] if threads wait forever.
pub fn drain(exec: &mut Exec<'_>) -> Result<(), Fault> {
    if exec.state.slots.get::<pool::Pool>().is_none_or(pool::Pool::is_unused) {
        return Ok(());
    }
    pool::with(exec, |pool, exec| pool.drain(exec))
}
