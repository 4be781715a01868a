//! MI_MATH: a 64-bit accumulator machine over the general registers of the command streamer
//! (gen8_facts 2.5).

use crate::machine::exec::Exec;
use crate::machine::fault::Fault;
use crate::machine::registers::Registers;
use genxml::gen8::engine_registers::CsGpr;
use genxml::gen8::mi::{MiMath, MiMathAluOpcode, MiMathOperand};

/// Registers of the ALU. Each MI_MATH starts with zeros in all of them.
#[derive(Default)]
struct Alu {
    a: u64,
    b: u64,
    accumulator: u64,
    zero: bool,
    carry: bool,
}

/// MI_MATH: executes its ALU instructions in order.
pub fn math(exec: &mut Exec<'_>, packet: &MiMath<'_>) -> Result<(), Fault> {
    let mut alu = Alu::default();
    let base = exec.base() + CsGpr::OFFSET;
    for step in packet.instruction.iter() {
        let (one, two) = (step.operand_1, step.operand_2);
        match step.alu_opcode {
            MiMathAluOpcode::NOOP => {}
            MiMathAluOpcode::LOAD => *alu.source(exec, one)? = register(exec, base, two)?,
            MiMathAluOpcode::LOADINV => *alu.source(exec, one)? = !register(exec, base, two)?,
            MiMathAluOpcode::LOAD0 => *alu.source(exec, one)? = 0,
            MiMathAluOpcode::LOAD1 => *alu.source(exec, one)? = !0,
            MiMathAluOpcode::ADD => alu.set(alu.a.overflowing_add(alu.b)),
            MiMathAluOpcode::SUB => alu.set(alu.a.overflowing_sub(alu.b)),
            MiMathAluOpcode::AND => alu.set((alu.a & alu.b, false)),
            MiMathAluOpcode::OR => alu.set((alu.a | alu.b, false)),
            MiMathAluOpcode::XOR => alu.set((alu.a ^ alu.b, false)),
            MiMathAluOpcode::STORE => store(exec, base, one, alu.result(exec, two)?)?,
            MiMathAluOpcode::STOREINV => store(exec, base, one, !alu.result(exec, two)?)?,
            other => {
                return Err(exec.bad_field(
                    "ALU Opcode",
                    other.bits(),
                    "there is no such operation",
                ));
            }
        }
    }
    Ok(())
}

impl Alu {
    fn set(&mut self, (value, carry): (u64, bool)) {
        *self = Alu { accumulator: value, zero: value == 0, carry, ..*self };
    }

    fn source(&mut self, exec: &Exec<'_>, operand: MiMathOperand) -> Result<&mut u64, Fault> {
        match operand {
            MiMathOperand::SRCA => Ok(&mut self.a),
            MiMathOperand::SRCB => Ok(&mut self.b),
            other => Err(exec.bad_field(
                "Operand 1",
                other.bits(),
                "the target of a load must be SRCA or SRCB",
            )),
        }
    }

    fn result(&self, exec: &Exec<'_>, operand: MiMathOperand) -> Result<u64, Fault> {
        let flag = |set| if set { !0 } else { 0 };
        match operand {
            MiMathOperand::ACCU => Ok(self.accumulator),
            MiMathOperand::ZF => Ok(flag(self.zero)),
            MiMathOperand::CF => Ok(flag(self.carry)),
            other => Err(exec.bad_field(
                "Operand 2",
                other.bits(),
                "the source of a store must be ACCU, ZF or CF",
            )),
        }
    }
}

fn number(exec: &Exec<'_>, field: &'static str, operand: MiMathOperand) -> Result<u32, Fault> {
    match operand.bits() {
        number @ 0..16 => Ok(number as u32),
        other => {
            Err(exec.bad_field(field, other, "the operand must be a general register, 0 to 15"))
        }
    }
}

fn register(exec: &Exec<'_>, base: u32, operand: MiMathOperand) -> Result<u64, Fault> {
    Ok(exec.state.registers.read_u64(base + 8 * number(exec, "Operand 2", operand)?))
}

fn store(exec: &mut Exec<'_>, base: u32, operand: MiMathOperand, value: u64) -> Result<(), Fault> {
    let offset = base + 8 * number(exec, "Operand 1", operand)?;
    let registers: &mut Registers = &mut exec.state.registers;
    registers.write(offset, value as u32);
    registers.write(offset + 4, (value >> 32) as u32);
    Ok(())
}
