//! The modes that a thread of any unit starts with.

use super::state::State;
use crate::eu::Launch;
use crate::machine::exec::Exec;
use genxml::gen45::commands_common::StateSip;
use genxml::gen45::eu_registers::{ControlRegister, ControlRegisterFloatingPointMode};
use genxml_core::packet::Fixed;
use genxml_eu::Generation;

/// The start of a thread with these modes and the system routine of STATE_SIP, without payload and
/// channels. `alternate` selects the alternative float mode; `exceptions` enables software, mask
/// stack and illegal opcode exceptions.
pub fn launch(
    exec: &Exec<'_>,
    single_flow: bool,
    alternate: bool,
    exceptions: [bool; 3],
) -> Launch {
    let [software, mask_stack, illegal_opcode] = exceptions;
    let control = ControlRegister {
        single_program_flow: single_flow,
        floating_point_mode: match alternate {
            true => ControlRegisterFloatingPointMode::ALTERNATIVE,
            false => ControlRegisterFloatingPointMode::IEEE,
        },
        software_exception_enable: software,
        mask_stack_enable: mask_stack,
        illegal_opcode_enable: illegal_opcode,
        ..ControlRegister::new()
    };
    let [control, exceptions, ..] = control.pack();
    let system_routine = exec.state.slots.with(|state: &State| {
        let sip = StateSip::read_lossy(state.latched.get::<StateSip>(0)?);
        Some(sip.system_instruction_pointer.get() as u32)
    });
    Launch {
        generation: Generation::Gen45,
        control,
        exceptions,
        system_routine,
        ..Launch::default()
    }
}
