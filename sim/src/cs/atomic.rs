//! MI_ATOMIC (gen8_facts 2.3).

use super::memory::{self, allowed};
use crate::assumptions::ATOMIC_RETURNS_ZERO_ABOVE;
use crate::context::Exec;
use crate::fault::Fault;
use crate::observe::Observer;
use genxml::gen8::engine_registers::CsGpr;
use genxml::gen8::mi::{MiAtomic, MiAtomicAtomicOpcode as Opcode, MiAtomicDataSize, MiAtomicMemoryType};

/// The general registers that operands 1 and 2 come from, and that the result goes to.
const OPERANDS: [u32; 2] = [0, 2];
const RESULT: u32 = 4;

/// MI_ATOMIC on a dword or a qword.
pub fn atomic<O: Observer>(exec: &mut Exec<'_, O>, packet: &MiAtomic<'_>) -> Result<(), Fault> {
    const FIELD: &str = "Memory Address";
    let global = packet.memory_type == MiAtomicMemoryType::GLOBAL_GRAPHICS_ADDRESS;
    let wide = match packet.data_size {
        MiAtomicDataSize::DWORD => false,
        MiAtomicDataSize::QWORD => true,
        other => {
            return Err(exec.unimplemented(
                format!("Data Size = {}", other.bits()),
                "no source says which operations there are on 16 bytes",
            ));
        }
    };
    let address = packet.memory_address.va48();
    if wide && !address.is_multiple_of(8) {
        return Err(exec.bad_field(FIELD, address, "a qword is at a multiple of 8"));
    }
    if !allowed(exec, global) {
        return Ok(());
    }
    let operands = operands(exec, packet)?;
    let old = match wide {
        true => memory::read_u64(exec, global, address, FIELD)?,
        false => memory::read(exec, global, address, FIELD)?.into(),
    };
    let Some(new) = operation(packet.atomic_opcode, wide, old, operands) else {
        let why = "there is no such operation, or not on this Data Size";
        return Err(exec.bad_field("ATOMIC OPCODE", packet.atomic_opcode.bits(), why));
    };
    match wide {
        true => memory::write_u64(exec, global, address, new, FIELD)?,
        false => memory::write(exec, global, address, new as u32, FIELD)?,
    }
    if packet.return_data_control.get() != 0 {
        let decremented =
            matches!(packet.atomic_opcode, Opcode::ATOMIC_4B_PREDECREMENT | Opcode::ATOMIC_8B_PREDECREMENT);
        let result = if decremented { new } else { old };
        let offset = gpr(exec, RESULT);
        exec.state.registers.write(offset, result as u32);
        if wide || ATOMIC_RETURNS_ZERO_ABOVE {
            exec.state.registers.write(offset + 4, (result >> 32) as u32);
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

/// What memory holds afterwards.
fn operation(opcode: Opcode, wide: bool, old: u64, [one, two]: [u64; 2]) -> Option<u64> {
    let cut = |value: u64| if wide { value } else { u64::from(value as u32) };
    let signed = |value: u64| if wide { value as i64 } else { (value as u32 as i32).into() };
    let (one, two) = (cut(one), cut(two));
    let named = |dword: Opcode, qword: Opcode| opcode == if wide { qword } else { dword };
    macro_rules! operations {
        ($($dword:ident $qword:ident => $new:expr,)*) => {
            $(if named(Opcode::$dword, Opcode::$qword) { return Some(cut($new)); })*
        };
    }
    operations! {
        ATOMIC_4B_AND ATOMIC_8B_AND => old & one,
        ATOMIC_4B_OR ATOMIC_8B_OR => old | one,
        ATOMIC_4B_XOR ATOMIC_8B_XOR => old ^ one,
        ATOMIC_4B_MOVE ATOMIC_8B_MOVE => one,
        ATOMIC_4B_INCREMENT ATOMIC_8B_INCREMENT => old.wrapping_add(1),
        ATOMIC_4B_DECREMENT ATOMIC_8B_DECREMENT => old.wrapping_sub(1),
        ATOMIC_4B_ADD ATOMIC_8B_ADD => old.wrapping_add(one),
        ATOMIC_4B_SUB ATOMIC_8B_SUB => old.wrapping_sub(one),
        ATOMIC_4B_REVERSE_SUB ATOMIC_8B_REVERSE_SUB => one.wrapping_sub(old),
        ATOMIC_4B_SIGNED_MAX ATOMIC_8B_SIGNED_MAX => if signed(one) > signed(old) { one } else { old },
        ATOMIC_4B_SIGNED_MIN ATOMIC_8B_SIGNED_MIN => if signed(one) < signed(old) { one } else { old },
        ATOMIC_4B_UNSIGNED_MAX ATOMIC_8B_UNSIGNED_MAX => old.max(one),
        ATOMIC_4B_UNSIGNED_MIN ATOMIC_8B_UNSIGNED_MIN => old.min(one),
        ATOMIC_4B_COMPARE_AND_WRITE ATOMIC_8B_COMPARE_AND_WRITE => if old == one { two } else { old },
        ATOMIC_4B_PREDECREMENT ATOMIC_8B_PREDECREMENT => old.wrapping_sub(1),
    }
    None
}
