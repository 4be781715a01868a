//! What the units read and count in the same way.

use super::unit::UnitState;
use crate::gen45::urb::{Unit, Urb};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;

/// The channels of the threads of geometry shader, clipper and setup: their kernels work on whole
/// registers.
pub const GEOMETRY_CHANNELS: u32 = 0xff;

/// Adds `more` to a 64-bit counter register.
pub fn count(exec: &mut Exec<'_>, register: u32, more: u64) {
    let registers = &mut exec.state.registers;
    registers.write_u64(register, registers.read_u64(register).wrapping_add(more));
}

/// Refuses the flag `name` of a unit's state if it is set.
///
/// # Errors
/// [`Fault::Unimplemented`].
pub fn refuse(exec: &Exec<'_>, flag: bool, name: &'static str) -> Result<(), Fault> {
    if flag { Err(exec.unimplemented(name, "spec-xml/gen45/state_units.xml")) } else { Ok(()) }
}

/// Divides the section of a unit in the URB into its entries, before a thread of the unit.
///
/// # Errors
/// [`Fault::BadPacket`] if the section is too small.
pub fn begin(exec: &mut Exec<'_>, unit: Unit, state: &UnitState) -> Result<(), Fault> {
    exec.state
        .slots
        .get_mut::<Urb>()
        .begin(unit, state.entries, state.rows)
        .map_err(|bad| exec.bad_field(bad.field, bad.value, bad.why))
}
