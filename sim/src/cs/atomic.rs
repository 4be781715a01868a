//! MI_ATOMIC (gen8_facts 2.3).

use crate::assumptions::ATOMIC_RETURNS_ZERO_ABOVE;
use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::memory;
use crate::machine::memory::global_if_allowed;
use crate::unit::atomic::{Width, operate};
use genxml::gen8::engine_registers::CsGpr;
use genxml::gen8::mi::{
    MiAtomic, MiAtomicAtomicOpcode as Opcode, MiAtomicDataSize, MiAtomicMemoryType,
};
use genxml_eu::gen8::eu_messages::MdcAop;

/// The general registers of operands 1 and 2. The upper half of a 16-byte operand is in the next
/// register.
const OPERANDS: [u32; 2] = [0, 2];
/// The general register of the result. The upper half of a 16-byte result is in the next register.
const RESULT: u32 = 4;

/// The field that page faults and address faults name.
const FIELD: &str = "Memory Address";

/// MI_ATOMIC on 4, 8 or 16 bytes. In a batch without privilege it ignores Memory Type and always
/// uses the context's address space (assumptions::GLOBAL_ACCESS_NEEDS_PRIVILEGE).
pub fn atomic(exec: &mut Exec<'_>, packet: &MiAtomic<'_>) -> Result<(), Fault> {
    let global =
        global_if_allowed(exec, packet.memory_type == MiAtomicMemoryType::GLOBAL_GRAPHICS_ADDRESS);
    let bytes = match packet.data_size {
        MiAtomicDataSize::DWORD => 4,
        MiAtomicDataSize::QWORD => 8,
        MiAtomicDataSize::OCTWORD => 16,
        other => return Err(exec.bad_field("Data Size", other.bits(), "the size is reserved")),
    };
    let address = packet.memory_address.va48();
    if !address.is_multiple_of(bytes) {
        let why = "the address must be a multiple of the data size";
        return Err(exec.bad_field(FIELD, address, why));
    }
    let [one, two] = operands(exec, packet, bytes)?;
    let width = match bytes {
        4 => Width::Dword,
        8 => Width::Qword,
        _ => return compare_and_write_16(exec, packet, global, one, two),
    };
    let Some(operation) = operation(packet.atomic_opcode, width) else {
        let why = "the operation does not exist for this Data Size";
        return Err(exec.bad_field("ATOMIC OPCODE", packet.atomic_opcode.bits(), why));
    };
    let old = match width {
        Width::Qword => memory::read_u64(exec, global, address, FIELD)?,
        Width::Dword => memory::read(exec, global, address, FIELD)?.into(),
    };
    let (new, returned) = operate(operation, width, old, one as u64, two as u64);
    match width {
        Width::Qword => memory::write_u64(exec, global, address, new, FIELD)?,
        Width::Dword => memory::write(exec, global, address, new as u32, FIELD)?,
    }
    if packet.return_data_control {
        let offset = gpr(exec, RESULT);
        exec.state.registers.write(offset, returned as u32);
        if width == Width::Qword || ATOMIC_RETURNS_ZERO_ABOVE {
            exec.state.registers.write(offset + 4, (returned >> 32) as u32);
        }
    }
    Ok(())
}

/// Compare and Write, the only operation on 16 bytes that a source describes: replaces memory by
/// operand 2 if memory equals operand 1.
fn compare_and_write_16(
    exec: &mut Exec<'_>,
    packet: &MiAtomic<'_>,
    global: bool,
    one: u128,
    two: u128,
) -> Result<(), Fault> {
    if packet.atomic_opcode != Opcode::ATOMIC_16B_COMPARE_AND_WRITE {
        return Err(exec.unimplemented(
            format!("ATOMIC OPCODE = {:#x} on 16 bytes", packet.atomic_opcode.bits()),
            "sources describe only Compare and Write on 16 bytes",
        ));
    }
    let address = packet.memory_address.va48();
    let mut halves = [0; 2];
    for (half, at) in halves.iter_mut().zip([address, address + 8]) {
        *half = memory::read_u64(exec, global, at, FIELD)?;
    }
    let old = u128::from(halves[0]) | u128::from(halves[1]) << 64;
    let new = if old == one { two } else { old };
    memory::write_u64(exec, global, address, new as u64, FIELD)?;
    memory::write_u64(exec, global, address + 8, (new >> 64) as u64, FIELD)?;
    if packet.return_data_control {
        for (index, half) in (RESULT..).zip(halves) {
            let offset = gpr(exec, index);
            exec.state.registers.write(offset, half as u32);
            exec.state.registers.write(offset + 4, (half >> 32) as u32);
        }
    }
    Ok(())
}

fn gpr(exec: &Exec<'_>, index: u32) -> u32 {
    exec.base() + CsGpr::OFFSET + 8 * index
}

/// Operands 1 and 2, of `bytes` bytes each. Inline data of the packet alternate between dwords of
/// operand 1 and operand 2. Without inline data, the operands are 16 bytes from general registers;
/// callers use only the lower `bytes` bytes of them.
fn operands(exec: &Exec<'_>, packet: &MiAtomic<'_>, bytes: u64) -> Result<[u128; 2], Fault> {
    if !packet.inline_data {
        let read = |index| u128::from(exec.state.registers.read_u64(gpr(exec, index)));
        return Ok(OPERANDS.map(|index| read(index) | read(index + 1) << 64));
    }
    let wanted = bytes as usize / 4;
    if packet.operand.len() < wanted {
        let length = packet.dwords() as u64 - 2;
        let why = format!("two inline operands of {bytes} bytes take {} dwords", 2 * wanted);
        return Err(exec.bad_field("DWord Length", length, why));
    }
    let mut operands = [0; 2];
    for (n, pair) in packet.operand.iter().take(wanted).enumerate() {
        operands[0] |= u128::from(pair.operand1_data_dword.get()) << (32 * n);
        operands[1] |= u128::from(pair.operand2_data_dword.get()) << (32 * n);
    }
    Ok(operands)
}

/// The operation of an opcode; `None` if it does not exist for this size.
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
