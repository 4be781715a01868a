//! Draws of the G45.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::gen45::commands_3d::ThreeDPrimitive;

/// 3DPRIMITIVE: draws with the state that earlier packets set ([`super::state::State`]).
///
/// # Errors
/// [`Fault::Unimplemented`].
pub fn primitive(exec: &mut Exec<'_>, packet: &ThreeDPrimitive) -> Result<(), Fault> {
    let _ = packet;
    Err(exec.unimplemented("draws of the G45", "gen45_facts 5 to 11"))
}
