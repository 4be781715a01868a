//! What the thread dispatcher adds to a thread for debugging: enables of exceptions, an external
//! halt, and the execution unit and slot (003:1973-2153).

use super::state::{Debug, Unit};
use super::value;
use crate::assumptions::{G45_HALT_MASKS_SELECT_BITS, G45_THREADS_USE_THE_FIRST_SLOT};
use crate::eu::Launch;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::registers::Registers;
use genxml::gen45::debug_shared::{
    MaDebug1, Td06EhtrgMsk, Td06EhtrgVal, Td07EhtrgMsk, Td07EhtrgVal, TdClipEmsk, TdCtl, TdCtl2,
    TdGsEmsk, TdSfEmsk, TdVfVsEmsk, TdWizEmsk,
};
use genxml::gen45::eu_registers::{ControlRegister, StateRegister};
use genxml_core::U;

/// The debug ID of a thread: `r0.6` and `r0.7`, with its snapshot flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// The unit that starts the thread.
    pub unit: Unit,
    /// `r0.6` and `r0.7`.
    pub id: [u32; 2],
    /// The snapshot flag, bit 31 of `r0.7`.
    pub flag: bool,
}

/// Byte of `r0.6` in a payload.
const ID: usize = 24;

/// Writes the debug ID to the payload of a thread. Sets the exceptions that are enabled, an
/// external halt and the identity of the thread. `exceptions` is `cr0.1` from the unit's state.
///
/// # Errors
/// [`Fault::BadPacket`] if no execution unit may run the thread; [`Fault::Unimplemented`] if the
/// arbiters of messages are halted.
pub fn dispatch(
    exec: &mut Exec<'_>,
    mark: &Mark,
    exceptions: u32,
    launch: &mut Launch,
) -> Result<(), Fault> {
    let registers = &exec.state.registers;
    if halts_arbiters(registers) {
        let what = "a halted arbiter of messages (MA_DEBUG_1): the threads would never end";
        return Err(exec.unimplemented(what, "003:2309-2334"));
    }
    let identity = identity(exec, mark.unit)?;
    let registers = &exec.state.registers;
    let (td, overrides) = (value!(registers, TdCtl), value!(registers, TdCtl2));
    let mut control = ControlRegister::unpack_lossy(&[launch.control, exceptions, 0, 0]);
    if td.exception_mask_override {
        control.software_exception_enable = overrides.software_exception_override;
        control.mask_stack_enable = overrides.mask_stack_exception_override;
        control.illegal_opcode_enable = overrides.illegal_opcode_exception_override;
    }
    control.breakpoint_enable =
        td.force_thread_breakpoint_enable || td.breakpoint_enable && mark.flag;
    control.external_halt_enable = td.external_halt_on_r0_debug_match || td.force_external_halt;
    let matches = td.external_halt_on_r0_debug_match && halt_matches(registers, mark.id);
    let forced = std::mem::take(&mut exec.state.slots.get_mut::<Debug>().halt_next);
    control.external_halt_status = matches || forced;
    let [_, exceptions, ..] = control.pack();
    launch.exceptions = exceptions;
    launch.state = identity.pack();
    if let Some(place) = launch.payload.get_mut(ID..ID + 8) {
        place.copy_from_slice(bytemuck::must_cast_slice(&mark.id));
    }
    Ok(())
}

/// True if an arbiter of messages is halted.
fn halts_arbiters(registers: &Registers) -> bool {
    let arbiter = value!(registers, MaDebug1);
    arbiter.writeback_arbiter_halt_mode
        || arbiter.row_input_arbiter_halt_mode
        || arbiter.shared_function_arb_halt_mode
}

/// True if the registers change how threads without a debug ID start, or where they stop.
pub fn changes_threads(registers: &Registers) -> bool {
    let td = value!(registers, TdCtl);
    halts_arbiters(registers)
        || td.exception_mask_override
        || td.force_thread_breakpoint_enable
        || td.external_halt_on_r0_debug_match
        || td.force_external_halt
        || super::kernel::breakpoints(registers).is_some()
}

/// True if the debug ID of a thread has the values at which the dispatcher halts it.
fn halt_matches(registers: &Registers, [first, second]: [u32; 2]) -> bool {
    let one = value!(registers, Td06EhtrgVal).r0_6_debug_compare_value.get() as u32;
    let other = value!(registers, Td07EhtrgVal).r0_7_debug_compare_value.get() as u32;
    let mut masks = [
        value!(registers, Td06EhtrgMsk).r0_6_debug_compare_mask.get() as u32,
        value!(registers, Td07EhtrgMsk).r0_7_debug_compare_mask.get() as u32,
    ];
    if !G45_HALT_MASKS_SELECT_BITS {
        masks = masks.map(|mask| !mask & 0xff_ffff);
    }
    (first ^ one) & masks[0] == 0 && (second ^ other) & masks[1] == 0
}

/// The unit, execution unit and slot of a thread. Threads run one after the other, so each takes
/// the first execution unit and slot that the registers allow.
fn identity(exec: &Exec<'_>, unit: Unit) -> Result<StateRegister, Fault> {
    let registers = &exec.state.registers;
    let td = value!(registers, TdCtl2);
    let (limited, field, mask) = match unit {
        Unit::Fetch | Unit::Vertex => (
            td.vs_execution_mask_enable,
            "VS Execution Mask",
            value!(registers, TdVfVsEmsk).vs_execution_mask,
        ),
        Unit::Geometry => (
            td.gs_execution_mask_enable,
            "GS Execution Mask",
            value!(registers, TdGsEmsk).gs_execution_mask,
        ),
        Unit::Clipper => (
            td.clipper_execution_mask_enable,
            "Clipper Execution Mask",
            value!(registers, TdClipEmsk).clipper_execution_mask,
        ),
        Unit::Setup => (
            td.sf_execution_mask_enable,
            "SF Execution Mask",
            value!(registers, TdSfEmsk).sf_execution_mask,
        ),
        Unit::Windower => (
            td.wiz_execution_mask_enable,
            "WIZ Execution Mask",
            value!(registers, TdWizEmsk).wiz_execution_mask,
        ),
    };
    let mask = if limited { mask.get() } else { u64::MAX };
    if mask == 0 {
        return Err(exec.bad_field(field, 0, "no execution unit may run the threads"));
    }
    let slot = if td.active_threadid_enable && G45_THREADS_USE_THE_FIRST_SLOT {
        td.active_threadid
    } else {
        U::ZERO
    };
    Ok(StateRegister {
        fixed_function_identifier: U::from_bits(unit as u64),
        execution_unit_identifier: U::from_bits(mask.trailing_zeros().into()),
        thread_identifier: slot,
        ..StateRegister::new()
    })
}
