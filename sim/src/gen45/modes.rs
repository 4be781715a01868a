//! The modes that a thread of any unit starts with.

use crate::eu::Launch;
use genxml::gen45::eu_registers::{ControlRegister, ControlRegisterFloatingPointMode};
use genxml_eu::Generation;

/// The start of a thread with these modes, without payload and channels. `alternate` selects the
/// alternative float mode; `exceptions` enables software, mask stack and illegal opcode exceptions.
pub fn launch(single_flow: bool, alternate: bool, exceptions: [bool; 3]) -> Launch {
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
    Launch { generation: Generation::Gen45, control, exceptions, ..Launch::default() }
}
