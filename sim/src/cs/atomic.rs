//! MI_ATOMIC (gen8_facts 2.3).

use super::memory::{self, allowed};
use crate::assumptions::ATOMIC_RETURNS_ZERO_ABOVE;
use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use crate::unit::atomic::{Width, operate};
use genxml::gen8::engine_registers::CsGpr;
use genxml::gen8::mi::{MiAtomic, MiAtomicAtomicOpcode as Opcode, MiAtomicDataSize, MiAtomicMemoryType};
use genxml_eu::gen8::eu_messages::MdcAop;

/// The general registers that operands 1 and 2 come from, and that the result goes to.
const OPERANDS: [u32; 2] = [0, 2];
const RESULT: u32 = 4;

/// MI_ATOMIC on a dword or a qword.
pub fn atomic<O: Observer>(exec: &mut Exec<'_, O>, packet: &MiAtomic<'_>) -> Result<(), Fault> {
    const FIELD: &str = "Memory Address";
    let global = packet.memory_type == MiAtomicMemoryType::GLOBAL_GRAPHICS_ADDRESS;
    let width = match packet.data_size {
        MiAtomicDataSize::DWORD => Width::Dword,
        MiAtomicDataSize::QWORD => Width::Qword,
        other => {
            return Err(exec.unimplemented(
                format!("Data Size = {}", other.bits()),
                "no source says which operations there are on 16 bytes",
            ));
        }
    };
    let address = packet.memory_address.va48();
    if !address.is_multiple_of(width.bytes()) {
        return Err(exec.bad_field(FIELD, address, "a qword is at a multiple of 8"));
    }
    let Some(operation) = operation(packet.atomic_opcode, width) else {
        let why = "there is no such operation, or not on this Data Size";
        return Err(exec.bad_field("ATOMIC OPCODE", packet.atomic_opcode.bits(), why));
    };
    let [one, two] = operands(exec, packet)?;
    if !allowed(exec, global) {
        return Ok(());
    }
    let old = match width {
        Width::Qword => memory::read_u64(exec, global, address, FIELD)?,
        Width::Dword => memory::read(exec, global, address, FIELD)?.into(),
    };
    let (new, returned) = operate(operation, width, old, one, two);
    match width {
        Width::Qword => memory::write_u64(exec, global, address, new, FIELD)?,
        Width::Dword => memory::write(exec, global, address, new as u32, FIELD)?,
    }
    if packet.return_data_control.get() != 0 {
        let offset = gpr(exec, RESULT);
        exec.state.registers.write(offset, returned as u32);
        if width == Width::Qword || ATOMIC_RETURNS_ZERO_ABOVE {
            exec.state.registers.write(offset + 4, (returned >> 32) as u32);
        }
    }
    Ok(())
}

fn gpr<O: Observer>(exec: &Exec<'_, O>, index: u32) -> u32 {
    exec.base() + CsGpr::OFFSET + 8 * index
}

/// Both operands, from the packet or from general registers; bits beyond the size are not looked at.
fn operands<O: Observer>(exec: &Exec<'_, O>, packet: &MiAtomic<'_>) -> Result<[u64; 2], Fault> {
    if packet.inline_data.get() == 0 {
        return Ok(OPERANDS.map(|index| exec.state.registers.read_u64(gpr(exec, index))));
    }
    match (packet.operand.get(0), packet.operand.get(1)) {
        (Some(low), Some(high)) => Ok([
            low.operand1_data_dword.get() | high.operand1_data_dword.get() << 32,
            low.operand2_data_dword.get() | high.operand2_data_dword.get() << 32,
        ]),
        _ => {
            let length = packet.dwords() as u64 - 2;
            Err(exec.bad_field("DWord Length", length, "inline data are 8 dwords"))
        }
    }
}

/// The operation; none if the opcode has no such one, or not on this size.
fn operation(opcode: Opcode, width: Width) -> Option<MdcAop> {
    macro_rules! operations {
        ($($dword:ident $qword:ident => $operation:ident,)*) => {
            match (width, opcode) {
                $((Width::Dword, Opcode::$dword) | (Width::Qword, Opcode::$qword) => Some(MdcAop::$operation),)*
                _ => None,
            }
        };
    }
    operations! {
        ATOMIC_4B_AND ATOMIC_8B_AND => AOP_AND,
        ATOMIC_4B_OR ATOMIC_8B_OR => AOP_OR,
        ATOMIC_4B_XOR ATOMIC_8B_XOR => AOP_XOR,
        ATOMIC_4B_MOVE ATOMIC_8B_MOVE => AOP_MOV,
        ATOMIC_4B_INCREMENT ATOMIC_8B_INCREMENT => AOP_INC,
        ATOMIC_4B_DECREMENT ATOMIC_8B_DECREMENT => AOP_DEC,
        ATOMIC_4B_ADD ATOMIC_8B_ADD => AOP_ADD,
        ATOMIC_4B_SUB ATOMIC_8B_SUB => AOP_SUB,
        ATOMIC_4B_REVERSE_SUB ATOMIC_8B_REVERSE_SUB => AOP_REVSUB,
        ATOMIC_4B_SIGNED_MAX ATOMIC_8B_SIGNED_MAX => AOP_IMAX,
        ATOMIC_4B_SIGNED_MIN ATOMIC_8B_SIGNED_MIN => AOP_IMIN,
        ATOMIC_4B_UNSIGNED_MAX ATOMIC_8B_UNSIGNED_MAX => AOP_UMAX,
        ATOMIC_4B_UNSIGNED_MIN ATOMIC_8B_UNSIGNED_MIN => AOP_UMIN,
        ATOMIC_4B_COMPARE_AND_WRITE ATOMIC_8B_COMPARE_AND_WRITE => AOP_CMPWR,
        ATOMIC_4B_PREDECREMENT ATOMIC_8B_PREDECREMENT => AOP_PREDEC,
    }
}
