//! Messages of threads: those that the unified return buffer captures, and the words that shared
//! functions record about bad messages (003:2157-2503).

use super::state::Debug;
use super::{enabled, value};
use crate::eu::Message;
use crate::eu::regions::{REGISTER, Registers, SR0};
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use genxml::eu::instruction::SharedFunction;
use genxml::gen45::debug_fixed::{
    DebugIdVs, TsMessageError, TsMessageErrorErrorCode as SpawnerError, TsRdata,
};
use genxml::gen45::debug_shared::{
    DataPortErrorMessageHeader, DpRdata, MathErrorMessageHeader, MathRdata, RcCtl, RcDefClr,
    SamplerErrorMessageHeader, SamplerErrorMessageHeaderErrorCode as SamplerError, SamplerRdata,
    UrbCtl, UrbErrorMessageHeader, UrbErrorMessageHeaderErrorCode as UrbError, UrbRdata,
};
use genxml::gen45::eu_registers::StateRegister;
use genxml::gen45::messages::{ExtendedMathMessageDescriptor, MessageDescriptor};
use genxml_core::U;

/// Dwords 6 and 7 of the message whose first register is at byte `first`.
fn id(registers: &Registers, first: usize) -> [u32; 2] {
    [24, 28].map(|at| registers.u32(first + at))
}

/// True if the header at byte `first` has the snapshot flag.
#[inline]
pub fn is_flagged(registers: &Registers, first: usize) -> bool {
    DebugIdVs::unpack_lossy(&id(registers, first)).ss_flag
}

/// Captures a register of a message of `sent` registers to the unified return buffer. The header of
/// the message has the snapshot flag.
#[cold]
pub fn capture_urb(exec: &mut Exec<'_>, registers: &Registers, first: usize, sent: usize) {
    let control = value!(exec.state.registers, UrbCtl);
    if !enabled(&exec.state.registers) || !control.snapshot_enable || control.snapshot_complete {
        return;
    }
    let complete = UrbCtl { snapshot_complete: true, ..control };
    exec.state.registers.write(UrbCtl::OFFSET, complete.pack()[0]);
    let number = control.snapshot_output_register_select.get() as usize;
    let data: [u32; 8] = match number < sent {
        true => registers.dwords(first + number * REGISTER),
        false => [0; 8],
    };
    let debug = exec.state.slots.get_mut::<Debug>();
    for (select, word) in (1..).zip(id(registers, first)).chain((8..).zip(data)) {
        debug.capture_one(UrbRdata::OFFSET, select, word);
    }
}

/// For a render target write whose header has the snapshot flag: the bits that all its pixels get
/// (RC_DEF_CLR). `None` if they get their colours.
#[cold]
pub fn constant_color(exec: &Exec<'_>) -> Option<u32> {
    let registers = &exec.state.registers;
    let forced = enabled(registers) && value!(registers, RcCtl).default_color_enable;
    forced.then(|| value!(registers, RcDefClr).default_color.get() as u32)
}

/// Records a message that its receiver refused with `fault`. The submission ends with the fault;
/// the host can read the word then.
#[cold]
pub fn refused(exec: &mut Exec<'_>, registers: &Registers, message: &Message, fault: &Fault) {
    let refused = matches!(fault, Fault::IllegalInstruction { .. } | Fault::BadPacket { .. });
    if !refused {
        return;
    }
    let sender = StateRegister::unpack_lossy(&registers.dwords(SR0));
    let (ffid, euid) = (sender.fixed_function_identifier, sender.execution_unit_identifier);
    let tid = U::from_bits(sender.thread_identifier.get() & 3);
    let descriptor = MessageDescriptor::unpack_lossy(&[message.descriptor]);
    let (offset, word) = match message.function {
        SharedFunction::Math => {
            let math = ExtendedMathMessageDescriptor::unpack_lossy(&[message.descriptor]);
            let invalid = math.math_function.name().is_none();
            let word = MathErrorMessageHeader {
                ffid,
                tid,
                euid,
                response_length: U::from_bits(descriptor.response_length.get() & 15),
                message_length: U::from_bits(descriptor.message_length.get() & 15),
                opcode: U::from_bits(math.math_function.bits() & 15),
                eot_bit_detected: message.eot,
                invalid_opcode: invalid,
                bad_length: !message.eot && !invalid,
                ..MathErrorMessageHeader::new()
            };
            (MathRdata::OFFSET, word.pack()[0])
        }
        SharedFunction::Sampler => {
            let error_code = if message.eot {
                SamplerError::INVALID_EOT_MESSAGE
            } else {
                SamplerError::BAD_LENGTH
            };
            let word = SamplerErrorMessageHeader { ffid, tid, euid, error_code };
            (SamplerRdata::OFFSET, word.pack()[0])
        }
        SharedFunction::DataPortRead | SharedFunction::DataPortWrite => {
            // The first error stays (003:2378).
            let debug = exec.state.slots.get_mut::<Debug>();
            if debug.has_captured(DpRdata::OFFSET) {
                return;
            }
            let field = match fault {
                Fault::BadPacket { field, .. } => *field,
                _ => "",
            };
            let eot = message.eot && message.function == SharedFunction::DataPortRead;
            let surface_type = field == "Surface Type";
            let surface_format = field == "Surface Format";
            let word = DataPortErrorMessageHeader {
                ffid,
                tid,
                euid,
                invalid_eot_message: eot,
                illegal_surface_type: surface_type,
                illegal_surface_format: surface_format,
                bad_length: !(eot || surface_type || surface_format),
                ..DataPortErrorMessageHeader::new()
            };
            // The order of the header's dwords is that of the data port.
            let [six, seven] = id(registers, message.payload);
            debug.capture(DpRdata::OFFSET, [(0, word.pack()[0]), (1, seven), (2, six)]);
            return;
        }
        SharedFunction::ThreadSpawner => {
            let length = descriptor.message_length.get();
            let word = TsMessageError {
                message_sideband_function_control: U::from_bits(u64::from(message.descriptor) & 31),
                end_of_thread: message.eot,
                ffid,
                euid,
                tid,
                error_code_valid: true,
                error_code: match length {
                    0 => SpawnerError::BAD_LENGTH,
                    _ => SpawnerError::UNEXPECTED_MESSAGE_TO_TS,
                },
                ..TsMessageError::new()
            };
            (TsRdata::OFFSET, word.pack()[0])
        }
        SharedFunction::Null | SharedFunction::Gateway | SharedFunction::Urb => return,
        // The unified return buffer gets the messages to functions that do not exist (003:2630).
        _ => {
            let error_code = UrbError::INVALID_S_F_ID;
            let word = UrbErrorMessageHeader { ffid, tid, euid, error_code };
            (UrbRdata::OFFSET, word.pack()[0])
        }
    };
    let debug = exec.state.slots.get_mut::<Debug>();
    debug.capture_one(offset, 0, word);
    let [six, seven] = id(registers, message.payload);
    if matches!(message.function, SharedFunction::Sampler) || offset == UrbRdata::OFFSET {
        debug.capture_one(offset, 1, six);
        debug.capture_one(offset, 2, seven);
    }
}
