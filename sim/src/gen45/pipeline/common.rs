//! What the units read and count in the same way.

use super::unit::UnitState;
use crate::gen45::state::{ADDRESSES, State};
use crate::gen45::urb::{Unit, Urb};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml_core::latch::Latch;
use genxml_core::packet::{Dwords, Fixed};

/// The channels of the threads of geometry shader, clipper and setup: their kernels work on whole
/// registers.
pub const GEOMETRY_CHANNELS: u32 = 0xff;

/// The newest packet of a type; all zero if the context has not received one.
pub fn latched<T: Latch + Fixed>(exec: &Exec<'_>) -> T {
    exec.state.slots.with(|state: &State| state.latched.read(0))
}

/// Reads the state at an offset from General State Base Address.
///
/// # Errors
/// A page fault that names the state.
pub fn general<T: Fixed>(exec: &Exec<'_>, offset: u64) -> Result<T, Fault>
where
    T::Dwords: AsMut<[u32]>,
{
    let base = exec.state.slots.with(|state: &State| state.base.general);
    let mut dwords = T::Dwords::padded(&[]);
    exec.vm
        .read(base.wrapping_add(offset) & ADDRESSES, bytemuck::cast_slice_mut(dwords.as_mut()))
        .map_err(|fault| exec.page(fault, T::NAME))?;
    Ok(T::from_dwords_lossy(&dwords))
}

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
