//! Latched packets and state in memory, read as the generated types.

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::mem::Client;
use genxml_core::latch::Latch;
use genxml_core::packet::{Dwords, Fixed};

/// The newest packet of a type; all zero if there is none.
pub fn packet<T: Latch + Fixed>(exec: &Exec<'_>) -> T {
    exec.state.latched.read(0)
}

/// The newest packet of a type for entry `entry`, if there is one. Packets of such a type are
/// latched separately for each entry, for example for each stream output buffer.
pub fn entry<T: Latch + Fixed>(exec: &Exec<'_>, entry: usize) -> Option<T> {
    exec.state.latched.get::<T>(entry).map(T::read_lossy)
}

/// Reads the state at a graphics address.
///
/// # Errors
/// A page fault that names the state.
pub fn memory<T: Fixed>(exec: &Exec<'_>, address: u64) -> Result<T, Fault>
where
    T::Dwords: AsMut<[u32]>,
{
    let mut dwords = T::Dwords::padded(&[]);
    let _client = exec.vm.client(Client::State);
    exec.vm
        .read(address, bytemuck::cast_slice_mut(dwords.as_mut()))
        .map_err(|fault| exec.page(fault, T::NAME))?;
    Ok(T::from_dwords_lossy(&dwords))
}

/// Reads the state at an offset from Dynamic State Base Address.
///
/// # Errors
/// As [`memory`].
pub fn dynamic<T: Fixed>(exec: &Exec<'_>, offset: u64) -> Result<T, Fault>
where
    T::Dwords: AsMut<[u32]>,
{
    memory(exec, exec.state.base.dynamic.wrapping_add(offset))
}

/// Adds `more` to a 64-bit counter register.
pub fn count(exec: &mut Exec<'_>, register: u32, more: u64) {
    let registers = &mut exec.state.registers;
    registers.write_u64(register, registers.read_u64(register).wrapping_add(more));
}
