//! Operands of commands in memory: which page table they go through, and whether that needs
//! privilege.
//!
//! A field of the command says whether its operand goes through the global table or through the
//! context's table. A batch in the context's address space is not privileged, so it must not use
//! the global table (gen8_facts 1.1).

use crate::assumptions::GLOBAL_ACCESS_NEEDS_PRIVILEGE;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;

/// True if an operand goes through the global table: its packet asks for it (`wanted`), and the
/// batch has the privilege. Without the privilege, commands that call this function use the
/// context's table; they are not skipped (assumptions::GLOBAL_ACCESS_NEEDS_PRIVILEGE).
pub fn global_if_allowed(exec: &Exec<'_>, wanted: bool) -> bool {
    wanted && (exec.mode.privileged || !GLOBAL_ACCESS_NEEDS_PRIVILEGE)
}

/// The dword at `address`.
///
/// # Errors
/// [`Fault::Page`] that names `field`.
pub fn read(
    exec: &mut Exec<'_>,
    global: bool,
    address: u64,
    field: &'static str,
) -> Result<u32, Fault> {
    exec.stats.bytes_read += 4;
    exec.view(global).read_u32(address).map_err(|fault| exec.page(fault, field))
}

/// Writes the dword at `address`.
///
/// # Errors
/// [`Fault::Page`] that names `field`.
pub fn write(
    exec: &mut Exec<'_>,
    global: bool,
    address: u64,
    value: u32,
    field: &'static str,
) -> Result<(), Fault> {
    exec.view(global).write_u32(address, value).map_err(|fault| exec.page(fault, field))?;
    exec.stats.bytes_written += 4;
    Ok(())
}

/// The qword at `address`.
///
/// # Errors
/// [`Fault::Page`] that names `field`.
pub fn read_u64(
    exec: &mut Exec<'_>,
    global: bool,
    address: u64,
    field: &'static str,
) -> Result<u64, Fault> {
    exec.stats.bytes_read += 8;
    exec.view(global).read_u64(address).map_err(|fault| exec.page(fault, field))
}

/// Writes the qword at `address`.
///
/// # Errors
/// [`Fault::Page`] that names `field`.
pub fn write_u64(
    exec: &mut Exec<'_>,
    global: bool,
    address: u64,
    value: u64,
    field: &'static str,
) -> Result<(), Fault> {
    exec.view(global).write_u64(address, value).map_err(|fault| exec.page(fault, field))?;
    exec.stats.bytes_written += 8;
    Ok(())
}
