//! Typed surface messages: elements of a surface's format, by coordinates.

use crate::eu::Message;
use crate::eu::regions::Registers;
use crate::fault::Fault;
use crate::observe::Observer;
use crate::unit::Port;

/// A typed read, write or atomic operation of data port 1.
///
/// # Errors
/// [`Fault::Unimplemented`]: there are none yet.
pub(super) fn message<O: Observer>(
    port: &mut Port<'_, '_, O>,
    _: &mut Registers,
    message: &Message,
) -> Result<(), Fault> {
    Err(port.missing("typed surface messages", message, "2d p.115"))
}
